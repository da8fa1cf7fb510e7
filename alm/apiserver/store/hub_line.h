/*
 * hub_line: an event as a watcher reads it: one line of JSON, or a frame of protobuf, in the version and the form that its
 * request asked for.
 * The lines of one change are kept while it goes round, since most watchers read the same.
 */
#ifndef ALM_APISERVER_STORE_HUB_LINE_H
#define ALM_APISERVER_STORE_HUB_LINE_H

#include "alm/apiserver/request.h"
#include "alm/apiserver/store/store.h"

#define HUB_LINES_MAX 16

struct hub_lines {
	struct hub_line {
		const struct kind *kind;
		struct accept accept;
		bool columns;
		const char *type;
		struct text *line;
	} lines[HUB_LINES_MAX];
	size_t n;
};

/* The object, or the stored text when o is NULL. columns: a Table states its columns. */
void hub_line_print(const struct request *r, const char *type, const struct obj *o, struct text *t,
		    bool columns, struct strbuf *b);
/* A line of JSON -> what the watcher reads: the same, or a frame. */
void hub_line_finish(const struct request *r, struct strbuf *b);
/* initial_end: it ends the objects that the watch began with. */
void hub_line_bookmark(const struct request *r, int64_t rv, bool initial_end, bool columns,
		       struct strbuf *b);

/* The line of the stored text, made or kept; type is compared as a pointer. rv: the revision it is shown with, 0: its own.
 * Borrowed until the next. */
struct str hub_lines_get(struct hub_lines *l, const struct request *r, const char *type,
			 struct text *t, int64_t rv, bool columns);
void hub_lines_clear(struct hub_lines *l);

#endif
