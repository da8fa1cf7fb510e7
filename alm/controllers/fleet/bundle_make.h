/*
 * bundle_make: what was rendered of a Bundle's tree is judged by its rules and made a unit: by the
 * controller, and by `alm bundle`, which tells the same before the push. Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_MAKE_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_MAKE_H

#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/unit/unit_make.h"

struct bundle_made {
	struct flat flat;
	struct unit *unit;
};

/* rendered: of the job of the sandbox, kept by who asks as long as the arena. o->ns is ignored, the
 * spec has it. flaws: all that is wrong is put there, and the result is 0; NULL: the first one is
 * the error. */
int bundle_make(const struct bundle_spec *spec, const struct obj *rendered,
		const struct bundle_scopes *scopes, const struct unit_options *o, struct arena *a,
		struct flaws *flaws, struct bundle_made *ret, struct error *err);

#endif
