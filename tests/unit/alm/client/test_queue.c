#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/queue.h"
#include "tests/lib/loop_fake.h"

static void count_ready(void *arg)
{
	(*(int *)arg)++;
}

/*
 * The table of cases. Words: +k add, ^k add first, ~k rate-limited add, >k add after 5 s, =k the
 * key that get gives (- for none), !k done, ?k forget, 5 lets 5 s pass, #n keys ready.
 */
static void play(const char *script)
{
	struct loop *l = loop_fake_new(0);
	int ready = 0;
	struct queue *q = queue_new(l, SIZE_MAX, count_ready, &ready);
	struct str rest = str_of(script), word;
	while (str_next(&rest, ' ', &word)) {
		CLEANUP(xfreep) char *key = str_dup(str_skip(word, 1));
		int64_t n = 0;
		const char *got;
		switch (word.ptr[0]) {
		case '+':
			queue_add(q, key);
			break;
		case '^':
			queue_add_first(q, key);
			break;
		case '~':
			queue_add_rate_limited(q, key);
			break;
		case '>':
			queue_add_after(q, key, 5 * NS_PER_S);
			break;
		case '|':
			queue_set_after(q, key, 5 * NS_PER_S);
			break;
		case '.':
			queue_set_after(q, key, 0);
			break;
		case '=':
			got = queue_get(q);
			if (strcmp(got ? got : "-", key) != 0)
				fail_msg("%s: got %s, wanted %s", script, got ? got : "-", key);
			break;
		case '!':
			queue_done(q, key);
			break;
		case '?':
			queue_forget(q, key);
			break;
		case '#':
			assert_true(str_parse_i64(str_of(key), &n));
			if (queue_len(q) != (size_t)n)
				fail_msg("%s: %zu ready", script, queue_len(q));
			break;
		default:
			assert_true(str_parse_i64(word, &n));
			loop_fake_run(l, n * NS_PER_S);
		}
	}
	loop_fake_settle(l);
	queue_free(q);
	loop_free(l);
}

static void test_queue__table_of_cases(void **state)
{
	(void)state;
	static const char *const cases[] = {
		"=- +a =a =- !a =-",              /* one key */
		"+a =a >a .a !a 6 =-",            /* a time that nobody wants any more */
		"+a =a .a !a 6 =-",               /* there was none */
		"+a =a >a 3 |a !a 3 =- 3 =a !a",  /* the new time, though later */
		"+a =a >a 3 +a .a !a =a !a 6 =-", /* it takes a time away, no event */
		"+a +a #1 =a !a =-",              /* twice before it is taken: once */
		"+a +b +c =a =b =c",              /* first in, first out */
		"+a =a +a =- !a =a !a =-",        /* while processed: again, after done only */
		"+a =a +a +a !a =a !a =-",        /* ... and only once */
		"+a +b =a +a =b !b !a =a",        /* others go on meanwhile */
		"+a +b ^c =c =a =b",              /* what has come goes first */
		"+a +b +c ^c =c =a =b =-",        /* also one that waits already, once */
		"+a +b =a ^a =b !a =a =-",        /* while processed: after done */
		"+a +b =a ^a !a =a =b",           /* ... and before the others */
		"^a ^b ^c ^d ^e +x +y =a =b =c =d =x =e =y", /* one of five is another */
		"^a ^b ^c ^d ^e =a =b =c =d =e =-",          /* if there is one */
		">a =- 4 =- 1 =a !a 60 =-",                  /* after a time */
		">a +a =a !a =- 5 =a",                       /* an add does not cancel the wait */
		"+a =a >a 5 =- !a =a",              /* the time comes while it is processed */
		">a 2 >a 3 =a !a 60 =-",            /* the earliest wins */
		"+a =a ~a !a =- 2 =a",              /* failed once: 1 to 1.25 s */
		"+a =a ~a !a 2 =a ~a !a 1 =- 2 =a", /* failed twice: 2 to 2.5 s */
		"+a =a ~a !a 2 =a ~a !a 3 =a ?a ~a !a 2 =a", /* forgotten: 1 s again */
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		play(cases[i]);
}

static void assert_why(struct queue *q, const char *key, const char *why)
{
	const char *got = queue_get(q);
	assert_string_equal(got, key);
	got = queue_why(q, key);
	if (why)
		assert_string_equal(got, why);
	else
		assert_null(got);
}

/* The first reason, of each time that it is handed out; what goes on may wait outside of the queue. */
static void test_queue__why(void **state)
{
	(void)state;
	struct loop *l = loop_fake_new(0);
	int ready = 0;
	struct queue *q = queue_new(l, SIZE_MAX, count_ready, &ready);
	queue_because(q, "a", "nobody has it");
	queue_add(q, "a");
	queue_because(q, "a", "first");
	queue_because(q, "a", "second");
	queue_add(q, "b");
	assert_why(q, "a", "first");
	queue_because(q, "a", "while it is processed");
	assert_string_equal(queue_why(q, "a"), "first");
	queue_add(q, "a");
	queue_done(q, "a");
	assert_why(q, "b", NULL);
	queue_done(q, "b");
	assert_why(q, "a", "while it is processed");
	queue_because(q, "a", queue_why(q, "a"));
	queue_forget(q, "a");
	queue_done(q, "a");
	assert_null(queue_get(q));
	queue_add_first(q, "a");
	assert_why(q, "a", "while it is processed");
	queue_done(q, "a");
	assert_null(queue_why(q, "a"));
	assert_int_equal(queue_pending(q), 0);
	queue_free(q);
	loop_free(l);
}

static void test_queue__ready_is_called_in_a_later_turn(void **state)
{
	(void)state;
	struct loop *l = loop_fake_new(0);
	int ready = 0;
	struct queue *q = queue_new(l, SIZE_MAX, count_ready, &ready);
	queue_add(q, "a");
	queue_add(q, "b");
	assert_int_equal(ready, 0);
	loop_fake_settle(l);
	assert_int_equal(ready, 1);
	assert_int_equal(queue_pending(q), 2);
	const char *key = queue_get(q);
	assert_false(queue_is_idle(q));
	queue_add(q, key);
	queue_done(q, key);
	loop_fake_settle(l);
	assert_int_equal(ready, 2);
	queue_free(q);
	loop_free(l);
}

#define TAKEN_A_TURN 8

struct taker {
	struct queue *q;
	size_t taken, calls;
};

/* As the manager does: some in a turn, and none of them comes back. */
static void take_some(void *arg)
{
	struct taker *t = arg;
	t->calls++;
	for (int i = 0; i < TAKEN_A_TURN; i++) {
		const char *key = queue_get(t->q);
		if (!key)
			return;
		t->taken++;
		queue_done(t->q, key);
	}
}

static void test_queue__what_a_turn_leaves_is_taken_in_the_next(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 3 * TAKEN_A_TURN + 1; n++) {
		struct loop *l = loop_fake_new(0);
		struct taker t = {0};
		t.q = queue_new(l, SIZE_MAX, take_some, &t);
		for (size_t i = 0; i < n; i++) {
			char key[32];
			snprintf(key, sizeof(key), "k%zu", i);
			queue_add(t.q, key);
		}
		loop_fake_settle(l);
		assert_int_equal(t.taken, n);
		assert_int_equal(t.calls, (n + TAKEN_A_TURN - 1) / TAKEN_A_TURN);
		assert_int_equal(queue_pending(t.q), 0);
		queue_free(t.q);
		loop_free(l);
	}
}

/* Those beyond wait until one is done; what was begun goes before what was not. */
static void test_queue__no_more_are_processed_at_a_time(void **state)
{
	(void)state;
	struct loop *l = loop_fake_new(0);
	int ready = 0;
	struct queue *q = queue_new(l, 2, count_ready, &ready);
	for (const char *k = "a\0b\0c\0d\0"; *k; k += 2)
		queue_add(q, k);
	loop_fake_settle(l);
	assert_int_equal(ready, 1);
	assert_string_equal(queue_get(q), "a");
	assert_string_equal(queue_get(q), "b");
	assert_null(queue_get(q));
	loop_fake_settle(l);
	int before = ready;
	queue_add_first(q, "b");
	queue_done(q, "b");
	loop_fake_settle(l);
	assert_true(ready > before);
	assert_string_equal(queue_get(q), "b");
	assert_null(queue_get(q));
	queue_done(q, "a"); /* it leaves nothing: what waits is called for nevertheless */
	before = ready;
	loop_fake_settle(l);
	assert_true(ready > before);
	assert_string_equal(queue_get(q), "c");
	assert_null(queue_get(q));
	assert_int_equal(queue_pending(q), 3);
	queue_free(q);
	loop_free(l);
}

static void test_queue__back_off_stays_within_its_bounds(void **state)
{
	(void)state;
	struct loop *l = loop_fake_new(0);
	int ready = 0;
	struct queue *q = queue_new(l, SIZE_MAX, count_ready, &ready);
	for (int i = 0; i < 40; i++) {
		int64_t before = loop_mono(l);
		queue_add_rate_limited(q, "a");
		while (!queue_len(q))
			loop_fake_run(l, 100 * NS_PER_MS);
		int64_t pause = loop_mono(l) - before;
		assert_true(pause >= NS_PER_S && pause <= 60 * NS_PER_S);
		if (i > 6)
			assert_true(pause >= 45 * NS_PER_S);
		queue_get(q);
		queue_done(q, "a");
	}
	queue_forget(q, "a");
	assert_int_equal(queue_pending(q), 0);
	queue_free(q);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue__table_of_cases),
		cmocka_unit_test(test_queue__why),
		cmocka_unit_test(test_queue__ready_is_called_in_a_later_turn),
		cmocka_unit_test(test_queue__what_a_turn_leaves_is_taken_in_the_next),
		cmocka_unit_test(test_queue__no_more_are_processed_at_a_time),
		cmocka_unit_test(test_queue__back_off_stays_within_its_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
