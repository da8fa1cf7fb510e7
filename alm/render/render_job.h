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
/* What asks, {done, arg}; it stays where it is until done was called or it was cancelled. */
struct render_call {
	render_done done;
	void *arg;
	const char *name;        /* what is rendered, for errors; NULL: the caller tells */
	struct sandbox *sandbox; /* of the render under way, else NULL */
	struct sandbox_run *run;
};

/* Row of the sandbox' job table. Input: the request's JSON, a NUL, the archive. */
int render_job(struct str input, struct strbuf *output, struct error *err);

/* Processor time of each render from here on, instead of RENDER_CPU_S: --render-cpu. */
void render_job_budget(int cpu_s);
/* call->done is called in a later turn. Time, zone and the seed of randomness come from the
 * request, what is missing there from the loop. */
void render_job_start(struct sandbox *s, struct loop *l, struct str archive,
		      const struct obj *request, struct render_call *call);
/* Any job that gives one JSON document. */
void render_call_start(struct sandbox *s, const char *job, struct str input,
		       const struct sandbox_limits *l, struct render_call *call);
void render_job_cancel(struct render_call *call); /* done does not follow; one that ended is fine */

#endif
