/* What all apps claim, against a list of them: any sequence of changes, every table, every key. */
#include "tests/lib/test.h"

#include <string.h>

#include "catalog/resolve/resolve_internal.h"

#define APPS   7
#define KEYS   4
#define ROUNDS 4000

struct world {
	struct arena *a;
	uint64_t state;
	struct resolve_claims *c;
	const struct resolve_claim *now[APPS]; /* the model: NULL: dropped */
};

static uint64_t draw(struct world *w, uint64_t n)
{
	w->state ^= w->state << 13;
	w->state ^= w->state >> 7;
	w->state ^= w->state << 17;
	return w->state % n;
}

static const char *key_of(struct world *w, enum claim_table t, size_t k)
{
	switch (t) {
	case CLAIM_SELF_REF:
		return arena_fmt(w->a, "s%zu.x.io", k);
	case CLAIM_CRD:
		return arena_fmt(w->a, "r%zu.x.io", k);
	case CLAIM_NEED:
		return arena_fmt(w->a, "n%zu.x.io/v1", k);
	case CLAIM_REFUSAL:
	case CLAIM_PACKAGE:
	case CLAIM_MAX:
		break;
	}
	return arena_fmt(w->a, "p%zu", k);
}

static const struct package_version *random_entry(struct world *w)
{
	struct package_version *p = ARENA_NEW(w->a, struct package_version);
	p->package = key_of(w, CLAIM_PACKAGE, draw(w, KEYS));
	struct package_requirement *needs = ARENA_ARRAY(w->a, struct package_requirement, KEYS);
	p->conflicts = ARENA_ARRAY(w->a, struct package_conflict, KEYS);
	for (size_t k = 0; k < KEYS; k++) {
		if (draw(w, 2))
			needs[p->n_requires++].resource = key_of(w, CLAIM_NEED, k);
		if (draw(w, 2))
			p->conflicts[p->n_conflicts++].package = key_of(w, CLAIM_REFUSAL, k);
	}
	p->
		requires
	= needs;
	return p;
}

static const struct resolve_claim *random_claim(struct world *w, size_t app)
{
	struct resolve_claim *c = ARENA_NEW(w->a, struct resolve_claim);
	const char **managed = ARENA_ARRAY(w->a, const char *, KEYS + 1);
	size_t n = 0;
	for (size_t k = 0; k < KEYS; k++)
		if (draw(w, 2))
			managed[n++] = arena_fmt(w->a, "%s/v1", key_of(w, CLAIM_CRD, k));
	c->app = arena_fmt(w->a, "app-%zu", app);
	c->self_ref = key_of(w, CLAIM_SELF_REF, draw(w, KEYS));
	c->managed = draw(w, 4) ? managed : NULL;
	c->entry = draw(w, 4) ? random_entry(w) : NULL;
	return c;
}

static bool has(const struct resolve_claim *c, enum claim_table t, const char *key)
{
	const struct package_version *e = c->entry;
	bool found = false;
	if (t == CLAIM_SELF_REF)
		return !strcmp(c->self_ref, key);
	for (size_t i = 0; t == CLAIM_CRD && c->managed && c->managed[i]; i++)
		found |= cstr_has_prefix(c->managed[i], key);
	for (size_t i = 0; t == CLAIM_NEED && e && i < e->n_requires; i++)
		found |= !strcmp(e->requires[i].resource, key);
	for (size_t i = 0; t == CLAIM_REFUSAL && e && i < e->n_conflicts; i++)
		found |= !strcmp(e->conflicts[i].package, key);
	return found || (t == CLAIM_PACKAGE && e && !strcmp(e->package, key));
}

/* Those of the model, in order of their apps. */
static size_t model_find(struct world *w, enum claim_table t, const char *key,
			 const struct resolve_claim *ret[APPS])
{
	size_t n = 0;
	for (size_t i = 0; i < APPS; i++)
		if (w->now[i] && (!key || has(w->now[i], t, key)))
			ret[n++] = w->now[i];
	return n;
}

static void assert_same(const struct resolve_claim *const *got, size_t n,
			const struct resolve_claim *const *want, size_t n_want)
{
	assert_int_equal(n, n_want);
	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(got[i], want[i]);
}

static void change(struct world *w)
{
	size_t app = draw(w, APPS);
	w->now[app] = draw(w, 3) ? random_claim(w, app) : NULL;
	if (w->now[app])
		resolve_claims_put(w->c, w->now[app]);
	else
		resolve_claims_drop(w->c, arena_fmt(w->a, "app-%zu", app));
}

static void check_tables(struct world *w)
{
	const struct resolve_claim *want[APPS];
	size_t n, n_want;
	for (int t = 0; t < CLAIM_MAX; t++)
		for (size_t k = 0; k <= KEYS; k++) {
			const char *key = key_of(w, (enum claim_table)t, k);
			n_want = model_find(w, (enum claim_table)t, key, want);
			const struct resolve_claim *const *got =
				claims_find(w->c, (enum claim_table)t, str_of(key), &n);
			assert_same(got, n, want, n_want);
		}
	n_want = model_find(w, CLAIM_MAX, NULL, want);
	const struct resolve_claim **all = claims_list(w->c, w->a, &n);
	assert_same(all, n, want, n_want);
}

/* What one app is told of the others leaves itself out. */
static void check_reader(struct world *w)
{
	struct resolve_input in = {
		.app = "app-0", .self_ref = key_of(w, CLAIM_SELF_REF, 0), .claims = w->c};
	struct resolver r = {.in = &in, .a = w->a};
	const struct resolve_claim *want[APPS];
	for (size_t k = 0; k < KEYS; k++) {
		const char *self = key_of(w, CLAIM_SELF_REF, k), *crd = key_of(w, CLAIM_CRD, k);
		size_t n = model_find(w, CLAIM_SELF_REF, self, want);
		assert_ptr_equal(claims_app(&r, self), k && n ? want[0] : NULL);
		const struct resolve_claim *first = NULL;
		n = model_find(w, CLAIM_CRD, crd, want);
		for (size_t i = n; i > 0; i--)
			if (strcmp(want[i - 1]->self_ref, in.self_ref) != 0)
				first = want[i - 1];
		assert_ptr_equal(claims_crd(&r, arena_fmt(w->a, "%s/v9", crd)), first);
	}
	assert_null(claims_app(&r, NULL));
	in.claims = NULL;
	assert_null(claims_app(&r, "s1.x.io"));
	assert_null(claims_crd(&r, "r1.x.io"));
}

/* What was found since it was begun, each once, and nothing of before or after. */
static void check_record(struct world *w)
{
	bool seen[APPS] = {false};
	const struct resolve_claim *want[APPS];
	size_t n, n_want = 0;
	(void)claims_find(w->c, CLAIM_SELF_REF, STR("s0.x.io"), &n);
	claims_record(w->c);
	for (size_t i = 0, rounds = draw(w, 60); i < rounds; i++) {
		enum claim_table t = (enum claim_table)draw(w, CLAIM_MAX);
		const char *key = key_of(w, t, draw(w, KEYS));
		(void)claims_find(w->c, t, str_of(key), &n);
		for (size_t k = 0; k < APPS; k++)
			seen[k] |= w->now[k] && has(w->now[k], t, key);
	}
	for (size_t i = 0; i < APPS; i++)
		if (seen[i])
			want[n_want++] = w->now[i];
	const struct resolve_claim **got = claims_touched(w->c, w->a, &n);
	assert_same(got, n, want, n_want);
	(void)claims_find(w->c, CLAIM_SELF_REF, STR("s0.x.io"), &n);
	got = claims_touched(w->c, w->a, &n);
	assert_same(got, n, want, n_want); /* as it was: nobody records any more */
}

static void test_resolve_claims__are_what_a_list_of_them_says(void **state)
{
	(void)state;
	struct world w = {.a = arena_new((size_t)64 << 20), .state = 17};
	w.c = resolve_claims_new();
	for (int round = 0; round < ROUNDS; round++) {
		change(&w);
		if (round % 4)
			continue;
		check_tables(&w);
		check_reader(&w);
		check_record(&w);
	}
	resolve_claims_free(w.c);
	arena_free(w.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_claims__are_what_a_list_of_them_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
