/* test_run_host.c: attempts of one host, at a server that is not there. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "alm/base/file.h"
#include "alm/controllers/run_host.h"
#include "alm/controllers/run_internal.h"

struct fixture {
	char dir[32], path[64];
	struct run_host *host;
	int n_stopped;
};

static int setup(void **state)
{
	static const char text[] = "current-context: a\nclusters: [{name: c, cluster: {server: "
				   "'http://127.0.0.1:1'}}]\n"
				   "users: [{name: u, user: {}}]\ncontexts: [{name: a, context: "
				   "{cluster: c, user: u}}]\n";
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct error err = ERROR_INIT;
	*state = f;
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-run-host-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/config", f->dir);
	assert_ok(file_write_atomic(f->path, STR(text), 0600, &err), &err);
	const struct run_host_config c = {.kubeconfig.path = f->path};
	assert_ok(run_host_open(&c, &f->host, &err), &err);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	run_host_free(f->host);
	(void)remove(f->path);
	(void)remove(f->dir);
	xfree(f);
	return 0;
}

static void stop(void *arg)
{
	struct fixture *f = arg;
	f->n_stopped++;
	loop_stop(run_host_loop(f->host));
}

/* Its end comes at once, as it has no Lease to give up. */
static void test_run_host__an_attempt_after_one_that_failed_is_made(void **state)
{
	struct fixture *f = *state;
	const struct run_config c = {.bundle = "web", .job = RUN_JOB_INIT};
	for (int i = 1; i <= 3; i++) {
		struct error err = ERROR_INIT;
		struct task stops = {.fn = stop, .arg = f};
		loop_post(run_host_loop(f->host), &stops);
		assert_int_equal(run_host_once(f->host, &c, &err), -E_UNAVAILABLE);
		assert_int_equal(f->n_stopped, i);
	}
}

static void test_run_host__a_lease_that_is_held_is_not_given_up_for_what_fails(void **state)
{
	(void)state;
	struct run_tries t = {.held = false};
	struct error err = ERROR_INIT;
	(void)error_set(&err, E_UNAVAILABLE, "no answer");
	for (int i = 0; i < 5; i++)
		assert_false(run_tries_fail(&t, &err));
	run_tries_lead(&t, true);
	for (int i = 0; i < 20; i++)
		assert_false(run_tries_fail(&t, &err));
	run_tries_lead(&t, false);
	for (int i = 0; i < 5; i++)
		assert_false(run_tries_fail(&t, &err));
	assert_true(run_tries_fail(&t, &err));
	run_tries_lead(&t, true);
	(void)error_set(&err, E_FORBIDDEN, "no right");
	assert_true(run_tries_fail(&t, &err));
}

/* Who starts a run of his own has all that an attempt of the host has. */
static void test_run_host__lends_all_it_has(void **state)
{
	struct fixture *f = *state;
	struct run_config c = {.bundle = "web"};
	run_host_lend(f->host, &c);
	assert_ptr_equal(c.loop, run_host_loop(f->host));
	assert_non_null(c.client);
	assert_non_null(c.audit);
	assert_non_null(c.db);
	assert_non_null(c.holder);
	assert_non_null(c.holder_is_dead);
	assert_false(c.holder_is_dead(c.holder));
	assert_string_equal(c.bundle, "web");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_run_host__lends_all_it_has, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_run_host__an_attempt_after_one_that_failed_is_made, setup, teardown),
		cmocka_unit_test(
			test_run_host__a_lease_that_is_held_is_not_given_up_for_what_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
