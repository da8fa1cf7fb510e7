/* What was never made, or is gone, is freed by nobody: each destructor of the folder takes NULL, so that who unwinds need not ask. */
#include "tests/lib/test.h"

#include "alm/apiserver/admission/hook_line.h"
#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/admission/mutating_policies.h"
#include "alm/apiserver/admission/policies.h"
#include "alm/apiserver/admission/policy_index.h"
#include "alm/apiserver/apiserver.h"
#include "alm/apiserver/auth/auth.h"
#include "alm/apiserver/auth/issuer.h"
#include "alm/apiserver/auth/refusals.h"
#include "alm/apiserver/collection.h"
#include "alm/apiserver/converting.h"
#include "alm/apiserver/docs/discovery.h"
#include "alm/apiserver/kinds/kinds.h"
#include "alm/apiserver/kinds/namespaces.h"
#include "alm/apiserver/kinds/virtual.h"
#include "alm/apiserver/loops/definitions.h"
#include "alm/apiserver/loops/eventttl.h"
#include "alm/apiserver/loops/gc.h"
#include "alm/apiserver/loops/quota_status.h"
#include "alm/apiserver/loops/simulate.h"
#include "alm/apiserver/resource_quotas.h"
#include "alm/apiserver/store/hub.h"
#include "alm/apiserver/store/objects_check.h"
#include "alm/apiserver/store/store.h"
#include "alm/apiserver/store/store_internal.h"
#include "alm/apiserver/waiting.h"

static void test_api_freed__nothing_is_freed(void **state)
{
	(void)state;
	api_docs_free(NULL);
	apiserver_free(NULL);
	auth_free(NULL);
	collections_free(NULL);
	converting_free(NULL);
	definitions_free(NULL);
	event_ttl_free(NULL);
	gc_free(NULL);
	hook_lines_free(NULL);
	hooks_free(NULL);
	hub_free(NULL);
	issuer_free(NULL);
	kinds_free(NULL);
	mutating_policies_free(NULL);
	namespaces_free(NULL);
	objects_check_free(NULL);
	policies_free(NULL);
	policy_index_free(NULL);
	quota_status_free(NULL);
	quotas_free(NULL);
	refusals_free(NULL);
	simulate_free(NULL);
	store_close(NULL);
	text_unref(NULL);
	virtual_free(NULL);
	waitings_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_api_freed__nothing_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
