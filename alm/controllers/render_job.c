#include "alm/controllers/render_job.h"

#include "alm/obj/json.h"

struct job {
	render_done done;
	void *arg;
};

static void finished(void *arg, struct str output, const struct error *err)
{
	struct job *j = arg;
	struct error bad;
	struct obj *value = NULL;
	if (!err && json_parse(output, &value, &bad) < 0) {
		error_wrap(&bad, "what the renderer answered");
		err = &bad;
	}
	j->done(j->arg, value, err);
	xfree(j);
}

void render_job_start(struct sandbox *s, struct str archive, const struct obj *request,
		      render_done done, void *done_arg)
{
	struct job *j = xcalloc(1, sizeof(*j));
	j->done = done;
	j->arg = done_arg;
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(SANDBOX_INPUT_BYTES);
	json_print(request, &input);
	strbuf_addc(&input, '\0');
	strbuf_addstr(&input, archive);
	sandbox_run(s, RENDER_JOB, strbuf_str(&input), NULL, finished, j);
}
