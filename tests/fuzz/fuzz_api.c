/*
 * fuzz_api: requests against a whole API server in process. An input is a list of requests with
 * "\n---\n" between them; each is "METHOD TARGET", headers "Name: value", a blank line, the body.
 * Whatever comes, every request is answered, and an answer that says JSON is JSON.
 */
#include <assert.h>
#include <string.h>

#include "alm/apiserver/apiserver.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/exchange_fake.h"

#define INPUT_BYTES_MAX 16384
#define REQUESTS_MAX    16
#define HEADERS_MAX     8

static void request(struct apifake *f, struct str text, struct arena *a)
{
	struct str line, method, target, name, value;
	const char *content_type = NULL;
	if (!str_next_line(&text, &line) || !str_cut(line, ' ', &method, &target) || !method.len ||
	    !str_has_prefix(target, STR("/")))
		return;
	for (int i = 0; i < HEADERS_MAX && str_next_line(&text, &line) && line.len; i++) {
		if (!str_cut(line, ':', &name, &value))
			continue;
		value = str_trim(value);
		char *v = arena_strndup(a, value.ptr, value.len);
		if (str_is(name, "Content-Type"))
			content_type = v;
		else
			apifake_header(f, arena_strndup(a, name.ptr, name.len), v);
	}
	size_t n = apifake_send(f, arena_strndup(a, method.ptr, method.len),
				arena_strndup(a, target.ptr, target.len),
				content_type ? content_type : "application/json",
				text.len ? arena_strndup(a, text.ptr, text.len) : NULL);
	apifake_run(f);
	struct answer answer = apifake_answer(f, n);
	fuzz_note_number(answer.status);
	/* A token is signed with a key of its own each time. */
	ptrdiff_t token = str_find(answer.body, STR("\"token\":\""));
	fuzz_note(token < 0 ? answer.body : str_sub(answer.body, 0, (size_t)token));
	assert(answer.status >= 200 && answer.status < 600);
	if (!answer.ended)
		apifake_close(f, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	struct str rest = str_n((const char *)data, size);
	if (size > INPUT_BYTES_MAX)
		return 0;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (int i = 0; i < REQUESTS_MAX && rest.len; i++) {
		ptrdiff_t end = str_find(rest, STR("\n---\n"));
		request(f, end < 0 ? rest : str_sub(rest, 0, (size_t)end), a);
		rest = end < 0 ? STR_NONE : str_skip(rest, (size_t)end + 5);
	}
	return 0;
}
