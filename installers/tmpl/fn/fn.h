/* fn: how the files of functions write one. A function has a row in its file's table, which gives the
 * types of its arguments and what it returns (tmpl.h): it may trust both, and checks values only. */
#ifndef INSTALLERS_TMPL_FN_FN_H
#define INSTALLERS_TMPL_FN_FN_H

#include "installers/tmpl/tmpl.h"

/* run: budgets, arena and entropy of the rendering; ret is set if it returns 0. */
#define FN(name) \
	static int name(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)

/* The bytes that a text may have which a function builds. */
static inline size_t fn_string_max(struct tmpl_run *run)
{
	return tmpl_run_limits(run)->string_bytes;
}

#endif
