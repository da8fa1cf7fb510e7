#include "tests/lib/loop_fake.h"

#include <string.h>

#define TURNS_MAX 1000000 /* a test that posts for ever */

struct loop_fake {
	struct loop loop;
	int64_t now, mono;
	uint64_t random;
};

static struct loop_fake *self(struct loop *l)
{
	return CONTAINER_OF(l, struct loop_fake, loop);
}

static int64_t fake_now(struct loop *l)
{
	return self(l)->now + self(l)->mono;
}

static int64_t fake_mono(struct loop *l)
{
	return self(l)->mono;
}

static void fake_random(struct loop *l, void *buf, size_t n)
{
	struct loop_fake *f = self(l);
	for (size_t i = 0; i < n; i++) {
		f->random = f->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		((unsigned char *)buf)[i] = (unsigned char)(f->random >> 56);
	}
}

static void fake_wake(struct loop *l)
{
	(void)l;
}

static void fake_free(struct loop *l)
{
	loop_release(l);
	xfree(self(l));
}

struct loop *loop_fake_new(int64_t now_ns)
{
	static const struct loop_ops ops = {.now_ns = fake_now,
					    .mono_ns = fake_mono,
					    .random = fake_random,
					    .wake = fake_wake,
					    .free = fake_free};
	struct loop_fake *f = xcalloc(1, sizeof(*f));
	loop_init(&f->loop, &ops);
	f->now = now_ns;
	f->random = 42;
	return &f->loop;
}

void loop_fake_step(struct loop *l, int64_t by_ns)
{
	self(l)->now += by_ns;
}

void loop_fake_settle(struct loop *l)
{
	for (int i = 0; i < TURNS_MAX && loop_next_deadline(l) <= self(l)->mono; i++)
		loop_run_due(l);
}

void loop_fake_run(struct loop *l, int64_t span_ns)
{
	struct loop_fake *f = self(l);
	int64_t end = f->mono + span_ns;
	for (int i = 0; i < TURNS_MAX; i++) {
		int64_t next = loop_next_deadline(l);
		if (next > end)
			break;
		if (next > f->mono)
			f->mono = next;
		loop_run_due(l);
	}
	f->mono = end;
}
