/*
 * template_box: reads the chart and opens files; what is in them is looked at in a sandboxed child,
 * whose every wish is checked here.
 */
#include "alm/cli/chart/template_box.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/cli/chart/chart_dir.h"
#include "alm/cli/chart/template_run.h"
#include "alm/cli/term.h"
#include "alm/io/loop.h"
#include "alm/io/sandbox_fork.h"
#include "alm/io/zones.h"

/* The time of the processor is what a chart is given; reading it is ours. */
static const struct sandbox_limits limits = {.memory_bytes = RENDER_MEMORY_BYTES,
					     .output_bytes = TEMPLATE_OUTPUT_MAX,
					     .cpu_s = RENDER_CPU_S,
					     .wall_ns = RENDER_WALL_NS};

/* The output goes out in pieces, so that this process does not hold it once more. */
#define PIECE_BYTES ((size_t)64 << 10)

enum wish { WISH_READ = 'r', WISH_ZONE = 'z', WISH_WRITE = 'w', WISH_OUT = 'o', WISH_ERR = 'e' };

struct job {
	struct arena *a;
	struct template_args *args;
	template_box_fn fn;
	enum box_output output;
	int64_t now_ns;
	struct hash_stream random;
	size_t written; /* bytes of both outputs */
	int lost;       /* errno of an output that was not taken */
	/* in the child */
	struct sandbox_peer *peer;
	struct strbuf *errors;
	bool is_gone; /* nobody takes the output */
};

/* ---- in the child ---- */

static int entropy(void *ctx, void *out, size_t len)
{
	struct job *job = ctx;
	hash_stream_read(&job->random, out, len);
	return 0;
}

static int ask_zone(void *ctx, struct arena *a, struct str name, struct str *ret)
{
	struct job *job = ctx;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	if (sandbox_ask(job->peer, WISH_ZONE, name, &b, &err) < 0)
		return -err.code;
	*ret = str_n(arena_memdup(a, b.buf, b.len), b.len);
	return 0;
}

static int ask_read(void *ctx, const char *path, struct strbuf *b, struct error *err)
{
	struct job *job = ctx;
	return sandbox_ask(job->peer, WISH_READ, str_of(path), b, err);
}

/* The path, a NUL, the text. */
static int ask_write(void *ctx, const char *path, struct str text, struct error *err)
{
	struct job *job = ctx;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(STRBUF_SMALL);
	strbuf_add(&b, path, strlen(path) + 1);
	strbuf_addstr(&b, text);
	return sandbox_ask(job->peer, WISH_WRITE, strbuf_str(&b), &answer, err);
}

static int put(struct job *job, enum wish stream, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	int rc = 0;
	while (rc == 0 && text.len) {
		struct str piece = str_clip(text, PIECE_BYTES);
		if (!piece.len) /* no text at all: continuation bytes only */
			piece = str_sub(text, 0, PIECE_BYTES);
		rc = sandbox_ask(job->peer, (char)stream, piece, &answer, &err);
		text = str_skip(text, piece.len);
	}
	return rc;
}

/* Warnings come before the output. */
static void put_output(void *ctx, struct str text)
{
	struct job *job = ctx;
	if (put(job, WISH_ERR, strbuf_str(job->errors)) < 0 || put(job, WISH_OUT, text) < 0)
		job->is_gone = true;
	strbuf_clear(job->errors);
}

static int render(void *arg, struct sandbox_peer *peer)
{
	struct job *job = arg;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	CLEANUP(strbuf_release) struct strbuf errors = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	const struct template_io io = {
		.read = ask_read, .write = ask_write, .put = put_output, .ctx = job};
	const char *zone = getenv("TZ");
	const struct tmpl_host host = {.now_ns = job->now_ns,
				       .zone = zone && *zone ? zone : "UTC",
				       .entropy = entropy,
				       .zone_bytes = ask_zone,
				       .ctx = job};
	job->peer = peer;
	job->errors = &errors;
	job->args->io = &io;
	int code = job->fn(job->a, job->args, &host, &out, &errors);
	put_output(job, strbuf_str(&out));
	return job->is_gone ? 1 : code;
}

/* ---- outside ---- */

/* Only what the command line names may be read. */
static bool is_named(const struct template_list *l, struct str path)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_contains(str_of(l->items[i]), path))
			return true;
	return false;
}

static int serve_read(struct job *job, struct str path, struct strbuf *answer, struct error *err)
{
	if (!path.len ||
	    (!is_named(&job->args->values, path) && !is_named(&job->args->set_file, path)))
		return error_set(err, E_FORBIDDEN, "%.*s: not on the command line", STR_ARG(path));
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEMPLATE_FILE_MAX);
	if (file_read_input(arena_text(job->a, path.ptr, path.len), &text, err) < 0)
		return -err->code;
	strbuf_addstr(answer, strbuf_str(&text));
	return 0;
}

static int serve_zone(struct job *job, struct str name, struct strbuf *answer, struct error *err)
{
	struct str bytes;
	int rc = zones_read(NULL, job->a, name, &bytes);
	if (rc < 0)
		return error_set(err, -rc, "no time zone %.*s", STR_ARG(name));
	strbuf_addstr(answer, bytes);
	return 0;
}

static int serve_write(struct job *job, struct str request, struct error *err)
{
	struct str path, text, head, part;
	if (!job->args->output_dir || !str_cut(request, '\0', &path, &text) ||
	    !str_has_prefix(path, str_of(job->args->output_dir)))
		return error_set(err, E_FORBIDDEN, "no such file is to be written");
	head = str_skip(path, strlen(job->args->output_dir));
	if (!str_has_prefix(head, STR("/"))) /* "out" is no prefix of "outside/x" */
		return error_set(err, E_FORBIDDEN, "no such file is to be written");
	while (str_next(&head, '/', &part))
		if (str_is(part, ".."))
			return error_set(err, E_FORBIDDEN, "%.*s leaves the folder", STR_ARG(path));
	return template_write(arena_text(job->a, path.ptr, path.len), text, err);
}

static int serve_put(struct job *job, enum wish stream, struct str text, struct error *err)
{
	job->written += text.len;
	if (job->written > 2 * (size_t)TEMPLATE_OUTPUT_MAX)
		return error_set(err, E_LIMIT, "too much output");
	if (stream == WISH_ERR)
		term_error_lines(text);
	else if (job->output == BOX_TEXT)
		term_lines(text);
	else
		job->lost = term_data(text);
	return job->lost ? error_set(err, E_IO, "the output cannot be written") : 0;
}

static int serve(void *arg, char kind, struct str request, struct strbuf *answer, struct error *err)
{
	switch ((enum wish)kind) {
	case WISH_READ:
		return serve_read(arg, request, answer, err);
	case WISH_ZONE:
		return serve_zone(arg, request, answer, err);
	case WISH_WRITE:
		return serve_write(arg, request, err);
	case WISH_OUT:
	case WISH_ERR:
		return serve_put(arg, (enum wish)kind, request, err);
	}
	return error_set(err, E_INVALID, "no such request");
}

static void read_chart(struct job *job)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct chart_source *source = ARENA_NEW(job->a, struct chart_source);
	job->args->source = source;
	if (chart_dir_read(job->a, job->args->chart, source, &msg) < 0)
		job->args->chart_failure = arena_text(job->a, msg.buf, msg.len);
}

static void fill_inputs(struct job *job)
{
	struct loop *loop = loop_event_new();
	job->now_ns = job->args->now_ns ? job->args->now_ns : loop_now(loop);
	if (job->args->seed)
		sha256(str_of(job->args->seed), job->random.seed);
	else
		loop_random(loop, job->random.seed, sizeof(job->random.seed));
	loop_free(loop);
}

int template_box_run(struct arena *a, struct template_args *args, template_box_fn fn,
		     enum box_output output)
{
	struct error err;
	struct job job = {.a = a, .args = args, .fn = fn, .output = output};
	int status = 1;
	struct sandbox_limits own = limits;
	if (args->render_cpu_s)
		own.cpu_s = args->render_cpu_s;
	fill_inputs(&job);
	read_chart(&job);
	if (sandbox_fork(&own, render, serve, &job, &status, &err) < 0) {
		term_error("Error: rendering %s: %s\n", args->chart, err.msg);
		return 1;
	}
	int late = term_flush();
	if (!job.lost)
		job.lost = late;
	if (job.lost && job.lost != EPIPE) /* who closes a pipe knows */
		term_error("Error: the output cannot be written: %s\n", strerror(job.lost));
	return job.lost ? 1 : status;
}
