/* test_checkpoint.c: a checkpoint is written in one way only, and no change of a signed text is overlooked. */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/checkpoint.h"
#include "alm/base/hash.h"
#include "tests/lib/edits.h"

#define ORIGIN   "alm.example/audit/1"
#define CHARS    "+-07 \n=Z"
#define ALPHABET "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \n-"

static const unsigned char seed[SIGNER_SEED_BYTES] = "a seed of a test, of 32 bytes...";
static struct signer *signer;
static char note[CHECKPOINT_BYTES_MAX + 1];

static int setup(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	unsigned char root[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	sha256(STR("what is in the log"), root);
	assert_ok(signer_new(ORIGIN, seed, &signer, &err), &err);
	assert_ok(checkpoint_sign(signer, 1207, root, &b, &err), &err);
	memcpy(note, b.buf, b.len + 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	signer_free(signer);
	return 0;
}

/* Its newline included. */
static struct str text_of(struct str whole)
{
	ptrdiff_t at = str_find(whole, STR("\n\n"));
	assert_true(at >= 0);
	return str_sub(whole, 0, (size_t)at + 1);
}

struct count {
	size_t read, refused;
};

static void read_edited(void *arg, struct str edited)
{
	struct count *n = arg;
	struct error err = ERROR_INIT;
	struct checkpoint c;
	struct str origin;
	CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	if (checkpoint_read(edited, &origin, &c, &err) < 0) {
		n->refused++;
		return;
	}
	n->read++;
	strbuf_addf(&again, "%.*s\n%" PRId64 "\n", STR_ARG(origin), c.size);
	base64_encode(str_n((const char *)c.root, SHA256_BYTES), &again);
	strbuf_addc(&again, '\n');
	if (!str_eq(strbuf_str(&again), text_of(edited)))
		fail_msg("read as %s, which it is not: %.*s", again.buf, STR_ARG(edited));
}

static void test_checkpoint__what_is_read_is_written_so(void **state)
{
	struct count n = {0};
	(void)state;
	edits_each(str_of(note), ALPHABET, read_edited, &n);
	assert_true(n.read > 100); /* another origin, size or signature is one, too */
	assert_true(n.refused > 100);
}

static void verify_edited(void *arg, struct str edited)
{
	struct count *n = arg;
	struct error err = ERROR_INIT;
	struct checkpoint c;
	if (checkpoint_verify(edited, ORIGIN, signer_vkey(signer), &c, &err) < 0) {
		assert_int_equal(err.code, E_ALTERED);
		n->refused++;
		return;
	}
	n->read++;
	assert_int_equal(c.size, 1207);
	assert_true(str_eq(text_of(edited), text_of(str_of(note))));
}

static void test_checkpoint__no_other_text_is_signed(void **state)
{
	struct count n = {0};
	(void)state;
	edits_each(str_of(note), CHARS, verify_edited, &n);
	assert_int_equal(n.read, 1); /* the line of the signature stands twice */
}

static void verify_with(void *arg, struct str vkey)
{
	struct error err = ERROR_INIT;
	struct checkpoint c;
	CLEANUP(xfreep) char *key = str_dup(vkey);
	(void)arg;
	assert_int_equal(checkpoint_verify(str_of(note), ORIGIN, key, &c, &err), -E_ALTERED);
}

static void test_checkpoint__a_key_is_written_in_one_way(void **state)
{
	struct error err = ERROR_INIT;
	struct checkpoint c;
	const char *vkey = signer_vkey(signer);
	(void)state;
	assert_ok(checkpoint_verify(str_of(note), ORIGIN, vkey, &c, &err), &err);
	assert_int_equal(c.size, 1207);
	edits_each(str_of(vkey), ALPHABET, verify_with, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checkpoint__what_is_read_is_written_so),
		cmocka_unit_test(test_checkpoint__no_other_text_is_signed),
		cmocka_unit_test(test_checkpoint__a_key_is_written_in_one_way),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
