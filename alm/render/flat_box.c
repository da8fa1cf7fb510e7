#include "alm/render/flat_box.h"

static const struct sandbox_job jobs[] = {FLAT_JOBS, {0}};

/* A loop of its own: what the command waits for on its loop goes on afterwards. */
struct flat_box {
	struct loop *loop;
	struct sandbox *sandbox;
	struct obj *rendered;
	struct error err;
	bool done;
};

int flat_box_new(struct flat_box **ret, struct error *err)
{
	const struct sandbox_config c = {.jobs = jobs};
	CLEANUP(flat_box_freep) struct flat_box *b = xcalloc(1, sizeof(*b));
	b->loop = loop_event_new();
	if (sandbox_process_new(b->loop, &c, &b->sandbox, err) < 0)
		return -err->code;
	*ret = STEAL(b);
	return 0;
}

void flat_box_free(struct flat_box *b)
{
	if (!b)
		return;
	sandbox_free(b->sandbox);
	loop_free(b->loop);
	xfree(b);
}

static void on_done(void *arg, struct obj *rendered, const struct error *err)
{
	struct flat_box *b = arg;
	b->rendered = rendered;
	b->err = err ? *err : ERROR_INIT;
	b->done = true;
	loop_stop(b->loop);
}

/* The sandbox ends each job at its limits. */
static int wait_for(struct flat_box *b, struct arena *a, const struct obj **ret, struct error *err)
{
	while (!b->done)
		loop_run(b->loop);
	b->done = false;
	*ret = obj_keep(a, STEAL(b->rendered));
	return b->err.code ? error_copy(err, &b->err) : 0;
}

int flat_box_files(struct flat_box *b, const char *dir, const char *ns, struct flat *ret,
		   struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct files files = {.a = ret->a};
	struct render_call call = {.done = on_done, .arg = b, .name = dir};
	const struct obj *rendered, *rollout;
	if (tree_read_dir(dir, &files, err) < 0)
		return -err->code;
	flat_job_files(b->sandbox, &files, ns, &call);
	if (wait_for(b, ret->a, &rendered, err) < 0)
		return -err->code;
	return flat_job_read(rendered, ns, ret, &rollout, &msg, err);
}

/* A live list needs a cluster, and somebody who asks it. */
static const struct obj *unavailable(struct arena *a, const struct flat_program *p,
				     const struct tree_program *t)
{
	struct obj *o = obj_keep(a, obj_map());
	for (size_t i = 0; i < t->n_lists; i++)
		if (!obj_has(p->runtime, t->lists[i]))
			obj_set_str(o, t->lists[i], "live lists are not built yet");
	return o;
}

int flat_box_jsonnet(struct flat_box *b, const struct flat_program *p, struct flat *ret,
		     const struct obj **ret_rollout, struct strbuf *msg, struct error *err)
{
	struct files files = {.a = ret->a};
	struct tree_program t;
	const struct obj *rendered;
	if (tree_read_program(p->entrypoint, p->jpath, p->n_jpath, &files, &t, err) < 0)
		return -err->code;
	const struct flat_request rq = {.ns = p->ns,
					.entrypoint = t.entrypoint,
					.roots = t.roots,
					.ext_str = p->ext_str,
					.runtime = p->runtime,
					.unavailable = unavailable(ret->a, p, &t)};
	struct render_call call = {.done = on_done, .arg = b, .name = t.entrypoint};
	flat_job_jsonnet(b->sandbox, &files, &rq, &call);
	if (wait_for(b, ret->a, &rendered, err) < 0)
		return -err->code;
	return flat_job_read(rendered, p->ns, ret, ret_rollout, msg, err);
}
