/* The client against the real server of this program, in process: no socket, virtual time. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/discovery.h"
#include "alm/client/informer.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"

#define CMS "/api/v1/namespaces/default/configmaps"

struct fixture {
	struct apifake *server;
	struct loop *loop;
	struct transport *transport;
	struct client *client;
	struct informer *informer;
	int n, n_synced, n_changes;
	struct error err;
	char found[128], rv[32];
};

static const struct resource configmaps = {"", "v1", "configmaps", "ConfigMap", true};

static void handle(void *arg, struct exchange *x)
{
	struct fixture *f = arg;
	apiserver_handle(apifake_server(f->server), x);
}

static void setup(struct fixture *f)
{
	*f = (struct fixture){.server = apifake_new(NULL)};
	f->loop = apifake_loop(f->server);
	f->transport = transport_local_new(f->loop, handle, f, "secret");
	f->client = client_new(f->loop, f->transport);
}

static void teardown(struct fixture *f)
{
	informer_free(f->informer);
	client_free(f->client);
	transport_free(f->transport);
	apifake_free(f->server);
}

static void on_reply(void *arg, const struct client_reply *r)
{
	struct fixture *f = arg;
	f->n++;
	f->err = r->err ? *r->err : ERROR_INIT;
	const char *rv = r->body ? meta_resource_version(r->body) : NULL;
	snprintf(f->rv, sizeof(f->rv), "%s", rv ? rv : "");
}

static void on_found(void *arg, const struct resource *r, const struct error *err)
{
	struct fixture *f = arg;
	f->n++;
	f->err = err ? *err : ERROR_INIT;
	snprintf(f->found, sizeof(f->found), "%s", r ? r->plural : "");
}

static void on_change(void *arg, enum informer_change change, const struct informer_object *before,
		      const struct informer_object *after)
{
	struct fixture *f = arg;
	(void)change;
	assert_true(before || after);
	f->n_changes++;
}

static void on_synced(void *arg)
{
	struct fixture *f = arg;
	f->n_synced++;
}

static void start_informer(struct fixture *f, bool metadata_only)
{
	const struct informer_config c = {.client = f->client,
					  .resource = configmaps,
					  .metadata_only = metadata_only,
					  .changed = on_change,
					  .synced = on_synced,
					  .arg = f};
	f->informer = informer_new(&c);
	informer_start(f->informer);
	apifake_run(f->server);
}

static struct obj *configmap(const char *name, const char *value)
{
	struct obj *o = meta_skeleton("v1", "ConfigMap", "default", name);
	obj_set_path(o, "data.k", obj_string(value));
	return o;
}

static void apply(struct fixture *f, const char *name, const char *value)
{
	struct obj *o = configmap(name, value);
	client_apply(f->client, &configmaps, "default", name, o, NULL, on_reply, f);
	obj_unref(o);
	apifake_run(f->server);
	assert_int_equal(f->err.code, 0);
}

static void test_client_server__writes_and_their_errors(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	apply(&f, "a", "1");
	struct obj *o = configmap("a", "2");
	client_create(f.client, &configmaps, "default", o, NULL, on_reply, &f);
	apifake_run(f.server);
	assert_int_equal(f.err.code, E_EXISTS);
	obj_set_path(o, "metadata.resourceVersion", obj_string("1"));
	client_replace(f.client, &configmaps, "default", "a", o, NULL, on_reply, &f);
	apifake_run(f.server);
	assert_int_equal(f.err.code, E_CONFLICT);
	const struct client_options wrong = {.uid = "no"};
	client_delete(f.client, &configmaps, "default", "a", &wrong, on_reply, &f);
	apifake_run(f.server);
	assert_int_equal(f.err.code, E_CONFLICT);
	client_delete(f.client, &configmaps, "default", "a", NULL, on_reply, &f);
	client_get(f.client, &configmaps, "default", "b", NULL, on_reply, &f);
	apifake_run(f.server);
	assert_int_equal(f.err.code, E_NOTFOUND);
	obj_unref(o);
	teardown(&f);
}

static void test_client_server__discovery_sees_a_new_kind(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	struct discovery *d = discovery_new(f.client);
	discovery_require_name(d, "deploy", on_found, &f);
	apifake_run(f.server);
	assert_string_equal(f.found, "deployments");
	discovery_require_kind(d, "e.io", "v1", "W", on_found, &f);
	apifake_run(f.server);
	assert_int_equal(f.err.code, E_NOTFOUND);
	struct answer a = apifake_do(
		f.server, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":"
		"\"Cluster\",\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{\"name\":"
		"\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
		"\"object\"}}}]}}");
	assert_int_equal(a.status, 201);
	discovery_require_kind(d, "e.io", "v1", "W", on_found, &f);
	apifake_run(f.server);
	assert_string_equal(f.found, "ws");
	assert_false(discovery_kind(d, "e.io", NULL, "W")->namespaced);
	discovery_free(d);
	teardown(&f);
}

static void test_client_server__lists_more_than_a_page(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	for (int i = 0; i < 1203; i++) {
		char body[128];
		snprintf(body, sizeof(body),
			 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c%"
			 "d\"}}",
			 i);
		apifake_send(f.server, "POST", CMS, NULL, body);
	}
	apifake_run(f.server);
	start_informer(&f, true);
	assert_int_equal(f.n_synced, 1);
	assert_true(informer_count(f.informer) >= 1203);
	const struct informer_object *o = informer_get(f.informer, "default", "c77");
	assert_non_null(o);
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(STRBUF_SMALL);
	assert_true(
		str_contains(informer_text(o, &room), STR("\"kind\":\"PartialObjectMetadata\"")));
	teardown(&f);
}

/* Every object of a fresh list stands in the cache with that resourceVersion, and nothing else. */
static void assert_cache_is_the_truth(struct fixture *f)
{
	struct answer a = apifake_do(f->server, "GET", "/api/v1/configmaps", NULL);
	const struct obj *items = obj_get(a.json, "items");
	assert_int_equal(obj_len(items), informer_count(f->informer));
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		const struct informer_object *have =
			informer_get(f->informer, meta_namespace(o), meta_name(o));
		assert_non_null(have);
		assert_string_equal(have->resource_version, meta_resource_version(o));
		assert_true(have->uid == hash_key(str_of(meta_uid(o))));
	}
}

static void test_client_server__cache_follows_the_server(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	start_informer(&f, false);
	assert_int_equal(f.n_synced, 1);
	for (int i = 0; i < 400; i++) {
		char name[16], value[16];
		snprintf(name, sizeof(name), "c%d", (int)loop_random_below(f.loop, 9));
		snprintf(value, sizeof(value), "%d", i);
		uint64_t dice = loop_random_below(f.loop, 10);
		if (dice < 5)
			apply(&f, name, value);
		else if (dice < 8)
			client_delete(f.client, &configmaps, "default", name, NULL, on_reply, &f);
		else /* sometimes longer than a watch lasts */
			apifake_advance(f.server,
					(int64_t)loop_random_below(f.loop, 400) * NS_PER_S);
		apifake_run(f.server);
		f.err = ERROR_INIT;
	}
	apifake_advance(f.server, 60 * NS_PER_S);
	assert_cache_is_the_truth(&f);
	assert_true(f.n_changes > 200);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_server__writes_and_their_errors),
		cmocka_unit_test(test_client_server__discovery_sees_a_new_kind),
		cmocka_unit_test(test_client_server__lists_more_than_a_page),
		cmocka_unit_test(test_client_server__cache_follows_the_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
