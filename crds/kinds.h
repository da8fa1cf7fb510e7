/*
 * kinds: the table of ALM's own kinds.
 *
 * To add a kind: X.yaml (its CustomResourceDefinition), X.h and X.c (decode table), a row in
 * kinds.c, a valid and an invalid manifest that a test reads.
 */
#ifndef CRDS_KINDS_H
#define CRDS_KINDS_H

#include <stdbool.h>
#include <stddef.h>

struct crd_kind {
	const char *group, *version, *kind, *plural, *singular;
	bool namespaced;
	const char *yaml; /* the CustomResourceDefinition */
};

extern const struct crd_kind kind_apptype, kind_strategy, kind_catalog, kind_rollout, kind_bundle,
	kind_cluster;

/* All of them, in the order in which they are applied. */
extern const struct crd_kind *const crd_kinds[];
extern const size_t n_crd_kinds;

/* NULL if it is none of ours. */
const struct crd_kind *crd_kind_find(const char *group, const char *kind);

/* A group of ALM's own: one of the table, or below app.coreos.com. */
bool crd_group_is_ours(const char *group);
/* Ours, or kept for Kubernetes itself: k8s.io, kubernetes.io and all below them, and groups without
 * a dot (apps, batch). */
bool crd_group_is_reserved(const char *group);

#endif
