/*
 * gate_case: definitions and objects of the gate's tests from a short form in YAML. A side is the
 * schema of spec.x of one served and stored version v1, or a map with "versions":
 *
 *	versions: [{name: v1, x: SCHEMA or root: WHOLE SCHEMA, served: false, ...}, ...]
 *	stored: [v1]         status.storedVersions; without: the first version, which is the storage
 *	annotations: {...}   scope, names, conversion and anything else: as in the spec
 *	managed: [v1]        for gate_input
 *
 * An object is the value of spec.x, or a map with "metadata" that is laid over it.
 * Everything lives in the arena.
 */
#ifndef TESTS_LIB_GATE_CASE_H
#define TESTS_LIB_GATE_CASE_H

#include "alm/obj/obj.h"
#include "catalog/gate/gate.h"

struct obj *gate_case_crd(struct arena *a, const struct obj *side);
struct obj *gate_case_object(struct arena *a, const struct obj *value);
/* plural.group/version of what the side manages. */
size_t gate_case_managed(struct arena *a, const struct obj *side, const char *const **ret);

/* A list in a YAML file under tests/golden/gate; fails the test on errors. */
const struct obj *gate_case_file(struct arena *a, const char *name);
const char *gate_case_text(struct arena *a, const struct obj *o);

/* Is all of x in y? Defaults may have joined. */
bool gate_case_keeps(const struct obj *x, const struct obj *y);

/* Every finding as "RULE@PATH", joined by blanks, or "-". */
const char *gate_case_findings(struct arena *a, const struct gate *g);
const char *gate_case_outcome(const struct gate *g);

#endif
