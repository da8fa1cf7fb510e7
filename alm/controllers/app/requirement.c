#include "alm/controllers/app/requirement.h"

static const char *text_at(const struct obj *q, const char *path)
{
	const char *text = obj_str(q, path);
	return text ? text : "";
}

static const char *permission_text(const struct obj *q, struct arena *a)
{
	const struct obj *verbs = obj_get(q, "verbs");
	const char *text = "", *group = text_at(q, "group");
	for (size_t i = 0; i < obj_len(verbs); i++) {
		const char *verb = obj_as_string(obj_at(verbs, i));
		text = arena_fmt(a, "%s%s%s", text, i ? "," : "", verb ? verb : "?");
	}
	return arena_fmt(a, "Permission %s %s%s%s", text, text_at(q, "resource"), *group ? "." : "",
			 group);
}

const char *requirement_text(const struct obj *q, struct arena *a)
{
	const char *kind = text_at(q, "kind");
	if (cstr_eq(kind, "Permission"))
		return permission_text(q, a);
	return arena_fmt(a, "%s %s", kind, text_at(q, cstr_eq(kind, "Object") ? "ref" : "name"));
}

const char *requirement_unmet(const struct obj *q, const char *why, struct arena *a)
{
	const char *message = text_at(q, "message");
	return arena_fmt(a, "%s %s%s%s", requirement_text(q, a), why, *message ? ": " : "",
			 message);
}
