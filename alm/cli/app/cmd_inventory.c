/*
 * `alm inventory rebuild BUNDLE`: what a Bundle has on the cluster is found again by its marks (fleet.md 2.6). The
 * controller does so by itself where its account may list every kind; this is for who may where it may not, and before
 * the next revision.
 */
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/app/bundle_inventory.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/unit/inventory.h"
#include "alm/unit/unit_make.h"
#include "crds/marks.h"

#define PAGE      500
#define PAGES_MAX 2000 /* of one list */

static const struct resource maps = {"", "v1", "configmaps", "ConfigMap", true};

struct rebuilding {
	struct bundle_ask *b;
	struct arena *a;
	const char *name, *target; /* of its ConfigMap */
	const struct obj *live;    /* it; NULL: it is not there */
	struct inventory_owner owner;
	const struct obj *identity; /* Namespace kube-system */
	struct obj *rows;
	size_t n_kinds;
};

/* --- what has its marks --- */

static void add_row(struct rebuilding *x, const struct resource *r, const struct obj *o)
{
	struct obj *row = obj_map();
	obj_set(row, "apiVersion",
		*r->group ? obj_stringf("%s/%s", r->group, r->version) : obj_string(r->version));
	obj_set_str(row, "kind", r->kind);
	obj_set(row, "metadata", obj_ref(obj_get(o, "metadata")));
	obj_append(x->rows, row);
}

static int list_kind(struct rebuilding *x, const struct resource *r, struct error *err)
{
	const char *labels = arena_fmt(x->a, LABEL_BUNDLE "=%s", x->b->name), *next = "";
	labels = url_encode(str_of(labels), x->a);
	for (size_t pages = 0; next; pages++) {
		const struct obj *list = NULL;
		const char *query = arena_fmt(x->a, "labelSelector=%s&limit=%d%s%s", labels, PAGE,
					      *next ? "&continue=" : "", next);
		if (pages >= PAGES_MAX)
			return error_set(err, E_LIMIT, "%s: the list has no end", r->plural);
		if (session_get(x->b->session, session_target(x->b->session, r, NULL, NULL, query),
				&list, err) < 0)
			return error_wrap(err, "%s", r->plural);
		const struct obj *items = obj_get(list, "items");
		for (size_t i = 0; i < obj_len(items); i++)
			add_row(x, r, obj_at(items, i));
		const char *more = obj_str(list, "metadata.continue");
		next = more && *more ? url_encode(str_of(more), x->a) : NULL;
	}
	x->n_kinds++;
	return 0;
}

/* All lists, or none: what one did not tell would be left behind for good. */
static int list_all(struct rebuilding *x, struct error *err)
{
	size_t n;
	const struct discovery *d = session_discovery(x->b->session, err);
	const char *why = d ? discovery_trouble(d) : NULL;
	if (!d)
		return -err->code;
	if (why)
		return error_set(err, E_UNAVAILABLE, "the kinds: %s", why);
	const struct resource *const *all = discovery_all(d, &n);
	for (size_t i = 0; i < n; i++) /* one version of a kind has all of its objects */
		if (discovery_is_deletable(d, all[i]) &&
		    discovery_kind(d, all[i]->group, NULL, all[i]->kind) == all[i] &&
		    list_kind(x, all[i], err) < 0)
			return -err->code;
	return 0;
}

/* --- what there is --- */

static int read_owner(struct rebuilding *x, struct error *err)
{
	struct session *s = x->b->session;
	if (session_get(s, "/api/v1/namespaces/kube-system", &x->identity, err) < 0)
		return error_wrap(err, "the identity of the cluster");
	const char *hub = unit_hub(meta_uid(x->identity), x->a);
	x->owner = (struct inventory_owner){
		.id = unit_owner_id(hub, x->b->name, BUNDLE_INSTANCE, x->a),
		.manager = unit_manager(hub, x->b->name, x->a),
		.book_ns = SYSTEM_NAMESPACE,
		.book = x->name};
	return 0;
}

static int read_book(struct rebuilding *x, struct error *err)
{
	x->name = arena_fmt(x->a, "inv.%s." BUNDLE_INSTANCE, x->b->name);
	x->target = session_target(x->b->session, &maps, SYSTEM_NAMESPACE, x->name, NULL);
	if (session_get(x->b->session, x->target, &x->live, err) < 0 && err->code != E_NOTFOUND)
		return -err->code;
	*err = ERROR_INIT;
	return meta_annotation(x->live, ANNOTATION_PIECES)
		       ? error_set(err, E_REFUSED,
				   "the inventory lies in several ConfigMaps, which only the "
				   "controller rebuilds: at the next revision")
		       : 0;
}

/* --- what is written --- */

static struct obj *book_of(const struct rebuilding *x, struct str lines)
{
	struct obj *o =
		x->live ? obj_map() : meta_skeleton("v1", "ConfigMap", SYSTEM_NAMESPACE, x->name);
	obj_set_path(o, "data.objects", obj_stringn(lines));
	if (x->live) { /* as it was read: a run may have written it meanwhile */
		obj_set_path(o, "metadata.resourceVersion",
			     obj_string(meta_resource_version(x->live)));
		obj_set_path(o, "metadata.uid", obj_string(meta_uid(x->live)));
	} else {
		meta_set_label(o, LABEL_BUNDLE, x->b->name);
		meta_set_label(o, LABEL_INSTANCE, BUNDLE_INSTANCE);
		meta_set_annotation(o, ANNOTATION_OWNER_ID, x->owner.id);
		meta_set_annotation(o, "app.coreos.com/identity", meta_uid(x->identity));
	}
	if (inventory_is_incomplete(x->live))
		meta_set_annotation(o, ANNOTATION_INCOMPLETE, "false");
	return o;
}

static int write_book(const struct rebuilding *x, const struct inventory *all, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(INVENTORY_BYTES_MAX);
	struct inventory_pieces now = {.lines = *all};
	const struct inventory_pieces was = {.n = 1};
	struct session_reply reply;
	if (inventory_place(&now, &was, INVENTORY_BYTES_MAX, x->a, err) < 0)
		return -err->code;
	if (now.n > 1)
		return error_set(err, E_LIMIT,
				 "%zu objects take more than one ConfigMap, which only the "
				 "controller writes: at the next revision",
				 all->n);
	inventory_print(&now.lines, 1, &b);
	CLEANUP(obj_unrefp) struct obj *o = book_of(x, strbuf_str(&b));
	const char *of =
		x->live ? x->target
			: session_target(x->b->session, &maps, SYSTEM_NAMESPACE, NULL, NULL);
	const struct session_request q = {.method = x->live ? "PATCH" : "POST",
					  .target = arena_fmt(x->a, "%s?fieldManager=alm-cli", of),
					  .content_type = x->live ? MERGE_PATCH : NULL,
					  .body = o};
	return session_send(x->b->session, &q, &reply, err);
}

static int rebuild(struct rebuilding *x, struct error *err)
{
	struct bundle_inventory had;
	bool only_tried = cli_flag(x->b->c, "dry-run");
	if (read_book(x, err) < 0 || read_owner(x, err) < 0 ||
	    bundle_inventory_read(x->b->session, x->b->name, x->a, &had, err) < 0)
		return -err->code;
	if (list_all(x, err) < 0)
		return error_wrap(err, "not rebuilt, as not all could be listed");
	const struct inventory found = inventory_found(x->rows, &x->owner, x->a);
	struct inventory all = {
		.lines = ARENA_ARRAY(x->a, struct inventory_line, had.objects.n + found.n + 1)};
	(void)inventory_add_missing(&all, &had.objects, &(struct inventory){0}, x->a);
	size_t added = inventory_add_missing(&all, &found, &had.objects, x->a);
	bool writes = added || !x->live || inventory_is_incomplete(x->live);
	for (size_t i = had.objects.n; i < all.n; i++)
		term_print("%s\n", inventory_id(&all.lines[i], x->a));
	if (writes && !only_tried && write_book(x, &all, err) < 0)
		return error_wrap(err, "ConfigMap " SYSTEM_NAMESPACE "/%s", x->name);
	term_print("inventory of bundle %s: %zu objects%s, %zu of them were not in it; %zu kinds "
		   "were listed%s\n",
		   x->b->name, all.n, only_tried ? " would be named" : "", added, x->n_kinds,
		   only_tried ? "; nothing is written"
		   : writes   ? ""
			      : "; it is as it was");
	return 0;
}

static int run_rebuild(struct cli *c, struct error *err)
{
	struct bundle_ask b;
	int r = bundle_ask_open_one(c, &b, err);
	if (!r) {
		struct rebuilding x = {
			.b = &b, .a = c->arena, .rows = obj_keep(c->arena, obj_list())};
		r = rebuild(&x, err);
	}
	bundle_ask_release(&b);
	return r;
}

static const struct cmd_option options[] = {
	{"dry-run", NULL, "print what was found, write nothing", 0},
	{0},
};

static const struct cmd cmd_rebuild = {
	.name = "rebuild",
	.usage = "alm inventory rebuild BUNDLE [--dry-run]",
	.summary = "find again what a Bundle has on the cluster, by its marks",
	.description =
		"Lists every kind that can be listed and deleted by the label of the Bundle. What "
		"the Bundle has applied goes into its inventory, beside what that names already; "
		"what was only copied with its labels does not. One list that fails: nothing is "
		"written. The next revision makes nothing anew, and deletes what it has not, as "
		"spec.prune allows.",
	.examples = "alm inventory rebuild web --dry-run",
	.options = options,
	.args = {1, 2},
	.run = run_rebuild,
};

static const struct cmd *const subs[] = {&cmd_rebuild, NULL};

const struct cmd cmd_inventory = {
	.name = "inventory",
	.usage = "alm inventory rebuild BUNDLE",
	.summary = "what a Bundle has on the cluster, found again where that was lost",
	.subs = subs,
};
