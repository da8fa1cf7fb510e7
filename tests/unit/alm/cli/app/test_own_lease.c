/* Whether a controller of ALM works, by its Lease. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/app/overview.h"
#include "alm/cli/app/own_lease.h"
#include "alm/obj/yaml.h"

#define AT "2026-11-28T11:21:54.173142Z"
#define GIVEN_UP                                                                                 \
	"none works, nothing goes on until one does: Lease alm-system/alm-controller was given " \
	"up at " AT
#define LOST                                                                                       \
	"none works, nothing goes on until one does: Lease alm-system/alm-controller was renewed " \
	"last at " AT

/* s: so many seconds after it was renewed. want: how the text begins; NULL: there is no trouble. */
/* clang-format off */
static const struct { const char *lease; int s; const char *want; } rows[] = {
	{"{spec: {holderIdentity: alm.local/1, renewTime: \"" AT "\"}}", 0, NULL},
	{"{spec: {holderIdentity: alm.local/1, renewTime: \"" AT "\"}}", 89, NULL},
	{"{spec: {holderIdentity: alm.local/1, renewTime: \"" AT "\"}}", 91, LOST},
	{"{spec: {holderIdentity: alm.local/1, renewTime: \"" AT "\"}}", -3600, NULL},
	{"{spec: {holderIdentity: \"\", renewTime: \"" AT "\"}}", 29, NULL},
	{"{spec: {holderIdentity: \"\", renewTime: \"" AT "\"}}", 31, GIVEN_UP},
	{"{spec: {renewTime: \"" AT "\"}}", 31, GIVEN_UP},
	{"{spec: {holderIdentity: alm.local/1}}", 91, NULL},
	{"{spec: {holderIdentity: alm.local/1, renewTime: soon}}", 91, NULL},
	{NULL, 0, "none works, there is no Lease alm-system/alm-controller: `alm install --to-cluster"},
};
/* clang-format on */

static void test_own_lease__who_works(void **state)
{
	(void)state;
	int64_t at;
	assert_true(clock_parse(STR(AT), &at));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		if (rows[i].lease)
			assert_ok(yaml_parse_one(str_of(rows[i].lease), &o, &err), &err);
		const char *is = own_lease_trouble(o, at + rows[i].s * NS_PER_S, a);
		if (!rows[i].want)
			assert_null(is);
		else
			assert_memory_equal(is, rows[i].want, strlen(rows[i].want));
	}
}

static void test_own_lease__is_the_first_that_status_tells(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 12);
	const struct overview_input in = {.controller = "none works"};
	CLEANUP(obj_unrefp) struct obj *o = overview_new(&in, a);
	overview_print(o, a, &b);
	assert_string_equal(
		b.buf,
		"controller: none works\n\nNo app is declared: `kubectl create -f` an AppType.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_lease__who_works),
		cmocka_unit_test(test_own_lease__is_the_first_that_status_tells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
