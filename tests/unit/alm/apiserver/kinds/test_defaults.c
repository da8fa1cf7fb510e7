/* test_defaults.c: built-in objects against the recordings of what a real server makes of them. */
#include "alm/apiserver/kinds/defaults.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_decode.h"
#include "tests/lib/test.h"

#define RECORDED "tests/golden/kube-api/defaults.jsonl"

/* What allocators, controllers and admission plugins add, with or without cause. */
static const char *const not_ours[] = {"clusterIP",
				       "clusterIPs",
				       "ipFamilies",
				       "ipFamilyPolicy",
				       "tolerations",
				       "priority",
				       "preemptionPolicy",
				       "selector",
				       "template.metadata",
				       "jobTemplate.metadata",
				       "jobTemplate.spec.template.metadata"};

static const struct {
	const char *kind, *group, *plural;
} kinds[] = {{"Deployment", "apps", "deployments"},
	     {"StatefulSet", "apps", "statefulsets"},
	     {"DaemonSet", "apps", "daemonsets"},
	     {"ReplicaSet", "apps", "replicasets"},
	     {"ReplicationController", "", "replicationcontrollers"},
	     {"Job", "batch", "jobs"},
	     {"CronJob", "batch", "cronjobs"},
	     {"Pod", "", "pods"},
	     {"Service", "", "services"},
	     {"PersistentVolumeClaim", "", "persistentvolumeclaims"}};

static void set(struct obj *o)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].kind, meta_kind(o)))
			defaults_set(o, kinds[i].group, kinds[i].plural);
}

static struct obj *comparable(const struct obj *spec)
{
	struct obj *copy = obj_copy(spec);
	for (size_t i = 0; i < ARRAY_LEN(not_ours); i++)
		obj_del_path(copy, not_ours[i]);
	return copy;
}

/* As the server has it when its defaults are set. */
static void decode(struct obj *o)
{
	struct error err = ERROR_INIT;
	const struct api_type *t = api_type_of_kind(obj_str(o, "apiVersion"), meta_kind(o));
	assert_ok(api_decode(t, API_JSON_TEXT, o, NULL, NULL, &err), &err);
}

static void check_line(struct str line)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *c = NULL;
	assert_ok(json_parse(line, &c, &err), &err);
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(obj_get(c, "in"));
	decode(o);
	set(o);
	CLEANUP(obj_unrefp) struct obj *got = comparable(obj_get(o, "spec"));
	CLEANUP(obj_unrefp) struct obj *want = comparable(obj_get(c, "out"));
	if (!obj_equal(got, want)) {
		CLEANUP(xfreep) char *g = json_text(got), *w = json_text(want);
		fail_msg("%s %s\nwant %s\ngot  %s", meta_kind(o), meta_name(o), w, g);
	}
	CLEANUP(obj_unrefp) struct obj *again = obj_copy(o);
	set(again);
	assert_true(obj_equal(again, o));
}

static void test_defaults__as_recorded(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)1 << 20);
	assert_ok(file_read(RECORDED, &text, &err), &err);
	struct str rest = strbuf_str(&text), line;
	size_t n = 0;
	while (rest.len && str_cut(rest, '\n', &line, &rest))
		if (line.len && line.ptr[0] != '#') {
			check_line(line);
			n++;
		}
	assert_true(n >= 15);
}

static void test_defaults__odd_shapes_stay(void **state)
{
	(void)state;
	static const char *const odd[] = {
		"{\"kind\":\"Pod\",\"spec\":[]}",
		"{\"kind\":\"Pod\"}",
		"{\"kind\":\"Deployment\",\"spec\":{\"template\":7,\"strategy\":\"x\"}}",
		"{\"kind\":\"Pod\",\"spec\":{\"containers\":[1,null,{\"ports\":[2],\"env\":[[]]}]}"
		"}",
		"{\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"livenessProbe\":3,\"resources\":4}]"
		"}}",
		"{\"kind\":\"Pod\",\"spec\":{\"volumes\":[5,{\"secret\":6}]}}",
		"{\"kind\":\"Service\",\"spec\":{\"ports\":{},\"type\":8}}"};
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		assert_ok(json_parse(str_of(odd[i]), &o, &err), &err);
		set(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults__as_recorded),
		cmocka_unit_test(test_defaults__odd_shapes_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
