/* Reads [schema, schema, object]: an object that the first takes and the second refuses, or loses a
 * field of, is never let through. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "alm/obj/json.h"
#include "alm/obj/schema/schema.h"
#include "catalog/gate/gate.h"

static struct obj *definition(const struct obj *schema)
{
	struct obj *o = obj_map(), *version = obj_map(), *list = obj_list();
	obj_set_str(version, "name", "v1");
	obj_set_bool(version, "served", true);
	obj_set_bool(version, "storage", true);
	obj_set_path(version, "schema.openAPIV3Schema", obj_ref(schema));
	obj_append(list, version);
	obj_set_path(o, "metadata.name", obj_string("as.x.io"));
	obj_set_path(o, "spec.group", obj_string("x.io"));
	obj_set_path(o, "spec.versions", list);
	return o;
}

static bool is_legal(const struct obj *schema)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct field_errors *e = ARENA_NEW(a, struct field_errors);
	field_errors_init(e, a);
	schema_check(schema, "", NULL, e);
	return e->n == 0;
}

static bool is_lost(const struct obj *x, const struct obj *y, const struct obj *object)
{
	CLEANUP(schema_freep) struct schema *old = NULL;
	CLEANUP(schema_freep) struct schema *new = NULL;
	CLEANUP(obj_unrefp) struct obj *before = obj_copy(object);
	struct error err = ERROR_INIT;
	if (schema_compile(x, &old, &err) < 0 || schema_compile(y, &new, &err) < 0)
		return false;
	schema_prune(old, before, NULL, NULL);
	schema_default(old, before);
	if (!schema_accepts(old, before))
		return false;
	CLEANUP(obj_unrefp) struct obj *after = obj_copy(before);
	schema_prune(new, after, NULL, NULL);
	schema_default(new, after);
	return !schema_accepts(new, after);
}

static void judge(const struct obj *x, const struct obj *y, const struct obj *object)
{
	CLEANUP(obj_unrefp) struct obj *before = definition(x);
	CLEANUP(obj_unrefp) struct obj *after = definition(y);
	const struct gate_input in = {.before = before, .after = after};
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	if (fuzz_noted(gate_begin(&in, &g, &err), &err) < 0)
		return;
	gate_object(g, object, "v1");
	gate_finish(g);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)16 << 20);
	for (size_t i = 0; i < gate_count(g); i++)
		gate_finding_text(g, gate_finding(g, i), &b);
	fuzz_note(strbuf_str(&b));
	fuzz_note_number(gate_outcome(g));
	assert(gate_outcome(g) == FINDING_REFUSE || !is_lost(x, y, object));
	gate_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(str_n((const char *)data, size), &o, &err) < 0)
		return 0;
	const struct obj *x = obj_at(o, 0), *y = obj_at(o, 1), *object = obj_at(o, 2);
	if (obj_type(object) == OBJ_MAP && is_legal(x) && is_legal(y))
		judge(x, y, object);
	obj_unref(o);
	return 0;
}
