/* The metadata of what there is of every kind whose objects can be listed and deleted, with apiVersion and
 * kind: of whatever has labels, or of what may be nobody's in some namespaces (stray.h). All lists, or
 * none: what one did not tell would count as absent. So the kinds are read anew before: somebody else may
 * have brought one since.
 *
 * Of more than a few namespaces a kind is listed once, of all: what lies elsewhere is dropped as it
 * comes. Who may not do that lists one after the other. */
#include "alm/controllers/work/works.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/unit/stray.h"

#define APART_MAX 4 /* namespaces that are listed one by one in any case */
#define PAGE      500
#define PAGES_MAX 2000 /* of one list */

/* Of its own: discovery may be read again meanwhile. */
struct gathering {
	struct resource *kinds;
	size_t n;
	const struct obj *namespaces; /* NULL: all */
	size_t at;                    /* of the kind that is listed: the namespace */
	const char *page;             /* NULL: the first; in the arena */
	size_t pages;
	bool asks; /* for the kinds */
	bool wide; /* a list has all namespaces */
};
_Static_assert(sizeof(struct gathering) <= WORK_STATE_BYTES, "state");

static void list(struct work *w);

static void end(struct work *w, const struct error *err)
{
	work_put(w, err, STR_NONE, err ? NULL : STEAL(w->found));
	work_done(w);
}

static void fail(struct work *w, int code, const char *what, const char *why)
{
	struct error err = ERROR_INIT;
	error_set(&err, code, "%s: %s", what, why);
	end(w, &err);
}

/* --- what came --- */

static void name_kind(struct obj *row, const struct resource *r)
{
	obj_set(row, "apiVersion",
		*r->group ? obj_stringf("%s/%s", r->group, r->version) : obj_string(r->version));
	obj_set_str(row, "kind", r->kind);
}

static void add_item(struct work *w, const struct resource *r, const struct obj *o)
{
	const struct gathering *g = (const void *)w->state;
	struct obj *row = obj_map();
	name_kind(row, r);
	obj_set(row, "metadata", obj_ref(obj_get(o, "metadata")));
	if (!g->namespaces) {
		obj_append(w->found, row);
		return;
	}
	if (!stray_spares(row, g->namespaces))
		obj_append(w->found, stray_row(row));
	obj_unref(row);
}

static const char *page_after(struct work *w, const struct obj *body)
{
	const char *next = obj_str(body, "metadata.continue");
	return next && *next ? arena_strdup(w->a, next) : NULL;
}

/* What is listed next; false: nothing. */
static bool step(struct work *w)
{
	struct gathering *g = (void *)w->state;
	size_t n = g->namespaces && !g->wide ? obj_len(g->namespaces) : 1;
	g->pages = 0;
	if (++g->at >= n) {
		g->at = 0;
		w->at++;
	}
	return w->at < g->n;
}

static void listed(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	struct gathering *g = (void *)w->state;
	const struct resource *r = &g->kinds[w->at];
	w->call = NULL;
	if (reply->err && reply->err->code == E_FORBIDDEN && g->wide) {
		g->wide = false;
		g->page = NULL;
		list(w);
		return;
	}
	if (reply->err) {
		struct error err = *reply->err;
		error_wrap(&err, "%s", r->plural);
		end(w, &err);
		return;
	}
	const struct obj *items = obj_get(reply->body, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		add_item(w, r, obj_at(items, i));
	g->page = page_after(w, reply->body);
	if (g->namespaces && obj_len(w->found) > STRAY_ROWS_MAX)
		fail(w, E_LIMIT, r->plural, "there is more in the namespaces than is looked at");
	else if (g->page && ++g->pages >= PAGES_MAX)
		fail(w, E_LIMIT, r->plural, "the list has no end");
	else if (g->page || step(w))
		list(w);
	else
		end(w, NULL);
}

/* --- what is asked --- */

static const char *query_of(struct work *w)
{
	const struct gathering *g = (const void *)w->state;
	const char *selector = obj_str(w->action->body, "selector");
	const char *labels =
		selector ? arena_fmt(w->a, "labelSelector=%s&", url_encode(str_of(selector), w->a))
			 : "";
	const char *page =
		g->page ? arena_fmt(w->a, "&continue=%s", url_encode(str_of(g->page), w->a)) : "";
	return arena_fmt(w->a, "%slimit=%d%s", labels, PAGE, page);
}

static void list(struct work *w)
{
	const struct gathering *g = (const void *)w->state;
	const struct client_options o = {.as = w->action->as, .metadata_only = true};
	bool apart = g->namespaces && !g->wide;
	const char *ns = apart ? obj_as_string(obj_at(g->namespaces, g->at)) : NULL;
	w->call = client_list_with(w->client, &g->kinds[w->at], ns, query_of(w), &o, listed, w);
}

/* One version of a kind has all of its objects. */
static bool is_asked(const struct work *w, const struct resource *r)
{
	const struct gathering *g = (const void *)w->state;
	return discovery_is_deletable(w->discovery, r) && (!g->namespaces || r->namespaced) &&
	       discovery_kind(w->discovery, r->group, NULL, r->kind) == r;
}

static void known(void *arg, const struct error *failed)
{
	struct work *w = arg;
	size_t n;
	struct gathering *g = (void *)w->state;
	const struct resource *const *all = discovery_all(w->discovery, &n);
	const char *why = failed ? failed->msg : discovery_trouble(w->discovery);
	g->asks = false;
	if (why || !n) {
		fail(w, E_UNAVAILABLE, "the kinds", why ? why : "none is served");
		return;
	}
	g->kinds = ARENA_ARRAY(w->a, struct resource, n + 1);
	for (size_t i = 0; i < n; i++)
		if (is_asked(w, all[i]))
			g->kinds[g->n++] = resource_copy(all[i], w->a);
	if (g->n)
		list(w);
	else
		end(w, NULL);
}

static void start(struct work *w)
{
	struct gathering *g = (void *)w->state;
	g->asks = true;
	g->namespaces = obj_get(w->action->body, "namespaces");
	g->wide = obj_len(g->namespaces) > APART_MAX;
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
