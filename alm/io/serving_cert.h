/*
 * serving_cert: the certificate of the embedded server, which lives in memory only. It is made
 * again while the server runs: when a third of its life is left, when the clock has left it, and
 * when the machine got other addresses and the server listens on all of them. Connections that are
 * open keep theirs.
 */
#ifndef ALM_IO_SERVING_CERT_H
#define ALM_IO_SERVING_CERT_H

#include "alm/io/loop.h"
#include "alm/io/server.h"

struct serving_cert {
	struct loop *loop;
	struct server *server;
	const char *ca_cert, *ca_key, *listen; /* borrowed */
	const char *const *hosts;              /* further names; borrowed */
	size_t n_hosts;
	char *cert, *key; /* PEM */
	char *names;      /* of the certificate, for comparing */
	int64_t from_ns, until_ns;
	struct timer timer;
};

/* The first one. loop, ca_cert, ca_key and listen are set. */
int serving_cert_make(struct serving_cert *c, struct error *err);
/* Looks after it from now on. */
void serving_cert_keep(struct serving_cert *c, struct server *s);
void serving_cert_release(struct serving_cert *c);

/* A third of the life is left, or the clock is outside of it. */
bool serving_cert_is_due(int64_t from_ns, int64_t until_ns, int64_t now_ns);

#endif
