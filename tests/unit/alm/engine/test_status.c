/* What a status write says of itself: nothing where nothing changed, else why. */
#include "tests/lib/test.h"

#include "alm/engine/status.h"
#include "alm/obj/json.h"

#define C(type, status, reason)                                                 \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"message\":\"m-" reason "\"}"
#define ONE(c)    "{\"x\":1,\"conditions\":[" c "]}"
#define TWO(c, d) "{\"x\":1,\"conditions\":[" c "," d "]}"

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static const struct action *planned(struct plan *p, struct arena *a, const char *old,
				    const char *new, const char *state, const char *message)
{
	struct obj *live = parse("{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\","
				 "\"metadata\":{\"name\":\"web\",\"uid\":\"u\"}}");
	obj_keep(a, live);
	if (old)
		obj_set(live, "status", parse(old));
	plan_init(p, a);
	const struct action *x = status_plan(p, live, parse(new), "Old", state, message);
	assert_int_equal(p->n, x != NULL);
	return x;
}

static void test_status__the_reason_of_a_write(void **state)
{
	static const struct {
		const char *old, *new, *state, *message, *reason, *told;
	} rows[] = {
		/* the state goes before any condition */
		{ONE(C("Ready", "True", "R1")), ONE(C("Ready", "False", "R2")), "New", "m", "New",
		 "m"},
		/* then the first condition that turned, and its message where none is given */
		{ONE(C("Ready", "True", "R1")), ONE(C("Ready", "False", "R2")), "Old", "", "R2",
		 "m-R2"},
		{ONE(C("Ready", "True", "R1")), ONE(C("Ready", "False", "R2")), "Old", NULL, "R2",
		 "m-R2"},
		{ONE(C("Ready", "True", "R1")), ONE(C("Ready", "False", "R2")), "Old", "m", "R2",
		 "m"},
		{TWO(C("A", "True", "A1"), C("B", "True", "B1")),
		 TWO(C("A", "True", "A2"), C("B", "False", "B2")), "Old", "", "B2", "m-B2"},
		/* a condition that is new turned, and one that is gone */
		{ONE(C("A", "True", "A1")), TWO(C("A", "True", "A1"), C("B", "True", "B1")), "Old",
		 "", "B1", "m-B1"},
		{NULL, ONE(C("A", "True", "A1")), "Old", "", "A1", "m-A1"},
		{ONE(C("A", "True", "A1")), "{\"x\":1}", "Old", "", "Refreshed", ""},
		/* what else changed is a refresh */
		{ONE(C("A", "True", "A1")), ONE(C("A", "True", "A2")), "Old", "m", "Refreshed",
		 "m"},
		{"{\"x\":1}", "{\"x\":2}", "Old", "m", "Refreshed", "m"},
		{"{\"x\":1}", "{}", "Old", "m", "Refreshed", "m"},
		/* the same, but for its number, is no write, whatever state is told */
		{"{\"x\":1,\"transitionSeq\":4}", "{\"x\":1,\"transitionSeq\":5}", "Old", "m", NULL,
		 NULL},
		{"{\"x\":1}", "{\"x\":1,\"transitionSeq\":5}", "New", "m", NULL, NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		struct plan p;
		const struct action *x =
			planned(&p, a, rows[i].old, rows[i].new, rows[i].state, rows[i].message);
		if (!rows[i].reason) {
			assert_null(x);
			continue;
		}
		assert_int_equal(x->type, ACT_STATUS);
		assert_string_equal(x->reason, rows[i].reason);
		assert_string_equal(x->message ? x->message : "", rows[i].told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status__the_reason_of_a_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
