/*
 * setpath: the grammar of --set and its kin (charts.md 4), "a.b[2]=x,c={1,2}". Messages are
 * Helm's, without "failed parsing --set data: ". What was set before an error stays set.
 */
#ifndef INSTALLERS_CHART_SETPATH_H
#define INSTALLERS_CHART_SETPATH_H

#include "alm/base/strbuf.h"
#include "installers/value/value.h"

#define SETPATH_INDEX_MAX 65536 /* CVE-2022-36055 */
#define SETPATH_DOTS_MAX  30

enum setpath_mode {
	SETPATH_TYPED,   /* --set: true, null and integers are recognised */
	SETPATH_STRING,  /* --set-string */
	SETPATH_FILE,    /* --set-file: the value is a path */
	SETPATH_JSON,    /* --set-json */
	SETPATH_LITERAL, /* --set-literal: one assignment, verbatim to the end */
};

/* Files come in through the caller; NULL: --set-file fails. A message is complete. */
struct setpath_files {
	int (*read)(void *ctx, struct arena *a, struct str path, struct str *ret_text,
		    struct strbuf *msg);
	void *ctx;
};

/* 0 or -E_INVALID. Keys and values go into the arena. */
int setpath_apply(struct arena *a, enum setpath_mode mode, struct str text, struct vmap *data,
		  const struct setpath_files *files, struct strbuf *msg);

#endif
