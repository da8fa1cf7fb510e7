/* autoscale_forms: see autoscale_forms.h. */
#include "alm/apiserver/kinds/autoscale_forms.h"

#include <string.h>
#include <strings.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/quantity.h"

#define TEXT_BYTES_MAX ((size_t)2 << 20) /* an object has less */

/* --- the sources of a metric, by field, in the order of v1's types --- */

#define NO_REFERENCE "{\"kind\":\"\",\"name\":\"\"}"

const struct autoscale_member autoscale_asked[] = {
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
const struct autoscale_member autoscale_seen[] = {
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

struct obj *autoscale_parsed(const char *text)
{
	struct obj *o = NULL;
	struct error ignored;
	return text && json_parse(str_of(text), &o, &ignored) == 0 ? o : NULL;
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as an object, OBJ_DEPTH_MAX */
struct obj *autoscale_in_order(const struct obj *v)
{
	static const char *const order[] = {
		"kind", "name",     "apiVersion", "matchLabels", "matchExpressions",
		"key",  "operator", "values"};
	if (obj_type(v) == OBJ_LIST) {
		struct obj *list = obj_list();
		for (size_t i = 0; i < obj_len(v); i++)
			obj_append(list, autoscale_in_order(obj_at(v, i)));
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
			struct obj *sorted = autoscale_parsed(b.buf);
			obj_set(out, order[i], sorted ? sorted : obj_copy(member));
		} else if (member) {
			obj_set(out, order[i], autoscale_in_order(member));
		}
	}
	return out;
}
/* NOLINTEND(misc-no-recursion) */

/* One metric in the other form; NULL: it has none. */
struct obj *autoscale_metric_as(const struct obj *metric, const struct autoscale_member *m,
				bool to_v1)
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
		struct obj *value =
			obj_is_set(v) ? autoscale_in_order(v) : autoscale_parsed(m->zero);
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
void autoscale_name_targets(struct obj *metric)
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

struct obj *autoscale_behavior_as(const struct obj *from, bool to_go)
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

/* In the order of the type, and with the time of one that has none. */
struct obj *autoscale_condition_as_go(const struct obj *c)
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
