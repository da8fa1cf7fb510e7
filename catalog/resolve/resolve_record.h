/*
 * resolve_record: what a decision read, so that it can be made again (lifecycle.md 2.1). Of a
 * catalog only the packages that were touched, of the cluster only what was asked, with the answer.
 */
#ifndef CATALOG_RESOLVE_RESOLVE_RECORD_H
#define CATALOG_RESOLVE_RESOLVE_RECORD_H

#include "catalog/resolve/resolve.h"

#define RESOLVE_RECORD_VERSIONS_MAX 2000

/* The texts of an input, which a record has under the same names: one list, or a new one is written
 * and never read back. */
/* clang-format off */
#define RESOLVE_TEXTS(X)                                                                      \
	X(app) X(self_ref) X(package) X(catalog) X(channel) X(range) X(to) X(restore)         \
	X(installed_version) X(installed_package) X(installed_catalog) X(installed_digest)    \
	X(values_digest) X(kube_version) X(mode) X(evaluate) X(unreadable)          \
	X(unsupported)
/* clang-format on */

/* Resolves once more with an eye on every question. Owned; NULL if it touched more versions than
 * RESOLVE_RECORD_VERSIONS_MAX. */
struct obj *resolve_record(const struct resolve_input *in, struct arena *a);
/* The input as it was; it borrows from the record. E_INVALID names the field. */
int resolve_replay(const struct obj *record, struct arena *a, struct resolve_input *ret,
		   struct error *err);

#endif
