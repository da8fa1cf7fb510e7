#include "alm/source/sql.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/obj/decode.h"
#include "alm/obj/yaml.h"

#define NODES_MAX ((size_t)1 << 12)

#define FIELD(path, type, member) {path, type, offsetof(struct sql_config, member)}
static const struct decode_field fields[] = {
	FIELD("path", DECODE_STR, path),
	FIELD("databaseName", DECODE_STR, database),
	FIELD("query", DECODE_STR, query),
	FIELD("key", DECODE_STR, key),
	FIELD("groupRows", DECODE_BOOL, group_rows),
	{0},
};

static int check(struct sql_config *c, const struct databases *d, struct error *err)
{
	if (database_path(d, c->path, c->database, &c->path, err) < 0)
		return -err->code;
	if (!c->query || !*c->query)
		return error_set(err, E_INVALID, "query: is missing: a SELECT");
	if (!c->key || !*c->key)
		return error_set(err, E_INVALID, "key: is missing: the column that names a run");
	return 0;
}

static int read(struct str text, const struct decode_field *table, void *ret, struct arena *a,
		struct error *err)
{
	struct obj *o = NULL;
	if (yaml_parse_one_max(text, NODES_MAX, &o, err) < 0)
		return -err->code;
	obj_keep(a, o);
	return decode_members(o, "it", table, ret, a, err);
}

int sql_config_read(struct str text, const char *name, const struct databases *d, struct arena *a,
		    struct sql_config *ret, struct error *err)
{
	struct sql_config c = {0};
	if (read(text, fields, &c, a, err) < 0 || check(&c, d, err) < 0)
		return error_wrap(err, "%s", name);
	*ret = c;
	return 0;
}

static const struct decode_field report_fields[] = {
	{"path", DECODE_STR, offsetof(struct sql_report, path)},
	{"statement", DECODE_STR, offsetof(struct sql_report, statement)},
	{0},
};

int sql_report_read(struct str text, const char *name, struct arena *a, struct sql_report *ret,
		    struct error *err)
{
	struct sql_report c = {0};
	if (read(text, report_fields, &c, a, err) < 0)
		return error_wrap(err, "%s", name);
	if (!c.path || !*c.path)
		return error_set(err, E_INVALID, "%s: path: is missing: the SQLite file", name);
	if (!c.statement || !*c.statement)
		return error_set(err, E_INVALID,
				 "%s: statement: is missing: an INSERT with :time, :bundle, "
				 "..",
				 name);
	*ret = c;
	return 0;
}

/* Texts, and numbers as they are written. */
static const char *key_of(const struct sql_config *c, const struct obj *row, struct arena *a)
{
	const struct obj *v = obj_get(row, c->key);
	struct str number = obj_number_text(v);
	return obj_as_string(v) ? obj_as_string(v)
	       : number.len     ? arena_strndup(a, number.ptr, number.len)
				: NULL;
}

static struct obj *add_run(struct obj *runs, const char *key, struct obj *config)
{
	struct obj *run = obj_map();
	obj_set_str(run, "key", key);
	obj_set(run, "config", config);
	obj_append(runs, run);
	return config;
}

int sql_runs(const struct sql_config *c, const struct obj *rows, struct arena *a,
	     const struct obj **ret, struct error *err)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	struct obj *runs = obj_keep(a, obj_list());
	for (size_t i = 0; i < obj_len(rows); i++) {
		const struct obj *row = obj_at(rows, i);
		const char *key = key_of(c, row, a);
		if (!key || !*key || strlen(key) > SQL_KEY_MAX)
			return error_set(err, E_INVALID,
					 "row %zu: column %.64s: want a text or number of 1 to %d "
					 "bytes that names the run",
					 i + 1, c->key, SQL_KEY_MAX);
		struct obj *before = map_get(seen, key);
		if (before && !c->group_rows)
			return error_set(err, E_INVALID,
					 "row %zu: %.64s: another row has this key; groupRows: "
					 "true makes one run of both",
					 i + 1, key);
		if (!c->group_rows) {
			map_set(seen, key, add_run(runs, key, obj_copy(row)));
			continue;
		}
		if (!before) {
			before = add_run(runs, key, obj_map());
			obj_set(before, "rows", obj_list());
			map_set(seen, key, before);
		}
		obj_append(obj_get_mut(before, "rows"), obj_copy(row));
	}
	*ret = runs;
	return 0;
}
