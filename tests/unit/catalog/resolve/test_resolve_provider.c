/* Who provides a resource, against a model: random catalogs, priorities and apps that exist. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "catalog/resolve/resolve.h"

#define ROUNDS  1500
#define INDEXES 3
#define OFFERS  5

static const char *const resources[] = {"as.x.io/v1", "as.x.io/v2", "bs.x.io/v1"};

struct offer {
	size_t catalog, package, app, resource; /* app 0: it names none */
};

struct world {
	struct catalog_index *x[INDEXES];
	struct offer offers[INDEXES * OFFERS];
	size_t n, n_catalogs;
	bool exists[3]; /* the apps a1 and a2 */
};

static uint64_t random_state = 5;

static size_t below(size_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)((random_state >> 33) % n);
}

static void publish(struct world *w, size_t catalog, size_t package)
{
	struct catalog_index *x = w->x[catalog];
	struct offer o = {catalog, package, below(3), below(ARRAY_LEN(resources))};
	char digest[SHA256_HEX];
	const char *chart = arena_fmt(x->arena, "{name: p%zu, version: 1.0.0}", package);
	const char *own = arena_fmt(x->arena, "provides: [%s]\n", resources[o.resource]);
	if (o.app)
		own = arena_fmt(x->arena, "%sappType: a%zu.x.io\n", own, o.app);
	sha256_hex(str_of(chart), digest);
	index_add(x, &(struct package_source){.chart_yaml = str_of(chart),
					      .descriptor = str_of(own),
					      .digest = digest,
					      .locator = "l"});
	w->offers[w->n++] = o;
}

/* In order of catalogs and, in each, of packages: as they are read. */
static void make(struct world *w)
{
	struct error err = ERROR_INIT;
	*w = (struct world){.n_catalogs = below(INDEXES + 1)};
	for (size_t c = 0; c < w->n_catalogs; c++) {
		static const char *const names[] = {"c0", "c1", "c2"};
		w->x[c] = index_new(names[c], (int64_t)below(2));
		for (size_t p = 0; p < OFFERS; p++)
			if (below(2))
				publish(w, c, p);
		assert_ok(index_finish(w->x[c], STR_NONE, &err), &err);
		assert_int_equal(w->x[c]->n_rejected, 0);
	}
	w->exists[1] = below(2);
	w->exists[2] = below(2);
}

static int rank_of(const struct world *w, const struct offer *o)
{
	return (w->exists[o->app] ? 2 : 0) + (w->x[o->catalog]->priority ? 1 : 0);
}

static bool is_asked(const struct offer *o, const char *resource, size_t app)
{
	return cstr_has_prefix(resources[o->resource], resource) && (!app || o->app == app);
}

static bool is_named(const struct offer *o, const char *resource, size_t app)
{
	return o->app && is_asked(o, resource, app);
}

/* Of those with the highest rank the first that is read. */
static const struct offer *best_of(const struct world *w, const char *resource, size_t app)
{
	const struct offer *best = NULL;
	for (size_t k = 0; k < w->n; k++)
		if (is_named(&w->offers[k], resource, app) &&
		    (!best || rank_of(w, &w->offers[k]) > rank_of(w, best)))
			best = &w->offers[k];
	return best;
}

/* The last that is as good, and another package or app. */
static const struct offer *rival_of(const struct world *w, const struct offer *best,
				    const char *resource, size_t app)
{
	const struct offer *rival = NULL;
	for (size_t k = 0; best && k < w->n; k++) {
		const struct offer *o = &w->offers[k];
		if (is_named(o, resource, app) && rank_of(w, o) == rank_of(w, best) &&
		    (o->package != best->package || o->app != best->app))
			rival = o;
	}
	return rival;
}

static void expect_nobody(const struct world *w, const char *resource, size_t app, struct strbuf *b)
{
	static const char *const asked[] = {"none", "c0", "c0, c1", "c0, c1, c2"};
	const struct offer *nameless = NULL;
	for (size_t k = 0; !app && k < w->n; k++)
		if (!w->offers[k].app && is_asked(&w->offers[k], resource, 0))
			nameless = &w->offers[k];
	if (nameless)
		strbuf_addf(b,
			    "NoPackageProvides package p%zu provides it without naming an appType",
			    nameless->package);
	else
		strbuf_addf(b, "NoPackageProvides no known package provides it (asked: %s)",
			    asked[w->n_catalogs]);
}

static void expect(const struct world *w, const char *resource, size_t app, struct strbuf *b)
{
	const struct offer *best = best_of(w, resource, app),
			   *rival = rival_of(w, best, resource, app);
	if (!best)
		expect_nobody(w, resource, app, b);
	else if (!rival)
		strbuf_addf(b, "p%zu a%zu.x.io of c%zu", best->package, best->app, best->catalog);
	else if (rival->package != best->package)
		strbuf_addf(b, "AmbiguousProvider packages p%zu and p%zu both provide it",
			    best->package, rival->package);
	else
		strbuf_addf(b, "AmbiguousProvider a%zu.x.io and a%zu.x.io both provide it",
			    best->app, rival->app);
}

static void tell(const struct resolve_provider *p, struct strbuf *b)
{
	assert_int_equal(p->package != NULL, p->app_type != NULL);
	assert_int_equal(p->package != NULL, p->index != NULL);
	if (p->package)
		strbuf_addf(b, "%s %s of %s", p->package, p->app_type, p->index->name);
	else
		strbuf_addf(b, "%s %s", p->reason, p->message);
}

static void ask(const struct world *w, struct arena *a, const char *resource, size_t app)
{
	CLEANUP(strbuf_release) struct strbuf is = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(STRBUF_SMALL);
	const struct catalog_index *indexes[INDEXES] = {w->x[0], w->x[1], w->x[2]};
	struct resolve_claim claims[2];
	struct resolve_provider p;
	size_t n = 0;
	for (size_t i = 1; i < 3; i++)
		if (w->exists[i])
			claims[n++] =
				(struct resolve_claim){.app = i == 1 ? "a1" : "a2",
						       .self_ref = i == 1 ? "a1.x.io" : "a2.x.io"};
	const struct resolve_input in = {.app = "web",
					 .self_ref = "web.x.io",
					 .indexes = indexes,
					 .n_indexes = w->n_catalogs,
					 .claims = resolve_claims_of(claims, n, a)};
	resolve_find_provider(&in, resource, app ? arena_fmt(a, "a%zu.x.io", app) : NULL, a, &p);
	tell(&p, &is);
	expect(w, resource, app, &want);
	if (!str_eq(strbuf_str(&is), strbuf_str(&want)))
		fail_msg("%s of app %zu: %s, want %s", resource, app, is.buf, want.buf);
}

static void test_resolve_provider__the_best_alone_or_nobody(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct world w;
		make(&w);
		for (size_t app = 0; app < 3; app++) {
			for (size_t k = 0; k < ARRAY_LEN(resources); k++)
				ask(&w, a, resources[k], app);
			ask(&w, a, "bs.x.io", app);
			ask(&w, a, "cs.x.io/v1", app);
		}
		for (size_t c = 0; c < w.n_catalogs; c++)
			index_free(w.x[c]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_provider__the_best_alone_or_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
