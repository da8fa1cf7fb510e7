/* Why a key is reconciled: what its queue has forgotten when it hands the key out. */
#include "alm/controllers/manager_internal.h"

#include "alm/obj/meta.h"

static void name(struct strbuf *b, const char *controller, const char *key)
{
	strbuf_addf(b, "%s/%s", controller, key);
}

static void put(struct map *m, const char *id, const char *trigger)
{
	union {
		const char *text;
		void *value;
	} constant = {trigger};
	map_set(m, id, constant.value);
}

void manager_trigger_note(struct manager *m, const char *controller, const char *key,
			  const char *trigger)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT(STRBUF_SMALL);
	name(&id, controller, key);
	if (!map_has(m->waits_for, id.buf))
		put(m->waits_for, id.buf, trigger);
}

const char *manager_trigger_take(struct manager *m, const char *controller, const char *key)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT(STRBUF_SMALL);
	name(&id, controller, key);
	const char *trigger = map_get(m->waits_for, id.buf);
	trigger = trigger ? trigger : "Timer";
	map_del(m->waits_for, id.buf);
	put(m->works_for, id.buf, trigger);
	return trigger;
}

void manager_trigger_end(struct manager *m, const char *controller, const char *key, bool goes_on)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT(STRBUF_SMALL);
	name(&id, controller, key);
	const char *trigger = map_get(m->works_for, id.buf);
	map_del(m->works_for, id.buf);
	if (goes_on && trigger && !map_has(m->waits_for, id.buf))
		put(m->waits_for, id.buf, trigger);
}

/* A new generation is somebody's wish; a status that changed is what became of one. */
const char *manager_trigger_of(unsigned kind, const struct obj *o)
{
	switch (kind) {
	case WATCH_APPTYPE:
	case WATCH_STRATEGY:
	case WATCH_ROLLOUT:
	case WATCH_BUNDLE:
		return obj_i64(o, "status.observedGeneration", 0) == meta_generation(o) ? "Resource"
											: "Spec";
	case WATCH_CATALOG:
		return "Catalog";
	default:
		return "Resource";
	}
}
