/* scaler_check: see scaler_check.h. */
#include "alm/apiserver/kinds/scaler_check.h"

#include "alm/apiserver/kinds/field_check.h"

#define WINDOW_MAX 3600
#define PERIOD_MAX 1800

/* A source of metrics and what it must say. */
struct source {
	const char *type, *field;
	/* what must be there, and what says so where it is not */
	const char *either, *or_else, *missing, *why;
	const char *not_both, *why_not_both; /* of these two; NULL: both may be there */
};

static const struct source sources[] = {
	{"Object", "object", "value", "averageValue", "averageValue",
	 "must set either a target value or averageValue", NULL, NULL},
	{"External", "external", "value", "averageValue", "averageValue",
	 "must set either a target value for metric or a per-pod target", "value",
	 "may not set both a target value for metric and a per-pod target"},
	{"Pods", "pods", "averageValue", "averageValue", "averageValue",
	 "must specify a positive target averageValue", NULL, NULL},
	{"Resource", "resource", "averageUtilization", "averageValue", "averageUtilization",
	 "must set either a target raw value or a target utilization", "averageValue",
	 "may not set both a target raw value and a target utilization"},
	{"ContainerResource", "containerResource", "averageUtilization", "averageValue",
	 "averageUtilization", "must set either a target raw value or a target utilization",
	 "averageValue", "may not set both a target raw value and a target utilization"},
};

static const char *const source_types[] = {"ContainerResource", "External", "Object", "Pods",
					   "Resource",          NULL};

static void check_positive(struct field_errors *e, const char *path, const struct obj *t,
			   const char *field)
{
	const struct obj *v = obj_get(t, field);
	if (check_is_negative(v, true))
		check_invalid(e, check_below(e, path, field), v, "must be positive");
}

static void check_target(struct field_errors *e, const char *path, const struct obj *t)
{
	static const char *const types[] = {"Utilization", "Value", "AverageValue", NULL};
	const char *type = check_text(t, "type");
	const struct obj *n = obj_get(t, "averageUtilization");
	int64_t v;
	if (!*type)
		check_required(e, check_below(e, path, "type"),
			       "must specify a metric target type");
	if (!cstr_in(type, types))
		check_invalid_text(e, check_below(e, path, "type"), type,
				   "must be either Utilization, Value, or AverageValue");
	check_positive(e, path, t, "value");
	check_positive(e, path, t, "averageValue");
	if (obj_as_i64(n, &v) && v < 1)
		check_invalid(e, check_below(e, path, "averageUtilization"), n,
			      "must be greater than 0");
}

static void check_part(struct field_errors *e, const char *path, const struct obj *o,
		       const char *field, const char *why)
{
	const char *text = check_text(o, field), *at = check_below(e, path, field);
	if (*text)
		check_segment(e, at, text);
	else
		check_required(e, at, why);
}

static void check_reference(struct field_errors *e, const char *path, const struct obj *ref,
			    bool needs_group)
{
	const char *version = check_text(ref, "apiVersion"),
		   *at = check_below(e, path, "apiVersion");
	struct str group, rest;
	check_part(e, path, ref, "kind", NULL);
	check_part(e, path, ref, "name", NULL);
	bool has_group = str_cut(str_of(version), '/', &group, &rest);
	if (has_group && str_find(rest, STR("/")) >= 0)
		check_invalid_text(
			e, at, version,
			arena_fmt(e->arena, "unexpected GroupVersion string: %s", version));
	else if (needs_group && (!has_group || !group.len))
		check_invalid_text(e, at, version, "apiVersion must specify API group");
}

static void check_container(struct field_errors *e, const char *path, const struct obj *m)
{
	const char *name = check_text(m, "name"), *container = check_text(m, "container");
	if (*name)
		check_container_resource(e, check_below(e, path, "name"), name);
	else
		check_required(e, check_below(e, path, "name"), "must specify a resource name");
	if (*container)
		check_name_rule(e, check_below(e, path, "container"), NAME_DNS_LABEL, container);
	else
		check_required(e, check_below(e, path, "container"), "must specify a container");
}

static void check_source(struct field_errors *e, const char *path, const struct source *s,
			 const struct obj *m)
{
	const struct obj *target = obj_get(m, "target");
	const char *at = check_below(e, path, "target");
	if (obj_has(m, "describedObject") || cstr_eq(s->type, "Object"))
		check_reference(e, check_below(e, path, "describedObject"),
				obj_get(m, "describedObject"), false);
	if (cstr_eq(s->type, "ContainerResource"))
		check_container(e, path, m);
	else if (!cstr_eq(s->type, "Resource"))
		check_part(e, check_below(e, path, "metric"), obj_get(m, "metric"), "name",
			   "must specify a metric name");
	else if (check_is_empty(m, "name"))
		check_required(e, check_below(e, path, "name"), "must specify a resource name");
	check_target(e, at, target);
	bool has = obj_has(target, s->either), other = obj_has(target, s->or_else);
	if (!has && !other)
		check_required(e, check_below(e, at, s->missing), s->why);
	if (s->not_both && has && other)
		check_forbidden(e, check_below(e, at, s->not_both), s->why_not_both);
}

/* Of several sources the first alone is looked into. */
static void check_metric(struct field_errors *e, const char *path, const struct obj *m)
{
	const char *type = check_text(m, "type");
	size_t n = 0;
	if (!*type)
		check_required(e, check_below(e, path, "type"),
			       "must specify a metric source type");
	field_errors_one_of(e, check_below(e, path, "type"), type, source_types);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const struct obj *source = obj_get(m, sources[i].field);
		if (source && n++ == 0)
			check_source(e, check_below(e, path, sources[i].field), &sources[i],
				     source);
	}
	if (!cstr_in(type, source_types)) /* again */
		field_errors_one_of(e, check_below(e, path, "type"), type, source_types);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const char *at = check_below(e, path, sources[i].field);
		bool own = cstr_eq(type, sources[i].type);
		if (own && !obj_has(m, sources[i].field))
			check_required(e, at,
				       "must populate information for the given metric source");
	}
	for (size_t i = 0; n > 1 && i < ARRAY_LEN(sources); i++)
		if (!cstr_eq(type, sources[i].type) && obj_has(m, sources[i].field))
			check_forbidden(e, check_below(e, path, sources[i].field),
					"must populate the given metric source only");
}

static void check_policy(struct field_errors *e, const char *path, const struct obj *p)
{
	static const char *const types[] = {"Percent", "Pods", NULL};
	static const char positive[] = "must be greater than zero";
	int64_t value = obj_i64(p, "value", 0), period = obj_i64(p, "periodSeconds", 0);
	CLEANUP(obj_unrefp) struct obj *v = obj_int(value);
	CLEANUP(obj_unrefp) struct obj *seconds = obj_int(period);
	field_errors_one_of(e, check_below(e, path, "type"), check_text(p, "type"), types);
	if (value <= 0)
		check_invalid(e, check_below(e, path, "value"), v, positive);
	if (period <= 0)
		check_invalid(e, check_below(e, path, "periodSeconds"), seconds, positive);
	if (period > PERIOD_MAX)
		check_invalid(e, check_below(e, path, "periodSeconds"), seconds,
			      "must be less than or equal to 1800");
}

static void check_rules(struct field_errors *e, const char *path, const struct obj *rules)
{
	static const char *const selects[] = {"Disabled", "Max", "Min", NULL};
	const struct obj *window = obj_get(rules, "stabilizationWindowSeconds");
	const struct obj *policies = obj_get(rules, "policies");
	const char *at = check_below(e, path, "stabilizationWindowSeconds");
	int64_t n = 0;
	if (!rules)
		return;
	if (obj_as_i64(window, &n) && n < 0)
		check_invalid(e, at, window, "must be greater than or equal to zero");
	if (n > WINDOW_MAX)
		check_invalid(e, at, window, "must be less than or equal to 3600");
	if (obj_has(rules, "selectPolicy"))
		field_errors_one_of(e, check_below(e, path, "selectPolicy"),
				    check_text(rules, "selectPolicy"), selects);
	const char *list = check_below(e, path, "policies");
	if (!obj_len(policies))
		check_required(e, list, "must specify at least one Policy");
	for (size_t i = 0; i < obj_len(policies); i++)
		check_policy(e, check_at(e, list, i), obj_at(policies, i));
	if (check_is_negative(obj_get(rules, "tolerance"), false))
		check_invalid(e, check_below(e, path, "tolerance"), obj_get(rules, "tolerance"),
			      "must be greater than or equal to 0");
}

static bool has_type(const struct obj *metrics, const char *type)
{
	for (size_t i = 0; i < obj_len(metrics); i++)
		if (cstr_eq(obj_str(obj_at(metrics, i), "type"), type))
			return true;
	return false;
}

void check_autoscaler(struct field_errors *e, const struct obj *o)
{
	static const char most[] = "spec.maxReplicas";
	const struct obj *metrics = obj_path(o, "spec.metrics");
	int64_t max = obj_i64(o, most, 0), min = obj_i64(o, "spec.minReplicas", 1);
	check_at_least(e, "spec.minReplicas", obj_path(o, "spec.minReplicas"), 1);
	if (max == 0)
		check_required(e, most, "must be set and greater than 0");
	else
		check_at_least(e, most, obj_path(o, most), 1);
	if (max < min)
		field_errors_add(e, FIELD_INVALID, most,
				 "Invalid value: %lld: must be greater than or equal to "
				 "`minReplicas`",
				 (long long)max);
	check_reference(e, "spec.scaleTargetRef", obj_path(o, "spec.scaleTargetRef"), true);
	for (size_t i = 0; i < obj_len(metrics); i++)
		check_metric(e, check_at(e, "spec.metrics", i), obj_at(metrics, i));
	if (min == 0 && !has_type(metrics, "Object") && !has_type(metrics, "External"))
		check_forbidden(e, "spec.metrics",
				"must specify at least one Object or External metric to support "
				"scaling to zero replicas");
	check_rules(e, "spec.behavior.scaleUp", obj_path(o, "spec.behavior.scaleUp"));
	check_rules(e, "spec.behavior.scaleDown", obj_path(o, "spec.behavior.scaleDown"));
}
