/* Who controls a field, by the managedFields as a real Kubernetes writes them. */
#include "tests/lib/test.h"

#include "alm/obj/yaml.h"
#include "alm/unit/holder.h"

/* clang-format off */
static const char live_text[] =
	"metadata:\n"
	"  annotations: {'deployment.kubernetes.io/revision': '1'}\n"
	"  managedFields:\n"
	"  - {manager: 'alm:01234567:web', operation: Apply, time: '2026-01-01T00:00:00Z', fieldsV1: {'f:spec': {'f:replicas': {}, 'f:template': {'f:spec': {'f:containers': {'k:{\"name\":\"c\"}': {'.': {}, 'f:image': {}, 'f:name': {}}}}}}}}\n"
	"  - {manager: kubectl-edit, operation: Update, time: '2026-01-02T00:00:00Z', fieldsV1: {'f:spec': {'f:template': {'f:spec': {'f:containers': {'k:{\"name\":\"side\"}': {'.': {}, 'f:image': {}}}}}}, 'f:metadata': {'f:finalizers': {'v:\"a/b\"': {}}}}}\n"
	"  - {manager: kube-controller-manager, operation: Update, subresource: scale, time: '2026-01-03T00:00:00Z', fieldsV1: {'f:spec': {'f:replicas': {}}}}\n"
	"  - {manager: kube-controller-manager, operation: Update, subresource: status, time: '2026-01-04T00:00:00Z', fieldsV1: {'f:metadata': {'f:annotations': {'f:deployment.kubernetes.io/revision': {}}}, 'f:status': {'f:replicas': {}}}}\n"
	"  - {manager: istio, operation: Update, time: '2026-01-01T00:00:00Z', fieldsV1: {'f:spec': {'f:selector': {}}}}\n"
	"  - {manager: alm, operation: Apply, time: '2026-01-01T00:00:00Z', fieldsV1: {'f:spec': {'f:paused': {}}}}\n"
	"  finalizers: [x/y, a/b]\n"
	"spec:\n"
	"  replicas: 5\n"
	"  template: {spec: {dnsPolicy: ClusterFirst, containers: [{name: side, image: s}, {name: c, image: i, imagePullPolicy: Always}]}}\n";

static const struct { const char *path, *word, *manager; } rows[] = {
	{"spec.replicas", "autoscaler", "kube-controller-manager"}, /* who wrote last */
	{"spec.template.spec.containers[1].image", "git", "alm:01234567:web"},
	{"spec.template.spec.containers[0].image", "person", "kubectl-edit"},
	{"spec.template.spec.containers[1].imagePullPolicy", "kubernetes", NULL}, /* a default */
	{"spec.template.spec.dnsPolicy", "kubernetes", NULL},
	{"metadata.finalizers[1]", "person", "kubectl-edit"},
	{"metadata.finalizers[0]", "kubernetes", NULL},
	{"metadata.annotations['deployment.kubernetes.io/revision']", "kubernetes", "kube-controller-manager"},
	{"metadata.annotations[\"deployment.kubernetes.io/revision\"]", "kubernetes", "kube-controller-manager"},
	{"spec.selector.matchLabels.app", "controller", "istio"}, /* as a whole */
	{"spec.paused", "alm", "alm"},
	/* what is no path has nobody */
	{"spec.template.spec.containers[", "kubernetes", NULL},
	{"spec..replicas", "kubernetes", NULL},
	{"spec.template.spec.containers[x].image", "kubernetes", NULL},
	{"spec.template.spec.containers[99999999999].image", "kubernetes", NULL},
};
/* clang-format on */

static void test_holder__each_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct obj *live = NULL;
		const char *manager;
		assert_ok(yaml_parse_one(str_of(live_text), &live, &err), &err);
		obj_keep(a, live);
		const char *word = holder_word(holder_of(live, rows[i].path, a, &manager));
		if (!cstr_eq(word, rows[i].word) || !cstr_eq(manager, rows[i].manager))
			fail_msg("%s: %s, %s", rows[i].path, word, manager ? manager : "nobody");
	}
}

static const char *const fields[] = {
	"spec.replicas autoscaler kube-controller-manager declared",
	"spec.template.spec.containers[0].image person kubectl-edit -",
	"spec.template.spec.containers[1].image git alm:01234567:web declared",
	"spec.template.spec.containers[1].name git alm:01234567:web declared",
	"metadata.finalizers[1] person kubectl-edit -",
};

/* What is there no more (spec.paused, spec.selector), and what only the status has, is left out. */
static void test_holder__all_fields_each_once(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct obj *live = NULL;
	struct holder_field *list;
	assert_ok(yaml_parse_one(str_of(live_text), &live, &err), &err);
	obj_keep(a, live);
	size_t n = holder_fields(live, "alm:01234567:web", a, &list);
	assert_int_equal(n, ARRAY_LEN(fields));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		bool found = false;
		for (size_t k = 0; k < n; k++)
			found = found ||
				cstr_eq(fields[i],
					arena_fmt(a, "%s %s %s %s", list[k].path,
						  holder_word(list[k].holder), list[k].manager,
						  list[k].declared ? "declared" : "-"));
		if (!found)
			fail_msg("%s", fields[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holder__each_field),
		cmocka_unit_test(test_holder__all_fields_each_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
