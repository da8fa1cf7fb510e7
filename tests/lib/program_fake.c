#include "tests/lib/program_fake.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/io/loop.h"

#define RUN_NS  (20 * NS_PER_MS)
#define LATE_NS (9 * NS_PER_S)

struct program_run {
	TAILQ_ENTRY(program_run) link;
	struct programs_fake *owner;
	struct timer timer;
	program_done done;
	void *arg;
	int status;
	struct strbuf output, errors;
	struct error err;
};

struct programs_fake {
	struct programs programs;
	struct loop *loop;
	program_fake_strikes strikes;
	void *strikes_arg;
	const struct program_fake_row *rows;
	TAILQ_HEAD(, program_run) runs;
};

static void run_free(struct program_run *r)
{
	loop_disarm(r->owner->loop, &r->timer);
	TAILQ_REMOVE(&r->owner->runs, r, link);
	strbuf_release(&r->output);
	strbuf_release(&r->errors);
	xfree(r);
}

static void finished(void *arg)
{
	struct program_run *r = arg;
	const struct program_result result = {.status = r->err.code ? -1 : r->status,
					      .output = strbuf_str(&r->output),
					      .errors = strbuf_str(&r->errors)};
	r->done(r->arg, &result, r->err.code ? &r->err : NULL);
	run_free(r);
}

static const struct program_fake_row *find(const struct programs_fake *p, const char *path)
{
	const struct program_fake_row *row = p->rows;
	while (row->name && strcmp(row->name, strrchr(path, '/') + 1) != 0)
		row++;
	return row->name ? row : NULL;
}

static bool is_struck(struct programs_fake *p, enum program_fault which)
{
	return p->strikes && p->strikes(p->strikes_arg, which);
}

static void perform(struct program_run *r, const struct program_call *call)
{
	const struct program_fake_row *row = find(r->owner, call->path);
	size_t limit = call->limits.output_bytes;
	if (!row) {
		error_set(&r->err, E_NOTFOUND, "%s: no such program", call->path);
		return;
	}
	if (is_struck(r->owner, PROGRAM_KILLED)) {
		error_set(&r->err, E_INTERNAL, "%s: ended by signal 9", call->path);
		return;
	}
	r->status = row->fn(row->arg, call, &r->output, &r->errors);
	if (is_struck(r->owner, PROGRAM_GARBAGE)) {
		strbuf_truncate(&r->output, r->output.len / 2);
		r->status = 128; /* what it could not write it says; 1 is an answer of some */
	}
	if (r->output.len > (limit ? limit : PROGRAM_OUTPUT_BYTES))
		error_set(&r->err, E_LIMIT, "%s: printed more than %zu bytes", call->path, limit);
}

static struct program_run *fake_run(struct programs *programs, const struct program_call *call,
				    program_done done, void *arg)
{
	struct programs_fake *p = CONTAINER_OF(programs, struct programs_fake, programs);
	struct program_run *r = xcalloc(1, sizeof(*r));
	int64_t wall = call->limits.wall_ns ? call->limits.wall_ns : PROGRAM_WALL_NS;
	r->owner = p;
	r->done = done;
	r->arg = arg;
	r->timer = (struct timer){.fn = finished, .arg = r};
	strbuf_init(&r->output, STRBUF_SMALL * 64);
	strbuf_init(&r->errors, STRBUF_SMALL);
	TAILQ_INSERT_TAIL(&p->runs, r, link);
	int64_t takes = is_struck(p, PROGRAM_LATE) ? LATE_NS : RUN_NS;
	perform(r, call);
	if (takes > wall)
		error_set(&r->err, E_LIMIT, "%s: has not ended within %lld ms", call->path,
			  (long long)(wall / NS_PER_MS));
	loop_arm(p->loop, &r->timer, takes < wall ? takes : wall);
	return r;
}

static void fake_cancel(struct programs *p UNUSED, struct program_run *r)
{
	run_free(r);
}

static void fake_free(struct programs *programs)
{
	struct programs_fake *p = CONTAINER_OF(programs, struct programs_fake, programs);
	while (!TAILQ_EMPTY(&p->runs))
		run_free(TAILQ_FIRST(&p->runs));
	xfree(p);
}

static const struct programs_ops ops = {fake_run, fake_cancel, fake_free};

struct programs *programs_fake_new(struct loop *l, const struct program_fake_row *rows,
				   program_fake_strikes strikes, void *arg)
{
	struct programs_fake *p = xcalloc(1, sizeof(*p));
	p->programs.ops = &ops;
	p->loop = l;
	p->strikes = strikes;
	p->strikes_arg = arg;
	p->rows = rows;
	TAILQ_INIT(&p->runs);
	return &p->programs;
}
