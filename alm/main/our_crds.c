#include "alm/main/our_crds.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/live/live_gate.h"
#include "alm/obj/diff.h"
#include "alm/obj/event.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/kinds.h"

#define TOLD_PATHS_MAX 5 /* in an Event: what was different */
#define AGAIN_NS_MIN   NS_PER_S
#define AGAIN_NS_MAX   NS_PER_MIN
#define CALM_NS        (10 * NS_PER_MIN) /* a change after so long is answered at once */

struct our_crds {
	struct client *client;
	struct loop *gate;
	struct crd_call {
		struct our_crds *all;
		struct client_call *call;
		struct live_gate *judging;
		struct obj *crd;         /* owned; NULL: done */
		char *name, *uid;        /* of what was applied; uid NULL: not yet */
		int64_t generation;      /* of its spec */
		int64_t seen_generation; /* the newest that a watch has shown of that uid */
		/* Somebody else changed or deleted it, which is told once it is put back. */
		bool is_touched, is_deleted;
		struct obj *touched; /* what he made of it, owned; NULL: nobody has seen it */
	} *calls;                    /* one a kind */
	size_t n_done;
	struct timer again;
	int64_t put_back_ns, wait_ns; /* monotonic; how long the next time waits */
	struct error err;             /* the first */
	void (*done)(void *arg, const struct error *err);
	void *arg;
};

static void put_back(struct our_crds *o, const char *name, const char *what);

/* The definitions are large, and their trees would hold what goes around them. */
static void one_done(struct crd_call *c, const struct error *err)
{
	struct our_crds *o = c->all;
	obj_unref(STEAL(c->crd));
	if (err && !o->err.code)
		o->err = *err;
	if (++o->n_done == n_crd_kinds)
		o->done(o->arg, o->err.code ? &o->err : NULL);
}

/* --- what is told --- */

static void event_written(void *arg UNUSED, const struct client_reply *reply)
{
	if (reply->err && reply->err->code != E_EXISTS)
		log_debug("event not written", "error", reply->err->msg);
}

static void list_paths(const struct obj *before, const struct obj *now, struct strbuf *b)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct diff d;
	diff_objects(obj_get(before, "spec"), obj_get(now, "spec"), TOLD_PATHS_MAX, a, &d);
	for (size_t i = 0; i < d.n; i++)
		strbuf_addf(b, "%sspec.%s%s", i ? ", " : ": ", d.items[i].path,
			    d.items[i].before ? d.items[i].after ? "" : " was added" : " was gone");
	if (d.cut)
		strbuf_adds(b, " and more");
}

/* Once for each change. */
static void write_event(struct crd_call *c, const struct obj *about, const char *reason,
			const char *text)
{
	static const struct resource events = {.group = "",
					       .version = "v1",
					       .plural = "events",
					       .kind = "Event",
					       .namespaced = true};
	struct client *client = c->all->client;
	char tail[32];
	snprintf(tail, sizeof(tail), "put-back-%llx", (unsigned long long)meta_generation(about));
	const struct event_text t = {"Warning", reason, text, tail};
	CLEANUP(obj_unrefp) struct obj *e = event_about(about, &t, loop_now(client_loop(client)));
	client_create(client, &events, event_namespace(about), e, NULL, event_written, NULL);
}

/* What was changed cannot be taken back without a loss. Once of each change: all are judged again whenever one of them
 * was touched, and while one is refused. */
static void tell_kept(struct crd_call *c, const struct error *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!c->touched || c->is_deleted)
		return;
	CLEANUP(obj_unrefp) struct obj *was = STEAL(c->touched);
	const char *manager = meta_last_manager(was, NULL);
	strbuf_addf(&b, "definition %s of ALM was changed", c->name);
	if (manager)
		strbuf_addf(&b, " (claimed by manager %s)", manager);
	strbuf_addf(&b, " and is not put back: %s", why->msg);
	write_event(c, was, "DefinitionKept", b.buf);
}

/* Once it is as it was: which definition, by whom and what of it. */
static void tell_put_back(struct crd_call *c, const struct obj *now)
{
	CLEANUP(obj_unrefp) struct obj *was = STEAL(c->touched);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!c->is_touched)
		return;
	c->is_touched = false;
	const char *manager = c->is_deleted || !was ? NULL : meta_last_manager(was, NULL);
	strbuf_addf(&b, "definition %s of ALM was %s", c->name,
		    c->is_deleted ? "deleted, and its objects with it" : "changed");
	if (manager)
		strbuf_addf(&b, " (claimed by manager %s)", manager);
	strbuf_adds(&b, "; it is put back");
	if (was && !c->is_deleted)
		list_paths(was, now, &b);
	write_event(c, now, "DefinitionPutBack", b.buf);
}

static void remember(struct crd_call *c, const struct obj *crd, bool gone)
{
	obj_unref(STEAL(c->touched));
	c->touched = crd ? obj_ref(crd) : NULL;
	c->is_touched = true;
	c->is_deleted = gone;
}

static void applied(void *arg, const struct client_reply *reply)
{
	struct crd_call *c = arg;
	c->call = NULL;
	if (!reply->err) {
		const char *uid = meta_uid(reply->body);
		if (!cstr_eq(c->uid, uid))
			c->seen_generation = 0;
		xfree(c->uid);
		c->uid = uid ? xstrdup(uid) : NULL;
		c->generation = meta_generation(reply->body);
		tell_put_back(c, reply->body);
		if (c->seen_generation > c->generation) {
			remember(c, NULL, false);
			put_back(c->all, c->name, "changed");
		}
	}
	one_done(c, reply->err);
}

static void apply(struct crd_call *c)
{
	static const struct resource crds = {.group = "apiextensions.k8s.io",
					     .version = "v1",
					     .plural = "customresourcedefinitions",
					     .kind = "CustomResourceDefinition"};
	static const struct client_options options = {.force = true};
	c->call = client_apply(c->all->client, &crds, NULL, meta_name(c->crd), c->crd, &options,
			       applied, c);
}

/* Who reads it loses nothing: there are no objects, or none with a field that goes. */
static bool costs_nothing(const struct obj *answer)
{
	const struct obj *refusals = obj_get(answer, "refusals");
	bool is_empty = obj_i64(answer, "objects", 0) == 0;
	if (!is_empty && obj_i64(answer, "refusalsOmitted", 0))
		return false;
	for (size_t i = 0; i < obj_len(refusals); i++) {
		const struct obj *f = obj_at(refusals, i);
		const char *rule = obj_str(f, "rule");
		bool unused = cstr_eq(rule, "FieldRemoved") && obj_i64(f, "affected", 1) == 0;
		bool unknown =
			cstr_eq(rule, "LiveCheckIncomplete") || cstr_eq(rule, "ServerRefused");
		if (unknown || (!is_empty && !unused))
			return false;
	}
	return true;
}

static void judged(void *arg, struct obj *value, const struct error *err)
{
	struct crd_call *c = arg;
	struct error refused = ERROR_INIT;
	c->judging = NULL;
	if (err) {
		one_done(c, err);
	} else if (cstr_eq(obj_str(value, "outcome"), "refuse") && !costs_nothing(value)) {
		error_set(&refused, E_REFUSED,
			  "%s of this version of ALM would not fit to what is there: %s; run "
			  "the newer version that was here, or change the definition yourself",
			  meta_name(c->crd), obj_str(value, "text"));
		tell_kept(c, &refused);
		one_done(c, &refused);
	} else {
		apply(c);
	}
	obj_unref(value);
}

static void judge(struct crd_call *c)
{
	CLEANUP(obj_unrefp) struct obj *request = obj_map();
	obj_set(request, "crd", obj_ref(c->crd));
	obj_set(request, "managedBefore", obj_list());
	obj_set(request, "managedAfter", obj_list());
	obj_set_str(request, "inputs", "");
	obj_set(request, "waivers", obj_list());
	const struct live_gate_config config = {.client = c->all->client,
						.loop = c->all->gate,
						.request = request,
						.done = judged,
						.arg = c};
	c->judging = live_gate_start(&config);
}

static void begin(struct our_crds *o, size_t i)
{
	struct error err = ERROR_INIT;
	struct crd_call *c = &o->calls[i];
	if (yaml_parse_carried(crd_kinds[i]->yaml, &c->crd, &err) < 0) {
		one_done(c, &err);
		return;
	}
	if (!c->name)
		c->name = xstrdup(meta_name(c->crd));
	if (o->gate)
		judge(c);
	else
		apply(c);
}

static void cancel(struct our_crds *o)
{
	loop_disarm(client_loop(o->client), &o->again);
	for (size_t i = 0; i < n_crd_kinds; i++) {
		struct crd_call *c = &o->calls[i];
		if (c->call)
			client_cancel(o->client, STEAL(c->call));
		live_gate_free(STEAL(c->judging));
		obj_unref(STEAL(c->crd));
	}
}

void our_crds_apply(struct our_crds *o)
{
	cancel(o);
	o->n_done = 0;
	o->err = ERROR_INIT;
	for (size_t i = 0; i < n_crd_kinds; i++) /* at once: one commit */
		begin(o, i);
}

static void again(void *arg)
{
	struct our_crds *o = arg;
	if (o->n_done < n_crd_kinds) /* each is applied after what was seen of it */
		loop_arm(client_loop(o->client), &o->again, AGAIN_NS_MIN);
	else
		our_crds_apply(o);
}

/* --- what others do with them --- */

static void put_back(struct our_crds *o, const char *name, const char *what)
{
	struct loop *l = client_loop(o->client);
	int64_t now = loop_mono(l);
	if (heap_holds(&o->again.node))
		return;
	if (!o->put_back_ns || now - o->put_back_ns > CALM_NS)
		o->wait_ns = 0;
	log_warn("somebody else has touched a definition of ALM, which is put back", "name", name,
		 "what", what);
	loop_arm(l, &o->again, o->wait_ns);
	o->put_back_ns = now + o->wait_ns;
	o->wait_ns = o->wait_ns ? o->wait_ns * 2 : AGAIN_NS_MIN;
	if (o->wait_ns > AGAIN_NS_MAX)
		o->wait_ns = AGAIN_NS_MAX;
}

static struct crd_call *named(struct our_crds *o, const char *name)
{
	for (size_t i = 0; i < n_crd_kinds; i++)
		if (cstr_eq(o->calls[i].name, name))
			return &o->calls[i];
	return NULL;
}

void our_crds_seen(struct our_crds *o, const struct obj *crd, bool gone)
{
	struct crd_call *c = named(o, meta_name(crd));
	if (!c || !c->uid)
		return;
	bool is_it = cstr_eq(meta_uid(crd), c->uid);
	int64_t generation = meta_generation(crd);
	if (gone && is_it) {
		remember(c, crd, true);
		put_back(o, c->name, "deleted");
	} else if (!gone && meta_is_deleting(crd)) {
		log_warn("a definition of ALM is being deleted, and all objects of its kind with "
			 "it; it is put back when it is gone",
			 "name", c->name);
	} else if (!gone && !is_it && !c->crd) {
		remember(c, crd, false);
		put_back(o, c->name, "made anew");
	} else if (!gone && generation > c->seen_generation) {
		c->seen_generation = generation;
		if (generation > c->generation && !c->crd) {
			remember(c, crd, false);
			put_back(o, c->name, "changed");
		}
	}
}

struct our_crds *our_crds_new(struct client *c, struct loop *gate,
			      void (*done)(void *arg, const struct error *err), void *arg)
{
	struct our_crds *o = xcalloc(1, sizeof(*o));
	o->client = c;
	o->gate = gate;
	o->done = done;
	o->arg = arg;
	o->again = (struct timer){.fn = again, .arg = o};
	o->calls = xcalloc(n_crd_kinds, sizeof(*o->calls));
	for (size_t i = 0; i < n_crd_kinds; i++)
		o->calls[i].all = o;
	return o;
}

void our_crds_free(struct our_crds *o)
{
	if (!o)
		return;
	cancel(o);
	for (size_t i = 0; i < n_crd_kinds; i++) {
		xfree(o->calls[i].name);
		xfree(o->calls[i].uid);
		obj_unref(o->calls[i].touched);
	}
	xfree(o->calls);
	xfree(o);
}
