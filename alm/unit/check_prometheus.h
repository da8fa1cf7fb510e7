/*
 * check_prometheus: a query of Prometheus as a success check: what is asked, what an answer means,
 * and when enough was seen. Pure: the answers come from others (alm/sources/prometheus.h).
 *
 *	prometheus:
 *	  address: service://monitoring/prometheus:9090   or https://HOST[:PORT][/PATH]
 *	  query: sum(rate(errors[1m])) / sum(rate(requests[1m]))
 *	  successCondition: result < 0.01                 JSONQL over {result}
 *	  failureCondition: result > 0.05                 absent: what is no success is a failure
 *	  interval: 10s                                   between samples
 *	  count: 3                                        samples; the last one is a success
 *	  failureLimit: 0                                 failures that are taken; one more fails
 *	  noData: Hold                                    or Fail, Pass
 *
 * result is a number for one series (or a scalar), else the list of the numbers. A sample that
 * neither succeeds nor fails counts as one, but is no last one. No data are an answer without a
 * series, one with NaN, and five requests in a row that failed: Hold waits for data, however long,
 * and no time that limits the step goes on meanwhile; Fail and Pass count it as a sample. dryRun
 * measures as long, and decides nothing: no data are a sample, and its time ends it as enough does.
 *
 * An answer is hostile: another form than an instant vector or a scalar of at most
 * PROMETHEUS_SERIES_MAX numbers is a request that failed.
 */
#ifndef ALM_UNIT_CHECK_PROMETHEUS_H
#define ALM_UNIT_CHECK_PROMETHEUS_H

#include "alm/base/clock.h"
#include "alm/obj/query/jsonql.h"

#define PROMETHEUS_ADDRESS_MAX  1024
#define PROMETHEUS_QUERY_MAX    4096 /* bytes */
#define PROMETHEUS_SERIES_MAX   20
#define PROMETHEUS_COUNT_MAX    1000 /* samples, failures */
#define PROMETHEUS_INTERVAL_MIN NS_PER_S
#define PROMETHEUS_ERRORS       5               /* in a row are no data */
#define PROMETHEUS_UNASKED_NS   (20 * NS_PER_S) /* behind the next question: nobody asks any more */
#define PROMETHEUS_VALUES_TOLD  10              /* the last */
#define PROMETHEUS_ANSWER_MAX   ((size_t)1 << 20)

enum prometheus_no_data { NO_DATA_HOLD, NO_DATA_FAIL, NO_DATA_PASS };

struct prometheus {
	const char *address; /* as written, without slashes at its end */
	/* Of service://NS/NAME:PORT, through the API server; else NULL. */
	const char *ns, *service;
	const char *query;
	const char *success_text, *failure_text; /* NULL: not asked */
	struct jsonql *success, *failure;
	int64_t interval_ns, count, failure_limit;
	enum prometheus_no_data no_data;
	bool dry_run;
	const char *secret; /* of alm-system, with its token; NULL: none */
};

/* Of the map at field; E_INVALID, E_LIMIT begin with the field. Arena; borrows o. */
int prometheus_parse(const struct obj *o, const char *field, struct arena *a,
		     struct prometheus **ret, struct error *err);
/* How long all samples take that it wants at least, from the first one on. */
int64_t prometheus_span_ns(const struct prometheus *p);

/* What one request gave. */
struct prometheus_sample {
	const struct obj *result; /* a number or a list of them; NULL: no data */
	const char *text;         /* "0.5", "[0.1,2]"; else what there is instead; arena */
	bool failed;              /* the request: text has its error */
};
/* Of the body of an answer with status 200. Never fails: what is no answer is a failed request. */
void prometheus_read(struct str body, struct arena *a, struct prometheus_sample *ret);

/*
 * How far it is, as small JSON that can be stored: {"taken", "failed", "errors": in a row, "last":
 * success|failure|inconclusive|no data, "values": [texts], "why": of what is no data, "heldNs",
 * "heldSinceNs", "nextNs"}. NULL: nothing was asked yet.
 */
enum prometheus_end { PROMETHEUS_GOES_ON, PROMETHEUS_HELD, PROMETHEUS_PASSED, PROMETHEUS_FAILED };

/* One more sample, into state, a map. */
void prometheus_take(const struct prometheus *p, const struct prometheus_sample *sample,
		     int64_t now_ns, struct obj *state);
/* ret_text, arena: what was measured, and what is missing. */
enum prometheus_end prometheus_look(const struct prometheus *p, const struct obj *state,
				    struct arena *a, const char **ret_text);
/* Of a map of states: for how long the one of them that had none for longest had no data, in all; only while
 * somebody asks ("nextNs": when that is to be next). */
int64_t prometheus_all_held_ns(const struct obj *metrics, int64_t now_ns);

#endif
