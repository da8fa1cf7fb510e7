/*
 * webhook: feedback to a receiver: each Transition of the log, from its committed row, as a
 * CloudEvent of its own (CloudEvents 1.0, HTTP binding, structured mode).
 *
 *	POST TARGET
 *	Content-Type: application/cloudevents+json
 *	X-ALM-Signature-256: sha256=HEX    HMAC-SHA256 of the body, if there is a secret
 *
 * The id is ORIGIN/SEQ on every try, so a receiver that was told twice knows it. Events go in the
 * order of the log, one at a time: what is not answered with 2xx within WEBHOOK_POST_NS is tried
 * again, later and later, for WEBHOOK_TRY_NS; then it is given up, which is told in the log of the
 * process and in a metric, and the next one follows. How far it came is kept in the database of the
 * log, so that a new process goes on there; a webhook that is new begins with what comes.
 */
#ifndef ALM_CLIENT_WEBHOOK_H
#define ALM_CLIENT_WEBHOOK_H

#include "alm/audit/audit.h"
#include "alm/io/metrics.h"
#include "alm/io/transport.h"

#define WEBHOOK_POST_NS   (10 * NS_PER_S)
#define WEBHOOK_TRY_NS    (24 * NS_PER_HOUR)
#define WEBHOOK_PAUSE_NS  NS_PER_S /* before the second try; doubled, up to */
#define WEBHOOK_PAUSE_MAX (5 * NS_PER_MIN)
#define WEBHOOK_BYTES_MAX ((size_t)1 << 20) /* of an event; a longer one goes without its body */

struct webhook;

struct webhook_config {
	struct loop *loop;
	struct transport *transport; /* of the receiver alone; it follows no redirect */
	const char *target;          /* path and query */
	const char *name;            /* of the cursor: the whole URL; its hash is kept */
	struct str secret;           /* empty: nothing is signed */
	struct audit *audit;
	struct db *db;           /* of the log */
	struct metrics *metrics; /* or NULL */
	/* All that is in the log was told, or given up; or NULL. */
	void (*idle)(void *arg);
	void *arg;
};

/* All is borrowed but name, target and secret. E_IO of the database. */
int webhook_new(const struct webhook_config *c, struct webhook **ret, struct error *err);
void webhook_free(struct webhook *w); /* stops; what is under way is told again by the next one */
DEFINE_FREEP(webhook)

/* Rows were committed. */
void webhook_poke(struct webhook *w);
bool webhook_is_idle(const struct webhook *w);

/* "sha256=HEX" */
#define WEBHOOK_SIGNATURE_MAX (sizeof("sha256=") + 2 * SHA256_BYTES)
void webhook_sign(struct str secret, struct str body, char out[WEBHOOK_SIGNATURE_MAX]);

#endif
