/* An archive by its digest, from catalogs one after the other: what each of them is asked with, and that one that cannot
 * give it keeps it from no other. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/catalog_work.h"
#include "alm/controllers/work/policy.h"
#include "alm/obj/json.h"
#include "alm/sources/inspect.h"
#include "tests/lib/work_fixture.h"

#define BYTES    "the archive"
#define CATALOGS "/apis/app.coreos.com/v1alpha1/catalogs"
#define SECRET   "/api/v1/namespaces/alm-system/secrets/s"
#define KEYS     "/api/v1/namespaces/alm-system/configmaps/k"
#define CORE                                                                              \
	"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},\"versions\":[{" \
	"\"version\":\"v1\","                                                             \
	"\"resources\":[%s]}]}]}"
#define SERVED(plural, kind)                                              \
	"{\"resource\":\"" plural "\",\"responseKind\":{\"kind\":\"" kind \
	"\"},\"scope\":\"Namespaced\","                                   \
	"\"verbs\":[\"get\"]}"

#define AT(url)     "\"source\":{\"url\":\"" url "\"}"
#define WITH_SECRET "\"source\":{\"url\":\"https://h/x\",\"secretRef\":{\"name\":\"s\"}}"
#define FOLDER_WITH "\"source\":{\"url\":\"dir:///good\",\"secretRef\":{\"name\":\"s\"}}"
#define FOREIGN                            \
	"\"source\":{\"url\":\"https://h/" \
	"x\",\"secretRef\":{\"name\":\"s\",\"namespace\":\"default\"}}"
#define VERIFY(keys) AT("dir:///good") ",\"verify\":{\"mode\":\"Required\",\"keysRef\":{" keys "}}"

struct one {
	const char *name;
	int64_t priority;
	const char *spec;
};

struct row {
	struct one catalogs[3];
	const char *target; /* of the GET that is made; NULL: none */
	int status;
	const char *body;
	bool judged;          /* the index was, by the keys of body */
	bool nothing_served;  /* not even Secrets */
	const char *asked;    /* folders, in this order */
	const char *unusable; /* catalogs whose version was found so */
	const char *why;      /* NULL: the archive comes */
	int code;
};

static const struct row rows[] = {
	{.catalogs = {{"a", 0, AT("dir:///good")}}, .asked = "good "},
	{.catalogs = {{"a", 0, AT("dir:///none")}},
	 .asked = "none ",
	 .unusable = "a ",
	 .why = "none",
	 .code = E_NOTFOUND},
	{.catalogs = {{"a", 0, AT("dir:///other")}},
	 .asked = "other ",
	 .unusable = "a ",
	 .why = "DigestMismatch: ",
	 .code = E_INVALID},
	/* the highest priority first, then by name; none is asked twice, nor one after it was had */
	{.catalogs = {{"a", 1, AT("dir:///good")},
		      {"b", 2, AT("dir:///none")},
		      {"c", 3, AT("dir:///other")}},
	 .asked = "other none good "}, /* what came is told of all */
	{.catalogs = {{"a", 1, AT("dir:///other")},
		      {"b", 1, AT("dir:///none")},
		      {"c", 1, AT("dir:///good")}},
	 .asked = "other none good "},
	{.catalogs = {{"a", 1, AT("dir:///good")}, {"b", 1, AT("dir:///none")}}, .asked = "good "},
	{.catalogs = {{"a", 1, AT("dir:///none")}, {"b", 1, AT("dir:///none")}},
	 .asked = "none none ",
	 .unusable = "a b ",
	 .why = "none",
	 .code = E_NOTFOUND},
	/* its Secret: of no use to a folder, and that of one catalog goes to no other */
	{.catalogs = {{"a", 0, FOLDER_WITH}}, .asked = "good "},
	{.catalogs = {{"a", 0, WITH_SECRET}},
	 .target = SECRET,
	 .status = 200,
	 .body = "{\"kind\":\"Secret\",\"type\":\"Opaque\"}",
	 .unusable = "a ",
	 .why = "app.coreos.com/catalog-credentials",
	 .code = E_NOTALLOWED},
	{.catalogs = {{"a", 0, WITH_SECRET}},
	 .target = SECRET,
	 .status = 404,
	 .body = "{}",
	 .why = "spec.source.secretRef: ",
	 .code = E_NOTALLOWED},
	{.catalogs = {{"a", 1, WITH_SECRET}, {"b", 0, AT("dir:///good")}},
	 .target = SECRET,
	 .status = 403,
	 .body = "{}",
	 .asked = "good "},
	{.catalogs = {{"a", 0, FOREIGN}}, .why = "spec.source.secretRef: ", .code = E_NOTALLOWED},
	{.catalogs = {{"a", 1, FOREIGN}, {"b", 0, AT("dir:///good")}}, .asked = "good "},
	{.catalogs = {{"a", 0, WITH_SECRET}},
	 .nothing_served = true,
	 .why = "the server does not say what a Secret is",
	 .code = E_UNAVAILABLE},
	/* its keys */
	{.catalogs = {{"a", 0, VERIFY("\"name\":\"k\"")}},
	 .target = KEYS,
	 .status = 200,
	 .body = "{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"1\"}}",
	 .judged = true,
	 .asked = "good "},
	{.catalogs = {{"a", 0, VERIFY("\"name\":\"k\"")}},
	 .target = KEYS,
	 .status = 200,
	 .body = "{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"1\"}}",
	 .asked = "good ",
	 .unusable = "a ",
	 .why = "SignatureInvalid: ",
	 .code = E_UNAVAILABLE},
	{.catalogs = {{"a", 0, VERIFY("\"name\":\"k\"")}},
	 .target = KEYS,
	 .status = 200,
	 .body = "{\"kind\":\"ConfigMap\",\"data\":{}}",
	 .why = "SignatureInvalid: ",
	 .code = E_INVALID},
	{.catalogs = {{"a", 0, VERIFY("\"name\":\"k\"")}},
	 .target = KEYS,
	 .status = 404,
	 .body = "{}",
	 .why = "SignatureInvalid: spec.verify.keysRef: ",
	 .code = E_NOTFOUND},
	{.catalogs = {{"a", 1, VERIFY("\"name\":\"k\"")}, {"b", 0, AT("dir:///good")}},
	 .target = KEYS,
	 .status = 404,
	 .body = "{}",
	 .asked = "good "},
	{.catalogs = {{"a", 0, VERIFY("\"name\":\"k\",\"namespace\":\"default\"")}},
	 .why = "SignatureInvalid: spec.verify.",
	 .code = E_INVALID},
	{.catalogs = {{"a", 0, VERIFY("\"name\":\"k\"")}},
	 .nothing_served = true,
	 .why = "the server does not say what a ConfigMap is",
	 .code = E_UNAVAILABLE},
};

static struct {
	struct work_fixture f;
	struct sandbox *sandbox;
	struct manager *m;
	struct arena *a;
	char digest[SHA256_HEX];
	struct strbuf asked, bytes;
	const char *withdrawn; /* what the indexes say of their version */
	const char *inside;    /* the version that the archive is; NULL: the one that is wanted */
	bool mended;           /* the folder none has it, too */
	int n_done;
	struct error err;
} it;

static int read_file(void *arg UNUSED, const char *path, struct strbuf *b, struct error *err)
{
	const char *dir = path + 1, *end = strchr(dir, '/');
	strbuf_addf(&it.asked, "%.*s ", (int)(end - dir), dir);
	if (cstr_has_prefix(dir, "none") && !it.mended)
		return error_set(err, E_NOTFOUND, "none");
	strbuf_adds(b, !cstr_has_prefix(dir, "other") ? BYTES : "another archive");
	return 0;
}

static int inspect(struct str input, struct strbuf *output, struct error *err UNUSED)
{
	assert_true(str_eq(input, STR(BYTES)));
	strbuf_addf(output,
		    "{\"chart\":{\"name\":\"etcd\",\"version\":\"%s\"},\"digest\":\"%s\","
		    "\"ownCrds\":[\"as.g/v1\"]}",
		    it.inside ? it.inside : "0.9.4", it.digest);
	return 0;
}

static void fetched(void *arg UNUSED, struct str bytes, const struct error *err)
{
	it.n_done++;
	strbuf_addstr(&it.bytes, bytes);
	it.err = err ? *err : ERROR_INIT;
}

static const char *catalog_text(const struct one *c)
{
	return arena_fmt(it.a,
			 "{\"apiVersion\":\"app.coreos.com/"
			 "v1alpha1\",\"kind\":\"Catalog\",\"metadata\":{\"name\":\"%s\","
			 "\"uid\":\"u\",\"resourceVersion\":\"1\"},\"spec\":{%s}}",
			 c->name, c->spec);
}

/* The manager has seen the catalogs. */
static void watch(const struct row *r)
{
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(
		&b,
		"{\"kind\":\"CatalogList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
	for (size_t i = 0; i < ARRAY_LEN(r->catalogs) && r->catalogs[i].name; i++)
		strbuf_addf(&b, "%s%s", i ? "," : "", catalog_text(&r->catalogs[i]));
	strbuf_adds(&b, "]}");
	fake_answer(it.f.transport, "GET", CATALOGS "?limit=500", 200, b.buf);
	fake_stream(it.f.transport, "GET", CATALOGS "?watch=*", 200, "");
	const struct informer_config c = {
		.client = it.f.client,
		.resource = {"app.coreos.com", "v1alpha1", "catalogs", "Catalog", false}};
	it.m->fixed[WATCH_APPTYPE].informer = informer_new(&c); /* there are none */
	it.m->fixed[WATCH_CATALOG].informer = informer_new(&c);
	informer_start(it.m->fixed[WATCH_CATALOG].informer);
	loop_fake_settle(it.f.loop);
	strbuf_release(&b);
}

static void discovered(void *arg UNUSED, const struct error *err)
{
	assert_null(err);
}

static void discover(const struct row *r)
{
	fake_answer(it.f.transport, "GET", "/apis", 200, "{\"items\":[]}");
	fake_answer(it.f.transport, "GET", "/api", 200,
		    arena_fmt(it.a, CORE,
			      r->nothing_served ? SERVED("pods", "Pod")
						: SERVED("secrets", "Secret") "," SERVED(
							  "configmaps", "ConfigMap")));
	discovery_refresh(it.m->discovery, discovered, NULL);
	loop_fake_settle(it.f.loop);
}

static const char *policy_of(const struct row *r, const struct one *c)
{
	struct error err = ERROR_INIT;
	const struct obj *keys;
	CLEANUP(obj_unrefp) struct obj *map = NULL, *catalog = NULL;
	char *ret = arena_alloc(it.a, SHA256_HEX);
	assert_ok(json_parse(str_of(r->body), &map, &err), &err);
	assert_ok(json_parse(str_of(catalog_text(c)), &catalog, &err), &err);
	assert_ok(policy_keys(catalog, map, &keys, ret, &err), &err);
	return ret;
}

static void swap(const struct row *r, const struct one *c)
{
	struct error err = ERROR_INIT;
	struct catalog_index *x = index_new(c->name, c->priority);
	CLEANUP(obj_unrefp) struct obj *chart = obj_map();
	obj_set_str(chart, "name", "etcd");
	obj_set_str(chart, "version", "0.9.4");
	const struct package_source s = {.chart = chart,
					 .digest = it.digest,
					 .locator = "https://h/etcd-0.9.4.tgz",
					 .verified_by = r->judged ? policy_of(r, c) : NULL};
	index_add(x, &s);
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	assert_int_equal(x->n, 1);
	x->versions[0]->unread = true;
	x->versions[0]->withdrawn = it.withdrawn;
	manager_swap_index(it.m, c->name, x);
}

static void setup(const struct row *r)
{
	static const struct source_files files = {.read = read_file};
	static const struct sandbox_job jobs[] = {{INSPECT_JOB, inspect, NULL}, {0}};
	memset(&it, 0, sizeof(it));
	work_fixture_init(&it.f);
	it.sandbox = sandbox_inline_new(it.f.loop, jobs);
	it.a = arena_new((size_t)1 << 20);
	strbuf_init(&it.asked, STRBUF_SMALL);
	strbuf_init(&it.bytes, STRBUF_SMALL);
	sha256_hex(STR(BYTES), it.digest);
	const struct manager_config c = {.loop = it.f.loop,
					 .client = it.f.client,
					 .files = &files,
					 .sandbox = it.sandbox,
					 .same_process = true};
	it.m = manager_new(&c);
	discover(r);
	watch(r);
	for (size_t i = 0; i < ARRAY_LEN(r->catalogs) && r->catalogs[i].name; i++)
		swap(r, &r->catalogs[i]);
}

static void teardown(void)
{
	manager_free(it.m);
	assert_int_equal(fake_open(it.f.transport), 0);
	sandbox_free(it.sandbox);
	strbuf_release(&it.asked);
	strbuf_release(&it.bytes);
	arena_free(it.a);
	work_fixture_drop(&it.f);
}

static const char *unusable(void)
{
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < it.m->n_indexes; i++)
		if (it.m->indexes[i]->versions[0]->is_unusable)
			strbuf_addf(&b, "%s ", it.m->indexes[i]->name);
	const char *ret = arena_strdup(it.a, b.len ? b.buf : "");
	strbuf_release(&b);
	return ret;
}

static void test_manager_fetch__from_the_first_that_can_give_it(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		setup(r);
		if (r->target)
			fake_answer(it.f.transport, "GET", r->target, r->status, r->body);
		manager_fetch(it.m, it.digest, fetched, NULL);
		assert_int_equal(it.n_done, 0); /* nobody is called back from where he asks */
		loop_fake_settle(it.f.loop);
		const char *asked = it.asked.len ? it.asked.buf : "";
		if (it.n_done != 1 || strcmp(asked, r->asked ? r->asked : "") != 0 ||
		    strcmp(unusable(), r->unusable ? r->unusable : "") != 0 ||
		    it.err.code != r->code || (r->why && !strstr(it.err.msg, r->why)) ||
		    !str_eq(strbuf_str(&it.bytes), str_of(r->why ? "" : BYTES)))
			fail_msg("row %zu: %d times, asked %s, unusable %s, %d %s, %zu bytes", i,
				 it.n_done, asked, unusable(), it.err.code, it.err.msg,
				 it.bytes.len);
		assert_int_equal(fake_unused(it.f.transport), 0);
		assert_true(TAILQ_EMPTY(&it.m->works));
		teardown();
	}
}

/* Unknown to all of them. */
static void test_manager_fetch__nobody_has_it(void **state UNUSED)
{
	setup(&rows[0]);
	memset(it.digest, '0', 64);
	manager_fetch(it.m, it.digest, fetched, NULL);
	loop_fake_settle(it.f.loop);
	assert_int_equal(it.n_done, 1);
	assert_int_equal(it.err.code, E_NOTFOUND);
	assert_non_null(strstr(it.err.msg, it.digest));
	teardown();
}

static const struct package_version *version_of(const char *catalog)
{
	return manager_index(it.m, catalog)->versions[0];
}

static void fetch(void)
{
	it.n_done = 0;
	manager_fetch(it.m, it.digest, fetched, NULL);
	loop_fake_settle(it.f.loop);
	assert_int_equal(it.n_done, 1);
}

/* What the archive serves is known of all that list it, of their next revision, too. */
static void test_manager_fetch__what_it_tells_is_learned(void **state UNUSED)
{
	static const struct row good = {
		.catalogs = {{"a", 0, AT("dir:///good")}, {"b", 0, AT("dir:///none")}}};
	setup(&good);
	for (int i = 0; i < 3; i++) {
		const struct package_version *p = version_of("b");
		if (i == 2) { /* another revision, of which its index tells as little */
			struct one c = {"b", 1, NULL};
			swap(&good, &c);
			p = version_of("b");
		}
		assert_int_equal(p->unread, !i);
		assert_int_equal(p->n_own_crds, i > 0);
		assert_int_equal(p->n_provides, i > 0);
		if (i)
			assert_string_equal(p->own_crds[0], "as.g/v1");
		assert_null(p->withdrawn);
		if (!i)
			fetch();
	}
	teardown();
}

/* Said of its version as long as it is so; what the catalog itself withdraws stays withdrawn, with the catalog's words. */
static void test_manager_fetch__what_cannot_be_used(void **state UNUSED)
{
	static struct row r = {.catalogs = {{"a", 0, AT("dir:///none")}}};
	setup(&r);
	fetch();
	const struct package_version *p = version_of("a");
	const char *said = p->withdrawn;
	assert_string_equal(said, "its archive cannot be used: none");
	fetch();
	assert_ptr_equal(p->withdrawn, said); /* nothing is kept twice */
	it.mended = true;
	fetch();
	assert_int_equal(it.err.code, 0);
	assert_null(p->withdrawn);
	assert_false(p->is_unusable);
	assert_int_equal(p->n_own_crds, 1);
	teardown();

	static const struct {
		const char *spec, *inside;
		bool good;
	} ways[] = {{AT("dir:///none"), NULL, false},
		    {AT("dir:///good"), "0.9.5", false},
		    {AT("dir:///good"), NULL, true}};
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		r.catalogs[0].spec = ways[i].spec;
		setup(&r);
		it.inside = ways[i].inside;
		it.withdrawn = "recalled";
		struct one again = {"a", 7, NULL};
		swap(&r, &again);
		fetch();
		assert_string_equal(version_of("a")->withdrawn, "recalled");
		assert_false(version_of("a")->is_unusable);
		assert_int_equal(version_of("a")->unread, !ways[i].good);
		assert_int_equal(it.err.code == 0, ways[i].good);
		teardown();
	}

	/* what has been read is what was read */
	r.catalogs[0].spec = AT("dir:///none");
	setup(&r);
	it.m->indexes[0]->versions[0]->unread = false;
	fetch();
	assert_null(version_of("a")->withdrawn);
	teardown();
}

/* What is under way when the manager ends, or its catalog goes, is not waited for. */
static void test_manager_fetch__what_is_under_way_ends(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!rows[i].target)
			continue;
		setup(&rows[i]);
		fake_stream(it.f.transport, "GET", rows[i].target, 200, "{");
		manager_fetch(it.m, it.digest, fetched, NULL);
		loop_fake_settle(it.f.loop);
		assert_int_equal(it.n_done, 0);
		teardown();
		assert_int_equal(it.n_done, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager_fetch__from_the_first_that_can_give_it),
		cmocka_unit_test(test_manager_fetch__what_it_tells_is_learned),
		cmocka_unit_test(test_manager_fetch__what_cannot_be_used),
		cmocka_unit_test(test_manager_fetch__nobody_has_it),
		cmocka_unit_test(test_manager_fetch__what_is_under_way_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
