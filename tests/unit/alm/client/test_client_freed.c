/* What was never made, or is gone, is freed by nobody: each destructor of the folder takes NULL, so that who unwinds need not ask. */
#include "tests/lib/test.h"

#include "alm/client/cache.h"
#include "alm/client/client.h"
#include "alm/client/delegated.h"
#include "alm/client/discovery.h"
#include "alm/client/exec_run.h"
#include "alm/client/informer.h"
#include "alm/client/injected_ca.h"
#include "alm/client/kubeconfig.h"
#include "alm/client/queue.h"
#include "alm/client/trees.h"
#include "alm/client/watch.h"
#include "alm/client/webhook.h"

static void test_client_freed__nothing_is_freed(void **state)
{
	(void)state;
	cache_free(NULL);
	client_free(NULL);
	delegated_free(NULL);
	discovery_free(NULL);
	exec_run_free(NULL);
	informer_free(NULL);
	injected_ca_free(NULL);
	kubeconfig_free(NULL);
	queue_free(NULL);
	trees_free(NULL);
	watch_free(NULL);
	webhook_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_freed__nothing_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
