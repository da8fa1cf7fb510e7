/* A record of everything: each field, of whatever the resolver may read, is in it and comes back. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "catalog/resolve/resolve_record.h"

static const char *const one[] = {"one", NULL};

static const struct resolve_crd *crd(void *arg, const char *name)
{
	static const char *const served[] = {"crd-served", NULL}, *const stored[] = {"crd-stored",
										     NULL};
	static const struct resolve_crd known = {.name = "manual-resource",
						 .owner = "crd-owner",
						 .foreign_owner = "crd-foreign",
						 .released = true,
						 .served = served,
						 .stored = stored};
	(void)arg;
	return strcmp(name, known.name) ? NULL : &known;
}

static void usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	(void)arg;
	*ret = (struct resolve_usage){.known = true};
	if (!strcmp(resource, "dropped.x.io/v1"))
		*ret = (struct resolve_usage){.known = true,
					      .objects = 4711,
					      .stored = true,
					      .migrated = true,
					      .writer = "usage-writer",
					      .first_object = "usage-first",
					      .next_version = "usage-next"};
}

static enum resolve_gate gate(void *arg, const char *digest, const char **ret_message,
			      const char *const **ret_steps)
{
	static const char *const steps[] = {"gate-step-1", "gate-step-2", NULL};
	(void)arg;
	(void)digest;
	*ret_message = "gate-message";
	*ret_steps = steps;
	return GATE_REFUSE;
}

static const char *unmet(void *arg, const struct obj *requirement, struct arena *a)
{
	(void)arg;
	return cstr_eq(obj_str(requirement, "ref"), "met-ref") ? NULL
							       : arena_strdup(a, "unmet-lack");
}

static int64_t first_seen(void *arg, const char *version)
{
	(void)arg;
	return strcmp(version, "3.0.0") ? 0 : 123456789;
}

static const struct resolve_input *other(void *arg, const char *app)
{
	const struct resolve_input *its = arg;
	return !strcmp(app, its->app) ? its : NULL;
}

static struct package_version *add(struct catalog_index *x, const char *package,
				   const char *version, const char *descriptor)
{
	char digest[SHA256_HEX];
	struct arena *a = x->arena;
	char *chart = arena_fmt(a, "apiVersion: v2\nname: %s\nversion: %s\n", package, version);
	sha256_hex(str_of(chart), digest);
	struct package_source s = {.chart_yaml = str_of(chart),
				   .descriptor = str_of(descriptor),
				   .digest = digest,
				   .locator = "x"};
	size_t before = x->n;
	index_add(x, &s);
	if (x->n == before)
		fail_msg("%s", x->rejected[0]);
	return x->versions[before];
}

#define DESCRIPTOR                                                                   \
	"appType: p0.x.io\nprovides: [kept.x.io/v1, kept.x.io/v2]\n"                 \
	"channels: [channel-1, channel-2]\nreplaces: 1.0.0\nskips: [1.1.0, 1.2.0]\n" \
	"skipRange: '>=0.1.0'\nminKubeVersion: 1.20.0\n"                             \
	"requires: [{resource: needed.x.io/v1, versions: '>=1.0.0'}, {resource: "    \
	"maybe.x.io/v1, optional: true}]\nconflicts: [{package: enemy, versions: "   \
	"'<7.7.7'}]\nrequirements: [{kind: Object, ref: StorageClass//fast-ref}]\n"

#define KEEPS "appType: p0.x.io\nreplaces: 1.0.0\nprovides: [dropped.x.io/v1, kept.x.io/v1]\n"

static struct catalog_index *full_index(void)
{
	struct error err;
	struct catalog_index *x = index_new("catalog-name", 77);
	struct package_version *p = add(x, "p0", "3.0.0", DESCRIPTOR);
	p->kube_version = ">=1.19";
	p->deprecated = true;
	p->deprecation = "deprecation-text";
	p->own_crds = p->provides;
	p->n_own_crds = p->n_provides;
	add(x, "p0", "3.1.0", KEEPS "requirements: [{kind: Object, ref: lacking-ref}]\n");
	add(x, "p0", "3.2.0", KEEPS "requirements: [{kind: Object, ref: met-ref}]\n");
	p = add(x, "p0", "2.9.0", "appType: p0.x.io\n");
	p->withdrawn = "withdrawn-text";
	p = add(x, "p0", "2.8.0", "appType: p0.x.io\n");
	p->ambiguous = "ambiguous-text";
	add(x, "needed", "1.5.0", "appType: needed.x.io\nprovides: [needed.x.io/v1]\n");
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	return x;
}

/* What must be found in the text, as each is in the input. */
static const char *const words[] = {
	"\"channel\":\"channel-1\"",
	"\"range\":\">=0.0.1\"",
	"\"to\":\"3.0.0\"",
	"\"installed_version\":\"1.0.0\"",
	"\"installed_package\":\"p0\"",
	"\"installed_catalog\":\"installed-catalog\"",
	"\"installed_digest\":\"installed-digest\"",
	"\"values_digest\":\"values-digest\"",
	"\"kube_version\":\"v1.33.0\"",
	"\"mode\":\"Manual\"",
	"\"evaluate\":\"*\"",
	"\"unreadable\":\"unreadable-text\"",
	"\"installed_managed\":[\"dropped.x.io/v1\",\"kept.x.io/v1\"]",
	"\"failed\":[\"one\"]",
	"\"approved\":[\"approved-1\",\"approved-2\"]",
	"\"stored\":true,\"strategy\":\"manual-strategy\"",
	"\"version\":\"0.5.0\"",
	"\"sha256\":\"manual-digest\"",
	"\"resources\":[\"manual-resource\"]",
	"\"blocked\":\"manual-blocked\"",
	"\"message\":\"manual-message\"",
	"\"rule\":\"waiver-rule\"",
	"\"resource\":\"waiver-resource\"",
	"\"path\":\"waiver-path\"",
	"\"reason\":\"waiver-reason\"",
	"\"expires\":987654321",
	"\"days\":5",
	"\"from\":61",
	"\"to\":122",
	"\"paused\":true",
	"\"soak\":333",
	"\"unsynced\":2",
	"\"now\":444",
	"\"owner\":\"crd-owner\"",
	"\"foreign\":\"crd-foreign\"",
	"\"released\":true",
	"\"served\":[\"crd-served\"]",
	"\"stored\":[\"crd-stored\"]",
	"\"objects\":4711",
	"\"migrated\":true",
	"\"writer\":\"usage-writer\"",
	"\"first\":\"usage-first\"",
	"\"next\":\"usage-next\"",
	"unmet-lack",
	"\"message\":\"gate-message\"",
	"\"steps\":[\"gate-step-1\",\"gate-step-2\"]",
	"\"firstSeen\":{",
	"\"3.0.0\":123456789",
	"\"name\":\"catalog-name\"",
	"\"priority\":77",
	"\"app_type\":\"p0.x.io\"",
	"\"replaces\":\"1.0.0\"",
	"\"skips\":[\"1.1.0\",\"1.2.0\"]",
	"\"skip_range\":\">=0.1.0\"",
	"\"min_kube_version\":\"1.20.0\"",
	"\"kube_version\":\">=1.19\"",
	"\"deprecated\":true",
	"\"deprecation\":\"deprecation-text\"",
	"\"withdrawn\":\"withdrawn-text\"",
	"\"ambiguous\":\"ambiguous-text\"",
	"\"provides\":[\"kept.x.io/v1\",\"kept.x.io/v2\"]",
	"\"own_crds\":[\"kept.x.io/v1\",\"kept.x.io/v2\"]",
	"\"channels\":[\"channel-1\",\"channel-2\"]",
	"\"resource\":\"needed.x.io/v1\",\"versions\":\">=1.0.0\"",
	"\"resource\":\"maybe.x.io/v1\",\"optional\":true",
	"\"package\":\"enemy\",\"versions\":\"<7.7.7\"",
	"StorageClass//fast-ref",
	"\"package\":\"needed\"",
	("\"app\":\"claiming\",\"self_ref\":\"needed.x.io\",\"installed\":true,"
	 "\"version\":\"claim-version\",\"managed\":[\"claimed.x.io/v1\"],\"entry\":{"
	 "\"package\":\"needed\""),
	"\"others\":{\"claiming\":{",
	"\"range\":\"other-range\"",
};

static void fill(struct resolve_input *in, struct resolve_input *its,
		 const struct catalog_index *const *indexes, struct arena *a)
{
	static const char *const managed[] = {"dropped.x.io/v1", "kept.x.io/v1", NULL};
	static const char *const claimed[] = {"claimed.x.io/v1", NULL};
	static const char *const resources[] = {"manual-resource", NULL};
	static const char *const approved[] = {"approved-1", "approved-2", NULL};
	static const struct resolve_manual manual = {.stored = true,
						     .strategy = "manual-strategy",
						     .version = "0.5.0",
						     .sha256 = "manual-digest",
						     .resources = resources,
						     .blocked = "manual-blocked",
						     .message = "manual-message"};
	static const struct resolve_waiver waiver = {"waiver-rule", "waiver-resource",
						     "waiver-path", "waiver-reason", 987654321};
	static const struct resolve_window window = {5, 61, 122};
	struct resolve_claim *claim = ARENA_NEW(a, struct resolve_claim);
	size_t n;
	*claim = (struct resolve_claim){.app = "claiming",
					.self_ref = "needed.x.io",
					.installed = true,
					.version = "claim-version",
					.managed = claimed,
					.entry = *index_package(indexes[0], "needed", &n)};
	*in = (struct resolve_input){.app = "p0",
				     .self_ref = "p0.x.io",
				     .channel = "channel-1",
				     .range = ">=0.0.1",
				     .to = "3.0.0",
				     .installed_version = "1.0.0",
				     .installed_package = "p0",
				     .installed_catalog = "installed-catalog",
				     .installed_digest = "installed-digest",
				     .installed_managed = managed,
				     .failed = one,
				     .values_digest = "values-digest",
				     .kube_version = "v1.33.0",
				     .indexes = indexes,
				     .n_indexes = 1,
				     .n_unsynced = 2,
				     .manual = &manual,
				     .n_manual = 1,
				     .claims = resolve_claims_of(claim, 1, a),
				     .waivers = &waiver,
				     .n_waivers = 1,
				     .mode = "Manual",
				     .paused = true,
				     .windows = &window,
				     .n_windows = 1,
				     .soak_ns = 333,
				     .unreadable = "unreadable-text",
				     .approved = approved,
				     .evaluate = "*",
				     .now_ns = 444,
				     .crd = crd,
				     .usage = usage,
				     .gate = gate,
				     .unmet = unmet,
				     .first_seen = first_seen,
				     .other = other,
				     .arg = its};
	*its = *in;
	its->app = "claiming";
	its->self_ref = "needed.x.io";
	its->range = "other-range";
}

/* A record of what a record says is the same: whatever is in it is read back. */
static void record_twice(const struct resolve_input *in, struct arena *a, struct strbuf *all)
{
	struct error err;
	struct resolve_input again;
	struct obj *read = NULL;
	CLEANUP(xfreep) char *first = json_text(obj_keep(a, resolve_record(in, a)));
	assert_ok(json_parse(str_of(first), &read, &err), &err);
	assert_ok(resolve_replay(obj_keep(a, read), a, &again, &err), &err);
	CLEANUP(xfreep) char *second = json_text(obj_keep(a, resolve_record(&again, a)));
	assert_string_equal(second, first);
	strbuf_adds(all, first);
}

/* One version drops a resource, one lacks what it requires, the gate refuses one. */
static void test_resolve_record__has_everything_and_gives_it_back(void **state)
{
	(void)state;
	static const char *const versions[] = {"3.0.0", "3.1.0", "3.2.0"};
	struct resolve_input in, its;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(index_freep) struct catalog_index *x = full_index();
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT((size_t)1 << 20);
	const struct catalog_index *const indexes[] = {x};
	fill(&in, &its, indexes, a);
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		in.to = versions[i];
		record_twice(&in, a, &all);
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strstr(all.buf, words[i]))
			fail_msg("no %s in %s", words[i], all.buf);
}

/* Of another app without its name or selfRef nothing can be said: it is as if it were not there. */
static void test_resolve_record__another_app_is_whole_or_absent(void **state)
{
	static const struct {
		const char *others;
		bool there;
	} rows[] = {
		{"{}", false},
		{"{\"b\":7}", false},
		{"{\"b\":{}}", false},
		{"{\"b\":{\"app\":\"b\"}}", false},
		{"{\"b\":{\"self_ref\":\"b.x.io\"}}", false},
		{"{\"c\":{\"app\":\"b\",\"self_ref\":\"b.x.io\"}}", false},
		{"{\"b\":{\"app\":\"b\",\"self_ref\":\"b.x.io\",\"range\":\"<3\"}}", true},
	};
	struct resolve_input in, its, again;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(index_freep) struct catalog_index *x = full_index();
	const struct catalog_index *const indexes[] = {x};
	(void)state;
	fill(&in, &its, indexes, a);
	CLEANUP(obj_unrefp) struct obj *record = resolve_record(&in, a);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct obj *others = NULL, *o = obj_keep(a, obj_copy(record));
		assert_ok(json_parse(str_of(rows[i].others), &others, &err), &err);
		obj_set(o, "others", others);
		assert_ok(resolve_replay(o, a, &again, &err), &err);
		const struct resolve_input *b = again.other(again.arg, "b");
		if ((b != NULL) != rows[i].there)
			fail_msg("%s", rows[i].others);
		if (b) {
			assert_string_equal(b->app, "b");
			assert_string_equal(b->self_ref, "b.x.io");
			assert_string_equal(b->range, "<3");
		}
	}
}

/* A catalog of as many versions as a record may have, and of one more. */
static void test_resolve_record__too_many_versions_make_none(void **state)
{
	(void)state;
	for (int over = 0; over < 2; over++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
		CLEANUP(index_freep) struct catalog_index *x = index_new("large", 0);
		const struct catalog_index *const indexes[] = {x};
		struct resolve_input in = {.app = "p",
					   .self_ref = "p.x.io",
					   .installed_package = "p",
					   .indexes = indexes,
					   .n_indexes = 1};
		struct error err = ERROR_INIT;
		for (int i = 0; i < RESOLVE_RECORD_VERSIONS_MAX + over; i++) {
			char digest[SHA256_HEX];
			const char *chart =
				arena_fmt(a, "apiVersion: v2\nname: p\nversion: 1.0.%d\n", i);
			sha256_hex(str_of(chart), digest);
			struct package_source s = {.chart_yaml = str_of(chart),
						   .descriptor = STR("appType: p.x.io\n"),
						   .digest = digest,
						   .locator = "p"};
			index_add(x, &s);
		}
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		CLEANUP(obj_unrefp) struct obj *record = resolve_record(&in, a);
		assert_int_equal(record != NULL, !over);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_record__has_everything_and_gives_it_back),
		cmocka_unit_test(test_resolve_record__too_many_versions_make_none),
		cmocka_unit_test(test_resolve_record__another_app_is_whole_or_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
