/*
 * legacy: documents in the form of 2017 (specs/story.md 12) to those of today. A pure function:
 * alm convert, alm create and apply, and the embedded server ask it.
 *
 * Old are: an AppType or InstallStrategy that says its identity in metadata, a
 * CustomResourceDefinition of apiextensions.k8s.io/v1beta1, and an instance in a group whose first
 * label is a version (v1alpha1.etcd.coreos.com). What cannot be said in the new form is refused and
 * named, nothing is dropped in silence: each change has a warning.
 */
#ifndef CRDS_LEGACY_H
#define CRDS_LEGACY_H

#include <stdbool.h>

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define LEGACY_WARNINGS_MAX 16

struct legacy {
	struct obj *o; /* the new form, a copy in the arena; NULL: the document is not old */
	bool is_instance;
	const char *warnings[LEGACY_WARNINGS_MAX]; /* "metadata.type is legacy; stored as ..." */
	size_t n_warnings;
};

/* E_INVALID: an old document that has no new form. */
int legacy_convert(const struct obj *o, struct arena *a, struct legacy *ret, struct error *err);

#endif
