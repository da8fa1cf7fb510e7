/*
 * cmd_wait: until an expression over one object holds (jsonql.md "Errors and waiting").
 *
 * The first evaluation is on the object as listed, then on every watch event; with age() also every
 * second. A closed watch begins again with a list.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/kube/targets.h"
#include "alm/cli/kube/transition_log.h"
#include "alm/cli/kube/write.h"
#include "alm/cli/term.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/obj/query/wait_expr.h"

#define RELIST_NS  NS_PER_S
#define OUTPUT_MAX ((size_t)64 << 20)

static const struct cmd_option options[] = {
	{"for", "CONDITION",
	 "jsonql=EXPR, condition=TYPE[=STATUS], jsonpath=PATH=VALUE, create, delete", 0},
	{"until", "CONDITION", "the same", 0},
	{"unless", "CONDITION", "ends with 1 when this holds", 0},
	{"timeout", "DURATION", "longest wait (default 30s); ends with 124", 0},
	{"logs", NULL, "prints transitions on standard error meanwhile", 0},
	{"output", "FORMAT", "prints the object at the end", 'o'},
	{0},
};

struct wait {
	struct cli *c;
	struct session *s;
	struct target target;
	struct wait_expr until, unless;
	bool has_unless;
	struct obj *last; /* owned; NULL: not there (yet) */
	bool seen, deleted;
	bool met, ended, closed;
};

/* Sets ended when the wait is over. */
static void judge(struct wait *w)
{
	int64_t now = loop_now(session_loop(w->s));
	bool refused = w->has_unless && wait_expr_holds(&w->unless, w->last, now, NULL);
	if (!refused && wait_expr_holds(&w->until, w->last, now, NULL))
		w->ended = w->met = true;
	else if (refused || (w->deleted && !wait_expr_wants_delete(&w->until)))
		w->ended = true;
	if (w->ended)
		session_stop(w->s);
}

static void set_last(struct wait *w, const struct obj *o, bool gone)
{
	if (o) {
		obj_unref(w->last);
		w->last = obj_ref(o);
		w->seen = true;
	}
	w->deleted = gone && w->seen;
	if (gone && (wait_expr_wants_delete(&w->until))) {
		obj_unref(w->last);
		w->last = NULL;
	}
	judge(w);
}

static void on_event(void *arg, const struct obj *event)
{
	struct wait *w = arg;
	const char *type = obj_str(event, "type");
	if (!type || !strcmp(type, "BOOKMARK") || w->ended)
		return;
	if (!strcmp(type, "ERROR")) {
		w->closed = true;
		session_stop(w->s);
		return;
	}
	set_last(w, obj_get(event, "object"), !strcmp(type, "DELETED"));
}

static void on_closed(void *arg, const struct error *err)
{
	struct wait *w = arg;
	(void)err;
	w->closed = true;
	session_stop(w->s);
}

static const char *query(const struct wait *w, const char *more)
{
	struct arena *a = w->c->arena;
	const char *field = arena_fmt(a, "metadata.name=%s", w->target.name);
	return arena_fmt(a, "fieldSelector=%s%s", url_encode(str_of(field), a), more);
}

/* One list and one watch; until ended, closed or the end of time. */
static int round_trip(struct wait *w, int64_t end, struct error *err)
{
	const struct obj *list = NULL;
	int r = session_get(
		w->s, session_target(w->s, &w->target.resource, w->target.ns, NULL, query(w, "")),
		&list, err);
	if (r < 0)
		return r;
	const struct obj *o = obj_at(obj_get(list, "items"), 0);
	set_last(w, o, !o);
	if (w->ended)
		return 0;
	const char *rv = obj_str(list, "metadata.resourceVersion");
	const char *more = arena_fmt(w->c->arena, "&watch=true&resourceVersion=%s", rv ? rv : "");
	w->closed = false;
	struct session_watch *watch = session_watch_start(
		w->s, session_target(w->s, &w->target.resource, w->target.ns, NULL, query(w, more)),
		ACCEPT_JSON, on_event, on_closed, w);
	bool clock = wait_expr_uses_clock(&w->until) ||
		     (w->has_unless && wait_expr_uses_clock(&w->unless));
	while (!w->ended && !w->closed && loop_mono(session_loop(w->s)) < end) {
		int64_t left = end - loop_mono(session_loop(w->s));
		(void)session_run(w->s, clock && left > NS_PER_S ? NS_PER_S : left);
		if (!w->ended && clock)
			judge(w);
	}
	session_watch_free(watch);
	if (w->closed && !w->ended)
		(void)session_run(w->s, RELIST_NS);
	return 0;
}

static int print_end(struct wait *w, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUTPUT_MAX);
	struct printer p;
	int r = printer_parse(cli_value(w->c, "output"), &p, err);
	if (r < 0)
		return r;
	if (printer_is_table(&p)) {
		if (w->last) {
			printer_name(w->last, &b);
			visible_addf(&b, " condition met\n");
		} else {
			for (const char *k = w->target.resource.kind; *k; k++)
				strbuf_addc(&b, char_lower(*k));
			visible_addf(&b, "%s%s/%s condition met\n",
				     *w->target.resource.group ? "." : "", w->target.resource.group,
				     w->target.name);
		}
	} else if (w->last)
		r = printer_object(&p, w->last, &b, err);
	printer_write(&p, strbuf_str(&b));
	return r;
}

static int timed_out(struct wait *w, int64_t timeout, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	CLEANUP(strbuf_release) struct strbuf notes = STRBUF_INIT(JSONQL_NOTES_MAX);
	char span[CLOCK_TEXT_MAX];
	duration_format(timeout, span);
	if (!w->last)
		return error_set(err, E_TIMEOUT, "timed out after %s: %s: %s/%s does not exist",
				 span, w->until.text, w->target.resource.plural, w->target.name);
	(void)wait_expr_holds(&w->until, w->last, loop_now(session_loop(w->s)), &notes);
	wait_expr_values(&w->until, w->last, &b);
	return error_set(err, E_TIMEOUT, "timed out after %s: %s: last value %s%s%s", span,
			 w->until.text, b.len ? b.buf : "none", notes.len ? "; " : "", notes.buf);
}

static int wait_loop(struct wait *w, int64_t timeout, struct error *err)
{
	int64_t end = loop_mono(session_loop(w->s)) + timeout;
	int r = 0;
	while (r >= 0 && !w->ended && loop_mono(session_loop(w->s)) < end) {
		struct error one = ERROR_INIT;
		r = round_trip(w, end, &one);
		/* a server that restarts is waited for */
		if (r == -E_IO || r == -E_UNAVAILABLE || r == -E_TIMEOUT) {
			r = 0;
			(void)session_run(w->s, RELIST_NS);
		} else if (r < 0)
			error_copy(err, &one);
	}
	if (r < 0)
		return r;
	if (!w->ended)
		return timed_out(w, timeout, err);
	if (w->met)
		return print_end(w, err);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	wait_expr_values(&w->until, w->last, &b);
	return error_set(err, E_INTERNAL, "%s/%s %s: last value %s", w->target.resource.plural,
			 w->target.name, w->deleted ? "was deleted" : "matches --unless",
			 b.len ? b.buf : "none");
}

/* TYPE/NAME [EXPR] or TYPE NAME [EXPR]; the expression may be in --for or --until instead. */
static int read_args(struct wait *w, const char **ret_expr, struct error *err)
{
	struct cli *c = w->c;
	struct str type = str_of(c->args[0]), name = STR_NONE;
	size_t next = 1;
	if (!str_cut(type, '/', &type, &name)) {
		if (c->n_args < 2)
			return error_set(err, E_USAGE, "usage: %s", c->cmd->usage);
		name = str_of(c->args[next++]);
	}
	w->target.name = arena_strndup(c->arena, name.ptr, name.len);
	*ret_expr = next < c->n_args ? c->args[next++] : NULL;
	if (next < c->n_args)
		return error_set(err, E_USAGE, "unexpected argument %s", c->args[next]);
	const char *given = cli_value(c, "until") ? cli_value(c, "until") : cli_value(c, "for");
	if (*ret_expr && given)
		return error_set(err, E_USAGE, "two conditions: %s and %s", *ret_expr, given);
	if (!*ret_expr)
		*ret_expr = given;
	if (!*ret_expr)
		return error_set(err, E_USAGE, "a condition is missing; usage: %s", c->cmd->usage);
	return 0;
}

static int prepare(struct wait *w, int64_t *ret_timeout, struct error *err)
{
	const char *expr = NULL, *unless = cli_value(w->c, "unless");
	struct printer p;
	int r = cli_duration(w->c, "timeout", 30 * NS_PER_S, ret_timeout, err);
	if (r >= 0)
		r = printer_parse(cli_value(w->c, "output"), &p, err);
	if (r >= 0)
		r = read_args(w, &expr, err);
	if (r >= 0)
		r = wait_expr_parse(w->c->arena, expr, &w->until, err);
	if (r >= 0 && unless) {
		w->has_unless = true;
		r = wait_expr_parse(w->c->arena, unless, &w->unless, err);
	}
	return r;
}

static int run(struct cli *c, struct error *err)
{
	struct wait *w = ARENA_NEW(c->arena, struct wait);
	struct transition_log *log = NULL;
	int64_t timeout = 0;
	w->c = c;
	int r = prepare(w, &timeout, err);
	if (r >= 0)
		r = session_open(c, &w->s, err);
	if (r >= 0) {
		struct str type, name;
		str_cut(str_of(c->args[0]), '/', &type, &name);
		r = session_resource(w->s, arena_strndup(c->arena, type.ptr, type.len),
				     &w->target.resource, err);
		w->target.ns = session_ns(w->s, &w->target.resource, false);
	}
	if (r >= 0 && cli_flag(c, "logs"))
		log = transition_log_start(w->s, c->arena, w->target.name);
	if (r >= 0)
		r = wait_loop(w, timeout, err);
	transition_log_free(log);
	wait_expr_release(&w->until);
	wait_expr_release(&w->unless);
	obj_unref(w->last);
	session_free(w->s);
	return r;
}

const struct cmd cmd_wait = {
	.name = "wait",
	.usage = "alm wait (TYPE NAME | TYPE/NAME) (EXPR | --for CONDITION) [--unless CONDITION] "
		 "[--timeout D] [--logs] [-o FORMAT]",
	.summary = "wait until a condition holds",
	.description = "A condition without a prefix is a JSONQL expression over the object.",
	.examples = "alm wait apptype etcd \"status.installedVersion = '0.9.5'\" --timeout 2m\n"
		    "alm wait apptype/etcd --for=condition=Ready",
	.options = options,
	.args = {1, 3},
	.run = run,
};
