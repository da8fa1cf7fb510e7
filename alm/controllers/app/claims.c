#include "alm/controllers/app/claims.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/controllers/app/app.h"
#include "alm/obj/meta.h"

#define TABLES_BYTES_MAX ((size_t)256 << 20)

/* A version whose objects an app has (installed), or is getting. */
struct claim {
	char *app, *version, *sha256; /* sha256 may be NULL */
	char **managed;               /* NULL-ended */
	bool installed;
};

struct claims {
	struct map *apps;       /* name -> selfRef */
	struct map *strategies; /* name -> struct claim */
	struct arena *a;        /* of all; NULL: it is to be made */
	const struct resolve_claims *all;
};

static void claim_free(void *p)
{
	struct claim *c = p;
	if (!c)
		return;
	for (char **m = c->managed; m && *m; m++)
		xfree(*m);
	xfree(c->managed);
	xfree(c->app);
	xfree(c->version);
	xfree(c->sha256);
	xfree(c);
}

struct claims *claims_new(void)
{
	struct claims *c = xcalloc(1, sizeof(*c));
	c->apps = map_new(xfree);
	c->strategies = map_new(claim_free);
	return c;
}

void claims_free(struct claims *c)
{
	if (!c)
		return;
	arena_free(c->a);
	map_free(c->apps);
	map_free(c->strategies);
	xfree(c);
}

void claims_drop_entries(struct claims *c)
{
	arena_free(STEAL(c->a));
	c->all = NULL;
}

/* --- one object --- */

static char *dup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static char **dup_list(const char *const *list)
{
	size_t n = 0;
	while (list[n])
		n++;
	char **own = xcalloc(n + 1, sizeof(*own));
	for (size_t i = 0; i < n; i++)
		own[i] = xstrdup(list[i]);
	return own;
}

/* NULL: it claims nothing. */
static struct claim *claim_new(const struct obj *strategy)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TABLES_BYTES_MAX);
	enum phase p = phase_of(strategy);
	const char *app = obj_str(strategy, "spec.appTypeRef.name");
	if (!app || (p != PHASE_SUCCEEDED && !phase_is_busy(p)))
		return NULL;
	struct claim *c = xcalloc(1, sizeof(*c));
	c->app = xstrdup(app);
	c->version = xstrdup(strategy_version(strategy, a));
	c->sha256 = dup_or_null(obj_str(strategy, "spec.strategy.sha256"));
	c->managed = dup_list(strategy_managed(strategy, a));
	c->installed = p == PHASE_SUCCEEDED;
	return c;
}

static bool same_list(char *const *a, char *const *b)
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

static void update_strategy(struct claims *c, const struct obj *o, bool gone)
{
	struct claim *now = gone ? NULL : claim_new(o);
	if (same_claim(map_get(c->strategies, meta_name(o)), now)) {
		claim_free(now);
		return;
	}
	claims_drop_entries(c);
	if (now)
		map_set(c->strategies, meta_name(o), now);
	else
		map_del(c->strategies, meta_name(o));
}

static void update_app(struct claims *c, const struct obj *o, bool gone)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TABLES_BYTES_MAX);
	const char *old = map_get(c->apps, meta_name(o));
	const char *now = gone ? NULL : app_self_ref(o, a);
	if (cstr_eq(old, now))
		return;
	claims_drop_entries(c);
	if (now)
		map_set(c->apps, meta_name(o), xstrdup(now));
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

/* App -> what it has, else the first by name of what it is getting. */
static struct map *best_of_apps(const struct claims *c)
{
	struct map *best = map_new(NULL);
	struct map_entry **sorted = map_sorted(c->strategies);
	for (size_t i = 0; i < map_count(c->strategies); i++) {
		const struct claim *s = sorted[i]->value;
		if (s->installed || !map_has(best, s->app))
			map_set(best, s->app, mem_unconst(s));
	}
	xfree(sorted);
	return best;
}

static void make_all(struct claims *c, const struct view *v)
{
	size_t n = map_count(c->apps);
	c->a = arena_new(TABLES_BYTES_MAX);
	struct resolve_claim *list = ARENA_ARRAY(c->a, struct resolve_claim, n);
	CLEANUP(map_freep) struct map *best = best_of_apps(c);
	struct map_entry **sorted = map_sorted(c->apps);
	for (size_t i = 0; i < n; i++) {
		const struct claim *s = map_get(best, sorted[i]->key);
		list[i] =
			(struct resolve_claim){.app = sorted[i]->key, .self_ref = sorted[i]->value};
		if (!s)
			continue;
		list[i].installed = s->installed;
		list[i].version = s->version;
		list[i].managed = (const char *const *)s->managed;
		list[i].entry = entry_by_digest(v, s->sha256, NULL);
	}
	xfree(sorted);
	c->all = resolve_claims_new(list, n, c->a);
}

const struct resolve_claims *claims_all(struct claims *c, const struct view *v)
{
	if (!c->all)
		make_all(c, v);
	return c->all;
}
