/* The configuration of a trigger on rows, and rows. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "alm/obj/json.h"
#include "alm/source/sql.h"

#define ARENA_MAX ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_n((const char *)data, size);
	struct error err = ERROR_INIT;
	struct sql_config c = {.key = "name"};
	struct obj *o = NULL;
	const struct obj *runs;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct databases d = {0};
	struct database_queries q = {0};
	const char *path = "x.db";
	if (fuzz_noted(database_url_read(text, "t", a, &path, &err), &err) == 0)
		assert(*path);
	(void)fuzz_noted(databases_read(text, "t.yaml", path, a, &d, &err), &err);
	for (size_t i = 0; i < d.n; i++)
		assert(*d.items[i].name && *d.items[i].path);
	if (fuzz_noted(sql_config_read(text, "t.yaml", &d, a, &c, &err), &err) == 0)
		assert(*c.path && *c.query && *c.key);
	(void)fuzz_noted(database_queries_read(text, "t.yaml", &d, a, &q, &err), &err);
	for (size_t i = 0; i < q.n; i++)
		assert(*q.items[i].path && *q.items[i].query &&
		       database_query_find(&q, q.items[i].name) == &q.items[i]);
	if (json_parse(text, &o, &err) < 0)
		return 0;
	if (fuzz_noted(sql_runs(&c, obj_keep(a, o), a, &runs, &err), &err) == 0) {
		fuzz_note_obj(runs);
		assert(obj_len(runs) <= obj_len(o));
	}
	return 0;
}
