#include "alm/controllers/unit/unit_metric.h"

#include "alm/base/strbuf.h"
#include "alm/controllers/work/works.h"
#include "alm/unit/canary.h"

#define MEASURED_MAX 500 /* bytes of the note */

/* "monitoring", "prometheus:9090" of service://; else the URL, and the Secret with its token. */
static struct obj *question(const struct prometheus *p)
{
	struct obj *body = obj_map();
	obj_set_str(body, "query", p->query);
	obj_set_str(body, "ns", p->ns);
	obj_set_str(body, "service", p->service);
	obj_set_str(body, "address", p->service ? NULL : p->address);
	obj_set_str(body, "secret", p->secret);
	return body;
}

static void read_outcome(const struct outcome *o, struct arena *a, struct prometheus_sample *ret)
{
	if (o->code)
		*ret = (struct prometheus_sample){.text = arena_strdup(a, o->msg), .failed = true};
	else
		prometheus_read(obj_as_str(obj_get(o->value, "text")), a, ret);
}

/* The answer to the question that the record has come to, then the next one when it is due. */
static void measure(struct unit_pass *s, const struct prometheus *p, const char *at,
		    struct obj *state)
{
	struct arena *a = s->v->a;
	int64_t n = obj_i64(state, "n", 0), next = obj_i64(state, "nextNs", 0);
	const char *text, *what = arena_fmt(a, "metric:%s:%lld", at, (long long)n);
	enum prometheus_end end = prometheus_look(p, state, a, &text);
	if (end == PROMETHEUS_PASSED || end == PROMETHEUS_FAILED)
		return;
	if (plan_await(s->plan, next - s->v->now_ns) != DONE)
		return;
	const struct outcome *o = view_outcome(s->v, unit_id(s, what));
	if (!o) {
		plan_app_work(s->plan, &prometheus_work, unit_id(s, what))->body =
			obj_keep(a, question(p));
		return;
	}
	struct prometheus_sample sample;
	read_outcome(o, a, &sample);
	prometheus_take(p, &sample, s->v->now_ns, state);
	obj_set_int(state, "n", n + 1);
	obj_set_int(state, "nextNs", s->v->now_ns + p->interval_ns);
	plan_requeue_after(s->plan, p->interval_ns);
	unit_forget(s, what);
}

const struct obj *unit_metrics(struct unit_pass *s, const struct rollout_step *rule,
			       const char *scope, struct obj *record, bool asks)
{
	struct arena *a = s->v->a;
	struct obj *all = NULL;
	for (size_t i = 0; i < rule->n_success; i++) {
		const struct rollout_check *check = &rule->success[i];
		const char *key = arena_fmt(a, "%s/%zu", scope, i);
		bool begun = obj_has(obj_get(record, "metrics"), key);
		if (check->type != CHECK_PROMETHEUS || (!asks && !begun))
			continue;
		struct obj *state = obj_need_map(obj_need_map(record, "metrics"), key);
		if (asks)
			measure(s, check->prometheus, arena_fmt(a, "%s:%s", check->field, key),
				state);
		all = all ? all : obj_keep(a, obj_map());
		obj_set(all, arena_fmt(a, "%zu", i), obj_copy(state));
	}
	return all;
}

int64_t unit_held_ns(const struct unit_pass *s, const struct obj *record)
{
	int64_t now = s->v->now_ns;
	int64_t held = canary_held_ns(record, now) - obj_i64(record, "heldBeforeNs", 0);
	OBJ_EACH (it, obj_get(record, "canary")) {
		int64_t one = canary_held_ns(it.value, now);
		held = one > held ? one : held;
	}
	return held;
}

const char *unit_measured(const struct unit_pass *s, const struct obj *record)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	OBJ_EACH (it, obj_get(record, "metrics")) {
		const struct obj *values = obj_get(it.value, "values");
		for (size_t i = 0; i < obj_len(values) && b.len < MEASURED_MAX; i++)
			strbuf_addf(&b, "%s%s",
				    i       ? ", "
				    : b.len ? "; "
					    : "measured ",
				    obj_as_string(obj_at(values, i)));
	}
	return b.len ? arena_strdup(s->v->a, b.buf) : NULL;
}
