/* test_quantity.c: what a real kube-apiserver 1.36 made of these limits. */
#include <string.h>

#include "alm/obj/quantity.h"
#include "tests/lib/test.h"

static const struct {
	const char *in, *out;
} canonical[] = {
	{"0", "0"},
	{"1", "1"},
	{"01", "01"},
	{"1000", "1k"},
	{"1500", "1500"},
	{"1k", "1k"},
	{"1500k", "1500k"},
	{"1024", "1024"},
	{"1024k", "1024k"},
	{"0.5", "500m"},
	{".5", "500m"},
	{"5.", "5."},
	{"0.0001", "1m"},
	{"1m", "1m"},
	{"1000m", "1"},
	{"1500m", "1500m"},
	{"999999999n", "1"},
	{"1n", "1m"},
	{"0.1n", "1m"},
	{"1.0000000001", "1001m"},
	{"1u", "1m"},
	{"1000u", "1m"},
	{"1Ki", "1Ki"},
	{"1.5Ki", "1536"},
	{"0.5Ki", "512"},
	{"0.5Mi", "512Ki"},
	{"1024Ki", "1Mi"},
	{"1025Ki", "1025Ki"},
	{"1024Mi", "1Gi"},
	{"1.0001Ki", "1024103m"},
	{"0.1Ki", "102400m"},
	{"1Ei", "1Ei"},
	{"8Ei", "9223372036854775807"},
	{"7Ei", "7Ei"},
	{"1E", "1E"},
	{"9E", "9E"},
	{"10E", "10E"},
	{"1e3", "1e3"},
	{"1e0", "1e0"},
	{"12e6", "12e6"},
	{"1000e3", "1e6"},
	{"1E3", "1E3"},
	{"1e-3", "1e-3"},
	{"15e-1", "1500e-3"},
	{"1e2", "100"},
	{"1e20", "100e18"},
	{"1e-10", "1e-3"},
	{"-1", "-1"},
	{"-1.5Gi", "-1536Mi"},
	{"+5", "+5"},
	{"0Mi", "0"},
	{"0e3", "0"},
	{"-0", "0"},
	{"100000000000000000000", "100E"},
	{"9223372036854775807", "9223372036854775807"},
	{"9223372036854775808", "9223372036854775808"},
	{"1023Ki", "1023Ki"},
	{"1x", NULL},
	{"1MM", NULL},
	{"1e", NULL},
	{"1ee", NULL},
	{"1.1.1", NULL},
	{"1K", NULL},
	{"1mi", NULL},
	{"abc", NULL},
	{".", "0"},
	{"-", "0"},
	{"+", "0"},
	{"1e+3", "1e+3"},
	{"1e-", NULL},
	{"1Kii", NULL},
	{"0.0000000001Ki", "1m"},
	{"123456789123456789n", "123456789124m"},
	{"1.123456789123", "1124m"},
	{"3.3Ti", "3628388371660800m"},
	{"1_0", NULL},
	{"1,5", NULL},
	{"", NULL},
	{"m", "0"},
	{"Mi", "0"},
	{"-m", "0"},
	{"1.m", "1.m"},
	{"01Ki", "01Ki"},
	{"010", "010"},
	{"1.0", "1"},
	{"1.50", "1500m"},
	{"0.5e3", "500"},
	{"1 ", "1"},
	{" 1", "1"},
	{"00", "0"},
	{"0.0", "0"},
	{"+01m", "+01m"},
	{"1.5m", "2m"},
	{"5.e3", "5.e3"},
	{"1e18", "1e18"},
	{"1e21", "1e21"},
	{"1e27", "1e27"},
	{"99999999999999999999999999", "99999999999999999999999999"},
	{"1.1E", "1100P"},
	{"-9E", "-9E"},
	{"-8Ei", "-9223372036854775807"},
	{"e3", "0"},
	{".e3", "0"},
	{"0.001", "1m"},
	{"0.010", "10m"},
	{"001000", "1k"},
	{"100m", "100m"},
	{"1.0Ki", "1Ki"},
	{"1.50Ki", "1536"},
	{"+1Gi", "+1Gi"},
	{"012Mi", "012Mi"},
};

static void test_quantity__canonical(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(canonical); i++) {
		char out[QUANTITY_TEXT_MAX] = "";
		const char *fault =
			quantity_canonical(str_of(canonical[i].in), QUANTITY_MILLI, out);
		if (canonical[i].out && (fault || strcmp(out, canonical[i].out) != 0))
			fail_msg("%s: want %s, got %s %s", canonical[i].in, canonical[i].out, out,
				 fault ? fault : "");
		if (!canonical[i].out && !fault)
			fail_msg("%s: want a refusal, got %s", canonical[i].in, out);
	}
}

/* A sum is written as its first part that is not 0. */
static void test_quantity__sums(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b, *want;
	} rows[] = {
		{"500m", "1", "1500m"}, {"0", "1Gi", "1Gi"},   {"1Gi", "1G", "2073741824"},
		{"1", "-2", "-1"},      {"1500m", "0.5", "2"}, {"512Mi", "512Mi", "1Gi"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quantity a, b;
		char out[QUANTITY_TEXT_MAX];
		assert_true(quantity_read(str_of(rows[i].a), &a));
		assert_true(quantity_read(str_of(rows[i].b), &b));
		quantity_add(&a, &b);
		quantity_print(&a, out);
		assert_string_equal(out, rows[i].want);
	}
	struct quantity none;
	assert_false(quantity_read(str_of("1x"), &none));
	assert_false(quantity_read(str_of(""), &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantity__canonical),
		cmocka_unit_test(test_quantity__sums),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
