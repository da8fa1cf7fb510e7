/*
 * resolve_doc: what a resolution says, as objects and as text. The fields of AppType.status are
 * made here, and `alm why` prints from them: live, offline and of a recorded decision alike.
 */
#ifndef CATALOG_RESOLVE_RESOLVE_DOC_H
#define CATALOG_RESOLVE_RESOLVE_DOC_H

#include "alm/base/strbuf.h"
#include "catalog/resolve/resolve.h"

/* Candidates newer than what is installed that are told the way out, the newest first. */
#define DOC_RELAXED_MAX 8

/* Sets path, availableVersion, candidates and candidatesOmitted of a status, and removes those that
 * do not apply. always: a version that is listed with its way out whatever the limits, or NULL. */
void resolve_set_status(const struct resolve_input *in, const struct resolution *r,
			const char *always, struct arena *a, struct obj *status);

/* An AppType with as much of spec and status as resolve_print() reads. Owned. */
struct obj *resolve_doc(const struct resolve_input *in, const struct resolution *r,
			const char *always, struct arena *a);

/* `alm why` of an AppType; revision of its catalog and seq of the decision may be NULL. wide: lower
 * versions one by one. */
void resolve_print(const struct obj *apptype, const char *revision, const char *seq, bool wide,
		   struct strbuf *b);
/* `alm why-not`: "1.0.0 is not installable: ... It would be after ...". wide: with kubectl too. */
void resolve_print_refusal(const struct obj *apptype, const struct obj *candidate, bool wide,
			   struct strbuf *b);
const struct obj *resolve_doc_candidate(const struct obj *apptype, const char *version);

#endif
