/* Signature packets, byte by byte. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "catalog/trust/openpgp_packet.h"

#define CREATED             "\x05\x02\x00\x00\x03\xE8" /* 1000 */
#define LIFE                "\x05\x03\x00\x00\x00\x64" /* 100 */
#define ISSUER(c)           "\x09\x10" c c c c c c c c
#define MADE_BY(version, c) "\x16\x21" version c c c c c c c c c c c c c c c c c c c c
#define AREA(text)          {text, sizeof(text) - 1}

struct area {
	const char *text;
	size_t len;
};

static void add_area(struct strbuf *b, struct area x)
{
	strbuf_addc(b, (char)(x.len >> 8));
	strbuf_addc(b, (char)x.len);
	strbuf_add(b, x.text, x.len);
}

/* clang-format off */
static const struct {
	struct area hashed, unhashed;
	bool ok;
	int64_t expires_s;
	const char *key_id, *fingerprint, *embedded; /* first bytes; NULL: none */
} rows[] = {
	{AREA(CREATED), AREA(""), true, 0, NULL, NULL, NULL},
	{AREA(""), AREA(""), false, 0, NULL, NULL, NULL},
	{AREA(""), AREA(CREATED), false, 0, NULL, NULL, NULL},
	{AREA(CREATED LIFE), AREA(""), true, 1100, NULL, NULL, NULL},
	{AREA(LIFE CREATED), AREA(""), true, 1100, NULL, NULL, NULL},
	{AREA(CREATED), AREA(LIFE), false, 0, NULL, NULL, NULL},
	{AREA(CREATED), AREA(ISSUER("a")), true, 0, "aa", NULL, NULL},
	{AREA(CREATED ISSUER("a")), AREA(""), true, 0, "aa", NULL, NULL},
	{AREA(CREATED ISSUER("a")), AREA(ISSUER("b")), false, 0, NULL, NULL, NULL},
	{AREA(CREATED), AREA(ISSUER("a") ISSUER("b")), false, 0, NULL, NULL, NULL},
	{AREA(CREATED),
	 AREA("\x08\x10"
	      "aaaaaaa"),
	 false, 0, NULL, NULL, NULL},
	{AREA(CREATED "\x08\x10"
		      "aaaaaaa"),
	 AREA(""), false, 0, NULL, NULL, NULL},
	{AREA(CREATED MADE_BY("\x04", "f")), AREA(""), true, 0, NULL, "ff", NULL},
	{AREA(CREATED), AREA(MADE_BY("\x04", "f")), true, 0, NULL, "ff", NULL},
	{AREA(CREATED MADE_BY("\x05", "f")), AREA(""), false, 0, NULL, NULL, NULL},
	{AREA(CREATED MADE_BY("\x04", "f")), AREA(MADE_BY("\x04", "g")), false, 0, NULL,
	 NULL, NULL},
	{AREA(CREATED),
	 AREA("\x03\x20"
	      "ee"),
	 true, 0, NULL, NULL, "ee"},
	{AREA(CREATED "\x03\x20"
		      "ee"),
	 AREA(""), true, 0, NULL, NULL, "ee"},
	{AREA(CREATED "\x03\x20"
		      "ee"),
	 AREA("\x03\x20"
	      "xx"),
	 false, 0, NULL, NULL, NULL},
	{AREA(CREATED),
	 AREA("\x03\x20"
	      "ee"
	      "\x03\x20"
	      "xx"),
	 false, 0, NULL, NULL, NULL},
	/* not known: harmless, critical and harmless, critical */
	{AREA(CREATED "\x02\x64x"), AREA(""), true, 0, NULL, NULL, NULL},
	{AREA(CREATED "\x02\x94x"), AREA(""), false, 0, NULL, NULL, NULL},
	{AREA(CREATED "\x02\x95x"), AREA(""), true, 0, NULL, NULL, NULL},
	{AREA(CREATED "\x02\xE4x"), AREA(""), false, 0, NULL, NULL, NULL},
	/* cut off, of no length, too short for a time */
	{AREA(CREATED "\x04\x64x"), AREA(""), false, 0, NULL, NULL, NULL},
	{AREA(CREATED "\x00"), AREA(""), false, 0, NULL, NULL, NULL},
	{AREA("\x04\x02\x00\x03\xE8"), AREA(""), false, 0, NULL, NULL, NULL},
	{AREA("\x06\x02\x00\x00\x00\x03\xE8"), AREA(""), false, 0, NULL, NULL, NULL},
};
/* clang-format on */

/* What is signed is believed; of the rest only who made it, and the subkey's agreement, and that only
 * where nothing signed says it. */
static void test_openpgp_packet__what_a_signature_packet_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		struct pgp_signature s = {0};
		struct error err = ERROR_INIT;
		strbuf_add(&b, "\x04\x01\x16\x0A", 4); /* a text, Ed25519, SHA-512 */
		add_area(&b, rows[i].hashed);
		size_t hashed = b.len;
		add_area(&b, rows[i].unhashed);
		strbuf_add(&b, "LRrest", 6);
		if ((pgp_read_signature(strbuf_str(&b), &s, &err) == 0) != rows[i].ok)
			fail_msg("row %zu: %s", i, rows[i].ok ? err.msg : "is read");
		if (!rows[i].ok)
			continue;
		const char *texts[] = {rows[i].key_id, rows[i].fingerprint, rows[i].embedded};
		const struct str got[] = {s.key_id, s.fingerprint, s.embedded};
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(got[k].len > 0, texts[k] != NULL);
			assert_true(!texts[k] || str_has_prefix(got[k], str_of(texts[k])));
		}
		assert_int_equal(s.type, 1);
		assert_int_equal(s.algorithm, 22);
		assert_int_equal(s.hash, 10);
		assert_int_equal(s.created_s, 1000);
		assert_int_equal(s.expires_s, rows[i].expires_s);
		assert_int_equal(s.hashed.len, hashed);
		assert_memory_equal(s.left, "LR", 2);
		assert_str(s.fields, "rest");
		for (size_t n = 0; n < b.len - 4; n++) /* cut off before the fields: no signature */
			assert_true(pgp_read_signature(str_n(b.buf, n), &s, &err) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openpgp_packet__what_a_signature_packet_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
