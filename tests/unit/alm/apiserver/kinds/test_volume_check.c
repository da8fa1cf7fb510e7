/* test_volume_check.c: what of a volume and of a claim may change; the rest of it is in test_differs.c. */
#include "alm/apiserver/kinds/claim_check.h"
#include "alm/apiserver/kinds/volume_check.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

static struct obj *parse(const char *spec, const char *phase)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	const char *text = arena_fmt(a, "{\"spec\":%s,\"status\":{\"phase\":\"%s\"}}", spec, phase);
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void expect(void (*kept)(struct field_errors *e, const struct obj *o,
				const struct obj *before),
		   const char *phase, const char *before, const char *after, size_t n)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	CLEANUP(obj_unrefp) struct obj *was = parse(before, phase);
	CLEANUP(obj_unrefp) struct obj *is = parse(after, phase);
	struct field_errors e;
	field_errors_init(&e, a);
	kept(&e, is, was);
	if (e.n != n)
		fail_msg("%s: %s -> %s: %zu errors", phase, before, after, e.n);
}

#define CLAIM(more) "{\"accessModes\":[\"ReadWriteOnce\"]" more "}"
#define SIZE(n)     ",\"resources\":{\"requests\":{\"storage\":\"" n "\"}}"

static void test_volume_check__a_claim_is_given_a_volume_and_grows(void **state)
{
	(void)state;
	static const struct {
		const char *phase, *before, *after;
		size_t n;
	} cases[] = {
		{"Pending", CLAIM(""), CLAIM(",\"volumeName\":\"v\""), 0},
		{"Pending", CLAIM(",\"volumeName\":\"v\""), CLAIM(",\"volumeName\":\"w\""), 1},
		{"Bound", CLAIM(",\"volumeName\":\"v\""), CLAIM(""), 1},
		{"Pending", CLAIM(""), CLAIM(",\"storageClassName\":\"c\""), 0},
		{"Pending", CLAIM(",\"storageClassName\":\"\""),
		 CLAIM(",\"storageClassName\":\"c\""), 1},
		{"Bound", CLAIM(SIZE("1Gi")), CLAIM(SIZE("2Gi")), 0},
		{"Pending", CLAIM(SIZE("1Gi")), CLAIM(SIZE("2Gi")), 1},
		{"Bound", CLAIM(""), CLAIM(",\"volumeAttributesClassName\":\"c\""), 0},
		{"Pending", CLAIM(""), CLAIM(",\"volumeAttributesClassName\":\"c\""), 1},
		{"Bound", CLAIM(""), "{\"accessModes\":[\"ReadOnlyMany\"]}", 1},
		{"Pending", CLAIM(""), CLAIM(",\"dataSource\":{\"kind\":\"other\"}"), 0},
		{"Pending", CLAIM(""),
		 CLAIM(",\"dataSource\":{\"kind\":\"PersistentVolumeClaim\",\"name\":\"x\"}"), 1},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(claim_kept, cases[i].phase, cases[i].before, cases[i].after, cases[i].n);
}

/* A volume that nodes with the label reach. */
#define ON(key)                                                                          \
	"{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":" \
	"[{\"key\":\"" key "\",\"operator\":\"Exists\"}]}]}}}"

static void test_volume_check__a_volume_is_where_it_is(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after;
		size_t n;
	} cases[] = {
		{"{\"hostPath\":{\"path\":\"/a\"}}", "{\"hostPath\":{\"path\":\"/b\"}}", 1},
		{"{\"hostPath\":{\"path\":\"/a\"}}",
		 "{\"hostPath\":{\"path\":\"/a\"},\"claimRef\":{\"name\":\"c\"}}", 0},
		{"{\"volumeMode\":\"Block\"}", "{\"volumeMode\":\"Filesystem\"}", 1},
		{"{\"csi\":{\"driver\":\"d\"}}",
		 "{\"csi\":{\"driver\":\"d\",\"controllerExpandSecretRef\":{\"name\":\"s\"}}}", 0},
		{"{\"csi\":{\"driver\":\"d\",\"controllerExpandSecretRef\":{\"name\":\"s\"}}}",
		 "{\"csi\":{\"driver\":\"d\"}}", 1},
		{"{\"csi\":{\"driver\":\"d\"}}",
		 "{\"csi\":{\"driver\":\"d\",\"nodeExpandSecretRef\":{\"name\":\"s\"}}}", 1},
		{"{}", "{\"volumeAttributesClassName\":\"a\"}", 0},
		{"{\"volumeAttributesClassName\":\"a\"}", "{\"volumeAttributesClassName\":\"b\"}",
		 0},
		{"{\"volumeAttributesClassName\":\"a\"}", "{}", 1},
		{"{}", ON("kubernetes.io/os"), 0},
		{ON("kubernetes.io/os"), "{}", 1},
		{ON("kubernetes.io/os"), ON("kubernetes.io/os"), 0},
		{ON("beta.kubernetes.io/os"), ON("kubernetes.io/os"), 0},
		{ON("beta.kubernetes.io/os"), ON("kubernetes.io/arch"), 1},
		{ON("kubernetes.io/os"), ON("beta.kubernetes.io/os"), 1},
		{ON("kubernetes.io/os"), ON(""), 0},
		{ON("beta.kubernetes.io/os"), ON(""), 1},
		{ON("failure-domain.beta.kubernetes.io/zone"), ON("topology.kubernetes.io/zone"),
		 0},
		{ON("failure-domain.beta.kubernetes.io/region"),
		 ON("topology.kubernetes.io/region"), 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(volume_kept, "Available", cases[i].before, cases[i].after, cases[i].n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_volume_check__a_claim_is_given_a_volume_and_grows),
		cmocka_unit_test(test_volume_check__a_volume_is_where_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
