/*
 * injected_server: HTTPS for the API server of a cluster, which ALM's own certificates are trusted by:
 * a CA in the data folder (own_ca.h), which stands in an object of the cluster and is replaced without
 * losing a request (injected_ca.h); of it a serving certificate in memory for 30 days
 * (serving_cert.h).
 */
#ifndef ALM_MAIN_INJECTED_SERVER_H
#define ALM_MAIN_INJECTED_SERVER_H

#include "alm/client/injected_ca.h"
#include "alm/io/serving_cert.h"

struct injected_server_config {
	struct client *client;          /* borrowed */
	const char *data_dir, *ca_name; /* borrowed */
	const struct injected_ca_place *place;
	const char *object;       /* borrowed */
	const char *host;         /* NAME.NAMESPACE.svc of its Service; borrowed */
	const char *const *hosts; /* further ones that may stand in Host; borrowed */
	size_t n_hosts;
	const char *listen; /* borrowed */
	server_admit admit; /* these as of server_config */
	size_t body_max;
	int64_t body_ns;
	const struct quota_limit *limits;
};

/* A value, which stays where it is. */
struct injected_server {
	const char *hosts[1];
	struct injected_ca *ca;
	struct serving_cert serving;
	struct server *server;
};

/* arena keeps names for as long as it serves. On an error it is to be released, too. */
int injected_server_start(struct injected_server *s, const struct injected_server_config *c,
			  struct arena *arena, server_handler handler, void *arg,
			  struct error *err);
/* Whether the object is ours to write. */
void injected_server_lead(struct injected_server *s, bool leads);
/* No CA is looked after from now on; what is open is answered. */
void injected_server_end(struct injected_server *s);
void injected_server_release(struct injected_server *s);

#endif
