#include "alm/cli/kube/printer.h"

#include <string.h>

#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/query/jsonpath.h"
#include "alm/obj/yaml.h"

#define TEMPLATE_DEPTH_MAX 16

int printer_parse(const char *text, struct printer *ret, struct error *err)
{
	static const struct {
		const char *name;
		enum print_format format;
	} formats[] = {
		{"wide", PRINT_WIDE},         {"json", PRINT_JSON},
		{"yaml", PRINT_YAML},         {"name", PRINT_NAME},
		{"jsonpath", PRINT_JSONPATH}, {"custom-columns", PRINT_COLUMNS},
		{"table", PRINT_TABLE},
	};
	struct str name, value;
	*ret = (struct printer){.format = PRINT_TABLE};
	if (!text || !*text)
		return 0;
	bool has_value = str_cut(str_of(text), '=', &name, &value);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (!str_is(name, formats[i].name))
			continue;
		ret->format = formats[i].format;
		ret->template = has_value ? value.ptr : NULL;
		bool wants = ret->format == PRINT_JSONPATH || ret->format == PRINT_COLUMNS;
		if (wants != has_value)
			return error_set(err, E_USAGE, "-o %s: %s", text,
					 wants ? "a template is missing" : "no value is taken");
		return 0;
	}
	return error_set(err, E_USAGE,
			 "-o %s is none of table, wide, json, yaml, name, jsonpath=, "
			 "custom-columns=",
			 text);
}

bool printer_is_table(const struct printer *p)
{
	return p->format == PRINT_TABLE || p->format == PRINT_WIDE;
}

void printer_write(const struct printer *p, struct str text)
{
	if (p->format == PRINT_JSONPATH)
		(void)term_data(text);
	else if (printer_is_table(p))
		term_table(text);
	else
		term_lines(text);
}

void printer_name(const struct obj *o, struct strbuf *b)
{
	struct str group, version;
	for (const char *p = meta_kind(o); p && *p; p++)
		visible_addf(b, "%c", char_lower(*p));
	if (str_cut(str_of(meta_api_version(o)), '/', &group, &version))
		visible_addf(b, ".%.*s", STR_ARG(group));
	visible_addf(b, "/%s", meta_name(o));
}

static bool is_list(const struct obj *o)
{
	return obj_type(obj_get(o, "items")) == OBJ_LIST;
}

/* As it is: jsonpath hands out bytes; a map or a list as Go marshals it. */
static void add_value(const struct obj *o, struct strbuf *b)
{
	struct str s = obj_as_str(o);
	if (s.ptr)
		strbuf_add(b, s.ptr, s.len);
	else
		json_print_go(o, b);
}

static int print_path(struct str path, const struct obj *o, struct strbuf *b, struct error *err)
{
	CLEANUP(jsonpath_freep) struct jsonpath *p = NULL;
	CLEANUP(jsonpath_values_release) struct jsonpath_values v = {0};
	if (str_is(path, "@") || str_is(path, "$") || str_is(path, ".")) {
		add_value(o, b);
		return 0;
	}
	int r = jsonpath_parse(path, &p, err);
	if (r < 0)
		return error_set(err, E_USAGE, "%s", err->msg);
	jsonpath_eval(p, o, &v);
	for (size_t i = 0; i < v.n; i++) {
		if (i)
			strbuf_addc(b, ' ');
		add_value(v.items[i], b);
	}
	return 0;
}

/* The action at the head of rest: up to its }, strings may hold braces. */
static bool next_action(struct str *rest, struct str *ret)
{
	char quote = 0;
	for (size_t i = 1; i < rest->len; i++) {
		char c = rest->ptr[i];
		if (quote) {
			if (c == '\\' && quote == '"')
				i++;
			else if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '}') {
			*ret = str_trim(str_sub(*rest, 1, i - 1));
			*rest = str_skip(*rest, i + 1);
			return true;
		}
	}
	return false;
}

/* "\n" with its quotes. */
static void add_quoted(struct str s, struct strbuf *b)
{
	for (size_t i = 1; i + 1 < s.len; i++) {
		char c = s.ptr[i];
		if (c == '\\' && i + 2 < s.len) {
			c = s.ptr[++i];
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
		}
		strbuf_addc(b, c);
	}
}

/* Runs until the end of rest or an {end}; rest stands behind it then. o NULL: only skips. */
static int run_template(struct str *rest, const struct obj *o, unsigned depth, struct strbuf *b,
			struct error *err);

/* NOLINTBEGIN(misc-no-recursion): run_template() bounds the depth by TEMPLATE_DEPTH_MAX */
static int run_range(struct str path, struct str *rest, const struct obj *o, unsigned depth,
		     struct strbuf *b, struct error *err)
{
	CLEANUP(jsonpath_freep) struct jsonpath *p = NULL;
	CLEANUP(jsonpath_values_release) struct jsonpath_values v = {0};
	struct str body = *rest;
	int r = jsonpath_parse(path, &p, err);
	if (r < 0)
		return error_set(err, E_USAGE, "%s", err->msg);
	if (o)
		jsonpath_eval(p, o, &v);
	r = run_template(rest, NULL, depth + 1, b, err);
	for (size_t i = 0; i < v.n && r >= 0; i++) {
		struct str again = body;
		r = run_template(&again, v.items[i], depth + 1, b, err);
	}
	return r;
}

static int run_action(struct str action, struct str *rest, const struct obj *o, unsigned depth,
		      struct strbuf *b, struct error *err)
{
	if (str_has_prefix(action, STR("range ")))
		return run_range(str_trim(str_skip(action, 6)), rest, o, depth, b, err);
	if (!o)
		return 0;
	if (action.len >= 2 && (action.ptr[0] == '"' || action.ptr[0] == '\'')) {
		add_quoted(action, b);
		return 0;
	}
	return print_path(action, o, b, err);
}

static int run_template(struct str *rest, const struct obj *o, unsigned depth, struct strbuf *b,
			struct error *err)
{
	struct str action;
	if (depth > TEMPLATE_DEPTH_MAX)
		return error_set(err, E_USAGE, "jsonpath: more than %d ranges", TEMPLATE_DEPTH_MAX);
	while (rest->len && !b->over) {
		if (rest->ptr[0] != '{') {
			ptrdiff_t n = str_find_char(*rest, '{');
			size_t len = n < 0 ? rest->len : (size_t)n;
			if (o)
				strbuf_add(b, rest->ptr, len);
			*rest = str_skip(*rest, len);
			continue;
		}
		if (!next_action(rest, &action))
			return error_set(err, E_USAGE, "jsonpath: unclosed action");
		if (str_is(action, "end")) {
			if (depth == 0)
				return error_set(err, E_USAGE, "jsonpath: {end} without {range}");
			return 0;
		}
		int r = run_action(action, rest, o, depth, b, err);
		if (r < 0)
			return r;
	}
	if (depth > 0 && !b->over)
		return error_set(err, E_USAGE, "jsonpath: {range} without {end}");
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

int printer_jsonpath(const char *template, const struct obj *o, struct strbuf *b, struct error *err)
{
	struct str rest = str_of(template);
	if (str_find_char(rest, '{') < 0)
		return print_path(rest, o, b, err);
	return run_template(&rest, o, 0, b, err);
}

/* NAME:.metadata.name,KIND:.kind */
static int print_columns(const struct printer *p, const struct obj *o, struct strbuf *b,
			 struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct str rest = str_of(p->template), column, header, path;
	struct str paths[GRID_COLUMNS_MAX] = {{0}};
	struct grid g;
	grid_init(&g, a);
	while (str_next(&rest, ',', &column)) {
		if (!str_cut(column, ':', &header, &path) || g.n_columns == GRID_COLUMNS_MAX)
			return error_set(err, E_USAGE,
					 "custom-columns: want HEADER:PATH,..., got %.*s",
					 STR_ARG(column));
		paths[g.n_columns] = path;
		grid_column(&g, arena_strndup(a, header.ptr, header.len));
	}
	size_t n = is_list(o) ? obj_len(obj_get(o, "items")) : 1;
	for (size_t i = 0; i < n; i++) {
		const char *cells[GRID_COLUMNS_MAX];
		for (size_t k = 0; k < g.n_columns; k++) {
			CLEANUP(strbuf_release) struct strbuf cell = STRBUF_INIT(STRBUF_SMALL);
			int r = print_path(paths[k],
					   is_list(o) ? obj_at(obj_get(o, "items"), i) : o, &cell,
					   err);
			if (r < 0)
				return r;
			cells[k] = cell.len ? arena_strndup(a, cell.buf, cell.len) : "<none>";
		}
		grid_row(&g, cells);
	}
	grid_print(&g, !p->no_headers, b);
	return 0;
}

static void print_names(const struct obj *o, struct strbuf *b)
{
	size_t n = is_list(o) ? obj_len(obj_get(o, "items")) : 1;
	for (size_t i = 0; i < n; i++) {
		printer_name(is_list(o) ? obj_at(obj_get(o, "items"), i) : o, b);
		strbuf_addc(b, '\n');
	}
}

int printer_object(const struct printer *p, const struct obj *o, struct strbuf *b,
		   struct error *err)
{
	switch (p->format) {
	case PRINT_JSON:
		json_print_pretty(o, 4, b);
		if (!b->len || b->buf[b->len - 1] != '\n')
			strbuf_addc(b, '\n');
		return 0;
	case PRINT_YAML:
		yaml_print(o, b);
		return 0;
	case PRINT_JSONPATH:
		return printer_jsonpath(p->template, o, b, err);
	case PRINT_COLUMNS:
		return print_columns(p, o, b, err);
	case PRINT_NAME:
	case PRINT_TABLE:
	case PRINT_WIDE:
		break;
	}
	print_names(o, b);
	return 0;
}

void grid_init(struct grid *g, struct arena *a)
{
	*g = (struct grid){.arena = a};
}

void grid_column(struct grid *g, const char *header)
{
	if (g->n_columns < GRID_COLUMNS_MAX)
		g->headers[g->n_columns++] = visible_text(g->arena, header);
}

void grid_row(struct grid *g, const char *const *cells)
{
	ARENA_GROW(g->arena, g->rows, g->cap, g->n_rows, 16);
	g->rows[g->n_rows] = ARENA_ARRAY(g->arena, const char *, g->n_columns);
	for (size_t i = 0; i < g->n_columns; i++)
		g->rows[g->n_rows][i] = cells[i] ? visible_text(g->arena, cells[i]) : "";
	g->n_rows++;
}

static void print_row(const struct grid *g, const char *const *cells, const size_t *widths,
		      struct strbuf *b)
{
	for (size_t i = 0; i < g->n_columns; i++) {
		size_t n = utf8_count(str_of(cells[i]));
		visible_adds(b, cells[i]);
		if (i + 1 < g->n_columns)
			strbuf_pad(b, ' ', widths[i] - n + 3);
	}
	strbuf_addc(b, '\n');
}

void grid_restart(struct grid *g, struct arena *a)
{
	g->arena = a;
	g->rows = NULL;
	g->n_rows = g->cap = 0;
}

void grid_print(struct grid *g, bool headers, struct strbuf *b)
{
	size_t *widths = g->widths;
	for (size_t i = 0; i < g->n_columns; i++) {
		size_t header = headers ? utf8_count(str_of(g->headers[i])) : 0;
		widths[i] = header > widths[i] ? header : widths[i];
		for (size_t r = 0; r < g->n_rows; r++) {
			size_t n = utf8_count(str_of(g->rows[r][i]));
			widths[i] = n > widths[i] ? n : widths[i];
		}
	}
	if (headers)
		print_row(g, g->headers, widths, b);
	for (size_t r = 0; r < g->n_rows; r++)
		print_row(g, g->rows[r], widths, b);
}

static const char *cell_text(struct arena *a, const struct obj *cell)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (obj_type(cell) == OBJ_NULL || obj_type(cell) == OBJ_ABSENT)
		return "";
	add_value(cell, &b);
	return arena_strndup(a, b.buf, b.len);
}

static const char *upper(struct arena *a, const char *s)
{
	char *out = arena_strdup(a, s);
	for (char *p = out; *p; p++)
		*p = char_upper(*p);
	return out;
}

static void table_row(struct grid *g, const struct obj *row, const size_t *columns,
		      const char *prefix, bool with_namespace)
{
	const char *cells[GRID_COLUMNS_MAX];
	size_t at = 0;
	if (with_namespace) {
		const char *ns = obj_str(row, "object.metadata.namespace");
		cells[at++] = ns ? ns : "";
	}
	for (size_t k = 0; at < g->n_columns; k++, at++) {
		cells[at] = cell_text(g->arena, obj_at(obj_get(row, "cells"), columns[k]));
		if (k == 0 && prefix)
			cells[at] = arena_fmt(g->arena, "%s%s", prefix, cells[at]);
	}
	grid_row(g, cells);
}

int printer_table(const struct obj *table, bool wide, const char *prefix, bool with_namespace,
		  bool headers, struct strbuf *b, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)128 << 20);
	const struct obj *columns = obj_get(table, "columnDefinitions"),
			 *rows = obj_get(table, "rows");
	size_t shown[GRID_COLUMNS_MAX], n = 0;
	struct grid g;
	if (obj_type(columns) != OBJ_LIST)
		return error_set(err, E_INTERNAL, "the server did not answer with a table");
	grid_init(&g, a);
	if (with_namespace)
		grid_column(&g, "NAMESPACE");
	for (size_t i = 0; i < obj_len(columns) && g.n_columns < GRID_COLUMNS_MAX; i++) {
		const char *name = obj_str(obj_at(columns, i), "name");
		if (obj_i64(obj_at(columns, i), "priority", 0) > 0 && !wide)
			continue;
		shown[n++] = i;
		grid_column(&g, upper(a, name ? name : ""));
	}
	for (size_t i = 0; i < obj_len(rows); i++)
		table_row(&g, obj_at(rows, i), shown, prefix, with_namespace);
	grid_print(&g, headers, b);
	return 0;
}
