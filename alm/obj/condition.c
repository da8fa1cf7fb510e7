/* condition: see condition.h. */
#include "alm/obj/condition.h"

#include <string.h>

#include "alm/base/clock.h"

static size_t find(const struct obj *conditions, const char *type)
{
	for (size_t i = 0; i < obj_len(conditions); i++)
		if (cstr_eq(obj_str(obj_at(conditions, i), "type"), type))
			return i;
	return SIZE_MAX;
}

/* Sets a text member; true if it differs from before. */
static bool set(struct obj *o, const char *key, struct str value)
{
	const struct obj *before = obj_get(o, key);
	bool same = before && str_eq(obj_as_str(before), value);
	if (!same)
		obj_set(o, key, obj_stringn(value));
	return !same;
}

bool condition_set(struct obj *conditions, const struct condition *c, int64_t now_ns)
{
	char now[CLOCK_TEXT_MAX];
	size_t i = find(conditions, c->type);
	if (i == SIZE_MAX) {
		i = obj_len(conditions);
		obj_append(conditions, obj_map());
		obj_set_str(obj_at_mut(conditions, i), "type", c->type);
	}
	struct obj *o = obj_at_mut(conditions, i);
	bool moved = set(o, "status", str_of(c->status));
	if (c->observed_generation)
		obj_set_int(o, "observedGeneration", c->observed_generation);
	if (moved || !obj_str(o, "lastTransitionTime")) {
		clock_format(now_ns, CLOCK_SECONDS, now);
		obj_set_str(o, "lastTransitionTime", now);
	}
	bool changed = set(o, "reason", str_of(c->reason));
	changed |= set(o, "message", str_clip(str_of(c->message), CONDITION_MESSAGE_MAX));
	return moved || changed;
}

bool condition_remove(struct obj *conditions, const char *type)
{
	size_t i = find(conditions, type);
	if (i == SIZE_MAX)
		return false;
	obj_del_at(conditions, i);
	return true;
}

const struct obj *condition_find(const struct obj *conditions, const char *type)
{
	size_t i = obj_type(conditions) == OBJ_LIST ? find(conditions, type) : SIZE_MAX;
	return i == SIZE_MAX ? NULL : obj_at(conditions, i);
}

static const struct obj *entry(const struct obj *o, const char *type)
{
	return condition_find(obj_path(o, "status.conditions"), type);
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

bool condition_get(const struct obj *o, const char *type, struct condition *ret)
{
	const struct obj *c = entry(o, type);
	if (!c)
		return false;
	*ret = (struct condition){
		.type = or_empty(obj_str(c, "type")),
		.status = or_empty(obj_str(c, "status")),
		.reason = or_empty(obj_str(c, "reason")),
		.message = or_empty(obj_str(c, "message")),
		.observed_generation = obj_i64(c, "observedGeneration", 0),
	};
	return true;
}

bool condition_is(const struct obj *o, const char *type, const char *status)
{
	const char *s = obj_str(entry(o, type), "status");
	return s && strcmp(s, status) == 0;
}

const char *condition_since(const struct obj *o, const char *type)
{
	return obj_str(entry(o, type), "lastTransitionTime");
}
