#include "tests/lib/work_fixture.h"

#include "alm/audit/audit.h"
#include "alm/audit/disk_watch.h"
#include "alm/controllers/app/keys.h"
#include "tests/lib/test.h"

void work_fixture_ended(void *arg, const char *controller, const char *key, enum run_result result,
			int64_t requeue_after_ns, const struct error *err)
{
	struct work_fixture *f = arg;
	(void)controller;
	(void)key;
	f->result = result;
	f->requeue_after_ns = requeue_after_ns;
	f->code = err ? err->code : 0;
	f->n_done++;
}

void work_fixture_init(struct work_fixture *f)
{
	work_fixture_init_as(f, true, NULL);
}

void work_fixture_init_as(struct work_fixture *f, bool same_process,
			  const struct executor_host *host)
{
	work_fixture_init_with(
		f, &(struct work_fixture_config){.same_process = same_process, .host = host});
}

void work_fixture_init_with(struct work_fixture *f, const struct work_fixture_config *c)
{
	struct error err = ERROR_INIT;
	*f = (struct work_fixture){.loop = loop_fake_new(INT64_C(1893571200000000000))};
	struct db_config dc = {.path = c->path ? c->path : ":memory:",
			       .free_bytes = c->free_bytes,
			       .free_bytes_arg = c->free_bytes_arg};
	assert_ok(db_open(&dc, &f->db, &err), &err);
	struct audit_config ac = {.db = f->db, .loop = f->loop};
	assert_ok(audit_open(&ac, &f->audit, &err), &err);
	struct disk_watch_config wc = {.db = f->db, .loop = f->loop, .audit = f->audit};
	f->disk = disk_watch_new(&wc);
	work_fixture_begin(f, c);
}

void work_fixture_begin(struct work_fixture *f, const struct work_fixture_config *c)
{
	f->transport = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->transport));
	f->discovery = discovery_new(f->client);
	f->stash = stash_new();
	struct executor_config config = {
		.loop = f->loop,
		.client = f->client,
		.discovery = f->discovery,
		.audit = f->audit,
		.db = f->db,
		.disk = f->disk,
		.stash = f->stash,
		.chains = app_chains,
		.same_process = c->same_process,
		.host = c->host ? *c->host : (struct executor_host){0},
		.work_host = c->work_host,
	};
	f->executor = executor_new(&config);
}

void work_fixture_end(struct work_fixture *f)
{
	executor_free(STEAL(f->executor));
	stash_free(f->stash);
	discovery_free(f->discovery);
	client_free(f->client);
	transport_fake_free(f->transport);
}

static void discovered(void *arg, const struct error *err)
{
	(void)arg;
	assert_null(err);
}

void work_fixture_discover_these(struct work_fixture *f, const char *groups, const char *core)
{
	fake_answer(f->transport, "GET", "/apis", 200, groups);
	fake_answer(f->transport, "GET", "/api", 200, core);
	discovery_refresh(f->discovery, discovered, NULL);
	loop_fake_settle(f->loop);
}

void work_fixture_discover(struct work_fixture *f)
{
	work_fixture_discover_these(
		f, "{\"items\":[]}",
		"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},\"versions\":"
		"[{\"version\":\"v1\",\"resources\":[{\"resource\":\"configmaps\","
		"\"responseKind\":{\"kind\":\"ConfigMap\"},\"scope\":\"Namespaced\",\"verbs\":["
		"\"get\",\"patch\"]},{\"resource\":\"events\",\"responseKind\":{\"kind\":"
		"\"Event\"},\"scope\":\"Namespaced\",\"verbs\":[\"create\"]}]}]}]}");
}

void work_fixture_plan(struct plan *p)
{
	plan_init(p, arena_new((size_t)1 << 20));
	p->as = WORK_FIXTURE_ACCOUNT;
}

void work_fixture_run(struct work_fixture *f, struct plan *p)
{
	f->n_done = 0;
	executor_start(f->executor, "strategy", "k", p, p->a, work_fixture_ended, f);
	loop_fake_settle(f->loop);
}

void work_fixture_release(struct work_fixture *f)
{
	executor_free(STEAL(f->executor));
	assert_int_equal(fake_open(f->transport), 0);
	assert_int_equal(fake_unused(f->transport), 0);
	work_fixture_drop(f);
}

void work_fixture_drop(struct work_fixture *f)
{
	work_fixture_end(f);
	disk_watch_free(f->disk);
	audit_close(f->audit);
	db_close(f->db);
	loop_free(f->loop);
}
