#include "alm/source/git_signature.h"

#include "alm/base/clock.h"
#include "tests/lib/test.h"

#define KEY   "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHMaHz3gHOERIapfWPqttRaZ7vgD0mFGZv7gdCApefbA"
#define PGP   "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDM\n-----END PGP PUBLIC KEY BLOCK-----\n"
#define GNUPG "[GNUPG:] "

static void test_git_signature__keys_of_a_config_map(void **state)
{
	static const struct {
		const char *name, *text, *ssh, *pgp, *says;
	} cases[] = {
		{"a", "# who\n\n alice@example.com " KEY " of hers\n",
		 "alice@example.com " KEY " of hers\n", "", ""},
		{"a", PGP, "", PGP, ""},
		{"a", KEY "\n", NULL, NULL,
		 "data \"a\", line 1: an SSH key stands behind who signs with it, as in "
		 "\"alice@example.com ssh-ed25519 AAAA..\""},
		{"a", "x " KEY "\nrubbish\n", NULL, NULL,
		 "data \"a\", line 2: neither a line of allowed signers (PRINCIPAL ssh-ed25519 "
		 "AAAA..) nor an armored public key of OpenPGP"},
		{"a", "x\t" KEY "\n", NULL, NULL,
		 "data \"a\", line 1: blanks are wanted, and no tabs"},
		{"a", "-----BEGIN OPENSSH PRIVATE KEY-----\n", NULL, NULL,
		 "data \"a\": this is a private key, which belongs to nobody but who signs; put "
		 "the public one there"},
		/* git judges by the date that the commit claims: what has expired by now is none */
		{"a", "x valid-before=\"20260101\" " KEY "\ny valid-before=\"20260103\" " KEY "\n",
		 "y valid-before=\"20260103\" " KEY "\n", "", ""},
		{"a", "x valid-before=\"202601020000\" " KEY "\n", NULL, NULL,
		 "there is no key that is valid now; each value of data is an armored public key "
		 "of OpenPGP, or lines of allowed signers"},
		{"a", "x valid-before=\"20260102000001Z\" " KEY "\n",
		 "x valid-before=\"20260102000001Z\" " KEY "\n", "", ""},
	};
	int64_t now;
	(void)state;
	assert_true(clock_parse(STR("2026-01-02T00:00:00Z"), &now));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(obj_unrefp) struct obj *data = obj_map();
		struct git_keys k = {0};
		struct error err = ERROR_INIT;
		obj_set_str(data, cases[i].name, cases[i].text);
		(void)git_keys_read(data, now, a, &k, &err);
		assert_string_equal(err.code ? err.msg : "", cases[i].says);
		if (err.code)
			continue;
		assert_string_equal(k.ssh, cases[i].ssh);
		assert_string_equal(k.pgp, cases[i].pgp);
		assert_int_equal(strlen(k.digest), SHA256_HEX - 1);
	}
}

static void test_git_signature__no_keys_are_an_error(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct git_keys k;
	struct error err = ERROR_INIT;
	assert_int_equal(git_keys_read(NULL, 0, a, &k, &err), -E_INVALID);
}

/* As git 2.39, gpg 2.2 and OpenSSH 9.2 print it. */
static void test_git_signature__what_git_says(void **state)
{
	static const struct {
		int status;
		const char *errors, *signer, *says;
	} cases[] = {
		{0, "Good \"git\" signature for alice@example.com with ED25519 key SHA256:wl1M\n",
		 "alice@example.com (SHA256:wl1M)", NULL},
		{0,
		 GNUPG "NEWSIG bob@x\n" GNUPG "GOODSIG 38FF Bob B <bob@x>\n" GNUPG
		       "VALIDSIG 1E0A 2026-11-26 1 0 4 0 22 8 00 1E0A\n",
		 "Bob B <bob@x> (1E0A)", NULL},
		{1, "", NULL, "it is not signed"},
		{0, "", NULL, "it is not signed"}, /* a git that says nothing has judged nothing */
		{1, "Good \"git\" signature with ED25519 key SHA256:wl1M\nNo principal matched.\n",
		 NULL,
		 "the key of its signature is none of these, or not valid: ED25519 key "
		 "SHA256:wl1M"},
		{1,
		 "Could not verify signature.\nSignature verification failed: incorrect "
		 "signature\n",
		 NULL, "its signature is of other content"},
		{1, GNUPG "NEWSIG\n" GNUPG "ERRSIG 38FF 22\n" GNUPG "NO_PUBKEY 38FF\n", NULL,
		 "the key of its signature is none of these: 38FF"},
		{1, GNUPG "BADSIG 38FF Bob\n", NULL, "its signature is of other content: 38FF Bob"},
		{1, GNUPG "EXPKEYSIG 38FF Bob\n" GNUPG "VALIDSIG 1E0A x\n", NULL,
		 "the key of its signature has expired: 38FF Bob"},
		{1, GNUPG "REVKEYSIG 38FF Bob\n", NULL,
		 "the key of its signature was revoked: 38FF Bob"},
		{128, "fatal: bad/incompatible signature '-----\nx\n", NULL,
		 "git cannot judge its signature: fatal: bad/incompatible signature '-----"},
		/* a status that says no is a no, whatever else is printed */
		{1, "Good \"git\" signature for alice with ED25519 key SHA256:wl1M\n", NULL,
		 "git cannot judge its signature: Good \"git\" signature for alice with ED25519 "
		 "key SHA256:wl1M"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		const char *signer = NULL;
		int r = git_signature_judge(cases[i].status, str_of(cases[i].errors),
					    "0123456789abcdef", a, &signer, &err);
		if (cases[i].signer) {
			assert_ok(r, &err);
			assert_string_equal(signer, cases[i].signer);
			continue;
		}
		assert_int_equal(r, -E_INVALID);
		assert_int_equal(err.reason, REASON_SIGNATURE_INVALID);
		assert_string_equal(
			err.msg, arena_fmt(a, "SignatureInvalid: 0123456789ab: %s", cases[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_signature__keys_of_a_config_map),
		cmocka_unit_test(test_git_signature__no_keys_are_an_error),
		cmocka_unit_test(test_git_signature__what_git_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
