#include "tests/sim/events.h"

#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static const char *uid_of(const struct obj *frame)
{
	return obj_str(frame, "object.metadata.uid");
}

bool events_supersede(struct str frame, struct str next)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *a = NULL;
	CLEANUP(obj_unrefp) struct obj *b = NULL;
	if (json_parse(frame, &a, &err) < 0 || json_parse(next, &b, &err) < 0)
		return false; /* several frames at once */
	const char *type = obj_str(a, "type");
	return uid_of(a) && cstr_eq(uid_of(a), uid_of(b)) &&
	       (cstr_eq(type, "ADDED") || cstr_eq(type, "MODIFIED")) &&
	       cstr_eq(obj_str(b, "type"), "MODIFIED");
}
