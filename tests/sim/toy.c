#include "tests/sim/toy.h"

#include <string.h>

#include "alm/client/informer.h"
#include "alm/client/queue.h"
#include "alm/obj/json.h"

#define OWNER "metadata.annotations.toy-owner"

static const struct resource configmaps = {.group = "",
					   .version = "v1",
					   .plural = "configmaps",
					   .kind = "ConfigMap",
					   .namespaced = true};

struct toy {
	struct client *client;
	struct informer *informer;
	struct queue *queue;
	char *busy; /* the key whose write is under way */
};

enum decision { DECIDE_NOTHING, DECIDE_CREATE, DECIDE_UPDATE, DECIDE_DELETE };

/* The pure part: a and b as they are in the cache, NULL if absent. */
static enum decision decide(const struct obj *a, const struct obj *b)
{
	const char *owner = b ? obj_str(b, OWNER) : NULL;
	if (b && !owner)
		return DECIDE_NOTHING; /* somebody else's */
	if (!a)
		return b ? DECIDE_DELETE : DECIDE_NOTHING;
	if (!b)
		return DECIDE_CREATE;
	if (!cstr_eq(owner, obj_str(a, "metadata.uid")))
		return DECIDE_DELETE; /* of an a that is gone */
	return cstr_eq(obj_str(a, "data.v"), obj_str(b, "data.v")) ? DECIDE_NOTHING : DECIDE_UPDATE;
}

static struct obj *cached(struct toy *t, const char *prefix, const char *key)
{
	char name[256];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(sizeof(name));
	strbuf_addf(&b, "%s%s", prefix, key);
	const struct informer_object *c = informer_get(t->informer, "default", b.buf);
	return c ? informer_decode(c) : NULL;
}

static void work(void *arg);

static void on_reply(void *arg, const struct client_reply *r)
{
	struct toy *t = arg;
	char *key = STEAL(t->busy);
	if (!r->err && r->body && cstr_eq(obj_str(r->body, "kind"), "ConfigMap") &&
	    !obj_str(r->body, "metadata.deletionTimestamp"))
		informer_observe(t->informer, r->body);
	if (r->err)
		queue_add_rate_limited(t->queue, key);
	else
		queue_forget(t->queue, key);
	queue_done(t->queue, key);
	xfree(key);
	work(t);
}

static void write_b(struct toy *t, const char *key, enum decision d, const struct obj *a,
		    const struct obj *b)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(256);
	strbuf_addf(&name, "b-%s", key);
	if (d == DECIDE_DELETE) {
		struct client_options o = {.uid = obj_str(b, "metadata.uid")};
		client_delete(t->client, &configmaps, "default", name.buf, &o, on_reply, t);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *body = b ? obj_copy(b) : obj_map();
	obj_set_str(body, "apiVersion", "v1");
	obj_set_str(body, "kind", "ConfigMap");
	obj_set_path(body, "metadata.name", obj_string(name.buf));
	obj_set_path(body, OWNER, obj_string(obj_str(a, "metadata.uid")));
	obj_set_path(body, "data.v", obj_string(obj_str(a, "data.v")));
	if (d == DECIDE_CREATE)
		client_create(t->client, &configmaps, "default", body, NULL, on_reply, t);
	else
		client_replace(t->client, &configmaps, "default", name.buf, body, NULL, on_reply,
			       t);
}

/* One write at a time, so that everything else arrives while a key is processed. */
static void work(void *arg)
{
	struct toy *t = arg;
	const char *key;
	while (!t->busy && informer_is_synced(t->informer) && (key = queue_get(t->queue)) != NULL) {
		CLEANUP(obj_unrefp) struct obj *a = cached(t, "a-", key);
		CLEANUP(obj_unrefp) struct obj *b = cached(t, "b-", key);
		enum decision d = decide(a, b);
		if (d == DECIDE_NOTHING) {
			queue_forget(t->queue, key);
			queue_done(t->queue, key);
			continue;
		}
		t->busy = xstrdup(key);
		write_b(t, t->busy, d, a, b);
	}
}

static void on_change(void *arg, enum informer_change change UNUSED,
		      const struct informer_object *before, const struct informer_object *after)
{
	struct toy *t = arg;
	const char *name = after ? after->name : before->name;
	if (cstr_has_prefix(name, "a-") || cstr_has_prefix(name, "b-"))
		queue_add(t->queue, name + 2);
}

static void *toy_start(struct world *w UNUSED, struct loop *l, struct transport *transport)
{
	struct toy *t = xcalloc(1, sizeof(*t));
	t->client = client_new(l, transport);
	t->queue = queue_new(l, SIZE_MAX, work, t);
	struct informer_config c = {.client = t->client,
				    .resource = configmaps,
				    .changed = on_change,
				    .synced = work,
				    .arg = t};
	t->informer = informer_new(&c);
	informer_start(t->informer);
	return t;
}

static void toy_stop(void *p)
{
	struct toy *t = p;
	informer_free(t->informer);
	client_free(t->client);
	queue_free(t->queue);
	xfree(t->busy);
	xfree(t);
}

static bool toy_idle(void *p)
{
	struct toy *t = p;
	return queue_pending(t->queue) == 0 && !t->busy;
}

static void toy_each_cache(void *p, void (*fn)(void *arg, const struct informer *cache), void *arg)
{
	fn(arg, ((struct toy *)p)->informer);
}

const struct program toy_program = {
	.start = toy_start, .stop = toy_stop, .idle = toy_idle, .each_cache = toy_each_cache};
