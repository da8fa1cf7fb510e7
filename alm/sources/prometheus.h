/*
 * prometheus: one instant query, asked of a server by its URL (HTTP API v1: GET /api/v1/query).
 *
 * The law: a token goes to the origins that its Secret names (credentials.h) and over https:// only;
 * redirects are not followed; an answer is at most PROMETHEUS_ANSWER_MAX bytes and 10 s.
 *
 * done is called once, in a later turn, unless the question was cancelled.
 */
#ifndef ALM_SOURCES_PROMETHEUS_H
#define ALM_SOURCES_PROMETHEUS_H

#include "alm/io/transport.h"
#include "alm/sources/credentials.h"

#define PROMETHEUS_ASK_NS  (INT64_C(10) * 1000000000)
#define PROMETHEUS_IDLE_NS (INT64_C(5) * 1000000000)

struct prometheus_question;

/* err NULL: body is that of an answer 200, borrowed. */
typedef void (*prometheus_done)(void *arg, struct str body, const struct error *err);

/* address: "https://HOST[:PORT][/PATH]" or http://; all is copied. secret: read at once; NULL: none.
 * addresses, borrowed: see transport.h. */
struct prometheus_question *prometheus_ask(struct loop *l, const struct address_policy *addresses,
					   const struct obj *secret, const char *address,
					   const char *query, prometheus_done done, void *arg);
void prometheus_cancel(struct prometheus_question *q); /* not from inside done; NULL is fine */

/* "/api/v1/query?query=...", behind an address. Arena. */
const char *prometheus_target(const char *query, struct arena *a);

#endif
