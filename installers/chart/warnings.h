/*
 * warnings: what Helm says on stderr while it renders: a text for people, and the line that Helm
 * 4's logger (Go's slog, as text without the time) writes of it. Helm prints values in those lines;
 * the texts, which go into plans, have none.
 */
#ifndef INSTALLERS_CHART_WARNINGS_H
#define INSTALLERS_CHART_WARNINGS_H

#include "alm/base/arena.h"
#include "alm/base/str.h"

#define WARNING_BYTES_MAX ((size_t)16 << 20) /* of a line */

struct warning {
	const char *text; /* "skipped value for c.a: Not a table." */
	const char *log;  /* "level=INFO msg=\"warning: skipped value for c.a: Not a table.\"" */
};

/* In order. Whoever adds may have none to add to: w is NULL then. */
struct warnings {
	struct arena *a;
	struct warning *items;
	size_t n, cap;
};

/* The line is level=WARN with the text. */
void warnings_add(struct warnings *w, const char *fmt, ...) PRINTF(2, 3);
/* Of the newest: another message in the line, level "WARN" or "INFO"; an attribute behind it. */
void warnings_log(struct warnings *w, const char *level, const char *fmt, ...) PRINTF(3, 4);
void warnings_attr(struct warnings *w, const char *key, struct str value);

#endif
