/* policy_mutate: what the mutations of a MutatingAdmissionPolicy (KEP-3962) make of an object; see policy.h. */
#include <string.h>

#include "alm/apiserver/admission/policy_internal.h"
#include "alm/obj/cel/cel_message.h"
#include "alm/obj/patch/apply.h"
#include "alm/obj/patch/patch.h"

#define PATCH_OPS_MAX 10000

size_t policy_mutations(const struct policy *p)
{
	return p->n_mutations;
}

/* --- what is applied --- */

static const char *apply(const struct policy_input *in, const struct schema *schema,
			 const struct cel_value *v, struct arena *a, struct obj **ret)
{
	const char *fault = cel_message_fault(v, a);
	struct error err = ERROR_INIT;
	struct obj *config = NULL;
	if (fault)
		return arena_fmt(a, "type mismatch: %s", fault);
	size_t left = CEL_OBJ_BYTES_MAX;
	if (cel_to_obj(v, &left, &config, &err) < 0)
		return arena_fmt(a, "invalid return type: %s", err.msg);
	obj_keep(a, config);
	obj_set(config, "apiVersion", obj_ref(obj_get(in->object, "apiVersion")));
	obj_set(config, "kind", obj_ref(obj_get(in->object, "kind")));
	if (apply_over(schema, in->object, config, a, ret, &err) < 0)
		return arena_fmt(a, "error applying patch: %s", err.msg);
	return NULL;
}

/* --- JSON patches --- */

static void set_text(struct obj *op, const char *key, const struct cel_value *m, bool always)
{
	struct cel_value v;
	bool has = cel_message_get(m, key, &v) && v.kind == CEL_STRING && v.str.len;
	if (has)
		obj_set(op, key, obj_stringn(v.str));
	else if (always)
		obj_set_str(op, key, "");
}

static const char *add_op(const struct cel_value *m, struct obj *ops, size_t *left, struct arena *a)
{
	struct obj *op = obj_map(), *value;
	struct cel_value v;
	struct error err = ERROR_INIT;
	obj_append(ops, op);
	if (m->kind != CEL_MESSAGE)
		return "type mismatch: JSONPatchType.expression should evaluate to array of "
		       "JSONPatch";
	set_text(op, "op", m, true);
	set_text(op, "path", m, true);
	set_text(op, "from", m, false);
	if (!*obj_str(op, "path") && *obj_str(op, "op"))
		return arena_fmt(a,
				 "JSON Patch: %s operation does not apply: doc is missing path: "
				 "\"\": missing value",
				 obj_str(op, "op"));
	if (!cel_message_get(m, "value", &v))
		return NULL;
	const char *fault = cel_message_fault(&v, a);
	if (fault)
		return arena_fmt(a, "type mismatch: %s", fault);
	if (cel_to_obj(&v, left, &value, &err) < 0)
		return arena_fmt(a,
				 "JSONPath valueExpression evaluated to a type that could not "
				 "marshal to JSON: %s",
				 err.msg);
	obj_set(op, "value", value);
	return NULL;
}

static const char *patch(const struct policy_input *in, const struct cel_value *v, struct arena *a,
			 struct obj **ret)
{
	struct obj *ops = obj_keep(a, obj_list());
	struct error err = ERROR_INIT;
	const char *fault = NULL;
	size_t n = v->kind == CEL_LIST ? cel_size(v) : 0, left = CEL_OBJ_BYTES_MAX;
	if (v->kind != CEL_LIST)
		return "type mismatch: JSONPatchType.expression should evaluate to array";
	if (n > PATCH_OPS_MAX)
		return "the patch has more than 10000 operations";
	for (size_t i = 0; i < n && !fault; i++) {
		struct cel_value one = cel_item(v, i, NULL);
		fault = add_op(&one, ops, &left, a);
	}
	if (fault)
		return fault;
	if (patch_json(in->object, ops, ret, &err) < 0)
		return err.reason == REASON_TEST_FAILED ? NULL /* then the object stays */
							: arena_fmt(a, "JSON Patch: %s", err.msg);
	obj_keep(a, *ret);
	return NULL;
}

void policy_mutate(const struct policy *p, size_t i, const struct policy_input *in,
		   const struct schema *schema, struct arena *a, struct policy_mutated *ret)
{
	const struct policy_mutation *m = &p->mutations[i];
	struct policy_run *r = ARENA_NEW(a, struct policy_run);
	*ret = (struct policy_mutated){.is_patch = m->is_patch};
	policy_run_init(r, p, in, POLICY_STEPS_MAX, a);
	policy_evaluate_variables(r);
	struct cel_value v = policy_evaluate(r, &m->value, m->is_patch ? USE_PATCH : USE_APPLY);
	if (v.kind == CEL_ERROR)
		ret->failed = policy_told(r, &m->value, &v);
	else if (m->is_patch)
		ret->failed = patch(in, &v, a, &ret->object);
	else if (v.kind != CEL_MESSAGE)
		ret->failed = "unsupported return type from ApplyConfiguration expression";
	else
		ret->failed = apply(in, schema, &v, a, &ret->object);
}
