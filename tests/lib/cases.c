#include "tests/lib/cases.h"

#include <string.h>

#include "alm/base/file.h"
#include "tests/lib/test.h"

#define FILE_BYTES_MAX ((size_t)4 << 20)

static int hex_of(char c)
{
	return char_is_digit(c) ? c - '0' : char_lower(c) - 'a' + 10;
}

/* \\ and \xNN only. */
static struct str unescaped(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] != '\\' || i + 1 >= s.len) {
			out[n++] = s.ptr[i];
		} else if (s.ptr[i + 1] == 'x' && i + 3 < s.len) {
			out[n++] = (char)(hex_of(s.ptr[i + 2]) << 4 | hex_of(s.ptr[i + 3]));
			i += 3;
		} else {
			out[n++] = s.ptr[++i];
		}
	}
	return str_n(out, n);
}

static struct str joined(struct arena *a, struct str before, bool first, struct str line)
{
	if (first)
		return line;
	char *p = arena_alloc(a, before.len + line.len + 2);
	memcpy(p, before.ptr, before.len);
	p[before.len] = '\n';
	if (line.len)
		memcpy(p + before.len + 1, line.ptr, line.len);
	return str_n(p, before.len + 1 + line.len);
}

static struct golden_file *add_file(struct golden_case *c, struct str path)
{
	assert_true(c->n_files < CASE_FILES_MAX);
	c->files[c->n_files] = (struct golden_file){path, STR("")};
	return &c->files[c->n_files++];
}

static void add_line(struct arena *a, struct golden_case *c, char letter, char before,
		     struct str text)
{
	bool first = letter != before;
	struct str word, rest;
	struct golden_file *f = c->n_files ? &c->files[c->n_files - 1] : NULL;
	switch (letter) {
	case 'c':
		str_cut(text, ' ', &word, &rest);
		c->id = word;
		break;
	case 'm':
		c->mode = text;
		break;
	case 'n':
		c->name = text;
		break;
	case 'a':
		assert_true(c->n_args < CASE_ARGS_MAX);
		c->args[c->n_args++] = text;
		break;
	case 'v':
	case 't':
		if (first)
			f = add_file(c,
				     letter == 'v' ? STR("values.yaml") : STR("templates/t.yaml"));
		assert_non_null(f);
		f->text = joined(a, f->text, first, text);
		break;
	case 'f':
		add_file(c, text);
		break;
	case 'l':
		assert_non_null(f);
		f->text = joined(a, f->text, first, text);
		break;
	case 'r':
	case 'o':
	case 'e':
		c->expected = joined(a, c->expected, first, text);
		c->is_error = letter == 'e';
		break;
	case 'w':
		c->warnings = joined(a, c->warnings, first, text);
		break;
	default:
		fail_msg("case %.*s: unknown letter %c", STR_ARG(c->id), letter);
	}
}

struct golden_case *golden_read(struct arena *a, const char *path, size_t *ret_n)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FILE_BYTES_MAX);
	if (file_read(path, &b, &err) < 0)
		fail_msg("%s", err.msg);
	struct str text = str_n(arena_memdup(a, b.buf, b.len), b.len), line;
	struct golden_case *cases = NULL;
	size_t n = 0, cap = 0;
	char before = '\0';
	while (text.len && str_next(&text, '\n', &line)) {
		if (line.len == 0) {
			before = '\0';
			continue;
		}
		char letter = line.ptr[0];
		if (letter == '#' && before == '\0')
			continue;
		if (n == cap) {
			cap = cap ? cap * 2 : 64;
			struct golden_case *more = ARENA_ARRAY(a, struct golden_case, cap);
			if (n)
				memcpy(more, cases, n * sizeof(*more));
			cases = more;
		}
		struct str body = line.len > 2 ? str_skip(line, 2) : STR("");
		if (char_is_upper(letter))
			body = unescaped(a, body);
		letter = char_lower(letter);
		if (letter == 'c' && before == '\0') {
			cases[n++] = (struct golden_case){.mode = STR("render"),
							  .name = STR("release-name")};
		}
		add_line(a, &cases[n - 1], letter, before, body);
		before = letter;
	}
	*ret_n = n;
	return cases;
}

const struct golden_file *golden_file(const struct golden_case *c, const char *path)
{
	for (size_t i = 0; i < c->n_files; i++) {
		if (str_is(c->files[i].path, path))
			return &c->files[i];
	}
	return NULL;
}
