#include "alm/cli/app/offline_view.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/cli/catalog_source.h"
#include "alm/cli/kube/manifest.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

struct offline {
	struct cli *c;
	struct map *kinds[WATCHED_MAX]; /* name -> struct obj * */
	struct manifest manifest;
	struct view view;
	struct shared shared;
	struct view_settings settings;
	const struct catalog_index *indexes[OFFLINE_CATALOGS_MAX];
	void *pass;
};

/* --- what the files hold --- */

static const struct {
	const char *group, *kind;
	unsigned watched;
} known[] = {
	{"app.coreos.com", "AppType", WATCH_APPTYPE},
	{"opinstaller.coreos.com", "InstallStrategy", WATCH_STRATEGY},
	{"app.coreos.com", "Catalog", WATCH_CATALOG},
	{"apiextensions.k8s.io", "CustomResourceDefinition", WATCH_CRD},
	{"", "Namespace", WATCH_NAMESPACE},
};

static void put(struct offline *x, unsigned kind, const struct obj *o)
{
	map_set(x->kinds[kind], meta_name(o), obj_ref(o));
}

static const struct obj *find(const struct offline *x, unsigned kind, const char *name)
{
	return map_get(x->kinds[kind], name);
}

static int sort_manifests(struct offline *x, struct error *err)
{
	for (size_t i = 0; i < x->manifest.n; i++) {
		const struct manifest_item *m = &x->manifest.items[i];
		struct gvk g;
		if (!gvk_of(m->o, x->c->arena, &g) || !meta_name(m->o))
			return error_set(err, E_INVALID, "%s:%d: no object with kind and name",
					 m->file, m->line);
		for (size_t k = 0; k < ARRAY_LEN(known); k++)
			if (cstr_eq(g.group, known[k].group) && cstr_eq(g.kind, known[k].kind))
				put(x, known[k].watched, m->o);
	}
	return 0;
}

/* --- the operations of the view --- */

static struct obj *op_get(void *arg, unsigned kind, const char *name)
{
	const struct offline *x = arg;
	const struct obj *o = find(x, kind, name);
	return o ? obj_copy(o) : NULL;
}

static void op_each(void *arg, unsigned kind, bool (*fn)(void *fn_arg, struct str json),
		    void *fn_arg)
{
	const struct offline *x = arg;
	CLEANUP(xfreep) struct map_entry **all = map_sorted(x->kinds[kind]);
	for (size_t i = 0; i < map_count(x->kinds[kind]); i++) {
		CLEANUP(xfreep) char *text = json_text(all[i]->value);
		if (!fn(fn_arg, str_of(text)))
			return;
	}
}

static int op_live(void *arg, const struct resource *r, const char *ns, const char *name,
		   struct obj **ret)
{
	(void)arg;
	(void)r;
	(void)ns;
	(void)name;
	(void)ret;
	return -1;
}

/* Those in the files; none of them: nobody knows how many there are. */
static bool op_instances(void *arg, const char *group, const char *plural,
			 bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	const struct offline *x = arg;
	const struct obj *crd = find(x, WATCH_CRD, arena_fmt(x->c->arena, "%s.%s", plural, group));
	const char *kind = obj_str(crd, "spec.names.kind");
	bool found = false;
	for (size_t i = 0; kind && i < x->manifest.n; i++) {
		const struct obj *o = x->manifest.items[i].o;
		struct gvk g;
		if (!gvk_of(o, x->c->arena, &g) || !cstr_eq(g.group, group) ||
		    !cstr_eq(g.kind, kind))
			continue;
		CLEANUP(xfreep) char *text = json_text(o);
		found = true;
		if (!fn(fn_arg, str_of(text)))
			break;
	}
	return found;
}

static const struct view_ops operations = {
	.get = op_get, .each = op_each, .live = op_live, .instances = op_instances};

/* --- catalogs --- */

static void free_source(void *p)
{
	catalog_source_free(p);
}

static int add_catalog(struct offline *x, const char *name, const char *source, int64_t priority,
		       struct error *err)
{
	struct catalog_source *s = NULL;
	if (x->shared.n_indexes == OFFLINE_CATALOGS_MAX)
		return error_set(err, E_LIMIT, "more than %d catalogs", OFFLINE_CATALOGS_MAX);
	if (catalog_source_read(x->c, source, &s, err) < 0)
		return error_wrap(err, "catalog %s", name);
	arena_defer(x->c->arena, free_source, s);
	struct catalog_index *copy =
		arena_memdup(x->c->arena, catalog_source_index(s), sizeof(struct catalog_index));
	copy->name = name;
	copy->priority = priority;
	x->indexes[x->shared.n_indexes++] = copy;
	return 0;
}

static int read_catalogs(struct offline *x, struct error *err)
{
	const char *source;
	for (size_t i = 0; (source = cli_value_at(x->c, "catalog", i)); i++) {
		struct str name, place;
		bool named = str_cut(str_of(source), '=', &name, &place) &&
			     !memchr(name.ptr, '/', name.len);
		const char *label = named ? arena_text(x->c->arena, name.ptr, name.len) : source;
		if (add_catalog(x, label, named ? place.ptr : source, 0, err) < 0)
			return -err->code;
	}
	CLEANUP(xfreep) struct map_entry **all = map_sorted(x->kinds[WATCH_CATALOG]);
	for (size_t i = 0; i < map_count(x->kinds[WATCH_CATALOG]); i++) {
		const char *url = obj_str(all[i]->value, "spec.source.url");
		bool given = false;
		for (size_t k = 0; k < x->shared.n_indexes; k++)
			given = given || !strcmp(x->indexes[k]->name, all[i]->key);
		if (url && !given &&
		    add_catalog(x, all[i]->key, url, obj_i64(all[i]->value, "spec.priority", 0),
				err) < 0)
			return -err->code;
	}
	if (!x->shared.n_indexes)
		return error_set(err, E_USAGE,
				 "--offline needs a catalog: --catalog SOURCE, or -f FILE with a "
				 "Catalog");
	return 0;
}

/* --- the app --- */

/* Without an AppType: the type that a package names for an app of this name. */
static const char *type_of(const struct offline *x, const char *app)
{
	size_t n = strlen(app);
	for (size_t i = 0; i < x->shared.n_indexes; i++)
		for (size_t k = 0; k < x->indexes[i]->n_app_types; k++) {
			const char *self_ref = x->indexes[i]->app_types[k].key;
			if (!strncmp(self_ref, app, n) && self_ref[n] == '.')
				return self_ref + n + 1;
		}
	for (size_t i = 0; i < x->shared.n_indexes; i++) {
		size_t found;
		index_package(x->indexes[i], app, &found);
		if (found)
			return "offline";
	}
	return NULL;
}

static int check_range(const char *range, struct arena *a, struct error *err)
{
	struct range ignored;
	return range_parse(str_of(range), a, &ignored, err) < 0
		       ? error_set(err, E_USAGE, "--range: %s", err->msg)
		       : 0;
}

static int put_app(struct offline *x, const char *app, struct error *err)
{
	const struct obj *given = find(x, WATCH_APPTYPE, app);
	const char *type = given ? "" : type_of(x, app);
	const char *range = cli_value(x->c, "range"), *channel = cli_value(x->c, "channel");
	if (!type)
		return error_set(err, E_NOTFOUND,
				 "no catalog has a package for an app named %s; name its AppType "
				 "with -f FILE",
				 app);
	if (range && check_range(range, x->c->arena, err) < 0)
		return -err->code;
	struct obj *o = given ? obj_copy(given)
			      : meta_skeleton("app.coreos.com/v1beta1", "AppType", NULL, app);
	obj_keep(x->c->arena, o);
	if (!given)
		obj_set_path(o, "spec.type", obj_string(type));
	if (range)
		obj_set_path(o, "spec.version", obj_string(range));
	if (channel)
		obj_set_path(o, "spec.channel", obj_string(channel));
	put(x, WATCH_APPTYPE, o);
	return 0;
}

static const struct package_version *entry_of(struct offline *x, const char *app,
					      const char *version)
{
	struct resolution r;
	resolve_run(app_input(&x->view, app, NULL), x->c->arena, &r);
	for (size_t i = 0; i < r.n; i++)
		if (!strcmp(r.candidates[i].version, version))
			return r.candidates[i].entry;
	return NULL;
}

/* A strategy as ALM would have left it. */
static int put_installed(struct offline *x, const char *app, struct error *err)
{
	const char *version = cli_value(x->c, "installed");
	if (!version)
		return 0;
	const struct package_version *p = entry_of(x, app, version);
	if (!p)
		return error_set(err, E_NOTFOUND,
				 "--installed %s: no catalog has this version for %s", version,
				 app);
	struct obj *o = meta_skeleton("opinstaller.coreos.com/v1beta1", "InstallStrategy", NULL,
				      arena_fmt(x->c->arena, "install.%s.%s", version, app));
	struct obj *resources = obj_list();
	obj_keep(x->c->arena, o);
	meta_set_annotation(o, ANNOTATION_MADE_BY, "alm");
	obj_set_path(o, "spec.appTypeRef.name", obj_string(app));
	obj_set_path(o, "spec.version", obj_string(version));
	obj_set_path(o, "spec.strategy.sha256", obj_string(p->digest));
	for (size_t i = 0; i < p->n_provides; i++)
		obj_append(resources, obj_string(p->provides[i]));
	obj_set_path(o, "spec.resources", resources);
	obj_set_path(o, "status.phase", obj_string("Succeeded"));
	obj_set_path(o, "status.revision", obj_int(INT32_MAX));
	put(x, WATCH_STRATEGY, o);
	return 0;
}

/* What is installed is served, also if no file has the definition. */
static void put_served(struct offline *x, const char *resource)
{
	struct resource_ref ref;
	struct arena *a = x->c->arena;
	if (!resource_ref_parse(resource, a, &ref))
		return;
	const char *name = arena_fmt(a, "%s.%s", ref.plural, ref.group);
	const struct obj *given = find(x, WATCH_CRD, name);
	if (given && !obj_path(given, "spec.assumed"))
		return;
	struct obj *o = given ? obj_copy(given)
			      : meta_skeleton("apiextensions.k8s.io/v1", "CustomResourceDefinition",
					      NULL, name);
	struct obj *versions = given ? obj_copy(obj_path(given, "spec.versions")) : obj_list();
	struct obj *v = obj_map();
	obj_keep(a, o);
	obj_set_str(v, "name", ref.version);
	obj_set_bool(v, "served", true);
	obj_append(versions, v);
	obj_set_path(o, "spec.assumed", obj_bool(true));
	obj_set_path(o, "spec.versions", versions);
	put(x, WATCH_CRD, o);
}

static void put_assumed(struct offline *x)
{
	for (struct map_entry *e = map_first(x->kinds[WATCH_STRATEGY]); e; e = map_next(e)) {
		const struct obj *list = obj_path(e->value, "spec.resources");
		if (phase_of(e->value) != PHASE_SUCCEEDED)
			continue;
		for (size_t i = 0; i < obj_len(list); i++)
			if (obj_as_string(obj_at(list, i)))
				put_served(x, obj_as_string(obj_at(list, i)));
	}
}

static void unref(void *p)
{
	obj_unref(p);
}

static void free_map(void *p)
{
	map_free(p);
}

int offline_view_open(struct cli *c, const char *app, struct view **ret, struct error *err)
{
	struct offline *x = ARENA_NEW(c->arena, struct offline);
	x->c = c;
	for (size_t i = 0; i < WATCHED_MAX; i++) {
		x->kinds[i] = map_new(unref);
		arena_defer(c->arena, free_map, x->kinds[i]);
	}
	if (cli_value(c, "filename") &&
	    (manifest_read(c, &x->manifest, err) < 0 || sort_manifests(x, err) < 0))
		return -err->code;
	x->settings.kube_version = cli_value(c, "kube-version");
	x->shared = (struct shared){.indexes = x->indexes};
	x->view = (struct view){.a = c->arena,
				.now_ns = audit_source_now_us() * NS_PER_US,
				.settings = &x->settings,
				.ops = &operations,
				.ops_arg = x,
				.shared = &x->shared,
				.pass = &x->pass};
	if (read_catalogs(x, err) < 0)
		return -err->code;
	if (put_app(x, app, err) < 0 || put_installed(x, app, err) < 0)
		return -err->code;
	put_assumed(x);
	*ret = &x->view;
	return 0;
}
