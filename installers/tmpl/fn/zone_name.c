#include "installers/tmpl/fn/zone_name.h"

/* NOLINTBEGIN(misc-no-recursion): once: "Local" asks for the zone of the host, which is not "Local" */
const struct vzone *zone_named(struct tmpl_run *run, struct str name)
{
	if (str_is(name, "") || str_is(name, "UTC"))
		return &date_utc;
	if (str_is(name, "Local"))
		return zone_local(run);
	const struct tmpl_host *host = tmpl_run_host(run);
	if (!host->zone_bytes || str_contains(name, STR("..")) || name.ptr[0] == '/' ||
	    str_find_char(name, '\\') >= 0 || name.len > 128)
		return NULL;
	struct str tzif = STR_NONE;
	if (host->zone_bytes(host->ctx, tmpl_arena(run), name, &tzif) < 0)
		return NULL;
	return date_zone_parse(tmpl_arena(run), tzif);
}

const struct vzone *zone_local(struct tmpl_run *run)
{
	const char *name = tmpl_run_host(run)->zone;
	const struct vzone *z = NULL;
	if (name && !cstr_eq(name, "Local"))
		z = zone_named(run, str_of(name));
	return z ? z : &date_utc;
}
/* NOLINTEND(misc-no-recursion) */
