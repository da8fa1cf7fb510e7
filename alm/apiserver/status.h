/*
 * status: how a request fails, as the real server words it (kube-api.md 8.1). Each sets err and the
 * details in r->failure, and returns the negative code.
 */
#ifndef ALM_APISERVER_STATUS_H
#define ALM_APISERVER_STATUS_H

#include "alm/apiserver/request.h"

/* Code and message alone. */
int fail_code(struct request *r, int code, struct error *err, const char *fmt, ...) PRINTF(4, 5);
/* With details {name, group, kind: plural} of the request. */
int fail_not_found(struct request *r, const char *group, const char *plural, const char *name,
		   struct error *err);
/* Of an object whose name may be, or is, a generated one. */
int fail_exists_generated(struct request *r, const char *name, struct error *err);
int fail_exists(struct request *r, const char *name, struct error *err);
/* "Operation cannot be fulfilled on widgets.g "a": WHY". */
int fail_conflict(struct request *r, const char *name, struct error *err, const char *fmt, ...)
	PRINTF(4, 5);
int fail_modified(struct request *r, const char *name, struct error *err);
/* "widgets.g "a" is forbidden: WHY". */
/* What the failure is about: its details. */
void failure_details(struct request *r, const char *name, const char *group, const char *kind);
int fail_forbidden(struct request *r, const char *name, struct error *err, const char *fmt, ...)
	PRINTF(4, 5);
/* "Widget.g "a" is invalid: [...]". */
int fail_invalid(struct request *r, const char *group, const char *kind, const char *name,
		 const struct field_errors *errors, struct error *err);
int fail_invalid_one(struct request *r, const char *group, const char *kind, const char *name,
		     enum field_error_type type, const char *field, struct error *err,
		     const char *fmt, ...) PRINTF(8, 9);
/* "CreateOptions.meta.k8s.io "" is invalid: ...". */
int fail_options(struct request *r, const char *options, enum field_error_type type,
		 const char *field, struct error *err, const char *fmt, ...) PRINTF(6, 7);
int fail_method(struct request *r, const char *verb, struct error *err);

/* "widgets.golden.example.com"; "configmaps" in the core group. */
const char *status_resource(struct arena *a, const char *plural, const char *group);

/* The Status of a failure. */
void status_print(const struct failure *f, const struct error *err, struct strbuf *b);
/* {"kind":"Status",...,"status":"Success","details":{...}} of a deletion. */
void status_print_deleted(const char *name, const char *group, const char *plural, const char *uid,
			  struct strbuf *b);

#endif
