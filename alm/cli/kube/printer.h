/*
 * printer: objects and tables as kubectl prints them.
 *
 * Formats: "" (table), wide, json, yaml, name, jsonpath=TEMPLATE, custom-columns=SPEC.
 */
#ifndef ALM_CLI_KUBE_PRINTER_H
#define ALM_CLI_KUBE_PRINTER_H

#include "alm/base/arena.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

enum print_format {
	PRINT_TABLE,
	PRINT_WIDE,
	PRINT_JSON,
	PRINT_YAML,
	PRINT_NAME,
	PRINT_JSONPATH,
	PRINT_COLUMNS,
};

struct printer {
	enum print_format format;
	const char *template; /* of jsonpath and custom-columns */
	bool no_headers;      /* of custom-columns */
};

/* text: the value of -o, or NULL. E_USAGE names the formats. */
int printer_parse(const char *text, struct printer *ret, struct error *err);
bool printer_is_table(const struct printer *p);

/* Standard output: the bytes of jsonpath are data, all else is text (term.h). */
void printer_write(const struct printer *p, struct str text);

/* One object, or a List of them, in any format but the tables. */
int printer_object(const struct printer *p, const struct obj *o, struct strbuf *b,
		   struct error *err);

#define GRID_COLUMNS_MAX 64

/* Rows of cells, each made visible as one line; columns are padded with three blanks, the last one
 * is not. */
struct grid {
	struct arena *arena;
	size_t n_columns, n_rows, cap;
	const char *headers[GRID_COLUMNS_MAX];
	const char ***rows;
	size_t widths[GRID_COLUMNS_MAX]; /* of a table in pieces: grid_print() never narrows them */
};
void grid_init(struct grid *g, struct arena *a);
void grid_column(struct grid *g, const char *header);
/* n_columns cells; NULL is empty. Strings are borrowed, as the headers are. */
void grid_row(struct grid *g, const char *const *cells);
/* Drops the rows, whose arena may go; their widths stay. */
void grid_restart(struct grid *g, struct arena *a);
void grid_print(struct grid *g, bool headers, struct strbuf *b);

/* A meta.k8s.io Table. prefix ("apptype.app.coreos.com/" or NULL) goes before names;
 * with_namespace puts a NAMESPACE column first. */
int printer_table(const struct obj *table, bool wide, const char *prefix, bool with_namespace,
		  bool headers, struct strbuf *b, struct error *err);

/* "apptype.app.coreos.com/etcd", "pod/x" */
void printer_name(const struct obj *o, struct strbuf *b);
/* {range .items[*]}{.metadata.name}{"\n"}{end} and plain paths. */
int printer_jsonpath(const char *template, const struct obj *o, struct strbuf *b,
		     struct error *err);

#endif
