/* test_claims.c: what an app asks of all others is kept from event to event, and is what reading
 * all of them would say. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/claims.h"
#include "alm/obj/meta.h"
#include "catalog/resolve/resolve_internal.h"
#include "tests/lib/view_fake.h"

#define APP(name) \
	"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"type\":\"e.io\"}}"
#define STRATEGY(name, app, version, phase)                                          \
	"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"" name               \
	"\"},\"spec\":{\"appTypeRef\":{\"name\":\"" app "\"},\"version\":\"" version \
	"\",\"resources\":[\"ws." app ".io/v1\"],\"strategy\":{\"sha256\":\"" name   \
	"\"}},\"status\":{\"phase\":\"" phase "\"}}"

struct world {
	struct view_fake f;
	const struct view_ops *ops; /* of the fake */
	struct view_ops counting;
	struct claims *c;
	size_t n_seen; /* texts of other objects that were handed out */
};

static void each(void *arg, unsigned kind, bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	struct world *w = CONTAINER_OF(arg, struct world, f);
	if (kind == WATCH_APPTYPE)
		w->n_seen += map_count(w->f.watched[kind]);
	w->ops->each(arg, kind, fn, fn_arg);
}

static void setup(struct world *w)
{
	memset(w, 0, sizeof(*w));
	view_fake_init(&w->f);
	w->ops = w->f.view.ops;
	w->counting = *w->ops;
	w->counting.each = each;
	w->f.view.ops = &w->counting;
	w->c = claims_new();
}

static void release(struct world *w)
{
	claims_free(w->c);
	view_fake_release(&w->f);
}

static void put(struct world *w, unsigned kind, const char *json)
{
	view_fake_put(&w->f, kind, json);
	claims_update(w->c, view_fake_obj(&w->f, json), false);
}

static const struct resolve_claims *claims_of(struct world *w, const char *app, bool kept)
{
	w->f.shared.claims = kept ? w->c : NULL;
	return app_load(&w->f.view, app)->in.claims;
}

static const struct resolve_claim *const *list_of(struct world *w, const struct resolve_claims *c,
						  size_t *ret_n)
{
	return claims_list(c, w->f.view.a, ret_n);
}

static const struct resolve_claim *first_of(struct world *w, const char *app)
{
	size_t n;
	return *list_of(w, claims_of(w, app, true), &n);
}

static void assert_equal(struct world *w, const struct resolve_claims *a,
			 const struct resolve_claims *b)
{
	size_t n, m;
	const struct resolve_claim *const *all = list_of(w, a, &n), *const *others =
									    list_of(w, b, &m);
	assert_int_equal(n, m);
	for (size_t i = 0; i < n; i++) {
		const struct resolve_claim *x = all[i], *y = others[i];
		assert_string_equal(x->app, y->app);
		assert_string_equal(x->self_ref, y->self_ref);
		assert_int_equal(x->installed, y->installed);
		assert_true(cstr_eq(x->version, y->version));
		assert_int_equal(!x->managed, !y->managed);
		if (x->managed)
			assert_string_equal(x->managed[0], y->managed[0]);
	}
}

/* After each event the kept ones are those of the lists. */
static void test_claims__are_those_of_the_lists(void **state)
{
	(void)state;
	static const struct {
		unsigned kind;
		const char *json, *version; /* that b claims then */
		bool installed;
	} events[] = {
		{WATCH_APPTYPE, APP("b"), NULL, false},
		{WATCH_APPTYPE, APP("a"), NULL, false},
		{WATCH_STRATEGY, STRATEGY("s1", "b", "1.0.0", "Pending"), NULL, false},
		{WATCH_STRATEGY, STRATEGY("s1", "b", "1.0.0", "Installing"), "1.0.0", false},
		{WATCH_STRATEGY, STRATEGY("s1", "b", "1.0.0", "Succeeded"), "1.0.0", true},
		{WATCH_STRATEGY, STRATEGY("s2", "b", "2.0.0", "Verifying"), "1.0.0", true},
		{WATCH_STRATEGY, STRATEGY("s2", "b", "2.0.0", "Succeeded"), "2.0.0", true},
		{WATCH_STRATEGY, STRATEGY("s1", "b", "1.0.0", "Superseded"), "2.0.0", true},
		{WATCH_STRATEGY, STRATEGY("s2", "b", "2.1.0", "Succeeded"), "2.1.0", true},
		{WATCH_STRATEGY, STRATEGY("s2", "b", "2.1.0", "Failed"), NULL, false},
		{WATCH_STRATEGY, STRATEGY("s2", "a", "2.1.0", "Succeeded"), NULL, false},
	};
	struct world w;
	setup(&w);
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		put(&w, events[i].kind, events[i].json);
		const struct resolve_claims *kept = claims_of(&w, "b", true);
		size_t n;
		const struct resolve_claim *const *all = list_of(&w, kept, &n), *b = all[n - 1];
		assert_string_equal(b->self_ref, "b.e.io");
		assert_true(cstr_eq(b->version, events[i].version));
		assert_int_equal(b->installed, events[i].installed);
		assert_equal(&w, kept, claims_of(&w, "b", false));
	}
	claims_update(w.c, view_fake_obj(&w.f, APP("a")), true);
	size_t left;
	list_of(&w, claims_of(&w, "b", true), &left);
	assert_int_equal(left, 1);
	release(&w);
}

/* What a status says beside is no change, and no pass makes the tables anew for it. */
static void test_claims__are_made_once(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	put(&w, WATCH_APPTYPE, APP("a"));
	put(&w, WATCH_STRATEGY, STRATEGY("s", "a", "1.0.0", "Installing"));
	const struct resolve_claims *first = claims_of(&w, "a", true);
	put(&w, WATCH_STRATEGY, STRATEGY("s", "a", "1.0.0", "Installing"));
	put(&w, WATCH_STRATEGY, STRATEGY("t", "a", "2.0.0", "Pending"));
	put(&w, WATCH_APPTYPE, APP("a"));
	assert_ptr_equal(claims_of(&w, "a", true), first);
	put(&w, WATCH_STRATEGY, STRATEGY("s", "a", "1.0.0", "Succeeded"));
	assert_true(first_of(&w, "a")->installed);
	release(&w);
}

/* An index may be gone, or say more than before. */
static void test_claims__forget_the_entries_of_an_old_index(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	struct error err = ERROR_INIT;
	char digest[SHA256_HEX];
	sha256_hex(STR("content"), digest);
	struct package_source source = {.chart_yaml = STR("{name: a, version: 1.0.0}"),
					.digest = digest,
					.locator = "content"};
	CLEANUP(index_freep) struct catalog_index *x = index_new("c", 0);
	const struct catalog_index *indexes[] = {x};
	put(&w, WATCH_APPTYPE, APP("a"));
	put(&w, WATCH_STRATEGY,
	    arena_fmt(w.f.a,
		      "{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"s\"},\"spec\":{"
		      "\"appTypeRef\":{\"name\":\"a\"},\"strategy\":{\"sha256\":\"%s\"}},"
		      "\"status\":{\"phase\":\"Succeeded\"}}",
		      digest));
	assert_null(first_of(&w, "a")->entry);
	index_add(x, &source);
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	w.f.shared.indexes = indexes;
	w.f.shared.n_indexes = 1;
	claims_drop_entries(w.c);
	assert_ptr_equal(first_of(&w, "a")->entry, index_by_digest(x, str_of(digest)));
	assert_non_null(index_by_digest(x, str_of(digest)));
	release(&w);
}

/* A pass over one app costs the same with one and with a hundred beside it. */
static void test_claims__no_pass_reads_the_other_apps(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	for (int i = 0; i < 100; i++)
		put(&w, WATCH_APPTYPE, arena_fmt(w.f.a, APP("a%d"), i));
	claims_of(&w, "a7", false);
	assert_int_equal(w.n_seen, 100);
	w.n_seen = 0;
	claims_of(&w, "a7", true);
	assert_int_equal(w.n_seen, 0);
	release(&w);
}

/* What is found under each key, in its order, after 600 random events. */
static void test_claims__random_events_leave_what_the_lists_say(void **state)
{
	(void)state;
	static const char *const phases[] = {"Pending", "Installing", "Verifying", "Succeeded",
					     "Failed"};
	struct world w;
	unsigned seed = 7;
	setup(&w);
	for (int i = 0; i < 600; i++) {
		unsigned r = (seed = seed * 1103515245 + 12345) >> 8;
		int app = (int)(r % 5), strategy = (int)(r / 5 % 9);
		const char *phase = phases[r / 45 % ARRAY_LEN(phases)];
		bool gone = r / 225 % 4 == 0, is_app = r / 900 % 4 == 0;
		unsigned kind = is_app ? WATCH_APPTYPE : WATCH_STRATEGY;
		const char *json =
			is_app ? arena_fmt(w.f.a, APP("a%d"), app)
			       : arena_fmt(w.f.a, STRATEGY("s%d", "a%d", "1.%d.0", "%s"), strategy,
					   app, strategy, app, strategy, phase);
		if (gone) {
			claims_update(w.c, view_fake_obj(&w.f, json), true);
			map_del(w.f.watched[kind], meta_name(view_fake_obj(&w.f, json)));
		} else {
			put(&w, kind, json);
		}
		view_fake_put(&w.f, WATCH_APPTYPE, APP("z")); /* the one that asks */
		claims_update(w.c, view_fake_obj(&w.f, APP("z")), false);
		const struct resolve_claims *kept = claims_of(&w, "z", true);
		const struct resolve_claims *made = claims_of(&w, "z", false);
		assert_equal(&w, kept, made);
		for (int k = 0; k < 2; k++) {
			size_t n, m;
			struct str crd = str_of(k ? "ws.a1.io" : "ws.a0.io");
			const struct resolve_claim *const *a =
				claims_find(kept, CLAIM_CRD, crd, &n);
			const struct resolve_claim *const *b =
				claims_find(made, CLAIM_CRD, crd, &m);
			assert_int_equal(n, m);
			for (size_t x = 0; x < n; x++)
				assert_string_equal(a[x]->app, b[x]->app);
		}
	}
	release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims__are_those_of_the_lists),
		cmocka_unit_test(test_claims__are_made_once),
		cmocka_unit_test(test_claims__forget_the_entries_of_an_old_index),
		cmocka_unit_test(test_claims__no_pass_reads_the_other_apps),
		cmocka_unit_test(test_claims__random_events_leave_what_the_lists_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
