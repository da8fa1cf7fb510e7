/* autoscale: see autoscale.h. */
#include "alm/apiserver/kinds/autoscale.h"

#include <string.h>
#include <strings.h>

#include "alm/obj/json.h"
#include "alm/obj/quantity.h"
#include "alm/obj/schema/api_decode.h"

#define ANNOTATION     "autoscaling.alpha.kubernetes.io/"
#define METRICS        ANNOTATION "metrics"
#define BEHAVIOR       ANNOTATION "behavior"
#define STATUS_METRICS ANNOTATION "current-metrics"
#define CONDITIONS     ANNOTATION "conditions"
#define TEXT_BYTES_MAX ((size_t)2 << 20) /* an object has less */
#define CPU_TARGET     80                /* where none is asked for */

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

/* --- the sources of a metric, by field, in the order of v1's types --- */

struct member {
	const char *source, *v1, *v2;
	const char *zero; /* what v1 shows, and takes, where there is none; NULL: nothing */
};

#define NO_REFERENCE "{\"kind\":\"\",\"name\":\"\"}"

static const struct member asked[] = {
	{"object", "target", "describedObject", NO_REFERENCE},
	{"object", "metricName", "metric.name", "\"\""},
	{"object", "targetValue", "target.value", "\"0\""},
	{"object", "selector", "metric.selector", NULL},
	{"object", "averageValue", "target.averageValue", NULL},
	{"pods", "metricName", "metric.name", "\"\""},
	{"pods", "targetAverageValue", "target.averageValue", "\"0\""},
	{"pods", "selector", "metric.selector", NULL},
	{"resource", "name", "name", "\"\""},
	{"resource", "targetAverageUtilization", "target.averageUtilization", NULL},
	{"resource", "targetAverageValue", "target.averageValue", NULL},
	{"containerResource", "name", "name", "\"\""},
	{"containerResource", "targetAverageUtilization", "target.averageUtilization", NULL},
	{"containerResource", "targetAverageValue", "target.averageValue", NULL},
	{"containerResource", "container", "container", "\"\""},
	{"external", "metricName", "metric.name", "\"\""},
	{"external", "metricSelector", "metric.selector", NULL},
	{"external", "targetValue", "target.value", NULL},
	{"external", "targetAverageValue", "target.averageValue", NULL},
	{0},
};
static const struct member seen[] = {
	{"object", "target", "describedObject", NO_REFERENCE},
	{"object", "metricName", "metric.name", "\"\""},
	{"object", "currentValue", "current.value", "\"0\""},
	{"object", "selector", "metric.selector", NULL},
	{"object", "averageValue", "current.averageValue", NULL},
	{"pods", "metricName", "metric.name", "\"\""},
	{"pods", "currentAverageValue", "current.averageValue", "\"0\""},
	{"pods", "selector", "metric.selector", NULL},
	{"resource", "name", "name", "\"\""},
	{"resource", "currentAverageUtilization", "current.averageUtilization", NULL},
	{"resource", "currentAverageValue", "current.averageValue", "\"0\""},
	{"containerResource", "name", "name", "\"\""},
	{"containerResource", "currentAverageUtilization", "current.averageUtilization", NULL},
	{"containerResource", "currentAverageValue", "current.averageValue", "\"0\""},
	{"containerResource", "container", "container", "\"\""},
	{"external", "metricName", "metric.name", "\"\""},
	{"external", "metricSelector", "metric.selector", NULL},
	{"external", "currentValue", "current.value", "\"0\""},
	{"external", "currentAverageValue", "current.averageValue", NULL},
	{0},
};

static struct obj *parsed(const char *text)
{
	struct obj *o = NULL;
	struct error ignored;
	return text && json_parse(str_of(text), &o, &ignored) == 0 ? o : NULL;
}

/* References and selectors, as Go prints them: members in the order of the type, labels by name. */
static struct obj *in_order(const struct obj *v)
{
	static const char *const order[] = {
		"kind", "name",     "apiVersion", "matchLabels", "matchExpressions",
		"key",  "operator", "values"};
	if (obj_type(v) == OBJ_LIST) {
		struct obj *list = obj_list();
		for (size_t i = 0; i < obj_len(v); i++)
			obj_append(list, in_order(obj_at(v, i)));
		return list;
	}
	if (obj_type(v) != OBJ_MAP)
		return obj_copy(v);
	struct obj *out = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		const struct obj *member = obj_get(v, order[i]);
		if (member && strcmp(order[i], "matchLabels") == 0) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
			json_print_canonical(member, &b);
			obj_set(out, order[i], parsed(b.buf));
		} else if (member) {
			obj_set(out, order[i], in_order(member));
		}
	}
	return out;
}

/* One metric in the other form; NULL: it has none. */
static struct obj *metric_as(const struct obj *metric, const struct member *m, bool to_v1)
{
	const char *type = obj_str(metric, "type");
	if (obj_is_set(metric) && obj_type(metric) != OBJ_MAP)
		return NULL;
	struct obj *out = obj_map();
	obj_set_str(out, "type", type ? type : "");
	for (; m->source; m++) {
		const struct obj *from = obj_get(metric, m->source);
		if (!obj_is_set(from))
			continue;
		if (obj_type(from) != OBJ_MAP) {
			obj_unref(out);
			return NULL;
		}
		struct obj *to = obj_need_map(out, m->source);
		const struct obj *v = obj_path(from, to_v1 ? m->v2 : m->v1);
		struct obj *value = obj_is_set(v) ? in_order(v) : parsed(m->zero);
		if (value)
			obj_set_path(to, to_v1 ? m->v1 : m->v2, value);
	}
	return out;
}

static bool is_zero(const struct obj *v)
{
	struct quantity q;
	const char *text = obj_as_string(v);
	return text && quantity_read(str_of(text), &q) && q.nanos == 0;
}

/* Which kind of target it is says v2 alone. */
static void name_targets(struct obj *metric)
{
	static const char *const sources[] = {"object", "pods", "resource", "containerResource",
					      "external"};
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		struct obj *source = obj_get_mut(metric, sources[i]);
		if (!source)
			continue;
		struct obj *target = obj_need_map(source, "target");
		const char *type = "AverageValue";
		bool average = obj_has(target, "averageValue");
		if (strcmp(sources[i], "object") == 0 && average &&
		    is_zero(obj_get(target, "value")))
			obj_del(target, "value");
		if ((strcmp(sources[i], "object") == 0 && !average) ||
		    (strcmp(sources[i], "external") == 0 && obj_has(target, "value")))
			type = "Value";
		if (obj_has(target, "averageUtilization"))
			type = "Utilization";
		obj_set_str(target, "type", type);
	}
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
		       api_decode(t, obj_at_mut(list, i), NULL, NULL, &ignored) == 0;
	if (good)
		return list;
	obj_unref(list);
	return NULL;
}

static struct obj *annotated(const struct obj *annotations, const char *key)
{
	struct obj *o = parsed(obj_as_string(obj_get(annotations, key)));
	if (obj_type(o) == OBJ_LIST)
		return o;
	obj_unref(o);
	return NULL;
}

static struct obj *annotated_metrics(const struct obj *annotations, const char *key,
				     const struct member *m, const char *type)
{
	CLEANUP(obj_unrefp) struct obj *list = annotated(annotations, key);
	struct obj *out = list ? obj_list() : NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *metric = metric_as(obj_at(list, i), m, false);
		if (!metric)
			metric = obj_null(); /* which does not decode */
		else if (m == asked)
			name_targets(metric);
		obj_append(out, metric);
	}
	return decoded(out, type);
}

/* Go matches the names of members without regard to case. */
static const struct obj *member_of(const struct obj *o, const char *name)
{
	const struct obj *found = NULL;
	OBJ_EACH (it, o)
		if (strcasecmp(it.key, name) == 0)
			found = it.value;
	return obj_is_set(found) ? found : NULL;
}

static const char *const behavior_names[] = {"scaleUp", "scaleDown", NULL};
static const char *const rules_names[] = {"stabilizationWindowSeconds", "selectPolicy", "policies",
					  "tolerance", NULL};
static const char *const policy_names[] = {"type", "value", "periodSeconds", NULL};

/* A map whose members have Go's names, all of them, or v2's, those that are set. */
static struct obj *named_as(const struct obj *from, const char *const *names, bool to_go)
{
	struct obj *out = obj_map();
	for (; *names; names++) {
		char key[32] = {0};
		memcpy(key, *names, strnlen(*names, sizeof(key) - 1));
		const struct obj *v = member_of(from, key);
		if (to_go)
			key[0] = (char)(key[0] - 'a' + 'A');
		if (v || to_go)
			obj_set(out, key, v ? obj_copy(v) : obj_null());
	}
	return out;
}

static struct obj *behavior_as(const struct obj *from, bool to_go)
{
	struct obj *out = named_as(from, behavior_names, to_go);
	for (size_t i = 0; behavior_names[i]; i++) {
		const struct obj *rules = member_of(from, behavior_names[i]);
		if (obj_type(rules) != OBJ_MAP)
			continue;
		struct obj *to = named_as(rules, rules_names, to_go), *list = obj_list();
		const struct obj *policies = member_of(rules, "policies");
		for (size_t k = 0; k < obj_len(policies); k++)
			obj_append(list, named_as(obj_at(policies, k), policy_names, to_go));
		if (obj_type(policies) == OBJ_LIST)
			obj_set(to, to_go ? "Policies" : "policies", obj_ref(list));
		obj_unref(list);
		obj_set(out, to_go ? (i ? "ScaleDown" : "ScaleUp") : behavior_names[i], to);
	}
	return out;
}

/* NULL: none that decodes, or an empty one. */
static struct obj *annotated_behavior(const struct obj *annotations)
{
	CLEANUP(obj_unrefp) struct obj *o = parsed(obj_as_string(obj_get(annotations, BEHAVIOR)));
	struct obj *list = obj_list();
	obj_append(list, behavior_as(o, false));
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
			obj_append(others, metric_as(m, asked, true));
		else if (!target)
			target = n;
	}
	if (obj_len(others))
		annotate(annotations, METRICS, others);
	if (obj_is_set(behavior)) {
		CLEANUP(obj_unrefp) struct obj *go = behavior_as(behavior, true);
		annotate(annotations, BEHAVIOR, go);
	}
	if (target)
		obj_set(spec, "targetCPUUtilizationPercentage", obj_ref(target));
	obj_del(spec, "metrics");
	obj_del(spec, "behavior");
	obj_set(o, "spec", spec);
}

/* In the order of the type, and with the time of one that has none. */
static struct obj *condition_as_go(const struct obj *c)
{
	static const struct {
		const char *name;
		bool always;
	} fields[] = {{"type", true},
		      {"status", true},
		      {"lastTransitionTime", true},
		      {"reason", false},
		      {"message", false}};
	struct obj *out = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *v = obj_get(c, fields[i].name);
		if (obj_is_set(v) || fields[i].always)
			obj_set(out, fields[i].name, v ? obj_ref(v) : obj_null());
	}
	return out;
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
		obj_append(all, metric_as(m, seen, true));
		if (is_cpu(m) && obj_is_set(n))
			obj_set(status, "currentCPUUtilizationPercentage", obj_ref(n));
	}
	for (size_t i = 0; i < obj_len(conditions); i++)
		obj_append(told, condition_as_go(obj_at(conditions, i)));
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
	struct obj *m = parsed("{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{"
			       "\"type\":\"Utilization\"}}}");
	obj_set_path(m, "resource.target.averageUtilization", target);
	return m;
}

static void spec_from_v1(struct obj *o, const struct obj *annotations)
{
	struct obj *spec = obj_copy_map(obj_get(o, "spec"));
	const struct obj *target = obj_get(spec, "targetCPUUtilizationPercentage");
	struct obj *metrics =
		annotated_metrics(annotations, METRICS, asked, "autoscaling.v2.MetricSpec");
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
	struct obj *metrics =
		annotated_metrics(annotations, STATUS_METRICS, seen, "autoscaling.v2.MetricStatus");
	struct obj *conditions = decoded(annotated(annotations, CONDITIONS),
					 "autoscaling.v2.HorizontalPodAutoscalerCondition");
	struct obj *status = obj_copy_map(obj_get(o, "status"));
	const struct obj *cpu = obj_get(status, "currentCPUUtilizationPercentage");
	if (!metrics && obj_is_set(cpu)) {
		struct obj *m = parsed("{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\"}}");
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

void autoscaler_forget(struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *annotations = annotations_of(o);
	size_t n = obj_len(annotations);
	forget(annotations);
	if (obj_len(annotations) < n)
		set_annotations(o, annotations);
}

void autoscaler_keep_status(struct obj *o, const struct obj *before)
{
	CLEANUP(obj_unrefp) struct obj *annotations = annotations_of(o);
	const struct obj *had = obj_path(before, "metadata.annotations");
	for (size_t i = 0; i < ARRAY_LEN(made_here); i++) {
		const struct obj *v = obj_get(had, made_here[i]);
		if (is_of_status(made_here[i]) && v)
			obj_set(annotations, made_here[i], obj_ref(v));
		else if (is_of_status(made_here[i]))
			obj_del(annotations, made_here[i]);
	}
	set_annotations(o, annotations);
}
