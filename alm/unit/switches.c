#include "alm/unit/switches.h"

#include <string.h>

#include "alm/base/str.h"
#include "alm/obj/meta.h"
#include "alm/unit/unit.h"
#include "crds/marks.h"

static const struct {
	const char *name, *on, *off;
} switches[] = {
	{ANNOTATION_FORCE, "true", "false"},
	{ANNOTATION_ONE_OFF, "true", "false"},
	{ANNOTATION_PRUNE, "disabled", "enabled"},
	{ANNOTATION_WAIT, "disabled", "enabled"},
};

int switches_check(const struct obj *o, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
		const char *value = meta_annotation(o, switches[i].name);
		if (value && !cstr_eq(value, switches[i].on) && !cstr_eq(value, switches[i].off))
			return error_set(err, E_INVALID,
					 "annotation %s: \"%.40s\" says nothing; \"%s\" or \"%s\" "
					 "is wanted",
					 switches[i].name, value, switches[i].on, switches[i].off);
	}
	return 0;
}

bool switches_force(const struct obj *o)
{
	return cstr_eq(meta_annotation(o, ANNOTATION_FORCE), "true");
}

/* In the words of the API server (its validation of an update) and of rules of definitions; no reason
 * and no cause tells such a 422 from another one. */
bool switches_is_immutable(int code, const char *message)
{
	static const char *const words[] = {"immutable", "may not change", "cannot change roleRef"};
	if (code != E_INVALID || !message)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(message, words[i]))
			return true;
	const char *updates = strstr(message, "updates to ");
	return updates && strstr(updates, "forbidden");
}

static const char *spare(const struct obj *o)
{
	if (cstr_eq(meta_annotation(o, ANNOTATION_PRUNE), "disabled"))
		return ANNOTATION_PRUNE " is disabled";
	if (unit_is_kept(o) || cstr_eq(meta_kind(o), "PersistentVolume"))
		return "it is of what is never deleted (claims, volumes, Namespaces, definitions, "
		       "helm.sh/resource-policy: keep)";
	return NULL;
}

const char *switches_spare(const struct obj *want, const struct obj *live)
{
	const char *why = spare(want);
	return why || !live ? why : spare(live);
}
