#include "alm/unit/canary.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/obj/decode.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/owned.h"
#include "alm/obj/schema/api_decode.h"
#include "alm/unit/unit.h"
#include "crds/marks.h"

#define NAME_MAX_BYTES 63 /* it is part of the names of Pods */

struct raw_step {
	const struct obj *weight;
	int64_t pause_ns;
	const char *approval;
};

#define STEP(path, type, member) {path, type, offsetof(struct raw_step, member)}
static const struct decode_field step_fields[] = {
	STEP("weight", DECODE_ANY, weight),
	STEP("pause", DECODE_SPAN, pause_ns),
	STEP("approval", DECODE_STR, approval),
	{0},
};

struct raw {
	const struct obj *steps, *max;
};

#define RAW(path, type, member) {path, type, offsetof(struct raw, member)}
static const struct decode_field fields[] = {
	RAW("steps", DECODE_LIST, steps),
	RAW("maxReplicas", DECODE_ANY, max),
	{0},
};

static bool is_whole(const struct obj *o, int64_t max, int64_t *ret)
{
	return obj_is_number(o) && obj_as_i64(o, ret) && *ret >= 1 && *ret <= max;
}

static int read_step(const struct obj *o, const char *field, int64_t former, struct arena *a,
		     struct canary_step *ret, struct error *err)
{
	struct raw_step raw = {0};
	if (decode_members(o, field, step_fields, &raw, a, err) < 0)
		return -err->code;
	if (!raw.weight || !is_whole(raw.weight, 100, &ret->weight))
		return error_set(
			err, E_INVALID,
			"%s.weight: want percent of the Pods, a whole number from 1 to 100", field);
	if (ret->weight <= former)
		return error_set(err, E_INVALID, "%s.weight: want more than %lld, the one before",
				 field, (long long)former);
	if (raw.approval && strcmp(raw.approval, "Manual") != 0)
		return error_set(err, E_INVALID, "%s.approval: \"%.32s\" is not Manual", field,
				 raw.approval);
	if (ret->weight == 100 && (raw.pause_ns || raw.approval))
		return error_set(err, E_INVALID,
				 "%s: at 100 there is no canary any more; give the step before the "
				 "pause or approval",
				 field);
	ret->pause_ns = raw.pause_ns;
	ret->approval = raw.approval != NULL;
	return 0;
}

int canary_parse(const struct obj *o, const char *field, struct arena *a, struct canary **ret,
		 struct error *err)
{
	struct raw raw = {0};
	struct canary *c = ARENA_NEW(a, struct canary);
	*c = (struct canary){.max_replicas = CANARY_REPLICAS_MAX};
	if (decode_members(o, field, fields, &raw, a, err) < 0)
		return -err->code;
	c->n = obj_len(raw.steps);
	if (!c->n)
		return error_set(err, E_INVALID, "%s.steps: has no step; want {weight: 25}", field);
	if (c->n > CANARY_STEPS_MAX)
		return error_set(err, E_LIMIT, "%s.steps: has %zu entries, at most %d are taken",
				 field, c->n, CANARY_STEPS_MAX);
	if (raw.max && !is_whole(raw.max, CANARY_REPLICAS_MAX, &c->max_replicas))
		return error_set(err, E_INVALID, "%s.maxReplicas: want a whole number from 1 to %d",
				 field, CANARY_REPLICAS_MAX);
	c->steps = ARENA_ARRAY(a, struct canary_step, c->n);
	for (size_t i = 0; i < c->n; i++) {
		const char *at = arena_fmt(a, "%s.steps[%zu]", field, i);
		if (read_step(obj_at(raw.steps, i), at, i ? c->steps[i - 1].weight : 0, a,
			      &c->steps[i], err) < 0)
			return -err->code;
		c->pause_ns += c->steps[i].pause_ns;
	}
	if (c->steps[0].weight == 100)
		return error_set(err, E_INVALID,
				 "%s.steps: begins at 100, which is no canary; use the action "
				 "CreateOrUpdate",
				 field);
	*ret = c;
	return 0;
}

/* --- objects --- */

const char *canary_refuses(const struct obj *desired, struct arena *a)
{
	const char *kind = meta_kind(desired), *name = meta_name(desired);
	bool apps = cstr_has_prefix(meta_api_version(desired), "apps/");
	if (!apps || !cstr_eq(kind, "Deployment"))
		return arena_fmt(a,
				 "a canary is of a Deployment of apps, not of "
				 "%s of %s; use the action CreateOrUpdate",
				 kind ? kind : "", meta_api_version(desired));
	if (obj_type(obj_path(desired, "spec.selector.matchLabels")) != OBJ_MAP)
		return "spec.selector.matchLabels is missing, which tells the "
		       "canary's Pods apart";
	if (strlen(name ? name : "") + strlen(CANARY_SUFFIX) > NAME_MAX_BYTES)
		return arena_fmt(
			a, "its name is longer than %zu bytes, to which " CANARY_SUFFIX " is added",
			NAME_MAX_BYTES - strlen(CANARY_SUFFIX));
	return NULL;
}

/* What the manager applied last, and these Pods are without. */
static bool leaves_out(const struct obj *live, const struct obj *pods, const char *manager)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *was = owned_fields(live, live, manager);
	const struct obj *had = obj_path(was, "spec.template");
	if (!had || unit_holds(obj_path(pods, "spec.template"), had))
		return false;
	/* as a server keeps them: 0.5 as 500m */
	CLEANUP(obj_unrefp) struct obj *served = obj_copy(pods);
	const struct api_type *t = api_type_of_kind(meta_api_version(pods), meta_kind(pods));
	return !t || api_decode(t, API_JSON_TEXT, served, NULL, NULL, &err) < 0 ||
	       !unit_holds(obj_path(served, "spec.template"), had);
}

bool canary_is_needed(const struct obj *live, const struct obj *desired, const char *manager)
{
	if (!live)
		return false;
	CLEANUP(obj_unrefp) struct obj *pods = meta_skeleton(
		meta_api_version(desired), meta_kind(desired), NULL, meta_name(desired));
	obj_del(pods, "metadata");
	obj_set_path(pods, "spec.template", obj_ref(obj_path(desired, "spec.template")));
	return !unit_holds_object(live, pods) || leaves_out(live, pods, manager);
}

int64_t canary_replicas(int64_t available, int64_t weight, int64_t max)
{
	int64_t part = available * weight, rest = 100 - weight, n = part / rest;
	n += 2 * (part % rest) > rest; /* of two that are as near the smaller one */
	return n < 1 ? 1 : n > max ? max : n;
}

/* What keeps the Deployment, or has it left alone, is not said of its canary, which goes. */
static void leave_out(struct obj *meta)
{
	static const char *const keys[] = {ANNOTATION_PRUNE, "helm.sh/resource-policy"};
	struct obj *all = obj_get_mut(meta, "annotations");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (obj_has(all, keys[i]))
			obj_del(all, keys[i]);
}

struct obj *canary_object(const struct obj *desired, const char *ns, int64_t replicas)
{
	struct obj *o = obj_copy(desired);
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&name, "%s" CANARY_SUFFIX, meta_name(desired));
	obj_set_path(o, "metadata.name", obj_string(name.buf));
	if (ns)
		obj_set_path(o, "metadata.namespace", obj_string(ns));
	meta_set_label(o, LABEL_CANARY, "true");
	leave_out(obj_get_mut(o, "metadata"));
	struct obj *spec = obj_get_mut(o, "spec");
	obj_set_int(spec, "replicas", replicas);
	obj_set_str(obj_get_mut(obj_get_mut(spec, "selector"), "matchLabels"), LABEL_CANARY,
		    "true");
	meta_set_label(obj_get_mut(spec, "template"), LABEL_CANARY, "true");
	return o;
}

/* --- what is next --- */

void canary_begin(struct obj *record, const struct obj *primary, int64_t now_ns)
{
	obj_set_int(record, "at", 0);
	obj_set_int(record, "available", obj_i64(primary, "status.availableReplicas", 0));
	obj_set_str(record, "uid", meta_uid(primary));
	obj_set_int(record, "sinceNs", now_ns);
}

void canary_end(struct obj *record, const char *reason, const char *message)
{
	obj_set_str(record, "end", "abort");
	obj_set_str(record, "reason", reason);
	obj_set_str(record, "message", message);
}

static size_t step_of(const struct canary *c, const struct obj *record)
{
	int64_t at = obj_i64(record, "at", 0);
	return at >= 0 && (uint64_t)at < c->n ? (size_t)at : c->n;
}

static bool is_through(const struct canary *c, size_t at)
{
	return at >= c->n || c->steps[at].weight == 100;
}

int64_t canary_wants(const struct canary *c, const struct obj *record)
{
	size_t at = step_of(c, record);
	if (obj_has(record, "end") || is_through(c, at))
		return 0;
	return canary_replicas(obj_i64(record, "available", 1), c->steps[at].weight,
			       c->max_replicas);
}

static const char *one_line(const char *text, struct arena *a)
{
	struct str s = str_clip(str_of(visible_text(a, text)), CANARY_REASON_MAX);
	return arena_strndup(a, s.ptr, s.len);
}

const char *canary_told(const struct obj *told, const char *what, struct arena *a)
{
	const struct obj *one = obj_get(told, what);
	const char *reason = obj_str(one, "reason"), *by = obj_str(one, "by");
	if (!reason || !*reason)
		return NULL;
	return by && *by ? arena_fmt(a, "%s (claimed by %s)", one_line(reason, a), one_line(by, a))
			 : one_line(reason, a);
}

/* What a person says, as one line; NULL: nothing. */
static const char *said(const struct canary_facts *f, const char *annotation, const char *what,
			struct arena *a)
{
	const char *text = meta_annotation(f->canary, annotation);
	return text && *text ? one_line(text, a) : canary_told(f->told, what, a);
}

static bool is_approved(const struct canary_facts *f, int64_t weight, struct arena *a)
{
	const char *text = meta_annotation(f->canary, CANARY_APPROVE);
	struct str before, after;
	int64_t n;
	if (canary_told(f->told, "approve", a) &&
	    obj_i64(obj_get(f->told, "approve"), "weight", 0) == weight)
		return true;
	return text && str_cut(str_of(text), ':', &before, &after) && str_trim(after).len &&
	       str_parse_i64(str_trim(before), &n) && n == weight;
}

static bool must_end(const struct canary_facts *f, struct obj *record, struct arena *a)
{
	const char *abort_text = said(f, CANARY_ABORT_BY, "abort", a);
	const struct check_result *bad =
		f->measured && f->measured->state == CHECK_FAILED ? f->measured : f->ready;
	if (abort_text)
		canary_end(record, "Aborted", abort_text);
	else if (!f->primary || !cstr_eq(meta_uid(f->primary), obj_str(record, "uid")))
		canary_end(record, "PrimaryGone", "the Deployment is another one than before");
	else if (bad && bad->state == CHECK_FAILED)
		canary_end(record, bad->reason, bad->message);
	return obj_has(record, "end");
}

static void waits(struct canary_turn *ret, const char *message, int64_t again_ns)
{
	ret->does = CANARY_WAITS;
	ret->message = message;
	ret->again_ns = again_ns;
}

/* Time that a person takes is not the step's. */
static bool awaits_approval(const struct canary_step *step, const struct canary_facts *f,
			    struct obj *record, struct arena *a)
{
	bool waiting = step->approval && !is_approved(f, step->weight, a);
	int64_t asked = obj_i64(record, "askedNs", f->now_ns);
	if (waiting) {
		obj_set_int(record, "askedNs", asked);
		return true;
	}
	if (obj_has(record, "askedNs"))
		obj_set_int(record, "heldNs", obj_i64(record, "heldNs", 0) + f->now_ns - asked);
	obj_del(record, "askedNs");
	return false;
}

static const char *text_of(const struct canary *c, const struct obj *record, size_t at,
			   int64_t replicas, const char *what, struct arena *a)
{
	int64_t of = obj_i64(record, "available", 1) + replicas;
	return arena_fmt(a, "canary step %zu of %zu, weight %lld (%lld of %lld Pods): %s", at + 1,
			 c->n, (long long)c->steps[at].weight, (long long)replicas, (long long)of,
			 what);
}

/* Does the step of the canary go on? Else *ret says what it waits for. */
static bool is_held(const struct canary *c, const struct canary_facts *f, size_t at,
		    struct obj *record, struct arena *a, struct canary_turn *ret)
{
	const struct canary_step *step = &c->steps[at];
	if (f->ready->state == CHECK_WAITING) {
		obj_del(record, "readyNs");
		waits(ret, text_of(c, record, at, ret->replicas, f->ready->message, a),
		      f->ready->again_ns);
		return true;
	}
	if (said(f, CANARY_SKIP, "skip", a)) {
		obj_set_bool(record, "skipped", true);
		return false;
	}
	if (!obj_has(record, "readyNs"))
		obj_set_int(record, "readyNs", f->now_ns);
	int64_t over = obj_i64(record, "readyNs", f->now_ns) + step->pause_ns;
	if (f->now_ns < over) {
		char span[CLOCK_TEXT_MAX];
		duration_format(step->pause_ns, span);
		waits(ret, text_of(c, record, at, ret->replicas, arena_fmt(a, "pause %s", span), a),
		      over);
		return true;
	}
	if (!f->measured) {
		ret->does = CANARY_MEASURES;
		return true;
	}
	if (f->measured->state == CHECK_WAITING) {
		waits(ret, text_of(c, record, at, ret->replicas, f->measured->message, a),
		      f->measured->again_ns);
		return true;
	}
	if (!awaits_approval(step, f, record, a))
		return false;
	const char *how =
		f->how ? arena_fmt(a, "waits for approval: %s", f->how)
		       : arena_fmt(a,
				   "waits for approval: kubectl annotate deployment -n %s "
				   "%s " CANARY_APPROVE "='%lld: REASON' --overwrite",
				   meta_namespace(f->canary), meta_name(f->canary),
				   (long long)step->weight);
	waits(ret, text_of(c, record, at, ret->replicas, how, a), 0);
	return true;
}

int64_t canary_held_ns(const struct obj *record, int64_t now_ns)
{
	return obj_i64(record, "heldNs", 0) + now_ns - obj_i64(record, "askedNs", now_ns) +
	       prometheus_all_held_ns(obj_get(record, "metrics"), now_ns);
}

static void move_on(struct obj *record, size_t at, int64_t now_ns)
{
	static const char *const of_step[] = {"readyNs", "metrics", "checks", "askedNs"};
	int64_t held = canary_held_ns(record, now_ns);
	obj_set_int(record, "heldNs", held);
	obj_set_int(record, "heldBeforeNs", held);
	obj_set_int(record, "at", (int64_t)at + 1);
	obj_set_int(record, "sinceNs", now_ns);
	for (size_t i = 0; i < ARRAY_LEN(of_step); i++)
		obj_del(record, of_step[i]);
}

void canary_next(const struct canary *c, const struct canary_facts *f, struct obj *record,
		 struct arena *a, struct canary_turn *ret)
{
	size_t at = step_of(c, record);
	*ret = (struct canary_turn){.does = CANARY_PLACES, .replicas = canary_wants(c, record)};
	if (cstr_eq(obj_str(record, "end"), "promote")) {
		ret->does = CANARY_PROMOTES;
		return;
	}
	if (obj_has(record, "end") || must_end(f, record, a)) {
		ret->does = CANARY_ABORTS;
		return;
	}
	if (!is_through(c, at)) {
		obj_set_int(record, "weight", c->steps[at].weight);
		if (!f->placed || !f->ready || is_held(c, f, at, record, a, ret))
			return;
		move_on(record, at, f->now_ns);
		at++;
	}
	if (!is_through(c, at)) {
		ret->replicas = canary_wants(c, record); /* PLACES */
		return;
	}
	obj_set_str(record, "end", "promote");
	ret->does = CANARY_PROMOTES;
}
