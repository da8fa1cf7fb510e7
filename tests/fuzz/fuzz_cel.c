/* Reads a CEL expression, checks it against a small schema and runs it: bounded, never a crash;
 * what the checker calls a bool is a bool or an error. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "alm/obj/cel/cel_cost.h"
#include "alm/obj/json.h"

static const char schema_text[] =
	"{\"type\":\"object\",\"properties\":{\"i\":{\"type\":\"integer\"},\"s\":{\"type\":"
	"\"string\"},\"l\":{"
	"\"type\":\"array\",\"items\":{\"type\":\"integer\"}},\"m\":{\"type\":\"object\","
	"\"additionalProperties\":{\"type\":\"string\"}},\"d\":{\"type\":\"string\",\"format\":"
	"\"duration\"},\"y\":{\"type\":\"string\",\"format\":\"byte\"},\"x\":{\"x-kubernetes-int-"
	"or-string\":true}}}";
static const char object_text[] = "{\"i\":3,\"s\":\"h\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"},\"d\":"
				  "\"5s\",\"y\":\"YWJj\",\"x\":\"1\"}";

/* As a MutatingAdmissionPolicy has it: Object{..} and JSONPatch{..} may be written, and are said to be what they are. */
static void run_with_messages(const struct cel_program *p, const struct schema *schema,
			      const struct obj *object, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct cel_var items[] = {
		{NULL, "object", cel_type_of(schema, a), cel_of(object, schema, a)},
		{NULL, "oldObject", cel_type_of(NULL, a), cel_of(object, NULL, a)},
	};
	const struct cel_vars vars = {items, 2, true};
	struct cel_type type;
	size_t n = cel_check_with(p, &vars, a, &b, &type);
	fuzz_note(strbuf_str(&b));
	if (n > 0)
		return;
	struct cel_budget budget = {.left = 20000};
	struct cel_value v = cel_eval_with(p, &vars, a, &budget);
	fuzz_note_number(v.kind);
	fuzz_note_number((int64_t)budget.left);
	assert(type.kind != CEL_BOOL || v.kind == CEL_BOOL || v.kind == CEL_ERROR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct schema *schema;
	static struct obj *object;
	struct error err = ERROR_INIT;
	if (!schema) {
		struct obj *o = NULL;
		if (json_parse(STR(schema_text), &o, &err) < 0 ||
		    schema_compile(o, &schema, &err) < 0 ||
		    json_parse(STR(object_text), &object, &err) < 0)
			return 0;
		obj_unref(o);
		cel_measure(schema);
	}
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const char *text = arena_strndup(a, (const char *)data, size);
	enum cel_kind kind = CEL_DYN;
	struct cel_program *p = cel_parse(text, a, &b);
	fuzz_note(strbuf_str(&b));
	assert(p || b.len > 0);
	if (!p)
		return 0;
	size_t problems = cel_check(p, schema, true, a, &b, &kind);
	fuzz_note(strbuf_str(&b));
	if (problems > 0) {
		run_with_messages(p, schema, object, a);
		return 0;
	}
	run_with_messages(p, schema, object, a);
	const char *fault = cel_constant_fault(p, a);
	fuzz_note(str_of(fault ? fault : ""));
	fuzz_note_number((int64_t)cel_cost(p, schema, true, a));
	struct cel_budget budget = {.left = 20000};
	struct cel_value v = cel_eval(p, schema, object, object, a, &budget);
	fuzz_note_number(v.kind);
	fuzz_note_number((int64_t)budget.left);
	assert(kind != CEL_BOOL || v.kind == CEL_BOOL || v.kind == CEL_ERROR);
	return 0;
}
