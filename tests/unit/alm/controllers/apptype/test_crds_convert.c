/* test_crds_convert.c: a definition that stays while what converts its objects goes. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/apptype/crds_convert.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define UNKNOWN (-1)

struct fixture {
	struct view_fake f;
	struct view_ops ops;
	int n;         /* objects; UNKNOWN: the cache is not there yet */
	struct obj *o; /* the AppType */
	struct app app;
	struct uninstall u;
};

static bool instances(void *arg, const char *group, const char *plural,
		      bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	const struct fixture *x = CONTAINER_OF(arg, struct fixture, f);
	assert_string_equal(group, "x.io");
	assert_string_equal(plural, "olds");
	for (int i = 0; i < x->n; i++)
		fn(fn_arg, STR("{\"kind\":\"Old\",\"metadata\":{\"name\":\"o\"}}"));
	return x->n != UNKNOWN;
}

static void setup(struct fixture *x, int n)
{
	*x = (struct fixture){.n = n};
	view_fake_init(&x->f);
	x->ops = *x->f.view.ops;
	x->ops.instances = instances;
	x->f.view.ops = &x->ops;
	x->o = obj_keep(x->f.a, obj_map());
	x->app = (struct app){.o = x->o, .name = "etcd", .self_ref = "etcd.app"};
	x->u = (struct uninstall){.v = &x->f.view, .plan = view_fake_plan(&x->f), .app = &x->app};
}

#define WEBHOOK                                                                                 \
	"\"conversion\":{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"service\":{" \
	"\"namespace\":\"n\",\"name\":\"hook\"}}}},"
/* Its versions: how each is served, and whether its schema has another field. */
#define VERSION(name, served, field)                                                     \
	"{\"name\":\"" name "\",\"served\":" served ",\"schema\":{\"openAPIV3Schema\":{" \
	"\"type\":\"object\",\"properties\":{\"" field "\":{}}}}}"
#define SAME      VERSION("v1", "true", "a") "," VERSION("v2", "true", "a")
#define OTHER     VERSION("v1", "true", "a") "," VERSION("v2", "true", "b")
#define OLD_GOING VERSION("v1", "false", "a") "," VERSION("v2", "true", "b")

/* As the app's, of two versions and with the annotations; versions and what is stored. */
static struct obj *definition(struct fixture *x, const char *conversion, const char *versions,
			      const char *stored)
{
	const char *text = arena_fmt(
		x->f.a,
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"olds.x.io\",\"uid\":\"u\",\"resourceVersion\":\"7\","
		"\"annotations\":{\"" ANNOTATION_OWNER
		"\":\"etcd.app\"}},\"spec\":{%s\"group\":\"x.io\",\"names\":{\"plural\":\"olds\"},"
		"\"versions\":[%s]},\"status\":{\"storedVersions\":%s}}",
		conversion, versions, stored);
	return view_fake_obj(&x->f, text);
}

static enum ensured ensure(struct fixture *x, const struct obj *crd, const char *services)
{
	CLEANUP(xfreep) char *text = json_text(crd);
	view_fake_put(&x->f, WATCH_CRD, text);
	return crds_convert_ensure(&x->u, view_fake_obj(&x->f, services));
}

static void check_patch(struct fixture *x, bool wanted)
{
	const struct action *a =
		view_fake_action(&x->f, ACT_PATCH, "CustomResourceDefinition", "olds.x.io");
	assert_int_equal(view_fake_count(&x->f, ACT_PATCH), wanted);
	assert_int_equal(a != NULL, wanted);
	if (!a)
		return;
	assert_string_equal(obj_str(a->body, "spec.conversion.strategy"), "None");
	assert_int_equal(obj_type(obj_path(a->body, "spec.conversion.webhook")), OBJ_NULL);
	assert_string_equal(x->u.why, "CRD olds.x.io goes back to no conversion");
}

/* Nobody asks a converter of objects that are none, or that are read in every version as they are. */
static void test_crds_convert__what_its_objects_need(void **state)
{
	static const struct {
		const char *versions, *stored;
		int n;
		enum ensured state;
	} rows[] = {
		{OTHER, "[\"v1\",\"v2\"]", 0, WAITING},
		{OTHER, "[\"v1\",\"v2\"]", 2, ENDED},
		{OTHER, "[\"v1\",\"v2\"]", UNKNOWN, WAITING},
		{OTHER, "[\"v2\"]", 2, ENDED}, /* it is served */
		{SAME, "[\"v1\",\"v2\"]", 2, WAITING},
		{OLD_GOING, "[\"v2\"]", 2, WAITING}, /* nobody reads it, nobody has it */
		{OLD_GOING, "[\"v1\",\"v2\"]", 2, ENDED},
		{VERSION("v2", "true", "b"), "[\"v2\"]", 2, WAITING},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		setup(&x, rows[i].n);
		struct obj *crd = definition(&x, WEBHOOK, rows[i].versions, rows[i].stored);
		assert_int_equal(ensure(&x, crd, "[\"n/other\",\"n/hook\"]"), rows[i].state);
		check_patch(&x, rows[i].state == WAITING && rows[i].n != UNKNOWN);
		assert_int_equal(x.f.plan.requeue_after_ns,
				 rows[i].n == UNKNOWN ? 2 * NS_PER_S : 0);
		assert_int_equal(x.u.blocked, rows[i].state == ENDED);
		if (x.u.blocked) {
			assert_string_equal(x.u.reason, "ConversionNeeded");
			assert_non_null(strstr(x.u.why, "CRD olds.x.io stays and has 2 objects "));
			assert_non_null(strstr(x.u.why, ANNOTATION_DELETE_CRDS "=olds.x.io=2"));
		}
		view_fake_release(&x.f);
	}
}

/* What is not the app's, goes with it, or is converted by somebody who stays, is let be. */
static void test_crds_convert__whose_it_is(void **state)
{
	enum { OF_ANOTHER, GOES, NAMED, NO_WEBHOOK, OF_A_URL, ANOTHER_NAMESPACE, NO_SERVICE, ROWS };
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		struct fixture x;
		setup(&x, 2);
		const char *conversion = i == NO_WEBHOOK ? "\"conversion\":{\"strategy\":\"None\"},"
					 : i == OF_A_URL
						 ? "\"conversion\":{\"strategy\":\"Webhook\","
						   "\"webhook\":{\"clientConfig\":{\"url\":"
						   "\"https://x\"}}},"
						 : WEBHOOK;
		struct obj *crd = definition(&x, conversion, OTHER, "[\"v1\"]");
		if (i == OF_ANOTHER)
			meta_set_annotation(crd, ANNOTATION_OWNER, "other.app");
		if (i == GOES)
			obj_set_path(crd, "metadata.deletionTimestamp",
				     obj_string("2030-01-01T00:00:00Z"));
		if (i == NAMED)
			meta_set_annotation(x.o, ANNOTATION_DELETE_CRDS, "olds.x.io=2");
		const char *services = i == ANOTHER_NAMESPACE ? "[\"m/hook\"]"
				       : i == NO_SERVICE      ? "[]"
							      : "[\"n/hook\"]";
		assert_int_equal(ensure(&x, crd, services), DONE);
		assert_false(x.u.blocked);
		assert_int_equal(x.f.plan.n, 0);
		assert_int_equal(x.f.plan.requeue_after_ns, 0);
		view_fake_release(&x.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crds_convert__what_its_objects_need),
		cmocka_unit_test(test_crds_convert__whose_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
