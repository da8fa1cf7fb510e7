/* test_strategy_objects.c: in which order the objects of a plan are applied, by a model of a few lines. */
#include "tests/lib/test.h"

#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/obj/meta.h"
#include "tests/lib/strategy_fake.h"

enum { ENTRIES = 6, ROUNDS = 2000, GROUPS = 4 };

#define STRATEGY                                                                        \
	"{\"apiVersion\":\"o/v1\",\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":" \
	"\"s\",\"uid\":\"u\"}}"
#define OBJECT                                                                           \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"o%zu\"," \
	"\"namespace\":\"n\"}}"
#define LIVE                                                                             \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"o%zu\"," \
	"\"namespace\":\"n\",\"annotations\":{\"app.coreos.com/applied\":\"%s\"}%s}}"
#define DELETED ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""

/* UNKNOWN: no informer has told of its kind; it waits for that. */
enum what { ABSENT, APPLIED, FORMER, GOING, UNKNOWN, WHATS };

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct unit_entry entries[ENTRIES];
	enum what what[ENTRIES];
	struct install_plan install;
	struct strategy_pass s;
	uint64_t x;
};

static unsigned below(struct world *w, unsigned n)
{
	w->x = w->x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(w->x >> 33) % n;
}

static void set_entry(struct world *w, size_t i)
{
	enum what what = (enum what)below(w, WHATS);
	bool there = what != ABSENT && what != UNKNOWN;
	w->what[i] = what;
	w->entries[i] = (struct unit_entry){
		.object = view_fake_obj(&w->f, arena_fmt(w->f.a, OBJECT, i)),
		.live = there ? view_fake_obj(&w->f, arena_fmt(w->f.a, LIVE, i,
							       what == FORMER ? "old" : "d",
							       what == GOING ? DELETED : ""))
			      : NULL,
		.digest = "d",
		.kind = "ConfigMap",
		.name = arena_fmt(w->f.a, "o%zu", i),
		.ns = "n",
		.unknown = what == UNKNOWN,
		.group = (int)below(w, GROUPS)};
}

static void begin(struct world *w, uint64_t seed)
{
	*w = (struct world){.x = seed};
	view_fake_init(&w->f);
	w->ref = (struct strategy_ref){
		.o = view_fake_obj(&w->f, STRATEGY), .name = "s", .version = "1.0.0"};
	w->app = (struct app){.name = "etcd", .self_ref = "etcd.io", .o = w->ref.o};
	for (size_t i = 0; i < ENTRIES; i++)
		set_entry(w, i);
	w->install = (struct install_plan){
		.release = "etcd", .ns = "n", .entries = w->entries, .n = ENTRIES};
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
	w->s.install = &w->install;
}

/* The first group that lacks something is written, or all of them at once; what is as it shall be is not. */
static size_t expect(const struct world *w, const struct strategy_groups *g, bool *now)
{
	size_t n_open = 0;
	for (int group = g->first; group <= g->last; group++) {
		size_t n = 0;
		for (size_t i = 0; i < ENTRIES; i++) {
			bool is_open = w->entries[i].group == group && w->what[i] != APPLIED;
			n += is_open;
			if (is_open && (!n_open || g->at_once))
				now[i] = w->what[i] != UNKNOWN;
		}
		n_open += n;
	}
	return n_open;
}

static void test_strategy_objects__group_after_group(void **state)
{
	(void)state;
	size_t n_done = 0, n_written = 0;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct world w;
		bool now[ENTRIES] = {false};
		begin(&w, seed);
		int first = (int)below(&w, GROUPS);
		const struct strategy_groups g = {.plan = &w.install,
						  .owner = &w.ref,
						  .first = first,
						  .last = first + (int)below(&w, GROUPS),
						  .at_once = below(&w, 2)};
		size_t n_open = expect(&w, &g, now), n = 0;
		assert_int_equal(strategy_apply_groups(&w.s, &g), n_open ? WAITING : DONE);
		for (size_t i = 0; i < ENTRIES; i++) {
			const struct action *x =
				view_fake_action(&w.f, ACT_APPLY, "ConfigMap", w.entries[i].name);
			if (!x != !now[i])
				fail_msg("seed %d: object %zu", (int)seed, i);
			if (!x)
				continue;
			assert_int_equal(x->stage, w.entries[i].group);
			assert_true(x->force);
			assert_string_equal(meta_annotation(x->body, ANNOTATION_APPLIED), "d");
			assert_string_equal(meta_label(x->body, LABEL_APP), "etcd");
			n++;
		}
		assert_int_equal(w.s.plan->n, n);
		n_done += !n_open;
		n_written += n;
		view_fake_release(&w.f);
	}
	assert_true(n_done > ROUNDS / 50 && n_written > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_objects__group_after_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
