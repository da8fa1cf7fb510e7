#include "alm/cli/bundle/bundle_git.h"

#include "alm/io/loop_event.h"

#define OUTPUT_BYTES ((size_t)32 << 20)
#define WALL_NS      (5 * NS_PER_MIN) /* of a fetch or a push, too */
#define USERS_NS     NS_PER_HOUR      /* with hooks that may test what is pushed */

int bundle_git_open(struct bundle_git *q, const char *dir, struct arena *a, struct error *err)
{
	*q = (struct bundle_git){.loop = loop_event_new(), .a = a, .place = {.dir = dir}};
	if (programs_process_new(q->loop, &q->place.programs, err) == 0)
		return 0;
	loop_free(q->loop);
	return -err->code;
}

void bundle_git_close(struct bundle_git *q)
{
	programs_free(q->place.programs);
	loop_free(q->loop);
}

static struct str keep(const struct bundle_git *q, struct str s)
{
	return str_n(arena_text(q->a, s.ptr ? s.ptr : "", s.len), s.len);
}

void bundle_git_done(struct bundle_git *q, const struct error *err)
{
	q->done = true;
	q->err = err ? *err : ERROR_INIT;
	loop_stop(q->loop);
}

static void answered(void *arg, const struct program_result *r, const struct error *err)
{
	struct bundle_git *q = arg;
	q->status = err ? -1 : r->status;
	q->output = err ? STR_NONE : keep(q, r->output);
	q->errors = err ? STR_NONE : keep(q, r->errors);
	bundle_git_done(q, err);
}

void bundle_git_wait(struct bundle_git *q)
{
	while (!q->done)
		loop_run(q->loop);
	q->done = false;
}

void bundle_git_ask(struct bundle_git *q, struct str input, const char *const *args)
{
	const int64_t wall_ns = q->place.is_users ? USERS_NS : WALL_NS;
	const struct git_stage stage = {*args, OUTPUT_BYTES, wall_ns, answered};
	(void)git_run(&q->place, &stage, input, args, q);
	bundle_git_wait(q);
}

int bundle_git_said(const struct bundle_git *q, const char *what, struct error *err)
{
	if (q->err.code)
		return error_copy(err, &q->err);
	return error_set(err, E_IO, "git %s: %.*s", what, STR_ARG(git_fatal_line(q->errors)));
}

int bundle_git_must(struct bundle_git *q, struct str input, const char *const *args,
		    struct error *err)
{
	bundle_git_ask(q, input, args);
	return q->status ? bundle_git_said(q, *args, err) : 0;
}
