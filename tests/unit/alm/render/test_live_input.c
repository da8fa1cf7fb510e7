/* The sources of a configuration and live lists: in their order, and what is missing is no empty one. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/client/client.h"
#include "alm/obj/json.h"
#include "alm/render/live_input.h"
#include "alm/source/keymap.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define KIND(plural, kind, scope)                                                                  \
	"{\"resource\":\"" plural "\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":" \
	"\"" kind "\"},\"scope\":\"" scope "\",\"verbs\":[\"list\"]}"
#define DOCUMENT(groups)                                                            \
	"{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/" \
	"v2\",\"items\":[" groups "]}"
#define KINDS                                         \
	KIND("configmaps", "ConfigMap", "Namespaced") \
	"," KIND("secrets", "Secret", "Namespaced") "," KIND("nodes", "Node", "Cluster")
#define CORE                                                                                      \
	DOCUMENT("{\"metadata\":{},\"versions\":[{\"version\":\"v1\",\"resources\":[" KINDS "]}]" \
		 "}")

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct live_input *live;
	struct arena *a;
	struct live_input_wants wants;
	struct config_sources from;
	struct live_input_read *read;
	size_t n; /* answers */
	struct error err;
	char layers[512], lists[512];
};

static void setup(struct fixture *f, const char *from)
{
	struct error err = ERROR_INIT;
	*f = (struct fixture){.loop = loop_fake_new(0), .a = arena_new((size_t)4 << 20)};
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	f->live = live_input_new(f->loop, NULL);
	f->wants = (struct live_input_wants){.ns = "apps", .option = "--config-from"};
	if (!from)
		return;
	assert_ok(config_from_read(str_of(from), "f", f->a, &f->from, &err), &err);
	f->wants.from = &f->from;
}

static void teardown(struct fixture *f)
{
	assert_int_equal(fake_unused(f->fake), 0);
	assert_int_equal(fake_open(f->fake), 0);
	live_input_free(f->live);
	client_free(f->client);
	transport_fake_free(f->fake);
	loop_free(f->loop);
	arena_free(f->a);
}

static void on_found(void *arg, const struct live_input_found *found, const struct error *err)
{
	struct fixture *f = arg;
	f->n++;
	f->err = err ? *err : ERROR_INIT;
	for (size_t i = 0; !err && i < found->n; i++) {
		CLEANUP(xfreep) char *text = json_text(found->layers[i].value);
		size_t n = strlen(f->layers);
		snprintf(f->layers + n, sizeof(f->layers) - n, "%s=%s;", found->layers[i].name,
			 text);
	}
	CLEANUP(xfreep) char *lists = json_text(err ? NULL : found->lists);
	snprintf(f->lists, sizeof(f->lists), "%s", lists);
}

static void start(struct fixture *f, const struct keymap *map)
{
	if (!live_input_is_connected(f->live))
		live_input_connect(f->live, f->client, map);
	f->read = live_input_start(f->live, &f->wants, f->a, on_found, f);
	assert_int_equal(f->n, 0); /* in a later turn */
	loop_fake_settle(f->loop);
}

static void put_kinds(struct fixture *f)
{
	fake_answer(f->fake, "GET", "/api", 200, CORE);
	fake_answer(f->fake, "GET", "/apis", 200, DOCUMENT(""));
}

static void test_live_input__sources_are_layers_in_their_order(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, "from:\n"
		  "- {secret: {name: s, key: doc}}\n"
		  "- {configMap: {namespace: other, name: c}}\n"
		  "- {resource: {apiVersion: v1, kind: Node, name: one}}\n");
	put_kinds(&f);
	fake_answer(f.fake, "GET", "/api/v1/namespaces/apps/secrets/s", 200,
		    "{\"kind\":\"Secret\",\"data\":{\"doc\":\"eDogMQ==\"}}");
	fake_answer(f.fake, "GET", "/api/v1/namespaces/other/configmaps/c", 200,
		    "{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"b\"}}");
	fake_answer(f.fake, "GET", "/api/v1/nodes/one", 200, "{\"kind\":\"Node\"}");
	assert_true(live_input_asks(&f.wants));
	start(&f, NULL);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.layers, "Secret apps/s={\"x\":1};ConfigMap other/c={\"a\":\"b\"};"
				      "Node one={\"kind\":\"Node\"};");
	teardown(&f);
}

static void test_live_input__a_list_is_of_a_declared_name_or_of_a_kind(void **state)
{
	(void)state;
	static const char *const lists[] = {"mine/list", "secrets/list"};
	static const char text[] =
		"mainResource: mine\n"
		"resources:\n"
		"- {name: mine, apiVersion: v1, kind: ConfigMap, namespace: web, "
		"selector: {matchLabels: {app: x}}}\n";
	struct fixture f;
	struct keymap *map;
	struct error err = ERROR_INIT;
	setup(&f, NULL);
	assert_ok(keymap_read(STR(text), "t", f.a, &map, &err), &err);
	f.wants.lists = lists;
	f.wants.n_lists = ARRAY_LEN(lists);
	put_kinds(&f);
	fake_answer(f.fake, "GET",
		    "/api/v1/namespaces/web/configmaps?labelSelector=app%20in%20%28x%29", 200,
		    "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"items\":[{\"data\":{}}]}");
	fake_answer(f.fake, "GET", "/api/v1/secrets", 200,
		    "{\"kind\":\"SecretList\",\"apiVersion\":\"v1\",\"items\":[]}");
	start(&f, map);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.lists, "{\"mine/list\":[{\"data\":{},\"apiVersion\":\"v1\",\"kind\":"
				     "\"ConfigMap\"}],\"secrets/list\":[]}");
	teardown(&f);
}

static void test_live_input__what_is_missing_is_an_error(void **state)
{
	(void)state;
	static const char *const lists[] = {"widgets/list", "secrets/list"};
	for (size_t i = 0; i < 4; i++) {
		struct fixture f;
		const char *want;
		setup(&f, i == 1   ? "from: [{secret: {name: s}}]"
			  : i == 2 ? "from: [{file: {path: /nowhere/x}}]"
				   : NULL);
		f.wants.lists = i == 0 ? lists : lists + 1;
		f.wants.n_lists = i == 0 || i == 3;
		if (i != 2)
			put_kinds(&f);
		if (i == 0) {
			want = "import alm-runtime/widgets/list: the server doesn't have";
		} else if (i == 1) {
			fake_answer(f.fake, "GET", "/api/v1/namespaces/apps/secrets/s", 404,
				    "{\"kind\":\"Status\",\"message\":\"not found\"}");
			want = "Secret apps/s: not found";
		} else if (i == 2) {
			want = "--config-from: /nowhere/x: ";
		} else {
			fake_answer(f.fake, "GET", "/api/v1/secrets", 403,
				    "{\"kind\":\"Status\",\"message\":\"you may not\"}");
			want = "import alm-runtime/secrets/list: you may not";
		}
		start(&f, NULL);
		assert_int_equal(f.n, 1);
		if (!f.err.code || !cstr_has_prefix(f.err.msg, want))
			fail_msg("%s, not %s", f.err.msg, want);
		teardown(&f);
	}
}

static void test_live_input__it_is_cancelled_at_any_time(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fixture f;
		setup(&f, "from: [{secret: {name: s}}]");
		live_input_connect(f.live, f.client, NULL);
		if (i == 1)
			fake_stream(f.fake, "GET", "/api", 200, "");
		if (i == 2) {
			put_kinds(&f);
			fake_stream(f.fake, "GET", "/api/v1/namespaces/apps/secrets/s", 200, "");
		}
		f.read = live_input_start(f.live, &f.wants, f.a, on_found, &f);
		if (i)
			loop_fake_settle(f.loop);
		live_input_cancel(f.read);
		if (i == 1) {
			fake_push(f.fake, "{}");
			fake_answer(f.fake, "GET", "/apis", 200, DOCUMENT(""));
			fake_end(f.fake, false);
		}
		loop_fake_settle(f.loop);
		assert_int_equal(f.n, 0);
		teardown(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_input__sources_are_layers_in_their_order),
		cmocka_unit_test(test_live_input__a_list_is_of_a_declared_name_or_of_a_kind),
		cmocka_unit_test(test_live_input__what_is_missing_is_an_error),
		cmocka_unit_test(test_live_input__it_is_cancelled_at_any_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
