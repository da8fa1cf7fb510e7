#include "alm/cli/term.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "alm/base/visible.h"
#include "alm/cli/paint.h"

#define TEXT_BYTES_MAX ((size_t)1 << 30) /* every caller's own limit is below */

static int put(FILE *to, struct str text)
{
	errno = 0;
	if (fwrite(text.ptr, 1, text.len, to) == text.len)
		return 0;
	return errno ? errno : EIO;
}

static void vprint(FILE *to, const char *fmt, va_list args) PRINTF(2, 0);
static void vprint(FILE *to, const char *fmt, va_list args)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	visible_vaddf(&b, fmt, args);
	(void)put(to, strbuf_str(&b));
}

static int put_lines(FILE *to, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	visible_add_lines(&b, text);
	return put(to, strbuf_str(&b));
}

void term_print(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vprint(stdout, fmt, args);
	va_end(args);
}

void term_error(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vprint(stderr, fmt, args);
	va_end(args);
}

static bool has_colours;

bool term_colours(const char *when, const char *no_color, const char *term)
{
	bool is_auto = !when || cstr_eq(when, "auto");
	has_colours =
		cstr_eq(when, "always") || (is_auto && isatty(STDOUT_FILENO) &&
					    !(no_color && *no_color) && !cstr_eq(term, "dumb"));
	return is_auto || cstr_eq(when, "always") || cstr_eq(when, "never");
}

void term_lines(struct str text)
{
	(void)put_lines(stdout, text);
}

void term_table(struct str text)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(TEXT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf painted = STRBUF_INIT(TEXT_BYTES_MAX);
	if (!has_colours) {
		term_lines(text);
		return;
	}
	visible_add_lines(&plain, text);
	paint_lines(&painted, strbuf_str(&plain));
	(void)put(stdout, strbuf_str(&painted));
}

void term_field(const char *field, const char *holder)
{
	const char *colour = has_colours ? paint_holder(holder) : "";
	if (*colour)
		(void)put(stdout, str_of(colour));
	term_print("%s", field);
	if (*colour)
		(void)put(stdout, STR("\033[0m"));
}

void term_error_lines(struct str text)
{
	(void)put_lines(stderr, text);
}

int term_data(struct str text)
{
	return isatty(STDOUT_FILENO) ? put_lines(stdout, text) : put(stdout, text);
}

int term_flush(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return errno ? errno : EIO;
}
