/*
 * test_zone.c: time zones against those of libc, which reads the same bytes: random files with random rules for what
 * comes after their last change, asked around each change and at any time.
 */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alm/base/arena.h"
#include "alm/base/file.h"
#include "installers/value/date.h"

#define ZONES      400
#define TIMES_MAX  12
#define TYPES_MAX  4
#define FROM       (-((int64_t)2 << 30)) /* 1901 */
#define RULES_FROM 63072000              /* 1972: before it libc has no rules */
#define UNTIL      ((int64_t)5 << 30)    /* 2140 */

static uint64_t prng;
static char path[] = "/tmp/alm-zone-XXXXXX";

static uint64_t below(uint64_t n)
{
	prng ^= prng << 13;
	prng ^= prng >> 7;
	prng ^= prng << 17;
	return prng % n;
}

static int64_t any_time(void)
{
	return FROM + (int64_t)below((uint64_t)(UNTIL - FROM));
}

struct made {
	struct strbuf b;
	int64_t at[TIMES_MAX];
	size_t n_at, n_types, n_leap, n_std;
	char rule[160];
};

static void put(struct strbuf *b, int64_t v, size_t bytes)
{
	while (bytes--)
		strbuf_addc(b, (char)(bytes < 8 ? (uint64_t)v >> (8 * bytes) : 0));
}

static void put_header(struct made *m, char version, size_t n_at, size_t n_types, size_t n_chars)
{
	strbuf_adds(&m->b, "TZif");
	strbuf_addc(&m->b, version);
	put(&m->b, 0, 15);
	put(&m->b, m->n_std ? (int64_t)n_types : 0, 4);
	put(&m->b, m->n_std ? (int64_t)n_types : 0, 4);
	put(&m->b, 0, 4);
	put(&m->b, (int64_t)n_at, 4);
	put(&m->b, (int64_t)n_types, 4);
	put(&m->b, (int64_t)n_chars, 4);
}

static void choose_change(char *to, size_t n)
{
	char time[16] = "";
	int h = (int)below(26) - 1;
	if (below(2))
		(void)snprintf(time, sizeof(time), below(2) ? "/%d" : "/%d:%d:%d", h,
			       (int)below(60), (int)below(60));
	switch (below(4)) {
	case 0:
		(void)snprintf(to, n, ",J%d%s", 1 + (int)below(365), time);
		break;
	case 1:
		(void)snprintf(to, n, ",%d%s", (int)below(365), time);
		break;
	default:
		(void)snprintf(to, n, ",M%d.%d.%d%s", 1 + (int)below(12), 1 + (int)below(5),
			       (int)below(7), time);
	}
}

static void choose_rule(struct made *m)
{
	char start[32], end[32], summer[16] = "";
	choose_change(start, sizeof(start));
	choose_change(end, sizeof(end));
	if (below(2))
		(void)snprintf(summer, sizeof(summer), "%d:30", -(int)below(12));
	if (!below(8)) { /* it begins as it ends: there is none */
		(void)snprintf(m->rule, sizeof(m->rule), "STD4XST,J100/2,J100/3");
		return;
	}
	const char *sign = below(2) ? "-" : below(2) ? "+" : "";
	if (below(4))
		(void)snprintf(m->rule, sizeof(m->rule), "%s%s%d%sXST%s%s%s",
			       below(2) ? "<+03>" : "STD", sign, (int)below(13),
			       below(2) ? ":15" : ":15:20", summer, start, end);
	else
		(void)snprintf(m->rule, sizeof(m->rule), "%s%s%d", below(2) ? "<-0130>" : "QST",
			       sign, (int)below(13));
}

/* The older block is of no use to either, and says something else. */
static void make(struct made *m)
{
	static const char chars[] = "AAA\0BBBB\0CCC\0-04";
	static const unsigned char at[] = {0, 4, 9, 13};
	*m = (struct made){.n_types = 1 + below(TYPES_MAX), .n_at = 1 + below(TIMES_MAX)};
	m->n_std = below(2) ? m->n_types : 0;
	strbuf_init(&m->b, 1 << 16);
	put_header(m, '2', 1, 1, 4);
	put(&m->b, 12345, 4);
	put(&m->b, 0, 1);
	put(&m->b, 77, 4);
	put(&m->b, 0, 2);
	strbuf_add(&m->b, "OLD", 4);
	put(&m->b, 0, m->n_std ? 2 : 0);
	put_header(m, '2', m->n_at, m->n_types, sizeof(chars));
	for (size_t i = 0; i < m->n_at; i++) {
		m->at[i] = i ? m->at[i - 1] + 1 + (int64_t)below(1 << 28) : FROM / 2;
		if (i == m->n_at - 1 && m->at[i] < RULES_FROM)
			m->at[i] = RULES_FROM + (int64_t)below(1 << 28);
		put(&m->b, m->at[i], 8);
	}
	for (size_t i = 0; i < m->n_at; i++)
		put(&m->b, (int64_t)below(m->n_types), 1);
	for (size_t i = 0; i < m->n_types; i++) {
		put(&m->b, (int64_t)below(2 * 50000) - 50000, 4);
		put(&m->b, 0, 1);
		put(&m->b, at[i], 1);
	}
	strbuf_add(&m->b, chars, sizeof(chars));
	put(&m->b, 0, 2 * m->n_std);
	choose_rule(m);
	strbuf_addf(&m->b, "\n%s\n", m->rule);
}

static void assert_at(const struct vzone *z, int64_t sec, const struct made *m)
{
	struct tm tm;
	time_t t = (time_t)sec;
	int offset;
	const char *abbr;
	assert_non_null(localtime_r(&t, &tm));
	zone_lookup(z, sec, &offset, &abbr);
	if (offset != tm.tm_gmtoff || strcmp(abbr, tm.tm_zone) != 0)
		fail_msg("at %" PRId64 " of %s: %d %s, want %ld %s", sec, m->rule, offset, abbr,
			 tm.tm_gmtoff, tm.tm_zone);
}

static long offset_of(int64_t sec)
{
	struct tm tm;
	time_t t = (time_t)sec;
	assert_non_null(localtime_r(&t, &tm));
	return tm.tm_gmtoff;
}

/* To the second: where libc changes behind the last change of the file. */
static void assert_changes(const struct vzone *z, const struct made *m)
{
	int64_t from = m->at[m->n_at - 1] + 1;
	for (int i = 0; i < 60; i++) {
		int64_t to = from + 10 * (int64_t)86400, low = from, high = to;
		while (offset_of(from) != offset_of(to) && high - low > 1) {
			int64_t at = low + (high - low) / 2;
			*(offset_of(at) == offset_of(from) ? &low : &high) = at;
		}
		for (int d = -1; d <= 1; d++)
			assert_at(z, high + d, m);
		from = to;
	}
}

static void known_to_libc(struct str bytes)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, f), bytes.len);
	assert_int_equal(fclose(f), 0);
	strbuf_addf(&name, ":%s", path);
	assert_int_equal(setenv("TZ", ":/dev/null", 1), 0); /* it remembers what it has read */
	tzset();
	assert_int_equal(setenv("TZ", name.buf, 1), 0);
	tzset();
}

static void test_zone__as_libc_has_it(void **state)
{
	(void)state;
	prng = 20260101;
	for (int i = 0; i < ZONES; i++) {
		struct made m;
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		make(&m);
		const struct vzone *z = date_zone_parse(a, strbuf_str(&m.b));
		assert_non_null(z);
		known_to_libc(strbuf_str(&m.b));
		for (size_t k = 0; k < m.n_at; k++)
			for (int d = -1; d <= 1; d++)
				assert_at(z, m.at[k] + d, &m);
		for (int k = 0; k < 100; k++)
			assert_at(z, any_time(), &m);
		assert_changes(z, &m);
		strbuf_release(&m.b);
	}
}

/* Cut anywhere, it is refused or lacks its rule alone. */
static void test_zone__each_beginning(void **state)
{
	struct made m;
	(void)state;
	prng = 7;
	make(&m);
	size_t body = m.b.len - strlen(m.rule) - 2;
	for (size_t n = 0; n < m.b.len; n++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(xfreep) char *copy = xmemdup(m.b.buf, n + 1); /* a sanitizer sees its end */
		const struct vzone *z = date_zone_parse(a, str_n(copy, n));
		assert_int_equal(z != NULL, n >= body);
	}
	strbuf_release(&m.b);
}

/* What is no rule leaves the last change as it is. */
static void test_zone__rules(void **state)
{
	static const char *const rules[] = {
		"STD4XST,M1.1.0,M12.5.6/167:59:59",
		"<+x>-167:59:59",
		"<>4",
		"STD4XST5,J1,365",
		"", /* from here on they are none */
		"STD",
		"ST4",
		"<STD4",
		"STD168",
		"STD4:60",
		"STD4:0:60",
		"STD4:",
		"STD4:1:",
		"STD4XS,M3.1.0,M11.1.0",
		"STD4XST",
		"STD4XST,M3.1.0",
		"STD4XST,M3.1.0,",
		"STD4XST;M3.1.0,M11.1.0",
		"STD4XST,M3.1.0;M11.1.0",
		"STD4XST,M0.1.0,M11.1.0",
		"STD4XST,M13.1.0,M11.1.0",
		"STD4XST,M3.0.0,M11.1.0",
		"STD4XST,M3.6.0,M11.1.0",
		"STD4XST,M3.1.7,M11.1.0",
		"STD4XST,M3,1.0,M11.1.0",
		"STD4XST,M3.1,0,M11.1.0",
		"STD4XST,M3.1.,M11.1.0",
		"STD4XST,M.1.0,M11.1.0",
		"STD4XST,M3..0,M11.1.0",
		"STD4XST,X3.1.0,M11.1.0",
		"STD4XST,M3.1.0/,M11.1.0",
		"STD4XST4:60,M3.1.0,M11.1.0",
	};
	bool is_rule = true;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct made m;
		int offset;
		const char *abbr;
		prng = 5;
		make(&m);
		m.b.len -= strlen(m.rule) + 2;
		strbuf_addf(&m.b, "\n%s\n", rules[i]);
		const struct vzone *z = date_zone_parse(a, strbuf_str(&m.b));
		assert_non_null(z);
		is_rule = is_rule && *rules[i];
		zone_lookup(z, UNTIL, &offset, &abbr);
		bool of_file = *abbr && strchr("ABC-", *abbr);
		if (of_file == is_rule)
			fail_msg("%s: %s", rules[i], abbr);
		strbuf_release(&m.b);
	}
}

/* Each number of the header at its limit and one above it; nothing is read behind the end. */
static void test_zone__limits(void **state)
{
	static const struct {
		size_t at; /* in the header */
		unsigned most;
	} numbers[] = {{20, 64}, {24, 64}, {28, 1024}, {32, 4096}, {36, 64}, {40, 4096}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		for (unsigned more = 0; more < 2; more++) {
			CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
			strbuf_adds(&b, "TZif");
			while (b.len < 1 << 17)
				strbuf_addc(&b, 0);
			b.buf[39] = 1; /* a type, of a name of one byte */
			b.buf[43] = 1;
			unsigned v = numbers[i].most + more;
			memset(b.buf + numbers[i].at, 0, 4);
			b.buf[numbers[i].at + 2] = (char)(v >> 8);
			b.buf[numbers[i].at + 3] = (char)v;
			assert_int_equal(date_zone_parse(a, strbuf_str(&b)) != NULL, !more);
		}
}

/* What points outside, or has none to point to, is refused; the last one inside is not. */
static void test_zone__what_points_outside(void **state)
{
	struct made m;
	(void)state;
	prng = 11;
	make(&m);
	size_t chars = m.b.len - strlen(m.rule) - 2 - 2 * m.n_std - 17;
	size_t last_type = chars - 1, changes = chars - 6 * m.n_types - m.n_at;
	const struct {
		size_t at;
		unsigned char value;
		bool good;
	} bytes[] = {
		{0, 't', false},
		{last_type, 17, false},
		{last_type, 16, true},
		{changes, (unsigned char)m.n_types, false},
		{changes, (unsigned char)(m.n_types - 1), true},
		{39, 0, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		char was = m.b.buf[bytes[i].at];
		m.b.buf[bytes[i].at] = (char)bytes[i].value;
		assert_int_equal(date_zone_parse(a, strbuf_str(&m.b)) != NULL, bytes[i].good);
		m.b.buf[bytes[i].at] = was;
	}
	strbuf_release(&m.b);
}

static int setup(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zone__as_libc_has_it),
		cmocka_unit_test(test_zone__each_beginning),
		cmocka_unit_test(test_zone__rules),
		cmocka_unit_test(test_zone__limits),
		cmocka_unit_test(test_zone__what_points_outside),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
