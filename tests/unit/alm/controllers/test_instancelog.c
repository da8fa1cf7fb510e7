/* What others do to instances makes one record each, and nothing else does. */
#include "tests/lib/test.h"

#include <stdlib.h>

#include "alm/controllers/app/controllers.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

#define KEY "etcds.etcd.coreos.com/default/purple"
#define PURPLE(kind, uid, generation, rest)                                                      \
	"{\"apiVersion\":\"etcd.coreos.com/v1\",\"kind\":\"" kind "\",\"metadata\":{"            \
	"\"name\":\"purple\",\"namespace\":\"default\",\"uid\":\"" uid                           \
	"\",\"generation\":" generation ",\"managedFields\":[{\"manager\":\"kubectl\",\"time\":" \
	"\"2030-01-02T08:00:00Z\",\"fieldsV1\":{\"f:spec\":{}}}]}" rest "}"
#define META(uid, generation)       PURPLE("PartialObjectMetadata", uid, generation, "")
#define LIVE(uid, generation, spec) PURPLE("EtcdCluster", uid, generation, ",\"spec\":" spec)

static const char *cached, *last;
static const struct resource etcds = {"etcd.coreos.com", "v1", "etcds", "EtcdCluster", true};

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (text)
		assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static int instance(void *arg, const char *crd, const char *ns, const char *name,
		    const struct resource **ret_resource, struct obj **ret)
{
	(void)arg;
	assert_string_equal(crd, "etcds.etcd.coreos.com");
	assert_string_equal(ns, "default");
	assert_string_equal(name, "purple");
	*ret_resource = &etcds;
	*ret = parse(cached);
	return *ret != NULL;
}

static struct obj *last_observed(void *arg, const char *kind, const char *ns, const char *name)
{
	(void)arg;
	(void)ns;
	(void)name;
	assert_string_equal(kind, "EtcdCluster");
	return parse(last);
}

static struct obj *redacted(void *arg, const struct obj *o)
{
	(void)arg;
	return obj_copy(o);
}

struct world {
	struct view_fake f;
	struct view_ops ops;
};

static void pass(struct world *w, const char *meta, const char *record, const char *live)
{
	struct error err = ERROR_INIT;
	view_fake_init(&w->f);
	w->ops = *w->f.view.ops;
	w->ops.instance = instance;
	w->ops.last_observed = last_observed;
	w->ops.redacted = redacted;
	w->f.view.ops = &w->ops;
	cached = meta;
	last = record;
	if (live)
		view_fake_outcome(&w->f, "instance:" KEY, live);
	assert_ok(controller_run(&instancelog_controller, &w->f.view, KEY, &w->f.plan, &err), &err);
}

static const struct action *row(struct world *w, size_t at)
{
	for (const struct action *x = w->f.plan.head; x; x = x->next)
		if (x->type == ACT_ROW && at-- == 0)
			return x;
	fail_msg("no such row");
	abort();
}

static void test_instancelog__a_generation_is_read_once_and_told(void **state)
{
	(void)state;
	struct world w;
	pass(&w, META("u", "1"), NULL, NULL);
	assert_int_equal(view_fake_works(&w.f, &survey_work), 1);
	assert_int_equal(view_fake_count(&w.f, ACT_ROW), 0);
	view_fake_release(&w.f);
	pass(&w, META("u", "2"),
	     "{\"reason\":\"Created\",\"subject\":{\"uid\":\"u\"},\"body\":{\"generation\":1,"
	     "\"after\":\"sha256:x\",\"object\":\"{\\\"spec\\\":{\\\"size\\\":3}}\"}}",
	     "{\"object\":" LIVE("u", "2", "{\"size\":5}") "}");
	assert_int_equal(view_fake_count(&w.f, ACT_ROW), 1);
	assert_string_equal(row(&w, 0)->reason, "SpecChanged");
	assert_string_equal(row(&w, 0)->actor, "kubectl");
	assert_string_equal(obj_str(row(&w, 0)->body, "before"), "sha256:x");
	assert_non_null(obj_path(row(&w, 0)->body, "changed"));
	view_fake_release(&w.f);
}

static void test_instancelog__what_is_told_is_not_told_again(void **state)
{
	(void)state;
	struct world w;
	static const char told[] = "{\"reason\":\"Created\",\"subject\":{\"uid\":\"u\"},"
				   "\"body\":{\"generation\":2}}";
	pass(&w, META("u", "2"), told, NULL);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
	pass(&w, NULL, "{\"reason\":\"Deleted\",\"subject\":{\"uid\":\"u\"}}", NULL);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
	pass(&w, NULL, NULL, NULL);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

/* seed 7001 of the story: its kind is not PartialObjectMetadata, or it is told for ever */
static void test_instancelog__deleted_before_it_was_read_it_has_its_kind(void **state)
{
	(void)state;
	struct world w;
	pass(&w, META("u", "1"), NULL, "{}");
	assert_string_equal(meta_kind(row(&w, 0)->subject), "EtcdCluster");
	assert_string_equal(meta_uid(row(&w, 0)->subject), "u");
	view_fake_release(&w.f);
}

static void test_instancelog__made_anew_the_former_one_is_deleted(void **state)
{
	(void)state;
	struct world w;
	pass(&w, META("v", "1"),
	     "{\"reason\":\"Created\",\"subject\":{\"uid\":\"u\"},\"body\":{\"generation\":4,"
	     "\"after\":\"sha256:x\"}}",
	     "{\"object\":" LIVE("v", "1", "{}") "}");
	assert_int_equal(view_fake_count(&w.f, ACT_ROW), 2);
	assert_string_equal(row(&w, 0)->reason, "Deleted");
	assert_string_equal(meta_uid(row(&w, 0)->subject), "u");
	assert_string_equal(obj_str(row(&w, 0)->body, "before"), "sha256:x");
	assert_string_equal(row(&w, 1)->reason, "Created");
	assert_false(obj_has(row(&w, 1)->body, "before"));
	view_fake_release(&w.f);
}

static void test_instancelog__a_read_that_is_behind_waits(void **state)
{
	(void)state;
	struct world w;
	pass(&w, META("u", "3"), NULL, "{\"object\":" LIVE("u", "2", "{}") "}");
	assert_int_equal(w.f.plan.n, 0);
	assert_true(w.f.plan.requeue_after_ns > 0);
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instancelog__a_generation_is_read_once_and_told),
		cmocka_unit_test(test_instancelog__what_is_told_is_not_told_again),
		cmocka_unit_test(test_instancelog__deleted_before_it_was_read_it_has_its_kind),
		cmocka_unit_test(test_instancelog__made_anew_the_former_one_is_deleted),
		cmocka_unit_test(test_instancelog__a_read_that_is_behind_waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
