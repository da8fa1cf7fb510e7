/*
 * hook_line: where a webhook listens, and the connections to it.
 *
 * A url is taken as it is. A service is looked for in the store, as there is no network of Services
 * here: the first ready endpoint of its EndpointSlices (or Endpoints), at the port behind the one
 * that is named, is asked under the name SERVICE.NAMESPACE.svc; of an ExternalName its host. Pods
 * that are simulated answer nothing: HOOK_SIMULATED.
 */
#ifndef ALM_APISERVER_ADMISSION_HOOK_LINE_H
#define ALM_APISERVER_ADMISSION_HOOK_LINE_H

#include "alm/apiserver/apiserver.h"
#include "alm/io/transport.h"

#define HOOK_LINES_MAX 64 /* servers whose connections are kept; more while they are asked */

/* Texts of the arena it was found with. */
struct hook_target {
	const char *base_url;    /* https://HOST:PORT to connect to */
	const char *server_name; /* of the certificate; NULL: the host */
	const char *path;        /* with query */
	const char *shown;       /* the URL, as messages say it */
	const char *ca_pem;      /* NULL: the authorities of the system */
};

enum { HOOK_FOUND, HOOK_SIMULATED };

/* clientConfig of a webhook. HOOK_FOUND, HOOK_SIMULATED, or E_NOTFOUND, E_UNAVAILABLE with what
 * follows on `failed to call webhook: `. */
int hook_target_find(struct apiserver *s, const struct obj *client_config, int64_t timeout_s,
		     struct arena *a, struct hook_target *ret, struct error *err);

struct hook_lines;
struct hook_lines *hook_lines_new(struct apiserver *s);
void hook_lines_free(struct hook_lines *l); /* nothing is under way */

/* One connection pool, in use until it is put back. */
struct hook_line;
/* E_UNSUPPORTED: this server calls nobody (config.dial). */
int hook_line_get(struct hook_lines *l, const struct hook_target *t, struct hook_line **ret,
		  struct error *err);
struct transport *hook_line_transport(struct hook_line *l);
void hook_line_put(struct hook_line *l);

#endif
