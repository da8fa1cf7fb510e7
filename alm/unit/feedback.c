#include "alm/unit/feedback.h"

#include <string.h>

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
	t->begun += state != NULL;
	t->finished += cstr_eq(state, "Finished");
	bool failed = cstr_eq(state, "Failed");
	t->failed += failed;
	/* what was measured of one that is through, and how far a canary is */
	bool told = message && (cstr_eq(state, "Finished") || obj_len(obj_get(step, "canary")));
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

static struct obj *group_state(const struct unit_group *g, size_t part, size_t at,
			       const struct obj *steps)
{
	CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT(STRBUF_SMALL);
	struct tally t = {.why = STRBUF_INIT(STRBUF_SMALL)};
	struct obj *o = obj_map();
	strbuf_addf(&prefix, "%zu.%zu.", part, at + 1);
	OBJ_EACH (it, steps)
		if (cstr_has_prefix(it.key, prefix.buf))
			add_step(&t, it.key, it.value);
	obj_set_str(o, "name", g->name);
	obj_set_str(o, "state", state_of(&t, g->n));
	if (t.why.len)
		obj_set(o, "message", obj_stringn(str_clip(strbuf_str(&t.why), MESSAGE_MAX)));
	strbuf_release(&t.why);
	return o;
}

struct obj *feedback_groups(const struct unit *u, const struct obj *record)
{
	struct obj *list = obj_list();
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < u->parts[p].n; g++)
			obj_append(list, group_state(&u->parts[p].groups[g], p, g,
						     obj_get(record, "steps")));
	return list;
}

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
