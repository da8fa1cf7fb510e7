/* What a pass knows to be secret is in no message that it makes. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/engine/plan.h"
#include "alm/engine/secrets.h"
#include "alm/obj/json.h"

#define BYTES_MAX ((size_t)64 << 20)

static struct obj *parse(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_secrets__of_values_are_those_under_policy_keys(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	struct secrets s;
	secrets_init(&s, a);
	secrets_add_values(
		&s, parse(a, "{\"plain\": \"notsecret\", \"db\": {\"adminPassword\": \"hunter22\","
			     "\"short\": \"abc\"}, \"api-key\": 1234567, \"port\": 7654321, "
			     "\"token\": \"ab12\","
			     "\"credentials\": [{\"x\": \"incredible\"}],"
			     "\"env\": [{\"name\": \"DB_PASSWD\", \"value\": \"fromenv1\"}]}"));
	static const struct {
		const char *text, *want;
	} table[] = {
		{"nothing here: notsecret abc ab12", "nothing here: notsecret abc ab12"},
		{"it is hunter22", "it is (hidden)"},
		{"hunter22hunter22 and hunter22", "(hidden) and (hidden)"},
		{"key 1234567!", "key (hidden)!"},
		{"port 7654321", "port 7654321"},
		{"incredible, fromenv1", "(hidden), (hidden)"},
		{"aHVudGVyMjI=", "(hidden)I="},                 /* hunter22 */
		{"dXNlcjpodW50ZXIyMg==", "dXNlcjp(hidden)g=="}, /* user:hunter22 */
		{"eDpodW50ZXIyMnk=", "eDp(hidden)nk="},         /* x:hunter22y */
		{"cut in its middle: hunter", "cut in its middle: (hidden)"},
		{"cut too early: hunte", "cut too early: hunte"},
		{"", ""},
		{"postgres://u:p@host/db, https://host/a@b",
		 "postgres://(hidden)@host/db, https://host/a@b"},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_string_equal(secrets_hide(&s, table[i].text), table[i].want);
}

/* A value stands in JSON, and in the words of a server, as %q has it, and in others as it is. */
static void test_secrets__as_json_quotes_them(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	struct secrets s;
	struct obj *answers = parse(a, "[{\"value\":{\"layer\":{\"password\":\"pa\\\"ss\\\\word1\","
				       "\"other\":\"not in it\"}}}]");
	const struct obj *rendered = parse(a, "{\"a\":{\"type\":\"pa\\\"ss\\\\word1\"}}");
	struct obj *doc = obj_keep(a, obj_map());
	obj_set(doc, "hidden", secrets_looked_up(answers, rendered));
	secrets_init(&s, a);
	secrets_add_plan(&s, doc);
	assert_string_equal(secrets_hide(&s, "value: \"pa\\\"ss\\\\word1\": no"),
			    "value: \"(hidden)\": no");
	assert_string_equal(secrets_hide(&s, "value pa\"ss\\word1, not in it"),
			    "value (hidden), not in it");
}

/* More than a message is searched for: none is shown. */
static void test_secrets__too_many_hide_all(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	static const size_t numbers[] = {100, 2100, 21000};
	for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
		struct secrets s;
		struct obj *o = obj_keep(a, obj_map()), *answers = obj_keep(a, obj_list());
		for (size_t i = 0; i < numbers[k]; i++)
			obj_set(o, arena_fmt(a, "k%zu", i), obj_stringf("value-%zu-x", i));
		struct obj *answer = obj_map();
		obj_set_path(answer, "value.layer", obj_ref(o));
		obj_append(answers, answer);
		struct obj *doc = obj_keep(a, obj_map());
		obj_set(doc, "hidden", secrets_looked_up(answers, o));
		secrets_init(&s, a);
		secrets_add_plan(&s, doc);
		bool all = !strncmp(secrets_hide(&s, "plain"), "(hidden): more", 14);
		assert_int_equal(all, numbers[k] > 2000);
		assert_null(strstr(secrets_hide(&s, "it is value-77-x"), "value-77"));
	}
}

/* The time is that of one walk: many that begin alike end it. */
static void test_secrets__that_begin_alike(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BYTES_MAX);
	struct obj *o = obj_keep(a, obj_map()), *answers = obj_keep(a, obj_list());
	for (size_t i = 0; i < 3000; i++)
		obj_set(o, arena_fmt(a, "k%zu", i), obj_stringf("aaaaaa%zu", i));
	for (size_t i = 0; i < 1 << 20; i++)
		strbuf_addc(&b, 'a');
	struct obj *answer = obj_map(), *rendered = obj_keep(a, obj_map());
	obj_set_path(answer, "value.layer", obj_ref(o));
	obj_append(answers, answer);
	obj_set_str(rendered, "text", b.buf);
	struct obj *list = obj_keep(a, secrets_looked_up(answers, rendered));
	assert_int_equal(obj_len(list), 1);
	assert_int_equal(obj_type(obj_at(list, 0)), OBJ_BOOL);
}

static void test_secrets__of_a_plan(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	struct secrets s;
	secrets_init(&s, a);
	secrets_add_plan(
		&s,
		parse(a,
		      "{\"config\": {\"password\": \"valuespw\"}, \"hidden\": [\"lookedup\"],"
		      "\"objects\": [{\"object\": {\"kind\": \"Secret\", \"data\": {\"a\": "
		      "\"cGxhaW5kYXRh\"},"
		      "\"stringData\": {\"b\": \"first line\\nsecond line\\n\"}}},"
		      "{\"object\": {\"kind\": \"ConfigMap\", \"data\": {\"c\": \"configured\"}}}],"
		      "\"hooks\": [{\"object\": {\"kind\": \"Secret\", \"stringData\": {\"h\": "
		      "\"hooked\"}}}]}"));
	assert_string_equal(secrets_hide(&s, "plaindata cGxhaW5kYXRh second line configured"),
			    "(hidden) (hidden) (hidden) configured");
	assert_string_equal(secrets_hide(&s, "valuespw lookedup hooked"),
			    "(hidden) (hidden) (hidden)");
}

static void test_secrets__of_lookups_are_what_the_objects_have(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	const struct obj *answers = parse(
		a, "[{\"kind\": \"Secret\", \"value\": {\"apiVersion\": \"version-1\", \"kind\": "
		   "\"Secret\", \"metadata\": "
		   "{\"name\": \"thename\"},"
		   "\"data\": {\"p\": \"bG9va2VkdXA=\"}}}, {\"kind\": \"ConfigMap\", \"value\": "
		   "{\"items\":"
		   "[{\"metadata\": {\"name\": \"another\"}, \"data\": {\"x\": \"configured\", "
		   "\"y\": \"unused\"}}]}},"
		   "{\"zone\": \"Europe/Berlin\", \"value\": \"ZZZZZZZZZZ\"}, {\"value\": null}]");
	struct secrets s;
	secrets_init(&s, a);
	secrets_add_answers(&s, answers);
	assert_string_equal(
		secrets_hide(
			&s,
			"version-1 Secret thename another lookedup configured unused ZZZZZZZZZZ"),
		"version-1 Secret thename another (hidden) (hidden) (hidden) ZZZZZZZZZZ");
	CLEANUP(obj_unrefp) struct obj *kept = secrets_looked_up(
		answers, parse(a, "{\"manifest\": \"a: lookedup\\nb: configured\\n\"}"));
	CLEANUP(xfreep) char *text = json_text(kept);
	assert_string_equal(text, "[\"lookedup\",\"configured\"]");
}

/* Too many to look for: nothing is told rather than something. */
static void test_secrets__too_many_hide_the_message(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	struct obj *values = obj_keep(a, obj_map()), *list = obj_list();
	struct secrets s;
	for (int i = 0; i < SECRETS_MAX; i++)
		obj_append(list, obj_stringf("value-%d", i));
	obj_set(values, "passwords", list);
	secrets_init(&s, a);
	secrets_add_values(&s, values);
	assert_true(s.over);
	assert_non_null(strstr(secrets_hide(&s, "any"), "(hidden): more"));
}

static void test_secrets__rows_and_statuses_of_a_plan(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	struct plan p;
	plan_init(&p, a);
	const struct obj *app = parse(
		a,
		"{\"apiVersion\": \"v1\", \"kind\": \"AppType\", \"metadata\": {\"name\": \"x\"},"
		"\"spec\": {\"values\": {\"password\": \"hunter22\"}}}");
	struct action *row = plan_row(
		&p, "Decision", app, "R", NULL,
		obj_copy(parse(a,
			       "{\"message\": \"hunter22!\", \"candidates\": [\"1 hunter22\"]}")));
	assert_string_equal(obj_str(row->body, "message"), "(hidden)!");
	assert_string_equal(obj_as_string(obj_at(obj_get(row->body, "candidates"), 0)),
			    "1 (hidden)");
	struct obj *status = plan_hide_messages(
		&p, app,
		obj_copy(parse(a, "{\"conditions\": [{\"reason\": \"hunter22\", "
				  "\"message\": \"a hunter22\"}], \"objects\": "
				  "[{\"why\": \"b hunter22\", \"ref\": \"hunter22\"}]}")));
	obj_keep(a, status);
	assert_string_equal(obj_str(status, "conditions[0].message"), "a (hidden)");
	assert_string_equal(obj_str(status, "objects[0].why"), "b (hidden)");
	assert_string_equal(obj_str(status, "objects[0].ref"), "hunter22");
	assert_string_equal(obj_str(status, "conditions[0].reason"), "hunter22");
	assert_string_equal(plan_status(&p, app, obj_map(), "R", "hunter22")->message, "(hidden)");
}

static void test_secrets__of_a_plan_made_beside(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	struct plan p, beside;
	plan_init(&p, a);
	plan_init(&beside, a);
	plan_hide(&beside, parse(a, "{\"config\": {\"password\": \"hunter22\"}}"));
	plan_take(&p, &beside);
	assert_string_equal(secrets_hide(&p.secrets, "a hunter22"), "a (hidden)");
}

/* A short word is in any message, in base64, too: from six bytes on it is hidden in both forms. */
static void test_secrets__short_words_stay(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	for (size_t n = 1; n <= 12; n++) {
		static const char letters[] = "qwertzuiopas";
		CLEANUP(strbuf_release) struct strbuf b64 = STRBUF_INIT(STRBUF_SMALL);
		struct secrets s;
		const char *word = arena_strndup(a, letters, n);
		struct obj *o = obj_keep(a, obj_map());
		obj_set_str(o, "kind", "Secret");
		obj_set_path(o, "stringData.a", obj_string(word));
		base64_encode(str_of(word), &b64);
		secrets_init(&s, a);
		secrets_add_object(&s, o);
		CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(STRBUF_SMALL);
		strbuf_adds(&plain, "it is ");
		strbuf_adds(&plain, word);
		const char *coded = arena_fmt(a, "it is %s", b64.buf);
		assert_int_equal(strstr(secrets_hide(&s, plain.buf), word) == NULL, n >= 6);
		assert_int_equal(!strcmp(secrets_hide(&s, coded), coded), n < 6);
	}
}

/* Nor is what is so long that no message has it looked for: each takes the memory of its forms. */
static void test_secrets__of_a_length_that_messages_have(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	static const char *const data[] = {"YWJj", "eHg=", "",
					   "YWJjZGU=", "bm9uZQ"}; /* of 5 at most */
	for (size_t i = 0; i < ARRAY_LEN(data); i++) {
		struct secrets s;
		struct obj *o = obj_keep(a, obj_map());
		obj_set_str(o, "kind", "Secret");
		obj_set_path(o, "data.a", obj_string(data[i]));
		secrets_init(&s, a);
		secrets_add_object(&s, o);
		assert_int_equal(s.n, strlen(data[i]) >= SECRET_BYTES_MIN);
	}
	for (int more = 0; more < 2; more++) {
		struct secrets s;
		size_t n = SECRET_BYTES_MAX + (size_t)more;
		char *word = arena_alloc(a, n + 1);
		memset(word, 'q', n);
		memcpy(word, "begins", 6);
		word[n] = '\0';
		struct obj *o = obj_keep(a, obj_map());
		obj_set_str(o, "kind", "Secret");
		obj_set_path(o, "stringData.a", obj_string(word));
		secrets_init(&s, a);
		secrets_add_object(&s, o);
		assert_int_equal(s.n > 0, !more);
		assert_int_equal(strstr(secrets_hide(&s, word), "begins") == NULL, !more);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secrets__of_values_are_those_under_policy_keys),
		cmocka_unit_test(test_secrets__as_json_quotes_them),
		cmocka_unit_test(test_secrets__too_many_hide_all),
		cmocka_unit_test(test_secrets__that_begin_alike),
		cmocka_unit_test(test_secrets__of_a_plan),
		cmocka_unit_test(test_secrets__of_lookups_are_what_the_objects_have),
		cmocka_unit_test(test_secrets__too_many_hide_the_message),
		cmocka_unit_test(test_secrets__rows_and_statuses_of_a_plan),
		cmocka_unit_test(test_secrets__of_a_plan_made_beside),
		cmocka_unit_test(test_secrets__short_words_stay),
		cmocka_unit_test(test_secrets__of_a_length_that_messages_have),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
