#include "alm/source/databases.h"

#include <string.h>

#include "alm/obj/decode.h"
#include "alm/obj/yaml.h"

#define NODES_MAX ((size_t)1 << 12)
#define SCHEME    "sqlite://"

/* --- the file of one URL --- */

int database_url_read(struct str text, const char *file, struct arena *a, const char **ret_path,
		      struct error *err)
{
	struct str line = str_trim(text);
	size_t n = strlen(SCHEME);
	if (!str_has_prefix(line, STR(SCHEME)) || line.len == n ||
	    memchr(line.ptr, '\n', line.len) || memchr(line.ptr, '\0', line.len))
		return error_set(err, E_INVALID,
				 "%s: want one line, sqlite://PATH: other databases are not read",
				 file);
	*ret_path = arena_strndup(a, line.ptr + n, line.len - n);
	return 0;
}

/* --- lists of maps --- */

static int read_list(struct str text, const char *name, struct arena *a, const struct obj **ret,
		     struct error *err)
{
	struct {
		const struct obj *list;
	} top = {0};
	const struct decode_field fields[] = {{name, DECODE_LIST, 0}, {0}};
	struct obj *o = NULL;
	if (yaml_parse_one_max(text, NODES_MAX, &o, err) < 0)
		return -err->code;
	obj_keep(a, o);
	if (decode_members(o, "it", fields, &top, a, err) < 0)
		return -err->code;
	if (!obj_len(top.list))
		return error_set(err, E_INVALID, "%s: is missing: a list", name);
	if (obj_len(top.list) > DATABASES_MAX)
		return error_set(err, E_LIMIT, "%s: more than %d entries", name, DATABASES_MAX);
	*ret = top.list;
	return 0;
}

/* As a part of an import; nothing that alm-runtime has itself. */
static int check_name(const char *name, const char *at, struct error *err)
{
	static const char *const taken[] = {"config", "cluster", "values", NULL};
	size_t n = name ? strlen(name) : 0;
	bool well = n > 0 && n <= DATABASE_NAME_MAX;
	for (size_t i = 0; i < n && well; i++)
		well = char_is_alnum(name[i]) || (i && strchr("._-/", name[i]));
	if (!well)
		return error_set(err, E_INVALID,
				 "%s.name: want 1 to %d letters, digits, '.', '_', '-' and '/'", at,
				 DATABASE_NAME_MAX);
	if (cstr_in(name, taken) || cstr_has_suffix(name, "/list"))
		return error_set(err, E_INVALID,
				 "%s.name: %s is of alm-runtime itself: another name is wanted", at,
				 name);
	return 0;
}

static int is_taken(const char *at, const char *name, struct error *err)
{
	return error_set(err, E_INVALID, "%s.name: %s: another entry has this name", at, name);
}

/* --- connections --- */

struct connection {
	const char *name, *type, *path;
	const struct obj *sqlite;
};

#define FIELD(type, path, kind, member) {path, kind, offsetof(struct type, member)}

static int read_connection(const struct obj *o, const char *at, const char *path, struct arena *a,
			   struct database *ret, struct error *err)
{
	static const struct decode_field fields[] = {
		FIELD(connection, "name", DECODE_STR, name),
		FIELD(connection, "type", DECODE_STR, type),
		FIELD(connection, "sqlite", DECODE_MAP, sqlite),
		{0}};
	static const struct decode_field inner[] = {FIELD(connection, "path", DECODE_STR, path),
						    {0}};
	struct connection c = {0};
	const char *type = obj_str(o, "type");
	if (type && !cstr_eq(type, "sqlite")) /* before what another type has as its field */
		return error_set(err, E_INVALID,
				 "%s.type: %.40s: want sqlite: other databases are not read", at,
				 type);
	if (decode_members(o, at, fields, &c, a, err) < 0 || check_name(c.name, at, err) < 0)
		return -err->code;
	if (!c.type)
		return error_set(err, E_INVALID, "%s.type: is missing: sqlite", at);
	if (c.sqlite &&
	    decode_members(c.sqlite, arena_fmt(a, "%s.sqlite", at), inner, &c, a, err) < 0)
		return -err->code;
	*ret = (struct database){c.name, c.path && *c.path ? c.path : path};
	if (!ret->path)
		return error_set(err, E_INVALID,
				 "%s.sqlite.path: is missing: the SQLite file; or give "
				 "--default-database-url-file",
				 at);
	return 0;
}

static const struct database *find(const struct databases *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (cstr_eq(d->items[i].name, name))
			return &d->items[i];
	return NULL;
}

static int read_connections(struct str text, const char *path, struct arena *a,
			    struct databases *ret, struct error *err)
{
	const struct obj *list = NULL;
	if (read_list(text, "connections", a, &list, err) < 0)
		return -err->code;
	ret->items = ARENA_ARRAY(a, struct database, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *at = arena_fmt(a, "connections[%zu]", i);
		struct database one = {0};
		if (read_connection(obj_at(list, i), at, path, a, &one, err) < 0)
			return -err->code;
		if (find(ret, one.name))
			return is_taken(at, one.name, err);
		ret->items[ret->n++] = one;
	}
	return 0;
}

int databases_read(struct str text, const char *file, const char *path, struct arena *a,
		   struct databases *ret, struct error *err)
{
	struct databases d = {0};
	if (read_connections(text, path, a, &d, err) < 0)
		return error_wrap(err, "%s", file);
	*ret = d;
	return 0;
}

int database_path(const struct databases *d, const char *path, const char *name,
		  const char **ret_path, struct error *err)
{
	bool by_path = path && *path, by_name = name && *name;
	const struct database *found = by_name ? find(d, name) : NULL;
	if (by_path == by_name)
		return error_set(err, E_INVALID,
				 by_path ? "databaseName: path is given, too: one of them"
					 : "path: is missing: the SQLite file, or databaseName of "
					   "--database-connections-file");
	if (by_name && !found)
		return error_set(err, E_INVALID, "databaseName: %.128s: no such connection%s", name,
				 d->n ? "" : ": --database-connections-file names them");
	*ret_path = by_path ? path : found->path;
	return 0;
}

/* --- queries --- */

struct query_row {
	const char *name, *path, *database, *query;
};

static int read_query(const struct obj *o, const char *at, const struct databases *d,
		      struct arena *a, struct database_query *ret, struct error *err)
{
	static const struct decode_field fields[] = {
		FIELD(query_row, "name", DECODE_STR, name),
		FIELD(query_row, "path", DECODE_STR, path),
		FIELD(query_row, "databaseName", DECODE_STR, database),
		FIELD(query_row, "query", DECODE_STR, query),
		{0}};
	struct query_row row = {0};
	if (decode_members(o, at, fields, &row, a, err) < 0 || check_name(row.name, at, err) < 0)
		return -err->code;
	if (!row.query || !*row.query)
		return error_set(err, E_INVALID, "%s.query: is missing: a SELECT", at);
	*ret = (struct database_query){.name = row.name, .query = row.query};
	return database_path(d, row.path, row.database, &ret->path, err) < 0
		       ? error_set(err, E_INVALID, "%s.%s", at, arena_strdup(a, err->msg))
		       : 0;
}

static int read_queries(struct str text, const struct databases *d, struct arena *a,
			struct database_queries *ret, struct error *err)
{
	const struct obj *list = NULL;
	if (read_list(text, "queries", a, &list, err) < 0)
		return -err->code;
	ret->items = ARENA_ARRAY(a, struct database_query, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *at = arena_fmt(a, "queries[%zu]", i);
		struct database_query one = {0};
		if (read_query(obj_at(list, i), at, d, a, &one, err) < 0)
			return -err->code;
		if (database_query_find(ret, one.name))
			return is_taken(at, one.name, err);
		ret->items[ret->n++] = one;
	}
	return 0;
}

int database_queries_read(struct str text, const char *file, const struct databases *d,
			  struct arena *a, struct database_queries *ret, struct error *err)
{
	struct database_queries q = {0};
	if (read_queries(text, d, a, &q, err) < 0)
		return error_wrap(err, "%s", file);
	*ret = q;
	return 0;
}

const struct database_query *database_query_find(const struct database_queries *q, const char *name)
{
	for (size_t i = 0; i < q->n; i++)
		if (cstr_eq(q->items[i].name, name))
			return &q->items[i];
	return NULL;
}
