/* test_head.c: the head of a log is written in one way only; each other file is none. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/audit/checkpoint.h"
#include "alm/audit/head.h"
#include "alm/base/file.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/edits.h"

static char dir[64], path[80];
static struct audit_head_state head;

static int setup(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	static const unsigned char seed[SIGNER_SEED_BYTES] = "a seed of a test, of 32 bytes...";
	CLEANUP(signer_freep) struct signer *s = NULL;
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	(void)snprintf(dir, sizeof(dir), "/tmp/alm-head-XXXXXX");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/audit.head", dir);
	sha256(STR("what is in the log"), head.checkpoint.root);
	head.checkpoint.size = 1207;
	assert_ok(signer_new("a log", seed, &s, &err), &err);
	assert_ok(checkpoint_sign(s, head.checkpoint.size, head.checkpoint.root, &note, &err),
		  &err);
	memcpy(head.note, note.buf, note.len + 1);
	for (int i = 0; i < 12; i++)
		head_notes_add(&head.notes, strbuf_str(&note));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_log_remove(dir);
	return 0;
}

static void written(bool closed, struct strbuf *ret)
{
	struct error err = ERROR_INIT;
	head.closed = closed;
	strbuf_clear(ret);
	assert_ok(head_write(dir, &head, closed, &err), &err);
	assert_ok(file_read(path, ret, &err), &err);
}

static void test_head__what_is_written_is_read(void **state)
{
	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		struct error err = ERROR_INIT;
		static struct audit_head_state h;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(EDITS_BYTES_MAX);
		written(closed, &b);
		h = (struct audit_head_state){.closed = !closed};
		assert_ok(head_read(dir, &h, &err), &err);
		assert_int_equal(h.closed, closed);
		assert_int_equal(h.notes.n, 12);
		assert_memory_equal(h.notes.digest, head.notes.digest, SHA256_BYTES);
		assert_int_equal(h.checkpoint.size, head.checkpoint.size);
		assert_memory_equal(h.checkpoint.root, head.checkpoint.root, SHA256_BYTES);
		assert_string_equal(h.note, head.note);
	}
}

/* Of the lines before the note, which is kept as it is. */
static void read_edited(void *arg, struct str edited)
{
	size_t *n_refused = arg;
	struct error err = ERROR_INIT;
	static struct audit_head_state h;
	CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(EDITS_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EDITS_BYTES_MAX);
	strbuf_addf(&text, "%.*s%s", STR_ARG(edited), head.note);
	FILE *f = fopen(path, "we"); /* a flush to the disk each time would take minutes */
	assert_non_null(f);
	assert_int_equal(fwrite(text.buf, 1, text.len, f), text.len);
	assert_int_equal(fclose(f), 0);
	if (head_read(dir, &h, &err) < 0) {
		assert_int_equal(err.code, E_CORRUPT);
		++*n_refused;
		return;
	}
	assert_ok(head_write(dir, &h, false, &err), &err);
	assert_ok(file_read(path, &again, &err), &err);
	if (!str_eq(strbuf_str(&again), strbuf_str(&text)))
		fail_msg("read as %s, which it is not: %s", again.buf, text.buf);
}

static void test_head__each_other_file_is_none(void **state)
{
	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(EDITS_BYTES_MAX);
		size_t n_refused = 0;
		written(closed, &b);
		struct str lines = str_sub(strbuf_str(&b), 0, b.len - strlen(head.note));
		edits_each(lines, "+-0 =", read_edited, &n_refused);
		assert_true(n_refused > 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head__what_is_written_is_read),
		cmocka_unit_test(test_head__each_other_file_is_none),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
