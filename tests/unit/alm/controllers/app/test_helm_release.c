/* test_helm_release.c: what the records of a release tell, and how its objects change hands. */
#include "alm/controllers/app/helm_release.h"

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "installers/release.h"
#include "tests/lib/test.h"

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new((size_t)8 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct obj *parse(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(arena, o);
}

static struct obj *record(int64_t revision, const char *status, bool ours)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	struct release r = {.name = "web",
			    .ns = "web",
			    .revision = revision,
			    .status = status,
			    .metadata = parse("{\"name\": \"web\", \"version\": \"1.0.0\"}"),
			    .config = parse("{\"color\": \"blue\"}"),
			    .manifest = arena_fmt(arena, "# r%lld\n", (long long)revision)};
	struct owner_ref owner = {.api_version = "app.coreos.com/v1beta1",
				  .kind = "AppType",
				  .name = "web",
				  .uid = "u"};
	assert_ok(release_to_secret(&r, 7 * NS_PER_S, &o, &err), &err);
	if (ours)
		meta_add_owner(o, &owner);
	return o;
}

static struct obj *answer(struct obj *a, struct obj *b)
{
	struct obj *list = obj_keep(arena, obj_list()), *one = obj_map(), *items = obj_list();
	obj_append(items, a);
	if (b)
		obj_append(items, b);
	obj_set_path(one, "value.items", items);
	obj_append(list, one);
	return list;
}

static void test_helm_release__none(void **state)
{
	(void)state;
	struct helm_release r;
	struct error err = ERROR_INIT;
	assert_ok(helm_release_read(parse("[{\"value\": {\"items\": []}}]"), arena, &r, &err),
		  &err);
	assert_int_equal(r.revision, 0);
	assert_null(r.manifest);
	assert_int_equal(helm_release_read(parse("[{\"error\": \"no\"}]"), arena, &r, &err),
			 -E_UNAVAILABLE);
}

static void test_helm_release__too_much_to_read(void **state)
{
	(void)state;
	struct helm_release r;
	struct error err = ERROR_INIT;
	assert_int_equal(
		helm_release_read(parse("[{\"error\": \"no\", \"large\": true}]"), arena, &r, &err),
		-E_LIMIT);
	assert_string_equal(err.msg, "its records have more than 16 MiB");
}

static void test_helm_release__what_runs_cannot_be_read(void **state)
{
	(void)state;
	struct helm_release r;
	struct error err = ERROR_INIT;
	struct obj *bad = record(2, "deployed", false);
	obj_set_path(bad, "data.release", obj_string("!!"));
	assert_ok(helm_release_read(answer(record(1, "superseded", false), bad), arena, &r, &err),
		  &err);
	assert_int_equal(r.revision, 2);
	assert_int_equal(r.runs, 2);
	assert_null(r.manifest);
	assert_string_equal(r.unreadable, "the release record is not base64");
	bad = record(1, "superseded", false); /* what does not run needs not be read */
	obj_set_path(bad, "data.release", obj_string("!!"));
	assert_ok(helm_release_read(answer(bad, record(2, "deployed", false)), arena, &r, &err),
		  &err);
	assert_null(r.unreadable);
	assert_string_equal(r.manifest, "# r2\n");
}

static void test_helm_release__what_runs_is_the_deployed_one(void **state)
{
	(void)state;
	struct helm_release r;
	struct error err = ERROR_INIT;
	struct obj *list = answer(record(3, "failed", false), record(2, "deployed", false));
	assert_ok(helm_release_read(list, arena, &r, &err), &err);
	assert_int_equal(r.revision, 3);
	assert_string_equal(r.status, "failed");
	assert_string_equal(r.manifest, "# r2\n");
	assert_string_equal(r.chart, "web");
	assert_string_equal(obj_str(r.config, "color"), "blue");
	assert_int_equal(r.changed_ns, 7 * NS_PER_S);
}

static void test_helm_release__a_failed_try_of_ours_leaves_helms(void **state)
{
	(void)state;
	struct helm_release r;
	struct error err = ERROR_INIT;
	struct obj *list = answer(record(1, "deployed", false), record(2, "failed", true));
	assert_ok(helm_release_read(list, arena, &r, &err), &err);
	assert_true(r.is_ours);
	assert_string_equal(r.manifest, "# r1\n");
	list = answer(record(1, "superseded", false), record(2, "deployed", true));
	assert_ok(helm_release_read(list, arena, &r, &err), &err);
	assert_null(r.manifest);
}

/* --- whatever records there are --- */

enum { REVISIONS = 3, STATUSES = 8 };

static const struct {
	const char *name;
	int tells; /* 2: it runs; 1: some of it may; 0: nothing does */
} statuses[STATUSES] = {{"deployed", 2},        {"failed", 1},           {"pending-install", 1},
			{"pending-upgrade", 1}, {"pending-rollback", 1}, {"superseded", 0},
			{"uninstalled", 0},     {"uninstalling", 0}};

static struct obj *made[REVISIONS][STATUSES][2];

/* Each revision is one of these, or absent. */
struct one {
	size_t status;
	bool ours, there;
};

static struct one one_of(size_t n)
{
	return (struct one){n % STATUSES, n / STATUSES % 2, n < STATUSES * 2};
}

static void check_release(const struct one *list, const size_t *order)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(obj_unrefp) struct obj *said = obj_list();
	struct obj *one = obj_map(), *items = obj_list();
	struct helm_release r;
	struct error err = ERROR_INIT;
	const struct one *newest = NULL, *runs = NULL;
	int64_t revision = 0, running = 0;
	for (size_t i = 0; i < REVISIONS; i++)
		if (list[order[i]].there)
			obj_append(items, obj_ref(made[order[i]][list[order[i]].status]
						      [list[order[i]].ours]));
	obj_set_path(one, "value.items", items);
	obj_append(said, one);
	for (int tells = 2; tells > 0 && !runs; tells--)
		for (size_t i = REVISIONS; i-- > 0 && !runs;)
			if (list[i].there && statuses[list[i].status].tells == tells) {
				runs = &list[i];
				running = (int64_t)i + 1;
			}
	for (size_t i = REVISIONS; i-- > 0 && !newest;)
		if (list[i].there) {
			newest = &list[i];
			revision = (int64_t)i + 1;
		}
	bool helms = runs && !runs->ours;
	assert_ok(helm_release_read(said, a, &r, &err), &err);
	assert_int_equal(r.revision, revision);
	assert_int_equal(r.is_ours, newest && newest->ours);
	assert_string_equal(r.status, newest ? statuses[newest->status].name : "");
	assert_int_equal(r.changed_ns, newest ? 7 * NS_PER_S : 0);
	assert_int_equal(r.runs, helms ? running : 0);
	assert_null(r.unreadable);
	assert_int_equal(r.manifest != NULL, helms);
	if (!helms)
		return;
	assert_string_equal(r.manifest, arena_fmt(a, "# r%lld\n", (long long)running));
	assert_string_equal(r.chart, "web");
	assert_string_equal(obj_str(r.config, "color"), "blue");
}

/* The answer goes by revisions and statuses, not by the order in which a server lists them. */
static void test_helm_release__of_any_records(void **state)
{
	static const size_t orders[][REVISIONS] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
	enum { ONES = STATUSES * 2 + 1 };
	(void)state;
	for (size_t i = 0; i < REVISIONS; i++)
		for (size_t k = 0; k < STATUSES * 2; k++)
			made[i][k / 2][k % 2] = obj_keep(
				arena, record((int64_t)i + 1, statuses[k / 2].name, k % 2));
	for (size_t n = 0; n < (size_t)ONES * ONES * ONES; n++) {
		const struct one list[REVISIONS] = {one_of(n % ONES), one_of(n / ONES % ONES),
						    one_of(n / ONES / ONES)};
		check_release(list, orders[n % ARRAY_LEN(orders)]);
		check_release(list, orders[(n + 1) % ARRAY_LEN(orders)]);
	}
}

static void test_helm_release__fields_of_helm_become_ours(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *patch = helm_adoption(
		parse("{\"metadata\": {\"managedFields\": ["
		      "{\"manager\": \"helm\", \"operation\": \"Apply\", \"apiVersion\": \"v1\","
		      " \"fieldsV1\": {\"f:data\": {\"f:a\": {}}}},"
		      "{\"manager\": \"helm\", \"operation\": \"Update\", \"apiVersion\": \"v1\","
		      " \"fieldsV1\": {\"f:data\": {\"f:b\": {}}}},"
		      "{\"manager\": \"kubectl\", \"operation\": \"Update\", \"apiVersion\": "
		      "\"v1\","
		      " \"fieldsV1\": {\"f:data\": {\"f:c\": {}}}}]}}"),
		"web");
	CLEANUP(xfreep) char *text = json_text(patch);
	assert_string_equal(
		text,
		"{\"metadata\":{\"labels\":{\"app.coreos.com/app\":\"web\"},\"managedFields\":["
		"{\"manager\":\"alm\",\"operation\":\"Apply\",\"apiVersion\":\"v1\","
		"\"fieldsV1\":{\"f:data\":{\"f:a\":{},\"f:b\":{}}}},"
		"{\"manager\":\"kubectl\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
		"\"fieldsV1\":{\"f:data\":{\"f:c\":{}}}}]}}");
}

static void test_helm_release__leftovers(void **state)
{
	(void)state;
	const struct obj *doc = parse("{\"namespace\": \"web\", \"objects\": [{\"object\": "
				      "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", "
				      "\"metadata\": {\"name\": \"a\"}}}]}");
	CLEANUP(obj_unrefp) struct obj *rows = helm_leftovers(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: web}\n"
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
		"---\napiVersion: v1\nkind: ConfigMap\n"
		"metadata: {name: c, annotations: {helm.sh/resource-policy: keep}}\n"
		"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: d}\n",
		doc);
	assert_int_equal(obj_len(rows), 1);
	assert_string_equal(obj_str(obj_at(rows, 0), "name"), "b");
	CLEANUP(obj_unrefp) struct obj *none = helm_leftovers("a: b: c", doc);
	assert_int_equal(obj_len(none), 0); /* unreadable: nothing is deleted */
}

static void test_helm_release__leftovers_of_a_long_manifest(void **state)
{
	(void)state;
	const struct obj *doc = parse("{\"namespace\": \"web\", \"objects\": []}");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)32 << 20);
	for (int i = 0; i < 18; i++) { /* 18 MiB: more than a parser takes at once */
		strbuf_addf(&b, "---\n# Source: c/templates/a.yaml\n");
		strbuf_addf(&b,
			    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {a: '",
			    i);
		for (int k = 0; k < 1 << 20; k += 16)
			strbuf_adds(&b, "0123456789abcdef");
		strbuf_adds(&b, "'}\n");
	}
	CLEANUP(obj_unrefp) struct obj *rows = helm_leftovers(b.buf, doc);
	assert_int_equal(obj_len(rows), 18);
	assert_string_equal(obj_str(obj_at(rows, 17), "name"), "c17");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helm_release__none),
		cmocka_unit_test(test_helm_release__what_runs_is_the_deployed_one),
		cmocka_unit_test(test_helm_release__of_any_records),
		cmocka_unit_test(test_helm_release__a_failed_try_of_ours_leaves_helms),
		cmocka_unit_test(test_helm_release__fields_of_helm_become_ours),
		cmocka_unit_test(test_helm_release__leftovers),
		cmocka_unit_test(test_helm_release__leftovers_of_a_long_manifest),
		cmocka_unit_test(test_helm_release__too_much_to_read),
		cmocka_unit_test(test_helm_release__what_runs_cannot_be_read),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
