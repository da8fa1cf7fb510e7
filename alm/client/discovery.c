/*
 * discovery: see discovery.h. A refresh reads /api and /apis in the aggregated form; a server that
 * answers in the legacy form is asked for each group and version, one after the other.
 */
#include "alm/client/discovery.h"

#include <assert.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/client/discovery_table.h"
#include "alm/obj/gvk.h"

#define DOCUMENTS_MAX 1000
#define N_ROOTS       2 /* /api and /apis */
#define ACCEPT                                                                       \
	"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"      \
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," \
	"application/json"

struct waiter {
	TAILQ_ENTRY(waiter) link;
	discovery_fn refreshed;   /* of discovery_refresh() */
	discovery_found_fn found; /* of a require */
	void *arg;
	char *group, *version, *kind, *name; /* what is looked for */
};

/* A document still to be read; its group, for its failure. */
struct document {
	char *target, *group;
};

struct discovery {
	struct client *client;
	struct discovery_table *table; /* NULL until the first reading */
	struct discovery_table *next;  /* being read */
	struct document *documents;
	size_t n_documents, cap, at;
	struct client_call *call;
	TAILQ_HEAD(waiters, waiter) waiters;
	struct waiters told; /* those that are being called */
	struct task answer;  /* waiters that the cache can answer */
};

static void answer_from_cache(void *arg);
static void read_next(struct discovery *d);

struct discovery *discovery_new(struct client *c)
{
	struct discovery *d = xcalloc(1, sizeof(*d));
	d->client = c;
	d->answer.fn = answer_from_cache;
	d->answer.arg = d;
	TAILQ_INIT(&d->waiters);
	TAILQ_INIT(&d->told);
	return d;
}

static void drop_documents(struct discovery *d)
{
	for (size_t i = 0; i < d->n_documents; i++) {
		xfree(d->documents[i].target);
		xfree(d->documents[i].group);
	}
	d->n_documents = d->at = 0;
}

static void waiter_free(struct waiter *w)
{
	xfree(w->group);
	xfree(w->version);
	xfree(w->kind);
	xfree(w->name);
	xfree(w);
}

/* arg NULL: all. */
static void drop_waiters(struct waiters *list, const void *arg)
{
	struct waiter *w, *following;
	for (w = TAILQ_FIRST(list); w; w = following) {
		following = TAILQ_NEXT(w, link);
		if (arg && w->arg != arg)
			continue;
		TAILQ_REMOVE(list, w, link);
		waiter_free(w);
	}
}

void discovery_free(struct discovery *d)
{
	if (!d)
		return;
	loop_unpost(client_loop(d->client), &d->answer);
	if (d->call)
		client_cancel(d->client, d->call);
	drop_waiters(&d->waiters, NULL);
	drop_documents(d);
	xfree(d->documents);
	discovery_table_free(d->table);
	discovery_table_free(d->next);
	xfree(d);
}

static const struct resource *resource_of(const struct discovery_entry *e)
{
	return e ? &e->resource : NULL;
}

const struct resource *discovery_kind(const struct discovery *d, const char *group,
				      const char *version, const char *kind)
{
	return d->table ? resource_of(discovery_table_kind(d->table, group, version, kind)) : NULL;
}

const struct resource *discovery_name(const struct discovery *d, const char *name)
{
	return d->table ? resource_of(discovery_table_name(d->table, name)) : NULL;
}

const struct resource *const *discovery_all(const struct discovery *d, size_t *ret_n)
{
	*ret_n = d->table ? d->table->n : 0;
	return d->table ? d->table->resources : NULL;
}

/* Resources are handed out from the table: the entry is around it. */
static const struct discovery_entry *entry_of(const struct discovery *d, const struct resource *r)
{
	const struct discovery_entry *e =
		d->table ? discovery_table_kind(d->table, r->group, r->version, r->kind) : NULL;
	return e && cstr_eq(e->resource.plural, r->plural) ? e : NULL;
}

const char *discovery_short_names(const struct discovery *d, const struct resource *r)
{
	const struct discovery_entry *e = entry_of(d, r);
	return e ? e->short_names : "";
}

bool discovery_is_deletable(const struct discovery *d, const struct resource *r)
{
	const struct discovery_entry *e = entry_of(d, r);
	return e && e->deletable;
}

const char *discovery_singular(const struct discovery *d, const struct resource *r)
{
	const struct discovery_entry *e = entry_of(d, r);
	return e ? e->singular : "";
}

const char *discovery_trouble(const struct discovery *d)
{
	const struct map_entry *e = d->table ? map_first(d->table->troubles) : NULL;
	return e ? e->value : NULL;
}

const char *discovery_group_trouble(const struct discovery *d, const char *group)
{
	return d->table ? map_get(d->table->troubles, group) : NULL;
}

/* ---- waiters ---- */

static const struct resource *look_up(const struct discovery *d, const struct waiter *w)
{
	return w->name ? discovery_name(d, w->name)
		       : discovery_kind(d, w->group, w->version, w->kind);
}

static void tell_missing(const struct discovery *d, const struct waiter *w)
{
	struct error err = ERROR_INIT;
	const char *trouble = w->group ? discovery_group_trouble(d, w->group) : NULL;
	if (trouble)
		error_set(&err, E_UNAVAILABLE, "group \"%s\": %s", w->group, trouble);
	else if (w->name)
		error_set(&err, E_NOTFOUND, "the server doesn't have a resource type \"%.200s\"",
			  w->name);
	else {
		assert(w->group);
		error_set(&err, E_NOTFOUND, "no matches for kind \"%.200s\" in version \"%s%s%s\"",
			  w->kind, w->group, *w->group && w->version ? "/" : "",
			  w->version ? w->version : "");
	}
	w->found(w->arg, NULL, &err);
}

/* err NULL: the table is fresh, whoever still finds nothing is told so. */
static void tell(struct discovery *d, struct waiter *w, const struct error *err)
{
	const struct resource *r = w->found ? look_up(d, w) : NULL;
	assert(w->refreshed || w->found);
	if (w->refreshed)
		w->refreshed(w->arg, err);
	else if (r)
		w->found(w->arg, r, NULL);
	else if (err)
		w->found(w->arg, NULL, err);
	else
		tell_missing(d, w);
	waiter_free(w);
}

/* Those that came while callbacks run wait for the next reading. */
static void tell_all(struct discovery *d, const struct error *err)
{
	struct waiter *w;
	TAILQ_CONCAT(&d->told, &d->waiters, link);
	while ((w = TAILQ_FIRST(&d->told))) {
		TAILQ_REMOVE(&d->told, w, link);
		tell(d, w, err);
	}
}

static void answer_from_cache(void *arg)
{
	struct discovery *d = arg;
	struct waiter *w, *following;
	for (w = TAILQ_FIRST(&d->waiters); w; w = following) {
		following = TAILQ_NEXT(w, link);
		if (!w->found || !look_up(d, w))
			continue;
		TAILQ_REMOVE(&d->waiters, w, link);
		tell(d, w, NULL);
	}
}

/* ---- reading ---- */

static void add_document(struct discovery *d, char *target, const char *group)
{
	if (d->n_documents == DOCUMENTS_MAX) {
		xfree(target);
		return;
	}
	ARRAY_GROW(d->documents, d->cap, d->n_documents + 1);
	d->documents[d->n_documents++] = (struct document){target, xstrdup(group)};
}

static char *target_of(const char *root, const char *group_version)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/%s", root, group_version);
	return strbuf_detach(&b);
}

/* It becomes a path: what the server says must be a name. */
static bool is_group_version(const char *text)
{
	struct str group, version;
	return text && str_cut(str_of(text), '/', &group, &version) &&
	       name_is_dns_subdomain(group) && name_is_dns_label(version);
}

/* APIVersions and APIGroupList name further documents; preferred versions first. */
static void add_legacy(struct discovery *d, const struct obj *doc)
{
	const struct obj *versions = obj_get(doc, "versions"), *groups = obj_get(doc, "groups");
	for (size_t i = 0; i < obj_len(versions); i++) {
		const char *v = obj_as_string(obj_at(versions, i));
		if (v && name_is_dns_label(str_of(v)))
			add_document(d, target_of("/api", v), "");
	}
	for (size_t g = 0; g < obj_len(groups); g++) {
		const struct obj *group = obj_at(groups, g);
		const char *name = obj_str(group, "name");
		const char *preferred = obj_str(group, "preferredVersion.groupVersion");
		versions = obj_get(group, "versions");
		if (!name)
			continue;
		if (is_group_version(preferred))
			add_document(d, target_of("/apis", preferred), name);
		for (size_t i = 0; i < obj_len(versions); i++) {
			const char *gv = obj_str(obj_at(versions, i), "groupVersion");
			if (is_group_version(gv) && !cstr_eq(gv, preferred))
				add_document(d, target_of("/apis", gv), name);
		}
	}
}

static void finish(struct discovery *d, const struct error *err)
{
	struct discovery_table *next = STEAL(d->next);
	drop_documents(d);
	if (err) {
		discovery_table_free(next);
	} else {
		discovery_table_finish(next);
		discovery_table_free(d->table);
		d->table = next;
	}
	tell_all(d, err);
}

static void on_document(void *arg, const struct client_reply *reply)
{
	struct discovery *d = arg;
	const struct document *doc = &d->documents[d->at];
	bool is_root = d->at < N_ROOTS;
	d->call = NULL;
	if (reply->err && is_root) {
		finish(d, reply->err);
		return;
	}
	if (reply->err)
		discovery_table_fail(d->next, doc->group, reply->err->msg);
	else if (!is_root)
		discovery_table_add_list(d->next, reply->body);
	else if (!discovery_table_add_aggregated(d->next, reply->body))
		add_legacy(d, reply->body);
	d->at++;
	read_next(d);
}

static void read_next(struct discovery *d)
{
	/* a group whose server is away is told of, and keeps the others waiting no longer */
	const struct client_options o = {.takes_5xx = d->at >= N_ROOTS};
	if (d->at == d->n_documents)
		finish(d, NULL);
	else
		d->call = client_read(d->client, d->documents[d->at].target, ACCEPT, &o,
				      on_document, d);
}

static void refresh(struct discovery *d)
{
	if (d->next)
		return; /* under way */
	d->next = discovery_table_new();
	add_document(d, xstrdup("/api"), "");
	add_document(d, xstrdup("/apis"), "");
	read_next(d);
}

void discovery_refresh(struct discovery *d, discovery_fn fn, void *arg)
{
	struct waiter *w = xcalloc(1, sizeof(*w));
	w->refreshed = fn;
	w->arg = arg;
	TAILQ_INSERT_TAIL(&d->waiters, w, link);
	refresh(d);
}

void discovery_cancel(struct discovery *d, const void *arg)
{
	drop_waiters(&d->waiters, arg);
	drop_waiters(&d->told, arg);
}

static void require(struct discovery *d, struct waiter *w)
{
	TAILQ_INSERT_TAIL(&d->waiters, w, link);
	if (look_up(d, w))
		loop_post(client_loop(d->client), &d->answer);
	else
		refresh(d);
}

void discovery_require_kind(struct discovery *d, const char *group, const char *version,
			    const char *kind, discovery_found_fn fn, void *arg)
{
	struct waiter *w = xcalloc(1, sizeof(*w));
	w->found = fn;
	w->arg = arg;
	w->group = xstrdup(group);
	w->version = version ? xstrdup(version) : NULL;
	w->kind = xstrdup(kind);
	require(d, w);
}

void discovery_require_name(struct discovery *d, const char *name, discovery_found_fn fn, void *arg)
{
	struct waiter *w = xcalloc(1, sizeof(*w));
	w->found = fn;
	w->arg = arg;
	w->name = xstrdup(name);
	require(d, w);
}
