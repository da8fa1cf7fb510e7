/* run_left: what is left of watched objects that went while no process of this bundle ran, or whose process died
 * before the end of it: inventories that name an object of the watched kind (ANNOTATION_MAIN) which is not there.
 * Lists may be old, so they only say which to ask for: an object is gone when a read of it says so, and what the
 * watch leaves out is there. For the same reason it is looked again and again.
 *
 * A backup that is restored beside us brings inventories before the objects: only what two looks in a row miss is
 * ended, and no more of it at once than a unit may prune. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/client/informer.h"
#include "alm/controllers/run_internal.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/unit/inventory.h"
#include "crds/marks.h"

#define LEFT_LOOK_NS   NS_PER_MIN
#define LEFT_SECOND_NS (5 * NS_PER_S) /* nobody waits a minute at the beginning */
#define LEFT_PAGE      500
#define LEFT_PAGES_MAX 1000
#define GONE           "gone"

static const struct resource maps = {.group = "",
				     .version = "v1",
				     .plural = "configmaps",
				     .kind = "ConfigMap",
				     .namespaced = true};

static void ask_next(struct run *r);
static void list(struct run *r, const char *next);

/* The object that an inventory is of, if it is of the watched kind, and nobody here knows it. In the arena. */
static bool find_main(const struct run *r, const struct obj *inventory, struct arena *a,
		      const char **ret_ns, const char **ret_name)
{
	const struct keymap_resource *main = r->c.watch->map->main;
	const char *kind = inventory_main(main->api_version, main->kind, NULL, NULL, a);
	const char *of = meta_annotation(inventory, ANNOTATION_MAIN);
	const char *instance = meta_label(inventory, LABEL_INSTANCE);
	struct str ns, name;
	if (!instance || !cstr_has_prefix(of, kind) ||
	    !str_cut(str_of(of + strlen(kind)), '/', &ns, &name) || !name.len)
		return false;
	*ret_ns = arena_strndup(a, ns.ptr, ns.len);
	*ret_name = arena_strndup(a, name.ptr, name.len);
	CLEANUP(xfreep) char *key = run_unit_key(r, instance);
	return !map_has(r->units, key) && !informer_get(r->left.mains, *ret_ns, *ret_name);
}

/* --- the end of a look --- */

static bool is_too_much(const struct run *r)
{
	const struct obj *missing = r->left.missing;
	int64_t most = r->c.job.max_deletes;
	if (obj_len(missing) <= (uint64_t)most)
		return false;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%zu objects that were run for are gone, more than --max-deletes %lld",
		    obj_len(missing), (long long)most);
	OBJ_EACH (it, missing) {
		log_warn("what is left of them stays; if it is to go: a larger --max-deletes",
			 "error", b.buf, "first", it.key);
		break;
	}
	return true;
}

static void end_missing(struct run *r, const char *instance)
{
	CLEANUP(xfreep) char *key = run_unit_key(r, instance);
	if (!map_has(r->units, key) && map_count(r->units) < RUN_UNITS_MAX)
		run_unit_begin(run_unit_of(r, instance));
}

static bool is_gone(const struct obj *missing, const char *instance)
{
	return cstr_eq(obj_as_string(obj_get(missing, instance)), GONE);
}

/* err: not all was seen, so it was no look. */
static void end_look(struct run *r, const struct error *err)
{
	struct run_left *l = &r->left;
	bool first = !l->before;
	loop_arm(r->c.loop, &l->again, first && !err ? LEFT_SECOND_NS : LEFT_LOOK_NS);
	if (err) {
		log_warn("what went meanwhile is not known yet", "error", err->msg);
		obj_unref(STEAL(l->missing));
		return;
	}
	const struct obj *missing = l->missing;
	bool held = is_too_much(r);
	OBJ_EACH (it, missing)
		if (!held && is_gone(missing, it.key) && is_gone(l->before, it.key))
			end_missing(r, it.key);
	obj_unref(l->before);
	l->before = STEAL(l->missing);
}

/* --- page after page --- */

static void looked(void *arg, const struct client_reply *reply)
{
	struct run *r = arg;
	const struct obj *o = obj_at(obj_get(r->left.page, "items"), r->left.at++);
	r->left.call = NULL;
	/* one that could not be read counts as what may be gone, and stays */
	if (reply->err && obj_len(r->left.missing) < RUN_UNITS_MAX)
		obj_set_str(r->left.missing, meta_label(o, LABEL_INSTANCE),
			    reply->err->code == E_NOTFOUND ? GONE : "unknown");
	ask_next(r);
}

static void ask_next(struct run *r)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const struct resource *kind = informer_resource(r->left.mains);
	const struct obj *items = obj_get(r->left.page, "items");
	const char *ns, *name;
	for (; r->left.at < obj_len(items); r->left.at++)
		if (find_main(r, obj_at(items, r->left.at), a, &ns, &name)) {
			r->left.call = client_get(r->c.client, kind, kind->namespaced ? ns : NULL,
						  name, NULL, looked, r);
			return;
		}
	CLEANUP(obj_unrefp) struct obj *page = STEAL(r->left.page);
	const char *next = obj_str(obj_get(page, "metadata"), "continue");
	if (next && *next)
		list(r, next);
	else
		end_look(r, NULL);
}

static void listed(void *arg, const struct client_reply *reply)
{
	struct run *r = arg;
	r->left.call = NULL;
	if (reply->err) {
		end_look(r, reply->err);
		return;
	}
	r->left.at = 0;
	r->left.page = obj_copy(reply->body);
	ask_next(r);
}

/* Without what they hold, which is up to 1 MiB of each. */
static void list(struct run *r, const char *next)
{
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const struct client_options o = {.metadata_only = true};
	const char *selector = arena_fmt(a, LABEL_BUNDLE "=%s", r->c.bundle);
	const char *query = arena_fmt(
		a, "labelSelector=%s&limit=%d%s%s", url_encode(str_of(selector), a), LEFT_PAGE,
		next ? "&continue=" : "", next ? url_encode(str_of(next), a) : "");
	if (r->left.pages++ < LEFT_PAGES_MAX) {
		r->left.call = client_list_with(r->c.client, &maps, r->c.job.inventory_ns, query,
						&o, listed, r);
		return;
	}
	error_set(&err, E_LIMIT, "the list of inventories has no end");
	end_look(r, &err);
}

static void look(void *arg)
{
	struct run *r = arg;
	r->left.pages = 0;
	r->left.missing = obj_map();
	list(r, NULL);
}

void run_left_start(struct run *r, const struct informer *mains)
{
	r->left = (struct run_left){.mains = mains, .again = {.fn = look, .arg = r}};
	look(r);
}

void run_left_stop(struct run *r)
{
	loop_disarm(r->c.loop, &r->left.again);
	if (r->left.call)
		client_cancel(r->c.client, STEAL(r->left.call));
	obj_unref(STEAL(r->left.page));
	obj_unref(STEAL(r->left.missing));
	obj_unref(STEAL(r->left.before));
}
