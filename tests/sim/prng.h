/*
 * prng: xoshiro256**, one stream a component: a new component does not shift the draws of the
 * others. Integers only, so that every build draws the same.
 */
#ifndef TESTS_SIM_PRNG_H
#define TESTS_SIM_PRNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prng {
	uint64_t s[4];
};

void prng_init(struct prng *p, uint64_t seed, const char *stream);
uint64_t prng_next(struct prng *p);
uint64_t prng_below(struct prng *p, uint64_t n); /* n > 0 */
bool prng_chance(struct prng *p, unsigned per_mille);
void prng_fill(struct prng *p, void *buf, size_t n);
/* A latency: about 3 ms, spread like a log-normal; with heavy one in a hundred takes up to two
 * minutes. With uniform ones a lost wake-up stays hidden (reliability.md 2). */
int64_t prng_latency_ns(struct prng *p, bool heavy);

#endif
