/*
 * inplace: a package that stands in its AppType (spec.resources, spec.operator) instead of in a catalog. ALM keeps
 * a Catalog for it, apptype-NAME, whose source is apptype://NAME and whose spec.inPlace has these fields (as
 * JSON in .package) with a version of their own; the chart that is made of it goes every way that a chart from elsewhere goes:
 * resolver, CRD gate, rollback, inventory, audit log. The CRDs are those of the chart; an operator is its subchart,
 * named by digest, so the same fields always give the same bytes. One that the AppType names by a tag is looked
 * up each INPLACE_TAG_NS, and at each start: another digest is another version.
 *
 * Pure. The version is 1.0.N, N the AppType's generation in which the fields changed last, or one more than the
 * version before if that is higher, as after a tag has moved.
 */
#ifndef ALM_SOURCES_INPLACE_H
#define ALM_SOURCES_INPLACE_H

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define INPLACE_URL           "apptype://"
#define INPLACE_NAMESPACE     "alm-system" /* of credentials */
#define INPLACE_TAG_NS        (300 * NS_PER_S)
#define INPLACE_RESOURCES_MAX 64
#define INPLACE_OUTPUTS_MAX   64
#define INPLACE_BYTES_MAX     ((size_t)4 << 20)

/* Has the AppType a package of its own? */
bool inplace_is(const struct obj *apptype);
/* What is wrong with it, "spec.resources[0].name: ..."; NULL: nothing. */
const char *inplace_problem(const struct obj *apptype, struct arena *a);
/* Name of its Catalog. */
const char *inplace_catalog_name(const char *app, struct arena *a);
/* "oci://HOST/NAME:TAG" of an operator that is named by a tag alone, for which inplace_of() takes a digest; else NULL. */
const char *inplace_tag(const struct obj *apptype, struct arena *a);
/* spec.inPlace for the AppType, owned; the one that is there (may be NULL) gives the version if nothing differs.
 * digest: what inplace_tag() stands for, 64 hex digits; NULL: not known, and the Catalog tells why. */
struct obj *inplace_of(const struct obj *apptype, const char *self_ref, const char *digest,
		       const struct obj *former);

/* The CRD of one of spec.resources, which inplace_problem() has accepted; owned. */
struct obj *inplace_crd(const struct obj *resource, const char *self_ref);
/* *ret is "oci://HOST/NAME@sha256:..." of the operator's chart; NULL: there is none. E_INVALID: spec.inPlace cannot be read. */
int inplace_operator(const struct obj *inplace, struct arena *a, const char **ret,
		     struct error *err);
/* The chart of a spec.inPlace, with the archive of its operator (empty: there is none). E_INVALID names the field. */
int inplace_archive(const struct obj *inplace, struct str operator_chart, struct strbuf *b,
		    struct error *err);

#endif
