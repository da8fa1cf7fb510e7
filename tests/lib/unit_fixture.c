#include "tests/lib/unit_fixture.h"

#include "alm/controllers/run.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/test.h"

static const struct unit_job *side_job(void *arg, const char *key)
{
	const struct unit_fixture *x = arg;
	return cstr_eq(key, UNIT_FIXTURE_KEY) ? &x->job : NULL;
}

static const struct obj *with_definition(const struct obj *of, struct arena *a)
{
	struct obj *doc = obj_keep(a, obj_copy(of));
	struct obj *row = obj_map(), *crd = meta_skeleton("apiextensions.k8s.io/v1",
							  "CustomResourceDefinition", NULL, "c");
	obj_set_path(crd, "spec.group", obj_string(""));
	obj_set_path(crd, "spec.names.kind", obj_string("ConfigMap"));
	obj_set_int(row, "stage", UNIT_GROUP_CRD);
	obj_set(row, "object", crd);
	obj_append(obj_get_mut(doc, "objects"), row);
	return doc;
}

struct unit *unit_fixture_unit(struct unit_fixture *x, size_t n)
{
	struct error err = ERROR_INIT;
	struct flat flat;
	const struct unit_options o = {.hub = "cli",
				       .bundle = "b",
				       .instance = "i",
				       .ns = "default",
				       .digest = run_digest};
	flat_init(&flat, x->a);
	for (size_t i = 0; i < n; i++) {
		const char *name = arena_fmt(x->a, "c%zu", i);
		const struct flat_place p = {.name = name, .file = name, .alone = true};
		struct obj *cm = meta_skeleton("v1", "ConfigMap", NULL, name);
		obj_set_path(cm, "data.v", obj_string(x->value));
		if (x->forced)
			meta_set_annotation(cm, ANNOTATION_FORCE, "true");
		if (x->kept)
			meta_set_annotation(cm, ANNOTATION_PRUNE, "disabled");
		if (x->one_off)
			meta_set_annotation(cm, ANNOTATION_ONE_OFF, "true");
		assert_ok(flat_add(&flat, &p, cm, &err), &err);
	}
	struct unit *u;
	assert_ok(flat_sort(&flat, "default", &err), &err);
	for (size_t i = 0; x->ignore && i < n; i++) {
		flat.objects[i].ignore = obj_keep(x->a, obj_list());
		obj_append(flat.objects[i].ignore, obj_string(x->ignore));
	}
	assert_ok(unit_make(&flat, &o, &u, &err), &err);
	if (x->defines)
		u->doc = with_definition(u->doc, x->a);
	return u;
}

void unit_fixture_init(struct unit_fixture *x, size_t n)
{
	*x = (struct unit_fixture){.value = "1"};
	view_fake_init(&x->f);
	x->a = arena_new((size_t)16 << 20);
	x->job = (struct unit_job){.unit = unit_fixture_unit(x, n),
				   .attempt = 1,
				   .inventory_ns = "alm-system",
				   .max_deletes = 10};
	x->side = (struct unit_side){.job = side_job, .arg = x};
	x->f.shared.units = &x->side;
}

void unit_fixture_release(struct unit_fixture *x)
{
	arena_free(x->a);
	view_fake_release(&x->f);
}

/* One reconcile; its record is what the next one begins with. */
const char *unit_fixture_pass(struct unit_fixture *x)
{
	struct error err = ERROR_INIT;
	struct plan *p = view_fake_plan(&x->f);
	p->as = NULL;
	x->f.view.pass = &x->f.pass;
	assert_ok(controller_run(&unit_controller, &x->f.view, UNIT_FIXTURE_KEY, p, &err), &err);
	const struct action *record = p->head;
	if (record && record->type == ACT_RECORD)
		x->job.record = obj_keep(x->a, obj_copy(record->body));
	else /* it is told before anything else, or not at all */
		assert_int_equal(view_fake_count(&x->f, ACT_RECORD), 0);
	return obj_str(x->job.record, "state");
}

const char *unit_fixture_settle(struct unit_fixture *x)
{
	const char *how = "Running";
	int idle = 0;
	for (int i = 0; i < 30 && idle < 2 && (i < 2 || unit_record_is_open(x->job.record)); i++) {
		how = unit_fixture_pass(x);
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
		bool reads = view_fake_works(&x->f, &survey_work) > 0;
		idle = reads || plan_has_writes(&x->f.plan) ? 0 : idle + 1;
		if (!reads) /* what was read live is old */
			x->f.view.now_ns += 2 * NS_PER_S;
	}
	return how;
}

const char *unit_fixture_map(const struct unit_fixture *x, const char *name)
{
	return map_get(x->f.live, arena_fmt(x->a, "ConfigMap/default/%s", name));
}

/* The unit has n objects now: another attempt. */
const char *unit_fixture_run(struct unit_fixture *x, size_t n)
{
	x->job.unit = unit_fixture_unit(x, n);
	x->job.attempt++;
	x->job.record = NULL;
	return unit_fixture_settle(x);
}
