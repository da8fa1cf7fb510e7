#include "alm/controllers/app/claims.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/base/multimap.h"
#include "alm/base/pool.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/unsupported.h"
#include "alm/obj/meta.h"

#define CLAIM_BYTES_MAX ((size_t)16 << 20)

/* A version whose objects an app has (installed), or is getting. One piece of size bytes, with all
 * that it names behind it. */
struct claim {
	size_t size;
	const char *strategy, *app, *version, *sha256; /* sha256 may be NULL */
	bool installed;
	const char *managed[]; /* NULL-ended */
};

struct claims {
	struct map *apps;           /* name -> selfRef */
	struct map *strategies;     /* name -> struct claim */
	struct multimap *of_app;    /* app -> its claims, in order of their strategies */
	struct resolve_claims *all; /* NULL: it is to be made */
	struct map *made;           /* app -> what all has of it */
	struct map *stale;          /* apps that all does not have as they are */
};

static void claim_free(void *p)
{
	struct claim *c = p;
	if (c)
		pool_free(c, c->size);
}

/* What put_app() makes: with the name of its app behind it. */
static size_t made_bytes(const char *app)
{
	return sizeof(struct resolve_claim) + strlen(app) + 1;
}

static void made_free(void *p)
{
	struct resolve_claim *r = p;
	pool_free(r, made_bytes(r->app));
}

struct claims *claims_new(void)
{
	struct claims *c = xcalloc(1, sizeof(*c));
	c->apps = map_new(pool_text_free);
	c->strategies = map_new(claim_free);
	c->of_app = multimap_new();
	c->made = map_new(made_free);
	c->stale = map_new(NULL);
	return c;
}

void claims_free(struct claims *c)
{
	if (!c)
		return;
	resolve_claims_free(c->all);
	map_free(c->stale);
	map_free(c->made);
	multimap_free(c->of_app);
	map_free(c->apps);
	map_free(c->strategies);
	xfree(c);
}

void claims_drop_entries(struct claims *c)
{
	resolve_claims_free(STEAL(c->all));
	map_clear(c->made);
}

/* --- one object --- */

static size_t room_of(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

/* s at *at, which goes behind it. */
static const char *put_text(char **at, const char *s)
{
	char *own = *at;
	if (!s)
		return NULL;
	*at += room_of(s);
	return memcpy(own, s, room_of(s));
}

/* A piece of its own of what borrows its texts. */
static struct claim *claim_own(const struct claim *from, const char *const *managed)
{
	size_t n = 0, size = room_of(from->strategy) + room_of(from->app) + room_of(from->version) +
			     room_of(from->sha256);
	for (; managed[n]; n++)
		size += room_of(managed[n]);
	size += sizeof(*from) + (n + 1) * sizeof(*managed);
	struct claim *c = pool_keep(size);
	char *at = (char *)&c->managed[n + 1];
	*c = (struct claim){.size = size,
			    .strategy = put_text(&at, from->strategy),
			    .app = put_text(&at, from->app),
			    .version = put_text(&at, from->version),
			    .sha256 = put_text(&at, from->sha256),
			    .installed = from->installed};
	for (size_t i = 0; i < n; i++)
		c->managed[i] = put_text(&at, managed[i]);
	c->managed[n] = NULL;
	return c;
}

/* NULL: it claims nothing. */
static struct claim *claim_new(const struct obj *strategy)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(CLAIM_BYTES_MAX);
	enum phase p = phase_of(strategy);
	const char *app = obj_str(strategy, "spec.appTypeRef.name");
	if (!app || (p != PHASE_SUCCEEDED && !phase_is_busy(p)))
		return NULL;
	const struct claim c = {.strategy = meta_name(strategy),
				.app = app,
				.version = strategy_version(strategy, a),
				.sha256 = strategy_sha256(strategy),
				.installed = p == PHASE_SUCCEEDED};
	return claim_own(&c, strategy_managed(strategy, a));
}

static bool same_list(const char *const *a, const char *const *b)
{
	while (*a && *b && !strcmp(*a, *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static bool same_claim(const struct claim *a, const struct claim *b)
{
	if (!a || !b)
		return a == b;
	return a->installed == b->installed && !strcmp(a->app, b->app) &&
	       !strcmp(a->version, b->version) && cstr_eq(a->sha256, b->sha256) &&
	       same_list(a->managed, b->managed);
}

/* Before what it borrows changes. */
static void forget_app(struct claims *c, const char *app)
{
	if (!c->all)
		return;
	resolve_claims_drop(c->all, app);
	map_del(c->made, app);
	map_set(c->stale, app, NULL);
}

static int by_strategy(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	return strcmp(x->strategy, y->strategy);
}

static void update_strategy(struct claims *c, const struct obj *o, bool gone)
{
	struct claim *now = gone ? NULL : claim_new(o);
	const struct claim *old = map_get(c->strategies, meta_name(o));
	if (same_claim(old, now)) {
		claim_free(now);
		return;
	}
	if (old) {
		forget_app(c, old->app);
		multimap_remove(c->of_app, old->app, old);
		map_del(c->strategies, meta_name(o));
	}
	if (now) {
		forget_app(c, now->app);
		multimap_add_sorted(c->of_app, now->app, now, by_strategy);
		map_set(c->strategies, meta_name(o), now);
	}
}

static void update_app(struct claims *c, const struct obj *o, bool gone)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(CLAIM_BYTES_MAX);
	const char *old = map_get(c->apps, meta_name(o));
	const char *now = gone ? NULL : app_self_ref(o, a);
	if (cstr_eq(old, now))
		return;
	forget_app(c, meta_name(o));
	if (now)
		map_set(c->apps, meta_name(o), pool_text(now));
	else
		map_del(c->apps, meta_name(o));
}

void claims_update(struct claims *c, const struct obj *o, bool gone)
{
	if (cstr_eq(meta_kind(o), "AppType"))
		update_app(c, o, gone);
	else if (cstr_eq(meta_kind(o), "InstallStrategy"))
		update_strategy(c, o, gone);
}

/* --- all --- */

/* What the app has, else the first by name of what it is getting; NULL: nothing. */
static const struct claim *best_of(const struct claims *c, const char *app)
{
	size_t n;
	void *const *list = multimap_get(c->of_app, app, &n);
	const struct claim *best = n ? list[0] : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct claim *s = list[i];
		if (s->installed)
			best = s;
	}
	return best;
}

static void put_app(struct claims *c, const struct view *v, const char *app)
{
	const char *self_ref = map_get(c->apps, app);
	if (!self_ref)
		return;
	const struct claim *s = best_of(c, app);
	struct resolve_claim *r = pool_keep(made_bytes(app));
	*r = (struct resolve_claim){.app = memcpy(r + 1, app, strlen(app) + 1),
				    .self_ref = self_ref};
	map_set(c->made, app, r);
	if (s) {
		r->installed = s->installed;
		r->version = s->version;
		r->managed = s->managed;
		r->entry = entry_by_digest(v, s->sha256, NULL);
	}
	resolve_claims_put(c->all, r);
}

const struct resolve_claims *claims_all(struct claims *c, const struct view *v)
{
	if (!c->all) {
		c->all = resolve_claims_new();
		for (const struct map_entry *e = map_first(c->apps); e; e = map_next(e))
			map_set(c->stale, e->key, NULL);
	}
	for (const struct map_entry *e = map_first(c->stale); e; e = map_next(e))
		put_app(c, v, e->key);
	map_clear(c->stale);
	return c->all;
}
