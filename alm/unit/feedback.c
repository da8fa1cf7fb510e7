#include "alm/unit/feedback.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/meta.h"

#define MESSAGE_MAX 1024 /* bytes of a group's message, as in a condition */

/* Keys of steps are "PART.GROUP.STEP GROUP/STEP" (unit_side.h), counted from 0.1.1. */
static const char *name_of(const char *key)
{
	const char *name = strchr(key, ' ');
	return name ? name + 1 : key;
}

struct tally {
	size_t begun, finished, failed;
	struct strbuf why;
};

static void add_step(struct tally *t, const char *key, const struct obj *step)
{
	const char *state = obj_str(step, "state"), *message = obj_str(step, "message");
	const char *trouble = cstr_eq(state, "InProgress") ? obj_str(step, "trouble") : NULL;
	t->begun += state != NULL;
	t->finished += cstr_eq(state, "Finished");
	bool failed = cstr_eq(state, "Failed");
	t->failed += failed;
	/* what was measured of one that is through, how far a canary is, and what a server says to writes */
	bool told = trouble ||
		    (message && (cstr_eq(state, "Finished") || obj_len(obj_get(step, "canary"))));
	message = trouble ? trouble : message;
	if ((failed || told) && t->why.len < MESSAGE_MAX)
		strbuf_addf(&t->why, "%sstep %s: %s", t->why.len ? "; " : "", name_of(key),
			    message ? message : "");
}

static const char *state_of(const struct tally *t, size_t n)
{
	return t->failed          ? "Failed"
	       : t->finished == n ? "Finished"
	       : t->begun         ? "InProgress"
				  : "NotStarted";
}

/* A tally for each group of a part, in one pass over the steps. */
static void add_steps(struct tally *tallies[UNIT_PARTS], const struct unit *u,
		      const struct obj *steps)
{
	OBJ_EACH (it, steps) {
		struct str part, group, rest = str_of(it.key);
		uint64_t p, g;
		if (str_cut(rest, '.', &part, &rest) && str_cut(rest, '.', &group, &rest) &&
		    str_parse_u64(part, &p) && str_parse_u64(group, &g) && p < UNIT_PARTS &&
		    g - 1 < u->parts[p].n)
			add_step(&tallies[p][g - 1], it.key, it.value);
	}
}

static const struct obj *row_instance(const struct unit *u, size_t row)
{
	return obj_get(obj_at(obj_get(u->doc, "objects"), row), "instance");
}

/* One that is made of what no step names: how far the others of its instance are, status.instances has. */
static bool is_of_instance(const struct unit *u, const struct unit_group *g)
{
	const struct unit_step *s = g->n ? &g->steps[0] : NULL;
	return s && !s->rule && s->n && row_instance(u, s->rows[0]);
}

/* was_done: by a process before this one, which alone knew its steps. NULL: it is not told. */
static struct obj *group_state(const struct unit *u, const struct unit_group *g,
			       const struct tally *t, bool was_done)
{
	const char *state = was_done && !t->begun ? "Finished" : state_of(t, g->n);
	bool goes_on = cstr_eq(state, "InProgress") || cstr_eq(state, "Failed");
	if (!goes_on && is_of_instance(u, g))
		return NULL;
	struct obj *o = obj_map();
	obj_set_str(o, "name", g->name);
	obj_set_str(o, "state", state);
	if (t->why.len)
		obj_set(o, "message", obj_stringn(str_clip(strbuf_str(&t->why), MESSAGE_MAX)));
	return o;
}

struct obj *feedback_groups(const struct unit *u, const struct obj *record)
{
	struct obj *list = obj_list();
	struct tally *tallies[UNIT_PARTS];
	const struct obj *steps = obj_get(record, "steps");
	bool was_done = !steps && cstr_eq(obj_str(record, "state"), "Succeeded");
	for (size_t p = 0; p < UNIT_PARTS; p++) {
		tallies[p] = xcalloc(u->parts[p].n + 1, sizeof(*tallies[p]));
		for (size_t g = 0; g < u->parts[p].n; g++)
			tallies[p][g] = (struct tally){.why = STRBUF_INIT(STRBUF_SMALL)};
	}
	add_steps(tallies, u, steps);
	for (size_t p = 0; p < UNIT_PARTS; p++) {
		for (size_t g = 0; g < u->parts[p].n; g++) {
			struct obj *o =
				group_state(u, &u->parts[p].groups[g], &tallies[p][g], was_done);
			if (o)
				obj_append(list, o);
			strbuf_release(&tallies[p][g].why);
		}
		xfree(tallies[p]);
	}
	return list;
}

/* --- instances --- */

/* How far the steps are that have objects of one instance. */
struct share {
	const char *name; /* borrowed */
	int64_t objects;
	size_t steps, begun, finished, failed;
	const char *message; /* of the first that failed, else of the first that waits; borrowed */
};

static const struct obj *step_of(const struct unit *u, const struct obj *steps, size_t part,
				 size_t group, size_t step)
{
	const struct unit_group *g = &u->parts[part].groups[group];
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(UINT32_MAX);
	strbuf_addf(&key, "%zu.%zu.%zu %s/%s", part, group + 1, step + 1, g->name,
		    g->steps[step].name);
	return obj_get(steps, key.buf);
}

static void add_to_share(struct share *s, const struct obj *record)
{
	const char *state = obj_str(record, "state"), *message = obj_str(record, "message");
	bool failed = cstr_eq(state, "Failed"), finished = cstr_eq(state, "Finished");
	s->steps++;
	s->begun += state != NULL;
	s->finished += finished;
	if (message && !finished && (!s->message || (failed && !s->failed)))
		s->message = message;
	s->failed += failed;
}

/* The instances in their order, which is that of the rows; of[row] is the number of its own, from 1. */
static size_t read_shares(const struct unit *u, struct share *shares, size_t *of)
{
	size_t n = 0;
	for (size_t i = 0; i < obj_len(obj_get(u->doc, "objects")); i++) {
		const char *name = obj_as_string(row_instance(u, i));
		if (!name)
			continue;
		if (!n || !cstr_eq(name, shares[n - 1].name))
			shares[n++].name = name;
		shares[n - 1].objects++;
		of[i] = n;
	}
	return n;
}

/* A step's rows ascend: those of one instance follow each other. */
static void add_step_to_shares(const struct unit_step *step, const struct obj *record,
			       struct share *shares, const size_t *of)
{
	size_t last = 0;
	for (size_t i = 0; i < step->n; i++) {
		size_t instance = of[step->rows[i]];
		if (instance && instance != last)
			add_to_share(&shares[instance - 1], record);
		last = instance;
	}
}

static void add_to_shares(const struct unit *u, const struct obj *steps, struct share *shares,
			  const size_t *of)
{
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < u->parts[p].n; g++)
			for (size_t i = 0; i < u->parts[p].groups[g].n; i++)
				add_step_to_shares(&u->parts[p].groups[g].steps[i],
						   step_of(u, steps, p, g, i), shares, of);
}

/* What succeeded before this process began has no steps; on the way back what had begun goes with it. */
static const char *share_state(const struct share *s, const struct obj *record)
{
	const char *run = obj_str(record, "state");
	if (cstr_eq(run, "Succeeded"))
		return "Ready";
	if (s->failed)
		return "Failed";
	if (s->begun && (cstr_eq(run, "RollingBack") || cstr_eq(run, "RolledBack")))
		return run;
	return !s->begun ? "NotStarted" : s->finished == s->steps ? "Ready" : "InProgress";
}

static struct obj *instance_row(const struct share *s, const struct obj *record)
{
	struct obj *o = obj_map();
	const char *state = share_state(s, record);
	obj_set_str(o, "name", s->name);
	obj_set_str(o, "state", state);
	obj_set_int(o, "objects", s->objects);
	if (s->message && !cstr_eq(state, "Ready"))
		obj_set(o, "message", obj_stringn(str_clip(str_of(s->message), MESSAGE_MAX)));
	return o;
}

struct obj *feedback_instances(const struct unit *u, const struct obj *record)
{
	size_t n_rows = obj_len(obj_get(u->doc, "objects"));
	CLEANUP(xfreep) struct share *shares = xcalloc(n_rows + 1, sizeof(*shares));
	CLEANUP(xfreep) size_t *of = xcalloc(n_rows + 1, sizeof(*of));
	size_t n = read_shares(u, shares, of);
	if (!n)
		return NULL;
	add_to_shares(u, obj_get(record, "steps"), shares, of);
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++)
		obj_append(list, instance_row(&shares[i], record));
	return list;
}

/* --- canaries --- */

static const char *canary_state(const struct obj *one)
{
	if (obj_has(one, "end"))
		return "Ending";
	if (obj_has(one, "askedNs"))
		return "AwaitingApproval";
	OBJ_EACH (it, obj_get(one, "metrics"))
		if (obj_has(it.value, "heldSinceNs"))
			return "NoData";
	return "Running";
}

/* row: of the unit's document, as a record names it. */
static struct obj *canary_of(const struct unit *u, const char *row, const struct obj *one)
{
	uint64_t i = 0;
	struct obj *o = obj_map();
	(void)str_parse_u64(str_of(row), &i);
	const struct obj *object = obj_get(obj_at(obj_get(u->doc, "objects"), (size_t)i), "object");
	const char *ns = meta_namespace(object) ? meta_namespace(object) : u->ns;
	obj_set(o, "object",
		obj_stringf("%s %s/%s", meta_kind(object), ns ? ns : "", meta_name(object)));
	obj_set_int(o, "weight", obj_i64(one, "weight", 0));
	obj_set_str(o, "state", canary_state(one));
	return o;
}

struct obj *feedback_canaries(const struct unit *u, const struct obj *record)
{
	struct obj *list = obj_list();
	OBJ_EACH (step, obj_get(record, "steps"))
		if (cstr_eq(obj_str(step.value, "state"), "InProgress"))
			OBJ_EACH (one, obj_get(step.value, "canary"))
				obj_append(list, canary_of(u, one.key, one.value));
	if (obj_len(list))
		return list;
	obj_unref(list);
	return NULL;
}

struct obj *feedback_status(const struct unit *u, const struct obj *record)
{
	static const char *const copied[] = {"reason", "message", "digest"};
	const char *phase = obj_str(record, "state");
	if (cstr_eq(phase, "Running") && !obj_len(obj_get(record, "steps")))
		return NULL;
	struct obj *o = obj_map();
	obj_set_str(o, "phase", phase);
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		obj_set_str(o, copied[i], obj_str(record, copied[i]));
	obj_set(o, "groups", feedback_groups(u, record));
	return o;
}

static void add_changes(struct strbuf *b, const char *prefix, const struct obj *old,
			const struct obj *steps)
{
	OBJ_EACH (it, steps) {
		const char *state = obj_str(it.value, "state");
		if (cstr_eq(state, obj_str(obj_get(old, it.key), "state")))
			continue;
		if (b->len < MESSAGE_MAX)
			strbuf_addf(b, "%s%s%s: %s", b->len ? "; " : "", prefix, name_of(it.key),
				    state);
	}
}

const char *feedback_changes(const struct obj *before, const struct obj *after, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *old = obj_get(before, "steps"), *steps = obj_get(after, "steps");
	add_changes(&b, "", old, steps);
	add_changes(&b, "rollback: ", obj_path(before, "back.steps"),
		    obj_path(after, "back.steps"));
	return arena_strdup(a, b.buf);
}

const char *feedback_waits(const struct obj *record, struct arena *a)
{
	char until[CLOCK_TEXT_MAX];
	OBJ_EACH (it, obj_get(record, "steps")) {
		const char *text = obj_str(it.value, "message");
		int64_t until_ns = obj_i64(it.value, "untilNs", 0);
		if (!cstr_eq(obj_str(it.value, "state"), "InProgress") || !text)
			continue;
		clock_format(until_ns, CLOCK_SECONDS, until);
		return until_ns ? arena_fmt(a, "%s; fails at %s", text, until) : text;
	}
	return "";
}
