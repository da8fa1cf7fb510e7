/* node_check: see node_check.h. */
#include "alm/apiserver/kinds/node_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"

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

static void check_ranges(struct field_errors *e, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++)
		check_cidr(e, check_at(e, CIDRS, i), obj_as_string(obj_at(list, i)), false);
	if (obj_len(list) > 2)
		check_invalid(e, CIDRS, list,
			      "may specify no more than one CIDR for each IP family");
}

static void check_taints(struct field_errors *e, const struct obj *o)
{
	const struct obj *taints = obj_path(o, "spec.taints");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(taints); i++)
		check_taint(e, check_at(e, "metadata.taints", i), obj_at(taints, i),
			    seen); /* sic */
}

void check_node(struct field_errors *e, const struct obj *o)
{
	check_taints(e, o);
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

void check_runtime_class(struct field_errors *e, const struct obj *o)
{
	const char *handler = check_text(o, "handler");
	if (!*handler)
		check_required(e, "handler", NULL);
	check_name_rule(e, "handler", NAME_DNS_LABEL, handler);
	OBJ_EACH (it, obj_path(o, "overhead.podFixed")) {
		const char *at = arena_fmt(e->arena, "overhead.limits[%s]", it.key);
		check_container_resource(e, at, it.key);
		if (check_is_negative(it.value, false))
			check_invalid(e, at, it.value, "must be greater than or equal to 0");
	}
}

void runtime_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	if (strcmp(check_text(o, "handler"), check_text(before, "handler")) != 0)
		check_invalid_text(e, "handler", check_text(o, "handler"), "field is immutable");
}
