#include "alm/engine/leader.h"

#include "alm/base/arena.h"
#include "alm/base/log.h"
#include "alm/obj/meta.h"

static const struct resource leases = {.group = "coordination.k8s.io",
				       .version = "v1",
				       .plural = "leases",
				       .kind = "Lease",
				       .namespaced = true};
static const struct resource namespaces = {
	.version = "v1", .group = "", .plural = "namespaces", .kind = "Namespace"};

#define CALL_NS   (10 * NS_PER_S) /* of one request; three fit before the Lease counts as lost */
#define RESIGN_NS (2 * NS_PER_S)  /* that it takes at most to give it up */

struct leader {
	struct leader_config c;
	struct arena *arena;
	struct loop *loop;
	struct timer retry, deadline;
	struct client_call *call;
	struct obj *seen; /* the Lease as last read or written; NULL: read it first */
	int64_t seen_at;  /* mono: when its resourceVersion was first seen */
	int64_t asked_at; /* mono: when the write under way was sent */
	char *waiting;    /* the holder last reported */
	bool elected;
	bool writes;             /* call is a write */
	void (*done)(void *arg); /* it is resigned; NULL: it is not asked to */
	void *done_arg;
};

static void try_now(void *arg);
static void resigned(struct leader *l);
static void give_up(struct leader *l, const struct client_reply *reply);

static void try_later(struct leader *l)
{
	loop_arm(l->loop, &l->retry, LEADER_RETRY_NS);
}

static void tell_failed(struct leader *l, const char *what, const struct error *err)
{
	xfree(STEAL(l->waiting)); /* the holder is told again */
	if (l->c.on_failed)
		l->c.on_failed(l->c.arg, err);
	else
		log_warn(what, "lease", l->c.name, "error", err->msg);
}

static void see(struct leader *l, const struct obj *lease)
{
	if (!l->seen || !cstr_eq(meta_resource_version(l->seen), meta_resource_version(lease)))
		l->seen_at = loop_mono(l->loop);
	obj_unref(l->seen);
	l->seen = obj_copy(lease);
}

static void forget(struct leader *l)
{
	obj_unref(STEAL(l->seen));
}

static const char *holder(const struct obj *lease)
{
	const char *h = obj_str(lease, "spec.holderIdentity");
	return h && *h ? h : NULL;
}

static bool is_free(const struct leader *l)
{
	const char *h = holder(l->seen);
	int64_t lasts = clock_ns(obj_i64(l->seen, "spec.leaseDurationSeconds", 0), NS_PER_S);
	return !h || cstr_eq(h, l->c.identity) || loop_mono(l->loop) - l->seen_at >= lasts ||
	       (l->c.is_dead && l->c.is_dead(h));
}

/* The Lease as we want it; what others wrote beside the spec stays. */
static struct obj *lease_of(const struct leader *l, bool held)
{
	char now[CLOCK_TEXT_MAX];
	struct obj *o =
		l->seen ? obj_copy(l->seen)
			: meta_skeleton("coordination.k8s.io/v1", "Lease", l->c.ns, l->c.name);
	clock_format(loop_now(l->loop), CLOCK_MICROS, now);
	bool ours = l->seen && cstr_eq(holder(l->seen), l->c.identity);
	int64_t transitions = obj_i64(o, "spec.leaseTransitions", 0);
	if (held && !ours) {
		obj_set_path(o, "spec.acquireTime", obj_string(now));
		obj_set_path(o, "spec.leaseTransitions", obj_int(transitions + (l->seen != NULL)));
	}
	obj_set_path(o, "spec.holderIdentity", obj_string(held ? l->c.identity : ""));
	obj_set_path(o, "spec.leaseDurationSeconds",
		     obj_int(held ? LEADER_LEASE_NS / NS_PER_S : 1));
	obj_set_path(o, "spec.renewTime", obj_string(now));
	return o;
}

static void lost(void *arg)
{
	struct leader *l = arg;
	loop_disarm(l->loop, &l->deadline);
	if (l->done) { /* that took too long: it runs out by itself */
		if (l->call)
			client_cancel(l->c.client, STEAL(l->call));
		resigned(l);
		return;
	}
	if (!l->elected)
		return;
	l->elected = false;
	l->c.on_lost(l->c.arg);
}

static void confirmed(struct leader *l)
{
	int64_t left = LEADER_RENEW_NS - (loop_mono(l->loop) - l->asked_at);
	loop_arm(l->loop, &l->deadline, left);
	if (l->elected || left <= 0)
		return;
	l->elected = true;
	xfree(STEAL(l->waiting));
	l->c.on_elected(l->c.arg, obj_i64(l->seen, "spec.leaseTransitions", 0));
}

static void written(void *arg, const struct client_reply *r)
{
	struct leader *l = arg;
	l->call = NULL;
	if (l->done) {
		give_up(l, r);
		return;
	}
	if (r->err) {
		forget(l); /* a conflict, or a lost answer: only a read can tell */
		if (r->err->code == E_CONFLICT || r->err->code == E_EXISTS) {
			loop_arm(l->loop, &l->retry, 0);
			return;
		}
		try_later(l);
		tell_failed(l, "the lease is not written", r->err);
		return;
	}
	try_later(l);
	see(l, r->body);
	confirmed(l);
}

/* Behind the writes of a thousand apps it would come too late. */
static const struct client_options write_options = {.timeout_ns = CALL_NS, .urgent = true};

static void namespace_made(void *arg, const struct client_reply *r)
{
	struct leader *l = arg;
	l->call = NULL;
	if (l->done) {
		give_up(l, NULL);
		return;
	}
	loop_arm(l->loop, &l->retry, r->err ? LEADER_RETRY_NS : 0);
	if (r->err && r->err->code != E_EXISTS)
		tell_failed(l, "the namespace of the lease is not created", r->err);
}

static void created(void *arg, const struct client_reply *r)
{
	struct leader *l = arg;
	if (!r->err || r->err->code != E_NOTFOUND) {
		written(arg, r);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *ns = meta_skeleton("v1", "Namespace", NULL, l->c.ns);
	l->call = client_create(l->c.client, &namespaces, NULL, ns, &write_options, namespace_made,
				l);
}

static void write_lease(struct leader *l)
{
	CLEANUP(obj_unrefp) struct obj *o = lease_of(l, true);
	l->asked_at = loop_mono(l->loop);
	l->writes = true;
	l->call = l->seen ? client_replace(l->c.client, &leases, l->c.ns, l->c.name, o,
					   &write_options, written, l)
			  : client_create(l->c.client, &leases, l->c.ns, o, &write_options, created,
					  l);
}

static void tell_waiting(struct leader *l)
{
	const char *h = holder(l->seen);
	if (cstr_eq(h, l->waiting))
		return;
	xfree(l->waiting);
	l->waiting = xstrdup(h);
	if (l->c.on_waiting)
		l->c.on_waiting(l->c.arg, h);
}

static void read_done(void *arg, const struct client_reply *r)
{
	struct leader *l = arg;
	l->call = NULL;
	if (l->done) {
		give_up(l, r);
		return;
	}
	if (r->err && r->err->code == E_NOTFOUND) {
		forget(l);
		write_lease(l);
		return;
	}
	if (r->err) {
		try_later(l);
		tell_failed(l, "the lease is not read", r->err);
		return;
	}
	see(l, r->body);
	if (is_free(l)) {
		write_lease(l);
		return;
	}
	loop_arm(l->loop, &l->retry, l->c.wait_ns ? l->c.wait_ns : LEADER_RETRY_NS);
	lost(l); /* somebody else took it */
	tell_waiting(l);
}

static void try_now(void *arg)
{
	struct leader *l = arg;
	if (l->call)
		return;
	if (l->elected && l->seen) {
		write_lease(l);
		return;
	}
	l->writes = false;
	l->call =
		client_get(l->c.client, &leases, l->c.ns, l->c.name, &write_options, read_done, l);
}

struct leader *leader_new(const struct leader_config *c)
{
	struct leader *l = xcalloc(1, sizeof(*l));
	l->c = *c;
	l->arena = arena_new(4096);
	l->c.ns = arena_strdup(l->arena, c->ns);
	l->c.name = arena_strdup(l->arena, c->name);
	l->c.identity = arena_strdup(l->arena, c->identity);
	l->loop = client_loop(c->client);
	l->retry = (struct timer){.fn = try_now, .arg = l};
	l->deadline = (struct timer){.fn = lost, .arg = l};
	loop_arm(l->loop, &l->retry, 0);
	return l;
}

bool leader_is_elected(const struct leader *l)
{
	return l->elected;
}

static void resigned(struct leader *l)
{
	loop_disarm(l->loop, &l->deadline);
	l->done(l->done_arg);
}

static void given_up(void *arg, const struct client_reply *r)
{
	struct leader *l = arg;
	l->call = NULL;
	if (r->err)
		log_debug("lease not given up", "error", r->err->msg);
	resigned(l);
}

/* reply: of what was under way when that was asked for; NULL: nothing was. */
static void give_up(struct leader *l, const struct client_reply *reply)
{
	if (reply && !reply->err)
		see(l, reply->body);
	if (!l->seen || !cstr_eq(holder(l->seen), l->c.identity)) {
		resigned(l);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *o = lease_of(l, false);
	l->call = client_replace(l->c.client, &leases, l->c.ns, l->c.name, o, &write_options,
				 given_up, l);
}

void leader_resign(struct leader *l, void (*done)(void *arg), void *arg)
{
	bool waits = l->call && (l->elected || l->writes);
	l->elected = false;
	l->done = done;
	l->done_arg = arg;
	loop_disarm(l->loop, &l->retry);
	loop_arm(l->loop, &l->deadline, RESIGN_NS);
	if (waits)
		return;
	if (l->call)
		client_cancel(l->c.client, STEAL(l->call));
	give_up(l, NULL);
}

void leader_free(struct leader *l)
{
	if (!l)
		return;
	if (l->call)
		client_cancel(l->c.client, l->call);
	loop_disarm(l->loop, &l->retry);
	loop_disarm(l->loop, &l->deadline);
	obj_unref(l->seen);
	xfree(l->waiting);
	arena_free(l->arena);
	xfree(l);
}
