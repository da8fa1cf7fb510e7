/*
 * hook_fake: webhooks that answer from a list, for API servers in process. Lists and calls are of the whole program.
 *
 * An answer is text with UID in it for the uid of the review.
 */
#ifndef TESTS_LIB_HOOK_FAKE_H
#define TESTS_LIB_HOOK_FAKE_H

#include "alm/io/transport.h"
#include "alm/obj/obj.h"

struct apifake;

/* apifake_options.dial */
int hook_fake_dial(struct loop *l, const struct transport_config *c, struct transport **ret,
		   struct error *err);

/* Forgets answers and calls. */
void hook_fake_reset(void);
/* The path that begins so answers so from now on; status 0: the connection is lost. Later ones win. */
void hook_fake_answer(const char *path, int status, const char *body);
/* What is in no list is answered by fn: the body, owned, and the status; NULL again: nobody does. */
void hook_fake_answer_by(char *(*fn)(const struct obj *review, int *ret_status));
/* A line of a recording (replay.h): its webhooks answer as they did there, and no others. */
void hook_fake_as_recorded(struct apifake *f, struct str line);
/* Calls wait until hook_fake_release(). */
void hook_fake_hold(bool hold);
size_t hook_fake_waiting(void);
void hook_fake_release(size_t n); /* the oldest n */

/* What was called so far. */
size_t hook_fake_calls(void);
struct hook_fake_call {
	const char *base_url, *server_name, *path, *ca_pem;
	int64_t timeout_ns;
	const struct obj *review;
};
const struct hook_fake_call *hook_fake_call(size_t i);
size_t hook_fake_cancelled(void);
size_t hook_fake_dialled(void); /* transports that are open */

#endif
