#include "alm/io/loop_measure.h"

#include "alm/base/clock.h"

#define NAME "alm_loop_turn_seconds"
#define HELP "CPU time of a turn of the event loop; nobody else is served meanwhile."

static const struct {
	int64_t ns;
	const char *part;
} buckets[] = {
	{NS_PER_MS, "_bucket{le=\"0.001\"}"},     {5 * NS_PER_MS, "_bucket{le=\"0.005\"}"},
	{10 * NS_PER_MS, "_bucket{le=\"0.01\"}"}, {20 * NS_PER_MS, "_bucket{le=\"0.02\"}"},
	{50 * NS_PER_MS, "_bucket{le=\"0.05\"}"}, {100 * NS_PER_MS, "_bucket{le=\"0.1\"}"},
	{200 * NS_PER_MS, "_bucket{le=\"0.2\"}"}, {500 * NS_PER_MS, "_bucket{le=\"0.5\"}"},
	{INT64_MAX, "_bucket{le=\"+Inf\"}"},
};

struct loop_measure {
	struct metric *buckets[ARRAY_LEN(buckets)], *sum, *count, *longest;
};

struct loop_measure *loop_measure_new(struct metrics *m)
{
	struct loop_measure *l = xcalloc(1, sizeof(*l));
	for (size_t i = 0; i < ARRAY_LEN(buckets); i++)
		l->buckets[i] = metrics_histogram(m, NAME, HELP, buckets[i].part);
	l->sum = metrics_histogram(m, NAME, HELP, "_sum");
	l->count = metrics_histogram(m, NAME, HELP, "_count");
	l->longest = metrics_seconds(m, "alm_loop_longest_turn_seconds",
				     "CPU time of the longest turn of the event loop so far.");
	return l;
}

void loop_measure_free(struct loop_measure *l)
{
	xfree(l);
}

void loop_measure_turn(struct loop_measure *l, int64_t cpu_ns)
{
	for (size_t i = 0; i < ARRAY_LEN(buckets); i++)
		if (cpu_ns <= buckets[i].ns)
			metric_add(l->buckets[i], 1);
	metric_add(l->sum, (uint64_t)cpu_ns);
	metric_add(l->count, 1);
	if (cpu_ns > metric_value(l->longest))
		metric_set(l->longest, cpu_ns);
}
