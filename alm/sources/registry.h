/*
 * registry: requests to one repository of an OCI registry, with its token flow: a request that is
 * answered 401 is repeated once with what the challenge asks for. Borrows remote and credentials.
 */
#ifndef ALM_SOURCES_REGISTRY_H
#define ALM_SOURCES_REGISTRY_H

#include "alm/sources/credentials.h"
#include "alm/sources/oci.h"
#include "alm/sources/remote.h"

struct registry;

/* actions: "pull" or "pull,push". Credentials that are not for the registry are not used. */
struct registry *registry_new(struct remote *r, const struct oci_reference *ref,
			      const struct credentials *c, const char *actions);
void registry_free(struct registry *g); /* cancels; not from inside done; NULL is fine */
DEFINE_FREEP(registry)

struct registry_request {
	const char *method;       /* NULL: GET */
	const char *path;         /* below /v2/NAME: "/tags/list" */
	const struct weburl *url; /* instead of path: what the registry named itself */
	const char *accept, *content_type, *if_none_match;
	struct str body;
	size_t body_max;
};
/* As remote_send(). */
void registry_send(struct registry *g, const struct registry_request *q, remote_done done,
		   void *arg);

#endif
