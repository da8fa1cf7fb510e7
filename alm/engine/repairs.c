#include "alm/engine/repairs.h"

#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define ID_BYTES 1024

/* Whoever fights does so soon: what was changed later than that after a pause is another matter. */
#define SOON_NS REPAIRS_NS

static int64_t time_at(const struct obj *list, size_t i)
{
	int64_t ns = 0;
	return obj_as_i64(obj_at(list, i), &ns) ? ns : 0;
}

static int64_t newest(const struct obj *known)
{
	const struct obj *list = obj_get(known, "ns");
	return obj_len(list) ? time_at(list, obj_len(list) - 1) : 0;
}

/* The clock may have been set back since. */
static bool is_within(int64_t at_ns, int64_t span_ns, int64_t now_ns)
{
	return at_ns && at_ns <= now_ns && now_ns - at_ns < span_ns;
}

struct obj *repairs_add(const struct obj *known, int64_t now_ns)
{
	const struct obj *old = obj_get(known, "ns");
	struct obj *o = obj_map(), *list = obj_list();
	size_t n = obj_len(old), from = n < REPAIRS_MAX ? 0 : n - (REPAIRS_MAX - 1);
	for (size_t i = from; i < n; i++)
		if (is_within(time_at(old, i), REPAIRS_NS, now_ns))
			obj_append(list, obj_ref(obj_at(old, i)));
	obj_append(list, obj_int(now_ns));
	bool goes_on = obj_flag(known, "hourly", false) &&
		       is_within(newest(known), REPAIRS_PAUSE_NS + SOON_NS, now_ns);
	obj_set_bool(o, "hourly", goes_on || obj_len(list) >= REPAIRS_MAX);
	obj_set(o, "ns", list);
	return o;
}

int64_t repairs_left(const struct obj *known, int64_t now_ns)
{
	int64_t at = newest(known);
	bool rests = obj_flag(known, "hourly", false) && is_within(at, REPAIRS_PAUSE_NS, now_ns);
	return rests ? at + REPAIRS_PAUSE_NS - now_ns : 0;
}

static char *id_of(const char *group, const char *kind, const char *ns, const char *name,
		   struct arena *a)
{
	return arena_fmt(a, "repaired:%s/%s/%s/%s", group, kind, ns ? ns : "", name);
}

static const struct obj *known_of(const struct view *v, const struct obj *o, const char *ns)
{
	struct gvk g = {"", "", ""};
	gvk_of(o, v->a, &g);
	const struct outcome *known =
		view_outcome(v, id_of(g.group, g.kind, ns, meta_name(o), v->a));
	return known ? known->value : NULL;
}

int64_t repairs_wait(const struct view *v, const struct obj *o, const char *ns)
{
	return repairs_left(known_of(v, o, ns), v->now_ns);
}

int64_t repairs_last(const struct view *v, const struct obj *o, const char *ns)
{
	return newest(known_of(v, o, ns));
}

void repairs_note(struct stash *s, const struct resource *r, const char *ns, const char *name,
		  int64_t now_ns)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ID_BYTES);
	CLEANUP(obj_unrefp) struct obj *known = NULL;
	const char *id = id_of(r->group, r->kind, ns, name, a);
	const struct outcome *old = stash_get(s, id);
	struct error err;
	if (old && old->text.ptr)
		(void)json_parse(old->text, &known, &err);
	stash_put(s, id, NULL, STR_NONE, repairs_add(known, now_ns), now_ns);
}
