#include "alm/cli/bundle/bundle_plan.h"

#include "alm/base/map.h"
#include "alm/cli/app/bundle_inventory.h"
#include "alm/client/access_review.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/unit/drift.h"
#include "alm/unit/inventory.h"
#include "alm/unit/prune.h"
#include "alm/unit/switches.h"
#include "alm/unit/theirs.h"
#include "crds/marks.h"

struct planning {
	struct session *s;
	struct arena *a;
	const struct bundle_folder *f;
	const char *owner_id, *manager; /* as which the controller writes */
	struct bundle_plan *plan;
	struct map *rights; /* "RESOURCE.GROUP NS" -> may this user write them? */
};

static void add(struct planning *p, enum bundle_act act, const struct obj *o, const char *key,
		const char *why)
{
	struct bundle_plan *l = p->plan;
	const char *ns = meta_namespace(o);
	ARENA_GROW(p->a, l->steps, l->cap, l->n, 16);
	l->steps[l->n++] =
		(struct bundle_step){.act = act,
				     .what = arena_fmt(p->a, "%s %s%s%s", meta_kind(o),
						       ns ? ns : "", ns ? "/" : "", meta_name(o)),
				     .key = key,
				     .why = why};
	l->counts[act]++;
}

/* 1, and the live object; 0: there is none. */
static int look(const struct planning *p, const struct resource *r, const struct obj *o,
		const struct obj **ret, struct error *err)
{
	struct error why = ERROR_INIT;
	const char *target = session_target(p->s, r, meta_namespace(o), meta_name(o), NULL);
	*ret = NULL;
	if (session_get(p->s, target, ret, &why) == 0)
		return 1;
	return why.code == E_NOTFOUND ? 0 : error_copy(err, &why);
}

/* --- what the folder has --- */

static const char *refusal(const struct planning *p, const struct obj *live)
{
	const char *bundle = meta_label(live, LABEL_BUNDLE);
	if (bundle && cstr_eq(meta_annotation(live, ANNOTATION_OWNER_ID), p->owner_id))
		return NULL;
	if (bundle && !p->f->spec.takes)
		return arena_fmt(p->a, "ObjectNotOwned: it belongs to bundle %s (spec.adopt: Any)",
				 bundle);
	const char *app = meta_label(live, LABEL_STRATEGY) ? meta_label(live, LABEL_APP) : NULL;
	if (!bundle && app && !p->f->spec.takes)
		return arena_fmt(p->a, "ObjectNotOwned: it belongs to app %s (spec.adopt: Any)",
				 app);
	if (!bundle && !app && !p->f->spec.adopts)
		return "ObjectNotOwned: it is there and not managed by ALM (spec.adopt: Unowned)";
	return NULL;
}

static const char *differences(const struct planning *p, const struct drift *d)
{
	const char *list = "";
	for (size_t i = 0; i < d->n; i++)
		list = arena_fmt(p->a, "%s%s%s", list, *list ? ", " : "", d->paths[i]);
	return d->cut ? arena_fmt(p->a, "%s, ..", list) : list;
}

/* Who controls each of them, for the step that was added last. */
static void tell_holders(const struct planning *p, const struct drift *d, const struct obj *live)
{
	struct bundle_step *step = &p->plan->steps[p->plan->n - 1];
	struct bundle_field *fields = ARENA_ARRAY(p->a, struct bundle_field, d->n + 1);
	for (size_t i = 0; i < d->n; i++) {
		fields[i].path = d->paths[i];
		fields[i].holder = holder_of(live, d->live[i], p->a, &fields[i].manager);
	}
	step->fields = fields;
	step->n_fields = d->n;
}

/* --- what the server says --- */

/* Does the folder bring the Namespace, which is not there yet? */
static bool is_new_namespace(const struct planning *p, const char *ns)
{
	const struct bundle_plan *l = p->plan;
	const char *what = arena_fmt(p->a, "Namespace %s", ns);
	for (size_t i = 0; i < l->n; i++)
		if (l->steps[i].act == BUNDLE_CREATE && cstr_eq(l->steps[i].what, what))
			return true;
	return false;
}

static struct obj *review_of(const struct resource *r, const char *ns, const char *verb)
{
	CLEANUP(obj_unrefp) struct obj *what = obj_map();
	obj_set_str(what, "verb", verb);
	obj_set_str(what, "group", r->group);
	obj_set_str(what, "resource", r->plural);
	obj_set_str(what, "namespace", ns);
	return access_review(what);
}

/* 1: he may. */
static int may(const struct planning *p, const struct resource *r, const char *ns, const char *verb,
	       struct error *err)
{
	struct session_reply reply = {0};
	const struct session_request q = {.method = "POST",
					  .target = ACCESS_REVIEWS,
					  .body = obj_keep(p->a, review_of(r, ns, verb))};
	if (session_send(p->s, &q, &reply, err) < 0)
		return -err->code;
	return obj_flag(reply.body, "status.allowed", false);
}

/* Who may read alone gets the plan without what a write would be told: a refusal of his rights says
 * nothing of those of the Bundle. */
static int may_write(struct planning *p, const struct resource *r, const char *ns,
		     struct error *err)
{
	const char *key = arena_fmt(p->a, "%s.%s %s", r->plural, r->group, ns ? ns : "");
	if (!map_has(p->rights, key)) {
		int allowed = may(p, r, ns, "patch", err);
		if (allowed > 0)
			allowed = may(p, r, ns, "create", err);
		if (allowed < 0)
			return allowed;
		map_set_number(p->rights, key, allowed > 0);
	}
	return map_number(p->rights, key) > 0;
}

/* What is said of a Secret may have its values in it. */
static const char *refusal_text(const struct planning *p, const struct obj *want,
				const struct error *why)
{
	bool hide = cstr_eq(meta_kind(want), "Secret") && cstr_eq(meta_api_version(want), "v1");
	return hide ? arena_fmt(p->a, "%s; its words, which may have values in them, are not shown",
				error_reason(why->code))
		    : arena_strdup(p->a, why->msg);
}

/* Did the server say it of this object, and not of itself or the way to it? */
static bool is_of_object(const struct error *e)
{
	static const int codes[] = {E_INVALID,  E_BADREQUEST, E_FORBIDDEN, E_NOTFOUND,
				    E_TOOLARGE, E_INTERNAL}; /* a webhook that fails, too */
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (e->code == codes[i])
			return true;
	return false;
}

struct server_no {
	const char *why;
	bool is_immutable;
};

/* 1: the server would take it, or was not asked. 0: it would not; *ret says why. */
static int try_write(struct planning *p, const struct resource *r, const struct obj *want,
		     struct server_no *ret, struct error *err)
{
	const char *ns = meta_namespace(want);
	struct error why = ERROR_INIT;
	struct session_reply reply = {0};
	if (ns && is_new_namespace(p, ns)) {
		p->plan->n_early++;
		return 1;
	}
	int allowed = may_write(p, r, ns, err);
	if (allowed <= 0) {
		p->plan->n_forbidden += allowed == 0;
		return allowed < 0 ? allowed : 1;
	}
	const char *query = arena_fmt(p->a, "fieldManager=%s&force=true&dryRun=All",
				      url_encode(str_of(p->manager), p->a));
	const struct session_request q = {
		.method = "PATCH",
		.target = session_target(p->s, r, ns, meta_name(want), query),
		.content_type = APPLY_PATCH,
		.body = want};
	if (session_send(p->s, &q, &reply, &why) == 0)
		return 1;
	if (!is_of_object(&why))
		return error_copy(err, &why);
	*ret = (struct server_no){refusal_text(p, want, &why),
				  switches_is_immutable(why.code, why.msg)};
	return 0;
}

/* live NULL: there is none. */
static int add_write(struct planning *p, const struct obj *live, const struct resource *r,
		     const struct obj *want, const char *key, const char *what, struct error *err)
{
	struct server_no no = {0};
	enum bundle_act act = live ? BUNDLE_CHANGE : BUNDLE_CREATE;
	int taken = try_write(p, r, want, &no, err);
	if (taken < 0)
		return taken;
	if (taken) {
		add(p, act, want, key, what);
		return 0;
	}
	if (live && no.is_immutable && switches_force(want) && !switches_spare(want, live)) {
		add(p, act, want, key, arena_fmt(p->a, "made anew, as %s", no.why));
		return 0;
	}
	add(p, BUNDLE_REFUSE, want, key, arena_fmt(p->a, "ServerRefused: %s", no.why));
	p->plan->steps[p->plan->n - 1].by_server = true;
	return 0;
}

static int add_change(struct planning *p, const struct obj *live, const struct resource *r,
		      const struct obj *want, const char *key, struct error *err)
{
	struct drift d = {.n = 0};
	drift_find(want, live, "", p->a, &d);
	const char *what = differences(p, &d);
	if (add_write(p, live, r, want, key, what, err) < 0)
		return -err->code;
	if (p->plan->steps[p->plan->n - 1].why ==
	    what) /* and not a refusal, or that it is made anew */
		tell_holders(p, &d, live);
	return 0;
}

static int hold_against(struct planning *p, const struct resource *r, const struct obj *want,
			const struct obj *live, const char *key, struct error *err)
{
	const char *why = refusal(p, live);
	bool one_off = cstr_eq(meta_annotation(want, ANNOTATION_ONE_OFF), "true");
	if (why)
		add(p, BUNDLE_REFUSE, want, key, why);
	else if (one_off || unit_holds_object(live, want))
		add(p, BUNDLE_SAME, want, key, one_off ? "one-off" : NULL);
	else
		return add_change(p, live, r, want, key, err);
	return 0;
}

/* A kind that a definition of the folder brings is not there yet. */
static bool is_brought(const struct planning *p, const struct obj *o)
{
	const struct flat *f = &p->f->flat;
	struct str group, version;
	if (!str_cut(str_of(meta_api_version(o)), '/', &group, &version))
		return false;
	for (size_t i = 0; i < f->n; i++) {
		const struct obj *crd = f->objects[i].object;
		if (cstr_eq(meta_kind(crd), "CustomResourceDefinition") &&
		    str_is(group, obj_str(crd, "spec.group") ? obj_str(crd, "spec.group") : "") &&
		    cstr_eq(obj_str(crd, "spec.names.kind"), meta_kind(o)))
			return true;
	}
	return false;
}

static int plan_object(struct planning *p, const struct obj *row, struct error *err)
{
	const struct obj *o = obj_get(row, "object");
	const char *key = obj_str(row, "key");
	struct error why = ERROR_INIT;
	struct resource r;
	const struct obj *live = NULL;
	if (session_kind(p->s, o, &r, &why) < 0) {
		if (why.code != E_NOTFOUND)
			return error_copy(err, &why);
		p->plan->n_early += is_brought(p, o);
		add(p, is_brought(p, o) ? BUNDLE_CREATE : BUNDLE_REFUSE, o, key,
		    is_brought(p, o)
			    ? NULL
			    : arena_fmt(p->a, "UnknownObject: the server has no kind %s in %s",
					meta_kind(o), meta_api_version(o)));
		return 0;
	}
	struct obj *want = obj_keep(p->a, obj_copy(o));
	if (r.namespaced && !meta_namespace(want))
		obj_set_path(want, "metadata.namespace", obj_string(p->f->spec.ns));
	int found = look(p, &r, want, &live, err);
	if (found < 0)
		return found;
	return found ? hold_against(p, &r, theirs_take(want, live, obj_get(row, "ignore"), p->a),
				    live, key, err)
		     : add_write(p, NULL, &r, want, key, NULL, err);
}

static int plan_wanted(struct planning *p, struct error *err)
{
	const struct obj *rows = obj_get(p->f->unit->doc, "objects");
	for (size_t i = 0; i < obj_len(rows); i++)
		if (plan_object(p, obj_at(rows, i), err) < 0)
			return -err->code;
	return 0;
}

/* --- what it has no more --- */

static const char *line_text(const struct planning *p, const struct inventory_line *l)
{
	return arena_fmt(p->a, "%s %s%s%s", l->kind, l->ns ? l->ns : "", l->ns ? "/" : "", l->name);
}

static int plan_former(struct planning *p, const struct inventory_line *l, struct error *err)
{
	struct resource r;
	struct error why = ERROR_INIT;
	const struct obj *live = NULL;
	const struct obj *o =
		obj_keep(p->a, meta_skeleton(l->api_version, l->kind, l->ns, l->name));
	if (session_kind(p->s, o, &r, &why) < 0) /* gone with its definition */
		return why.code == E_NOTFOUND ? 0 : error_copy(err, &why);
	int found = look(p, &r, o, &live, err);
	if (found <= 0)
		return found;
	if (p->f->spec.spares)
		add(p, BUNDLE_KEEP, o, l->key, "spec.prune.mode: None");
	else if (prune_spares(live, l->uid, p->f->spec.name, p->owner_id))
		add(p, BUNDLE_KEEP, o, l->key, "its kind, a mark, or another owner keeps it");
	else
		add(p, BUNDLE_DELETE, o, l->key, NULL);
	return 0;
}

static int plan_deletes(struct planning *p, struct error *err)
{
	CLEANUP(map_freep) struct map *wanted = map_new(NULL);
	size_t n_wanted = p->plan->n;
	struct bundle_inventory i;
	for (size_t k = 0; k < n_wanted; k++)
		map_set(wanted, p->plan->steps[k].what, NULL);
	if (bundle_inventory_read(p->s, p->f->spec.name, p->a, &i, err) < 0)
		return -err->code;
	p->plan->blind = i.blind;
	for (size_t k = i.objects.n; k-- > 0;)
		if (!map_has(wanted, line_text(p, &i.objects.lines[k])) &&
		    plan_former(p, &i.objects.lines[k], err) < 0)
			return -err->code;
	if (!n_wanted && p->plan->n)
		p->plan->blind = "SourceEmpty: there is no object, and nothing is deleted until "
				 "annotation app.coreos.com/accept-digest of the Bundle names the "
				 "commit";
	p->plan->held = (int64_t)p->plan->counts[BUNDLE_DELETE] > p->f->spec.max_deletes;
	return 0;
}

/* --- all --- */

static int scope_of(void *arg, const struct obj *o)
{
	const struct planning *p = arg;
	struct error ignored = ERROR_INIT;
	struct resource r;
	return session_kind(p->s, o, &r, &ignored) < 0 ? -1 : r.namespaced;
}

static int read_owner(struct planning *p, struct error *err)
{
	const struct obj *system;
	if (session_get(p->s, "/api/v1/namespaces/kube-system", &system, err) < 0)
		return error_wrap(err, "the identity of the cluster");
	const char *hub = unit_hub(meta_uid(system), p->a);
	p->owner_id = unit_owner_id(hub, p->f->spec.name, BUNDLE_INSTANCE, p->a);
	p->manager = unit_manager(hub, p->f->spec.name, p->a);
	return 0;
}

int bundle_plan_make(const struct cli *c, struct session *s, const struct bundle_folder *f,
		     struct bundle_plan *ret, struct error *err)
{
	CLEANUP(map_freep) struct map *rights = map_new(NULL);
	struct planning p = {.s = s, .a = c->arena, .f = f, .plan = ret, .rights = rights};
	const struct bundle_scopes scopes = {.fn = scope_of, .arg = &p};
	*ret = (struct bundle_plan){0};
	if (bundle_check_namespaces(&f->spec, &f->flat, &scopes, err) < 0 ||
	    read_owner(&p, err) < 0 || plan_wanted(&p, err) < 0 || plan_deletes(&p, err) < 0)
		return -err->code;
	return 0;
}
