/* test_audit_state.c: what was known of each object at an entry, against a model that goes through all of the log. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/query.h"
#include "tests/lib/audit_log.h"

#define ENTRIES 120
#define PARTS   3 /* values of each part of a subject */

static const char *const kinds[PARTS] = {"AppType", "InstallStrategy", "Unit"};
static const char *const spaces[PARTS] = {"", "a", "b"};
static const char *const names[PARTS] = {"one", "one.more", "two"};
static const char *const clusters[PARTS] = {"", "east", "west"};
static const char *const reasons[] = {"Moved", "Moved", "Refreshed", "Deleted"};

struct entry {
	unsigned kind, ns, name, cluster, reason;
	int64_t seq;
};

struct world {
	struct audit_log log;
	struct entry entries[ENTRIES];
	int64_t tseq[PARTS][PARTS][PARTS][PARTS];
	uint64_t seed;
	char text[8192];
};

static unsigned below(struct world *w, unsigned n)
{
	w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(w->seed >> 33) % n;
}

static void append(struct world *w, struct entry *e)
{
	struct error err = ERROR_INIT;
	char uid[32];
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	*e = (struct entry){below(w, PARTS),
			    below(w, PARTS),
			    below(w, PARTS),
			    below(w, PARTS),
			    below(w, ARRAY_LEN(reasons)),
			    0};
	(void)snprintf(uid, sizeof(uid), "%u-%u-%u-%u", e->kind, e->ns, e->name, e->cluster);
	const struct audit_row row = {.type = "Transition",
				      .reason = reasons[e->reason],
				      .subject = {.kind = kinds[e->kind],
						  .ns = spaces[e->ns],
						  .name = names[e->name],
						  .cluster = clusters[e->cluster],
						  .uid = uid},
				      .transition_seq =
					      ++w->tseq[e->kind][e->ns][e->name][e->cluster],
				      .body = body};
	assert_ok(audit_append_now(w->log.audit, &row, &e->seq, &err), &err);
}

static void setup(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	audit_log_open(&w->log, ":memory:", NULL);
	for (size_t i = 0; i < ENTRIES; i++)
		append(w, &w->entries[i]);
}

static bool is_chosen(const struct entry *e, const struct query_selector *sel)
{
	return (!sel->kind || !strcmp(sel->kind, kinds[e->kind])) &&
	       (!sel->ns || !strcmp(sel->ns, spaces[e->ns])) &&
	       (!sel->name || !strcmp(sel->name, names[e->name])) &&
	       (!sel->cluster || !strcmp(sel->cluster, clusters[e->cluster]));
}

static bool is_same(const struct entry *a, const struct entry *b)
{
	return a->kind == b->kind && a->ns == b->ns && a->name == b->name &&
	       a->cluster == b->cluster;
}

/* The newest one of its subject until seq that says anything; NULL: there is none. */
static const struct entry *newest(const struct world *w, const struct entry *of, int64_t seq)
{
	for (size_t i = ENTRIES; i-- > 0;)
		if (w->entries[i].seq <= seq && is_same(&w->entries[i], of) &&
		    strcmp(reasons[w->entries[i].reason], "Refreshed") != 0)
			return &w->entries[i];
	return NULL;
}

static void add(char *text, size_t size, int64_t seq)
{
	size_t n = strlen(text);
	(void)snprintf(text + n, size - n, " %d", (int)seq);
}

/* In order of kind, namespace, name, cluster. */
static int wanted(const struct world *w, const struct query_selector *sel, int64_t seq, char *text,
		  size_t size)
{
	int n = 0;
	*text = 0;
	for (unsigned i = 0; i < PARTS * PARTS * PARTS * PARTS; i++) {
		const struct entry of = {i / 27, i / 9 % 3, i / 3 % 3, i % 3, 0, 0};
		const struct entry *e = is_chosen(&of, sel) ? newest(w, &of, seq) : NULL;
		if (!e || !strcmp(reasons[e->reason], "Deleted"))
			continue;
		add(text, size, e->seq);
		n++;
	}
	return n;
}

static int take(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct world *w = arg;
	(void)depth;
	(void)err;
	add(w->text, sizeof(w->text), obj_i64(row, "seq", 0));
	return 0;
}

static void check(struct world *w, const struct query_selector *sel, int64_t seq)
{
	static char want[8192];
	struct error err = ERROR_INIT;
	w->text[0] = 0;
	int n = query_state(w->log.db, sel, seq, take, w, &err);
	assert_int_equal(n, wanted(w, sel, seq, want, sizeof(want)));
	assert_string_equal(w->text, want);
}

/* Each selector, and none, at each entry. */
static void test_audit_state__is_that_of_a_model(void **state)
{
	static struct world w;
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		setup(&w, seed);
		int64_t last = audit_last_seq(w.log.audit);
		for (int64_t seq = 1; seq <= last; seq++) {
			struct query_selector sel = {0};
			check(&w, &sel, seq);
			sel.kind = below(&w, 2) ? kinds[below(&w, PARTS)] : NULL;
			sel.ns = below(&w, 2) ? spaces[below(&w, PARTS)] : NULL;
			sel.name = below(&w, 2) ? names[below(&w, PARTS)] : NULL;
			sel.cluster = below(&w, 2) ? clusters[below(&w, PARTS)] : NULL;
			check(&w, &sel, seq);
		}
		audit_log_close(&w.log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_state__is_that_of_a_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
