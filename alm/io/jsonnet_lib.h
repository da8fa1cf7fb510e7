/*
 * jsonnet_lib: libjsonnet, loaded when a program is to be evaluated (fleet.md 3.5). Linked in it
 * would be a quarter of alm, and most never need it. Of its interface the few functions that are
 * called are declared in jsonnet_lib.c; from 0.19 on imports are asked for in another way, and
 * jsonnet_version() says which.
 *
 * The library reads no file by itself: every import is asked of the program's owner. It has no
 * limits but the depth of its stack, so it runs in a child of the sandbox: out of memory it aborts,
 * and an endless loop ends with the child's time.
 */
#ifndef ALM_IO_JSONNET_LIB_H
#define ALM_IO_JSONNET_LIB_H

#include "alm/base/error.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define JSONNET_STACK_MAX 500
#define JSONNET_TRACE_MAX 20 /* lines of the stack in a message */

struct jsonnet_program {
	const char *file; /* in messages; its folder is what its imports are relative to */
	struct str text;
	const struct obj *ext_str; /* map of strings: std.extVar(); may be NULL */
	/* base: the folder of the file that imports, "" or "web/". *ret_file, which messages and
	 * further imports name, and *ret_text are borrowed until the evaluation ends. */
	int (*import)(void *arg, const char *base, const char *name, const char **ret_file,
		      struct str *ret_text, struct error *err);
	void *arg;
};

/* Once a process. E_UNSUPPORTED with RendererMissing and the package to install. */
int jsonnet_lib_load(struct error *err);
void jsonnet_lib_prepare(void); /* for a row of the sandbox: the same, and a failure is kept */

/* 1: out is the JSON of its value; 0: out is its error, with the stack, as Jsonnet prints it. */
int jsonnet_lib_run(const struct jsonnet_program *p, struct strbuf *out, struct error *err);

#endif
