#include "alm/io/loop_measure.h"

#include <stdio.h>

#include "tests/lib/test.h"

static void test_metrics__prints_families_and_series_in_order(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf label = STRBUF_INIT(STRBUF_SMALL);
	metric_add(metrics_counter(m, "b_total", "Bs.", "verb=\"x\""), 2);
	metric_add(metrics_counter(m, "b_total", "Bs.", "verb=\"a\""), 1);
	metric_add(metrics_counter(m, "b_total", "Bs.", "verb=\"x\""), 3);
	metric_set(metrics_gauge(m, "a", "An a.", NULL), -4);
	metrics_print(m, &b);
	assert_string_equal(b.buf, "# HELP a An a.\n# TYPE a gauge\na -4\n"
				   "# HELP b_total Bs.\n# TYPE b_total counter\n"
				   "b_total{verb=\"a\"} 1\nb_total{verb=\"x\"} 5\n");
	metrics_label(&label, "k", "a\"b\\c\nd");
	metrics_label(&label, "l", "");
	assert_string_equal(label.buf, "k=\"a\\\"b\\\\c\\nd\",l=\"\"");
}

/* Of one app among others whose names begin alike; a name with a quote; a family that is left empty. */
static void test_metrics__drops_the_gauges_of_a_label(void **state)
{
	(void)state;
	static const char *const labels[] = {"app=\"a\"", "app=\"a\",version=\"1\"", "app=\"ab\"",
					     "app=\"a\\\"b\",version=\"1\"",
					     "version=\"1\",app=\"a\""};
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		metric_set(metrics_gauge(m, "g", "G.", labels[i]), 1);
	metric_set(metrics_gauge(m, "h", "H.", labels[1]), 1);
	metric_add(metrics_counter(m, "t", "T.", labels[0]), 1);
	metrics_drop(m, "app=\"a\",");
	metrics_print(m, &b);
	assert_string_equal(b.buf, "# HELP g G.\n# TYPE g gauge\ng{app=\"a\"} 1\n"
				   "g{app=\"a\\\"b\",version=\"1\"} 1\ng{app=\"ab\"} 1\n"
				   "g{version=\"1\",app=\"a\"} 1\n"
				   "# HELP t T.\n# TYPE t counter\nt{app=\"a\"} 1\n");
	metrics_drop(m, "app=\"a\\\"b\"");
	metrics_drop(m, "app=\"a\"");
	metrics_forget(m, "g", labels[2]);
	strbuf_clear(&b);
	metrics_print(m, &b);
	assert_string_equal(b.buf, "# HELP g G.\n# TYPE g gauge\ng{version=\"1\",app=\"a\"} 1\n"
				   "# HELP t T.\n# TYPE t counter\nt{app=\"a\"} 1\n");
}

static void test_metrics__the_number_of_series_is_bounded(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	char labels[32];
	for (int i = 0; i < METRICS_SERIES_MAX + 5; i++) {
		snprintf(labels, sizeof(labels), "i=\"%d\"", i);
		metric_add(metrics_counter(m, "c", "C.", labels), 1);
	}
	assert_int_equal(metric_value(metrics_counter(m, "d", "D.", NULL)), 5);
}

static void test_metrics__turns_of_a_loop(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct loop_measure *l = loop_measure_new(m);
	loop_measure_turn(l, 300000);
	loop_measure_turn(l, 20 * 1000000);
	loop_measure_turn(l, 1500000000);
	metrics_print(m, &b);
	loop_measure_free(l);
	static const char *const want[] = {
		"# TYPE alm_loop_turn_seconds histogram\n",
		"alm_loop_turn_seconds_bucket{le=\"0.001\"} 1\n",
		"alm_loop_turn_seconds_bucket{le=\"0.01\"} 1\n",
		"alm_loop_turn_seconds_bucket{le=\"0.02\"} 2\n",
		"alm_loop_turn_seconds_bucket{le=\"0.5\"} 2\n",
		"alm_loop_turn_seconds_bucket{le=\"+Inf\"} 3\n",
		"alm_loop_turn_seconds_count 3\nalm_loop_turn_seconds_sum 1.520300000\n",
		"alm_loop_longest_turn_seconds 1.500000000\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		if (!str_contains(strbuf_str(&b), str_of(want[i])))
			fail_msg("%s is not in %s", want[i], b.buf);
}

static int64_t told_time(void *arg)
{
	return *(const int64_t *)arg;
}

/* Printed as what has passed by then; no clock, nothing has; what is dropped with a label stays. */
static void test_metrics__a_time_is_printed_as_what_has_passed(void **state)
{
	static const struct {
		int64_t began, now;
		const char *want;
	} rows[] = {{0, 1500000000, "1.500000000"},
		    {1000000000, 1000000000, "0.000000000"},
		    {2000000000, 63000000001, "61.000000001"}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(metrics_freep) struct metrics *m = metrics_new();
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		int64_t now = rows[i].now;
		char want[128];
		metric_set(metrics_since(m, "s", "S.", "app=\"a\""), rows[i].began);
		metrics_print(m, &b);
		assert_string_equal(b.buf,
				    "# HELP s S.\n# TYPE s gauge\ns{app=\"a\"} 0.000000000\n");
		metrics_set_clock(m, told_time, &now);
		metrics_drop(m, "app=\"a\"");
		strbuf_clear(&b);
		metrics_print(m, &b);
		snprintf(want, sizeof(want), "# HELP s S.\n# TYPE s gauge\ns{app=\"a\"} %s\n",
			 rows[i].want);
		assert_string_equal(b.buf, want);
	}
}

/* Sums of seconds and of other things, each with its own words. */
static void test_metrics__parts(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	metric_set(metrics_summary(m, "a", "A.", "_sum", true), 1500000000);
	metric_set(metrics_summary(m, "a", "A.", "_count", false), 3);
	metric_set(metrics_histogram(m, "b", "B.", "_sum"), 2500000000);
	metric_set(metrics_histogram(m, "b", "B.", "_count"), 4);
	metric_set(metrics_seconds(m, "c", "C."), 500000000);
	metrics_print(m, &b);
	assert_string_equal(b.buf, "# HELP a A.\n# TYPE a summary\na_count 3\na_sum 1.500000000\n"
				   "# HELP b B.\n# TYPE b histogram\nb_count 4\nb_sum 2.500000000\n"
				   "# HELP c C.\n# TYPE c gauge\nc 0.500000000\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics__turns_of_a_loop),
		cmocka_unit_test(test_metrics__prints_families_and_series_in_order),
		cmocka_unit_test(test_metrics__drops_the_gauges_of_a_label),
		cmocka_unit_test(test_metrics__the_number_of_series_is_bounded),
		cmocka_unit_test(test_metrics__a_time_is_printed_as_what_has_passed),
		cmocka_unit_test(test_metrics__parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
