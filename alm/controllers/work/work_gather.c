/* Whatever has labels, of every kind whose objects can be listed and deleted: the metadata of each, with
 * apiVersion and kind. All lists, or none: what one did not tell would count as absent. So the kinds are
 * read anew before: somebody else may have brought one since. */
#include "alm/controllers/work/works.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"

/* Of its own: discovery may be read again meanwhile. */
struct gathering {
	struct resource *kinds;
	size_t n;
	bool asks; /* for them */
};
_Static_assert(sizeof(struct gathering) <= WORK_STATE_BYTES, "state");

static void gather_next(struct work *w);

static void end(struct work *w, const struct error *err)
{
	work_put(w, err, STR_NONE, err ? NULL : STEAL(w->found));
	work_done(w);
}

static void add_items(struct work *w, const struct resource *r, const struct obj *items)
{
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		struct obj *row = obj_map();
		obj_set(row, "apiVersion",
			*r->group ? obj_stringf("%s/%s", r->group, r->version)
				  : obj_string(r->version));
		obj_set_str(row, "kind", r->kind);
		obj_set(row, "metadata", obj_ref(obj_get(o, "metadata")));
		obj_append(w->found, row);
	}
}

static void gathered(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	const struct gathering *g = (const void *)w->state;
	w->call = NULL;
	if (reply->err) {
		end(w, reply->err);
		return;
	}
	add_items(w, &g->kinds[w->at - 1], obj_get(reply->body, "items"));
	gather_next(w);
}

static void gather_next(struct work *w)
{
	const struct gathering *g = (const void *)w->state;
	const char *selector = url_encode(str_of(obj_str(w->action->body, "selector")), w->a);
	if (w->at == g->n) {
		end(w, NULL);
		return;
	}
	w->call = client_list(w->client, &g->kinds[w->at++], NULL,
			      arena_fmt(w->a, "labelSelector=%s", selector), gathered, w);
}

/* One version of a kind has all of its objects. */
static bool is_asked(const struct work *w, const struct resource *r)
{
	return discovery_is_deletable(w->discovery, r) &&
	       discovery_kind(w->discovery, r->group, NULL, r->kind) == r;
}

static void known(void *arg, const struct error *failed)
{
	struct work *w = arg;
	size_t n;
	struct gathering *g = (void *)w->state;
	struct error err = ERROR_INIT;
	const struct resource *const *all = discovery_all(w->discovery, &n);
	const char *why = failed ? failed->msg : discovery_trouble(w->discovery);
	g->asks = false;
	if (why || !n) {
		error_set(&err, E_UNAVAILABLE, "the kinds: %s", why ? why : "none is served");
		end(w, &err);
		return;
	}
	g->kinds = ARENA_ARRAY(w->a, struct resource, n + 1);
	for (size_t i = 0; i < n; i++)
		if (is_asked(w, all[i]))
			g->kinds[g->n++] = resource_copy(all[i], w->a);
	gather_next(w);
}

static void start(struct work *w)
{
	struct gathering *g = (void *)w->state;
	g->asks = true;
	w->found = obj_list();
	discovery_refresh(w->discovery, known, w);
}

static void cancel(struct work *w)
{
	const struct gathering *g = (const void *)w->state;
	if (g->asks)
		discovery_cancel(w->discovery, w);
}

const struct work_kind gather_work = {.name = "gather", .start = start, .cancel = cancel};
