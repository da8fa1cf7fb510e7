/* job_check: Jobs and CronJobs (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_JOB_CHECK_H
#define ALM_APISERVER_KINDS_JOB_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_job(struct field_errors *e, const struct obj *o);
void check_cron_job(struct field_errors *e, const struct obj *o);
/* What of a Job stays as it was made. */
void job_kept(struct field_errors *e, const struct obj *now, const struct obj *then);
void check_job_status(struct field_errors *e, const struct obj *o);
/* And of its status: Pods that ended stay so, and so does a Job. */
void job_status_kept(struct field_errors *e, const struct obj *now, const struct obj *then);
/* What a Pod that failed, or succeeded, means for its Job, of whose spec at path. */
void job_check_policies(struct field_errors *e, const char *path, const struct obj *spec);
/* What is wrong with "0-3,7" of a Job of so many completions; NULL, and how many indexes it has. */
const char *job_indexes_fault(struct field_errors *e, const char *text, int64_t completions,
			      int64_t *ret);
/* The first index that is in both, as far as they are right; -1: there is none. */
int64_t job_indexes_overlap(struct field_errors *e, const char *a, const char *b,
			    int64_t completions);

#endif
