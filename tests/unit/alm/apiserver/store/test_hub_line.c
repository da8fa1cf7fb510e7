/* The lines of a watch, in each form that a client may ask for. */
#include <stdio.h>
#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define MAPS  "/api/v1/namespaces/default/configmaps"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"
#define META  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"

enum { AS_IS, AS_ROWS };
static const struct {
	const char *accept, *kind;
} forms[] = {{"application/json", "ConfigMap"}, {TABLE, "Table"}, {META, "PartialObjectMetadata"}};

/* Each line is an object of this kind; their types, "ADDED MODIFIED ". *ret_last: the last one, owned. */
static const char *types_of(struct answer a, const char *kind, struct obj **ret_last)
{
	static char types[256];
	struct str rest = a.body, line;
	types[0] = '\0';
	while (rest.len && str_next_line(&rest, &line)) {
		struct error err = ERROR_INIT;
		obj_unref(*ret_last);
		*ret_last = NULL;
		if (json_parse(line, ret_last, &err) < 0)
			fail_msg("%s: %.*s", err.msg, STR_ARG(line));
		assert_string_equal(obj_str(*ret_last, "object.kind"), kind);
		size_t n = strlen(types);
		(void)snprintf(types + n, sizeof(types) - n, "%s ", obj_str(*ret_last, "type"));
	}
	return types;
}

/* What is told of, as its row has it or as it is. */
static const struct obj *meta_of(const struct obj *line, size_t form)
{
	const struct obj *o = obj_get(line, "object");
	if (form == AS_ROWS)
		o = obj_get(obj_at(obj_get(o, "rows"), 0), "object");
	return obj_get(o, "metadata");
}

static void test_hub_line__each_form_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(obj_unrefp) struct obj *last = NULL;
		assert_int_equal(
			apifake_do(f, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"}}").status, 201);
		apifake_header(f, "Accept", forms[i].accept);
		size_t n = apifake_send(f, "GET", MAPS "?watch=1&resourceVersion=0", NULL, NULL);
		apifake_run(f);
		assert_int_equal(
			apifake_do(f, "POST", MAPS, "{\"metadata\":{\"name\":\"b\"}}").status, 201);
		assert_int_equal(apifake_do(f, "DELETE", MAPS "/a", NULL).status, 200);
		apifake_run(f);
		const char *types = types_of(apifake_answer(f, n), forms[i].kind, &last);
		if (!cstr_has_suffix(types, "ADDED ADDED DELETED "))
			fail_msg("%s: %s", forms[i].accept, types);
		assert_string_equal(obj_str(meta_of(last, i), "name"), "a");
		apifake_close(f, n);
	}
}

/* The end of what there was is a bookmark; how an empty list looks stands in it for objects alone. */
static void test_hub_line__the_end_of_the_beginning(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(obj_unrefp) struct obj *last = NULL;
		apifake_header(f, "Accept", forms[i].accept);
		size_t n = apifake_send(f, "GET",
					MAPS "?watch=1&allowWatchBookmarks=true&sendInitialEvents="
					     "true&resourceVersionMatch=NotOlderThan",
					NULL, NULL);
		apifake_run(f);
		const char *types = types_of(apifake_answer(f, n), forms[i].kind, &last);
		assert_true(cstr_has_suffix(types, "BOOKMARK "));
		const struct obj *notes = obj_get(meta_of(last, i), "annotations");
		assert_string_equal(obj_as_string(obj_get(notes, "k8s.io/initial-events-end")),
				    "true");
		assert_int_equal(obj_get(notes, "kubernetes.io/initial-events-list-blueprint") !=
					 NULL,
				 i == AS_IS);
		apifake_close(f, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hub_line__each_form_is_whole),
		cmocka_unit_test(test_hub_line__the_end_of_the_beginning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
