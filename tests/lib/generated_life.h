/* generated_life: a server in process whose controllers are simulated and whose log is kept, as a drawn story: workloads, services, jobs,
 * owners, quotas and namespaces come, change and go, time passes, clients watch. What is there from time to time, what was heard and what the
 * log says are folded into a digest. */
#ifndef TESTS_LIB_GENERATED_LIFE_H
#define TESTS_LIB_GENERATED_LIFE_H

#include "alm/base/hash.h"

struct answer;
struct strbuf;

/* Headers and body of an answer, without uids (digests.h). */
void digest_answer(const struct answer *a, struct strbuf *b);
/* The same seed is the same story. shown: what is folded is printed as well. */
void generated_life(struct sha256 *h, uint64_t seed, bool shown);

#endif
