/* autoscale: see autoscale.h. */
#include "alm/apiserver/kinds/autoscale.h"

#include <string.h>

#include "alm/apiserver/kinds/autoscale_forms.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/api_decode.h"

#define ANNOTATION     "autoscaling.alpha.kubernetes.io/"
#define METRICS        ANNOTATION "metrics"
#define BEHAVIOR       ANNOTATION "behavior"
#define STATUS_METRICS ANNOTATION "current-metrics"
#define CONDITIONS     ANNOTATION "conditions"
#define TEXT_BYTES_MAX ((size_t)2 << 20) /* an object has less */
#define CPU_TARGET     80                /* where none is autoscale_asked for */

static const char *const made_here[] = {METRICS,
					BEHAVIOR,
					STATUS_METRICS,
					CONDITIONS,
					ANNOTATION "scale-down-tolerance",
					ANNOTATION "scale-up-tolerance"};

bool autoscaler_is_v1(const struct kind *k)
{
	return cstr_eq(k->plural, "horizontalpodautoscalers") && cstr_eq(k->group, "autoscaling") &&
	       cstr_eq(k->version, "v1");
}

/* --- annotations --- */

/* As Go prints it: with <, > and & escaped. */
static void annotate(struct obj *annotations, const char *key, const struct obj *v)
{
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	json_print(v, &json);
	for (size_t i = 0; i < json.len; i++)
		if (strchr("<>&", json.buf[i]))
			strbuf_addf(&b, "\\u%04x", (unsigned)json.buf[i]);
		else
			strbuf_addc(&b, json.buf[i]);
	obj_set(annotations, key, obj_stringn(strbuf_str(&b)));
}

/* A list of values of the type; NULL: it is none. */
static struct obj *decoded(struct obj *list, const char *type)
{
	const struct api_type *t = api_type_named(type);
	struct error ignored;
	bool good = list && t;
	for (size_t i = 0; good && i < obj_len(list); i++)
		good = obj_type(obj_at(list, i)) == OBJ_MAP &&
		       api_decode(t, API_JSON_TEXT, obj_at_mut(list, i), NULL, NULL, &ignored) == 0;
	if (good)
		return list;
	obj_unref(list);
	return NULL;
}

static bool is_too_much(const char *text)
{
	size_t n = 0;
	for (; text && *text; text++)
		n += *text == '{' || *text == '[';
	return n > AUTOSCALE_NODES_MAX;
}

/* What is read of one. */
static struct obj *read_annotation(const struct obj *annotations, const char *key)
{
	const char *text = obj_as_string(obj_get(annotations, key));
	return is_too_much(text) ? NULL : autoscale_parsed(text);
}

static struct obj *annotated(const struct obj *annotations, const char *key)
{
	struct obj *o = read_annotation(annotations, key);
	if (obj_type(o) == OBJ_LIST)
		return o;
	obj_unref(o);
	return NULL;
}

static struct obj *annotated_metrics(const struct obj *annotations, const char *key,
				     const struct autoscale_member *m, const char *type)
{
	CLEANUP(obj_unrefp) struct obj *list = annotated(annotations, key);
	struct obj *out = list ? obj_list() : NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *metric = autoscale_metric_as(obj_at(list, i), m, false);
		if (!metric)
			metric = obj_null(); /* which does not decode */
		else if (m == autoscale_asked)
			autoscale_name_targets(metric);
		obj_append(out, metric);
	}
	return decoded(out, type);
}

/* NULL: none that decodes, or an empty one. */
static struct obj *annotated_behavior(const struct obj *annotations)
{
	CLEANUP(obj_unrefp) struct obj *o = read_annotation(annotations, BEHAVIOR);
	struct obj *list = obj_list();
	obj_append(list, autoscale_behavior_as(o, false));
	CLEANUP(obj_unrefp) struct obj *out =
		decoded(list, "autoscaling.v2.HorizontalPodAutoscalerBehavior");
	return obj_len(obj_at(out, 0)) ? obj_copy(obj_at(out, 0)) : NULL;
}

/* --- the object --- */

static void set_annotations(struct obj *o, struct obj *annotations)
{
	struct obj *meta = obj_copy_map(obj_get(o, "metadata"));
	if (obj_len(annotations))
		obj_set(meta, "annotations", obj_ref(annotations));
	else
		obj_del(meta, "annotations");
	obj_set(o, "metadata", meta);
}

static struct obj *annotations_of(const struct obj *o)
{
	return obj_copy_map(obj_path(o, "metadata.annotations"));
}

static void forget(struct obj *annotations)
{
	for (size_t i = 0; i < ARRAY_LEN(made_here); i++)
		obj_del(annotations, made_here[i]);
}

static bool is_of_status(const char *key)
{
	return cstr_eq(key, STATUS_METRICS) || cstr_eq(key, CONDITIONS);
}

static bool is_cpu(const struct obj *metric)
{
	return cstr_eq(obj_str(metric, "type"), "Resource") &&
	       cstr_eq(obj_str(metric, "resource.name"), "cpu");
}

static void spec_to_v1(struct obj *o, struct obj *annotations)
{
	struct obj *spec = obj_copy_map(obj_get(o, "spec"));
	const struct obj *metrics = obj_get(spec, "metrics"), *behavior = obj_get(spec, "behavior");
	CLEANUP(obj_unrefp) struct obj *others = obj_list();
	const struct obj *target = NULL;
	for (size_t i = 0; i < obj_len(metrics); i++) {
		const struct obj *m = obj_at(metrics, i);
		const struct obj *n = obj_path(m, "resource.target.averageUtilization");
		if (!is_cpu(m) || !obj_is_set(n))
			obj_append(others, autoscale_metric_as(m, autoscale_asked, true));
		else if (!target)
			target = n;
	}
	if (obj_len(others))
		annotate(annotations, METRICS, others);
	if (obj_is_set(behavior)) {
		CLEANUP(obj_unrefp) struct obj *go = autoscale_behavior_as(behavior, true);
		annotate(annotations, BEHAVIOR, go);
	}
	if (target)
		obj_set(spec, "targetCPUUtilizationPercentage", obj_ref(target));
	obj_del(spec, "metrics");
	obj_del(spec, "behavior");
	obj_set(o, "spec", spec);
}

static void status_to_v1(struct obj *o, struct obj *annotations)
{
	const struct obj *had = obj_get(o, "status");
	if (obj_type(had) != OBJ_MAP)
		return;
	struct obj *status = obj_copy_map(had);
	const struct obj *metrics = obj_get(had, "currentMetrics"),
			 *conditions = obj_get(had, "conditions");
	CLEANUP(obj_unrefp) struct obj *all = obj_list();
	CLEANUP(obj_unrefp) struct obj *told = obj_list();
	for (size_t i = 0; i < obj_len(metrics); i++) {
		const struct obj *m = obj_at(metrics, i);
		const struct obj *n = obj_path(m, "resource.current.averageUtilization");
		obj_append(all, autoscale_metric_as(m, autoscale_seen, true));
		if (is_cpu(m) && obj_is_set(n))
			obj_set(status, "currentCPUUtilizationPercentage", obj_ref(n));
	}
	for (size_t i = 0; i < obj_len(conditions); i++)
		obj_append(told, autoscale_condition_as_go(obj_at(conditions, i)));
	if (obj_len(all))
		annotate(annotations, STATUS_METRICS, all);
	if (obj_len(told))
		annotate(annotations, CONDITIONS, told);
	obj_del(status, "currentMetrics");
	obj_del(status, "conditions");
	if (!obj_has(status, "currentReplicas"))
		obj_set_int(status, "currentReplicas", 0);
	obj_set(o, "status", status);
}

void autoscaler_to_v1(struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *annotations = annotations_of(o);
	forget(annotations);
	spec_to_v1(o, annotations);
	status_to_v1(o, annotations);
	set_annotations(o, annotations);
}

static struct obj *cpu_metric(struct obj *target)
{
	struct obj *m = autoscale_parsed(
		"{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{"
		"\"type\":\"Utilization\"}}}");
	obj_set_path(m, "resource.target.averageUtilization", target);
	return m;
}

static void spec_from_v1(struct obj *o, const struct obj *annotations)
{
	struct obj *spec = obj_copy_map(obj_get(o, "spec"));
	const struct obj *target = obj_get(spec, "targetCPUUtilizationPercentage");
	struct obj *metrics = annotated_metrics(annotations, METRICS, autoscale_asked,
						"autoscaling.v2.MetricSpec");
	struct obj *behavior = annotated_behavior(annotations);
	if (!metrics)
		metrics = obj_list();
	if (obj_is_set(target))
		obj_append(metrics, cpu_metric(obj_copy(target)));
	if (!obj_len(metrics))
		obj_append(metrics, cpu_metric(obj_int(CPU_TARGET)));
	obj_set(spec, "metrics", metrics);
	if (behavior)
		obj_set(spec, "behavior", behavior);
	obj_del(spec, "targetCPUUtilizationPercentage");
	obj_set(o, "spec", spec);
}

static void status_from_v1(struct obj *o, const struct obj *annotations)
{
	struct obj *metrics = annotated_metrics(annotations, STATUS_METRICS, autoscale_seen,
						"autoscaling.v2.MetricStatus");
	struct obj *conditions = decoded(annotated(annotations, CONDITIONS),
					 "autoscaling.v2.HorizontalPodAutoscalerCondition");
	struct obj *status = obj_copy_map(obj_get(o, "status"));
	const struct obj *cpu = obj_get(status, "currentCPUUtilizationPercentage");
	if (!metrics && obj_is_set(cpu)) {
		struct obj *m =
			autoscale_parsed("{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\"}}");
		obj_set_path(m, "resource.current.averageUtilization", obj_copy(cpu));
		metrics = obj_list();
		obj_append(metrics, m);
	}
	if (metrics)
		obj_set(status, "currentMetrics", metrics);
	if (conditions)
		obj_set(status, "conditions", conditions);
	obj_del(status, "currentCPUUtilizationPercentage");
	if (obj_i64(status, "currentReplicas", 0) == 0)
		obj_del(status, "currentReplicas"); /* v2 leaves it out */
	if (obj_len(status) || obj_has(o, "status"))
		obj_set(o, "status", obj_ref(status));
	obj_unref(status);
}

void autoscaler_from_v1(struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *annotations = annotations_of(o);
	spec_from_v1(o, annotations);
	status_from_v1(o, annotations);
	forget(annotations);
	set_annotations(o, annotations);
}

void autoscaler_default_v1(struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *annotations = annotations_of(o);
	spec_from_v1(o, annotations);
	if (!obj_is_set(obj_path(o, "spec.minReplicas")))
		obj_set_path(o, "spec.minReplicas", obj_int(1));
	for (size_t i = 0; i < ARRAY_LEN(made_here); i++)
		if (!is_of_status(made_here[i]))
			obj_del(annotations, made_here[i]);
	spec_to_v1(o, annotations);
	set_annotations(o, annotations);
}

const char *autoscaler_too_much(const struct obj *o, bool is_status)
{
	const struct obj *annotations = obj_path(o, "metadata.annotations");
	for (size_t i = 0; i < ARRAY_LEN(made_here); i++)
		if (is_of_status(made_here[i]) == is_status &&
		    is_too_much(obj_as_string(obj_get(annotations, made_here[i]))))
			return made_here[i];
	return NULL;
}

void autoscaler_forget(struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *annotations = annotations_of(o);
	size_t n = obj_len(annotations);
	forget(annotations);
	if (obj_len(annotations) < n)
		set_annotations(o, annotations);
}

static void keep(struct obj *o, const struct obj *before, bool of_status)
{
	CLEANUP(obj_unrefp) struct obj *annotations = annotations_of(o);
	const struct obj *had = obj_path(before, "metadata.annotations");
	for (size_t i = 0; i < ARRAY_LEN(made_here); i++) {
		const struct obj *v = obj_get(had, made_here[i]);
		if (is_of_status(made_here[i]) == of_status && v)
			obj_set(annotations, made_here[i], obj_ref(v));
		else if (is_of_status(made_here[i]) == of_status)
			obj_del(annotations, made_here[i]);
	}
	set_annotations(o, annotations);
}

void autoscaler_keep_status(struct obj *o, const struct obj *before)
{
	keep(o, before, true);
}

void autoscaler_keep_spec(struct obj *o, const struct obj *before)
{
	keep(o, before, false);
}
