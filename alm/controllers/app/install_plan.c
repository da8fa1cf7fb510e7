#include "alm/controllers/app/install_plan.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/unit/unit_live.h"
#include "alm/controllers/unit/unit_store.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

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
	if (obj_has(p->doc, "rollout"))
		obj_set(d, "rollout", obj_ref(obj_get(p->doc, "rollout")));
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

static const char *prefix_of(const char *strategy, int64_t revision, struct arena *a)
{
	char hex[SHA256_HEX];
	sha256_hex(str_of(strategy), hex);
	return arena_fmt(a, "plan.%s.%.8s.r%lld", name_cut(strategy, 40, a), hex,
			 (long long)revision);
}

enum ensured install_plan_store(struct plan *plan, const struct strategy_ref *s, int64_t revision,
				const char *inputs, const struct obj *doc)
{
	struct obj *chunks =
		store_split(doc, SYSTEM_NAMESPACE, prefix_of(s->name, revision, plan->a), inputs);
	if (!chunks)
		return ENDED; /* it could not be read back, and would be rendered for ever */
	obj_keep(plan->a, chunks);
	for (size_t i = 0; i < obj_len(chunks); i++) {
		struct obj *o = obj_ref(obj_at_mut(chunks, i));
		meta_set_label(o, LABEL_PLAN, app_label_value(s->name, plan->a));
		struct owner_ref owner = {.api_version = meta_api_version(s->o),
					  .kind = meta_kind(s->o),
					  .name = s->name,
					  .uid = meta_uid(s->o)};
		meta_add_owner(o, &owner);
		plan_own_apply(plan, o);
	}
	return DONE;
}

static struct obj *of_view(const struct store_source *s, const char *name)
{
	return s->view->ops->get(s->view->ops_arg, WATCH_PLAN_SECRET, name);
}

static struct obj *of_list(const struct store_source *s, const char *name)
{
	for (size_t i = 0; i < obj_len(s->items); i++)
		if (cstr_eq(meta_name(obj_at(s->items, i)), name))
			return obj_ref(obj_at(s->items, i));
	return NULL;
}

static struct store_source view_source(const struct view *v)
{
	return (struct store_source){
		.get = of_view, .view = v, .cache = v->shared->plans, .a = v->a};
}

enum ensured install_plan_confirm_gone(const struct view *v, const char *strategy, int64_t revision,
				       const char *inputs, struct plan *plan)
{
	const struct store_source source = view_source(v);
	const char *name = store_missing(&source, prefix_of(strategy, revision, v->a), inputs);
	if (!name)
		return DONE; /* there, but not readable */
	const char *id = arena_fmt(v->a, "survey:%s", name);
	const struct outcome *o = view_outcome(v, id);
	int64_t age = o ? v->now_ns - o->at_ns : 0;
	if (o && !o->code && age >= 0 && age <= SURVEY_AGE_NS) {
		if (!store_is_chunk(obj_get(o->value, name), inputs))
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

const struct obj *install_plan_stored(const struct view *v, const char *strategy, int64_t revision,
				      const char *inputs)
{
	const struct store_source source = view_source(v);
	const struct obj *kept = NULL;
	const char *id = arena_fmt(v->a, "plan:%lld:%s:%s", (long long)revision,
				   inputs ? inputs : "", strategy);
	if (view_kept(v, id, &kept))
		return kept;
	return view_keep(v, id, store_join(&source, prefix_of(strategy, revision, v->a), inputs));
}

const struct obj *install_plan_newest(const struct view *v, const char *strategy, int64_t revision,
				      const char *inputs)
{
	const struct obj *doc = NULL;
	for (int64_t r = revision; !doc && r > 0 && r + PLAN_HISTORY_MAX >= revision; r--)
		doc = install_plan_stored(v, strategy, r, inputs);
	return doc;
}

const struct obj *install_plan_of_secrets(const struct obj *items, const char *strategy,
					  int64_t revision, struct arena *a)
{
	const struct store_source source = {.get = of_list, .items = items, .a = a};
	const struct obj *doc = NULL;
	for (int64_t r = revision; !doc && r > 0 && r + PLAN_HISTORY_MAX >= revision; r--)
		doc = store_join(&source, prefix_of(strategy, r, a), NULL);
	return doc;
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
		if (!obj_flag(obj_at(objects, i), "passing", false) &&
		    !install_plan_is_bare_namespace(obj_get(obj_at(objects, i), "object"), p->ns))
			unit_entry_load(v, obj_at(objects, i), p->ns, LABEL_APP,
					&p->entries[p->n++], plan);
	return p;
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

bool install_plan_is_alm(const struct install_plan *p)
{
	return cstr_eq(p->ns, SYSTEM_NAMESPACE);
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
	if (!e->keep && !install_plan_is_alm(p))
		own(o, s, e, handoff);
	return o;
}
