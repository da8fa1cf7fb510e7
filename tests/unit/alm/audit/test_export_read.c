/* An archive is read as it was written or not at all: each changed byte, each lost or foreign member of a line is refused
 * or found by verify. */
#include "tests/lib/test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/export.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

enum {
	ROWS = 24,
	STEP = 23
}; /* STEP: of the bytes that are changed; it is prime, so that each kind of place has its turn */

static struct strbuf archive = STRBUF_INIT((size_t)4 << 20);
static struct verify_report *rep;

static int collect(void *arg, struct str line, struct error *err)
{
	(void)err;
	strbuf_addstr(arg, line);
	return 0;
}

/* One that has something in each column that says what it is about. */
static void add_subject(struct audit_log *l)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	const struct audit_row row = {.type = "Observe",
				      .reason = "Drifted",
				      .subject = {"c", "ConfigMap", "default", "m", "u"},
				      .body = body};
	assert_ok(db_begin(l->db, &err), &err);
	assert_ok(audit_append(l->audit, &row, &seq, &err), &err);
	assert_ok(db_commit(l->db, &err), &err);
	audit_committed(l->audit);
}

static int setup(void **state)
{
	struct audit_log l;
	struct error err = ERROR_INIT;
	int64_t last;
	(void)state;
	rep = xcalloc(1, sizeof(*rep));
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, ROWS, 8);
	add_subject(&l);
	l.loop.now_ns += 2000000000;
	loop_run_due(&l.loop.base); /* a checkpoint of all */
	assert_ok(export_write(l.db, 1, collect, &archive, &last, &err), &err);
	audit_log_close(&l);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	strbuf_release(&archive);
	xfree(rep);
	return 0;
}

enum fate { REFUSED, FOUND, WHOLE };

/* why: of what was refused, its line in front. */
static enum fate fate_of(struct str text, struct error *why)
{
	struct error err = ERROR_INIT;
	const struct db_config c = {.path = ":memory:"};
	CLEANUP(db_closep) struct db *d = NULL;
	const struct verify_options o = {.is_archive = true};
	assert_ok(db_open(&c, &d, &err), &err);
	*why = ERROR_INIT;
	if (export_read(d, text, why) < 0) {
		assert_int_equal(why->code, E_CORRUPT);
		assert_true(cstr_has_prefix(why->msg, "archive line "));
		return REFUSED;
	}
	assert_ok(verify_log(d, &o, rep, &err), &err);
	return rep->n_findings || verify_exit(rep) ? FOUND : WHOLE;
}

static void test_export_read__as_it_was_written(void **state)
{
	(void)state;
	struct error why;
	assert_int_equal(fate_of(strbuf_str(&archive), &why), WHOLE);
	assert_int_equal(rep->rows, ROWS + 2);
}

static void test_export_read__every_changed_byte(void **state)
{
	(void)state;
	struct error why;
	CLEANUP(xfreep) char *copy = xmemdup(archive.buf, archive.len);
	for (size_t i = 0; i < archive.len; i += STEP) {
		copy[i] = (char)(copy[i] ^ 1 << (i / STEP % 7));
		bool same = isxdigit((unsigned char)copy[i]) && (copy[i] ^ archive.buf[i]) == ' ';
		if (copy[i] != '\n' && !same && /* digits of a digest are in either case */
		    fate_of(str_n(copy, archive.len), &why) == WHOLE)
			fail_msg("byte %zu: '%c' instead of '%c'", i, copy[i], archive.buf[i]);
		copy[i] = archive.buf[i];
	}
}

/* Line number n, without it, and twice. */
static void test_export_read__every_line_is_needed(void **state)
{
	(void)state;
	struct str rest = strbuf_str(&archive), line;
	struct error why;
	while (str_next_line(&rest, &line)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)8 << 20);
		size_t at = (size_t)(line.ptr - archive.buf);
		bool is_key = str_has_prefix(line, STR("{\"key\"")) ||
			      str_has_prefix(line, STR("{\"checkpoint\""));
		strbuf_add(&b, archive.buf, at);
		strbuf_addstr(&b, rest);
		if (fate_of(strbuf_str(&b), &why) == WHOLE && !is_key)
			fail_msg("without line %.*s", STR_ARG(line));
		/* What two exports both have is nothing new; an entry is told once. */
		strbuf_clear(&b);
		strbuf_addstr(&b, strbuf_str(&archive));
		strbuf_addf(&b, "%.*s\n", STR_ARG(line));
		bool is_once = str_has_prefix(line, STR("{\"record\"")) ||
			       str_has_prefix(line, STR("{\"ref\""));
		if ((fate_of(strbuf_str(&b), &why) == REFUSED) != is_once)
			fail_msg("twice: %.*s", STR_ARG(line));
	}
}

/* Lines that say what none may: the reason is told with the number of the line. */
static void test_export_read__what_a_line_must_have(void **state)
{
	(void)state;
	static const char tile31[] = "{\"tile\":0,\"hashes\":\"AAAA\"}";
	static const struct {
		const char *line, *why;
	} cases[] = {
		{"{", NULL},
		{"{}", "neither record, blob, ref, key nor checkpoint"},
		{"[]", "neither record, blob, ref, key nor checkpoint"},
		{"{\"record\":{}}", "its chain value is not 32 bytes"},
		{"{\"record\":{},\"chain\":1}", "its chain value is not 32 bytes"},
		{"{\"record\":{},\"chain\":\"AAAA\"}", "its chain value is not 32 bytes"},
		{"{\"record\":{},\"chain\":\"?\"}", "its chain value is not 32 bytes"},
		{"{\"record\":{},\"chain\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"}",
		 "its record is not in canonical form"},
		{"{\"blob\":\"00\",\"bytes\":\"AAAA\"}", "no blob"},
		{"{\"blob\":1,\"bytes\":\"AAAA\"}", "no blob"},
		{"{\"ref\":1,\"digest\":\"00\"}", "no digest"},
		{"{\"ref\":1}", "no digest"},
		{tile31, "no tile"},
		{"{\"tile\":-1,\"hashes\":\"AAAA\"}", "no tile"},
		{"{\"tile\":0}", "no tile"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error why;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "\n%s\n", cases[i].line);
		assert_int_equal(fate_of(strbuf_str(&b), &why), REFUSED);
		assert_true(cstr_has_prefix(why.msg, "archive line 2: "));
		if (cases[i].why && !cstr_eq(why.msg + strlen("archive line 2: "), cases[i].why))
			fail_msg("%s: %s", cases[i].line, why.msg);
	}
}

/* Where there are no tables nothing is added. */
static void test_export_read__an_object_needs_a_table(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	const struct db_config c = {.path = ":memory:"};
	CLEANUP(db_closep) struct db *d = NULL;
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	assert_ok(db_open(&c, &d, &err), &err);
	obj_set_int(o, "seq", 1);
	assert_true(export_add_object(d, o, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export_read__as_it_was_written),
		cmocka_unit_test(test_export_read__every_changed_byte),
		cmocka_unit_test(test_export_read__every_line_is_needed),
		cmocka_unit_test(test_export_read__what_a_line_must_have),
		cmocka_unit_test(test_export_read__an_object_needs_a_table),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
