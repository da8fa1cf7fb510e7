#include "alm/cli/app/bundle_rows.h"

#include "alm/base/map.h"
#include "alm/cli/app/bundle_inventory.h"
#include "alm/cli/app/bundle_row.h"
#include "alm/cli/kube/printer.h"
#include "alm/io/http.h"
#include "alm/io/loop.h"
#include "alm/obj/meta.h"
#include "alm/unit/workload.h"
#include "crds/marks.h"

struct reading {
	struct session *s;
	struct arena *a;
	const struct obj *bundle;
	struct map *live;   /* "apps/v1 Deployment NS/NAME" -> its object */
	struct map *kinds;  /* "apps/v1 Deployment" -> struct kind */
	struct map *events; /* namespace -> where its list is; asked for once */
	size_t n_around;
};

/* What was read of a kind. */
struct kind {
	struct resource r;
	const char *unreadable; /* NULL: its list is in live */
};

static const char *id_of(const struct reading *x, const char *kind, const char *ns,
			 const char *name)
{
	return arena_fmt(x->a, "%s %s/%s", kind, ns ? ns : "", name);
}

/* --- reading --- */

static const struct obj *get_list(const struct reading *x, const struct resource *r, const char *ns,
				  const char *selector, struct error *err)
{
	const struct obj *list = NULL;
	const char *query =
		selector ? arena_fmt(x->a, "labelSelector=%s", url_encode(str_of(selector), x->a))
			 : NULL;
	return session_get(x->s, session_target(x->s, r, ns, NULL, query), &list, err) < 0
		       ? NULL
		       : obj_get(list, "items");
}

/* What the marks find, in one request. */
static struct kind *read_kind(struct reading *x, const char *name, const struct inventory_line *l)
{
	struct error why = ERROR_INIT;
	struct kind *k = ARENA_NEW(x->a, struct kind);
	const struct obj *skeleton =
		obj_keep(x->a, meta_skeleton(l->api_version, l->kind, l->ns, l->name));
	*k = (struct kind){0};
	const struct obj *items = NULL;
	if (session_kind(x->s, skeleton, &k->r, &why) == 0)
		items = get_list(x, &k->r, NULL,
				 arena_fmt(x->a, LABEL_BUNDLE "=%s", meta_name(x->bundle)), &why);
	if (!items)
		k->unreadable = arena_strdup(x->a, why.msg);
	for (size_t i = 0; i < obj_len(items); i++) {
		struct obj *o = obj_keep(x->a, obj_copy(obj_at(items, i)));
		obj_set_str(o, "kind", l->kind); /* items of a list do not say */
		map_set(x->live, id_of(x, name, meta_namespace(o), meta_name(o)), o);
	}
	return k;
}

/* What somebody took the mark off is not in that list. */
static const struct obj *read_one(const struct reading *x, const struct kind *k,
				  const struct inventory_line *l, const char **ret_unreadable)
{
	struct error why = ERROR_INIT;
	const struct obj *o = NULL;
	if (session_get(x->s, session_target(x->s, &k->r, l->ns, l->name, NULL), &o, &why) < 0 &&
	    why.code != E_NOTFOUND)
		*ret_unreadable = arena_strdup(x->a, why.msg);
	return o;
}

/* One list a namespace, however many of its objects are not ready. */
static const struct obj *events_of(struct reading *x, const char *ns)
{
	static const struct resource events = {"", "v1", "events", "Event", true};
	struct error ignored = ERROR_INIT;
	const struct obj **list = map_get(x->events, ns);
	if (!list) {
		list = ARENA_NEW(x->a, const struct obj *);
		*list = get_list(x, &events, ns, NULL, &ignored);
		map_set(x->events, ns, list);
	}
	return *list;
}

static void look_around(struct reading *x, const struct obj *live, struct failure_facts *ret)
{
	static const struct resource pods = {"", "v1", "pods", "Pod", true},
				     sets = {"apps", "v1", "replicasets", "ReplicaSet", true};
	struct error ignored = ERROR_INIT;
	const char *ns = meta_namespace(live), *selector = workload_selector(live, x->a);
	if (!workload_has_pods(meta_kind(live)) || !selector || x->n_around >= BUNDLE_ROWS_AROUND)
		return;
	x->n_around++;
	ret->pods = get_list(x, &pods, ns, selector, &ignored);
	ret->replica_sets = get_list(x, &sets, ns, selector, &ignored);
	ret->events = events_of(x, ns);
}

static struct obj *read_row(struct reading *x, const struct inventory_line *l, int64_t now_ns)
{
	const char *name = arena_fmt(x->a, "%s %s", l->api_version, l->kind);
	struct kind *k = map_get(x->kinds, name);
	if (!k) {
		k = read_kind(x, name, l);
		map_set(x->kinds, name, k);
	}
	struct bundle_row_input in = {
		.bundle = x->bundle, .line = l, .unreadable = k->unreadable, .now_ns = now_ns};
	in.live = map_get(x->live, id_of(x, name, l->ns, l->name));
	if (!in.live && !in.unreadable)
		in.live = read_one(x, k, l, &in.unreadable);
	if (in.live && !bundle_row_is_ready(in.live, x->a))
		look_around(x, in.live, &in.around);
	return bundle_row(&in, x->a);
}

/* --- all --- */

int bundle_rows_read(struct session *s, const struct obj *bundle, struct arena *a, struct obj **ret,
		     struct error *err)
{
	CLEANUP(map_freep) struct map *live = map_new(NULL);
	CLEANUP(map_freep) struct map *kinds = map_new(NULL);
	CLEANUP(map_freep) struct map *events = map_new(NULL);
	struct reading x = {
		.s = s, .a = a, .bundle = bundle, .live = live, .kinds = kinds, .events = events};
	struct bundle_inventory i;
	int64_t now_ns = loop_now(session_loop(s));
	const struct obj *orphans = obj_path(bundle, "status.orphans");
	if (bundle_inventory_read(s, meta_name(bundle), a, &i, err) < 0)
		return -err->code;
	bundle_inventory_miss(&i, bundle, a);
	bundle_inventory_sort(&i);
	struct obj *o = obj_map(), *list = obj_list();
	for (size_t k = 0; k < i.objects.n; k++)
		obj_append(list, read_row(&x, &i.objects.lines[k], now_ns));
	for (size_t k = 0; k < obj_len(orphans); k++)
		obj_append(list, bundle_row_orphan(obj_at(orphans, k), now_ns, a));
	obj_set_str(o, "bundle", meta_name(bundle));
	obj_set(o, "objects", list);
	if (i.blind)
		obj_set_str(o, "incomplete", i.blind);
	*ret = o;
	return 0;
}

void bundle_rows_print(const struct obj *rows, int64_t now_ns, struct arena *a, struct strbuf *b)
{
	static const char *const headers[] = {"OBJECT", "CLUSTER", "STATE", "LAST CHANGE", "WHY"};
	const struct obj *list = obj_get(rows, "objects");
	struct grid g;
	grid_init(&g, a);
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		grid_column(&g, headers[i]);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *row = obj_at(list, i);
		const char *why = obj_str(row, "why");
		const char *cells[] = {obj_str(row, "object"), obj_str(row, "cluster"),
				       obj_str(row, "state"), bundle_row_change(row, now_ns, a),
				       *why ? why : "-"};
		grid_row(&g, cells);
	}
	if (obj_len(list))
		grid_print(&g, true, b);
}
