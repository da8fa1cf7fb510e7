#include "tests/lib/test.h"

#include <stdio.h>
#include <time.h>

#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"

#define STAGES   15 /* 2^15 keys */
#define WORK_MAX 20 /* times the work of keys that nobody chose */
#define TEXT     9  /* of a stage, with its NUL */

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t fnv(uint32_t h, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h;
}

static void text_of(uint32_t i, char out[TEXT])
{
	uint64_t x = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
	x ^= x >> 29;
	x *= UINT64_C(0xBF58476D1CE4E5B9);
	for (int k = 0; k + 1 < TEXT; k++, x >>= 6)
		out[k] = (char)('0' + (x & 63));
	out[TEXT - 1] = '\0';
}

/* Two texts that lead the 32 bits of FNV-1a from h to the same place: a birthday among 2^18. */
static uint32_t collide(uint32_t h, char one[TEXT], char two[TEXT])
{
	enum { TRIES = 1 << 18, SLOTS = 1 << 19 };
	CLEANUP(xfreep) uint32_t *seen = xcalloc(SLOTS, sizeof(*seen));
	for (uint32_t i = 1; i < TRIES; i++) {
		text_of(i, two);
		uint32_t to = fnv(h, two, TEXT - 1), at = to * 2654435761u >> 13;
		for (; seen[at]; at = (at + 1) % SLOTS) {
			text_of(seen[at], one);
			if (fnv(h, one, TEXT - 1) == to)
				return to;
		}
		seen[at] = i;
	}
	fail_msg("no two texts collide");
	return 0;
}

/* Texts that FNV-1a, which has no secret, takes all for the same (Joux: one pair a stage). */
static char **colliding_keys(size_t *ret_n)
{
	char pairs[STAGES][2][TEXT];
	uint32_t h = 2166136261u;
	for (int i = 0; i < STAGES; i++)
		h = collide(h, pairs[i][0], pairs[i][1]);
	size_t n = (size_t)1 << STAGES;
	char **keys = xcalloc(n, sizeof(*keys));
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(256);
		for (int j = 0; j < STAGES; j++)
			strbuf_adds(&b, pairs[j][i >> j & 1]);
		assert_int_equal(fnv(2166136261u, b.buf, b.len), h);
		keys[i] = strbuf_detach(&b);
	}
	*ret_n = n;
	return keys;
}

/* The processor time of putting the keys into both. */
static double filled_in(struct map *m, struct obj *o, char **keys, size_t n)
{
	double t = cpu_s();
	for (size_t i = 0; i < n; i++)
		map_set_number(m, keys[i], i + 1);
	for (size_t i = 0; i < n; i++)
		obj_set(o, keys[i], obj_int((int64_t)i));
	return cpu_s() - t;
}

/* That of as many keys of the same lengths, which nobody chose. */
static double of_others(char **keys, size_t n)
{
	struct map *m = map_new(NULL);
	struct obj *o = obj_map();
	char **others = xcalloc(n, sizeof(*others));
	for (size_t i = 0; i < n; i++) {
		others[i] = xstrdup(keys[i]);
		text_of((uint32_t)i, others[i]);
		others[i][TEXT - 1] = '-'; /* where text_of() ends it */
	}
	double t = filled_in(m, o, others, n);
	for (size_t i = 0; i < n; i++)
		xfree(others[i]);
	xfree(others);
	map_free(m);
	obj_unref(o);
	return t;
}

static void test_map__chosen_keys_do_not_fall_into_one_slot(void **state)
{
	(void)state;
	size_t n;
	char **keys = colliding_keys(&n);
	struct map *m = map_new(NULL);
	struct obj *o = obj_map();
	double chosen = filled_in(m, o, keys, n);
	/* one slot for all: 537 M comparisons each */
	assert_true(chosen < WORK_MAX * of_others(keys, n));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(map_number(m, keys[i]), i + 1);
		assert_int_equal(obj_i64(o, keys[i], -1), i);
		xfree(keys[i]);
	}
	xfree(keys);
	map_free(m);
	obj_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map__chosen_keys_do_not_fall_into_one_slot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
