/* columns_internal: what the files of columns share. */
#ifndef ALM_APISERVER_DOCS_COLUMNS_INTERNAL_H
#define ALM_APISERVER_DOCS_COLUMNS_INTERNAL_H

#include "alm/apiserver/docs/columns.h"
#include "alm/base/strbuf.h"

#define CELL_BYTES_MAX ((size_t)64 << 10)

struct columns_row {
	const char *group, *kind; /* NULL ends the table */
	struct columns columns;
};
extern const struct columns_row columns_workloads[], columns_network[], columns_scaler[],
	columns_cluster[];

/* Cells of every kind. */
struct obj *columns_cell_name(const struct obj *o, int64_t now_ns);
/* "fast (default)", where an annotation says so. */
struct obj *columns_cell_default_name(const struct obj *o, int64_t now_ns);
struct obj *columns_cell_age(const struct obj *o, int64_t now_ns);
/* spec.selector, where it is labels alone: "a=b,c=d". */
struct obj *columns_plain_selector(const struct obj *o, int64_t now_ns);

/* Parts of cells. */
struct obj *columns_text(const char *s, const char *fallback);    /* fallback for NULL and "" */
struct obj *columns_take(struct strbuf *b, const char *fallback); /* releases b */
void columns_add(struct strbuf *b, const char *sep, const char *s);
/* Strings of a list, or a member of its items, with commas. */
struct obj *columns_join(const struct obj *list, const char *member, const char *fallback);
struct obj *columns_pairs(const struct obj *map);         /* "a=b,c=d", or "<none>" */
struct obj *columns_selector(const struct obj *selector); /* "a=b,c in (d)" */
struct obj *columns_number(const struct obj *o, const char *path);

/* clang-format off */
#define NUMBER_CELL(fn, path)                                              \
	static struct obj *fn(const struct obj *o, int64_t now_ns)         \
	{                                                                  \
		(void)now_ns;                                              \
		return columns_number(o, path);                            \
	}
#define TEXT_CELL(fn, path, fallback)                                      \
	static struct obj *fn(const struct obj *o, int64_t now_ns)         \
	{                                                                  \
		(void)now_ns;                                              \
		return columns_text(obj_str(o, path), fallback);           \
	}
#define FLAG_CELL(fn, path, otherwise)                                     \
	static struct obj *fn(const struct obj *o, int64_t now_ns)         \
	{                                                                  \
		(void)now_ns;                                              \
		return obj_bool(obj_flag(o, path, otherwise));             \
	}
#define COLUMN(name, type, cell, wide) {(name), (type), "", (name), NULL, (wide), NULL, (cell)}
#define NAME {"Name", "string", "name", "Name must be unique within a namespace.", NULL, 0, NULL, columns_cell_name}
#define DEFAULT_NAME {"Name", "string", "name", "Name must be unique within a namespace.", NULL, 0, NULL, columns_cell_default_name}
#define AGE  {"Age", "string", "", "Time since the object was created.", NULL, 0, NULL, columns_cell_age}
#define OF(group, kind, array) {(group), (kind), {(array), ARRAY_LEN(array)}}
/* clang-format on */

#endif
