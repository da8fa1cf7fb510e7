/* recorded.c: see recorded.h. */
#include "tests/lib/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define FILE_BYTES_MAX ((size_t)4 << 20)

struct obj *recorded(int n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FILE_BYTES_MAX);
	struct error err = ERROR_INIT;
	struct str rest, line;
	assert_ok(file_read("tests/golden/schema/recorded.jsonl", &b, &err), &err);
	for (rest = strbuf_str(&b); str_next_line(&rest, &line);) {
		struct obj *o = NULL;
		assert_ok(json_parse(line, &o, &err), &err);
		if (obj_i64(o, "n", 0) == n)
			return o;
		obj_unref(o);
	}
	fail_msg("no recorded answer %d", n);
	return NULL;
}

struct obj *recorded_schema(int n)
{
	struct obj *o = recorded(n);
	const struct obj *schema = obj_path(o, "body.spec.versions[0].schema.openAPIV3Schema");
	struct obj *copy = obj_copy(schema);
	obj_unref(o);
	return copy;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t compare(char **want, size_t n_want, char **got, size_t n_got)
{
	size_t i = 0, j = 0, bad = 0;
	qsort(want, n_want, sizeof(*want), by_text);
	qsort(got, n_got, sizeof(*got), by_text);
	while (i < n_want || j < n_got) {
		int c = i == n_want ? 1 : j == n_got ? -1 : strcmp(want[i], got[j]);
		if (c < 0)
			print_error("missing: %s\n", want[i++]);
		else if (c > 0)
			print_error("not recorded: %s\n", got[j++]);
		else
			i++, j++;
		bad += c != 0;
	}
	return bad;
}

static char *without_type(char *text)
{
	static const char type[] = "map[string]interface {}",
			  rule[] = "apiextensions.ValidationRule{";
	char *at = strstr(text, type), *of_rule = strstr(text, rule);
	if (at)
		memmove(at, at + strlen(type), strlen(at + strlen(type)) + 1);
	if (of_rule && strstr(of_rule, "}: ")) {
		const char *rest = strstr(of_rule, "}: ");
		memmove(of_rule, rest, strlen(rest) + 1);
	}
	return text;
}

/* What a rule is shown as is another thing there: it stays untold in both. */
static char *without_rule(char *text)
{
	char *at = strstr(text, "{\"Rule\":");
	const char *rest = at ? strstr(at, "}: ") : NULL;
	if (rest)
		memmove(at, rest, strlen(rest) + 1);
	return text;
}

void assert_causes(const struct obj *answer, const struct field_errors *found)
{
	const struct obj *causes = obj_path(answer, "resp.details.causes");
	struct arena *a = arena_new((size_t)1 << 20);
	size_t n = obj_len(causes);
	char **want = ARENA_ARRAY(a, char *, n + 1);
	char **got = ARENA_ARRAY(a, char *, found->n + 1);
	for (size_t i = 0; i < n; i++) /* a release later a map is shown as JSON */
		want[i] =
			without_type(arena_fmt(a, "%s|%s|%s", obj_str(obj_at(causes, i), "reason"),
					       obj_str(obj_at(causes, i), "field"),
					       obj_str(obj_at(causes, i), "message")));
	for (size_t i = 0; i < found->n; i++)
		got[i] = without_rule(arena_fmt(a, "%s|%s|%s",
						field_error_reason(found->items[i].type),
						found->items[i].path, found->items[i].message));
	size_t bad = compare(want, n, got, found->n);
	arena_free(a);
	assert_int_equal(bad, 0);
}
