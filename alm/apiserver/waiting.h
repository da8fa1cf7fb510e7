/*
 * waiting: a request that waits for webhooks.
 *
 * The server has one loop, and a write goes from its body to the store in one turn of it. One that
 * has to ask stops there and leaves nothing behind but its questions. Once all of them are answered
 * it is handled again from the beginning, on the objects as they are then: it comes to the same
 * questions, finds the answers, and goes on. If the object has changed meanwhile, the question is
 * another one and is asked anew: what is stored is what was admitted, and no write is lost between.
 * What a write draws for itself (time, uid, a generated name) is the same each time (request_fixed).
 *
 * Limits: WAITING_NS, or ?timeout= of the request, for all of it (504), WAITING_AGAIN_MAX questions about one object that changes
 * all the time (409), WAITING_CALLS at a time of one request, WAITING_BYTES_MAX of questions in one
 * go (the rest is asked in the next one), of an answer HTTP_BODY_BYTES_MAX. A client that goes away
 * ends its questions. The questions of a turn are sent after it.
 */
#ifndef ALM_APISERVER_WAITING_H
#define ALM_APISERVER_WAITING_H

#include "alm/apiserver/admission/hook_line.h"
#include "alm/apiserver/request.h"

#define WAITING_NS        (34 * NS_PER_S)
#define WAITING_AGAIN_MAX 5
#define WAITING_CALLS     16
#define WAITING_BYTES_MAX ((size_t)16 << 20)

struct question {
	const char *about; /* who is asked and about what object, in whatever state that is */
	const struct hook_target *target;
	const char *version; /* of the review */
	struct str
		request; /* but the uid, which print adds: review_print() or conversion_print() */
	void (*print)(const char *version, const char *uid, struct str request, struct strbuf *b);
	int64_t timeout_ns;
};

struct waiting_answer {
	const char *uid;    /* that the review had */
	const char *failed; /* NULL: there was an answer */
	int status;         /* of HTTP */
	struct str body;
};

/* WAITING_DONE: *ret is borrowed until the request is over. WAITING_OPEN: it is asked; the caller may
 * ask further questions, and then fails with waiting_for(). E_CONFLICT: enough was asked about it. */
enum { WAITING_DONE, WAITING_OPEN };
int waiting_ask(struct request *r, const struct question *q, const struct waiting_answer **ret,
		struct error *err);
int waiting_for(struct request *r, struct error *err);
bool waiting_is_wanted(const struct request *r); /* something waits */
/* Of a request that goes on without being handled again: what was answered is given back. */
void waiting_forget(struct request *r);
/* True: the request failed with waiting_for(), it is answered later. */
bool waiting_park(struct request *r);

/* All that wait in a server: they are never answered. */
struct waitings;
/* handle: handles a request, from the beginning. */
struct waitings *waitings_new(struct apiserver *s, void (*handle)(struct request *r));
void waitings_free(struct waitings *w);

#endif
