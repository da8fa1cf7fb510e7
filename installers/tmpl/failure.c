/*
 * failure: error texts as Go and Helm word them. A failure is a chain of levels; the text of the
 * error object at level i is the levels from i down to the innermost, joined.
 */
#include <stdarg.h>
#include <string.h>

#include "installers/tmpl/run.h"

#undef state_fail
#undef state_fail_str
#undef state_wrap_call
#undef run_wrap
#undef tmpl_fail
#undef tmpl_fail_str
#undef tmpl_fail_code
#undef tmpl_over

#define FAILURE_TEXT_MAX ((size_t)64 << 20)
#define WARN_START       "HELM_ERR_START"
#define WARN_END         "HELM_ERR_END"

static void add_level(struct tmpl_run *run, struct str text)
{
	struct tmpl_failure *f = &run->failure;
	ARENA_GROW(run->arena, f->levels, f->cap, f->n, 8);
	f->levels[f->n++] = text;
}

static int start(struct tmpl_run *run, int code, const struct strbuf *b)
{
	run->failure.code = -code;
	run->failure.located = false;
	run->failure.n = 0;
	add_level(run, value_text(value_take(run->arena, b)));
	return -code;
}

static void print_place(struct state *s, struct strbuf *b)
{
	strbuf_adds(b, "template: ");
	node_location(b, s->node);
	strbuf_adds(b, ": executing ");
	value_quote(b, s->tree->name);
	strbuf_adds(b, " at <");
	node_print(b, s->node);
	strbuf_adds(b, ">: ");
}

int state_fail_str(struct state *s, struct str msg)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FAILURE_TEXT_MAX);
	print_place(s, &b);
	strbuf_addstr(&b, msg);
	return start(s->run, E_INVALID, &b);
}

int state_fail(struct state *s, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FAILURE_TEXT_MAX);
	va_list args;
	va_start(args, fmt);
	print_place(s, &b);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	return start(s->run, E_INVALID, &b);
}

/* Limits and the like end the render with the innermost place, not with a trace. */
static int locate(struct state *s)
{
	struct tmpl_failure *f = &s->run->failure;
	if (f->located || f->n != 1)
		return f->code;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FAILURE_TEXT_MAX);
	strbuf_addstr(&b, f->levels[0]);
	strbuf_adds(&b, " at ");
	node_location(&b, s->node);
	f->levels[0] = value_text(value_take(s->run->arena, &b));
	f->located = true;
	return f->code;
}

int state_wrap_call(struct state *s, struct str name)
{
	if (s->run->failure.code != -E_INVALID)
		return locate(s);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FAILURE_TEXT_MAX);
	print_place(s, &b);
	strbuf_adds(&b, "error calling ");
	strbuf_addstr(&b, name);
	strbuf_adds(&b, ": ");
	add_level(s->run, value_text(value_take(s->run->arena, &b)));
	return s->run->failure.code;
}

int run_wrap(struct tmpl_run *run, struct str prefix)
{
	if (run->failure.code == -E_INVALID)
		add_level(run, prefix);
	return run->failure.code;
}

int tmpl_fail_str(struct tmpl_run *run, struct str msg)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FAILURE_TEXT_MAX);
	strbuf_addstr(&b, msg);
	return start(run, E_INVALID, &b);
}

int tmpl_fail(struct tmpl_run *run, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FAILURE_TEXT_MAX);
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	return start(run, E_INVALID, &b);
}

int tmpl_fail_code(struct tmpl_run *run, int code, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FAILURE_TEXT_MAX);
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	return start(run, code, &b);
}

int tmpl_over(struct tmpl_run *run, const char *budget, size_t limit)
{
	return tmpl_fail_code(run, E_LIMIT, "RenderLimit: more than %zu %s", limit, budget);
}

/* ---- the text for the user ---- */
/* The text of the error object at level i and below. */
static void print_from(const struct tmpl_failure *f, size_t i, struct strbuf *b)
{
	for (size_t k = i + 1; k-- > 0;)
		strbuf_addstr(b, f->levels[k]);
}

/* First ": " at or after from; -1 if none. */
static ptrdiff_t find_colon(struct str s, size_t from)
{
	ptrdiff_t i = str_find(str_skip(s, from), STR(": "));
	return i < 0 ? -1 : i + (ptrdiff_t)from;
}

/* fail and required, at any depth: the outermost place, the marked text. */
static bool print_marked(struct str text, struct strbuf *msg)
{
	ptrdiff_t one = find_colon(text, 0);
	ptrdiff_t two = one < 0 ? -1 : find_colon(text, (size_t)one + 2);
	if (two < 0)
		return false;
	struct str body = str_skip(text, (size_t)two + 2);
	ptrdiff_t from = str_find(body, STR(WARN_START));
	if (from < 0)
		return false;
	body = str_skip(body, (size_t)from + sizeof(WARN_START) - 1);
	size_t end = body.len;
	while (end > 0 && !str_has_prefix(str_skip(body, end), STR(WARN_END)))
		end--;
	if (!str_has_prefix(str_skip(body, end), STR(WARN_END)))
		return false;
	strbuf_adds(msg, "execution error at (");
	strbuf_addstr(msg, str_sub(text, (size_t)one + 2, (size_t)(two - one) - 2));
	strbuf_adds(msg, "): ");
	strbuf_addstr(msg, str_sub(body, 0, end));
	return true;
}

struct trace {
	struct str location, function, message;
};

static struct str before_next(struct str message)
{
	ptrdiff_t cut = str_find(message, STR(" template:"));
	return cut < 0 ? message : str_sub(message, 0, (size_t)cut);
}

/* PLACE: executing "NAME" at <NODE>: MSG. A quote inside NAME ends it too early, as in Helm. */
static bool read_executing(struct str s, struct trace *ret)
{
	const struct str mark = STR(": executing ");
	ptrdiff_t i = str_find(s, mark);
	if (i < 0)
		return false;
	struct str after = str_skip(s, (size_t)i + mark.len);
	if (!str_has_prefix(after, STR("\"")))
		return false;
	ptrdiff_t quote = str_find_char(str_skip(after, 1), '"');
	if (quote < 0)
		return false;
	struct str rest = str_skip(after, (size_t)quote + 2);
	if (!str_has_prefix(rest, STR(" at <")))
		return false;
	ptrdiff_t end = str_find(str_skip(rest, 5), STR(">: "));
	if (end < 0)
		return false;
	ret->location = str_sub(s, 0, (size_t)i);
	/* with the closing ">:" */
	ret->function = str_sub(s, (size_t)i + 2,
				(size_t)(rest.ptr - s.ptr) + 5 + (size_t)end + 2 - (size_t)i - 2);
	ret->message = before_next(str_skip(rest, 5 + (size_t)end + 3));
	return true;
}

static bool read_trace(struct str s, struct trace *ret)
{
	*ret = (struct trace){0};
	if (!str_has_prefix(s, STR("template: ")))
		return false;
	struct str rest = str_skip(s, 10);
	if (str_has_prefix(rest, STR("no template "))) {
		ret->message = s;
		return true;
	}
	if (read_executing(rest, ret))
		return true;
	for (size_t i = rest.len; i-- > 0;) {
		if (!str_has_prefix(str_skip(rest, i), STR(": ")))
			continue;
		ret->location = str_sub(rest, 0, i);
		ret->message = before_next(str_skip(rest, i + 2));
		return true;
	}
	return false;
}

static void print_trace(const struct trace *t, struct strbuf *b)
{
	if (t->location.len) {
		strbuf_addstr(b, t->location);
		strbuf_adds(b, "\n  ");
	}
	if (t->function.len) {
		strbuf_addstr(b, t->function);
		strbuf_adds(b, "\n    ");
	}
	if (t->message.len) {
		strbuf_addstr(b, t->message);
		strbuf_addc(b, '\n');
	}
}

/* Three lines a level; false if one is not of the template package. */
static bool print_traces(const struct tmpl_run *run, struct strbuf *msg)
{
	const struct tmpl_failure *f = &run->failure;
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(FAILURE_TEXT_MAX);
	struct trace last = {0};
	for (size_t i = f->n; i-- > 0;) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(FAILURE_TEXT_MAX);
		print_from(f, i, &text);
		struct trace t;
		if (!read_trace(strbuf_str(&text), &t))
			return false;
		bool same = i + 1 < f->n && str_eq(t.location, last.location) &&
			    str_eq(t.function, last.function) && str_eq(t.message, last.message);
		if (!same)
			print_trace(&t, &all);
		last.location = value_text(value_strcpy(run->arena, t.location));
		last.function = value_text(value_strcpy(run->arena, t.function));
		last.message = value_text(value_strcpy(run->arena, t.message));
	}
	strbuf_addstr(msg, str_trim(strbuf_str(&all)));
	return true;
}

void failure_print(const struct tmpl_run *run, struct strbuf *msg)
{
	const struct tmpl_failure *f = &run->failure;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(FAILURE_TEXT_MAX);
	print_from(f, f->n - 1, &text);
	if (f->code == -E_INVALID) {
		if (print_marked(strbuf_str(&text), msg))
			return;
		if (run->set->profile != TMPL_PROFILE_3 && print_traces(run, msg))
			return;
	}
	strbuf_addstr(msg, strbuf_str(&text));
}

void failure_print_parse(struct str file, struct str parser_msg, struct strbuf *msg)
{
	ptrdiff_t one = find_colon(parser_msg, 0);
	if (one < 0) {
		strbuf_adds(msg, "parse error in (");
		strbuf_addstr(msg, file);
		strbuf_adds(msg, "): ");
		strbuf_addstr(msg, parser_msg);
		return;
	}
	struct str rest = str_skip(parser_msg, (size_t)one + 2);
	ptrdiff_t two = find_colon(rest, 0);
	struct str place = two < 0 ? rest : str_sub(rest, 0, (size_t)two);
	struct str last = parser_msg;
	for (ptrdiff_t i; (i = find_colon(last, 0)) >= 0;)
		last = str_skip(last, (size_t)i + 2);
	strbuf_adds(msg, "parse error at (");
	strbuf_addstr(msg, place);
	strbuf_adds(msg, "): ");
	strbuf_addstr(msg, last);
}
