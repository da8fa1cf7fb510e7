#include "alm/obj/event.h"

#include "alm/base/clock.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define ABOUT_NAME_MAX 200 /* of the name of an object, in that of its Event */

const char *event_namespace(const struct obj *about)
{
	const char *ns = meta_namespace(about);
	return ns ? ns : "default";
}

struct obj *event_about(const struct obj *about, const struct event_text *t, int64_t now_ns)
{
	char now[CLOCK_TEXT_MAX];
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const char *uid = meta_uid(about); /* NULL: it is not there */
	const char *name = arena_fmt(a, "%s.%.8s.%s", name_cut(meta_name(about), ABOUT_NAME_MAX, a),
				     uid ? uid : "missing", t->tail);
	struct obj *o = meta_skeleton("v1", "Event", event_namespace(about), name);
	struct obj *ref = obj_map(), *source = obj_map();
	clock_format(now_ns, CLOCK_SECONDS, now);
	obj_set_str(ref, "apiVersion", meta_api_version(about));
	obj_set_str(ref, "kind", meta_kind(about));
	obj_set_str(ref, "name", meta_name(about));
	obj_set_str(ref, "namespace", meta_namespace(about));
	obj_set_str(ref, "uid", meta_uid(about));
	obj_set(o, "involvedObject", ref);
	obj_set_str(o, "type", t->type);
	obj_set_str(o, "reason", t->reason);
	const char *message = t->message && *t->message ? t->message : t->reason;
	obj_set(o, "message", obj_stringn(str_clip(str_of(message), EVENT_MESSAGE_MAX)));
	obj_set_str(source, "component", "alm");
	obj_set(o, "source", source);
	obj_set_str(o, "reportingComponent", "alm");
	obj_set_str(o, "reportingInstance", "alm");
	obj_set_str(o, "firstTimestamp", now);
	obj_set_str(o, "lastTimestamp", now);
	obj_set_int(o, "count", 1);
	return o;
}
