/*
 * render_host: the outside world of a render, all of it in the request: time, seed, time zones and
 * the answers to lookups. What a template asks for and the request does not answer becomes a need;
 * the executor reads it live (work_ask.c) and the chart is rendered again with the
 * answer. Pure.
 *
 *	need:   {"apiVersion", "kind", "namespace", "name"} or {"zone"}
 *	answer: the need and "value" (an object, a list; null: there is none), or "error", with
 *	        "large": true if it is too much to read
 */
#ifndef ALM_RENDER_RENDER_HOST_H
#define ALM_RENDER_RENDER_HOST_H

#include "alm/base/hash.h"
#include "alm/obj/obj.h"
#include "installers/tmpl/tmpl.h"

#define RENDER_NEEDS_MAX   256
#define RENDER_ROUNDS_MAX  8
#define RENDER_ANSWERS_MAX ((size_t)16 << 20) /* bytes of their JSON */

struct render_host {
	struct tmpl_host host;
	const struct obj *answers; /* list */
	struct obj *needs;         /* list, owned by the arena */
	bool over;                 /* more needs than the limit */
	struct hash_stream random;
};

/* request: {"now", "seed", "zone", "answers"}. */
int render_host_init(struct render_host *h, struct arena *a, const struct obj *request,
		     struct error *err);

#endif
