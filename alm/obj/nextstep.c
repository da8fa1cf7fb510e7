#include "alm/obj/nextstep.h"

#include <assert.h>
#include <string.h>

#include "alm/base/visible.h"

#define STEP_BYTES_MAX ((size_t)1 << 20)

bool nextstep_is_command(const char *step)
{
	static const char *const programs[] = {"alm ", "kubectl ", "helm "};
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (cstr_has_prefix(step, programs[i]))
			return true;
	return false;
}

const char *nextstep_new(struct arena *a, const char *note, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STEP_BYTES_MAX);
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	if (note && *note)
		strbuf_addf(&b, " # %s", visible_text(a, note));
	return arena_strdup(a, b.buf);
}

void nextstep_add(struct obj *steps, const char *step)
{
	assert(nextstep_is_command(step));
	obj_append(steps, obj_string(step));
}

static bool is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!char_is_alnum(*p) && !strchr("-_./:@=,+", *p))
			return false;
	return *text != 0;
}

const char *nextstep_word(struct arena *a, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STEP_BYTES_MAX);
	if (is_plain(text))
		return text;
	strbuf_addc(&b, '\'');
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			strbuf_adds(&b, "'\\''");
		else
			strbuf_addc(&b, *p);
	}
	strbuf_addc(&b, '\'');
	return arena_strdup(a, b.buf);
}
