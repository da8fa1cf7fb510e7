/*
 * shadow: what a server says of live objects under rules that are not in force yet (lifecycle.md
 * 3). The API server is the only evaluator of CEL that counts, so a temporary CRD in a group of its
 * own gets the new schema, each object is created against it as a dry run, and the CRD is deleted.
 * One that a crash left over is deleted by shadow_sweep() at start-up.
 *
 *	s = shadow_new(&config);                create the CRD, wait until it is served
 *	... config.ready(arg, usable)           false: we may not, or it does not come up
 *	shadow_check(s, items, versions, n);    config.verdict() for each, then config.checked()
 *	shadow_close(s);                        config.closed(): deleted; s is gone
 */
#ifndef ALM_LIVE_SHADOW_H
#define ALM_LIVE_SHADOW_H

#include "alm/client/client.h"

#define SHADOW_LABEL        "app.coreos.com/shadow"
#define SHADOW_GROUP        "gate.app.coreos.com"
#define SHADOW_VERSIONS_MAX 16

struct shadow;

struct shadow_config {
	struct client *client;
	const struct obj *crd; /* the planned one, as the server would store it; referenced */
	const char *versions[SHADOW_VERSIONS_MAX]; /* whose schemas are tried; NULL-ended, copied */
	void (*ready)(void *arg, bool usable);
	/* message NULL: it would be accepted. o is borrowed. */
	void (*verdict)(void *arg, const struct obj *o, const char *version, const char *message);
	void (*checked)(void *arg, const struct error *err);
	void (*closed)(void *arg);
	void *arg;
};

struct shadow *shadow_new(const struct shadow_config *c);
/* Each of the items (a list, referenced) through one of the versions, or through all: NULL. */
void shadow_check(struct shadow *s, const struct obj *items, const char *version);
void shadow_close(struct shadow *s);
/* Cancels; leaves the CRD to the sweep. */
void shadow_free(struct shadow *s);

/* Deletes what a crash left over; nobody waits for it. */
void shadow_sweep(struct client *c);

#endif
