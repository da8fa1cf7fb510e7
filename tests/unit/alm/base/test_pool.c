/* test_pool.c: pieces do not touch each other, and pages that hold nothing go back. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/base/pool.h"
#include "alm/base/sanitizer.h"

#define PIECES 5000
#define PAGE   4096

struct held {
	unsigned char *p;
	size_t n;
	unsigned char mark;
};

static unsigned next_random(unsigned *x)
{
	*x = *x * 1103515245 + 12345;
	return *x >> 8;
}

static void take(struct held *h, unsigned *x)
{
	*h = (struct held){.n = next_random(x) % (POOL_PIECE_MAX + 40),
			   .mark = (unsigned char)next_random(x)};
	unsigned kind = next_random(x) % 3;
	h->p = kind == 0 ? pool_alloc(h->n) : kind == 1 ? pool_keep(h->n) : pool_share(h->n);
	memset(h->p, h->mark, h->n);
}

static void give(struct held *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->p[i] != h->mark)
			fail_msg("byte %zu of a piece of %zu was changed", i, h->n);
	pool_free(h->p, h->n);
	*h = (struct held){0};
}

static void test_pool__pieces_keep_what_they_hold(void **state)
{
	(void)state;
	static struct held all[PIECES];
	unsigned x = 7;
	size_t before = pool_pages();
	for (int i = 0; i < 20 * PIECES; i++) {
		struct held *h = &all[next_random(&x) % PIECES];
		if (h->p)
			give(h);
		else
			take(h, &x);
		if (i % PIECES == 0)
			pool_trim();
	}
	for (size_t i = 0; i < PIECES; i++)
		if (all[i].p)
			give(&all[i]);
	assert_int_equal(pool_pages(), before);
	pool_free(NULL, 8);
}

/* One over the bound is malloc's; what was held once goes back, once. */
static void test_pool__free_pages_go_back(void **state)
{
	(void)state;
	enum { N = 10000 };
	static void *all[N];
	size_t before = pool_pages();
	pool_trim();
	void *large = pool_alloc(POOL_PIECE_MAX + 1);
	assert_int_equal(pool_pages(), before);
	pool_free(large, POOL_PIECE_MAX + 1);
	for (size_t i = 0; i < N; i++)
		all[i] = pool_alloc(POOL_PIECE_MAX);
	size_t pages = pool_pages() - before;
	for (size_t i = 0; i < N; i++)
		pool_free(all[i], POOL_PIECE_MAX);
	assert_int_equal(pool_pages(), before);
	if (SANITIZER_RUNS)
		return;
	assert_true(pages * PAGE >= (size_t)N * POOL_PIECE_MAX);
	assert_true((pages - 1) * PAGE <= (size_t)N * POOL_PIECE_MAX / 7 * 8); /* little is lost */
	assert_int_equal(pool_free_pages(), pages);
	assert_int_equal(pool_trim(), pages);
	assert_int_equal(pool_free_pages(), 0);
	assert_int_equal(pool_trim(), 0);
}

/* What stays holds no page of what goes, whatever comes between. */
static void test_pool__what_stays_is_apart(void **state)
{
	(void)state;
	enum { N = 5000 };
	static void *goes[N], *stays[N];
	size_t before = pool_pages();
	for (size_t i = 0; i < N; i++) {
		goes[i] = pool_alloc(100);
		stays[i] = pool_keep(100);
	}
	size_t all = pool_pages() - before;
	for (size_t i = 0; i < N; i++)
		pool_free(goes[i], 100);
	assert_int_equal(pool_pages() - before, SANITIZER_RUNS ? 0 : all / 2);
	for (size_t i = 0; i < N; i++)
		pool_free(stays[i], 100);
	assert_int_equal(pool_pages(), before);
}

struct thread {
	pthread_t id;
	struct held all[PIECES];
	unsigned x;
	struct held *others; /* whose pieces it frees */
};

static void *take_all(void *arg)
{
	struct thread *t = arg;
	for (size_t i = 0; i < PIECES; i++) {
		struct held *h = &t->all[i];
		*h = (struct held){.n = next_random(&t->x) % 200, .mark = (unsigned char)i};
		h->p = memset(pool_share(h->n), h->mark, h->n);
	}
	return NULL;
}

static void *give_all(void *arg)
{
	const struct thread *t = arg;
	for (size_t i = 0; i < PIECES; i++)
		give(&t->others[i]);
	return NULL;
}

static void in_both(struct thread *t, void *(*work)(void *))
{
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i].id, NULL, work, &t[i]), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_join(t[i].id, NULL), 0);
}

/* Two threads take and free at once, each what the other took; a third trims. */
static void test_pool__a_library_may_have_threads(void **state)
{
	(void)state;
	static struct thread t[2] = {{.x = 1}, {.x = 2}};
	size_t before = pool_pages();
	for (size_t i = 0; i < 2; i++)
		t[i].others = t[1 - i].all;
	for (int round = 0; round < 40; round++) {
		in_both(t, take_all);
		pool_trim();
		in_both(t, give_all);
		assert_int_equal(pool_pages(), before);
	}
}

static void *take_and_give(void *arg)
{
	const _Atomic bool *ends = arg;
	while (!*ends)
		pool_free(memset(pool_share(100), 1, 100), 100);
	return NULL;
}

/* A child is made while another thread takes: it can take, too. */
static void test_pool__a_child_has_no_lock_of_a_thread(void **state)
{
	(void)state;
	static _Atomic bool ends;
	pthread_t other;
	assert_int_equal(pthread_create(&other, NULL, take_and_give, &ends), 0);
	for (int i = 0; i < (SANITIZER_RUNS ? 30 : 300);
	     i++) { /* where pieces are all of malloc() */
		int ends_of[2];
		assert_int_equal(pipe2(ends_of, O_CLOEXEC), 0);
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child) {
			pool_free(pool_share(100), 100);
			_exit(0);
		}
		close(ends_of[1]); /* the child has the last one, and goes with it */
		struct pollfd p = {.fd = ends_of[0], .events = POLLIN};
		if (!poll(&p, 1, 20000))
			kill(child, SIGKILL);
		close(ends_of[0]);
		int status = -1;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	ends = true;
	assert_int_equal(pthread_join(other, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool__pieces_keep_what_they_hold),
		cmocka_unit_test(test_pool__free_pages_go_back),
		cmocka_unit_test(test_pool__what_stays_is_apart),
		cmocka_unit_test(test_pool__a_library_may_have_threads),
		cmocka_unit_test(test_pool__a_child_has_no_lock_of_a_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
