/* test_migration.c: the stored version of a kind moves: interrupted at every write, with other
 * writers beside it. The server of this program, in process, on virtual time. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/live/migration.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/usage.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/loop_fake.h"

#define CRDS    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define NAME    "ws.e.io"
#define OBJECTS 12
#define PAGE    4
/* the beginning, 12 objects, 2 marks between 3 pages, the note, the list */
#define WRITES (1 + OBJECTS + 2 + 2)

struct fixture {
	struct apifake *server;
	struct transport *transport;
	struct client *client;
	struct migration *migration;
	int n_writes, cut_at; /* the write that is not (or no longer) answered */
	bool lost;            /* it never reaches the server */
	bool done, was_cut;
	struct error err;
	size_t n, n_writers;
	char writer[64], was[64];
};

static void handle(void *arg, struct exchange *x)
{
	struct fixture *f = arg;
	bool write = strcmp(x->request->method, "GET") != 0;
	f->n_writes += write;
	f->was_cut |= write && f->n_writes == f->cut_at;
	if (!f->was_cut || (f->n_writes == f->cut_at && write && !f->lost))
		apiserver_handle(apifake_server(f->server), x);
}

static const char *definition(const char *stored)
{
	static char text[1024];
	bool v2 = !strcmp(stored, "v2");
	static const char *const schema =
		"\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{"
		"\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}}}";
	snprintf(
		text, sizeof(text),
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":"
		"\"Namespaced\",\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{"
		"\"name\":"
		"\"v1\",\"served\":true,\"storage\":%s,%s},{\"name\":\"v2\",\"served\":true,"
		"\"storage\":%s,%s}]}}",
		v2 ? "false" : "true", schema, v2 ? "true" : "false", schema);
	return text;
}

static struct answer put_crd(struct fixture *f, const char *stored)
{
	return apifake_do_type(f->server, "PATCH", CRDS "/" NAME "?fieldManager=t&force=true",
			       "application/apply-patch+yaml", definition(stored));
}

static int put(struct fixture *f, const char *version, const char *name, int n)
{
	char target[128], body[256];
	snprintf(target, sizeof(target),
		 "/apis/e.io/%s/namespaces/default/ws/%s?fieldManager=user&force=true", version,
		 name);
	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"e.io/%s\",\"kind\":\"W\",\"metadata\":{\"name\":\"%s\"},"
		 "\"spec\":{\"n\":%d}}",
		 version, name, n);
	return apifake_do_type(f->server, "PATCH", target, "application/apply-patch+yaml", body)
		.status;
}

static void setup(struct fixture *f)
{
	*f = (struct fixture){.server = apifake_new(NULL)};
	struct loop *loop = apifake_loop(f->server);
	f->transport = transport_local_new(loop, handle, f, "secret");
	f->client = client_new(loop, f->transport);
	assert_int_equal(put_crd(f, "v1").status, 201);
	apifake_advance(f->server, NS_PER_S);
	for (int i = 0; i < OBJECTS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "w%02d", i);
		assert_int_equal(put(f, "v1", name, i), 201);
	}
	apifake_advance(f->server, NS_PER_S);
	assert_int_equal(put_crd(f, "v2").status, 200);
	apifake_advance(f->server, NS_PER_S);
}

static void teardown(struct fixture *f)
{
	migration_free(f->migration);
	client_free(f->client);
	transport_free(f->transport);
	apifake_free(f->server);
}

static void on_done(void *arg, const struct migration_result *r, const struct error *err)
{
	struct fixture *f = arg;
	f->done = true;
	f->err = err ? *err : ERROR_INIT;
	f->n = r->n;
	f->n_writers = r->n_writers;
	snprintf(f->was, sizeof(f->was), "%s", r->was ? r->was : "");
	snprintf(f->writer, sizeof(f->writer), "%s", r->n_writers ? r->writers[0] : "");
}

static void start(struct fixture *f, struct migration_config c)
{
	migration_free(f->migration);
	c.client = f->client;
	c.crd = NAME;
	c.to = c.to ? c.to : "v2";
	c.page = PAGE;
	c.done = on_done;
	c.arg = f;
	f->done = f->was_cut = false;
	f->n_writes = 0;
	f->migration = migration_start(&c);
}

static void run(struct fixture *f, struct migration_config c)
{
	f->cut_at = 0;
	start(f, c);
	for (int i = 0; i < 200 && !f->done; i++)
		apifake_advance(f->server, NS_PER_S);
	assert_true(f->done);
}

static const char *stored_versions(struct fixture *f)
{
	static char text[128];
	struct answer a = apifake_do(f->server, "GET", CRDS "/" NAME, NULL);
	CLEANUP(xfreep) char *json = json_text(obj_path(a.json, "status.storedVersions"));
	snprintf(text, sizeof(text), "%s", json);
	return text;
}

/* Only what is stored as v2 already is left as it is when it is written back. */
static void assert_all_stored_as_v2(struct fixture *f)
{
	struct answer list = apifake_do(f->server, "GET", "/apis/e.io/v2/ws", NULL);
	const struct obj *items = obj_get(list.json, "items");
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		char target[128];
		CLEANUP(xfreep) char *text = json_text(o);
		snprintf(target, sizeof(target), "/apis/e.io/v2/namespaces/default/ws/%s",
			 meta_name(o));
		struct answer a = apifake_do(f->server, "PUT", target, text);
		assert_int_equal(a.status, 200);
		assert_string_equal(meta_resource_version(a.json), meta_resource_version(o));
	}
	assert_string_equal(stored_versions(f), "[\"v2\"]");
	struct answer crd = apifake_do(f->server, "GET", CRDS "/" NAME, NULL);
	assert_null(meta_annotation(crd.json, MIGRATION_ANNOTATION));
	assert_non_null(meta_annotation(crd.json, "app.coreos.com/migrated-from.v1"));
}

static void test_migration__moves_all_and_trims(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	run(&f, (struct migration_config){.dry_run = true});
	assert_ok(-f.err.code, &f.err);
	assert_int_equal(f.n, OBJECTS);
	assert_int_equal(f.n_writes, 0);
	assert_string_equal(stored_versions(&f), "[\"v1\",\"v2\"]");
	run(&f, (struct migration_config){.rate = 0, .by = "alice"});
	assert_ok(-f.err.code, &f.err);
	assert_int_equal(f.n, OBJECTS);
	assert_int_equal(f.n_writes, WRITES);
	assert_string_equal(f.was, "v1 v2");
	assert_all_stored_as_v2(&f);
	struct answer crd = apifake_do(f.server, "GET", CRDS "/" NAME, NULL);
	assert_string_equal(meta_annotation(crd.json, USAGE_MIGRATED_BY), "alice");
	run(&f, (struct migration_config){.rate = 0});
	assert_ok(-f.err.code, &f.err);
	assert_all_stored_as_v2(&f);
	teardown(&f);
}

static void test_migration__wants_the_storage_version(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	run(&f, (struct migration_config){.to = "v1"});
	assert_int_equal(f.err.code, E_REFUSED);
	run(&f, (struct migration_config){.to = "v3"});
	assert_int_equal(f.err.code, E_NOTFOUND);
	assert_int_equal(f.n_writes, 0);
	teardown(&f);
}

static void test_migration__waits_until_all_servers_know(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.cut_at = 0;
	start(&f, (struct migration_config){.settle_ns = MIGRATION_SETTLE_NS});
	apifake_advance(f.server, 50 * NS_PER_S);
	assert_false(f.done);
	assert_int_equal(f.n_writes, 0);
	apifake_advance(f.server, 10 * NS_PER_S);
	assert_true(f.done);
	assert_all_stored_as_v2(&f);
	teardown(&f);
}

/* Killed before or after each of its writes, and started anew: the same result. */
static void test_migration__killed_at_every_write(void **state)
{
	(void)state;
	for (int at = 1; at <= WRITES; at++)
		for (int lost = 0; lost < 2; lost++) {
			struct fixture f;
			setup(&f);
			f.cut_at = at;
			f.lost = lost;
			start(&f, (struct migration_config){.rate = 0});
			apifake_run(f.server);
			assert_true(f.was_cut);
			assert_int_equal(f.done, at == WRITES && !lost);
			migration_free(f.migration);
			f.migration = NULL;
			apifake_advance(f.server, NS_PER_S);
			run(&f, (struct migration_config){.rate = 0});
			assert_ok(-f.err.code, &f.err);
			assert_all_stored_as_v2(&f);
			teardown(&f);
		}
}

/* Others change, create in the old version and delete while it runs: nothing of theirs is lost. */
static void test_migration__two_writers(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.cut_at = 0;
	start(&f, (struct migration_config){.rate = 500});
	int step = 0;
	for (; step < 2000 && !f.done; step++) {
		char name[16];
		apifake_advance(f.server, NS_PER_MS);
		snprintf(name, sizeof(name), "w%02d", step % OBJECTS);
		if (step < OBJECTS - 1)
			assert_int_equal(put(&f, step % 2 ? "v1" : "v2", name, 100 + step), 200);
		if (step == 5)
			assert_int_equal(put(&f, "v1", "a-late-one", 7), 201);
		if (step == 8)
			apifake_do(f.server, "DELETE", "/apis/e.io/v2/namespaces/default/ws/w11",
				   NULL);
	}
	assert_true(f.done);
	assert_ok(-f.err.code, &f.err);
	for (int i = 0; i < OBJECTS - 1; i++) {
		char target[128];
		snprintf(target, sizeof(target), "/apis/e.io/v2/namespaces/default/ws/w%02d", i);
		struct answer a = apifake_do(f.server, "GET", target, NULL);
		assert_int_equal(obj_i64(a.json, "spec.n", 0), i < step ? 100 + i : i);
	}
	run(&f, (struct migration_config){.ignore_writers = true});
	assert_all_stored_as_v2(&f);
	teardown(&f);
}

static void test_migration__refused_while_the_old_version_is_written(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	assert_int_equal(put(&f, "v1", "w03", 9), 200);
	apifake_advance(f.server, NS_PER_S);
	run(&f, (struct migration_config){.rate = 0});
	assert_int_equal(f.err.code, E_REFUSED);
	assert_int_equal(f.n_writes, 0);
	assert_string_equal(f.writer, "user: default/w03");
	assert_string_equal(stored_versions(&f), "[\"v1\",\"v2\"]");
	run(&f, (struct migration_config){.ignore_writers = true});
	assert_ok(-f.err.code, &f.err);
	assert_all_stored_as_v2(&f);
	teardown(&f);
}

static void test_migration__stops_when_storage_moves_back(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.cut_at = 0;
	start(&f, (struct migration_config){.rate = 1000});
	apifake_advance(f.server, 3 * NS_PER_MS);
	assert_int_equal(put_crd(&f, "v1").status, 200);
	for (int i = 0; i < 100 && !f.done; i++)
		apifake_advance(f.server, NS_PER_S);
	assert_int_equal(f.err.code, E_CONFLICT);
	assert_string_equal(stored_versions(&f), "[\"v1\",\"v2\"]");
	teardown(&f);
}

/* The definition changed since a run that was killed: what that one wrote may be stored as v1
 * again, and is written once more. */
static void test_migration__what_was_done_before_a_change_is_done_again(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.cut_at = 1 + PAGE + 3; /* in the second page */
	start(&f, (struct migration_config){.rate = 0});
	apifake_run(f.server);
	assert_true(f.was_cut);
	migration_free(f.migration);
	f.migration = NULL;
	struct answer crd = apifake_do(f.server, "GET", CRDS "/" NAME, NULL);
	assert_non_null(strstr(meta_annotation(crd.json, MIGRATION_ANNOTATION), "continue"));
	assert_int_equal(put_crd(&f, "v1").status, 200);
	for (int i = 0; i < PAGE; i++)
		assert_int_equal(put(&f, "v1", (char[]){'w', '0', (char)('0' + i), 0}, 50), 200);
	apifake_advance(f.server, NS_PER_S);
	assert_int_equal(put_crd(&f, "v2").status, 200);
	run(&f, (struct migration_config){.ignore_writers = true});
	assert_ok(-f.err.code, &f.err);
	assert_all_stored_as_v2(&f);
	teardown(&f);
}

/* The same while it runs. */
static void test_migration__starts_over_when_storage_moves_to_and_fro(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.cut_at = 0;
	start(&f, (struct migration_config){.rate = 1000, .ignore_writers = true});
	apifake_advance(f.server, 8 * NS_PER_MS);
	assert_int_equal(put_crd(&f, "v1").status, 200);
	for (int i = 0; i < PAGE; i++)
		assert_int_equal(put(&f, "v1", (char[]){'w', '0', (char)('0' + i), 0}, 50), 200);
	assert_int_equal(put_crd(&f, "v2").status, 200);
	for (int i = 0; i < 100 && !f.done; i++)
		apifake_advance(f.server, NS_PER_S);
	assert_true(f.done);
	assert_ok(-f.err.code, &f.err);
	assert_all_stored_as_v2(&f);
	teardown(&f);
}

/* Times are whole seconds: the note is later than what was written through v1 before it, and what
 * is written after it is not earlier. */
static void test_migration__its_second_is_told_apart(void **state)
{
	(void)state;
	struct fixture f;
	struct usage u;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	setup(&f);
	assert_int_equal(put(&f, "v1", "w01", 50), 200);
	run(&f, (struct migration_config){.ignore_writers = true});
	assert_ok(-f.err.code, &f.err);
	struct answer crd = apifake_do(f.server, "GET", CRDS "/" NAME, NULL);
	struct answer w =
		apifake_do(f.server, "GET", "/apis/e.io/v2/namespaces/default/ws/w01", NULL);
	usage_begin(&u, crd.json, "v1", NULL, a);
	usage_object(&u, w.json);
	usage_end(&u);
	assert_true(usage_is_migrated(&u));

	CLEANUP(obj_unrefp) struct obj *changed = obj_copy(crd.json);
	const char *written =
		obj_str(obj_at(obj_path(w.json, "metadata.managedFields"), 0), "time");
	meta_set_annotation(changed, USAGE_MIGRATED_PREFIX "v1", written);
	usage_begin(&u, changed, "v1", NULL, a);
	usage_object(&u, w.json);
	usage_end(&u);
	assert_false(usage_is_migrated(&u));
	teardown(&f);
}

static bool is_migrated(struct fixture *f, const char *name)
{
	struct usage u;
	char target[128];
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	snprintf(target, sizeof(target), "/apis/e.io/v2/namespaces/default/ws/%s", name);
	struct answer crd = apifake_do(f->server, "GET", CRDS "/" NAME, NULL);
	struct answer w = apifake_do(f->server, "GET", target, NULL);
	usage_begin(&u, crd.json, "v1", NULL, a);
	usage_object(&u, w.json);
	usage_end(&u);
	return usage_is_migrated(&u);
}

/* The note of a clock that was set back would be older than every write it is about: the migration
 * ended well, and all objects were in use as before. */
static void test_migration__a_clock_that_was_set_back(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	loop_fake_step(apifake_loop(f.server), -3600 * NS_PER_S);
	run(&f, (struct migration_config){.rate = 0});
	assert_int_equal(f.err.code, E_REFUSED);
	run(&f, (struct migration_config){.ignore_writers = true});
	assert_ok(-f.err.code, &f.err);
	assert_all_stored_as_v2(&f);
	assert_string_equal(stored_versions(&f), "[\"v2\"]");
	assert_true(is_migrated(&f, "w01"));
	loop_fake_step(apifake_loop(f.server), 3600 * NS_PER_S);
	apifake_advance(f.server, 2 * NS_PER_S);
	assert_int_equal(put(&f, "v1", "w01", 77), 200);
	assert_false(is_migrated(&f, "w01"));
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_migration__moves_all_and_trims),
		cmocka_unit_test(test_migration__wants_the_storage_version),
		cmocka_unit_test(test_migration__waits_until_all_servers_know),
		cmocka_unit_test(test_migration__killed_at_every_write),
		cmocka_unit_test(test_migration__two_writers),
		cmocka_unit_test(test_migration__refused_while_the_old_version_is_written),
		cmocka_unit_test(test_migration__stops_when_storage_moves_back),
		cmocka_unit_test(test_migration__what_was_done_before_a_change_is_done_again),
		cmocka_unit_test(test_migration__starts_over_when_storage_moves_to_and_fro),
		cmocka_unit_test(test_migration__its_second_is_told_apart),
		cmocka_unit_test(test_migration__a_clock_that_was_set_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
