/* json_fault: a scanner with an explicit stack, that only looks for the first wrong character. */
#include "alm/apiserver/wire/json_fault.h"

#include <string.h>

#define FAULT_DEPTH_MAX 10000 /* as encoding/json */

struct scan {
	struct str text;
	size_t at;
	struct arena *arena;
	const char *fault;
};

static int next(struct scan *s)
{
	while (s->at < s->text.len && s->text.ptr[s->at] && strchr(" \t\r\n", s->text.ptr[s->at]))
		s->at++;
	return s->at < s->text.len ? (unsigned char)s->text.ptr[s->at] : -1;
}

static const char *char_text(struct scan *s)
{
	struct str rest = str_skip(s->text, s->at);
	uint32_t rune;
	size_t n = utf8_decode(rest, &rune);
	unsigned char c = (unsigned char)rest.ptr[0];
	if (c == '\'')
		return "'\\''";
	if (c == '"')
		return "'\"'";
	if (c == '\\')
		return "'\\\\'";
	if (c < 0x20 || c == 0x7f)
		return arena_fmt(s->arena,
				 c == '\n'   ? "'\\n'"
				 : c == '\t' ? "'\\t'"
				 : c == '\r' ? "'\\r'"
					     : "'\\x%02x'",
				 c);
	/* Go reads bytes: a character beyond ASCII shows as its first byte in Latin-1. */
	(void)n;
	if (c >= 0x80) {
		char out[4];
		size_t len = utf8_encode(c, out);
		return arena_fmt(s->arena, "'%.*s'", (int)len, out);
	}
	return arena_fmt(s->arena, "'%c'", c);
}

static bool bad(struct scan *s, const char *where)
{
	if (s->at >= s->text.len)
		s->fault = "unexpected end of JSON input";
	else
		s->fault = arena_fmt(s->arena, "invalid character %s %s", char_text(s), where);
	return false;
}

static bool scan_string(struct scan *s)
{
	for (s->at++; s->at < s->text.len; s->at++) {
		unsigned char c = (unsigned char)s->text.ptr[s->at];
		if (c == '"') {
			s->at++;
			return true;
		}
		if (c < 0x20)
			return bad(s, "in string literal");
		if (c != '\\')
			continue;
		s->at++;
		if (s->at >= s->text.len)
			break;
		if (!strchr("\"\\/bfnrtu", s->text.ptr[s->at]) || !s->text.ptr[s->at])
			return bad(s, "in string escape code");
		if (s->text.ptr[s->at] != 'u')
			continue;
		for (int i = 0; i < 4; i++) {
			s->at++;
			if (s->at >= s->text.len || !char_is_hex(s->text.ptr[s->at]))
				return bad(s, "in \\u hexadecimal character escape");
		}
	}
	return bad(s, "");
}

static bool scan_digits(struct scan *s, const char *where)
{
	if (s->at >= s->text.len || !char_is_digit(s->text.ptr[s->at]))
		return bad(s, where);
	while (s->at < s->text.len && char_is_digit(s->text.ptr[s->at]))
		s->at++;
	return true;
}

static bool scan_number(struct scan *s)
{
	if (s->text.ptr[s->at] == '-')
		s->at++;
	if (s->at < s->text.len && s->text.ptr[s->at] == '0')
		s->at++;
	else if (!scan_digits(s, "in numeric literal"))
		return false;
	if (s->at < s->text.len && s->text.ptr[s->at] == '.') {
		s->at++;
		if (!scan_digits(s, "after decimal point in numeric literal"))
			return false;
	}
	if (s->at < s->text.len && (s->text.ptr[s->at] == 'e' || s->text.ptr[s->at] == 'E')) {
		s->at++;
		if (s->at < s->text.len && strchr("+-", s->text.ptr[s->at]))
			s->at++;
		return scan_digits(s, "in exponent of numeric literal");
	}
	return true;
}

static bool scan_literal(struct scan *s, const char *word)
{
	for (size_t i = 1; word[i]; i++) {
		s->at++;
		if (s->at >= s->text.len || s->text.ptr[s->at] != word[i])
			return bad(s, arena_fmt(s->arena, "in literal %s (expecting '%c')", word,
						word[i]));
	}
	s->at++;
	return true;
}

static bool scan_scalar(struct scan *s, int c)
{
	if (c == '"')
		return scan_string(s);
	if (c == '-' || char_is_digit((char)c))
		return scan_number(s);
	if (c == 't')
		return scan_literal(s, "true");
	if (c == 'f')
		return scan_literal(s, "false");
	if (c == 'n')
		return scan_literal(s, "null");
	return bad(s, "looking for beginning of value");
}

static bool scan_key(struct scan *s)
{
	if (next(s) != '"')
		return bad(s, "looking for beginning of object key string");
	if (!scan_string(s))
		return false;
	if (next(s) != ':')
		return bad(s, "after object key");
	s->at++;
	return true;
}

/* After a value: the brackets that close, then a comma. True if another value must follow. */
static bool scan_after(struct scan *s, const char *stack, size_t *depth)
{
	while (*depth) {
		char open = stack[*depth - 1];
		int c = next(s);
		if (c == ',') {
			s->at++;
			return open == '[' || scan_key(s);
		}
		if (c != (open == '[' ? ']' : '}'))
			return bad(s, open == '[' ? "after array element"
						  : "after object key:value pair");
		s->at++;
		(*depth)--;
	}
	if (next(s) != -1)
		bad(s, "after top-level value");
	return false;
}

const char *json_fault(struct str text, struct arena *a)
{
	struct scan s = {.text = text, .arena = a};
	char *stack = arena_alloc(a, FAULT_DEPTH_MAX);
	size_t depth = 0;
	for (;;) {
		int c = next(&s);
		if ((c == '{' || c == '[') && depth == FAULT_DEPTH_MAX)
			return "exceeded max depth";
		if (c == '{' || c == '[') {
			s.at++;
			int inner = next(&s);
			if (inner == (c == '{' ? '}' : ']')) {
				s.at++;
			} else {
				stack[depth++] = (char)c;
				if (c == '{' && !scan_key(&s))
					return s.fault;
				continue;
			}
		} else if (!scan_scalar(&s, c)) {
			return s.fault;
		}
		if (!scan_after(&s, stack, &depth))
			return s.fault;
	}
}

const char *json_fault_type(const struct obj *v)
{
	static const char *const names[] = {[OBJ_BOOL] = "bool",
					    [OBJ_INT] = "number",
					    [OBJ_DOUBLE] = "number",
					    [OBJ_STRING] = "string",
					    [OBJ_LIST] = "array"};
	size_t i = obj_type(v);
	return i < ARRAY_LEN(names) ? names[i] : NULL;
}
