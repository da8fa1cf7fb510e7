/*
 * server_fixture: a server on loopback, in the loop of the test, and plain sockets to it.
 *
 * What its handler does with a path: /echo answers with method, path, query, body; /big with 8 MiB;
 * /mib with 1 MiB; /client with whom its certificate names, or "-"; /later in the next task; /hold never; /stream begins; /watch is a stream that is
 * charged as one; /list streams 8 MiB as they are taken.
 *
 * With fixture_admit, "Authorization: Bearer NAME" is user NAME, root is an administrator, wrong is
 * 401, and so is nobody, but on /public, which is answered at the head.
 */
#ifndef TESTS_LIB_SERVER_FIXTURE_H
#define TESTS_LIB_SERVER_FIXTURE_H

#include "alm/io/server.h"

#define CRLF "\r\n"

struct fixture {
	struct loop *loop;
	struct server *server;
	struct exchange *held; /* by /hold and the streams, the last one */
	int n_requests, n_closed, n_stopped, n_admitted;
	size_t queued;
	struct task later;
	char *ca, *ca_key, *cert, *key, *url;
	struct error err;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);
void fixture_handle(void *arg, struct exchange *x);
/* Answers the held one. */
void fixture_reply_held(void *arg);
bool fixture_admit(void *arg, struct exchange *x, struct server_client *ret);
/* On a free port; "x" is one of its names. */
void listen_with(struct fixture *f, struct server_config c);
/* With a certificate of a CA of its own, f->ca. */
void listen_tls(struct fixture *f);

/* A plain socket that speaks what it likes; small: it takes little before it is read. */
int dial(struct fixture *f);
int dial_small(struct fixture *f);
void say(int fd, struct str text);
/* "GET PATH" as a user, or NULL. */
void ask(int fd, const char *method, const char *path, const char *user, const char *more);
/* Turns until want is in what came, or the connection ended ("" waits for that). Borrowed. */
const char *hear(struct fixture *f, int fd, const char *want);
/* Turns for as long as the loop has something to do at once. */
void settle_down(struct fixture *f);

#endif
