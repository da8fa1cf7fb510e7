/* sandbox_inline: the functions of a sandbox, run in this process. */
#include <assert.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/io/sandbox.h"

struct sandbox_run {
	TAILQ_ENTRY(sandbox_run) link;
	struct sandbox_inline *owner;
	struct task deliver;
	sandbox_done done;
	void *arg;
	struct strbuf output;
	struct error err;
};

struct sandbox_inline {
	struct sandbox sandbox;
	struct loop *loop;
	const struct sandbox_job *jobs;
	TAILQ_HEAD(, sandbox_run) runs;
};

static struct sandbox_inline *inline_of(struct sandbox *s)
{
	return CONTAINER_OF(s, struct sandbox_inline, sandbox);
}

static void inline_cancel(struct sandbox *s, struct sandbox_run *r)
{
	(void)s;
	loop_unpost(r->owner->loop, &r->deliver);
	TAILQ_REMOVE(&r->owner->runs, r, link);
	strbuf_release(&r->output);
	xfree(r);
}

static void deliver(void *arg)
{
	struct sandbox_run *r = arg;
	r->done(r->arg, strbuf_str(&r->output), r->err.code ? &r->err : NULL);
	inline_cancel(&r->owner->sandbox, r);
}

static sandbox_fn find(const struct sandbox_inline *s, const char *job)
{
	const struct sandbox_job *j = s->jobs;
	while (j->name && strcmp(j->name, job) != 0)
		j++;
	assert(j->name);
	return j->fn;
}

/* The text, then the file. */
static void run_on_file(struct sandbox_run *r, sandbox_fn fn, struct str text, int file)
{
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(text.len + SANDBOX_FILE_BYTES);
	strbuf_addstr(&input, text);
	if (file_read_fd(file, "the file", &input, &r->err) == 0)
		(void)fn(strbuf_str(&input), &r->output, &r->err);
	close(file);
}

static struct sandbox_run *inline_run(struct sandbox *sandbox, const char *job, struct str input,
				      int file, const struct sandbox_limits *limits,
				      sandbox_done done, void *arg)
{
	struct sandbox_inline *s = inline_of(sandbox);
	struct sandbox_run *r = xcalloc(1, sizeof(*r));
	size_t output_bytes = limits ? limits->output_bytes : 0;
	r->owner = s;
	r->done = done;
	r->arg = arg;
	r->deliver = (struct task){.fn = deliver, .arg = r};
	strbuf_init(&r->output, output_bytes ? output_bytes : SANDBOX_OUTPUT_BYTES);
	TAILQ_INSERT_TAIL(&s->runs, r, link);
	if (file >= 0)
		run_on_file(r, find(s, job), input, file);
	else
		(void)find(s, job)(input, &r->output, &r->err);
	if (!r->err.code)
		(void)strbuf_check(&r->output, "output", &r->err);
	loop_post(s->loop, &r->deliver);
	return r;
}

static void inline_free(struct sandbox *sandbox)
{
	struct sandbox_inline *s = inline_of(sandbox);
	while (!TAILQ_EMPTY(&s->runs))
		inline_cancel(sandbox, TAILQ_FIRST(&s->runs));
	xfree(s);
}

static const struct sandbox_ops ops = {
	.run = inline_run,
	.cancel = inline_cancel,
	.free = inline_free,
};

struct sandbox *sandbox_inline_new(struct loop *l, const struct sandbox_job *jobs)
{
	struct sandbox_inline *s = xcalloc(1, sizeof(*s));
	s->sandbox.ops = &ops;
	s->loop = l;
	s->jobs = jobs;
	TAILQ_INIT(&s->runs);
	return &s->sandbox;
}
