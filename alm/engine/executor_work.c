/* Slow work whose outcome the next reconcile sees: catalogs, archives, rendering, surveys. */
#include <stdlib.h>
#include <string.h>

#include "alm/base/log.h"
#include "alm/engine/executor_run.h"
#include "alm/engine/policy.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

/* --- catalogs --- */

static struct obj *package_names(const struct catalog_index *x)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < x->n && obj_len(list) < CATALOG_NAMES_MAX; i++)
		if (!i || strcmp(x->versions[i]->package, x->versions[i - 1]->package) != 0)
			obj_append(list, obj_string(x->versions[i]->package));
	return list;
}

static struct obj *sync_value(const struct catalog_index *x)
{
	struct obj *o = obj_map(), *rejected = obj_list();
	obj_set(o, "packageNames", package_names(x));
	obj_set_str(o, "digest", x->revision);
	obj_set_int(o, "packages", (int64_t)x->n_packages);
	obj_set_int(o, "versions", (int64_t)x->n);
	obj_set_int(o, "nRejected", (int64_t)x->n_rejected);
	for (size_t i = 0; i < x->n_rejected && i < INDEX_REJECTED_MAX; i++)
		obj_append(rejected, obj_string(x->rejected[i]));
	obj_set(o, "rejected", rejected);
	return o;
}

/* A revision with less than half of the former versions and 10 fewer is not believed
 * (lifecycle.md 1.4). */
static int check_shrink(const struct catalog_index *old, const struct catalog_index *new,
			const struct obj *catalog, struct error *err)
{
	const char *accepted = meta_annotation(catalog, "app.coreos.com/accept-digest");
	if (!old || strcmp(old->policy, new->policy) != 0 || new->n * 2 >= old->n ||
	    old->n - new->n < 10 || cstr_eq(accepted, new->revision))
		return 0;
	return error_because(err, E_REFUSED, REASON_SUSPICIOUS_SHRINK,
			     "%zu versions became %zu; annotate "
			     "app.coreos.com/accept-digest: %s to accept",
			     old->n, new->n, new->revision);
}

/* new NULL: unchanged. */
static int check_age(const struct catalog_index *old, const struct catalog_index *new,
		     const struct obj *catalog, int64_t now_ns, struct error *err)
{
	const struct catalog_index *x = new ? new : old;
	if (!x)
		return 0;
	const struct policy_ages ages = {
		.old_ns = old && !strcmp(old->policy, x->policy) ? old->generated_ns : 0,
		.new_ns = x->generated_ns,
		.now_ns = now_ns,
		.accepted = cstr_eq(meta_annotation(catalog, "app.coreos.com/accept-digest"),
				    x->revision)};
	return policy_check_age(catalog, &ages, err);
}

static struct obj *differences(const struct catalog_index *from, const struct catalog_index *to)
{
	struct obj *list = obj_list();
	for (size_t i = 0; to && i < to->n && obj_len(list) < 20; i++)
		if (!from || !index_holds(from, to->versions[i]))
			obj_append(list, obj_stringf("%s %.*s", to->versions[i]->package,
						     STR_ARG(to->versions[i]->version.text)));
	return list;
}

/* The observation that every later decision of its apps goes back to. */
static int append_changed(struct run *r, const struct action *a, const struct catalog_index *old,
			  const struct catalog_index *new, struct error *err)
{
	struct executor *x = r->x;
	struct audit_subject about = {
		.kind = "Catalog", .name = a->key, .uid = meta_uid(a->subject)};
	if (cstr_eq(chain_key(x->chain, "Observe", &about), new->revision))
		return 0;
	struct obj *body = obj_keep(r->a, obj_map());
	obj_set_str(body, "what", "CatalogChanged");
	obj_set_path(body, "catalog.name", obj_string(a->key));
	if (old)
		obj_set_path(body, "catalog.from", obj_string(old->revision));
	obj_set_path(body, "catalog.to", obj_string(new->revision));
	obj_set(body, "added", differences(old, new));
	obj_set(body, "removed", differences(new, old));
	obj_set_str(body, "key", new->revision);
	obj_set(body, "message",
		obj_stringf("%s %.4s -> %.4s", a->key, old ? old->revision : "none",
			    new->revision));
	struct audit_row row = {
		.type = "Observe", .reason = "CatalogChanged", .subject = about, .body = body};
	int64_t seq;
	if (audit_append_now(x->c.audit, &row, &seq, err) < 0)
		return -err->code;
	chain_set_key(x->chain, "Observe", &about, new->revision);
	chain_advance(x->chain, arena_fmt(r->a, "catalog:%s", a->key), seq);
	return 0;
}

/* What was refused, for status.quarantined. */
static struct obj *bad_value(const char *digest)
{
	if (!*digest)
		return NULL;
	struct obj *o = obj_map();
	obj_set_str(o, "badDigest", digest);
	return o;
}

static void synced(void *arg, struct catalog_index *index, const char *bad_digest,
		   const struct error *err)
{
	struct step_call *c = arg;
	struct run *r = c->run;
	struct action *a = c->action;
	const struct executor_host *h = &r->x->c.host;
	CLEANUP(index_freep) struct catalog_index *new = index;
	const struct catalog_index *old = h->index(h->arg, a->key);
	struct error failed = err ? *err : ERROR_INIT;
	if (!err && new && check_shrink(old, new, a->body, &failed) < 0)
		bad_digest = new->revision;
	if (!failed.code && check_age(old, new, a->body, loop_now(r->x->c.loop), &failed) < 0)
		bad_digest = new ? new->revision : "";
	if (!failed.code && new)
		append_changed(r, a, old, new, &failed);
	if (failed.code) {
		failed = run_hide(r, &failed);
		const struct outcome *last = stash_get(r->x->c.stash, a->id);
		if (!last || !cstr_eq(last->msg, failed.msg)) /* reported once, not at every poll */
			log_warn("catalog not read", "catalog", a->key, "error", failed.msg);
		run_put(r, a->id, &failed, STR_NONE, bad_value(bad_digest));
	} else {
		run_put(r, a->id, NULL, STR_NONE, sync_value(new ? new : old));
		if (new)
			h->swap_index(h->arg, a->key, STEAL(new));
	}
	call_done(c);
}

void work_sync(struct run *r, struct action *a)
{
	const struct executor_host *h = &r->x->c.host;
	struct step_call *c = call_new(r, a);
	h->sync(h->arg, a->key, a->body, synced, c);
}

static void fetched(void *arg, struct str bytes, const struct error *err)
{
	struct step_call *c = arg;
	struct run *r = c->run;
	struct str own = err ? STR_NONE : str_n(xmemdup(bytes.ptr, bytes.len), bytes.len);
	run_put(r, c->action->id, err, own, NULL);
	call_done(c);
}

void work_fetch(struct run *r, struct action *a)
{
	const struct executor_host *h = &r->x->c.host;
	struct step_call *c = call_new(r, a);
	h->fetch(h->arg, a->key, fetched, c);
}

/* --- rendering --- */

#define API_VERSIONS_MAX 20000

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

/* .Capabilities.APIVersions of the live server: "apps/v1" and "apps/v1/Deployment", each once. */
static struct obj *api_versions(struct run *r)
{
	size_t n, n_texts = 0;
	const struct resource *const *all = discovery_all(r->x->c.discovery, &n);
	struct obj *list = obj_list();
	n = n < API_VERSIONS_MAX ? n : API_VERSIONS_MAX;
	const char **texts = ARENA_ARRAY(r->a, const char *, 2 * n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *gv = *all[i]->group
					 ? arena_fmt(r->a, "%s/%s", all[i]->group, all[i]->version)
					 : arena_strdup(r->a, all[i]->version);
		texts[n_texts++] = gv;
		texts[n_texts++] = arena_fmt(r->a, "%s/%s", gv, all[i]->kind);
	}
	qsort(texts, n_texts, sizeof(*texts), by_text);
	for (size_t i = 0; i < n_texts; i++)
		if (!i || strcmp(texts[i], texts[i - 1]) != 0)
			obj_append(list, obj_string(texts[i]));
	return list;
}

static void rendered(void *arg, struct obj *value, const struct error *err)
{
	struct step_call *c = arg;
	c->run->x->n_renders--;
	if (err && err->code == E_TOOMANY) /* says nothing of the chart: again after a pause */
		run_fail(c->run, err);
	else
		run_put(c->run, c->action->id, err, STR_NONE, value);
	call_done(c);
}

void work_render(struct run *r, struct action *a)
{
	const struct executor_host *h = &r->x->c.host;
	const struct outcome *archive = stash_get(r->x->c.stash, a->key);
	if (!archive || archive->code) {
		r->changed =
			true; /* its fetch has failed, or it was evicted: the next reconcile reports it */
		return;
	}
	struct obj *request = obj_keep(r->a, obj_copy(a->body));
	if (!obj_has(request, "apiVersions"))
		obj_set(request, "apiVersions", api_versions(r));
	struct step_call *c = call_new(r, a);
	c->render = (struct render_call){.done = rendered, .arg = c};
	r->x->n_renders++;
	h->render(h->arg, archive->bytes, request, &c->render);
}

/* --- surveys --- */

static void survey_next(struct step_call *c);

static void survey_found(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	const struct obj *row = obj_at(c->action->body, c->at - 1);
	c->call = NULL;
	if (!reply->err) {
		obj_set(c->found, obj_str(row, "key"), obj_ref(reply->body));
	} else if (reply->err->code != E_NOTFOUND) {
		run_fail(c->run, reply->err);
		call_done(c);
		return;
	}
	survey_next(c);
}

static void survey_next(struct step_call *c)
{
	struct run *r = c->run;
	while (c->at < obj_len(c->action->body)) {
		const struct obj *row = obj_at(c->action->body, c->at++);
		const struct resource *res =
			discovery_kind(r->x->c.discovery, obj_str(row, "group"),
				       obj_str(row, "version"), obj_str(row, "kind"));
		if (!res)
			continue; /* not served: it cannot exist */
		c->call = client_get(r->x->c.client, res, obj_str(row, "namespace"),
				     obj_str(row, "name"), NULL, survey_found, c);
		return;
	}
	run_put(r, c->action->id, NULL, STR_NONE, STEAL(c->found));
	call_done(c);
}

void work_survey(struct run *r, struct action *a)
{
	struct step_call *c = call_new(r, a);
	c->found = obj_map();
	survey_next(c);
}

/* --- the gate --- */

/* What follows a gate that guards happens only after the outcome it was planned for, and to the
 * very definition that was judged. */
static void guard(struct run *r, const struct action *a, const struct obj *value)
{
	const char *key = live_gate_key(obj_get(value, "findings"), r->a);
	if (cstr_eq(obj_str(value, "outcome"), "refuse") || obj_flag(value, "taken", false) ||
	    (a->expect && strcmp(a->expect, key) != 0)) {
		r->next = NULL;
		return;
	}
	struct action *next = r->next;
	const char *rv = obj_str(value, "resourceVersion");
	if (next && rv && next->type == ACT_APPLY && cstr_eq(next->name, obj_str(value, "crd")))
		next->resource_version = arena_strdup(r->a, rv);
}

static void judged(void *arg, struct obj *value, const struct error *err)
{
	struct step_call *c = arg;
	c->gate = NULL;
	if (err) {
		if (!c->run->failed)
			c->run->err = *err;
		c->run->failed = true;
	} else {
		if (c->action->guards)
			guard(c->run, c->action, value);
		run_put(c->run, c->action->id, NULL, STR_NONE, value);
	}
	call_done(c);
}

void work_gate(struct run *r, struct action *a)
{
	struct step_call *c = call_new(r, a);
	const struct live_gate_config config = {.client = r->x->c.client,
						.as = a->as,
						.loop = r->x->c.loop,
						.request = a->body,
						.done = judged,
						.arg = c};
	c->gate = live_gate_start(&config);
}
