/* apifake_expect: a request whose status is known, and what is stored already, of unit tests (it fails the test). */
#ifndef TESTS_LIB_APIFAKE_EXPECT_H
#define TESTS_LIB_APIFAKE_EXPECT_H

#include "tests/lib/exchange_fake.h"

/* As JSON, of PATCH as a merge patch; another status than this fails the test, with the server's message. */
struct answer apifake_expect(struct apifake *f, const char *method, const char *target,
			     const char *body, int status);
/* A row as a former release stored it: key "GROUP/PLURAL/NAMESPACE/NAME", value JSON. The server knows it after
 * apifake_restart(). */
void apifake_plant(struct apifake *f, const char *key, const char *value);

#endif
