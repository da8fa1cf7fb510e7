#include "alm/live/shadow.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/log.h"
#include "alm/client/access_review.h"
#include "alm/obj/meta.h"

#define BYTES_MAX     ((size_t)8 << 20)
#define POLL_NS       (200 * NS_PER_MS)
#define POLLS_MAX     150 /* half a minute */
#define TRIES_MAX     10
#define MESSAGE_BYTES 512

struct slot {
	struct shadow *s;
	struct obj *o; /* owned; NULL: free */
	const char *version;
	struct client_call *call;
	struct timer again;
	unsigned tries;
};

struct shadow {
	struct shadow_config c;
	struct arena *a;
	struct loop *loop;
	struct resource r; /* of the objects; the version is the slot's */
	char *name;        /* of the CRD */
	struct client_call *call;
	struct timer timer;
	unsigned polls, n_reviews;
	struct obj *crd;   /* owned */
	struct obj *items; /* owned */
	const char *only;  /* of versions; NULL: all */
	size_t at, at_version, busy;
	struct task done;
	struct error err;
	struct slot slots[CLIENT_WRITES_MAX];
};

static const struct resource crds = {.group = "apiextensions.k8s.io",
				     .version = "v1",
				     .plural = "customresourcedefinitions",
				     .kind = "CustomResourceDefinition"};

static const struct right {
	const char *verb;
	bool of_crds; /* else of the objects */
} needs[] = {{"create", true}, {"delete", true}, {"create", false}};

static void slot_clear(struct slot *t)
{
	if (t->call)
		client_cancel(t->s->c.client, t->call);
	loop_disarm(t->s->loop, &t->again);
	obj_unref(t->o);
	t->call = NULL;
	t->o = NULL;
}

void shadow_free(struct shadow *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < ARRAY_LEN(s->slots); i++)
		slot_clear(&s->slots[i]);
	if (s->call)
		client_cancel(s->c.client, s->call);
	loop_disarm(s->loop, &s->timer);
	loop_unpost(s->loop, &s->done);
	obj_unref(s->items);
	obj_unref(s->crd);
	arena_free(s->a);
	xfree(s);
}

/* --- the definition --- */

/* The versions that are tried, without subresources: a status is judged like the rest. */
static struct obj *versions_of(const struct shadow *s)
{
	struct obj *list = obj_list();
	const struct obj *all = obj_path(s->crd, "spec.versions");
	for (const char *const *v = s->c.versions; *v; v++)
		for (size_t i = 0; i < obj_len(all); i++) {
			const struct obj *schema = obj_get(obj_at(all, i), "schema");
			if (!cstr_eq(obj_str(obj_at(all, i), "name"), *v) || !schema)
				continue;
			struct obj *o = obj_map();
			obj_set_str(o, "name", *v);
			obj_set_bool(o, "served", true);
			obj_set_bool(o, "storage", v == s->c.versions);
			obj_set(o, "schema", obj_ref(schema));
			obj_append(list, o);
		}
	return list;
}

static struct obj *definition(const struct shadow *s)
{
	struct obj *o =
		meta_skeleton("apiextensions.k8s.io/v1", "CustomResourceDefinition", NULL, s->name);
	struct obj *spec = obj_map(), *names = obj_map();
	meta_set_label(o, SHADOW_LABEL, "true");
	obj_set_str(names, "plural", s->r.plural);
	obj_set_str(names, "kind", s->r.kind);
	obj_set_str(spec, "group", s->r.group);
	obj_set_str(spec, "scope", s->r.namespaced ? "Namespaced" : "Cluster");
	obj_set(spec, "names", names);
	obj_set(spec, "versions", versions_of(s));
	obj_set(o, "spec", spec);
	return o;
}

static void ask(void *arg);

static void polled(void *arg, const struct client_reply *reply)
{
	struct shadow *s = arg;
	s->call = NULL;
	if (!reply->err) {
		s->c.ready(s->c.arg, true);
	} else if (++s->polls >= POLLS_MAX) {
		s->c.ready(s->c.arg, false);
	} else {
		s->timer = (struct timer){.fn = ask, .arg = s};
		loop_arm(s->loop, &s->timer, POLL_NS);
	}
}

/* It is there once its (empty) collection can be listed in the last of its versions. */
static void ask(void *arg)
{
	struct shadow *s = arg;
	struct resource r = s->r;
	for (const char *const *v = s->c.versions; *v; v++)
		r.version = *v;
	s->call = client_list(s->c.client, &r, NULL, "limit=1", polled, s);
}

static void created(void *arg, const struct client_reply *reply)
{
	struct shadow *s = arg;
	s->call = NULL;
	if (reply->err && reply->err->code != E_EXISTS) {
		log_info("rules are not evaluated", "crd", meta_name(s->crd), "error",
			 reply->err->msg);
		s->c.ready(s->c.arg, false);
		return;
	}
	ask(s);
}

/* --- may we? --- */

/* What is begun must come to its end: with the right to create alone a CRD would be left over. */
static void review(struct shadow *s);

static void define(struct shadow *s)
{
	static const struct client_options force = {.force = true};
	CLEANUP(obj_unrefp) struct obj *o = definition(s);
	s->call = client_apply(s->c.client, &crds, NULL, s->name, o, &force, created, s);
}

static void reviewed(void *arg, const struct client_reply *reply)
{
	struct shadow *s = arg;
	s->call = NULL;
	if (reply->err || !obj_flag(reply->body, "status.allowed", false)) {
		log_info("rules are judged here, not by the server: the right is missing", "crd",
			 meta_name(s->crd));
		s->c.ready(s->c.arg, false);
	} else if (++s->n_reviews < ARRAY_LEN(needs)) {
		review(s);
	} else {
		define(s);
	}
}

static void review(struct shadow *s)
{
	const struct right *n = &needs[s->n_reviews];
	CLEANUP(obj_unrefp) struct obj *what = obj_map();
	obj_set_str(what, "verb", n->verb);
	obj_set_str(what, "group", n->of_crds ? crds.group : s->r.group);
	obj_set_str(what, "resource", n->of_crds ? crds.plural : s->r.plural);
	CLEANUP(obj_unrefp) struct obj *o = access_review(what);
	s->call = client_create(s->c.client, &access_reviews, NULL, o, NULL, reviewed, s);
}

struct shadow *shadow_new(const struct shadow_config *c)
{
	struct shadow *s = xcalloc(1, sizeof(*s));
	char hex[SHA256_HEX];
	s->c = *c;
	s->a = arena_new(BYTES_MAX);
	s->loop = client_loop(c->client);
	s->crd = obj_ref(c->crd);
	for (size_t i = 0; i < SHADOW_VERSIONS_MAX && c->versions[i]; i++)
		s->c.versions[i] = arena_strdup(s->a, c->versions[i]);
	for (size_t i = 0; i < ARRAY_LEN(s->slots); i++)
		s->slots[i].s = s;
	sha256_hex(str_of(meta_name(s->crd)), hex);
	s->r = (struct resource){.group = arena_fmt(s->a, "g%.12s.%s", hex, SHADOW_GROUP),
				 .plural = obj_str(s->crd, "spec.names.plural"),
				 .kind = obj_str(s->crd, "spec.names.kind"),
				 .namespaced =
					 cstr_eq(obj_str(s->crd, "spec.scope"), "Namespaced")};
	s->name = arena_fmt(s->a, "%s.%s", s->r.plural, s->r.group);
	review(s);
	return s;
}

static void closed(void *arg, const struct client_reply *reply)
{
	struct shadow *s = arg;
	void (*fn)(void *arg) = s->c.closed;
	void *to = s->c.arg;
	s->call = NULL;
	if (reply->err && reply->err->code != E_NOTFOUND)
		log_warn("a temporary CRD is left over", "crd", s->name, "error", reply->err->msg);
	shadow_free(s);
	fn(to);
}

void shadow_close(struct shadow *s)
{
	s->call = client_delete(s->c.client, &crds, NULL, s->name, NULL, closed, s);
}

/* --- objects --- */

static void check_more(struct shadow *s);

static void report(void *arg)
{
	struct shadow *s = arg;
	struct error err = s->err;
	s->c.checked(s->c.arg, err.code ? &err : NULL);
}

/* What the server is shown: the object under another apiVersion, without what it sets itself. */
static struct obj *shown(const struct shadow *s, const struct slot *t)
{
	static const char *const kept[] = {"name", "namespace", "labels", "annotations"};
	struct obj *o = obj_copy(t->o), *meta = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const struct obj *v = obj_get(obj_get(t->o, "metadata"), kept[i]);
		if (v)
			obj_set(meta, kept[i], obj_ref(v));
	}
	obj_set(o, "apiVersion", obj_stringf("%s/%s", s->r.group, t->version));
	obj_set(o, "metadata", meta);
	return o;
}

static void send_again(void *arg);

static void tried(void *arg, const struct client_reply *reply)
{
	struct slot *t = arg;
	struct shadow *s = t->s;
	int code = reply->err ? reply->err->code : 0;
	t->call = NULL;
	bool passing = code && code != E_INVALID && error_retry(code) == RETRY_BACKOFF &&
		       code != E_FORBIDDEN;
	if ((passing || code == E_NOTFOUND) && ++t->tries < TRIES_MAX) {
		t->again = (struct timer){.fn = send_again, .arg = t};
		loop_arm(s->loop, &t->again, client_backoff(s->loop, t->tries, POLL_NS, NS_PER_S));
		return;
	}
	if (!code || code == E_INVALID)
		s->c.verdict(s->c.arg, t->o, t->version, code ? reply->err->msg : NULL);
	else if (!s->err.code)
		s->err = *reply->err;
	slot_clear(t);
	s->busy--;
	check_more(s);
}

static void send_again(void *arg)
{
	struct slot *t = arg;
	struct shadow *s = t->s;
	struct resource r = s->r;
	struct client_options dry = {.dry_run = true};
	CLEANUP(obj_unrefp) struct obj *o = shown(s, t);
	r.version = t->version;
	t->call = client_create(s->c.client, &r, meta_namespace(t->o), o, &dry, tried, t);
}

static struct slot *free_slot(struct shadow *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->slots); i++)
		if (!s->slots[i].o)
			return &s->slots[i];
	return NULL;
}

static void check_more(struct shadow *s)
{
	struct slot *t;
	while (!s->err.code && s->at < obj_len(s->items) && (t = free_slot(s))) {
		const char *version = s->c.versions[s->at_version];
		if (!version) {
			s->at_version = 0;
			s->at++;
			continue;
		}
		s->at_version++;
		if (s->only && strcmp(s->only, version) != 0)
			continue;
		t->o = obj_ref(obj_at(s->items, s->at));
		t->version = version;
		t->tries = 0;
		s->busy++;
		send_again(t);
	}
	if (!s->busy && (s->err.code || s->at >= obj_len(s->items))) {
		s->done = (struct task){.fn = report, .arg = s};
		loop_post(s->loop, &s->done);
	}
}

void shadow_check(struct shadow *s, const struct obj *items, const char *version)
{
	obj_unref(s->items);
	s->items = obj_ref(items);
	s->only = version;
	s->at = s->at_version = 0;
	s->err = ERROR_INIT;
	check_more(s);
}

/* --- what a crash left --- */

static void swept(void *arg, const struct client_reply *reply)
{
	(void)arg;
	(void)reply; /* the next start tries again */
}

static void found(void *arg, const struct client_reply *reply)
{
	struct client *c = arg;
	const struct obj *items = obj_get(reply->body, "items");
	for (size_t i = 0; !reply->err && i < obj_len(items); i++)
		if (cstr_has_suffix(meta_name(obj_at(items, i)), "." SHADOW_GROUP))
			client_delete(c, &crds, NULL, meta_name(obj_at(items, i)), NULL, swept,
				      NULL);
}

void shadow_sweep(struct client *c)
{
	client_list(c, &crds, NULL, "labelSelector=app.coreos.com%2Fshadow%3Dtrue", found, c);
}
