#include "alm/controllers/fleet/install_of.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/controllers/fleet/bundle_source.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/feedback.h"

#define DIGEST_SHORT 12
#define COMMIT_SHORT 12
#define WHY_MAX      300

const char *install_name(const struct bundle_now *now, struct arena *a)
{
	return arena_fmt(a, "%s." BUNDLE_CLUSTER ".%.*s", now->job->unit->bundle, DIGEST_SHORT,
			 now->job->unit->digest);
}

/* --- how far it is --- */

/* Its entry in the record; NULL: not begun. */
static const struct obj *step_of(const struct install_of *x, size_t part, size_t group, size_t step)
{
	const struct unit_group *g = &x->now->job->unit->parts[part].groups[group];
	return obj_get(obj_get(x->now->job->record, "steps"),
		       arena_fmt(x->a, "%zu.%zu.%zu %s/%s", part, group + 1, step + 1, g->name,
				 g->steps[step].name));
}

typedef void (*each_fn)(void *arg, const struct unit_step *step, const struct obj *record);

static void each_step(const struct install_of *x, each_fn fn, void *arg)
{
	const struct unit *u = x->now->job->unit;
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < u->parts[p].n; g++)
			for (size_t i = 0; i < u->parts[p].groups[g].n; i++)
				fn(arg, &u->parts[p].groups[g].steps[i], step_of(x, p, g, i));
}

static void count(void *arg, const struct unit_step *step, const struct obj *record)
{
	struct install_facts *f = arg;
	bool goes_on = cstr_eq(obj_str(record, "state"), "InProgress");
	(void)step;
	f->steps++;
	f->begun += record != NULL;
	f->finished += cstr_eq(obj_str(record, "state"), "Finished");
	f->tries = f->tries || (goes_on && obj_len(obj_get(record, "canary")));
}

static enum install_state state_of(const struct install_of *x)
{
	const struct unit_job *job = x->now->job;
	struct install_facts f = {
		.run = bundle_run_of(job->record), .deleting = job->deleting, .told = job->record};
	each_step(x, count, &f);
	return install_state_of(&f);
}

/* --- the worst of its objects --- */

struct worst {
	const struct install_of *x;
	const char *state;
	struct obj *list;
};

/* What a step says of one of its objects: all of it has the others, too. */
static struct obj *why_of(const struct unit_step *step, const char *message, const char *ref)
{
	const char *at = message ? strstr(message, ref) : NULL;
	if (!at)
		return step->n == 1 ? obj_stringn(str_clip(str_of(message), WHY_MAX)) : NULL;
	at += strlen(ref);
	at += strspn(at, ": ");
	struct str rest = str_of(at);
	ptrdiff_t end = str_find(rest, STR("\n"));
	rest = end < 0 ? rest : str_sub(rest, 0, (size_t)end);
	return obj_stringn(str_clip(rest, WHY_MAX));
}

static void add_row(const struct worst *w, const struct unit_step *step, const struct obj *record,
		    const struct obj *row)
{
	const struct obj *object = obj_get(row, "object");
	const char *ns = meta_namespace(object), *message = obj_str(record, "message");
	const char *bare = arena_fmt(w->x->a, "%s %s", meta_kind(object), meta_name(object));
	const char *ref = arena_fmt(w->x->a, "%s %s/%s", meta_kind(object),
				    ns ? ns : w->x->now->job->unit->ns, meta_name(object));
	if (!ns && !(message && strstr(message, ref)))
		ref = bare; /* as far as anybody knows it is of no namespace */
	struct obj *why = why_of(step, message, ref);
	char since[CLOCK_TEXT_MAX];
	if (!why)
		return;
	struct obj *o = obj_map();
	clock_format(obj_i64(record, "sinceNs", 0), CLOCK_SECONDS, since);
	obj_set_str(o, "ref", ref);
	obj_set_str(o, "file", obj_str(row, "key"));
	obj_set_str(o, "state", w->state);
	obj_set(o, "why", why);
	obj_set_str(o, "since", since);
	obj_append(w->list, o);
}

static void add_step(void *arg, const struct unit_step *step, const struct obj *record)
{
	const struct worst *w = arg;
	const struct obj *rows = obj_get(w->x->now->job->unit->doc, "objects");
	if (!record || !cstr_eq(obj_str(record, "state"), w->state))
		return;
	for (size_t i = 0; i < step->n && obj_len(w->list) < INSTALL_OBJECTS_MAX; i++)
		add_row(w, step, record, obj_at(rows, step->rows[i]));
}

static struct obj *objects_of(const struct install_of *x)
{
	struct worst w = {.x = x, .state = "Failed", .list = obj_list()};
	each_step(x, add_step, &w);
	w.state = "InProgress";
	each_step(x, add_step, &w);
	return w.list;
}

/* --- its status --- */

/* What another process rolled out, and this one has found so: of how that went it knows nothing. */
static bool was_there(const struct obj *record)
{
	return cstr_eq(obj_str(record, "state"), "Succeeded") && !obj_has(record, "run");
}

/* Begun since the Install was told last. */
static bool is_anew(const struct install_of *x)
{
	const struct obj *said = obj_get(x->live, "status");
	if (!obj_i64(said, "attempt", 0))
		return true;
	return !was_there(x->now->job->record) &&
	       !cstr_eq(obj_str(said, "startedAt"), x->now->since);
}

static const char *now_text(const struct install_of *x)
{
	char now[CLOCK_TEXT_MAX];
	clock_format(x->now_ns, CLOCK_SECONDS, now);
	return arena_strdup(x->a, now);
}

static void set_text(struct obj *o, const char *key, const char *text)
{
	if (text && *text)
		obj_set_str(o, key, text);
	else
		obj_del(o, key);
}

static void set_condition(const struct install_of *x, struct obj *status, enum install_state is)
{
	bool well = is == INSTALL_SUCCEEDED || is == INSTALL_DELETED;
	const char *reason = obj_str(status, "reason"), *message = obj_str(status, "message");
	const struct condition c = {.type = "Succeeded",
				    .status = well ? "True"
					      : install_has_ended(is) || is == INSTALL_BLOCKED
						      ? "False"
						      : "Unknown",
				    .reason = reason ? reason : install_state_name(is),
				    .message = message ? message : "",
				    .observed_generation = meta_generation(x->live)};
	const struct obj *all = obj_get(status, "conditions");
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(all); i++) /* and no other: whose would that be? */
		if (cstr_eq(obj_str(obj_at(all, i), "type"), c.type))
			obj_append(list, obj_copy(obj_at(all, i)));
	condition_set(list, &c, x->now_ns);
	obj_set(status, "conditions", list);
}

static void set_state(const struct install_of *x, struct obj *status, enum install_state is)
{
	const char *was = obj_str(status, "state");
	if (!cstr_eq(was, install_state_name(is)))
		obj_set_str(status, "since", now_text(x));
	obj_set_str(status, "phase", install_phase(is));
	obj_set_str(status, "state", install_state_name(is));
	set_condition(x, status, is);
	if (meta_generation(x->live))
		obj_set_int(status, "observedGeneration", meta_generation(x->live));
}

static const char *revision_of(const struct install_of *x)
{
	const char *commit = obj_str(x->now->source, "commit");
	return commit ? arena_fmt(x->a, "git:%s", commit) : NULL;
}

static void set_plan(const struct install_of *x, struct obj *status)
{
	const struct unit_job *job = x->now->job;
	struct obj *plan = obj_map(), *counts = obj_map();
	obj_set_str(plan, "digest", job->unit->digest);
	obj_set_int(counts, "objects", (int64_t)obj_len(obj_get(job->unit->doc, "objects")));
	obj_set_int(counts, "deleted", obj_i64(job->record, "pruned", 0));
	obj_set_int(counts, "kept", (int64_t)obj_len(obj_get(job->record, "kept")));
	obj_set(plan, "counts", counts);
	obj_set(status, "plan", plan);
	obj_set(status, "groups", feedback_groups(job->unit, job->record));
	obj_set(status, "objects", objects_of(x));
}

/* What of it goes on; whatever else somebody has put there does not. */
static struct obj *kept_of(const struct obj *said)
{
	static const char *const keys[] = {"attempt", "startedAt", "state",      "since",
					   "plan",    "groups",    "conditions", "objects"};
	struct obj *o = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (obj_has(said, keys[i]))
			obj_set(o, keys[i], obj_ref(obj_get(said, keys[i])));
	return o;
}

static const char *clip(const struct install_of *x, const char *text)
{
	struct str s = str_clip(str_of(text ? text : ""), CONDITION_MESSAGE_MAX);
	return arena_fmt(x->a, "%.*s", STR_ARG(s));
}

/* Of what, and what it waits for. */
static const char *progress(const struct install_of *x)
{
	const struct unit_job *job = x->now->job;
	const char *of = job->deleting ? "" : bundle_source_text(x->now->source, x->a);
	const char *waits = unit_record_is_open(job->record) ? obj_str(job->record, "waits") : "";
	if (!waits)
		waits = feedback_waits(job->record, x->a);
	return clip(x, arena_fmt(x->a, "%s%s%s", of, *of && *waits ? "; " : "", waits));
}

struct obj *install_status(const struct install_of *x)
{
	const struct obj *said = obj_get(x->live, "status"), *record = x->now->job->record;
	struct obj *status = kept_of(said);
	enum install_state is = state_of(x);
	const char *commit = obj_str(x->now->source, "commit");
	bool anew = is_anew(x);
	if (anew) {
		obj_set_int(status, "attempt", obj_i64(said, "attempt", 0) + 1);
		set_text(status, "startedAt", x->now->since);
	}
	bool is_wrong = is == INSTALL_BLOCKED || is == INSTALL_FAILED ||
			is == INSTALL_ROLLED_BACK || is == INSTALL_ROLLING_BACK;
	set_text(status, "reason", is_wrong ? obj_str(record, "reason") : NULL);
	set_text(status, "message", is_wrong ? clip(x, obj_str(record, "message")) : progress(x));
	set_text(status, "revision", revision_of(x));
	set_text(status, "shortRevision",
		 commit ? arena_fmt(x->a, "%.*s", COMMIT_SHORT, commit) : NULL);
	if (!was_there(record) || !obj_has(said, "plan"))
		set_plan(x, status);
	set_state(x, status, is);
	return status;
}

struct obj *install_supersede(const struct install_of *x, const char *by)
{
	struct obj *status = obj_copy_map(obj_get(x->live, "status"));
	enum install_state was = install_state_find(obj_str(status, "state"));
	enum install_state is = install_replaced(was);
	if (is == was) {
		obj_unref(status);
		return NULL;
	}
	set_text(status, "reason", "Superseded");
	obj_set(status, "message", obj_stringf("%s took its place", by));
	set_state(x, status, is);
	return status;
}

bool install_is_news(const struct obj *live, const struct obj *status)
{
	static const char *const fields[] = {"phase",     "state",    "reason",
					     "startedAt", "revision", "shortRevision"};
	static const char *const numbers[] = {"attempt", "observedGeneration"};
	const struct obj *said = obj_get(live, "status");
	enum install_state is = install_state_find(obj_str(status, "state"));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!cstr_eq(obj_str(said, fields[i]), obj_str(status, fields[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (obj_i64(said, numbers[i], 0) != obj_i64(status, numbers[i], 0))
			return true;
	return (install_has_ended(is) || is == INSTALL_BLOCKED) && !obj_equal(said, status);
}

/* --- its spec --- */

struct obj *install_spec(const struct install_of *x, const struct obj *status)
{
	struct obj *spec = obj_map(), *payload = obj_map();
	obj_set_str(payload, "digest", x->now->job->unit->digest);
	obj_set_str(spec, "cluster", BUNDLE_CLUSTER);
	obj_set_str(spec, "bundle", x->now->job->unit->bundle);
	if (obj_str(status, "revision"))
		obj_set_str(spec, "revision", obj_str(status, "revision"));
	obj_set_str(spec, "mode", x->now->job->deleting ? "Delete" : "Apply");
	obj_set(spec, "payload", payload);
	obj_set_int(spec, "attempt", obj_i64(status, "attempt", 1));
	return spec;
}
