/*
 * The Bundles of this process. What was read is run by a manager of its own, with the unit
 * controller alone, as by `alm run`: its caches have what bundles made, those of ours what apps
 * have. It is made with the first Bundle that is run.
 */
#include "alm/controllers/manager_bundles.h"

#include "alm/base/clock.h"
#include "alm/controllers/fleet/bundle_state.h"
#include "alm/controllers/fleet/bundle_steer.h"
#include "alm/obj/meta.h"
#include "alm/render/live_input.h"
#include "crds/marks.h"

/* --- slots --- */

static struct bundle_slot *slot_of_key(const struct bundles *b, const char *key)
{
	struct str name, instance;
	if (!str_cut(str_of(key), '/', &name, &instance) || !str_is(instance, BUNDLE_INSTANCE))
		return NULL;
	return map_getn(b->slots, name);
}

static void notice(struct bundle_slot *s)
{
	manager_enqueue(s->b->m, "bundle", s->name, "Resource");
	manager_enqueue(s->b->m, "install", s->name, "Resource");
}

/* --- the side of the unit controller --- */

static const struct unit_job *side_job(void *arg, const char *key)
{
	struct bundle_slot *s = slot_of_key(arg, key);
	if (!s || !s->job.unit)
		return NULL;
	bundle_sweep_steer(s);
	return &s->job;
}

static void side_each(void *arg, void (*fn)(void *fn_arg, const char *key), void *fn_arg)
{
	const struct bundles *b = arg;
	for (const struct map_entry *e = map_first(b->slots); e; e = map_next(e)) {
		const struct bundle_slot *s = e->value;
		fn(fn_arg, s->key);
	}
}

static void put_record(struct bundle_slot *s, struct obj *record)
{
	const char *state = obj_str(record, "state");
	if (!unit_record_is_open(record) && unit_record_is_open(s->job.record)) {
		s->ended_ns = loop_now(s->b->m->c.loop);
		s->failures = cstr_eq(state, "Succeeded") ? 0 : s->failures + 1;
	}
	obj_unref(s->record);
	s->record = record;
	s->job.record = record;
	if (!unit_record_is_open(record))
		unit_job_settle(&s->job, &s->arenas);
	notice(s);
}

static void side_record(void *arg, const char *key, const struct obj *record)
{
	struct bundle_slot *s = slot_of_key(arg, key);
	if (s && obj_i64(record, "attempt", 0) == s->job.attempt)
		put_record(s, obj_copy(record));
}

/* What the server says to a write is in the record. What it says to a read is seen here alone. */
static void side_passed(void *arg, const char *key, bool half, const struct error *err)
{
	struct bundle_slot *s = slot_of_key(arg, key);
	if (!s || !unit_failing_pass(&s->failing, loop_mono(s->b->m->c.loop), half, err) ||
	    (s->record && !unit_record_is_open(s->record)))
		return;
	struct obj *record = s->record ? obj_copy(s->record) : obj_map();
	obj_set_int(record, "attempt", s->job.attempt);
	obj_set_str(record, "state", "Failed");
	obj_set_str(record, "reason", err->code == E_FORBIDDEN ? "Forbidden" : "ServerRefused");
	obj_set_str(record, "message", err->msg);
	obj_set_bool(record, "refused", true);
	s->failing = (struct unit_failing){0};
	put_record(s, record);
}

static void start_units(struct bundles *b)
{
	const struct manager_config *c = &b->m->c;
	struct manager_config mc = {.loop = c->loop,
				    .client = c->client,
				    .audit = c->audit,
				    .db = c->db,
				    .disk = c->disk,
				    .same_process = c->same_process,
				    .settings = c->settings,
				    .units = &b->side,
				    .addresses = c->addresses,
				    .is_settled = true};
	if (b->units)
		return;
	b->units = b->open(&mc);
}

/* --- running --- */

/* All that it had goes: nothing is wanted. */
static int make_nothing(struct bundle_slot *s, struct error *err)
{
	struct unit_options o;
	struct flat none;
	struct unit *u;
	struct arena *a = arena_new(BUNDLE_BYTES_MAX);
	flat_init(&none, a);
	if (bundle_unit_options(s, a, &o, err) < 0 || unit_make(&none, &o, &u, err) < 0) {
		arena_free(a);
		return -err->code;
	}
	if (s->a)
		arena_free(s->a);
	s->a = a;
	s->next = u;
	return 0;
}

static void take_next(struct bundle_slot *s)
{
	if (!s->next) { /* the same once more */
		unit_job_settle(&s->job, &s->arenas);
		return;
	}
	unit_job_replace(&s->job, &s->arenas, STEAL(s->next), STEAL(s->a));
	obj_unref(s->source);
	s->source = obj_ref(s->read);
}

/* The commit is told before the first write of it. */
static bool has_made(const struct obj *bundle)
{
	return obj_str(bundle, "status.commit");
}

/* What is wrong with a spec holds up no deletion; but what was made as an account goes as that one. */
static int read_spec(const struct bundle_slot *s, const struct obj *bundle, struct bundle_spec *ret,
		     struct error *err)
{
	struct error why = ERROR_INIT;
	if (bundle_spec_read(bundle, s->next ? s->a : s->arenas.unit, ret, &why) == 0)
		return 0;
	bool lacks_account = obj_str(bundle, "spec.serviceAccountName") && !ret->account;
	if (meta_is_deleting(bundle) && !(lacks_account && has_made(bundle)))
		return 0;
	return error_copy(err, &why);
}

static void set_job(struct bundle_slot *s, const struct obj *bundle, const struct bundle_spec *b)
{
	const char *asked = meta_annotation(bundle, ANNOTATION_RETRY);
	s->job.source = s->source;
	s->job.is_steered = true;
	s->job.as = b->account;
	s->job.inventory_ns = SYSTEM_NAMESPACE;
	bool holds =
		bundle_steer_unpruned(bundle, obj_str(s->source, "commit"), s->job.unit->digest);
	s->job.max_deletes = holds ? b->max_deletes : INT64_MAX;
	s->job.keeps = b->keeps;
	s->job.adopts = b->adopts;
	s->job.takes = b->takes;
	s->job.spares = b->spares;
	s->sweeps = b->sweeps;
	s->job.orphans = b->orphans;
	s->job.deleting = meta_is_deleting(bundle);
	s->job.made_nothing = !has_made(bundle);
	s->job_generation = meta_generation(bundle);
	s->job.attempt++;
	xfree(s->asked);
	s->asked = asked ? xstrdup(asked) : NULL;
	bundle_sweep_keep(s, s->job.deleting);
	bundle_steer_rest(bundle, s->job_rest);
	bundle_slot_since(s, bundle);
	(void)bundle_slot_steer(s, bundle);
	obj_unref(STEAL(s->record));
	s->job.record = NULL;
	s->failing = (struct unit_failing){0};
}

/* bundle NULL: it is gone. */
static void forget_source(struct bundle_slot *s, const struct obj *bundle)
{
	struct error err = ERROR_INIT;
	error_set(&err, E_CANCELLED, "Bundle %s is %s", s->name, bundle ? "being deleted" : "gone");
	bundle_reading_fail(s, &err);
	bundle_mirror_drop(s, bundle);
}

int manager_roll_bundle(void *arg, const struct obj *bundle, bool is_there, struct error *err)
{
	struct manager *m = arg;
	struct bundle_slot *s = bundle_slot_of(m->bundles, meta_name(bundle));
	if (meta_is_deleting(bundle) && make_nothing(s, err) < 0)
		return error_wrap(err, "Bundle %s is not deleted yet", s->name);
	if (!s->next && !s->job.unit)
		return error_set(err, E_UNAVAILABLE, "nothing was read of Bundle %s yet", s->name);
	struct bundle_spec spec;
	if (read_spec(s, bundle, &spec, err) < 0)
		return error_wrap(err, "Bundle %s cannot be run", s->name);
	if (meta_is_deleting(bundle))
		forget_source(s, bundle);
	take_next(s);
	set_job(s, bundle, &spec);
	if (is_there) {
		s->record = obj_map();
		obj_set_int(s->record, "attempt", s->job.attempt);
		obj_set_str(s->record, "state", "Succeeded");
		obj_set_str(s->record, "digest", s->job.unit->digest);
		if (bundle_state_find(obj_str(bundle, "status.state")) == BUNDLE_DEGRADED)
			obj_set_bool(s->record, "resumed", true);
		s->job.record = s->record;
	}
	start_units(m->bundles);
	manager_notice_unit(m->bundles->units, s->key);
	notice(s);
	return 0;
}

/* --- what the controller sees --- */

static bool now(void *arg, const char *bundle, struct bundle_now *ret)
{
	const struct bundles *b = arg;
	const struct bundle_slot *s = map_get(b->slots, bundle);
	*ret = (struct bundle_now){0};
	if (!s)
		return false;
	*ret = (struct bundle_now){.read = s->read,
				   .job = s->job.unit ? &s->job : NULL,
				   .source = s->source,
				   .since = s->job.unit ? s->job_since : NULL,
				   .generation = s->job_generation,
				   .failures = s->failures,
				   .ended_ns = s->ended_ns,
				   .rewritten = s->rewritten,
				   .asked = s->asked,
				   .asked_read = s->asked_read,
				   .head = s->head,
				   .fetched = s->fetched,
				   .hooked = s->hooked};
	return true;
}

void manager_forget_bundle(struct manager *m, const char *name)
{
	struct bundle_slot *s = m->bundles ? map_get(m->bundles->slots, name) : NULL;
	if (!s)
		return;
	forget_source(s, NULL);
	map_del(m->bundles->slots, name);
}

/* --- life --- */

struct bundles *manager_bundles_new(struct manager *m,
				    struct manager *(*open)(const struct manager_config *c))
{
	struct bundles *b = xcalloc(1, sizeof(*b));
	b->m = m;
	b->open = open;
	b->slots = map_new(bundle_slot_free);
	b->shared = (struct bundle_side){now, b};
	b->side = (struct unit_side){.job = side_job,
				     .each = side_each,
				     .record = side_record,
				     .passed = side_passed,
				     .selector = LABEL_BUNDLE,
				     .whole = BUNDLE_INSTANCE,
				     .arg = b};
	return b;
}

void manager_bundles_free(struct bundles *b)
{
	if (!b)
		return;
	map_free(b->slots);
	live_input_free(b->live);
	xfree(b);
}
