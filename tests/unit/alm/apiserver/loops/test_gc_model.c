/* Random owners, deletions and finalizers, beside a model of what garbage collection promises: what is left is the same
 * after each request. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"

#define CMS    "/api/v1/namespaces/default/configmaps"
#define MERGE  "application/merge-patch+json"
#define N      14
#define OWNERS 3
#define RUNS   40
#define STEPS  40
#define NOBODY (-1)

enum policy { BACKGROUND, FOREGROUND, ORPHAN, POLICIES };

static const char *const policy_text[] = {"Background", "Foreground", "Orphan"};

struct thing {
	bool there, deleting, held; /* held: by a finalizer of somebody else */
	bool waits;                 /* deleted in the foreground: for what blocks it */
	int owner[OWNERS];          /* NOBODY: none. Its index is lower. */
	bool blocks[OWNERS];
	char uid[37];
};

struct fixture {
	struct apifake *server;
	struct thing all[N];
	uint64_t seed;
};

static size_t below(struct fixture *f, size_t n)
{
	f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(f->seed >> 33) % n;
}

/* --- the model --- */

static bool is_owned_by(const struct thing *t, int owner)
{
	for (int k = 0; k < OWNERS; k++)
		if (t->owner[k] == owner)
			return true;
	return false;
}

static bool blocks(const struct thing *t, int owner)
{
	for (int k = 0; k < OWNERS; k++)
		if (t->owner[k] == owner)
			return t->blocks[k];
	return false;
}

static void disown(struct thing *t, int owner)
{
	for (int k = 0; k < OWNERS; k++)
		if (t->owner[k] == owner)
			t->owner[k] = NOBODY;
}

static void settle(struct fixture *f, int i);
static void model_delete(struct fixture *f, int i, enum policy policy);

/* Another owner that lives, and does not itself wait for what it owns. */
static bool is_kept(const struct fixture *f, const struct thing *t, int but)
{
	for (int k = 0; k < OWNERS; k++)
		if (t->owner[k] != NOBODY && t->owner[k] != but && f->all[t->owner[k]].there &&
		    !f->all[t->owner[k]].waits)
			return true;
	return false;
}

static bool has_live_owner(const struct fixture *f, const struct thing *t)
{
	for (int k = 0; k < OWNERS; k++)
		if (t->owner[k] != NOBODY && f->all[t->owner[k]].there)
			return true;
	return false;
}

/* NOLINTBEGIN(misc-no-recursion): each call has one thing less, or one that waits */
/* What it owned has one owner less, or goes. */
static void model_gone(struct fixture *f, int i)
{
	f->all[i].there = false;
	for (int d = i + 1; d < N; d++) {
		struct thing *t = &f->all[d];
		if (!t->there || !is_owned_by(t, i) || t->deleting)
			continue;
		if (!has_live_owner(f, t)) {
			model_delete(f, d, BACKGROUND);
			continue;
		}
		for (int k = 0; k < OWNERS; k++)
			if (t->owner[k] != NOBODY && !f->all[t->owner[k]].there)
				t->owner[k] = NOBODY;
	}
	for (int k = 0; k < OWNERS; k++)
		if (f->all[i].owner[k] != NOBODY)
			settle(f, f->all[i].owner[k]);
}

/* It goes when nothing holds it any more. */
static void settle(struct fixture *f, int i)
{
	struct thing *t = &f->all[i];
	if (!t->there || !t->deleting)
		return;
	for (int d = i + 1; d < N && t->waits; d++)
		if (f->all[d].there && is_owned_by(&f->all[d], i) && blocks(&f->all[d], i))
			return;
	t->waits = false;
	if (!t->held)
		model_gone(f, i);
}

static void model_delete(struct fixture *f, int i, enum policy policy)
{
	struct thing *t = &f->all[i];
	t->deleting = true;
	t->waits = policy == FOREGROUND;
	for (int d = i + 1; d < N && policy != BACKGROUND; d++) {
		struct thing *dep = &f->all[d];
		if (!dep->there || !is_owned_by(dep, i))
			continue;
		if (policy == ORPHAN || is_kept(f, dep, i))
			disown(dep, i);
		else if (!dep->deleting)
			model_delete(f, d, FOREGROUND);
	}
	settle(f, i);
}
/* NOLINTEND(misc-no-recursion) */

/* --- the server --- */

static const char *target(struct arena *a, int i)
{
	return arena_fmt(a, CMS "/t%d", i);
}

static void make(struct fixture *f, int i, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct thing *t = &f->all[i];
	*t = (struct thing){.there = true, .owner = {NOBODY, NOBODY, NOBODY}};
	strbuf_addf(&b, "{\"metadata\":{\"name\":\"t%d\",\"ownerReferences\":[", i);
	for (int k = 0, n = 0; k < OWNERS && i; k++) {
		int owner = (int)below(f, (size_t)i);
		if (!f->all[owner].there || f->all[owner].deleting || is_owned_by(t, owner) ||
		    !below(f, 2))
			continue;
		t->owner[k] = owner;
		t->blocks[k] = below(f, 2);
		strbuf_addf(&b,
			    "%s{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"t%d\","
			    "\"uid\":\"%s\","
			    "\"blockOwnerDeletion\":%s}",
			    n++ ? "," : "", owner, f->all[owner].uid,
			    t->blocks[k] ? "true" : "false");
	}
	t->held = below(f, 4) == 0;
	strbuf_addf(&b, "]%s}}", t->held ? ",\"finalizers\":[\"x.y/z\"]" : "");
	struct answer x = apifake_do(f->server, "POST", CMS, b.buf);
	assert_int_equal(x.status, 201);
	memcpy(t->uid, obj_str(x.json, "metadata.uid"), sizeof(t->uid));
	(void)a;
}

static void check(struct fixture *f, struct arena *a, const char *what)
{
	for (int i = 0; i < N; i++) {
		const struct thing *t = &f->all[i];
		struct answer x = apifake_do(f->server, "GET", target(a, i), NULL);
		size_t n = 0;
		if ((x.status == 200) != t->there)
			fail_msg("%s: t%d is %d", what, i, x.status);
		if (!t->there)
			continue;
		if (meta_is_deleting(x.json) != t->deleting)
			fail_msg("%s: t%d is%s deleting", what, i, t->deleting ? " not" : "");
		for (int k = 0; k < OWNERS; k++) {
			if (t->owner[k] == NOBODY)
				continue;
			if (!f->all[t->owner[k]].there)
				continue; /* of one that is deleted already it may be named still */
			n++;
			if (!meta_is_owned_by(x.json, f->all[t->owner[k]].uid))
				fail_msg("%s: t%d is not owned by t%d", what, i, t->owner[k]);
		}
		if (!t->deleting && meta_owner_count(x.json) != n)
			fail_msg("%s: t%d has %zu owners, want %zu", what, i,
				 meta_owner_count(x.json), n);
	}
}

static const char *step(struct fixture *f, struct arena *a)
{
	int i = (int)below(f, N);
	struct thing *t = &f->all[i];
	if (!t->there) {
		for (int d = 0; d < N; d++) /* of one of that name before */
			if (is_owned_by(&f->all[d], i) && f->all[d].there)
				return "nothing";
		make(f, i, a);
		return arena_fmt(a, "create t%d", i);
	}
	if (t->held && below(f, 3) == 0) {
		apifake_do_type(f->server, "PATCH", target(a, i), MERGE,
				arena_fmt(a, "{\"metadata\":{\"finalizers\":%s}}",
					  t->waits ? "[\"foregroundDeletion\"]" : "null"));
		t->held = false;
		settle(f, i);
		return arena_fmt(a, "t%d is held no more", i);
	}
	if (below(f, 2))
		return "nothing";
	enum policy p = (enum policy)below(f, POLICIES);
	int status =
		apifake_do(f->server, "DELETE",
			   arena_fmt(a, "%s?propagationPolicy=%s", target(a, i), policy_text[p]),
			   NULL)
			.status;
	assert_int_equal(status, 200);
	model_delete(f, i, p);
	return arena_fmt(a, "delete t%d %s", i, policy_text[p]);
}

static void test_gc_model__what_is_left_is_the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		CLEANUP(apifake_freep) struct apifake *server = apifake_new(NULL);
		CLEANUP(arena_freep) struct arena *a = arena_new(4 << 20);
		struct fixture f = {.server = server, .seed = seed};
		for (int n = 0; n < STEPS; n++) {
			const char *did = step(&f, a);
			check(&f, a, arena_fmt(a, "seed %d, step %d, %s", (int)seed, n, did));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gc_model__what_is_left_is_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
