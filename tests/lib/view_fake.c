#include "tests/lib/view_fake.h"

#include "alm/controllers/work/works.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/patch.h"
#include "tests/lib/test.h"

/* clang-format off */
static const struct resource kinds[] = {
	{"", "v1", "secrets", "Secret", true},
	{"", "v1", "configmaps", "ConfigMap", true},
	{"", "v1", "namespaces", "Namespace", false},
	{"", "v1", "pods", "Pod", true},
	{"", "v1", "services", "Service", true},
	{"", "v1", "serviceaccounts", "ServiceAccount", true},
	{"apps", "v1", "deployments", "Deployment", true},
	{"batch", "v1", "jobs", "Job", true},
	{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false},
	{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false},
	{"rbac.authorization.k8s.io", "v1", "roles", "Role", true},
	{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false},
};
/* clang-format on */

static struct obj *parse(const char *json)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return o;
}

static char *live_key(const char *kind, const char *ns, const char *name)
{
	CLEANUP(obj_unrefp) struct obj *s =
		obj_stringf("%s/%s/%s", kind, ns ? ns : "", name ? name : "");
	return xstrdup(obj_as_string(s));
}

static struct obj *get(void *arg, unsigned kind, const char *name)
{
	struct view_fake *f = arg;
	const char *text = map_get(f->watched[kind], name);
	return text ? parse(text) : NULL;
}

static void each(void *arg, unsigned kind, bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	struct view_fake *f = arg;
	for (struct map_entry *e = map_first(f->watched[kind]); e; e = map_next(e))
		if (!fn(fn_arg, str_of(e->value)))
			return;
}

static int live(void *arg, const struct resource *r, const char *ns, const char *name,
		struct obj **ret)
{
	struct view_fake *f = arg;
	CLEANUP(xfreep) char *key = live_key(r->kind, ns, name);
	const char *text = map_get(f->live, key);
	if (f->blind)
		return -1;
	if (text)
		*ret = parse(text);
	return text != NULL;
}

/* The plural of a kind is its name in small letters with an s. */
static bool is_of(const struct obj *o, const char *group, const char *plural)
{
	const char *kind = meta_kind(o), *version = meta_api_version(o);
	size_t n = strlen(kind);
	return !strncasecmp(plural, kind, n) && !strcmp(plural + n, "s") &&
	       cstr_has_prefix(version, group) && version[strlen(group)] == '/';
}

static bool instances(void *arg, const char *group, const char *plural,
		      bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	struct view_fake *f = arg;
	for (struct map_entry *e = map_first(f->watched[WATCH_INSTANCE]); e; e = map_next(e)) {
		CLEANUP(obj_unrefp) struct obj *o = parse(e->value);
		if (is_of(o, group, plural) && !fn(fn_arg, str_of(e->value)))
			break;
	}
	return true;
}

static bool owned(void *arg, const char *group, const char *plural, const char *name,
		  bool (*fn)(void *fn_arg, struct obj *o), void *fn_arg)
{
	struct view_fake *f = arg;
	const char *kind = NULL;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (cstr_eq(kinds[i].group, group) && cstr_eq(kinds[i].plural, plural))
			kind = kinds[i].kind;
	size_t n = kind ? strlen(kind) : 0;
	for (struct map_entry *e = map_first(f->live); e && kind && !f->blind; e = map_next(e))
		if (!strncmp(e->key, kind, n) && e->key[n] == '/' &&
		    !strcmp(strrchr(e->key, '/') + 1, name) && !fn(fn_arg, parse(e->value)))
			break;
	return !f->blind;
}

static const struct resource *resource(void *arg, const char *group, const char *version,
				       const char *kind)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (cstr_eq(kinds[i].group, group) && cstr_eq(kinds[i].kind, kind) &&
		    (!version || cstr_eq(kinds[i].version, version)))
			return &kinds[i];
	return NULL;
}

static int64_t left(void *arg, const char *id, int64_t deadline_ns, int64_t by_wall_ns)
{
	const struct view_fake *f = arg;
	if (f->settled && cstr_eq(id, "unit:begun"))
		return 0;
	return deadline_ns < by_wall_ns ? deadline_ns : by_wall_ns;
}

static int64_t head(void *arg, const char *uid)
{
	(void)arg;
	(void)uid;
	return 0;
}

static void digest(void *arg, const struct obj *o, char out[65])
{
	(void)arg;
	json_digest(o, out);
}

static const struct view_ops ops = {.get = get,
				    .each = each,
				    .live = live,
				    .instances = instances,
				    .owned = owned,
				    .resource = resource,
				    .left = left,
				    .head = head,
				    .digest = digest};

void view_fake_init(struct view_fake *f)
{
	*f = (struct view_fake){
		.a = arena_new((size_t)64 << 20), .stash = stash_new(), .live = map_new(xfree)};
	for (size_t i = 0; i < WATCHED_MAX; i++)
		f->watched[i] = map_new(xfree);
	f->settings.kube_version = "v1.33.1";
	f->settings.late_write_ns = LATE_WRITE_NS;
	f->view = (struct view){.a = f->a,
				.shared = &f->shared,
				.now_ns = INT64_C(1700000000000000000),
				.settings = &f->settings,
				.ops = &ops,
				.ops_arg = f,
				.stash = f->stash,
				.pass = &f->pass};
	plan_init(&f->plan, f->a);
	f->plan.as = VIEW_FAKE_ACCOUNT;
}

void view_fake_release(struct view_fake *f)
{
	for (size_t i = 0; i < WATCHED_MAX; i++)
		map_free(f->watched[i]);
	map_free(f->live);
	stash_free(f->stash);
	arena_free(f->a);
}

struct obj *view_fake_obj(struct view_fake *f, const char *json)
{
	return obj_keep(f->a, parse(json));
}

void view_fake_put(struct view_fake *f, unsigned kind, const char *json)
{
	map_set(f->watched[kind], meta_name(view_fake_obj(f, json)), xstrdup(json));
}

void view_fake_live_obj(struct view_fake *f, const struct obj *object)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(object);
	if (!meta_resource_version(o))
		obj_set_path(o, "metadata.resourceVersion", obj_string("1"));
	CLEANUP(xfreep) char *key = live_key(meta_kind(o), meta_namespace(o), meta_name(o));
	map_set(f->live, key, json_text(o));
}

void view_fake_live(struct view_fake *f, const char *json)
{
	view_fake_live_obj(f, view_fake_obj(f, json));
}

void view_fake_gone(struct view_fake *f, const char *kind, const char *ns, const char *name)
{
	CLEANUP(xfreep) char *key = live_key(kind, ns, name);
	map_del(f->live, key);
}

void view_fake_outcome(struct view_fake *f, const char *id, const char *json)
{
	stash_put(f->stash, id, NULL, STR_NONE, parse(json), f->view.now_ns);
}

struct plan *view_fake_plan(struct view_fake *f)
{
	plan_init(&f->plan, f->a);
	f->plan.as = VIEW_FAKE_ACCOUNT;
	f->pass = NULL;
	return &f->plan;
}

struct action *view_fake_action(struct view_fake *f, enum act_type type, const char *kind,
				const char *name)
{
	for (struct action *x = f->plan.head; x; x = x->next)
		if (x->type == type && (!kind || cstr_eq(x->resource.kind, kind)) &&
		    (!name || cstr_eq(x->name, name)))
			return x;
	return NULL;
}

size_t view_fake_count(struct view_fake *f, enum act_type type)
{
	size_t n = 0;
	for (struct action *x = f->plan.head; x; x = x->next)
		n += x->type == type;
	return n;
}

struct action *view_fake_work(struct view_fake *f, const struct work_kind *kind)
{
	struct action *x = f->plan.head;
	while (x && x->work != kind)
		x = x->next;
	return x;
}

size_t view_fake_works(struct view_fake *f, const struct work_kind *kind)
{
	size_t n = 0;
	for (const struct action *x = f->plan.head; x; x = x->next)
		n += x->work == kind;
	return n;
}

static void set(struct view_fake *f, const struct action *x, const struct obj *body)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(body);
	if (!meta_uid(o))
		obj_set_path(o, "metadata.uid",
			     obj_stringf("uid-%s-%s", x->resource.kind, x->name));
	obj_set_path(o, "metadata.resourceVersion", obj_stringf("%llu", ++f->writes));
	view_fake_live_obj(f, o);
}

static void merge(struct view_fake *f, const struct action *x)
{
	struct error err = ERROR_INIT;
	struct obj *old = NULL;
	CLEANUP(obj_unrefp) struct obj *merged = NULL;
	if (live(f, &x->resource, x->ns, x->name, &old) != 1)
		return;
	assert_ok(patch_merge(old, x->body, &merged, &err), &err);
	obj_unref(old);
	view_fake_live_obj(f, merged);
}

static struct obj *found(struct view_fake *f, const struct obj *rows)
{
	struct obj *list = obj_map();
	for (size_t i = 0; i < obj_len(rows); i++) {
		const struct obj *row = obj_at(rows, i);
		CLEANUP(xfreep) char *key = live_key(
			obj_str(row, "kind"), obj_str(row, "namespace"), obj_str(row, "name"));
		const char *text = map_get(f->live, key);
		if (text)
			obj_set(list, obj_str(row, "key"), parse(text));
	}
	return list;
}

void view_fake_survey(struct view_fake *f)
{
	for (struct action *x = f->plan.head; x; x = x->next)
		if (x->type == ACT_WORK && x->work == &survey_work)
			stash_put(f->stash, x->id, NULL, STR_NONE, found(f, x->body),
				  f->view.now_ns);
}

void view_fake_perform(struct view_fake *f)
{
	for (struct action *x = f->plan.head; x; x = x->next) {
		if (x->type == ACT_CREATE || x->type == ACT_APPLY)
			set(f, x, x->body);
		else if (x->type == ACT_PATCH)
			merge(f, x);
		else if (x->type == ACT_DELETE)
			view_fake_gone(f, x->resource.kind, x->ns, x->name);
		else if (x->type == ACT_FORGET && x->id)
			stash_drop(f->stash, x->id);
	}
}
