/*
 * helm_release: releases that the real helm made (charts.md 10.1, 10.2). A strategy whose release
 * name and namespace are those of one takes it over: the revision goes on, Helm's records join
 * ours, fields that helm managed become ours, and what its manifest had beyond the chart is deleted
 * at the end. Pure.
 */
#ifndef ALM_CONTROLLERS_APP_HELM_RELEASE_H
#define ALM_CONTROLLERS_APP_HELM_RELEASE_H

#include "alm/controllers/app/install_plan.h"

/* The question for ask_work: all records of the release. Owned. */
struct obj *helm_release_question(const char *release, const char *ns);

struct helm_release {
	int64_t revision; /* of the newest record; 0: there is none */
	bool is_ours;     /* ... and ALM wrote it: it has an owner, which helm's writes lose */
	const char *status;
	int64_t changed_ns; /* of the newest; 0: not reported */
	/* What runs: the newest that was deployed, else the newest that failed. helm's alone. */
	const struct obj *config;     /* values of the user, or NULL */
	const char *chart, *manifest; /* NULL: it is ours, or cannot be read, or there is none */
	const char *unreadable;       /* why what runs cannot be told; NULL: it can */
	int64_t runs;                 /* its revision */
};
/* answer: what ask_work brought. E_UNAVAILABLE: the server did not tell; E_LIMIT: the records are
 * too much to read. */
int helm_release_read(const struct obj *answer, struct arena *a, struct helm_release *ret,
		      struct error *err);

/* A merge patch that gives the object our label and what "helm" manages to us; owned. */
struct obj *helm_adoption(const struct obj *live, const char *app);
/* [{"apiVersion", "kind", "namespace", "name"}] of a manifest that the install plan lacks; what is
 * to be kept is left out. Owned. */
struct obj *helm_leftovers(const char *manifest, const struct obj *doc);

#endif
