/* row_text: one row of the log for people (audit.md 10). Pure. */
#ifndef ALM_AUDIT_ROW_TEXT_H
#define ALM_AUDIT_ROW_TEXT_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

/* Microseconds since 1970; a row may say anything, so: within the years that clock.h can tell. */
int64_t row_time_us(const struct obj *row);
/* RFC 3339 in UTC; micros: with six digits. */
void row_time(const struct obj *row, bool micros, struct strbuf *b);
/* "#118 08:21:07 Transition Installed 0.9.6"; with the day if with_date: "2030-01-02T08:21:07Z". */
void row_head(const struct obj *row, bool with_date, struct strbuf *b);
/* What the columns do not say: 'alice (admission, kubectl 10.0.0.7) "CHG-4711", plan 91aa03c4'.
 * plan is what query_plan() found, cause the row that it names; both may be NULL. */
void row_detail(const struct obj *row, const struct obj *plan, const struct obj *cause,
		struct strbuf *b);
/* The same beside a column with the subject, which it does not say again. */
void row_detail_beside(const struct obj *row, const struct obj *plan, const struct obj *cause,
		       struct strbuf *b);
/* Is it a transition whose message is but its plan, which body.plan has? */
bool row_tells_plan(const struct obj *row);
/* "AppType/etcd", "EtcdCluster/default/purple"; a cluster in front: "eu:AppType/etcd". */
void row_subject(const struct obj *row, struct strbuf *b);
/* "alice (claimed by manager kubectl-edit)"; "ALM" without actor. */
void row_who(const struct obj *row, struct strbuf *b);
/* "41 s", "3 h 12 min" */
void row_span(int64_t us, struct strbuf *b);

#endif
