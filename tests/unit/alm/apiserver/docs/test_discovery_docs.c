#include "alm/apiserver/docs/discovery_docs.h"

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/golden.h"
#include "tests/lib/test.h"

static void leave(struct kind *k)
{
	(void)k;
}

static const char *const all[] = {"all", NULL};
static const char *const wix[] = {"wix", NULL};
static const char *const cex[] = {"cex", NULL};

#define GOLDEN_KIND(k, p, s, shorts)                                                       \
	{.group = "golden.example.com",                                                    \
	 .version = "v1",                                                                  \
	 .kind = (k),                                                                      \
	 .list_kind = k "List",                                                            \
	 .plural = (p),                                                                    \
	 .singular = (s),                                                                  \
	 .short_names = (shorts),                                                          \
	 .categories = all,                                                                \
	 .verbs = VERB_ALL,                                                                \
	 .flags = KIND_NAMESPACED | KIND_CUSTOM | KIND_STATUS | KIND_SCALE | KIND_STORAGE, \
	 .storage_version = "v1",                                                          \
	 .crd_name = p ".golden.example.com"}
static struct kind widget = GOLDEN_KIND("Widget", "widgets", "widget", wix);
static struct kind cel = GOLDEN_KIND("Cel", "cels", "cel", cex);

static struct kinds *golden_kinds(void)
{
	struct kinds *k = kinds_new();
	kinds_add(k, &widget, leave);
	kinds_add(k, &cel, leave);
	return k;
}

static struct obj *parsed(const struct strbuf *b)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(strbuf_str(b), &o, &err), &err);
	return o;
}

static void assert_same(const struct strbuf *b, int n)
{
	CLEANUP(obj_unrefp) struct obj *golden = golden_case(n);
	CLEANUP(obj_unrefp) struct obj *got = parsed(b);
	CLEANUP(xfreep) char *want = json_text(obj_get(golden, "resp"));
	if (!obj_equal(got, obj_get(golden, "resp")))
		assert_string_equal(b->buf, want);
}

static void test_discovery_docs__legacy_as_recorded(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = golden_kinds();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(DISCOVERY_BYTES_MAX);
	assert_true(discovery_resources(k, "golden.example.com", "v1", &b));
	assert_same(&b, 22);
	strbuf_clear(&b);
	assert_true(discovery_group(k, "golden.example.com", &b));
	assert_same(&b, 23);
	strbuf_clear(&b);
	discovery_versions("192.0.2.1:6443", &b);
	assert_same(&b, 5);
	assert_false(discovery_group(k, "nope.io", &b));
	assert_false(discovery_resources(k, "nope.io", "v1", &b));
	kinds_remove_crd(k, "widgets.golden.example.com");
	kinds_remove_crd(k, "cels.golden.example.com");
	assert_false(discovery_group(k, "golden.example.com", &b));
}

static void test_discovery_docs__aggregated_as_recorded(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = golden_kinds();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(DISCOVERY_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *golden = golden_case(24);
	discovery_aggregated(k, false, "v2", &b);
	CLEANUP(obj_unrefp) struct obj *got = parsed(&b);
	const struct obj *ours = obj_get(got, "items"), *theirs = obj_path(golden, "resp.items");
	/* the custom group comes last, in both */
	ours = obj_at(ours, obj_len(ours) - 1);
	theirs = obj_at(theirs, obj_len(theirs) - 1);
	assert_string_equal(obj_str(ours, "metadata.name"), "golden.example.com");
	assert_true(obj_equal(obj_get(ours, "versions"), obj_get(theirs, "versions")));
	assert_string_equal(obj_str(got, "apiVersion"), "apidiscovery.k8s.io/v2");
	strbuf_clear(&b);
	discovery_aggregated(k, true, "v2beta1", &b);
	CLEANUP(obj_unrefp) struct obj *core = parsed(&b);
	assert_int_equal(obj_len(obj_get(core, "items")), 1);
	assert_string_equal(obj_str(core, "items[0].versions[0].version"), "v1");
}

/* What a client of the built-in groups sees may differ in extent, never in kind or scope. */
static void test_discovery_docs__builtin_kinds_agree_with_the_real_server(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(obj_unrefp) struct obj *golden = golden_case(24);
	const struct obj *groups = obj_path(golden, "resp.items");
	size_t found = 0;
	for (size_t i = 0; i < obj_len(groups); i++) {
		const char *group = obj_str(obj_at(groups, i), "metadata.name");
		const struct obj *versions = obj_get(obj_at(groups, i), "versions");
		for (size_t j = 0; j < obj_len(versions); j++) {
			const char *version = obj_str(obj_at(versions, j), "version");
			const struct obj *list = obj_get(obj_at(versions, j), "resources");
			for (size_t m = 0; m < obj_len(list); m++) {
				const struct obj *o = obj_at(list, m);
				const struct kind *ours =
					kinds_find(k, group, version, obj_str(o, "resource"));
				if (!ours)
					continue;
				found++;
				assert_string_equal(ours->kind, obj_str(o, "responseKind.kind"));
				assert_string_equal(ours->singular, obj_str(o, "singularResource"));
				assert_string_equal(ours->flags & KIND_NAMESPACED ? "Namespaced"
										  : "Cluster",
						    obj_str(o, "scope"));
				const struct obj *names = obj_get(o, "shortNames");
				for (size_t s = 0; s < obj_len(names); s++)
					assert_string_equal(ours->short_names[s],
							    obj_as_string(obj_at(names, s)));
			}
		}
	}
	assert_true(found >= 35);
}

/* As every object, they are told in the first type of Accept that is served. */
static void test_discovery_docs__yaml_is_served(void **state)
{
	(void)state;
	static const char *const paths[] = {"/api", "/apis", "/api/v1", "/apis/apps",
					    "/apis/apps/v1"};
	static const char list[] = "application/json;g=apidiscovery.k8s.io;v=v9;as="
				   "APIGroupDiscoveryList, ";
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		struct answer json = apifake_do(f, "GET", paths[i], NULL);
		apifake_header(f, "Accept", arena_fmt(a, "%sapplication/yaml", list));
		struct answer yaml = apifake_do(f, "GET", paths[i], NULL);
		assert_int_equal(yaml.status, 200);
		assert_string_equal(http_header(yaml.headers, "Content-Type"), "application/yaml");
		assert_ok(yaml_parse_one(yaml.body, &o, &err), &err);
		assert_true(obj_equal(o, json.json));
		obj_unref(o);
		apifake_header(f, "Accept", "application/json, application/yaml");
		assert_true(obj_equal(apifake_do(f, "GET", paths[i], NULL).json, json.json));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_discovery_docs__legacy_as_recorded),
		cmocka_unit_test(test_discovery_docs__aggregated_as_recorded),
		cmocka_unit_test(test_discovery_docs__builtin_kinds_agree_with_the_real_server),
		cmocka_unit_test(test_discovery_docs__yaml_is_served),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
