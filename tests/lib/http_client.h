/* http_client: one call of a transport and what came of it, for tests that turn a real loop. */
#ifndef TESTS_LIB_HTTP_CLIENT_H
#define TESTS_LIB_HTTP_CLIENT_H

#include "alm/base/strbuf.h"
#include "alm/io/transport.h"

struct result {
	struct strbuf body;
	struct error err;
	int status, n_done, n_chunks;
	char type[64]; /* Content-Type */
};

#define RESULT_INIT {.body = {.buf = strbuf_empty, .limit = (size_t)64 << 20}}

extern const struct transport_events result_events;

struct call *call_start(struct transport *t, const struct transport_request *r, struct result *res);
/* Turns the loop until *flag or 10 s are over; false if they are. */
bool turn_until(struct loop *l, const int *flag, int want);
/* One whole call. */
int call_wait(struct loop *l, struct transport *t, const char *method, const char *target,
	      struct str body, struct result *res);

#endif
