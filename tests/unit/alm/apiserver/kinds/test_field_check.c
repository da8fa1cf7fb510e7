/* test_field_check.c: what was wrong before is forgiven, and nothing else; names, in the words of Kubernetes 1.36. */
#include "alm/apiserver/kinds/field_check.h"

#include <string.h>

#include "alm/base/arena.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

static struct field_errors *some_errors(struct arena *a)
{
	struct field_errors *e = ARENA_NEW(a, struct field_errors);
	field_errors_init(e, a);
	return e;
}

struct fault {
	enum field_error_type type;
	const char *path, *message;
	const char *
		of; /* JSON of what it is said of; "text": the message shows a text; NULL: neither */
};

static void add_fault(struct field_errors *e, const struct fault *x)
{
	field_errors_add(e, x->type, x->path, "%s", x->message);
	if (!x->of)
		return;
	if (strcmp(x->of, "text") == 0)
		e->items[e->n - 1].is_of_text = true;
	else
		check_said_of(e, obj_keep(e->arena, told_read(x->of)));
}

static const struct fault was[] = {
	{FIELD_INVALID, "spec.a[0].name", "Invalid value: \"x\": bad", "text"},
	{FIELD_INVALID, "spec.b[1]", "bad", "{\"k\":1}"},
	{FIELD_REQUIRED, "c", "Required value", NULL},
};

static const struct {
	struct fault x;
	bool stays;
} forgiven[] = {
	{{FIELD_INVALID, "spec.a[0].name", "Invalid value: \"x\": bad", "text"}, false},
	{{FIELD_INVALID, "spec.z[7].name", "Invalid value: \"x\": bad", "text"}, false},
	{{FIELD_INVALID, "spec.a[0].names", "Invalid value: \"x\": bad", "text"}, true},
	{{FIELD_INVALID, "spec.a[0].name", "Invalid value: \"y\": bad", "text"}, true},
	{{FIELD_FORBIDDEN, "spec.a[0].name", "Invalid value: \"x\": bad", "text"}, true},
	{{FIELD_INVALID, "spec.a[0].name", "Invalid value: \"x\": bad", NULL}, true},
	{{FIELD_INVALID, "spec.a[0].name", "Invalid value: \"x\": bad", "\"x\""}, true},
	{{FIELD_INVALID, "spec.b[1]", "bad", "{\"k\":1}"}, false},
	{{FIELD_INVALID, "b[2]", "bad", "{\"k\":1}"}, false},
	{{FIELD_INVALID, "spec.b[1]", "bad", "{\"k\":2}"}, true},
	{{FIELD_INVALID, "spec.b[1]", "bad", "text"}, false},
	{{FIELD_INVALID, "spec.b[1]", "worse", "{\"k\":1}"}, true},
	{{FIELD_REQUIRED, "spec.b[1]", "bad", "{\"k\":1}"}, true},
	{{FIELD_INVALID, "spec.d[1]", "bad", "{\"k\":1}"}, true},
	{{FIELD_REQUIRED, "c", "Required value", NULL}, true},
};

static void test_field_check__what_was_said_before_is_forgiven(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct field_errors *before = some_errors(a), *e = some_errors(a), *want = some_errors(a);
	for (size_t i = 0; i < ARRAY_LEN(was); i++)
		add_fault(before, &was[i]);
	add_fault(e, &was[0]); /* in front of `from`: it stays */
	add_fault(want, &was[0]);
	for (size_t i = 0; i < ARRAY_LEN(forgiven); i++) {
		add_fault(e, &forgiven[i].x);
		if (forgiven[i].stays)
			add_fault(want, &forgiven[i].x);
	}
	check_forgive(e, 1, before);
	assert_int_equal(e->n, want->n);
	assert_int_equal(e->bytes, want->bytes);
	for (size_t i = 0; i < e->n; i++) {
		assert_string_equal(e->items[i].path, want->items[i].path);
		assert_string_equal(e->items[i].message, want->items[i].message);
		assert_int_equal(e->items[i].type, want->items[i].type);
	}
}

/* Who is not known may not be forgiven, and no error is marked but the one that was added. */
static void test_field_check__more_than_can_be_told(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct field_errors *before = some_errors(a), *e = some_errors(a);
	const struct obj *v = obj_keep(a, told_read("1"));
	add_fault(before, &was[1]);
	for (size_t i = 0; i < FIELD_ERRORS_MAX; i++)
		add_fault(e, &was[1]);
	const struct obj *last = e->items[e->n - 1].of;
	check_required(e, "a", NULL);
	check_said_of(e, v);
	assert_ptr_equal(e->items[e->n - 1].of, last);
	check_forgive(e, 0, before);
	assert_int_equal(e->n, FIELD_ERRORS_MAX);
	assert_int_equal(e->omitted, 1);
}

static void test_field_check__all_since_are_said_of_it(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct field_errors *e = some_errors(a);
	const struct obj *v = obj_keep(a, told_read("1"));
	for (size_t i = 0; i < 3; i++)
		check_required(e, "a", NULL);
	check_said_since(e, 1, v);
	check_said_since(e, 0, NULL); /* what is not there takes no mark away */
	assert_null(e->items[0].of);
	assert_ptr_equal(e->items[1].of, v);
	assert_ptr_equal(e->items[2].of, v);
}

#define QUALIFIED                                                                              \
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start "  \
	"and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc'," \
	" regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define SUBDOMAIN                                                                            \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters," \
	" '-' or '.', and must start and end with an alphanumeric character (e.g. "          \
	"'example.com', regex used for validation is "                                       \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define CONFIG_KEY                                                                          \
	"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g." \
	" 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "        \
	"'[-._a-zA-Z0-9]+')"
#define DOMAIN_PATH "must be a domain-prefixed path (such as \"acme.io/foo\")"
#define X63         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct named {
	void (*check)(struct field_errors *e, const char *path, const char *text);
	const char *text, *want;
} names[] = {
	{check_domain_path, "acme.io/foo", ""},
	{check_domain_path, "", "p: Required value"},
	{check_domain_path, "acme.io", "p: Invalid value: \"acme.io\": " DOMAIN_PATH},
	{check_domain_path, "/foo", "p: Invalid value: \"/foo\": " DOMAIN_PATH},
	{check_domain_path, "acme.io/", "p: Invalid value: \"acme.io/\": " DOMAIN_PATH},
	{check_domain_path, "A/foo/b", "p: Invalid value: \"A\": " SUBDOMAIN},
	{check_config_key, "a", ""},
	{check_config_key, "..", "p: Invalid value: \"..\": must not be '..'"},
	{check_config_key, ".", "p: Invalid value: \".\": must not be '.'"},
	{check_config_key, "..a", "p: Invalid value: \"..a\": must not start with '..'"},
	{check_config_key, ".a", ""},
	{check_config_key, "a/b", "p: Invalid value: \"a/b\": " CONFIG_KEY},
	{check_config_key, "", "p: Invalid value: \"\": " CONFIG_KEY},
	{check_driver_name, "Acme.io", ""},
	{check_driver_name, "", "p: Required value"},
	{check_driver_name, X63, ""},
	{check_driver_name, X63 "x", "p: Too long: may not be more than 63 bytes"},
	{check_driver_name, "A_", "p: Invalid value: \"A_\": " SUBDOMAIN},
	{check_container_resource, "cpu", ""},
	{check_container_resource, "hugepages-2Mi", ""},
	{check_container_resource, "acme.io/gpu", ""},
	{check_container_resource, "pods",
	 "p: Invalid value: \"pods\": must be a standard resource for containers"},
	{check_container_resource, "kubernetes.io/x", ""},
	{check_container_resource, "a.kubernetes.io/x", ""},
	{check_container_resource, "requests.acme.io/x",
	 "p: Invalid value: \"requests.acme.io/x\": doesn't follow extended resource name "
	 "standard"},
	{check_resource_name, "pods", ""},
	{check_resource_name, "acme.io/pods", ""},
	{check_resource_name, "x",
	 "p: Invalid value: \"x\": must be a standard resource type or fully qualified"},
	{check_resource_name, "-", "p: Invalid value: \"-\": " QUALIFIED},
};

static void test_field_check__names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		struct field_errors *e = some_errors(a);
		names[i].check(e, "p", names[i].text);
		assert_told(e, names[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_field_check__what_was_said_before_is_forgiven),
		cmocka_unit_test(test_field_check__more_than_can_be_told),
		cmocka_unit_test(test_field_check__all_since_are_said_of_it),
		cmocka_unit_test(test_field_check__names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
