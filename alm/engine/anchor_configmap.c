#include "alm/engine/anchor_configmap.h"

#include "alm/base/clock.h"
#include "alm/obj/meta.h"

#define CALL_NS (10 * NS_PER_S)

struct anchor_configmap {
	struct anchor anchor;
	struct client *client;
	struct client_call *call;
	struct timer again;
	struct obj *seen;    /* as last read or written; NULL: there is none */
	struct obj *next;    /* the one that is being written */
	bool made_namespace; /* for it */
};

static const struct resource configmaps = {.group = "",
					   .version = "v1",
					   .plural = "configmaps",
					   .kind = "ConfigMap",
					   .namespaced = true};
static const struct resource namespaces = {
	.group = "", .version = "v1", .plural = "namespaces", .kind = "Namespace"};
static const struct client_options options = {.timeout_ns = CALL_NS};

static struct anchor_configmap *map_of(struct anchor *t)
{
	return CONTAINER_OF(t, struct anchor_configmap, anchor);
}

static void see(struct anchor_configmap *m, const struct obj *o)
{
	obj_unref(m->seen);
	m->seen = o ? obj_copy(o) : NULL;
}

static void read_map(struct anchor_configmap *m, client_reply_fn fn)
{
	m->call = client_get(m->client, &configmaps, ANCHOR_CONFIGMAP_NS, ANCHOR_CONFIGMAP_NAME,
			     &options, fn, m);
}

static void recalled(void *arg, const struct client_reply *r);

static void recall_again(void *arg)
{
	read_map(arg, recalled);
}

/* Nothing is known until the cluster answers: it is asked until it does. */
static void recalled(void *arg, const struct client_reply *r)
{
	struct anchor_configmap *m = arg;
	m->call = NULL;
	if (r->err && r->err->code != E_NOTFOUND && r->err->code != E_FORBIDDEN) {
		loop_arm(client_loop(m->client), &m->again, 2 * NS_PER_S);
		return;
	}
	see(m, r->err ? NULL : r->body);
	const char *note = obj_str(m->seen, "data." ANCHOR_CONFIGMAP_KEY);
	bool refused = r->err && r->err->code == E_FORBIDDEN;
	anchor_recalled(&m->anchor, str_of(note), refused ? r->err : NULL);
}

static void map_recall(struct anchor *t)
{
	read_map(map_of(t), recalled);
}

static void write_map(struct anchor_configmap *m);

/* Written by somebody else since: by who, if not by the leader after us? */
static void read_after_conflict(void *arg, const struct client_reply *r)
{
	struct anchor_configmap *m = arg;
	struct error err = ERROR_INIT;
	m->call = NULL;
	if (r->err && r->err->code != E_NOTFOUND) {
		anchor_kept(&m->anchor, r->err);
		return;
	}
	see(m, r->err ? NULL : r->body);
	const char *note = obj_str(m->seen, "data." ANCHOR_CONFIGMAP_KEY);
	int rc = note ? audit_check_note(anchor_audit(&m->anchor), str_of(note), m->anchor.target,
					 &err)
		      : 0;
	if (rc == -E_ALTERED) {
		anchor_refused(&m->anchor, err.msg);
		return;
	}
	(void)error_set(&err, E_CONFLICT, "%s was written by somebody else", m->anchor.target);
	anchor_kept(&m->anchor, &err);
}

static void namespace_made(void *arg, const struct client_reply *r)
{
	struct anchor_configmap *m = arg;
	m->call = NULL;
	if (r->err && r->err->code != E_EXISTS)
		anchor_kept(&m->anchor, r->err);
	else
		write_map(m);
}

static void written(void *arg, const struct client_reply *r)
{
	struct anchor_configmap *m = arg;
	m->call = NULL;
	if (!r->err) {
		see(m, r->body);
		anchor_kept(&m->anchor, NULL);
	} else if (r->err->code == E_NOTFOUND && !m->seen && !m->made_namespace) {
		m->made_namespace = true;
		CLEANUP(obj_unrefp) struct obj *ns =
			meta_skeleton("v1", "Namespace", NULL, ANCHOR_CONFIGMAP_NS);
		m->call = client_create(m->client, &namespaces, NULL, ns, &options, namespace_made,
					m);
	} else if (r->err->code == E_CONFLICT || r->err->code == E_EXISTS ||
		   r->err->code == E_NOTFOUND) {
		read_map(m, read_after_conflict);
	} else {
		anchor_kept(&m->anchor, r->err);
	}
}

static void write_map(struct anchor_configmap *m)
{
	m->call = m->seen ? client_replace(m->client, &configmaps, ANCHOR_CONFIGMAP_NS,
					   ANCHOR_CONFIGMAP_NAME, m->next, &options, written, m)
			  : client_create(m->client, &configmaps, ANCHOR_CONFIGMAP_NS, m->next,
					  &options, written, m);
}

static void map_keep(struct anchor *t, int64_t size, struct str note, bool last)
{
	struct anchor_configmap *m = map_of(t);
	(void)size;
	if (last)
		return;
	m->made_namespace = false;
	obj_unref(m->next);
	m->next = m->seen ? obj_copy(m->seen)
			  : meta_skeleton("v1", "ConfigMap", ANCHOR_CONFIGMAP_NS,
					  ANCHOR_CONFIGMAP_NAME);
	obj_set_path(m->next, "data." ANCHOR_CONFIGMAP_KEY, obj_stringn(note));
	write_map(m);
}

static void map_free(struct anchor *t)
{
	struct anchor_configmap *m = map_of(t);
	loop_disarm(client_loop(m->client), &m->again);
	if (m->call)
		client_cancel(m->client, m->call);
	obj_unref(m->seen);
	obj_unref(m->next);
	xfree(m);
}

static const struct anchor_ops configmap_ops = {map_recall, map_keep, map_free};

struct anchor *anchor_configmap_new(struct client *c)
{
	struct anchor_configmap *m = xcalloc(1, sizeof(*m));
	anchor_init(&m->anchor, &configmap_ops, ANCHOR_CONFIGMAP);
	m->client = c;
	m->again = (struct timer){.fn = recall_again, .arg = m};
	return &m->anchor;
}
