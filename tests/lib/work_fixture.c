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
	(void)result;
	(void)requeue_after_ns;
	f->code = err ? err->code : 0;
	f->n_done++;
}

void work_fixture_init(struct work_fixture *f)
{
	struct error err = ERROR_INIT;
	*f = (struct work_fixture){.loop = loop_fake_new(INT64_C(1893571200000000000))};
	struct db_config dc = {.path = ":memory:"};
	assert_ok(db_open(&dc, &f->db, &err), &err);
	struct audit_config ac = {.db = f->db, .loop = f->loop};
	assert_ok(audit_open(&ac, &f->audit, &err), &err);
	struct disk_watch_config wc = {.db = f->db, .loop = f->loop, .audit = f->audit};
	f->disk = disk_watch_new(&wc);
	f->transport = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->transport));
	f->discovery = discovery_new(f->client);
	f->stash = stash_new();
	struct executor_config c = {
		.loop = f->loop,
		.client = f->client,
		.discovery = f->discovery,
		.audit = f->audit,
		.db = f->db,
		.disk = f->disk,
		.stash = f->stash,
		.chains = app_chains,
		.same_process = true,
	};
	f->executor = executor_new(&c);
}

void work_fixture_release(struct work_fixture *f)
{
	executor_free(f->executor);
	assert_int_equal(fake_open(f->transport), 0);
	assert_int_equal(fake_unused(f->transport), 0);
	stash_free(f->stash);
	discovery_free(f->discovery);
	client_free(f->client);
	transport_fake_free(f->transport);
	disk_watch_free(f->disk);
	audit_close(f->audit);
	db_close(f->db);
	loop_free(f->loop);
}
