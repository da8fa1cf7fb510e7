/*
 * bundle_instances: spec.instances of a Bundle: parts of it, each the objects below a folder of the tree,
 * applied as listed, but for what `needs` puts before, each ready before the next begins (fleet.md 4.1; one after the
 * other also where two need nothing of each other). What is below none of these
 * folders comes first. Pure. Texts are borrowed from the object.
 *
 * All of a Bundle is one unit: what moves from one instance to another is neither deleted nor made
 * anew; what left an instance, and an instance that left the Bundle, go last, when all that is wanted is
 * ready; and a revision that fails is rolled back as a whole.
 *
 * Errors are E_INVALID and begin with the field: "spec.instances[0].name: ...".
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_INSTANCES_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_INSTANCES_H

#include "alm/unit/flat.h"

struct bundle_scopes;
struct bundle_spec;

int bundle_instances_read(const struct obj *bundle, struct arena *a, struct flat_instances *ret,
			  struct error *err);
/* Objects of an instance get its namespace, where their kind has one. Of a kind that nobody knows, one
 * that names none is refused, or told (scopes->unsure). DuplicateObject: a cluster-scoped object that
 * two of them have. */
int bundle_instances_place(const struct bundle_spec *b, struct flat *f,
			   const struct bundle_scopes *scopes, struct error *err);

#endif
