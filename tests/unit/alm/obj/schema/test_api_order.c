/* test_api_order.c: fields stand where Go's structs have them. */
#include <string.h>

#include "alm/obj/schema/api_types.h"
#include "tests/lib/test.h"

/* No two fields of a struct, with those of what is embedded in it, have one place; what there is none of has none. */
static void test_api_order__each_field_has_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < api_n_types; i++) {
		unsigned places[128];
		size_t n, m = 0;
		const struct api_field *fields = api_fields_of(&api_types[i], &n);
		assert_in_range(n, 0, 127);
		for (size_t k = 0; k < n; k++) {
			if (fields[k].flags & API_EMBEDDED)
				continue;
			places[m] = api_place_in_struct(&api_types[i], api_text(fields[k].name));
			assert_int_not_equal(places[m], 0);
			for (size_t j = 0; j < m; j++)
				assert_int_not_equal(places[j], places[m]);
			m++;
		}
		assert_int_equal(api_place_in_struct(&api_types[i], "nope"), 0);
	}
}

/* As the types of Kubernetes 1.36 have them, of those that are not in the order of their numbers. */
static void test_api_order__is_that_of_go(void **state)
{
	(void)state;
	static const struct {
		const char *type, *fields;
	} structs[] = {
		{"core.v1.PodSpec",
		 "volumes initContainers containers ephemeralContainers restartPolicy "
		 "serviceAccount automountServiceAccountToken nodeName hostIPC "
		 "shareProcessNamespace securityContext schedulerName tolerations "
		 "preemptionPolicy"},
		{"core.v1.Container",
		 "name ports envFrom env resources resizePolicy restartPolicy "
		 "restartPolicyRules volumeMounts volumeDevices livenessProbe "
		 "readinessProbe startupProbe lifecycle terminationMessagePath "
		 "terminationMessagePolicy imagePullPolicy tty"},
		{"core.v1.EphemeralContainer", "name ports envFrom env startupProbe lifecycle tty "
					       "targetContainerName"},
		{"core.v1.Volume",
		 "name hostPath photonPersistentDisk projected portworxVolume csi"},
		{"core.v1.PodStatus",
		 "observedGeneration phase reason nominatedNodeName hostIP hostIPs "
		 "podIP podIPs startTime initContainerStatuses containerStatuses "
		 "qosClass ephemeralContainerStatuses"},
		{"core.v1.NodeSpec", "podCIDR podCIDRs providerID taints configSource externalID"},
		{"core.v1.Secret", "metadata immutable data stringData type"},
		{"batch.v1.JobSpec",
		 "parallelism activeDeadlineSeconds podFailurePolicy successPolicy "
		 "backoffLimit backoffLimitPerIndex maxFailedIndexes selector "
		 "template completionMode managedBy"},
		{"networking.v1.IngressSpec", "ingressClassName defaultBackend tls rules"},
	};
	for (size_t i = 0; i < sizeof(structs) / sizeof(*structs); i++) {
		const struct api_type *t = api_type_named(structs[i].type);
		struct str rest = str_of(structs[i].fields), word;
		unsigned last = 0;
		assert_non_null(t);
		while (str_next(&rest, ' ', &word)) {
			char name[64] = {0};
			memcpy(name, word.ptr, word.len);
			unsigned place = api_place_in_struct(t, name);
			if (place <= last)
				fail_msg("%s of %s stands before what it follows", name,
					 structs[i].type);
			last = place;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_api_order__each_field_has_its_place),
		cmocka_unit_test(test_api_order__is_that_of_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
