/* What the account may: by its rules, and one by one where these do not tell. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "tests/lib/work_fixture.h"

#define RULES  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews?fieldManager=alm"
#define ACCESS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldManager=alm"

struct asked {
	const char *verb, *ns, *resource, *name; /* a resource that begins with / is a path */
};

static struct obj *questions(const struct asked *q)
{
	struct obj *list = obj_list();
	for (; q->verb; q++) {
		struct obj *o = obj_map();
		obj_set_str(o, "verb", q->verb);
		obj_set_str(o, *q->resource == '/' ? "path" : "resource", q->resource);
		obj_set_str(o, "group", *q->resource == '/' ? NULL : "");
		obj_set_str(o, "namespace", q->ns);
		obj_set_str(o, "name", q->name);
		obj_append(list, o);
	}
	return list;
}

static void start(struct work_fixture *f, const struct asked *all)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	p.as = "system:serviceaccount:alm-system:app-x";
	plan_review(&p, "review:0", questions(all))->rights_version = 7;
	executor_start(f->executor, "strategy", "k", &p, a, work_fixture_ended, f);
}

/* The outcome as JSON. */
static const char *review(struct work_fixture *f, const struct asked *all)
{
	static char text[256];
	start(f, all);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_done, 1);
	const struct outcome *o = stash_get(f->stash, "review:0");
	assert_non_null(o);
	snprintf(text, sizeof(text), "%s%.*s", o->code == E_FORBIDDEN ? "Forbidden " : "",
		 STR_ARG(o->text));
	return text;
}

static void put_rules(struct work_fixture *f, const char *resource, const char *path,
		      bool incomplete)
{
	char body[1024];
	snprintf(body, sizeof(body),
		 "{\"status\":{\"resourceRules\":[%s],\"nonResourceRules\":[%s],"
		 "\"incomplete\":%s}}",
		 resource, path, incomplete ? "true" : "false");
	fake_answer(f->transport, "POST", RULES, 201, body);
}

static void put_verdict(struct work_fixture *f, bool allowed)
{
	fake_answer(f->transport, "POST", ACCESS, 201,
		    allowed ? "{\"status\":{\"allowed\":true}}"
			    : "{\"status\":{\"allowed\":false}}");
}

#define RULE(verb, resource, names)                                                 \
	"{\"verbs\":[\"" verb "\"],\"apiGroups\":[\"\"],\"resources\":[\"" resource \
	"\"],\"resourceNames\":[" names "]}"

static void test_work_review__rules_tell_what_is_allowed(void **state)
{
	(void)state;
	static const struct asked all[] = {
		{"create", NULL, "nodes", NULL}, {"get", NULL, "/metrics", NULL},
		{"get", "a", "secrets", "x"},    {"get", "a", "secrets", NULL},
		{"create", "a", "pods", NULL},   {"create", "b", "pods", NULL},
		{"delete", "a", "pods", NULL},   {0}};
	struct work_fixture f;
	work_fixture_init(&f);
	/* everywhere, then in the namespace with at least three questions left */
	put_rules(&f, RULE("create", "nodes", ""),
		  "{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"/met*\"]}", false);
	put_rules(&f, RULE("get", "secrets", "\"x\"") "," RULE("create", "pods", ""), "", false);
	/* what no rule allows is asked */
	put_verdict(&f, false);
	put_verdict(&f, true);
	put_verdict(&f, false);
	assert_string_equal(review(&f, all),
			    "Forbidden {\"denied\":[3,6],\"rightsVersion\":7,\"rightsSince\":0}");
	assert_int_equal(fake_count(f.transport), 5);
	assert_non_null(strstr(fake_call(f.transport, 0), "\"namespace\":\"-\""));
	assert_non_null(strstr(fake_call(f.transport, 1), "\"namespace\":\"a\""));
	assert_non_null(strstr(fake_call(f.transport, 2), "\"verb\":\"get\""));
	assert_non_null(strstr(fake_call(f.transport, 3), "\"namespace\":\"b\""));
	assert_non_null(strstr(fake_call(f.transport, 4), "\"verb\":\"delete\""));
	work_fixture_release(&f);
}

/* A Role gives nothing outside of its namespace: what it has of cluster-scoped kinds neither. */
static void test_work_review__a_namespace_s_rules_are_its_own(void **state)
{
	(void)state;
	static const struct asked all[] = {
		{"create", NULL, "nodes", NULL}, {"get", "a", "nodes", NULL},
		{"get", "a", "pods", NULL},      {"get", "a", "secrets", NULL},
		{"create", "b", "nodes", NULL},  {0}};
	struct work_fixture f;
	work_fixture_init(&f);
	put_rules(&f, "", "", false);
	put_rules(&f, "{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}",
		  "{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}", false);
	put_verdict(&f, false);
	put_verdict(&f, false);
	assert_string_equal(review(&f, all),
			    "Forbidden {\"denied\":[0,4],\"rightsVersion\":7,\"rightsSince\":0}");
	work_fixture_release(&f);
}

/* Of one namespace all is told by one request, what is allowed everywhere included. */
static void test_work_review__one_namespace_is_one_request(void **state)
{
	(void)state;
	static const struct asked all[] = {{"get", "a", "pods", NULL},
					   {"get", "a", "nodes", NULL},
					   {"create", "a", "services", NULL},
					   {0}};
	struct work_fixture f;
	work_fixture_init(&f);
	put_rules(&f, RULE("get", "*", "") "," RULE("create", "services", ""), "", false);
	assert_string_equal(review(&f, all),
			    "{\"denied\":[],\"rightsVersion\":7,\"rightsSince\":0}");
	assert_int_equal(fake_count(f.transport), 1);
	assert_non_null(strstr(fake_call(f.transport, 0), "\"namespace\":\"a\""));
	work_fixture_release(&f);
}

static void test_work_review__a_namespace_may_have_any_name(void **state)
{
	(void)state;
	static const struct asked all[] = {{"get", NULL, "pods", NULL},
					   {"get", NULL, "nodes", NULL},
					   {"get", NULL, "services", NULL},
					   {"get", "a", "services", NULL},
					   {0}};
	struct work_fixture f;
	work_fixture_init(&f);
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	p.as = "system:serviceaccount:alm-system:app-x";
	struct obj *list = questions(all);
	for (size_t i = 0; i < 3; i++)
		obj_set_str(obj_at_mut(list, i), "namespace", "-");
	plan_review(&p, "review:0", list);
	put_rules(&f, "", "", false);
	put_rules(&f, RULE("get", "*", ""), "", false);
	put_verdict(&f, true); /* of the other namespace */
	executor_start(f.executor, "strategy", "k", &p, a, work_fixture_ended, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n_done, 1);
	assert_int_equal(stash_get(f.stash, "review:0")->code, 0);
	work_fixture_release(&f);
}

/* A server that does not know all rules is asked one by one, so many at a time; neighbours that the
 * first answer covers are not. */
static void test_work_review__incomplete_rules_decide_nothing(void **state)
{
	(void)state;
	static const struct asked all[] = {
		{"get", "a", "pods", NULL},    {"get", "a", "pods", "x"},
		{"get", "a", "pods", "y"},     {"get", "a", "nodes", "x"},
		{"get", "a", "secrets", NULL}, {0}};
	struct work_fixture f;
	work_fixture_init(&f);
	put_rules(&f, RULE("get", "secrets", ""), "", true);
	put_verdict(&f, true);  /* pods: x and y, too */
	put_verdict(&f, true);  /* nodes */
	put_verdict(&f, false); /* secrets: what the rules said is no answer */
	assert_string_equal(review(&f, all),
			    "Forbidden {\"denied\":[4],\"rightsVersion\":7,\"rightsSince\":0}");
	assert_int_equal(fake_count(f.transport), 4);
	work_fixture_release(&f);
}

static void test_work_review__rules_refused_decide_nothing(void **state)
{
	(void)state;
	static const struct asked all[] = {{"get", "a", "pods", NULL},
					   {"get", "a", "nodes", NULL},
					   {"get", "a", "secrets", NULL},
					   {0}};
	struct work_fixture f;
	work_fixture_init(&f);
	fake_answer(f.transport, "POST", RULES, 403,
		    "{\"kind\":\"Status\",\"reason\":\"Forbidden\"}");
	for (int i = 0; i < 3; i++)
		put_verdict(&f, true);
	assert_string_equal(review(&f, all),
			    "{\"denied\":[],\"rightsVersion\":7,\"rightsSince\":0}");
	work_fixture_release(&f);
}

/* They are asked at once, and a run that fails or ends leaves none under way. */
static void test_work_review__one_by_one_is_at_once(void **state)
{
	(void)state;
	static const struct asked all[] = {{"get", "a", "a", NULL}, {"get", "a", "b", NULL},
					   {"get", "a", "c", NULL}, {"get", "a", "d", NULL},
					   {"get", "a", "e", NULL}, {"get", "a", "f", NULL},
					   {"get", "a", "g", NULL}, {"get", "a", "h", NULL},
					   {"get", "a", "i", NULL}, {0}};
	struct work_fixture f;
	work_fixture_init(&f);
	put_rules(&f, "", "", true);
	for (int i = 0; i < CLIENT_WRITES_MAX; i++)
		fake_stream(f.transport, "POST", ACCESS, 201, "{");
	start(&f, all);
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.transport), 1 + CLIENT_WRITES_MAX);
	assert_int_equal(fake_open(f.transport), CLIENT_WRITES_MAX);
	executor_free(f.executor);
	f.executor = NULL;
	assert_int_equal(fake_open(f.transport), 0);
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_review__rules_tell_what_is_allowed),
		cmocka_unit_test(test_work_review__a_namespace_s_rules_are_its_own),
		cmocka_unit_test(test_work_review__one_namespace_is_one_request),
		cmocka_unit_test(test_work_review__a_namespace_may_have_any_name),
		cmocka_unit_test(test_work_review__incomplete_rules_decide_nothing),
		cmocka_unit_test(test_work_review__rules_refused_decide_nothing),
		cmocka_unit_test(test_work_review__one_by_one_is_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
