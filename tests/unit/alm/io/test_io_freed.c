/* What was never made, or is gone, is freed by nobody: each destructor of the folder takes NULL, so that who unwinds need not ask. */
#include "tests/lib/test.h"

#include "alm/io/address.h"
#include "alm/io/db.h"
#include "alm/io/jws.h"
#include "alm/io/lane.h"
#include "alm/io/loop.h"
#include "alm/io/loop_measure.h"
#include "alm/io/metrics.h"
#include "alm/io/metrics_server.h"
#include "alm/io/peers.h"
#include "alm/io/program.h"
#include "alm/io/quota.h"
#include "alm/io/sandbox.h"
#include "alm/io/server.h"
#include "alm/io/transport.h"

static void test_io_freed__nothing_is_freed(void **state)
{
	(void)state;
	address_policy_free(NULL);
	db_close(NULL);
	dir_watch_free(NULL);
	jws_key_free(NULL);
	lane_free(NULL);
	loop_free(NULL);
	loop_measure_free(NULL);
	metrics_free(NULL);
	metrics_server_free(NULL);
	peers_free(NULL);
	programs_free(NULL);
	quota_free(NULL);
	sandbox_free(NULL);
	server_free(NULL);
	transport_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_io_freed__nothing_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
