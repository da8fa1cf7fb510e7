/*
 * render_job: rendering a chart as a job of the sandbox: archive bytes and a request in, one JSON
 * document {objects, hooks, crds, notes, warnings, manifest, chart, inputs} out, or {needs, inputs}
 * when the chart asked for what the request does not answer (render_host.h). The function is pure,
 * so the simulation runs it in process; inputs given back in the next request give the same bytes.
 */
#ifndef ALM_RENDER_RENDER_JOB_H
#define ALM_RENDER_RENDER_JOB_H

#include "alm/io/sandbox.h"
#include "alm/obj/obj.h"

#define RENDER_JOB "render"

/* Consumes rendered. */
typedef void (*render_done)(void *arg, struct obj *rendered, const struct error *err);
/* What asks; it stays where it is until done was called, or the sandbox is gone. */
struct render_call {
	render_done done;
	void *arg;
};

/* Row of the sandbox' job table. Input: the request's JSON, a NUL, the archive. */
int render_job(struct str input, struct strbuf *output, struct error *err);

/* call->done is called in a later turn. Time, zone and the seed of randomness come from the
 * request, what is missing there from the loop. */
void render_job_start(struct sandbox *s, struct loop *l, struct str archive,
		      const struct obj *request, struct render_call *call);

#endif
