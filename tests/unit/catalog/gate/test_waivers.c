/* test_waivers.c: the command that accepts what the gate refuses: what is in it, what is not, and
 * that a shell reads nothing into it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "catalog/gate/waivers.h"

#define REFUSAL(rule, path, rest)                                                             \
	"{\"rule\":\"" rule "\",\"resource\":\"ws.e.io/v1\"," path "\"affected\":2,\"seen\":" \
	"3," rest "}"
#define WAIVABLE(path) REFUSAL("FieldRemoved", "\"path\":\"" path "\",", "\"waivable\":true")

struct world {
	struct arena *a;
	struct obj *steps;
};

static int setup(void **state)
{
	static struct world w;
	w.a = arena_new((size_t)64 << 20);
	w.steps = obj_keep(w.a, obj_list());
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	arena_free(w->a);
	return 0;
}

static const struct obj *parse(const struct world *w, const char *json)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return obj_keep(w->a, o);
}

static const struct obj *made(struct world *w, const char *old, const struct obj *refusals,
			      size_t n_unlisted)
{
	const struct waivers_input in = {.app = "a",
					 .version = "2.0.0",
					 .old = old ? parse(w, old) : NULL,
					 .refusals = refusals,
					 .n_unlisted = n_unlisted};
	return obj_keep(w->a, waivers_steps(&in, w->a, w->steps));
}

static const char *step(const struct world *w, size_t i)
{
	return obj_as_string(obj_at(w->steps, i));
}

static const struct obj *many(const struct world *w, size_t n)
{
	struct obj *list = obj_keep(w->a, obj_list());
	for (size_t i = 0; i < n; i++) {
		struct obj *f = obj_copy(parse(w, WAIVABLE("spec.x")));
		obj_set(f, "path", obj_stringf("spec.x%zu", i));
		obj_append(list, f);
	}
	return list;
}

/* A waiver takes the place of the same one alone: of this rule, resource and path. */
static void test_waivers__another_path_is_another_waiver(void **state)
{
	static const char *const fields[] = {"rule", "resource", "path"};
	struct world *w = *state;
	const struct obj *added =
		parse(w, "[{\"rule\":\"R\",\"resource\":\"b\",\"path\":\"spec.x\"}]");
	for (size_t i = 0; i <= ARRAY_LEN(fields); i++) {
		struct obj *old = obj_keep(w->a, obj_copy(added));
		if (i < ARRAY_LEN(fields))
			obj_set_str(obj_at_mut(old, 0), fields[i], "other");
		CLEANUP(obj_unrefp) struct obj *all = waivers_join(old, added);
		assert_int_equal(obj_len(all), i < ARRAY_LEN(fields) ? 2 : 1);
	}
}

static void test_waivers__all_in_one_command_with_those_of_before(void **state)
{
	struct world *w = *state;
	const struct obj *list = made(
		w,
		"[{\"rule\":\"FieldRemoved\",\"resource\":\"ws.e.io/"
		"v1\",\"path\":\"spec.x\",\"expires\":"
		"\"2020-01-01T00:00:00Z\",\"reason\":\"old\"},{\"rule\":\"R\",\"resource\":\"b\","
		"\"reason\":\"kept\"}]",
		parse(w, "[" WAIVABLE("spec.x") "," REFUSAL("SubresourceRemoved", "",
							    "\"waivable\":true") "]"),
		0);
	assert_int_equal(obj_len(list), 2);
	assert_int_equal(obj_len(w->steps), 1);
	assert_string_equal(
		step(w, 0),
		"kubectl patch apptype a --type=merge -p '{\"spec\":{\"upgrade\":{\"waivers\":["
		"{\"rule\":\"R\",\"resource\":\"b\",\"reason\":\"kept\"},"
		"{\"rule\":\"FieldRemoved\",\"resource\":\"ws.e.io/"
		"v1\",\"path\":\"spec.x\",\"reason\":"
		"\"accepted for 2.0.0: 2 of 3 objects affected\"},"
		"{\"rule\":\"SubresourceRemoved\",\"resource\":\"ws.e.io/"
		"v1\",\"reason\":\"accepted for "
		"2.0.0: 2 of 3 objects affected\"}]}}}' # accepts 2 findings: FieldRemoved "
		"ws.e.io/v1 "
		"spec.x (2 of 3 objects), SubresourceRemoved ws.e.io/v1 (2 of 3 objects); what "
		"does not "
		"fit in these objects is lost or refused when they are written: change them first "
		"to "
		"keep it");
}

static void test_waivers__a_shell_reads_nothing_into_a_name(void **state)
{
	struct world *w = *state;
	made(w, NULL, parse(w, "[" WAIVABLE("spec.it's #1 \\n rm \\u202e \\\" $(x)") "]"), 0);
	const char *text = step(w, 0), *comment = strchr(text, '#');
	assert_non_null(strstr(text, "\"spec.it\\u0027s \\u00231 \\n rm \\u202e \\\" $(x)\""));
	assert_non_null(comment);
	assert_null(strchr(text, '\n')); /* the comment ends where the step ends */
	assert_ptr_equal(comment[-2] == '\'' ? comment : NULL, comment);
	size_t quotes = 0;
	for (const char *p = text; p < comment; p++)
		quotes += *p == '\'';
	assert_int_equal(quotes, 2);
}

static void test_waivers__what_no_waiver_covers(void **state)
{
	struct world *w = *state;
	assert_int_equal(
		obj_len(made(w, NULL,
			     parse(w, "[" WAIVABLE("spec.x") "," REFUSAL(
					      "ScopeChanged", "",
					      "\"waivable\":false,\"remedy\":\"a new kind\"") "]"),
			     0)),
		0);
	assert_int_equal(obj_len(w->steps), 1);
	assert_string_equal(
		step(w, 0),
		"alm diff a --to 2.0.0 # no waiver covers ScopeChanged ws.e.io/v1: a new kind");
}

static void test_waivers__a_migration_once_and_the_rest(void **state)
{
	struct world *w = *state;
#define GOES(rule) \
	REFUSAL(rule, "", "\"waivable\":false,\"command\":\"alm crd migrate ws.e.io --to v2\"")
	const struct obj *list =
		made(w, NULL,
		     parse(w, "[" GOES("VersionRemoved") "," GOES(
				      "StoredVersionRemoved") "," WAIVABLE("spec.x") "]"),
		     0);
	assert_int_equal(obj_len(list), 1);
	assert_int_equal(obj_len(w->steps), 2);
	assert_string_equal(step(w, 0),
			    "alm crd migrate ws.e.io --to v2 # VersionRemoved ws.e.io/v1");
	assert_true(cstr_has_prefix(step(w, 1), "kubectl patch apptype a"));
}

/* At the bound, and one over. */
static void test_waivers__bounds(void **state)
{
	struct world *w = *state;
	made(w, NULL, many(w, WAIVERS_INLINE_MAX), 0);
	assert_true(cstr_has_prefix(step(w, 0), "kubectl patch"));
	made(w, NULL, many(w, WAIVERS_INLINE_MAX + 1), 0);
	assert_true(cstr_has_prefix(step(w, 1),
				    "alm why-not a 2.0.0 -o yaml | kubectl patch apptype a "
				    "--type=merge --patch-file=/dev/stdin # accepts 21 "
				    "findings: "));
	assert_non_null(strstr(step(w, 1), " and 1 more;"));
	assert_int_equal(obj_len(made(w, NULL, many(w, WAIVERS_MAX), 0)), WAIVERS_MAX);
	assert_int_equal(obj_len(w->steps), 3);
	assert_int_equal(obj_len(made(w, NULL, many(w, WAIVERS_MAX), 1)), 0);
	assert_string_equal(
		step(w, 3),
		"alm diff a --to 2.0.0 # the publisher must keep the CRDs compatible: it would "
		"take 1001 items of spec.upgrade.waivers, which holds 1000");
	const char *old = "[{\"rule\":\"R\",\"resource\":\"b\",\"reason\":\"kept\"}]";
	assert_int_equal(obj_len(made(w, old, many(w, WAIVERS_MAX), 0)), 0);
}

/* One command is the beginning of another: both are there. */
static void test_waivers__a_command_that_begins_like_another_is_its_own(void **state)
{
	struct world *w = *state;
	static const char *const commands[] = {"alm crd migrate ws.e.io.au",
					       "alm crd migrate ws.e.io"};
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		struct obj *f = obj_copy(
			parse(w, REFUSAL("StoredVersionRemoved", "", "\"waivable\":false")));
		CLEANUP(obj_unrefp) struct obj *list = obj_list();
		obj_set_str(f, "command", commands[i]);
		obj_append(list, f);
		obj_append(list, obj_ref(f)); /* that of two findings is told once */
		made(w, NULL, list, 0);
	}
	assert_int_equal(obj_len(w->steps), 2);
	assert_true(cstr_has_prefix(step(w, 1), "alm crd migrate ws.e.io # "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_waivers__a_command_that_begins_like_another_is_its_own, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_waivers__all_in_one_command_with_those_of_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waivers__another_path_is_another_waiver, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waivers__a_shell_reads_nothing_into_a_name,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_waivers__what_no_waiver_covers, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waivers__a_migration_once_and_the_rest, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_waivers__bounds, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
