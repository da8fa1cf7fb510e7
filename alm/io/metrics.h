/*
 * metrics: named counters, gauges and histograms, printed as Prometheus text (format 0.0.4).
 *
 * A registry owns its series. A series is found by name and labels and is then a plain number, so
 * counting costs nothing; keep the pointer. Pure: no clock, no I/O.
 *
 *	struct metric *writes = metrics_counter(m, "alm_writes_total", "Writes to the store.",
 *						"verb=\"create\"");
 *	metric_add(writes, 1);
 */
#ifndef ALM_IO_METRICS_H
#define ALM_IO_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/mem.h"
#include "alm/base/strbuf.h"

struct metrics;
struct metric;

#define METRICS_SERIES_MAX 10000 /* further series share one that is not printed */

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
DEFINE_FREEP(metrics)

/* Made at the first call, borrowed until metrics_free(). labels is the text between the braces,
 * with values escaped by metrics_label(); NULL or "": none. help of the first call counts. */
struct metric *metrics_counter(struct metrics *m, const char *name, const char *help,
			       const char *labels);
struct metric *metrics_gauge(struct metrics *m, const char *name, const char *help,
			     const char *labels);
/* A gauge that is set in nanoseconds and printed in seconds. */
struct metric *metrics_seconds(struct metrics *m, const char *name, const char *help);
/* One number of a histogram of seconds, a counter: part is _bucket{le="0.1"}, _count, or _sum,
 * which is counted in nanoseconds. */
struct metric *metrics_histogram(struct metrics *m, const char *name, const char *help,
				 const char *part);
/* One number of a summary without quantiles, a counter: part is _count or _sum, with labels behind
 * it: _sum{phase="Pending"}. A _sum is counted in nanoseconds where seconds is said. */
struct metric *metrics_summary(struct metrics *m, const char *name, const char *help,
			       const char *part, bool seconds);
/* A gauge that is set to the time at which something began, and printed as the seconds since; it
 * stays through metrics_drop(). */
struct metric *metrics_since(struct metrics *m, const char *name, const char *help,
			     const char *labels);
/* What the time is when series of metrics_since() are printed. */
void metrics_set_clock(struct metrics *m, int64_t (*now)(void *arg), void *arg);
/* Appends key="value", with a comma before it unless b is empty. */
void metrics_label(struct strbuf *b, const char *key, const char *value);

/* Forgets one series; its pointer is dead. */
void metrics_forget(struct metrics *m, const char *name, const char *labels);
/* Forgets every gauge whose labels begin with this text; their pointers are dead. */
void metrics_drop(struct metrics *m, const char *prefix);

void metric_add(struct metric *c, uint64_t n); /* counters */
void metric_set(struct metric *g, int64_t v);  /* gauges */
int64_t metric_value(const struct metric *m);

/* Families in order of their names, series in order of their labels. */
void metrics_print(const struct metrics *m, struct strbuf *b);

#endif
