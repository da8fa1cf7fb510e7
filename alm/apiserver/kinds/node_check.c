/* node_check: see node_check.h. */
#include "alm/apiserver/kinds/node_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/resource_quota.h"

#define CIDRS "spec.podCIDRs"

static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};

static void check_label(struct field_errors *e, const char *path, const char *value)
{
	check_named(e, path, NAME_LABEL_VALUE, value);
}

static void check_taint(struct field_errors *e, const char *path, const struct obj *t,
			struct map *seen)
{
	const char *key = check_text(t, "key"), *effect = check_text(t, "effect");
	check_qualified(e, check_below(e, path, "key"), key);
	check_label(e, check_below(e, path, "value"), check_text(t, "value"));
	if (!*effect)
		check_required(e, check_below(e, path, "effect"), NULL);
	else
		field_errors_one_of(e, check_below(e, path, "effect"), effect, effects);
	if (check_again(seen, arena_fmt(e->arena, "%s\n%s", key, effect)))
		field_errors_add(
			e, FIELD_DUPLICATE, path,
			"Duplicate value: {\"Key\":\"%s\",\"Value\":\"%s\",\"Effect\":\"%s\","
			"\"TimeAdded\":null}: taints must be unique by key and effect pair",
			key, check_text(t, "value"), effect);
}

/* Two are one of each family. */
static void check_pair(struct field_errors *e, const struct obj *list)
{
	bool v6[2] = {false, false};
	bool fault = false;
	if (obj_len(list) < 2)
		return;
	for (size_t i = 0; i < obj_len(list) && !fault; i++) {
		const char *text = obj_as_string(obj_at(list, i));
		struct field_errors *one = ARENA_NEW(e->arena, struct field_errors);
		field_errors_init(one, e->arena);
		check_cidr(one, CIDRS, text, false);
		fault = one->n > 0;
		if (fault)
			field_errors_add(e, FIELD_INTERNAL, CIDRS,
					 "Internal error: invalid PodCIDRs. failed to check with "
					 "dual stack with error:invalid CIDR[%zu]: <nil> (invalid "
					 "CIDR address: %s)",
					 i, text);
		else if (i < 2)
			v6[i] = strchr(text, ':');
	}
	if (fault || obj_len(list) > 2 || v6[0] == v6[1])
		check_invalid(e, CIDRS, list,
			      "may specify no more than one CIDR for each IP family");
}

static void check_ranges(struct field_errors *e, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++)
		check_cidr(e, check_at(e, CIDRS, i), obj_as_string(obj_at(list, i)), false);
	check_pair(e, list);
}

static void check_taints(struct field_errors *e, const struct obj *o)
{
	const struct obj *taints = obj_path(o, "spec.taints");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(taints); i++)
		check_taint(e, check_at(e, "metadata.taints", i), obj_at(taints, i),
			    seen); /* sic */
}

/* Words that begin with a capital, and parts of them. */
static bool is_feature(const char *name)
{
	struct str rest = str_of(name), part;
	if (*name < 'A' || *name > 'Z' || name[strlen(name) - 1] == '/')
		return false;
	while (str_next(&rest, '/', &part)) {
		if (!part.len)
			return false;
		for (size_t i = 0; i < part.len; i++)
			if (!char_is_alnum(part.ptr[i]))
				return false;
	}
	return true;
}

#define FEATURE_BYTES_MAX 253

/* NULL: it is one. */
static const char *feature_fault(struct field_errors *e, const char *name)
{
	bool is_long = strlen(name) > FEATURE_BYTES_MAX;
	if (!is_long && is_feature(name))
		return NULL;
	const char *why = is_long ? "must be no more than 253 characters"
				  : "must start with an UpperCamelCase segment, with subsequent "
				    "segments separated by '/' (e.g., MyFeature or "
				    "MyFeature/mySubFeature), and contain only alphanumeric "
				    "characters and slashes";
	return arena_fmt(e->arena, "invalid feature name %s: %s", check_quoted(e, name), why);
}

static void check_features(struct field_errors *e, const struct obj *o)
{
	static const char path[] = "status.declaredFeatures";
	const struct obj *list = obj_path(o, path);
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *name = obj_as_string(obj_at(list, i));
		const char *next =
			i + 1 < obj_len(list) ? obj_as_string(obj_at(list, i + 1)) : NULL;
		const char *why = name ? feature_fault(e, name) : NULL;
		if (why)
			check_invalid_text(e, check_at(e, path, i), name, why);
		int order = name && next ? strcmp(name, next) : -1;
		if (order == 0)
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i + 1), next);
		else if (order > 0)
			check_invalid_text(e, check_at(e, path, i + 1), next,
					   "list must be sorted alphabetically");
	}
	check_said_since(e, from, list);
}

/* What of its status a Node may come with, too. */
static void check_registered(struct field_errors *e, const struct obj *o)
{
	static const char *const fields[] = {"status.capacity", "status.allocatable"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *amounts = obj_path(o, fields[i]);
		size_t from = e->n;
		OBJ_EACH (it, amounts)
			quota_check_amount(e, check_below(e, fields[i], it.key), it.key,
					   obj_as_string(it.value));
		check_said_since(e, from, amounts);
	}
	check_features(e, o);
}

void check_node(struct field_errors *e, const struct obj *o)
{
	check_taints(e, o);
	check_registered(e, o);
	check_ranges(e, obj_path(o, CIDRS));
}

void node_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *was = obj_path(before, CIDRS), *is = obj_path(o, CIDRS);
	const char *id = check_text(before, "spec.providerID");
	if (obj_len(was) && (!is || !obj_equal(is, was)))
		check_forbidden(e, CIDRS,
				"node updates may not change podCIDR except from \"\" to valid");
	if (*id && strcmp(id, check_text(o, "spec.providerID")) != 0)
		check_forbidden(e, "spec.providerID",
				"node updates may not change providerID except from \"\" to valid");
	check_taints(e, o); /* an update's twice */
	if (strcmp(check_text(o, "spec.externalID"), check_text(before, "spec.externalID")) != 0)
		check_forbidden(e, "spec.externalID", "may not be updated");
}

void check_tolerations_differ(struct field_errors *e, const struct obj *list)
{
	static const char *const fields[] = {"Key:key",
					     "Operator:operator",
					     "Value:value",
					     "Effect:effect",
					     "*TolerationSeconds:tolerationSeconds",
					     NULL};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *t = obj_at(list, i);
		const char *key = arena_fmt(e->arena, "%s\n%s\n%s\n%s", check_text(t, "key"),
					    check_text(t, "operator"), check_text(t, "value"),
					    check_text(t, "effect"));
		if (check_again(seen, key))
			check_invalid_struct(e, check_at(e, "scheduling.tolerations", i), t, fields,
					     NULL);
	}
}

void check_runtime_class(struct field_errors *e, const struct obj *o)
{
	const char *handler = check_text(o, "handler");
	if (!*handler)
		check_required(e, "handler", NULL);
	check_name_rule(e, "handler", NAME_DNS_LABEL, handler);
	pod_check_overhead(e, "overhead", obj_path(o, "overhead.podFixed"));
}

void runtime_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	if (strcmp(check_text(o, "handler"), check_text(before, "handler")) != 0)
		check_invalid_text(e, "handler", check_text(o, "handler"), "field is immutable");
}

static void check_addresses(struct field_errors *e, const struct obj *list)
{
	static const char *const fields[] = {"Type:type", "Address:address", NULL};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *a = obj_at(list, i);
		if (check_again(seen, arena_fmt(e->arena, "%s\n%s", check_text(a, "type"),
						check_text(a, "address"))))
			check_invalid_struct(e, check_at(e, "status.addresses", i), a, fields,
					     NULL);
	}
	check_said_since(e, from, list);
}

void check_node_status(struct field_errors *e, const struct obj *o)
{
	check_registered(e, o);
	check_addresses(e, obj_path(o, "status.addresses"));
}
