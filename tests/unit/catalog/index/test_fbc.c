#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "catalog/index/entry.h"
#include "catalog/index/fbc.h"

#define BUNDLE(name, version)                                      \
	"---\nschema: olm.bundle\nname: " name "\npackage: etcd\n" \
	"image: quay.io/etcd/bundle:" version "\nproperties:\n"    \
	"- {type: olm.gvk, value: {kind: Etcd}}\n"                 \
	"- {type: olm.package, value: {packageName: etcd, version: " version "}}\n"
#define CHANNEL(name, entries) \
	"---\nschema: olm.channel\nname: " name "\npackage: etcd\nentries:\n" entries
#define BUNDLES BUNDLE("etcd.v1", "1.0.0") BUNDLE("etcd.v2", "1.1.0") BUNDLE("etcd.v3", "1.2.0")

/* The index of one file; the chart archive "etcd VERSION" is beside it, with its alm.yaml. */
static struct catalog_index *index_of(const char *text, const char *version, const char *descriptor)
{
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(1 << 20);
	struct catalog_index *x = index_new("test", 0);
	struct error err = ERROR_INIT;
	size_t n;
	assert_true(fbc_is_likely(str_of(text)));
	assert_ok(fbc_lines(str_of(text), "etcd/catalog.yaml", &lines, &n, &err), &err);
	struct str rest = strbuf_str(&lines);
	while (entry_read_lines(x, &rest, 10, &err) > 0)
		;
	assert_int_equal(err.code, 0);
	if (version) {
		char digest[SHA256_HEX];
		sha256_hex(str_of(version), digest);
		struct package_source s = {.chart_yaml = str_of(arena_fmt(
						   x->arena, "{name: etcd, version: %s}", version)),
					   .descriptor = str_of(descriptor),
					   .digest = digest,
					   .locator = "/c/etcd.tgz"};
		index_add(x, &s);
	}
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	return x;
}

static const char *edges(const struct catalog_index *x, const char *version)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct package_version *p = x->versions[i];
		if (!str_is(p->version.text, version))
			continue;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		for (size_t k = 0; k < p->n_channels; k++)
			strbuf_addf(&b, "%s%s", k ? "," : "", p->channels[k]);
		strbuf_addf(&b, ": %s", p->replaces ? p->replaces : "-");
		for (size_t k = 0; k < p->n_skips; k++)
			strbuf_addf(&b, " %s", p->skips[k]);
		strbuf_addf(&b, " %s", p->skip_range ? p->skip_range : "-");
		return arena_strdup(x->arena, b.buf);
	}
	return "absent";
}

static void test_fbc__channels_and_edges_of_olm_become_edges_of_versions(void **state)
{
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x =
		index_of(BUNDLES CHANNEL("stable",
					 "- {name: etcd.v1}\n- {name: etcd.v2, replaces: etcd.v1}\n"
					 "- {name: etcd.v3, replaces: etcd.v2, skips: [etcd.v1, "
					 "etcd.v0.9.0], skipRange: \"<1.0.0\"}\n")
				 CHANNEL("fast", "- {name: etcd.v3, skipRange: \"<0.5.0\"}\n"),
			 NULL, NULL);
	assert_int_equal(x->n, 3);
	assert_int_equal(x->n_rejected, 0);
	assert_string_equal(edges(x, "1.0.0"), "stable: - <0.0.0-0"); /* the first: from none */
	assert_string_equal(edges(x, "1.1.0"), "stable: 1.0.0 -");
	assert_string_equal(edges(x, "1.2.0"), "stable,fast: 1.1.0 1.0.0 0.9.0 <1.0.0 || <0.5.0");
}

static void test_fbc__a_bundle_that_is_no_chart_is_listed_with_the_reason(void **state)
{
	static const char text[] = BUNDLES CHANNEL(
		"stable",
		"- {name: etcd.v2, replaces: etcd.v1}\n- {name: etcd.v3, replaces: etcd.v2}\n");
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of(text, "1.2.0", "");
	CLEANUP(index_freep) struct catalog_index *own = index_of(text, "1.2.0", "replaces: 1.0.0");
	const char *why = x->versions[1]->withdrawn;
	assert_null(x->versions[0]->withdrawn); /* the chart */
	assert_string_equal(x->versions[0]->locator, "/c/etcd.tgz");
	assert_string_equal(edges(x, "1.2.0"), "stable: 1.1.0 -");
	assert_non_null(strstr(why, "NotAChart: bundle etcd.v2 (quay.io/etcd/bundle:1.1.0)"));
	assert_non_null(strstr(why, "put the chart etcd-1.1.0.tgz beside"));
	assert_true(x->versions[1]->listed_only);
	assert_string_equal(edges(own, "1.2.0"), ": 1.0.0 -"); /* alm.yaml has the say */
	assert_string_not_equal(x->revision, own->revision);
}

/* An image that says its digest has it; any other text gives one of its own. */
static void test_fbc__the_digest_of_an_image_is_that_of_the_bundle(void **state)
{
	char hex[SHA256_HEX], own[SHA256_HEX];
	(void)state;
	sha256_hex(STR("x"), hex);
	for (size_t i = 0; i < 4; i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		const char *image = i == 0   ? arena_fmt(a, "q.io/e@sha256:%.64s", hex)
				    : i == 1 ? arena_fmt(a, "q.io/e@sha256:%.63s", hex)
				    : i == 2 ? arena_fmt(a, "q.io/e@sha256:%.64s0", hex)
					     : arena_fmt(a, "q.io/e:%.64s", hex);
		CLEANUP(index_freep) struct catalog_index *x = index_of(
			arena_fmt(a,
				  "---\nschema: olm.bundle\nname: e.v1\npackage: etcd\nimage: %s\n"
				  "properties:\n- {type: olm.package, value: {packageName: etcd, "
				  "version: 1.0.0}}\n",
				  image),
			NULL, NULL);
		assert_int_equal(x->n, 1);
		sha256_hex(str_of(arena_fmt(a, "e.v1 %s", image)), own);
		assert_string_equal(x->versions[0]->digest, i == 0 ? hex : own);
	}
}

static void test_fbc__deprecations(void **state)
{
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of(
		BUNDLES CHANNEL("old", "- {name: etcd.v1}\n") CHANNEL(
			"new", "- {name: etcd.v2}\n") "---\nschema: olm.deprecations\npackage: "
						      "etcd\nentries:\n"
						      "- {reference: {schema: olm.channel, name: "
						      "old}, message: use new}\n"
						      "- {reference: {schema: olm.bundle, name: "
						      "etcd.v3}, message: broken}\n",
		NULL, NULL);
	assert_string_equal(x->versions[2]->deprecation, "use new");
	assert_string_equal(x->versions[0]->deprecation, "broken");
	assert_null(x->versions[1]->deprecation);
}

static void test_fbc__what_is_wrong_is_named_and_the_rest_is_used(void **state)
{
	static const struct {
		const char *text, *why;
		size_t n;
	} cases[] = {
		{BUNDLES CHANNEL("c", "- {name: etcd.v1, replaces: etcd.v2}\n"),
		 "edge-backwards: etcd channel c: 1.0.0 replaces or skips 1.1.0", 3},
		{BUNDLES CHANNEL("c", "- {name: etcd.v9}\n"), "etcd channel c: no bundle etcd.v9",
		 3},
		{BUNDLES BUNDLE("etcd.v4", "one"), "bundle etcd.v4: version: \"one\"", 3},
		{BUNDLES CHANNEL("c", "- {name: etcd.v2, skipRange: \"<<\"}\n"),
		 "skipRange of 1.1.0: ", 3},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(index_freep) struct catalog_index *x = index_of(cases[i].text, NULL, NULL);
		assert_int_equal(x->n, cases[i].n);
		assert_int_equal(x->n_rejected, 1);
		if (!strstr(x->rejected[0], cases[i].why) ||
		    !cstr_has_prefix(x->rejected[0], "etcd/catalog.yaml: "))
			fail_msg("%s, want %s", x->rejected[0], cases[i].why);
	}
}

static void test_fbc__json_values_follow_one_another(void **state)
{
	static const char one[] = "{\"schema\": \"olm.package\", \"name\": \"a } \\\" {\"}";
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(1 << 16);
	struct error err = ERROR_INIT;
	size_t n;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	assert_ok(fbc_lines(str_of(arena_fmt(a, "%s%s\n%s\n", one, one, one)), "x.json", &lines, &n,
			    &err),
		  &err);
	assert_int_equal(n, 3);
	assert_true(fbc_lines(STR("{\"schema\": \"olm.package\""), "x.json", &lines, &n, &err) < 0);
	assert_non_null(strstr(err.msg, "x.json: "));
	assert_false(fbc_is_likely(STR("apiVersion: v1\nentries: {}\n")));
	static const char *const schemas[] = {"package", "channel", "bundle", "deprecations"};
	for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "schema: olm.%s\n", schemas[i]);
		assert_true(fbc_is_likely(strbuf_str(&b)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fbc__channels_and_edges_of_olm_become_edges_of_versions),
		cmocka_unit_test(test_fbc__a_bundle_that_is_no_chart_is_listed_with_the_reason),
		cmocka_unit_test(test_fbc__deprecations),
		cmocka_unit_test(test_fbc__the_digest_of_an_image_is_that_of_the_bundle),
		cmocka_unit_test(test_fbc__what_is_wrong_is_named_and_the_rest_is_used),
		cmocka_unit_test(test_fbc__json_values_follow_one_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
