/*
 * kinds: the table of ALM's own kinds.
 *
 * To add a kind: X.yaml (its CustomResourceDefinition), a row in kinds.c, a line in
 * tests/lint/crd_fields.py, an example in tests/e2e/examples, and the controller that acts on it: a
 * kind without one is not installed.
 */
#ifndef CRDS_KINDS_H
#define CRDS_KINDS_H

#include <stdbool.h>
#include <stddef.h>

struct carried_text;

struct crd_kind {
	const char *group, *version, *kind, *plural, *singular;
	bool namespaced;
	const struct carried_text *yaml; /* the CustomResourceDefinition */
};

/* All of them, in the order in which they are applied. */
extern const struct crd_kind *const crd_kinds[];
extern const size_t n_crd_kinds;

/* A group of ALM's own: one of the table, or below app.coreos.com. */
bool crd_group_is_ours(const char *group);
/* Ours, or kept for Kubernetes itself: k8s.io, kubernetes.io and all below them, and groups without
 * a dot (apps, batch). */
bool crd_group_is_reserved(const char *group);

#endif
