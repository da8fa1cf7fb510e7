/* class_check: see class_check.h. */
#include "alm/apiserver/kinds/class_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/storage_check.h"
#include "alm/obj/json.h"

#define USER_PRIORITY_MAX 1000000000
#define CONTROLLER_MAX    250
#define CONFIG_BYTES_MAX  (1 << 20)

/* --- ingresses --- */

static void check_parameters(struct field_errors *e, const struct obj *o)
{
	static const char *const scopes[] = {"Cluster", "Namespace", NULL};
	const struct obj *p = obj_path(o, "spec.parameters");
	const char *group = obj_str(p, "apiGroup"), *scope = check_text(p, "scope");
	const char *fault = group ? name_fault(NAME_DNS_SUBDOMAIN, str_of(group)) : NULL;
	if (!p)
		return;
	if (fault)
		check_invalid_text(e, "spec.parameters.apiGroup", group, fault);
	if (*check_text(p, "kind"))
		check_segment(e, "spec.parameters.kind", check_text(p, "kind"));
	else
		check_required(e, "spec.parameters.kind", NULL);
	if (*check_text(p, "name"))
		check_segment(e, "spec.parameters.name", check_text(p, "name"));
	else
		check_required(e, "spec.parameters.name", NULL);
	field_errors_one_of(e, "spec.parameters.scope", scope, scopes);
	const char *ns = obj_str(p, "namespace"), *at = "spec.parameters.namespace";
	if (strcmp(scope, "Cluster") == 0 && ns)
		check_forbidden(e, at, "`parameters.scope` is set to 'Cluster'");
	if (strcmp(scope, "Namespace") == 0 && !ns)
		check_required(e, at, "`parameters.scope` is set to 'Namespace'");
	fault = ns && strcmp(scope, "Namespace") == 0 ? name_fault(NAME_DNS_LABEL, str_of(ns))
						      : NULL;
	if (fault)
		check_invalid_text(e, at, ns, fault);
}

void check_ingress_class(struct field_errors *e, const struct obj *o)
{
	const char *controller = check_text(o, "spec.controller");
	if (strlen(controller) > CONTROLLER_MAX)
		check_too_long(e, "spec.controller", CONTROLLER_MAX);
	check_domain_path(e, "spec.controller", controller);
	check_parameters(e, o);
}

void ingress_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	check_text_kept(e, "spec.controller", o, before);
}

/* --- storage --- */

static void check_topology(struct field_errors *e, const char *path, const struct obj *list)
{
	CLEANUP(map_freep) struct map *keys = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *values = obj_get(obj_at(list, i), "values");
		const char *at = check_at(e, path, i), *in = check_below(e, at, "values");
		const char *key = check_text(obj_at(list, i), "key");
		CLEANUP(map_freep) struct map *seen = map_new(NULL);
		if (!obj_len(values))
			check_required(e, in, NULL);
		for (size_t k = 0; k < obj_len(values); k++) {
			const char *v = obj_as_string(obj_at(values, k));
			if (check_again(seen, v ? v : ""))
				field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, in, k),
						      v ? v : "");
		}
		check_qualified(e, check_below(e, at, "key"), key);
		if (check_again(keys, key))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "key"), key);
	}
}

/* Of which nodes volumes may be. */
static void check_topologies(struct field_errors *e, const struct obj *list)
{
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_below(e, check_at(e, "allowedTopologies", i),
					     "matchLabelExpressions");
		const struct obj *is = obj_get(obj_at(list, i), "matchLabelExpressions");
		check_topology(e, at, is);
		for (size_t k = 0; k < obj_len(list) && !obj_len(is); k++) /* sic */
			field_errors_add(e, FIELD_DUPLICATE, at, "Duplicate value: \"\"");
		for (size_t k = 0; k < i; k++) {
			const struct obj *b = obj_get(obj_at(list, k), "matchLabelExpressions");
			if (obj_len(is) == obj_len(b) && (!is || !b || obj_equal(is, b)))
				field_errors_add(e, FIELD_DUPLICATE, at, "Duplicate value: \"\"");
		}
	}
	check_said_since(e, from, list);
}

void check_storage_class(struct field_errors *e, const struct obj *o)
{
	static const char *const reclaims[] = {"Delete", "Retain", NULL};
	static const char *const binds[] = {"Immediate", "WaitForFirstConsumer", NULL};
	check_provisioner(e, "provisioner", check_text(o, "provisioner"));
	check_class_parameters(e, o, false);
	if (!check_is_empty(o, "reclaimPolicy"))
		field_errors_one_of(e, "reclaimPolicy", check_text(o, "reclaimPolicy"), reclaims);
	field_errors_one_of(e, "volumeBindingMode", check_text(o, "volumeBindingMode"), binds);
	check_topologies(e, obj_get(o, "allowedTopologies"));
}

void storage_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	check_kept(e, "parameters", o, before);
	check_text_kept(e, "provisioner", o, before);
	check_text_kept(e, "reclaimPolicy", o, before);
	check_text_kept(e, "volumeBindingMode", o, before);
}

/* --- priority, revisions, bindings --- */

void role_ref_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_get(o, "roleRef");
	if (!obj_equal(is, obj_get(before, "roleRef")))
		field_errors_add(
			e, FIELD_INVALID, "roleRef",
			"Invalid value: {\"APIGroup\":\"%s\",\"Kind\":\"%s\",\"Name\":\"%s\"}: "
			"cannot change roleRef",
			check_text(is, "apiGroup"), check_text(is, "kind"), check_text(is, "name"));
}

void check_priority_class(struct field_errors *e, const struct obj *o)
{
	static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
	static const struct {
		const char *name;
		int64_t value;
	} known[] = {{"system-node-critical", 2000001000}, {"system-cluster-critical", 2000000000}};
	static const char reserved[] =
		"priority class names with 'system-' prefix are reserved for "
		"system use only. error: ";
	const char *name = check_text(o, "metadata.name"), *why = NULL;
	int64_t value = obj_i64(o, "value", 0);
	bool is_system = cstr_has_prefix(name, "system-"), is_known = false;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		is_known = true;
		if (value != known[i].value)
			why = arena_fmt(e->arena, "value of %s PriorityClass must be %lld", name,
					(long long)known[i].value);
		else if (obj_flag(o, "globalDefault", false))
			why = arena_fmt(e->arena, "globalDefault of %s PriorityClass must be false",
					name);
	}
	if (is_system && !is_known)
		why = arena_fmt(e->arena, "%s is not a known system priority class", name);
	if (why)
		check_forbidden(e, "metadata.name", arena_fmt(e->arena, "%s%s", reserved, why));
	else if (!is_system && value > USER_PRIORITY_MAX)
		check_forbidden(e, "value",
				"maximum allowed value of a user defined priority is 1000000000");
	if (check_is_empty(o, "preemptionPolicy"))
		check_required(e, "preemptionPolicy", NULL);
	else
		field_errors_one_of(e, "preemptionPolicy", check_text(o, "preemptionPolicy"),
				    policies);
}

void priority_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	if (obj_i64(o, "value", 0) != obj_i64(before, "value", 0))
		field_errors_add(e, FIELD_FORBIDDEN, "value",
				 "Forbidden: may not be changed in an update.");
	check_text_kept(e, "preemptionPolicy", o, before);
}

/* Of an update only its change is told. */
void check_revision(struct field_errors *e, const struct obj *o)
{
	const struct obj *data = obj_get(o, "data");
	check_at_least(e, "revision", obj_get(o, "revision"), 0);
	if (obj_type(data) <= OBJ_NULL)
		check_required(e, "data", "data is mandatory");
	else if (obj_type(data) != OBJ_MAP)
		check_required(e, "data", "data must be a valid JSON object");
}

void revision_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	bool has = e->n > 0 && cstr_eq(e->items[e->n - 1].path, "data");
	struct field_error last = e->items[has ? e->n - 1 : 0];
	e->n -= has;
	size_t from = e->n;
	CLEANUP(xfreep) char *is = json_text(obj_get(o, "data"));
	CLEANUP(xfreep) char *was = json_text(obj_get(before, "data"));
	if (strcmp(is, was) != 0) /* it is kept as it was written: 1.0 is another text than 1 */
		check_invalid(e, "data", obj_get(o, "data"), "field is immutable");
	if (has && e->n == from)
		e->items[e->n++] = last;
}

/* --- keys --- */

static void check_keys(struct field_errors *e, const char *field, const struct obj *map)
{
	OBJ_EACH (it, map)
		check_config_key(e, arena_fmt(e->arena, "%s[%s]", field, it.key), it.key);
}

/* All values together, as they are decoded. */
static size_t bytes_of(const struct obj *map, bool encoded)
{
	size_t n = 0;
	OBJ_EACH (it, map) {
		struct str s = obj_as_str(it.value);
		bool one = s.len && s.ptr[s.len - 1] == '=',
		     two = one && s.len > 1 && s.ptr[s.len - 2] == '=';
		n += encoded ? s.len / 4 * 3 - (size_t)one - (size_t)two : s.len;
	}
	return n;
}

void check_config_keys(struct field_errors *e, const struct obj *o)
{
	const struct obj *data = obj_get(o, "data"), *binary = obj_get(o, "binaryData");
	check_keys(e, "data", data);
	OBJ_EACH (it, data)
		if (obj_has(binary, it.key))
			check_invalid_text(e, arena_fmt(e->arena, "data[%s]", it.key), it.key,
					   "duplicate of key present in binaryData");
	check_keys(e, "binaryData", binary);
	if (bytes_of(data, false) + bytes_of(binary, true) > CONFIG_BYTES_MAX)
		check_too_long(e, "[]", CONFIG_BYTES_MAX); /* sic: of the whole */
}

void check_secret_data(struct field_errors *e, const struct obj *data)
{
	check_keys(e, "data", data);
	size_t from = e->n;
	if (bytes_of(data, true) > CONFIG_BYTES_MAX)
		check_too_long(e, "data", CONFIG_BYTES_MAX);
	check_said_since(e, from, data);
}
