/* What `alm status` says of each object of a Bundle. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/app/bundle_row.h"
#include "alm/obj/yaml.h"

#define NOW "2030-01-02T10:00:00Z"
#define BUNDLE                                                                                   \
	"metadata: {name: web}\n"                                                                \
	"status:\n"                                                                              \
	"  state: Synced\n"                                                                      \
	"  commit: cccccccccc\n"                                                                 \
	"  author: carol\n"                                                                      \
	"  subject: three\n"                                                                     \
	"  history:\n"                                                                           \
	"  - {commit: cccccccccc, author: carol, subject: three, since: "                        \
	"\"2030-01-02T09:00:00Z\"}\n"                                                            \
	"  - {commit: bbbbbbbbbb, author: bob, subject: two, since: \"2030-01-02T08:00:00Z\"}\n" \
	"  - {commit: aaaaaaaaaa, author: alice, subject: one, since: \"2030-01-02T07:00:00Z\"}\n"
#define WRITTEN(time)                                                              \
	"managedFields: [{manager: \"alm:0123abcd:web\", time: \"" time            \
	"\"}, {manager: \"alm:0123abcd:other\", time: \"2030-01-02T09:59:00Z\"}, " \
	"{manager: kubectl, time: \"2030-01-02T09:59:30Z\"}]"
#define MAP(time) "kind: ConfigMap\nmetadata: {name: m, namespace: site, " WRITTEN(time) "}\n"

struct fixture {
	struct arena *a;
	struct bundle_row_input in;
	struct inventory_line line;
};

static struct obj *parse(struct arena *a, const char *yaml)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(yaml), &o, &err), &err);
	return obj_keep(a, o);
}

static void setup(struct fixture *f, const char *bundle, const char *kind, const char *live)
{
	*f = (struct fixture){.a = arena_new((size_t)8 << 20)};
	f->line = (struct inventory_line){.api_version = "v1",
					  .kind = kind,
					  .ns = "site",
					  .name = "m",
					  .digest = "0123",
					  .key = "m.yaml"};
	f->in.bundle = parse(f->a, bundle);
	f->in.line = &f->line;
	f->in.live = live ? parse(f->a, live) : NULL;
	assert_true(clock_parse(STR(NOW), &f->in.now_ns));
}

/* "STATE | LAST CHANGE | WHY" */
static void expect(struct fixture *f, const char *want)
{
	const struct obj *row = obj_keep(f->a, bundle_row(&f->in, f->a));
	assert_string_equal(arena_fmt(f->a, "%s | %s | %s", obj_str(row, "state"),
				      bundle_row_change(row, f->in.now_ns, f->a),
				      obj_str(row, "why")),
			    want);
	assert_string_equal(obj_str(row, "file"), "m.yaml");
	assert_string_equal(obj_str(row, "cluster"), "default");
}

static void test_bundle_row__the_revision_that_wrote_it_last(void **state)
{
	(void)state;
	static const struct {
		const char *live, *want;
	} rows[] = {
		{MAP("2030-01-02T08:59:50Z"), "Current | 60m ago (ccccccc carol) | "},
		{MAP("2030-01-02T07:30:00Z"), "Current | 150m ago (bbbbbbb bob) | "},
		{MAP("2030-01-02T06:59:00Z"), "Current | 3h1m ago (aaaaaaa alice) | "},
		{MAP("2030-01-02T09:58:00Z"), "Current | 2m ago (ccccccc carol) | "}, /* drift */
		{"kind: ConfigMap\nmetadata: {name: m}\n", "Current | - | "},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		setup(&f, BUNDLE, "ConfigMap", rows[i].live);
		expect(&f, rows[i].want);
		arena_free(f.a);
	}
}

static void test_bundle_row__what_went_back_or_waits_is_of_the_one_before(void **state)
{
	static const char *const states[] = {"RolledBack", "Blocked", "AwaitingApproval",
					     "SourceFailed", "Invalid"};
	(void)state;
	struct fixture f;
	setup(&f, BUNDLE, "ConfigMap", MAP("2030-01-02T09:59:00Z"));
	struct obj *status = obj_need_map(mem_unconst(f.in.bundle), "status");
	obj_set_str(status, "commit", "dddddddddd");
	obj_set_str(status, "author", "dave");
	expect(&f, "Current | 60s ago (ddddddd dave) | ");
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		obj_set_str(status, "state", states[i]);
		expect(&f, "Current | 60s ago (ccccccc carol) | ");
	}
	obj_set_str(status, "state", "Rolling");
	expect(&f, "Current | 60s ago (ddddddd dave) | ");
	arena_free(f.a);
}

/* Neither is as the tree has it, and nobody makes it so. */
static void test_bundle_row__what_is_left_as_it_is(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct { const char *status, *want; } rows[] = {
		{"kept: [ConfigMap site/mm is not deleted: no, ConfigMap site/m was deleted]", "Current | - | "},
		{"kept: [\"ConfigMap site/m is not deleted: spec.prune.mode is None\"]",
		 "Kept | - | removed from git, and not deleted: spec.prune.mode is None"},
		{"conditions: [{type: Drifted, status: \"True\", message: \"ConfigMap site/m: data.v changed by bob; "
		 "not put back: spec.drift is Report; and 1 more: Secret site/m\"}]",
		 "Drifted | - | data.v changed by bob; not put back: spec.drift is Report"},
		{"conditions: [{type: Drifted, status: \"True\", message: \"ConfigMap site/m: it changed\"}]",
		 "Drifted | - | it changed"},
		{"conditions: [{type: Drifted, status: \"True\", message: \"Secret a/b: it changed; and 2 more: Secret "
		 "site/m, ConfigMap site/m\"}]",
		 "Drifted | - | it is not as declared, and not put back"},
		{"conditions: [{type: Drifted, status: \"True\", message: \"Secret a/b: ConfigMap site/m; and 1 more: "
		 "ConfigMap site/mm\"}]",
		 "Current | - | "},
		{"conditions: [{type: Drifted, status: \"False\", message: \"ConfigMap site/m: it changed\"}]",
		 "Current | - | "},
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		strbuf_addf(&b, "metadata: {name: b}\nstatus: {state: Synced, %s}\n",
			    rows[i].status);
		setup(&f, b.buf, "ConfigMap", "kind: ConfigMap\nmetadata: {name: m}\n");
		expect(&f, rows[i].want);
		arena_free(f.a);
	}
}

static void test_bundle_row__what_is_older_than_the_history_has_no_commit(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, BUNDLE, "ConfigMap", MAP("2030-01-02T06:00:00Z"));
	struct obj *list = obj_get_mut(obj_need_map(mem_unconst(f.in.bundle), "status"), "history");
	while (obj_len(list) < 10)
		obj_append(list, obj_ref(obj_at(list, 2)));
	struct obj *row = obj_keep(f.a, bundle_row(&f.in, f.a));
	assert_null(obj_str(row, "commit"));
	assert_string_equal(bundle_row_change(row, f.in.now_ns, f.a), "4h ago");
	arena_free(f.a);
}

#define DEPLOYMENT(status)                                                               \
	"kind: Deployment\nmetadata: {name: m, namespace: site, uid: d, generation: 1, " \
	"annotations: "                                                                  \
	"{deployment.kubernetes.io/revision: \"1\"}}\nspec: {replicas: 3, selector: "    \
	"{matchLabels: {app: m}}}\nstatus: {observedGeneration: 1, " status "}\n"

static void test_bundle_row__why_it_is_so(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, BUNDLE, "Deployment",
	      DEPLOYMENT(
		      "replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3"));
	expect(&f, "Current | - | 3/3");
	f.in.live = parse(f.a, DEPLOYMENT("replicas: 3, updatedReplicas: 3, availableReplicas: 1, "
					  "readyReplicas: 1"));
	expect(&f, "InProgress | - | 1 of 3 replicas available");
	f.in.around.replica_sets = obj_get(
		parse(f.a,
		      "items:\n- metadata: {uid: rs, ownerReferences: [{uid: d}], annotations: "
		      "{deployment.kubernetes.io/revision: \"1\"}}\n"),
		"items");
	f.in.around.pods = obj_get(
		parse(f.a, "items:\n- metadata: {name: m-1-x, ownerReferences: [{uid: rs}]}\n"
			   "  status: {startTime: \"2030-01-02T09:57:00Z\", "
			   "containerStatuses: [{name: c, state: {waiting: "
			   "{reason: ImagePullBackOff, message: manifest unknown}}}]}\n"),
		"items");
	expect(&f, "InProgress | - | ImagePullBackOff: manifest unknown (3m ago, pod m-1-x, "
		   "container c)");
	arena_free(f.a);
}

static void test_bundle_row__what_goes(void **state)
{
	(void)state;
	struct fixture f;
	static const char live[] = "kind: ConfigMap\nmetadata: {name: m, deletionTimestamp: "
				   "\"2030-01-02T09:59:56Z\", finalizers: [x/y]}\n";
	setup(&f, BUNDLE, "ConfigMap", live);
	expect(&f, "Deleting | 4s ago | not by this Bundle: it is made again; finalizer x/y");
	f.line.digest = "-run";
	expect(&f, "Deleting | 4s ago (ccccccc carol \"three\") | removed from git; finalizer x/y");
	f.in.live = NULL;
	expect(&f, "Deleted | - | removed from git");
	f.line.digest = "0123";
	expect(&f, "Missing | - | it was there, and is gone");
	f.in.unreadable = "forbidden";
	expect(&f, "Unknown | - | forbidden");
	arena_free(f.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_row__the_revision_that_wrote_it_last),
		cmocka_unit_test(test_bundle_row__what_went_back_or_waits_is_of_the_one_before),
		cmocka_unit_test(test_bundle_row__what_is_left_as_it_is),
		cmocka_unit_test(test_bundle_row__what_is_older_than_the_history_has_no_commit),
		cmocka_unit_test(test_bundle_row__why_it_is_so),
		cmocka_unit_test(test_bundle_row__what_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
