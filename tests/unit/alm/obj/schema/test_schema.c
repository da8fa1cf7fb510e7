/* test_schema.c: structural schemas against recorded answers (G14 to G65) and tables of cases. */
#include <stdio.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/regex/regex.h"
#include "alm/obj/schema/schema.h"
#include "alm/obj/schema/schema_node.h"
#include "tests/lib/recorded.h"
#include "tests/lib/test.h"

#define LIMIT ((size_t)1 << 20)

struct fixture {
	struct arena *arena;
	struct field_errors *errors;
};

static int setup(void **state)
{
	static struct fixture f;
	f.arena = arena_new(LIMIT);
	f.errors = ARENA_NEW(f.arena, struct field_errors);
	field_errors_init(f.errors, f.arena);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_free(f->arena);
	return 0;
}

static struct obj *parse(struct fixture *f, const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(f->arena, o);
}

static struct schema *compile(const struct obj *openapi)
{
	struct schema *s = NULL;
	struct error err = ERROR_INIT;
	assert_ok(schema_compile(openapi, &s, &err), &err);
	return s;
}

static struct schema *widgets(void)
{
	struct obj *openapi = recorded_schema(14);
	struct schema *s = compile(openapi);
	obj_unref(openapi);
	return s;
}

static void test_schema__texts_are_those_of_G33(void **state)
{
	struct fixture *f = *state;
	struct schema *s = widgets();
	struct obj *r = obj_keep(f->arena, recorded(33));
	struct obj *o = obj_copy(obj_get(r, "body"));
	schema_prune(s, o, NULL, NULL);
	schema_default(s, o);
	schema_validate(s, o, f->errors);
	assert_causes(r, f->errors);
	assert_false(schema_accepts(s, o));
	obj_unref(o);
	schema_free(s);
}

static void test_schema__illegal_definitions_read_as_G18_and_G19(void **state)
{
	struct fixture *f = *state;
	static const int numbers[] = {18, 19};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct obj *r = obj_keep(f->arena, recorded(numbers[i]));
		struct obj *openapi = recorded_schema(numbers[i]);
		field_errors_init(f->errors, f->arena);
		schema_check(openapi, "spec.validation.openAPIV3Schema", NULL, f->errors);
		assert_causes(r, f->errors);
		obj_unref(openapi);
	}
}

static void test_schema__legal_definition_has_no_finding(void **state)
{
	struct fixture *f = *state;
	struct obj *openapi = recorded_schema(14);
	schema_check(openapi, "x", NULL, f->errors);
	assert_int_equal(f->errors->n, 0);
	obj_unref(openapi);
}

static const char *const odd[] = {
	"{\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"type\":\"integer\",\"allOf\":[],"
	"\"enum\":"
	"[],\"patternProperties\":{},\"additionalProperties\":false,\"items\":[]},{\"type\":"
	"\"string\"}]}",
	"{\"x-kubernetes-int-or-string\":true,\"default\":{}}",
	"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"x-kubernetes-list-type\":\"set\","
	"\"default\":[\"a\",\"a\"]}",
	"{\"type\":\"integer\",\"default\":1,\"x-kubernetes-validations\":[{\"rule\":"
	"\"self == oldSelf\"}]}",
	/* these are none that say nothing */
	"{\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"type\":\"integer\",\"required\":[]},"
	"{\"type\":\"string\"}]}",
	"{\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"type\":\"integer\",\"items\":{}},"
	"{\"type\":\"string\"}]}",
};

/* What says nothing, and defaults that only values are judged by (a real 1.36.3). */
static void test_schema__legal_though_odd(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		field_errors_init(f->errors, f->arena);
		schema_check(parse(f, arena_fmt(f->arena,
						"{\"type\":\"object\",\"properties\":{\"x\":%s}}",
						odd[i])),
			     "S", NULL, f->errors);
		assert_int_equal(f->errors->n, i < 4 ? 0 : 2);
	}
}

static void collect(void *arg, const char *path)
{
	strbuf_addf(arg, "%s ", path);
}

static void test_schema__unknown_fields_are_those_of_G29_and_G34(void **state)
{
	struct fixture *f = *state;
	struct schema *s = widgets();
	struct obj *o = obj_copy(obj_get(obj_keep(f->arena, recorded(34)), "body"));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	schema_prune(s, o, collect, &b);
	assert_string_equal(b.buf, "spec.bogus spec.emb.metadata.bogus ");
	obj_unref(o);

	struct obj *r = obj_keep(f->arena, recorded(29));
	o = obj_copy(obj_get(r, "body"));
	schema_prune(s, o, NULL, NULL);
	schema_default(s, o);
	assert_true(obj_equal(obj_get(o, "spec"), obj_path(r, "resp.spec")));
	obj_unref(o);
	schema_free(s);
}

static void test_schema__null_becomes_the_default_as_in_G65(void **state)
{
	struct fixture *f = *state;
	struct schema *s = widgets();
	struct obj *o =
		parse(f, "{\"spec\":{\"size\":1,\"color\":null,\"nul\":null,\"pat\":null}}");
	schema_default(s, o);
	assert_string_equal(obj_str(o, "spec.color"), "red");
	assert_true(obj_has(obj_get(o, "spec"), "nul"));
	assert_false(obj_has(obj_get(o, "spec"), "pat"));
	schema_free(s);
}

/* schema of spec, an object, and whether it stays as it is. */
static const struct {
	const char *schema, *object;
	bool stays;
} shapes[] = {
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}",
	 "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\",\"labels\":{\"x\":"
	 "\"y\"}},"
	 "\"spec\":{\"a\":\"b\"}}",
	 true},
	{"{\"type\":\"object\"}", "{\"other\":1}", false},
	{"{\"type\":\"object\"}", "{\"spec\":{\"a\":1}}", false},
	{"{\"type\":\"object\"}", "{\"metadata\":{\"name\":\"n\",\"odd\":1}}", false},
	{"{\"type\":\"object\"}", "{\"metadata\":{\"ownerReferences\":[{\"odd\":1}]}}", false},
	{"{\"type\":\"object\"}",
	 "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\"},{\"odd\":1}]}}", false},
	{"{\"type\":\"object\"}",
	 "{\"metadata\":{\"managedFields\":[{\"fieldsV1\":{\"f:odd\":{}}}]}}", true},
	{"{\"type\":\"object\"}", "{\"metadata\":7,\"spec\":{}}", true},
	{"{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}",
	 "{\"spec\":{\"a\":{\"b\":[{\"c\":1}]}}}", true},
	{"{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"a\":"
	 "{"
	 "\"type\":\"object\"}}}",
	 "{\"spec\":{\"a\":{\"b\":1}}}", false},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\","
	 "\"x-kubernetes-embedded-resource\":true}}}",
	 "{\"spec\":{\"a\":{\"kind\":\"K\",\"apiVersion\":\"v1\",\"metadata\":{\"odd\":1}}}}",
	 false},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\","
	 "\"x-kubernetes-embedded-resource\":true}}}",
	 "{\"spec\":{\"a\":{\"kind\":\"K\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\"}}}}",
	 true},
	{"{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
	 "\"integer\"}}}}",
	 "{\"spec\":[{\"a\":1},{\"b\":1}]}", false},
	{"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{\"a\":"
	 "{"
	 "\"type\":\"integer\",\"default\":1}}}}",
	 "{\"spec\":{\"x\":{\"a\":2},\"y\":{}}}", false},
	{"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
	 "{\"spec\":{\"x\":null}}", false},
	{"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\",\"nullable\":true}}",
	 "{\"spec\":{\"x\":null}}", true},
	{"{\"type\":\"object\",\"additionalProperties\":true}", "{\"spec\":{\"x\":1}}", true},
	{"{\"type\":\"object\",\"additionalProperties\":true}", "{\"spec\":{\"x\":{\"y\":1}}}",
	 false},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"d\"}}}",
	 "{\"spec\":{}}", false},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}",
	 "{\"spec\":{\"a\":null}}", false},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"nullable\":true}}}",
	 "{\"spec\":{\"a\":null}}", true},
	{"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"default\":\"d\"}}",
	 "{\"spec\":[null]}", false},
	{"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "{\"spec\":[null]}", true},
};

static void test_schema__shaped_is_what_pruning_and_defaults_leave(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		const char *text =
			arena_fmt(f->arena, "{\"type\":\"object\",\"properties\":{\"spec\":%s}}",
				  shapes[i].schema);
		struct schema *s = NULL;
		struct error err = ERROR_INIT;
		assert_int_equal(schema_compile(parse(f, text), &s, &err), 0);
		const struct obj *before = parse(f, shapes[i].object);
		CLEANUP(obj_unrefp) struct obj *after = obj_copy(before);
		schema_prune(s, after, NULL, NULL);
		schema_default(s, after);
		if (schema_is_shaped(s, before) != shapes[i].stays ||
		    obj_equal(before, after) != shapes[i].stays || !schema_is_shaped(s, after))
			fail_msg("case %zu: %s of %s", i, shapes[i].schema, shapes[i].object);
		schema_free(s);
	}
}

/* schema of spec.x, a value, the expected error ("" none), without its path. */
static const struct {
	const char *schema, *value, *error;
} values[] = {
	{"{\"type\":\"integer\"}", "1.0", ""},
	{"{\"type\":\"integer\"}", "1e3", ""},
	{"{\"type\":\"integer\"}", "1.5",
	 "Invalid value: \"number\": x in body must be of type integer: \"number\""},
	{"{\"type\":\"integer\"}", "null",
	 "Invalid value: \"null\": x in body must be of type integer: \"null\""},
	{"{\"type\":\"integer\",\"nullable\":true}", "null", ""},
	{"{\"type\":\"number\"}", "3", ""},
	{"{\"type\":\"string\"}", "{}",
	 "Invalid value: \"object\": x in body must be of type string: \"object\""},
	{"{\"x-kubernetes-int-or-string\":true}", "\"50%\"", ""},
	{"{\"x-kubernetes-int-or-string\":true}", "5", ""},
	{"{\"type\":\"integer\",\"maximum\":5,\"exclusiveMaximum\":true}", "5",
	 "Invalid value: 5: x in body should be less than 5"},
	{"{\"type\":\"integer\",\"minimum\":9007199254740993}", "9007199254740992",
	 "Invalid value: 9007199254740992: x in body should be greater than or equal to "
	 "9007199254740992"},
	{"{\"type\":\"integer\",\"format\":\"int32\"}", "3000000000",
	 "Invalid value: \"\": Checked value must be of type integer with format int32 in x"},
	{"{\"type\":\"number\",\"maximum\":1000000}", "2e6",
	 "Invalid value: 2e+06: x in body should be less than or equal to 1e+06"},
	{"{\"type\":\"string\",\"allOf\":[{\"minLength\":1},{\"enum\":[\"b\"]}]}", "\"a\"",
	 "Unsupported value: \"a\": supported values: \"b\""},
	{"{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,"
	 "\"x-kubernetes-preserve-unknown-fields\":true}",
	 "{\"kind\":\"\",\"apiVersion\":\"v1\"}", "Invalid value: \"\": must not be empty"},
	{"{\"type\":\"string\",\"pattern\":\"^a$\"}", "\"b\"",
	 "Invalid value: \"b\": x in body should match '^a$'"},
	{"{\"type\":\"string\",\"pattern\":\"^a$\"}", "\"a\\n\"",
	 "Invalid value: \"a\\n\": x in body should match '^a$'"},
	{"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1}", "[]",
	 "Invalid value: 0: x in body should have at least 1 items"},
	{"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"minProperties\":1}",
	 "{}", "Invalid value: 0: x in body should have at least 1 properties"},
	{"{\"type\":\"string\",\"maxLength\":2}", "\"\xc3\xa4\xc3\xb6\"", ""},
	{"{\"type\":\"integer\",\"enum\":[1,2]}", "3",
	 "Unsupported value: 3: supported values: \"1\", \"2\""},
	{"{\"type\":\"string\",\"not\":{\"enum\":[\"a\"]}}", "\"a\"",
	 "Invalid value: \"\": \"x\" must not validate the schema (not)"},
	{"{\"type\":\"string\",\"anyOf\":[{\"enum\":[\"a\"]},{\"maxLength\":1}]}", "\"b\"", ""},
	{"{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"x-kubernetes-list-type\":\"set\"}",
	 "[1,2,1]", "Duplicate value: 1"},
	{"{\"type\":\"string\",\"format\":\"nonsense\"}", "\"b\"", ""},
	{"{\"type\":\"string\",\"format\":\"ipv4\"}", "\"1.2.3.256\"",
	 "Invalid value: \"1.2.3.256\": x in body must be of type ipv4: \"1.2.3.256\""},
};

static void test_schema__values(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		const char *text =
			arena_fmt(f->arena, "{\"type\":\"object\",\"properties\":{\"x\":%s}}",
				  values[i].schema);
		struct schema *s = compile(parse(f, text));
		struct obj *o = parse(f, arena_fmt(f->arena, "{\"x\":%s}", values[i].value));
		field_errors_init(f->errors, f->arena);
		schema_validate(s, o, f->errors);
		const char *got = f->errors->n ? f->errors->items[0].message : "";
		if (strcmp(got, values[i].error) != 0)
			fail_msg("%s of %s: %s", values[i].value, values[i].schema, got);
		assert_int_equal(schema_accepts(s, o), f->errors->n == 0);
		schema_free(s);
	}
}

static const struct {
	const char *format, *good, *bad;
} formats[] = {
	{"date-time", "2020-02-29T23:59:59.5+01:00", "2021-02-29T00:00:00Z"},
	{"date", "2020-01-31", "2020-1-31"},
	{"uuid", "00000000-0000-4000-8000-000000000000", "0000"},
	{"uuid4", "00000000-0000-4000-8000-000000000000", "00000000-0000-3000-8000-000000000000"},
	{"ipv4", "10.0.0.1", "10.0.0"},
	{"ipv6", "2001:db8::1", "2001:db8::1::2"},
	{"ipv6", "::ffff:1.2.3.4", "1.2.3.4"},
	{"cidr", "10.0.0.0/8", "10.0.0.0/33"},
	{"mac", "01:23:45:67:89:ab", "01:23:45:67:89"},
	{"hostname", "a.example.com", "-a.example.com"},
	{"email", "a.b@example.com", "a b@example.com"},
	{"uri", "https://example.com/x?y=1", "no scheme"},
	{"byte", "YWJj", "YWJ"},
	{"duration", "1h30m", "1x"},
	{"duration", "3 days", ""},
	{"hexcolor", "#ffaa00", "#ffaa0"},
	{"rgbcolor", "rgb(1, 2,3)", "rgb(1,2)"},
	{"isbn", "978-3-16-148410-0", "978-3-16-148410-1"},
	{"creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"},
	{"ssn", "123-45-6789", "123-456789"},
	{"bsonobjectid", "507f1f77bcf86cd799439011", "507f"},
};

static void test_schema__formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		assert_true(schema_format_known(formats[i].format));
		if (!schema_format_valid(formats[i].format, str_of(formats[i].good)) ||
		    schema_format_valid(formats[i].format, str_of(formats[i].bad)))
			fail_msg("%s: %s or %s", formats[i].format, formats[i].good,
				 formats[i].bad);
	}
}

static const struct {
	const char *pattern, *subject; /* subject NULL: refused */
	bool matches;
} patterns[] = {
	{"^(?P<a>x)+$", "xx", true}, {"^[[:alpha:]\\-.]+$", "a-.", true},
	{"a{2,3}", "caab", true},    {"\\Aa|b\\z", "xb", true},
	{"^\\s$", "\v", false},      {"^[^\\x00-\\x7F]$", "\xc3\xa4", true},
	{"(?i)ABC", "xabcx", true},  {"^a.c$", "a\nc", false},
	{"\\Qa.b\\E", "a.b", true},  {"{", "{", true},
	{"[a[]", "[", true},         {"\\pL", "\xc3\xa4", true},
	{"(?=a)", NULL, false},      {"(?<!a)b", NULL, false},
	{"(a)\\1", NULL, false},     {"a++", NULL, false},
	{"a*+", NULL, false},        {"(?>a)", NULL, false},
	{"(", NULL, false},          {"a)", NULL, false},
	{"*a", NULL, false},         {"a{1001}", NULL, false},
	{"[b-a]", NULL, false},      {"(*UTF)a", NULL, false},
	{"\\K", NULL, false},        {"(?R)", NULL, false},
};

static void test_schema__patterns_are_re2(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		struct error err = ERROR_INIT;
		uint64_t steps = REGEX_STEPS_MAX;
		const char *subject = patterns[i].subject ? patterns[i].subject : "";
		int rc = regex_matches(str_of(patterns[i].pattern), str_of(subject), &steps, &err);
		if ((rc < 0) != (patterns[i].subject == NULL))
			fail_msg("%s: %s", patterns[i].pattern, err.msg);
		if (rc >= 0 && (rc == REGEX_YES) != patterns[i].matches)
			fail_msg("%s on %s", patterns[i].pattern, patterns[i].subject);
	}
}

/* schema of spec.x and one finding, with its path below properties[x]. */
static const struct {
	const char *schema, *finding;
} illegal[] = {
	{"{\"type\":\"strin\"}",
	 ".type: Unsupported value: \"strin\": supported values: \"array\", "
	 "\"boolean\", \"integer\", \"number\", \"object\", \"string\""},
	{"{\"type\":\"array\"}", ".items: Required value: must be specified"},
	{"{\"type\":\"array\",\"items\":{}}",
	 ".items.type: Required value: must not be empty for specified array items"},
	{"{\"type\":\"string\",\"uniqueItems\":true}",
	 ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity "
	 "becomes quadratic"},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},"
	 "\"additionalProperties\":{\"type\":\"string\"}}",
	 ".additionalProperties: Forbidden: additionalProperties and properties are mutual "
	 "exclusive"},
	{"{\"type\":\"string\",\"anyOf\":[{\"type\":\"string\"}]}",
	 ".anyOf[0].type: Forbidden: must be empty to be structural"},
	{"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"x-kubernetes-list-type\":\"x\"}",
	 ".x-kubernetes-list-type: Unsupported value: \"x\": supported values: \"atomic\", "
	 "\"set\", "
	 "\"map\""},
	{"{\"type\":\"object\",\"properties\":{},\"default\":{\"a\":1}}",
	 ".default: Invalid value: {\"a\":1}: must not have unknown fields"},
	{"{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"default\":[\"x\"]}",
	 ".default.[0]: Invalid value: \"string\": [0] in body must be of type integer: "
	 "\"string\""},
	{"{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"x-kubernetes-validations\":[{"
	 "\"rule\":\"self < 5\"}]},\"default\":[1,9]}",
	 ".default[1]: Invalid value: 9: failed rule: self < 5"},
	{"{\"type\":\"integer\",\"default\":1,\"x-kubernetes-validations\":[{\"rule\":"
	 "\"self > oldSelf\"}]}",
	 ".default: Invalid value: 1: failed rule: self > oldSelf"},
	{"{\"type\":\"integer\",\"default\":1,\"x-kubernetes-validations\":[{\"rule\":"
	 "\"oldSelf.hasValue()\",\"optionalOldSelf\":true}]}",
	 ".default: Invalid value: 1: failed rule: oldSelf.hasValue()"},
	{"{\"type\":\"integer\",\"default\":1,\"x-kubernetes-validations\":[{\"rule\":\"self\"}]}",
	 ".default: Invalid value: \"integer\": rule compile error: cel expression must evaluate "
	 "to "
	 "a bool"},
	{"{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":"
	 "[\"a\"],\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}",
	 ".items.properties[a].default: Required value: this property is in "
	 "x-kubernetes-list-map-keys, so it must have a default or be a required property"},
	{"{\"type\":\"string\",\"pattern\":\"(\"}",
	 ".pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error "
	 "parsing regexp: missing closing ): `(`"},
	{"{\"$ref\":\"#/x\",\"type\":\"string\"}", ".$ref: Forbidden: $ref is not supported"},
};

static void test_schema__illegal_definitions(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(illegal); i++) {
		const char *text =
			arena_fmt(f->arena, "{\"type\":\"object\",\"properties\":{\"x\":%s}}",
				  illegal[i].schema);
		field_errors_init(f->errors, f->arena);
		schema_check(parse(f, text), "S", NULL, f->errors);
		const char *got = "nothing";
		if (f->errors->n)
			got = arena_fmt(f->arena, "%s: %s", f->errors->items[0].path,
					f->errors->items[0].message);
		const char *want = arena_fmt(f->arena, "S.properties[x]%s", illegal[i].finding);
		if (strcmp(got, want) != 0 || f->errors->n != 1)
			fail_msg("%s\n got %s (%zu)\nwant %s", illegal[i].schema, got, f->errors->n,
				 want);
	}
}

static void test_schema__hostile_depth_and_branches_are_bounded(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	struct schema *s = NULL;
	struct error err = ERROR_INIT;
	strbuf_adds(&b, "{\"type\":\"string\"}");
	for (int i = 0; i < 120; i++) {
		strbuf_insert(&b, 0, STR("{\"not\":"));
		strbuf_addc(&b, '}');
	}
	struct obj *deep = parse(f, b.buf);
	for (int i = 0; i < 20; i++) {
		struct obj *outer = obj_map();
		obj_set(outer, "items", obj_ref(deep));
		deep = obj_keep(f->arena, outer);
	}
	assert_int_equal(schema_compile(deep, &s, &err), -E_LIMIT);
	schema_check(deep, "S", NULL, f->errors);
	assert_true(f->errors->n > 0);
}

/* A definition of half a MiB has ten thousand nodes of a third of a KiB. */
static void test_schema__plain_nodes_are_shared(void **state)
{
	struct fixture *f = *state;
	struct schema *s = compile(parse(f, "{\"type\":\"object\",\"properties\":{"
					    "\"b\":{\"type\":\"string\",\"description\":\"b\"},"
					    "\"a\":{\"type\":\"string\"},"
					    "\"c\":{\"type\":\"string\",\"maxLength\":1},"
					    "\"d\":{\"type\":\"boolean\"}}}"));
	assert_ptr_equal(schema_property(s, "a"), schema_property(s, "b"));
	assert_ptr_not_equal(schema_property(s, "a"), schema_property(s, "c"));
	assert_ptr_not_equal(schema_property(s, "a"), schema_property(s, "d"));
	assert_null(schema_property(s, "e"));
	assert_false(schema_accepts(s, parse(f, "{\"c\":\"two\"}")));
	assert_true(schema_accepts(s, parse(f, "{\"a\":\"two\",\"d\":true}")));
	assert_false(schema_accepts(s, parse(f, "{\"a\":true}")));
	schema_free(s);
}

/* Where a path of a rule leads, and what is wrong with one that leads nowhere. */
static void test_schema__paths(void **state)
{
	static const struct {
		const char *text, *type, *path; /* type NULL: path is why not */
	} rows[] = {
		{".a['']", "string", "a."},
		{".a['b.c']", "integer", "a.b.c"},
		{".a['it\\'s']", "number", "a.it's"},
		{"['a']['b.c']", "integer", "a.b.c"},
		{".m['k']", "boolean", "m[k]"},
		{".m.k", "boolean", "m[k]"},
		{"a", NULL, "expected [ or . but got: a"},
		{".a['']x", NULL, "expected [ or . but got: x"},
		{".x", NULL, "does not refer to a valid field"},
		{".a[b]", NULL, "expected single quoted string but got b"},
		{".a['", NULL, "expected single quoted string but got '"},
		{".a[']", NULL, "expected single quoted string but got ']"},
		{".a['b.c'.", NULL, "expected ] but got ."},
		{".a['b.c'", NULL, "unexpected end of JSON path"},
		{".a[", NULL, "unexpected end of JSON path"},
		{".", NULL, "unexpected end of JSON path"},
	};
	const struct fixture *f = *state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *openapi = NULL;
	assert_ok(
		json_parse(STR("{\"properties\":{\"a\":{\"properties\":{\"\":{\"type\":\"string\"},"
			       "\"b.c\":{\"type\":\"integer\"},\"it's\":{\"type\":\"number\"}}},"
			       "\"m\":{\"additionalProperties\":{\"type\":\"boolean\"}}}}"),
			   &openapi, &err),
		&err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(LIMIT);
		const char *why = NULL;
		const struct obj *at =
			schema_at_path(openapi, rows[i].text, true, &path, f->arena, &why);
		const char *is = at ? path.buf : why;
		if (!cstr_eq(obj_str(at, "type"), rows[i].type) || !cstr_eq(is, rows[i].path))
			fail_msg("%s: %s", rows[i].text, is);
		if (!strchr(rows[i].text, '['))
			continue;
		assert_null(schema_at_path(openapi, rows[i].text, false, &path, f->arena, &why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_schema__paths),
		CASE(test_schema__texts_are_those_of_G33),
		CASE(test_schema__illegal_definitions_read_as_G18_and_G19),
		CASE(test_schema__legal_definition_has_no_finding),
		CASE(test_schema__legal_though_odd),
		CASE(test_schema__unknown_fields_are_those_of_G29_and_G34),
		CASE(test_schema__null_becomes_the_default_as_in_G65),
		CASE(test_schema__shaped_is_what_pruning_and_defaults_leave),
		CASE(test_schema__values),
		CASE(test_schema__formats),
		CASE(test_schema__patterns_are_re2),
		CASE(test_schema__illegal_definitions),
		CASE(test_schema__hostile_depth_and_branches_are_bounded),
		cmocka_unit_test_setup_teardown(test_schema__plain_nodes_are_shared, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
