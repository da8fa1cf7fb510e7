#include "alm/controllers/app/install_plan.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/plan_cache.h"
#include "alm/controllers/unit/unit_live.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "installers/chart/gzip.h"

#define PLAN_DOCUMENT_MAX (PLAN_CHUNK_BYTES * PLAN_CHUNKS_MAX)
#define PLAN_RATIO_MAX    ((size_t)1100) /* more than deflate can reach: the size is the bound */

static bool is_kind(const struct obj *o, const char *kind)
{
	return cstr_eq(meta_kind(o), kind);
}

struct obj *install_plan_make(const struct view *v, const struct app *app,
			      const struct strategy_ref *s, const struct obj *rendered,
			      const char *archive, int64_t revision)
{
	struct obj *doc = obj_map();
	const struct unit_digest digest = {v->ops->digest, v->ops_arg};
	const char *ns = obj_str(s->o, "spec.strategy.namespace");
	struct obj *values = obj_keep(v->a, strategy_values(app, s->o));
	if (!ns)
		ns = app->install_namespace;
	obj_set_str(doc, "app", app->name);
	obj_set_str(doc, "release", app->name);
	obj_set_str(doc, "namespace", ns);
	obj_set_str(doc, "account", app->account.user);
	obj_set_str(doc, "version", s->version);
	obj_set_str(doc, "archive", archive);
	obj_set_str(doc, "values", values_digest(values, v->a));
	obj_set_int(doc, "revision", revision);
	obj_set(doc, "objects",
		unit_rows(obj_get(rendered, "crds"), obj_get(rendered, "objects"), &digest));
	const struct obj *hooks = obj_get(rendered, "hooks"), *chart = obj_get(rendered, "chart");
	obj_set(doc, "hooks", hooks ? obj_ref(hooks) : obj_list());
	obj_set_str(doc, "notes", obj_str(rendered, "notes"));
	obj_set(doc, "config", obj_ref(values));
	if (chart)
		obj_set(doc, "chart", obj_ref(chart));
	const char *manifest = obj_str(rendered, "manifest");
	obj_set_str(doc, "manifest", manifest);
	return doc;
}

const char *install_plan_digest(const struct view *v, const struct install_plan *p,
				const struct app *app, const struct obj *findings,
				const struct obj *permissions)
{
	char hex[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *d = obj_map();
	struct obj *objects = obj_list();
	obj_set_str(d, "app", meta_uid(app->o));
	obj_set_str(d, "from", app->installed ? app->installed->version : "");
	obj_set_str(d, "to", p->version);
	obj_set_str(d, "archive", p->archive);
	obj_set_str(d, "values", p->values);
	obj_set_str(d, "namespace", p->ns);
	if (!app->account.is_default)
		obj_set_str(d, "account", app->account.user);
	if (obj_len(permissions))
		obj_set(d, "permissions", obj_ref(permissions));
	for (size_t i = 0; i < p->n; i++) {
		const struct unit_entry *e = &p->entries[i];
		obj_append(objects, obj_stringf("%s/%s/%s apply %s", e->kind, e->ns ? e->ns : "",
						e->name, e->digest));
	}
	const struct obj *former = obj_get(p->doc, "former");
	for (size_t i = 0; i < obj_len(former); i++)
		obj_append(objects,
			   obj_stringf("%s/%s/%s delete", obj_str(obj_at(former, i), "kind"),
				       obj_str(obj_at(former, i), "namespace"),
				       obj_str(obj_at(former, i), "name")));
	obj_set(d, "objects", objects);
	const struct obj *hooks = obj_get(p->doc, "hooks");
	struct obj *hook_digests = obj_list();
	for (size_t i = 0; i < obj_len(hooks); i++) {
		char one[SHA256_HEX];
		v->ops->digest(v->ops_arg, obj_get(obj_at(hooks, i), "object"), one);
		obj_append(hook_digests, obj_string(one));
	}
	obj_set(d, "hooks", hook_digests);
	obj_set(d, "findings", findings ? obj_ref(findings) : obj_list());
	json_digest(d, hex);
	return arena_fmt(v->a, "sha256:%s", hex);
}

const char *install_plan_inputs(const struct view *v, const char *archive, const struct obj *values)
{
	return arena_fmt(v->a, "%.12s+%s+%s", archive, values_digest(values, v->a),
			 v->settings->kube_version);
}

/* --- stored in Secrets --- */

static const char *chunk_name(const char *strategy, int64_t revision, size_t i, struct arena *a)
{
	char hex[SHA256_HEX];
	sha256_hex(str_of(strategy), hex);
	return arena_fmt(a, "plan.%s.%.8s.r%lld.%zu", name_cut(strategy, 40, a), hex,
			 (long long)revision, i);
}

enum ensured install_plan_store(struct plan *plan, const struct strategy_ref *s, int64_t revision,
				const char *inputs, const struct obj *doc)
{
	CLEANUP(xfreep) char *text = json_text(doc);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(2 * PLAN_DOCUMENT_MAX);
	struct error err;
	char digest[SHA256_HEX];
	struct str rest = str_of(text);
	if (rest.len > PLAN_DOCUMENT_MAX || gzip_pack_fast(rest, &packed, &err) < 0)
		return ENDED; /* it could not be read back, and would be rendered for ever */
	rest = strbuf_str(&packed);
	sha256_hex(rest, digest);
	size_t n = (rest.len + PLAN_CHUNK_BYTES - 1) / PLAN_CHUNK_BYTES;
	if (n > PLAN_CHUNKS_MAX)
		return ENDED;
	for (size_t i = 0; i < n; i++, rest = str_skip(rest, PLAN_CHUNK_BYTES)) {
		struct str chunk = str_sub(rest, 0, PLAN_CHUNK_BYTES);
		CLEANUP(strbuf_release) struct strbuf b64 = STRBUF_INIT(2 * PLAN_CHUNK_BYTES);
		base64_encode(chunk, &b64);
		struct obj *o = meta_skeleton("v1", "Secret", SYSTEM_NAMESPACE,
					      chunk_name(s->name, revision, i, plan->a));
		meta_set_label(o, LABEL_PLAN, app_label_value(s->name, plan->a));
		meta_set_annotation(o, ANNOTATION_INPUTS, inputs);
		meta_set_annotation(o, ANNOTATION_CHUNKS, arena_fmt(plan->a, "%zu", n));
		meta_set_annotation(o, ANNOTATION_DOCUMENT, digest);
		struct owner_ref owner = {.api_version = meta_api_version(s->o),
					  .kind = meta_kind(s->o),
					  .name = s->name,
					  .uid = meta_uid(s->o)};
		meta_add_owner(o, &owner);
		obj_set_str(o, "type", "app.coreos.com/plan");
		obj_set(o, "data", obj_map());
		obj_set_path(o, "data.plan", obj_stringn(strbuf_str(&b64)));
		plan_own_apply(plan, o);
	}
	return DONE;
}

static bool is_chunk(const struct obj *o, const char *inputs)
{
	return obj_type(o) == OBJ_MAP && !meta_is_deleting(o) &&
	       (!inputs || cstr_eq(meta_annotation(o, ANNOTATION_INPUTS), inputs));
}

/* The first chunk that the view lacks; NULL: it has all. */
static const char *missing_chunk(const struct view *v, const char *strategy, int64_t revision,
				 const char *inputs)
{
	uint64_t n = 1;
	for (size_t i = 0; i < n && i < PLAN_CHUNKS_MAX; i++) {
		const char *name = chunk_name(strategy, revision, i, v->a);
		CLEANUP(obj_unrefp) struct obj *o =
			v->ops->get(v->ops_arg, WATCH_PLAN_SECRET, name);
		if (!is_chunk(o, inputs))
			return name;
		(void)str_parse_u64(str_of(meta_annotation(o, ANNOTATION_CHUNKS)), &n);
	}
	return NULL;
}

enum ensured install_plan_confirm_gone(const struct view *v, const char *strategy, int64_t revision,
				       const char *inputs, struct plan *plan)
{
	const char *name = missing_chunk(v, strategy, revision, inputs);
	if (!name)
		return DONE; /* there, but not readable */
	const char *id = arena_fmt(v->a, "survey:%s", name);
	const struct outcome *o = view_outcome(v, id);
	int64_t age = o ? v->now_ns - o->at_ns : 0;
	if (o && !o->code && age >= 0 && age <= SURVEY_AGE_NS) {
		if (!is_chunk(obj_get(o->value, name), inputs))
			return DONE;
		plan_requeue_after(plan, SURVEY_AGE_NS); /* the watch brings it */
		return WAITING;
	}
	struct obj *row = obj_map(), *rows = obj_list();
	obj_set_str(row, "key", name);
	obj_set_str(row, "group", "");
	obj_set_str(row, "version", "v1");
	obj_set_str(row, "kind", "Secret");
	obj_set_str(row, "namespace", SYSTEM_NAMESPACE);
	obj_set_str(row, "name", name);
	obj_append(rows, row);
	struct action *x = plan_work(plan, &survey_work, id);
	x->body = obj_keep(v->a, rows);
	return WAITING;
}

struct chunks {
	struct obj *(*get)(const struct chunks *c, const char *name); /* owned */
	const struct view *view;                                      /* or */
	const struct obj *of_items;                                   /* Secrets */
	struct arena *a;
};

static struct obj *of_view(const struct chunks *c, const char *name)
{
	return c->view->ops->get(c->view->ops_arg, WATCH_PLAN_SECRET, name);
}

static struct obj *of_list(const struct chunks *c, const char *name)
{
	for (size_t i = 0; i < obj_len(c->of_items); i++)
		if (cstr_eq(meta_name(obj_at(c->of_items, i)), name))
			return obj_ref(obj_at(c->of_items, i));
	return NULL;
}

/* Packed, or plain as earlier versions stored it; owned. */
static struct obj *document_of(struct str stored, size_t *ret_bytes)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PLAN_DOCUMENT_MAX);
	struct error err;
	struct obj *doc = NULL;
	if (!str_has_prefix(stored, STR("{"))) {
		if (gzip_unpack(stored, PLAN_RATIO_MAX, &text, &err) < 0)
			return NULL;
		stored = strbuf_str(&text);
	}
	*ret_bytes = stored.len;
	return json_parse(stored, &doc, &err) < 0 ? NULL : doc;
}

/* Parsed once as long as it is in use; want NULL: stored by an earlier version. */
static struct obj *cached(const struct chunks *c, const char *want)
{
	struct plan_cache *plans = c->view ? c->view->shared->plans : NULL;
	return plans && want ? plan_cache_get(plans, want) : NULL;
}

static void cache(const struct chunks *c, const char *want, const struct obj *doc, size_t bytes)
{
	struct plan_cache *plans = c->view ? c->view->shared->plans : NULL;
	if (plans && want && doc)
		plan_cache_put(plans, want, doc, bytes);
}

/* All chunks are there, and of one document. */
static bool is_whole(const struct chunks *c, const char *strategy, int64_t revision,
		     const char *inputs, uint64_t *ret_n, const char **ret_want)
{
	*ret_n = 1;
	for (size_t i = 0; i < *ret_n && i < PLAN_CHUNKS_MAX; i++) {
		CLEANUP(obj_unrefp) struct obj *o =
			c->get(c, chunk_name(strategy, revision, i, c->a));
		const char *document = meta_annotation(o, ANNOTATION_DOCUMENT);
		if (!is_chunk(o, inputs) ||
		    !str_parse_u64(str_of(meta_annotation(o, ANNOTATION_CHUNKS)), ret_n) ||
		    (i && !cstr_eq(document, *ret_want) && (document || *ret_want)))
			return false; /* chunks of two renders do not mix */
		*ret_want = document ? arena_strdup(c->a, document) : NULL;
	}
	return true;
}

static const struct obj *join(const struct chunks *c, const char *strategy, int64_t revision,
			      const char *inputs)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PLAN_DOCUMENT_MAX);
	uint64_t n;
	size_t bytes = 0;
	char digest[SHA256_HEX];
	const char *want = NULL;
	if (!is_whole(c, strategy, revision, inputs, &n, &want))
		return NULL;
	struct obj *doc = cached(c, want);
	if (doc)
		return obj_keep(c->a, doc);
	for (size_t i = 0; i < n && i < PLAN_CHUNKS_MAX; i++) {
		CLEANUP(obj_unrefp) struct obj *o =
			c->get(c, chunk_name(strategy, revision, i, c->a));
		if (!base64_decode(str_of(obj_str(o, "data.plan")), &text))
			return NULL;
	}
	sha256_hex(strbuf_str(&text), digest);
	if (want && strcmp(want, digest) != 0)
		return NULL;
	doc = document_of(strbuf_str(&text), &bytes);
	cache(c, want, doc, bytes);
	return obj_keep(c->a, doc);
}

const struct obj *install_plan_stored(const struct view *v, const char *strategy, int64_t revision,
				      const char *inputs)
{
	const struct chunks c = {.get = of_view, .view = v, .a = v->a};
	const struct obj *kept = NULL;
	const char *id = arena_fmt(v->a, "plan:%lld:%s:%s", (long long)revision,
				   inputs ? inputs : "", strategy);
	if (view_kept(v, id, &kept))
		return kept;
	return view_keep(v, id, join(&c, strategy, revision, inputs));
}

const struct obj *install_plan_of_secrets(const struct obj *items, const char *strategy,
					  int64_t revision, struct arena *a)
{
	const struct chunks c = {.get = of_list, .of_items = items, .a = a};
	return join(&c, strategy, revision, NULL);
}

/* --- read back --- */

bool install_plan_is_bare_namespace(const struct obj *o, const char *ns)
{
	return is_kind(o, "Namespace") && cstr_eq(meta_name(o), ns) && obj_len(o) == 3 &&
	       obj_len(obj_get(o, "metadata")) == 1;
}

struct install_plan *install_plan_load(const struct view *v, const struct obj *doc,
				       struct plan *plan)
{
	struct install_plan *p = ARENA_NEW(v->a, struct install_plan);
	const struct obj *objects = obj_get(doc, "objects");
	p->doc = doc;
	if (plan)
		plan_hide(plan, doc);
	p->release = obj_str(doc, "release");
	p->ns = obj_str(doc, "namespace");
	p->version = obj_str(doc, "version");
	p->archive = obj_str(doc, "archive");
	p->values = obj_str(doc, "values");
	p->revision = obj_i64(doc, "revision", 1);
	p->entries = ARENA_ARRAY(v->a, struct unit_entry, obj_len(objects));
	for (size_t i = 0; i < obj_len(objects); i++)
		if (!install_plan_is_bare_namespace(obj_get(obj_at(objects, i), "object"), p->ns))
			unit_entry_load(v, obj_at(objects, i), p->ns, LABEL_APP,
					&p->entries[p->n++], plan);
	return p;
}

const char *plan_entry_refusal(const struct unit_entry *e, struct arena *a)
{
	return arena_fmt(a, "refused:%s/%s/%s", e->kind, e->ns ? e->ns : "", e->name);
}

bool install_plan_keeps_newer(const struct unit_entry *e, const char *version)
{
	struct version live, own;
	struct error err;
	const char *text =
		e->is_crd && e->live ? meta_annotation(e->live, ANNOTATION_CRD_VERSION) : NULL;
	return text && version_parse(str_of(text), VERSION_STRICT, &live, &err) == 0 &&
	       version_parse(str_of(version), VERSION_STRICT, &own, &err) == 0 &&
	       version_cmp(&live, &own) > 0;
}

const char *install_plan_foreign(const struct app *app, const struct install_plan *p,
				 const struct unit_entry *e, const struct obj *live,
				 struct arena *a)
{
	const char *owner = meta_label(live, LABEL_APP);
	/* The label of an app that left it behind stays until ours is applied. */
	if (e->is_crd && (meta_annotation(live, ANNOTATION_RELEASED) ||
			  cstr_eq(meta_annotation(live, ANNOTATION_OWNER), app->self_ref)))
		return NULL;
	if (owner)
		return strcmp(owner, app->name) ? arena_fmt(a, "app %s", owner) : NULL;
	if (e->is_crd || !strcmp(e->kind, "Namespace"))
		return NULL; /* claims are judged by the resolver; a namespace is shared */
	const char *release = meta_annotation(live, "meta.helm.sh/release-name");
	const char *ns = meta_annotation(live, "meta.helm.sh/release-namespace");
	const char *by = meta_label(live, "app.kubernetes.io/managed-by");
	bool same = cstr_eq(release, p->release) && cstr_eq(ns, p->ns);
	if (same && cstr_eq(by, "Helm"))
		return NULL;
	if (release && !same)
		return arena_fmt(a, "release %s in %s", release, ns ? ns : "");
	return by ? arena_strdup(a, by) : "nobody ALM knows";
}

/* --- what is sent --- */

static void own_crd(const struct view *v, const struct app *app, struct obj *o)
{
	struct owner_ref owner = {.api_version = meta_api_version(app->o),
				  .kind = meta_kind(app->o),
				  .name = app->name,
				  .uid = meta_uid(app->o)};
	const struct obj *system = view_get(v, WATCH_NAMESPACE, "kube-system");
	meta_set_annotation(o, ANNOTATION_OWNER, app->self_ref);
	meta_set_annotation(o, "helm.sh/resource-policy", "keep");
	if (!system)
		return; /* never the AppType alone: it would take the CRD along (lifecycle.md 8) */
	struct owner_ref second = {.api_version = "v1",
				   .kind = "Namespace",
				   .name = "kube-system",
				   .uid = meta_uid(system)};
	meta_add_owner(o, &owner);
	meta_add_owner(o, &second);
}

static void own(struct obj *o, const struct strategy_ref *s, const struct unit_entry *e,
		bool handoff)
{
	struct owner_ref current, owner = {.api_version = meta_api_version(s->o),
					   .kind = meta_kind(s->o),
					   .name = s->name,
					   .uid = meta_uid(s->o)};
	bool taken = false;
	for (size_t i = 0; e->live && !handoff && i < meta_owner_count(e->live); i++) {
		if (!meta_owner(e->live, i, &current) || !cstr_eq(current.kind, "InstallStrategy"))
			continue;
		meta_add_owner(o, &current);
		taken = true;
	}
	if (!taken)
		meta_add_owner(o, &owner);
}

struct obj *install_plan_decorate(const struct view *v, const struct app *app,
				  const struct strategy_ref *s, const struct install_plan *p,
				  const struct unit_entry *e, bool handoff)
{
	struct obj *o = obj_copy(e->object);
	const char *label = e->live && !handoff ? meta_label(e->live, LABEL_STRATEGY) : NULL;
	meta_set_annotation(o, ANNOTATION_APPLIED, e->digest);
	meta_set_label(o, LABEL_APP, app->name);
	meta_set_label(o, LABEL_STRATEGY, label ? label : app_label_value(s->name, v->a));
	if (e->is_crd) {
		own_crd(v, app, o);
		meta_set_annotation(o, ANNOTATION_CRD_VERSION, s->version);
		return o;
	}
	meta_set_label(o, "app.kubernetes.io/managed-by", "Helm");
	meta_set_annotation(o, "meta.helm.sh/release-name", p->release);
	meta_set_annotation(o, "meta.helm.sh/release-namespace", p->ns);
	if (!e->keep)
		own(o, s, e, handoff);
	return o;
}
