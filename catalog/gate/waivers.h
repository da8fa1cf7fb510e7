/*
 * waivers: the way past what the CRD gate refuses (lifecycle.md 3), as text that runs as it stands:
 * one command for all refusals of a version. Pure.
 *
 * A merge patch replaces a list, so whatever is printed here has the waivers that the app has
 * already, too. Each new one says in its reason how many objects the finding affects.
 *
 * Names of fields come from definitions of others and end up in a shell: what is printed is JSON
 * of printable ASCII without ' and # (they are \u0027 and \u0023 there), between ' and ', and then
 * a comment of one line (nextstep.h).
 */
#ifndef CATALOG_GATE_WAIVERS_H
#define CATALOG_GATE_WAIVERS_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define WAIVERS_MAX              1000 /* maxItems of spec.upgrade.waivers in crds/apptype.yaml */
#define WAIVERS_INLINE_MAX       20   /* stand in the command; more are printed by alm why-not */
#define WAIVERS_INLINE_BYTES_MAX ((size_t)8 << 10)

struct waivers_input {
	const char *app, *version;
	const struct obj *old; /* spec.upgrade.waivers; NULL: none */
	/* Of all definitions, WAIVERS_MAX at most:
	 * [{rule, resource, path, affected, seen, remedy, waivable, command}]; path is absent where
	 * the waiver needs none, command is a migration that lifts it instead. */
	const struct obj *refusals;
	size_t n_unlisted; /* refusals that are only counted */
};

/* Appends to steps: each migration; where nothing here lifts a finding, the command that shows it;
 * and, unless there is such, the one command that accepts the rest. Returns the waivers of that
 * command without the old ones, owned; empty: there is none. */
struct obj *waivers_steps(const struct waivers_input *in, struct arena *a, struct obj *steps);

/* old without what added has for the same rule, resource and path, then added. Owned. */
struct obj *waivers_join(const struct obj *old, const struct obj *added);
/* {"spec": {"upgrade": {"waivers": list}}}, a merge patch. Owned. */
struct obj *waivers_patch(const struct obj *list);
/* "kubectl patch apptype APP --type=merge -p '...'" */
const char *waivers_command(const char *app, const struct obj *list, struct arena *a);

#endif
