/* Whatever has labels, of every kind whose objects can be listed and deleted: the metadata of each, with
 * apiVersion and kind. All lists, or none: what one did not tell would count as absent. */
#include "alm/controllers/work/works.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"

/* Of its own: discovery may be read again meanwhile. */
struct gathering {
	struct resource *kinds;
	size_t n;
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

static void start(struct work *w)
{
	size_t n;
	struct gathering *g = (void *)w->state;
	struct error err = ERROR_INIT;
	const struct resource *const *all = discovery_all(w->discovery, &n);
	const char *why = discovery_trouble(w->discovery);
	w->found = obj_list();
	if (why || !n) {
		error_set(&err, E_UNAVAILABLE, "the kinds: %s", why ? why : "not known yet");
		end(w, &err);
		return;
	}
	g->kinds = ARENA_ARRAY(w->a, struct resource, n + 1);
	for (size_t i = 0; i < n; i++)
		if (is_asked(w, all[i]))
			g->kinds[g->n++] = resource_copy(all[i], w->a);
	gather_next(w);
}

const struct work_kind gather_work = {.name = "gather", .start = start};
