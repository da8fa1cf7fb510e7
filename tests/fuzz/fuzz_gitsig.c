/* Keys that sign commits, and what git says of a signature: a value of the ConfigMap, "=== \n", what
 * `git verify-commit --raw` printed. Keys go on as they were written, line by line, or not at all; who
 * signed is text of a bounded length, and there is nobody where git said no. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/source/git_signature.h"

#define ARENA_MAX   ((size_t)64 << 20)
#define MARK        "=== \n"
#define SIGNER_MAX  500
#define NOW_NS      INT64_C(1767312000000000000)
#define VALUE_BYTES ((size_t)1 << 20)

static struct str next_part(struct str *rest)
{
	ptrdiff_t at = str_find(*rest, STR(MARK));
	struct str part = at < 0 ? *rest : str_sub(*rest, 0, (size_t)at);
	*rest = at < 0 ? STR("") : str_skip(*rest, (size_t)at + sizeof(MARK) - 1);
	return part;
}

static void check_lines(const char *ssh)
{
	struct str rest = str_of(ssh), line;
	while (str_next_line(&rest, &line))
		assert(line.len && line.ptr[0] != '#' && str_find_char(line, '\t') < 0 &&
		       str_find_char(line, ' ') > 0);
}

static void read_keys(struct arena *a, struct str text)
{
	CLEANUP(obj_unrefp) struct obj *data = obj_map();
	struct git_keys k = {0};
	struct error err = ERROR_INIT;
	if (text.len > VALUE_BYTES || memchr(text.ptr ? text.ptr : "", 0, text.len))
		return; /* no server takes it */
	obj_set(data, "a", obj_stringn(text));
	if (fuzz_noted(git_keys_read(data, NOW_NS, a, &k, &err), &err) < 0) {
		assert(err.code && err.msg[0]);
		return;
	}
	fuzz_note_text(k.ssh);
	fuzz_note_text(k.pgp);
	assert(*k.ssh || *k.pgp);
	assert(!strstr(k.ssh, "PRIVATE KEY") && !strstr(k.pgp, "PRIVATE KEY"));
	check_lines(k.ssh);
}

static void judge(struct arena *a, int status, struct str errors)
{
	struct error err = ERROR_INIT;
	const char *signer = NULL;
	int r = git_signature_judge(status, errors, "0123456789abcdef0123", a, &signer, &err);
	fuzz_note_text(signer);
	if (fuzz_noted(r, &err) < 0) {
		assert(!signer && err.reason == REASON_SIGNATURE_INVALID && err.msg[0]);
		return;
	}
	assert(status == 0 && signer && strlen(signer) < SIGNER_MAX && utf8_valid(str_of(signer)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct str rest = str_n((const char *)data, size);
	read_keys(a, next_part(&rest));
	judge(a, 0, rest);
	judge(a, 1, rest);
	return 0;
}
