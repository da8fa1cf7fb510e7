/* pod_place: see pod_place.h. */
#include "alm/apiserver/kinds/pod_place.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static void check_weight(struct field_errors *e, const char *path, const struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *n = obj_int(obj_i64(o, "weight", 0));
	int64_t weight = obj_i64(o, "weight", 0);
	if (weight < 1 || weight > 100)
		check_invalid(e, check_below(e, path, "weight"), n, "must be in the range 1-100");
}

static void check_nodes(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *required = obj_get(o, REQUIRED), *list = obj_get(o, PREFERRED);
	if (required)
		check_node_selector(e, check_below(e, path, REQUIRED), required);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, check_below(e, path, PREFERRED), i);
		check_weight(e, at, obj_at(list, i));
		check_node_term(e, check_below(e, at, "preference"),
				obj_get(obj_at(list, i), "preference"), true);
	}
}

/* Keys of labels of the Pod itself. */
static void check_label_keys(struct field_errors *e, const char *path, const struct obj *o,
			     const char *field)
{
	const struct obj *keys = obj_get(o, field);
	const char *at = check_below(e, path, field);
	if (obj_len(keys) && !obj_has(o, "labelSelector")) {
		check_forbidden(e, at, "must not be specified when labelSelector is not set");
		return;
	}
	for (size_t i = 0; i < obj_len(keys) && !field_errors_full(e); i++) {
		const char *key = obj_as_string(obj_at(keys, i));
		check_qualified(e, check_at(e, at, i), key ? key : "");
	}
}

/* By then the selector has what comes of the keys (admit_places.c): what it had of them itself is one too many. */
static void check_keys_once(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *keys = obj_get(o, "matchLabelKeys"),
			 *selector = obj_get(o, "labelSelector");
	const struct obj *list = obj_get(selector, "matchExpressions");
	CLEANUP(map_freep) struct map *places = map_new(NULL);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(keys); i++)
		if (obj_as_string(obj_at(keys, i)))
			map_set_number(places, obj_as_string(obj_at(keys, i)), i + 1);
	OBJ_EACH (it, obj_get(selector, "matchLabels"))
		(void)check_again(seen, it.key);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *key = check_text(obj_at(list, i), "key");
		size_t place = (size_t)map_number(places, key);
		if (check_again(seen, key) && place)
			check_invalid_text(e, check_at(e, path, place - 1), key, /* sic */
					   "exists in both matchLabelKeys and labelSelector");
	}
}

/* Both those that match and those that do not. */
static void check_both_keys(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *keys = obj_get(o, "matchLabelKeys");
	const struct obj *others = obj_get(o, "mismatchLabelKeys");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	check_label_keys(e, path, o, "matchLabelKeys");
	check_label_keys(e, path, o, "mismatchLabelKeys");
	check_keys_once(e, path, o);
	for (size_t i = 0; i < obj_len(others); i++)
		if (obj_as_string(obj_at(others, i)))
			(void)check_again(seen, obj_as_string(obj_at(others, i)));
	for (size_t i = 0; i < obj_len(keys) && !field_errors_full(e); i++) {
		const char *key = obj_as_string(obj_at(keys, i));
		if (key && map_has(seen, key))
			check_invalid_text(
				e, check_at(e, check_below(e, path, "matchLabelKeys"), i), key,
				"exists in both matchLabelKeys and mismatchLabelKeys");
	}
}

static void check_term(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *namespaces = obj_get(o, "namespaces");
	const char *key = check_text(o, "topologyKey"), *at = check_below(e, path, "topologyKey");
	check_label_selector(e, check_below(e, path, "labelSelector"), obj_get(o, "labelSelector"));
	check_label_selector(e, check_below(e, path, "namespaceSelector"),
			     obj_get(o, "namespaceSelector"));
	for (size_t i = 0; i < obj_len(namespaces) && !field_errors_full(e); i++) {
		const char *name = obj_as_string(obj_at(namespaces, i));
		check_named(e, check_below(e, path, "namespace"), NAME_DNS_LABEL, /* sic */
			    name ? name : "");
	}
	check_both_keys(e, path, o);
	if (!*key)
		check_required(e, at, "can not be empty");
	check_qualified(e, at, key);
}

static void check_pods(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *required = obj_get(o, REQUIRED), *list = obj_get(o, PREFERRED);
	for (size_t i = 0; i < obj_len(required) && !field_errors_full(e); i++)
		check_term(e, check_at(e, check_below(e, path, REQUIRED), i), obj_at(required, i));
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, check_below(e, path, PREFERRED), i);
		check_weight(e, at, obj_at(list, i));
		check_term(e, check_below(e, at, "podAffinityTerm"),
			   obj_get(obj_at(list, i), "podAffinityTerm"));
	}
}

void pod_check_affinity(struct field_errors *e, const char *path, const struct obj *affinity)
{
	static const char *const pods[] = {"podAffinity", "podAntiAffinity"};
	size_t from = e->n;
	check_nodes(e, check_below(e, path, "nodeAffinity"), obj_get(affinity, "nodeAffinity"));
	for (size_t i = 0; i < ARRAY_LEN(pods); i++)
		check_pods(e, check_below(e, path, pods[i]), obj_get(affinity, pods[i]));
	check_said_since(e, from, affinity);
}

/* --- how they are spread --- */

static const char *place_of(struct field_errors *e, const struct obj *o)
{
	return arena_fmt(e->arena, "{%s, %s}", check_text(o, "topologyKey"),
			 check_text(o, "whenUnsatisfiable"));
}

static void check_domains(struct field_errors *e, const char *path, const struct obj *o,
			  const char *when)
{
	const struct obj *least = obj_get(o, "minDomains");
	int64_t n = 1;
	if (!obj_as_i64(least, &n))
		return;
	if (n <= 0)
		check_invalid(e, path, least, "must be greater than zero");
	if (strcmp(when, "DoNotSchedule") != 0)
		check_invalid(e, path, least,
			      arena_fmt(e->arena,
					"can only use minDomains if "
					"whenUnsatisfiable=DoNotSchedule, not %s",
					when));
}

/* last: where each place is named for the last time. */
static void check_constraint(struct field_errors *e, const char *path, const struct obj *o,
			     const struct map *last)
{
	static const char *const ways[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
	static const char *const honors[] = {"Honor", "Ignore", NULL};
	static const char *const policies[] = {"nodeAffinityPolicy", "nodeTaintsPolicy"};
	const char *when = check_text(o, "whenUnsatisfiable"), *place = place_of(e, o);
	CLEANUP(obj_unrefp) struct obj *skew = obj_int(obj_i64(o, "maxSkew", 0));
	if (obj_i64(o, "maxSkew", 0) <= 0)
		check_invalid(e, check_below(e, path, "maxSkew"), skew,
			      "must be greater than zero");
	if (check_is_empty(o, "topologyKey"))
		check_required(e, check_below(e, path, "topologyKey"), "can not be empty");
	field_errors_one_of(e, check_below(e, path, "whenUnsatisfiable"), when, ways);
	if (map_get(last, place) != o)
		field_errors_add_text(e, FIELD_DUPLICATE,
				      check_below(e, path, "{topologyKey, whenUnsatisfiable}"),
				      place);
	check_domains(e, check_below(e, path, "minDomains"), o, when);
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		if (obj_has(o, policies[i]))
			field_errors_one_of(e, check_below(e, path, policies[i]),
					    check_text(o, policies[i]), honors);
	check_label_keys(e, path, o, "matchLabelKeys");
	check_keys_once(e, path, o);
	check_label_selector(e, check_below(e, path, "labelSelector"), obj_get(o, "labelSelector"));
}

void pod_check_spread(struct field_errors *e, const char *path, const struct obj *list)
{
	CLEANUP(map_freep) struct map *last = map_new(NULL);
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list); i++)
		(void)map_set(last, place_of(e, obj_at(list, i)), mem_unconst(obj_at(list, i)));
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_constraint(e, check_at(e, path, i), obj_at(list, i), last);
	check_said_since(e, from, list);
}

void pod_check_gates(struct field_errors *e, const char *path, const struct obj *list)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *name = check_text(obj_at(list, i), "name"), *at = check_at(e, path, i);
		size_t from = e->n;
		check_qualified(e, at, name);
		if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, at, name);
		check_said_since(e, from, obj_at(list, i));
	}
}
