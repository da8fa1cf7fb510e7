/* admit_new: what a validation needs the store, the zones or the former object for; see admit_platform.h. */
#include <string.h>
#include <strings.h>

#include "alm/apiserver/admit_platform.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/io/zones.h"
#include "alm/obj/meta.h"

#define CRON_NAME_MAX 52 /* each Job has 11 characters more */
#define CLASS_NOTE    "kubernetes.io/ingress.class"

static bool has_zone(const char *name)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct str bytes;
	return zones_read(NULL, a, str_of(name), &bytes) == 0 ||
	       zones_read(NULL, a, STR("UTC"), &bytes) < 0; /* nothing to judge by */
}

/* One that is known, by name. */
static void check_zone(const char *is, struct field_errors *e)
{
	static const char at[] = "spec.timeZone";
	if (!*is) {
		check_invalid_text(e, at, is, "timeZone must be nil or non-empty string");
		return;
	}
	if (strcasecmp(is, "Local") == 0)
		check_invalid_text(e, at, is,
				   "timeZone must be an explicit time zone as defined in "
				   "https://www.iana.org/time-zones");
	if (strcmp(is, "Local") != 0 && !has_zone(is))
		check_invalid_text(e, at, is, arena_fmt(e->arena, "unknown time zone %s", is));
}

void admit_cron_validate(struct mutation *m, struct field_errors *e)
{
	const char *is = obj_str(m->after, "spec.timeZone");
	size_t from = e->n, to = e->n;
	if (m->is_status)
		return;
	if (is && !cstr_eq(is, obj_str(m->before, "spec.timeZone")))
		check_zone(is, e);
	/* told in front of what follows it */
	while (to > 0 && cstr_has_prefix(e->items[to - 1].path, "spec.") &&
	       !cstr_has_prefix(e->items[to - 1].path, "spec.schedule") &&
	       !cstr_has_prefix(e->items[to - 1].path, "spec.startingDeadlineSeconds"))
		to--;
	if (from < e->n)
		field_errors_swap(e, to, from, e->n);
	if (!m->before && m->name && strlen(m->name) > CRON_NAME_MAX)
		check_invalid_text(e, "metadata.name", m->name,
				   "must be no more than 52 characters");
}

void admit_ingress_validate(struct mutation *m, struct field_errors *e)
{
	const char *noted = meta_annotation(m->after, CLASS_NOTE);
	const char *class = obj_str(m->after, "spec.ingressClassName");
	if (!m->before && noted && class && strcmp(noted, class) != 0)
		check_invalid_text(e, "annotations." CLASS_NOTE, noted,
				   "must match `ingressClassName` when both are specified");
}
