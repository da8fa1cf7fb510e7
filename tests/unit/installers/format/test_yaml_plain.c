#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "installers/format/yaml_plain.h"

static const struct {
	const char *text;
	enum yaml_plain_type type; /* STR: it is nothing else */
	bool is_unsigned;
	int64_t i;
	double f;
} rows[] = {
	{"", YAML_PLAIN_NULL, false, 0, 0},
	{"~", YAML_PLAIN_NULL, false, 0, 0},
	{"null", YAML_PLAIN_NULL, false, 0, 0},
	{"nul", YAML_PLAIN_STR, false, 0, 0},
	{"0", YAML_PLAIN_INT, false, 0, 0},
	{"+1", YAML_PLAIN_INT, false, 1, 0},
	{"9223372036854775807", YAML_PLAIN_INT, false, INT64_MAX, 0},
	{"+9223372036854775807", YAML_PLAIN_INT, false, INT64_MAX, 0},
	{"9223372036854775808", YAML_PLAIN_INT, true, INT64_MIN, 0},
	{"+9223372036854775808", YAML_PLAIN_FLOAT, false, 0, 9223372036854775808.0},
	{"-9223372036854775807", YAML_PLAIN_INT, false, -INT64_MAX, 0},
	{"-9223372036854775808", YAML_PLAIN_INT, false, INT64_MIN, 0},
	{"-9223372036854775809", YAML_PLAIN_FLOAT, false, 0, -9223372036854775808.0},
	{"18446744073709551615", YAML_PLAIN_INT, true, -1, 0},
	{"18446744073709551616", YAML_PLAIN_FLOAT, false, 0, 18446744073709551616.0},
	{"0x7f", YAML_PLAIN_INT, false, 127, 0},
	{"-0x8000000000000000", YAML_PLAIN_INT, false, INT64_MIN, 0},
	{"+0x8000000000000000", YAML_PLAIN_STR, false, 0, 0},
	{"0x", YAML_PLAIN_STR, false, 0, 0},
	{"0b101", YAML_PLAIN_INT, false, 5, 0},
	{"0b102", YAML_PLAIN_STR, false, 0, 0},
	{"0o17", YAML_PLAIN_INT, false, 15, 0},
	{"017", YAML_PLAIN_INT, false, 15, 0},
	{"018", YAML_PLAIN_FLOAT, false, 0, 18},
	{"1_000", YAML_PLAIN_INT, false, 1000, 0},
	{"1.5", YAML_PLAIN_FLOAT, false, 0, 1.5},
	{"-1.5e3", YAML_PLAIN_FLOAT, false, 0, -1500},
	{"1e", YAML_PLAIN_STR, false, 0, 0},
	{"1e+", YAML_PLAIN_STR, false, 0, 0},
	{"1e400", YAML_PLAIN_STR, false, 0, 0},
	{".5", YAML_PLAIN_FLOAT, false, 0, .5},
	{".", YAML_PLAIN_STR, false, 0, 0},
	{"-", YAML_PLAIN_STR, false, 0, 0},
	{"1.5.1", YAML_PLAIN_STR, false, 0, 0},
	{"a1", YAML_PLAIN_STR, false, 0, 0},
	{"5", YAML_PLAIN_INT, false, 5, 0},
};

static bool resolve(struct str s, struct yaml_plain *ret)
{
	*ret = (struct yaml_plain){.type = YAML_PLAIN_STR, .s = s};
	return yaml_plain_resolve(s, ret);
}

static void test_yaml_plain__each_text_is_what_go_reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct yaml_plain p;
		bool other = resolve(str_of(rows[i].text), &p);
		if (other != (rows[i].type != YAML_PLAIN_STR) || p.type != rows[i].type ||
		    (p.type == YAML_PLAIN_INT &&
		     (p.i != rows[i].i || p.is_unsigned != rows[i].is_unsigned)) ||
		    (p.type == YAML_PLAIN_FLOAT && (p.f < rows[i].f || p.f > rows[i].f)))
			fail_msg("%s: %d %lld %g", rows[i].text, p.type, (long long)p.i, p.f);
	}
}

static const struct {
	const char *text;
	bool is;
} dates[] = {
	{"2001-01-01", true},  {"2001-1-1", true},    {"2001-12-31T00:00:00Z", true},
	{"2001-123-1", false}, {"2001-1-123", false}, {"201-1-1", false},
	{"20011-1-1", false},  {"2001-1", false},     {"2001-1-", false},
	{"2001--1", false},    {"2001-1-1x", true},   {"", false},
};

static void test_yaml_plain__dates_begin_with_a_day(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(dates); i++)
		if (yaml_plain_is_date(str_of(dates[i].text)) != dates[i].is)
			fail_msg("%s", dates[i].text);
}

/* Only what the text says is read, not the bytes behind it. */
static uint64_t bits(double d) /* also of what is no number */
{
	uint64_t u;
	memcpy(&u, &d, sizeof(u));
	return u;
}

static void test_yaml_plain__a_text_ends_where_it_ends(void **state)
{
	(void)state;
	static const char behind[] = "1-.eExX_+:aull~ ";
	for (size_t i = 0; i < ARRAY_LEN(rows) + ARRAY_LEN(dates); i++) {
		bool is_date = i >= ARRAY_LEN(rows);
		struct str exact = str_of(is_date ? dates[i - ARRAY_LEN(rows)].text : rows[i].text);
		struct yaml_plain want, got;
		bool date = yaml_plain_is_date(exact), other = resolve(exact, &want);
		for (size_t k = 0; k < sizeof(behind) - 1; k++) {
			char text[64];
			(void)snprintf(text, sizeof(text), "%.*s%s", STR_ARG(exact), behind + k);
			struct str s = str_n(text, exact.len);
			if (yaml_plain_is_date(s) != date || resolve(s, &got) != other ||
			    got.type != want.type || got.i != want.i || bits(got.f) != bits(want.f))
				fail_msg("%.*s before %s", STR_ARG(exact), behind + k);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml_plain__each_text_is_what_go_reads),
		cmocka_unit_test(test_yaml_plain__dates_begin_with_a_day),
		cmocka_unit_test(test_yaml_plain__a_text_ends_where_it_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
