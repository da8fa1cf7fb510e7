/*
 * fuzz_schema: [schema, object, older object] of any form. What is legal compiles; pruning and
 * defaulting settle at once; the verdict without texts is the one with them; rules end in their
 * budget. Then the object is applied to the older one: twice is once.
 */
#include <assert.h>

#include "alm/obj/json.h"
#include "alm/obj/patch/apply.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX 16384

static void apply_twice(const struct schema *s, const struct obj *config, const struct obj *live)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(obj_unrefp) struct obj *once = NULL;
	CLEANUP(obj_unrefp) struct obj *twice = NULL;
	struct apply_conflicts conflicts = {.arena = a};
	struct error err = ERROR_INIT;
	struct apply_request r = {.schema = s,
				  .live = live,
				  .config = config,
				  .manager = "m",
				  .api_version = "x.io/v1",
				  .subresource = "",
				  .force = true};
	if (apply_merge(&r, &conflicts, &once, &err) < 0)
		return;
	r.live = once;
	int ok = apply_merge(&r, &conflicts, &twice, &err);
	fuzz_note_obj(once);
	assert(ok == 0 && obj_equal(once, twice));
}

static void note_errors(const struct field_errors *e)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)16 << 20);
	field_errors_text(e, &b);
	fuzz_note(strbuf_str(&b));
}

static void shape(const struct schema *s, const struct obj *o, const struct obj *old)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(obj_unrefp) struct obj *x = obj_copy(o);
	struct field_errors e;
	field_errors_init(&e, a);
	schema_prune(s, x, NULL, NULL);
	bool is_whole = schema_default(s, x);
	assert(!is_whole || schema_is_shaped(s, x));
	schema_validate(s, x, &e);
	assert(schema_accepts(s, x) == (e.n == 0));
	if (!e.n)
		schema_validate_rules(s, x, old, &e);
	fuzz_note_obj(x);
	note_errors(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(obj_unrefp) struct obj *all = NULL;
	CLEANUP(schema_freep) struct schema *s = NULL;
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	struct field_errors e;
	if (size > INPUT_BYTES_MAX || json_parse(str_n((const char *)data, size), &all, &err) < 0)
		return 0;
	const struct obj *o = obj_at(all, 1), *old = obj_at(all, 2);
	if (obj_type(obj_at(all, 0)) != OBJ_MAP)
		return 0;
	field_errors_init(&e, a);
	schema_check(obj_at(all, 0), "spec", NULL, &e);
	bool is_legal = e.n == 0;
	note_errors(&e);
	if (schema_compile(obj_at(all, 0), &s, &err) < 0) {
		assert(!is_legal);
		return 0;
	}
	if (is_legal && obj_type(o) == OBJ_MAP) {
		shape(s, o, obj_type(old) == OBJ_MAP ? old : NULL);
		apply_twice(s, o, obj_type(old) == OBJ_MAP ? old : NULL);
	}
	return 0;
}
