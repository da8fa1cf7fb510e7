#include "tests/sim/prng.h"

#include <assert.h>
#include <string.h>

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void prng_init(struct prng *p, uint64_t seed, const char *stream)
{
	uint64_t x = seed ^ UINT64_C(0xcbf29ce484222325);
	for (; *stream; stream++)
		x = (x ^ (unsigned char)*stream) * UINT64_C(0x100000001b3);
	for (int i = 0; i < 4; i++)
		p->s[i] = splitmix(&x);
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t prng_next(struct prng *p)
{
	uint64_t *s = p->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t prng_below(struct prng *p, uint64_t n)
{
	assert(n > 0);
	return prng_next(p) % n; /* the bias does not matter here */
}

bool prng_chance(struct prng *p, unsigned per_mille)
{
	return prng_below(p, 1000) < per_mille;
}

void prng_fill(struct prng *p, void *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		uint64_t v = prng_next(p);
		size_t k = n - done < sizeof(v) ? n - done : sizeof(v);
		memcpy((char *)buf + done, &v, k);
		done += k;
	}
}

int64_t prng_latency_ns(struct prng *p, bool heavy)
{
	/* The exponent is binomial, about normal: 2^0 to 2^8 times 200 us. */
	int bits = __builtin_popcountll(prng_next(p) & 0xffff);
	int64_t ns = INT64_C(200000) << (bits / 2);
	ns += (int64_t)prng_below(p, (uint64_t)ns);
	uint64_t tail = prng_below(p, 100), doublings = prng_below(p, 13);
	if (heavy && tail == 0)
		ns <<= doublings;
	return ns;
}
