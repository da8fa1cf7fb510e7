#include "tests/lib/replay.h"

#include <string.h>
#include <strings.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/http.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define BYTES_MAX ((size_t)4 << 20)

static size_t n_failed;

void replay_differs(const struct obj *c, const char *what, const char *want, const char *got)
{
	n_failed++;
	/* cmocka's line has 4 KiB */
	print_error("%s %s %.300s\n", obj_str(c, "method"), obj_str(c, "path"), obj_str(c, "body"));
	print_error("  %s: want %.3000s\n", what, want);
	print_error("  got %.3000s\n", got);
}

static void check_fields(const struct obj *c, const struct obj *answer)
{
	OBJ_EACH (it, obj_get(c, "fields")) {
		const struct obj *have = obj_path(answer, it.key);
		if (obj_equal(it.value, have) || (obj_type(it.value) == OBJ_NULL && !have))
			continue;
		CLEANUP(xfreep) char *want = json_text(it.value);
		CLEANUP(xfreep) char *got = have ? json_text(have) : NULL;
		replay_differs(c, it.key, want, got ? got : "nothing");
	}
}

/* All of them, in their order. */
static void check_warnings(const struct obj *c, const struct http_headers *headers)
{
	const struct obj *want = obj_get(c, "warnings");
	size_t n = 0;
	for (size_t i = 0; i < headers->n; i++) {
		if (strcasecmp(headers->items[i].name, "Warning") != 0)
			continue;
		const char *w = obj_as_string(obj_at(want, n++));
		if (!cstr_eq(w, headers->items[i].value))
			replay_differs(c, "Warning", w ? w : "none", headers->items[i].value);
	}
	for (; n < obj_len(want); n++)
		replay_differs(c, "Warning", obj_as_string(obj_at(want, n)), "none");
}

static void check_line(struct apifake *f, struct str line,
		       void (*after)(const struct obj *recorded))
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *c = NULL;
	assert_ok(json_parse(line, &c, &err), &err);
	const char *type = obj_str(c, "type");
	struct answer a = apifake_do_type(f, obj_str(c, "method"), obj_str(c, "path"),
					  type ? type : "application/json", obj_str(c, "body"));
	const char *message = obj_str(a.json, "message"), *want = obj_str(c, "message");
	if (a.status != (int)obj_i64(c, "code", 0) ||
	    (want && (!message || strcmp(want, message) != 0)))
		replay_differs(c, "answer", want ? want : "success", message ? message : "success");
	else
		check_fields(c, a.json);
	check_warnings(c, a.headers);
	if (after)
		after(c);
}

void replay(const char *path, size_t min, void (*before)(struct apifake *f, struct str line))
{
	replay_with(NULL, path, min, before, NULL);
}

void replay_with(const struct apifake_options *o, const char *path, size_t min,
		 void (*before)(struct apifake *f, struct str line),
		 void (*after)(const struct obj *recorded))
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BYTES_MAX);
	assert_ok(file_read(path, &text, &err), &err);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(o);
	struct str rest = strbuf_str(&text), line;
	size_t n = 0;
	n_failed = 0;
	while (str_next(&rest, '\n', &line))
		if (line.len) {
			if (before)
				before(f, line);
			check_line(f, line, after);
			apifake_forget(f);
			n++;
		}
	assert_true(n >= min);
	if (n_failed)
		fail_msg("%zu differences in %zu answers", n_failed, n);
}
