/*
 * exchange_fake: an API server in process, without a socket: requests in, answers out.
 *
 *	struct apifake *f = apifake_new(NULL);
 *	struct answer a = apifake_do(f, "POST", "/api/v1/namespaces/default/configmaps", body);
 *	assert_int_equal(a.status, 201);
 *
 * Answers live as long as the fake.
 */
#ifndef TESTS_LIB_EXCHANGE_FAKE_H
#define TESTS_LIB_EXCHANGE_FAKE_H

#include "alm/apiserver/apiserver.h"

#define FAKE_ANSWERS_MAX 4096

struct apifake;

struct answer {
	int status; /* 0: none yet */
	struct str body;
	const struct obj *json; /* NULL if the body is not JSON */
	bool ended, cut;
	const struct http_headers *headers;
	size_t charged[N_QUOTAS];
};

struct apifake_options {
	bool with_audit, simulate, own_controllers;
	const char *path;                          /* of the database; NULL: in memory */
	const char *key_dir;                       /* of the log; NULL: new keys at every start */
	const char *account_key, *account_old_key; /* PEM; NULL: one of its own, none */
	/* How webhooks are reached (hook_fake.h); NULL: not at all. */
	int (*dial)(struct loop *l, const struct transport_config *c, struct transport **ret,
		    struct error *err);
};

struct apifake *apifake_new(const struct apifake_options *o);
void apifake_free(struct apifake *f);
DEFINE_FREEP(apifake)
/* Closes and opens the server on the same database, as after a crash. */
void apifake_restart(struct apifake *f);

/* Keys of ServiceAccount tokens from the next restart on. */
void apifake_rekey(struct apifake *f, const char *key, const char *old_key);

/* Sends as admin; waits for the commit, and for what the server does on its own after it. */
struct answer apifake_do(struct apifake *f, const char *method, const char *target,
			 const char *body);
struct answer apifake_do_type(struct apifake *f, const char *method, const char *target,
			      const char *content_type, const char *body);
/* Without waiting: the answer comes with apifake_run(). Returns its number. */
size_t apifake_send(struct apifake *f, const char *method, const char *target,
		    const char *content_type, const char *body);
size_t apifake_bytes(struct apifake *f, size_t n); /* of the body, unparsed */
size_t apifake_kept(struct apifake *f, size_t n);  /* what the exchange's memory holds */
struct answer apifake_answer(struct apifake *f, size_t n);
/* Frees the answers that are over; their numbers are used again. For long runs. */
void apifake_forget(struct apifake *f);
void apifake_header(struct apifake *f, const char *name,
		    const char *value);                      /* one more of the next request */
void apifake_trust(struct apifake *f, const char *audit_id); /* of the next request */
void apifake_run(struct apifake *f); /* turns of the loop until nothing is left to do at once */
void apifake_advance(struct apifake *f, int64_t ns);
/* The client of an open stream goes away. */
void apifake_close(struct apifake *f, size_t n);
/* exchange_write() will claim that this many bytes wait. */
void apifake_clog(struct apifake *f, size_t n, size_t bytes);
/* Its client takes what waits with apifake_drain() alone. */
size_t apifake_send_lazy(struct apifake *f, const char *method, const char *target);
/* The client takes what waits; false if nobody wants to hear of it. */
bool apifake_drain(struct apifake *f, size_t n);
/* The user of the requests has no room left for these. */
void apifake_fill(struct apifake *f, enum quota_what what, bool full);

struct apiserver *apifake_server(struct apifake *f);
struct loop *apifake_loop(struct apifake *f);
struct audit *apifake_audit(struct apifake *f);
struct db *apifake_db(struct apifake *f);

#endif
