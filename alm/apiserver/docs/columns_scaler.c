/* columns_scaler: what a HorizontalPodAutoscaler aims at, as a real server prints it: "cpu: 12%/80%, 3/5 + 1 more...". */
#include "alm/apiserver/docs/columns_internal.h"
#include "alm/apiserver/kinds/autoscale.h"

#define SHOWN_MAX 2
#define UNKNOWN   "<unknown>"

static const struct {
	const char *type, *source;
	bool named; /* after the resource; their target may be a share of it */
} sources[] = {
	{"External", "external", false},
	{"Pods", "pods", false},
	{"Object", "object", false},
	{"Resource", "resource", true},
	{"ContainerResource", "containerResource", true},
};

static const char *value(const struct obj *o, const char *path, const char *fallback)
{
	const char *s = obj_str(o, path);
	return s ? s : fallback;
}

static void add_share(struct strbuf *b, const struct obj *n, const char *fallback)
{
	int64_t v;
	if (obj_as_i64(n, &v))
		strbuf_addf(b, "%lld%%", (long long)v);
	else
		strbuf_adds(b, fallback);
}

static void add_target(struct strbuf *b, const struct obj *metric, const struct obj *status)
{
	const char *type = obj_str(metric, "type");
	size_t i = 0;
	while (i < ARRAY_LEN(sources) && !cstr_eq(type, sources[i].type))
		i++;
	if (i == ARRAY_LEN(sources)) {
		strbuf_adds(b, "<unknown type>");
		return;
	}
	const struct obj *m = obj_get(metric, sources[i].source);
	const struct obj *now = obj_get(status, sources[i].source);
	bool average = obj_path(m, "target.averageValue") != NULL;
	if (sources[i].named)
		strbuf_addf(b, "%s: ", value(m, "name", ""));
	if (sources[i].named && !average) {
		add_share(b, obj_path(now, "current.averageUtilization"), UNKNOWN);
		strbuf_addc(b, '/');
		add_share(b, obj_path(m, "target.averageUtilization"), "<auto>");
	} else if (average) {
		strbuf_addf(b, "%s/%s%s", value(now, "current.averageValue", UNKNOWN),
			    value(m, "target.averageValue", ""),
			    sources[i].named || cstr_eq(type, "Pods") ? "" : " (avg)");
	} else {
		strbuf_addf(b, "%s/%s", value(now, "current.value", UNKNOWN),
			    value(m, "target.value", "0"));
	}
}

static struct obj *cell_targets(const struct obj *o, int64_t now_ns)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	(void)now_ns;
	CLEANUP(obj_unrefp) struct obj *v2 = obj_copy_shallow(o);
	if (cstr_eq(obj_str(o, "apiVersion"), "autoscaling/v1"))
		autoscaler_from_v1(v2);
	const struct obj *metrics = obj_path(v2, "spec.metrics");
	const struct obj *seen = obj_path(v2, "status.currentMetrics");
	for (size_t i = 0; i < obj_len(metrics) && i < SHOWN_MAX; i++) {
		strbuf_adds(&b, i ? ", " : "");
		add_target(&b, obj_at(metrics, i), obj_at(seen, i));
	}
	if (obj_len(metrics) > SHOWN_MAX)
		strbuf_addf(&b, " + %zu more...", obj_len(metrics) - SHOWN_MAX);
	return columns_take(&b, "<none>");
}

static struct obj *cell_reference(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_stringf("%s/%s", value(o, "spec.scaleTargetRef.kind", ""),
			   value(o, "spec.scaleTargetRef.name", ""));
}

static struct obj *cell_least(const struct obj *o, int64_t now_ns)
{
	int64_t n;
	(void)now_ns;
	if (!obj_as_i64(obj_path(o, "spec.minReplicas"), &n))
		return obj_string("<unset>");
	return obj_stringf("%lld", (long long)n);
}

NUMBER_CELL(cell_most, "spec.maxReplicas")
NUMBER_CELL(cell_current, "status.currentReplicas")

/* clang-format off */
static const struct kind_column of_scaler[] = {
	NAME, COLUMN("Reference", "string", cell_reference, 0),
	COLUMN("Targets", "string", cell_targets, 0), COLUMN("MinPods", "string", cell_least, 0),
	COLUMN("MaxPods", "string", cell_most, 0), COLUMN("Replicas", "string", cell_current, 0), AGE};

const struct columns_row columns_scaler[] = {
	OF("autoscaling", "HorizontalPodAutoscaler", of_scaler),
	{0},
};
/* clang-format on */
