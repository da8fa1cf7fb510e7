#include "alm/engine/alerts.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define SETTLE_NS     NS_PER_S
#define REPEAT_NS     NS_PER_MIN
#define AHEAD_NS      (5 * NS_PER_MIN)
#define KEY_BYTES_MAX 512

struct alerts {
	struct client *client;
	alerts_of_fn of;
	struct metrics *metrics;
	struct loop *loop;
	struct map *firing; /* "Kind/name" -> list of alerts */
	struct obj *over;   /* to be posted a last time */
	struct timer timer;
	struct client_call *call;
};

static void posted(void *arg, const struct client_reply *r)
{
	struct alerts *a = arg;
	a->call = NULL;
	if (r->err)
		log_warn("alerts not delivered", "error", r->err->msg);
	if (a->metrics)
		metric_add(metrics_counter(a->metrics, "alm_alert_posts_total",
					   "Posts to the Alertmanager.",
					   r->err ? "result=\"failed\"" : "result=\"ok\""),
			   1);
}

static void add_until(struct obj *all, const struct obj *list, const char *ends)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *o = obj_copy(obj_at(list, i));
		obj_set_str(o, "endsAt", ends);
		obj_append(all, o);
	}
}

static void post(void *arg)
{
	struct alerts *a = arg;
	char now[CLOCK_TEXT_MAX], ahead[CLOCK_TEXT_MAX];
	CLEANUP(obj_unrefp) struct obj *all = obj_list();
	if (a->call) { /* the receiver is slow: this one waits for the next minute */
		loop_arm(a->loop, &a->timer, REPEAT_NS);
		return;
	}
	clock_format(loop_now(a->loop), CLOCK_MILLIS, now);
	clock_format(loop_now(a->loop) + AHEAD_NS, CLOCK_MILLIS, ahead);
	add_until(all, a->over, now);
	obj_unref(a->over);
	a->over = obj_list();
	size_t n = 0;
	for (struct map_entry *e = map_first(a->firing); e && n < ALERT_OBJECTS_MAX;
	     e = map_next(e), n++)
		add_until(all, e->value, ahead);
	if (map_count(a->firing) > n)
		log_warn("too many alerts, the newest wait until others are over");
	if (!obj_len(all))
		return;
	CLEANUP(xfreep) char *text = json_text(all);
	a->call = client_raw(a->client, "POST", "/api/v2/alerts", str_of(text), "application/json",
			     posted, a);
	if (map_count(a->firing))
		loop_arm(a->loop, &a->timer, REPEAT_NS);
}

/* Alertmanager knows an alert by its labels. */
static bool has_labels(const struct obj *list, const struct obj *labels)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_equal(obj_get(obj_at(list, i), "labels"), labels))
			return true;
	return false;
}

void alerts_update(struct alerts *a, const struct obj *o, bool gone)
{
	char key[KEY_BYTES_MAX];
	if (!a)
		return;
	snprintf(key, sizeof(key), "%s/%s", meta_kind(o), meta_name(o));
	struct obj *was = map_take(a->firing, key), *is = gone ? obj_list() : a->of(o);
	bool same = obj_equal(was, is) || (!was && !obj_len(is));
	for (size_t i = 0; i < obj_len(was); i++)
		if (!has_labels(is, obj_get(obj_at(was, i), "labels")))
			obj_append(a->over, obj_ref(obj_at(was, i)));
	obj_unref(was);
	if (obj_len(is))
		map_set(a->firing, key, is);
	else
		obj_unref(is);
	if (!same)
		loop_arm(a->loop, &a->timer, SETTLE_NS);
}

void alerts_forget(struct alerts *a)
{
	if (!a)
		return;
	map_clear(a->firing);
	obj_unref(a->over);
	a->over = obj_list();
	loop_disarm(a->loop, &a->timer);
}

static void list_free(void *p)
{
	obj_unref(p);
}

struct alerts *alerts_new(struct client *c, alerts_of_fn of, struct metrics *m)
{
	struct alerts *a = xcalloc(1, sizeof(*a));
	a->client = c;
	a->of = of;
	a->metrics = m;
	a->loop = client_loop(c);
	a->firing = map_new(list_free);
	a->over = obj_list();
	a->timer = (struct timer){.fn = post, .arg = a};
	return a;
}

void alerts_free(struct alerts *a)
{
	if (!a)
		return;
	if (a->call)
		client_cancel(a->client, a->call);
	loop_disarm(a->loop, &a->timer);
	map_free(a->firing);
	obj_unref(a->over);
	xfree(a);
}
