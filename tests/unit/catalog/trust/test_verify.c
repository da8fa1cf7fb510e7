/*
 * Signatures of packages: files that the real gpg, helm and openssl made (tests/golden/verify), and
 * every way to change them. Judged at 2027-01-01.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/base/pubkey.h"
#include "alm/obj/json.h"
#include "catalog/trust/cosign.h"
#include "catalog/trust/openpgp.h"
#include "catalog/trust/openpgp_packet.h"
#include "catalog/trust/provenance.h"
#include "catalog/trust/verify.h"

#define DIR   "tests/golden/verify/"
#define NOW_S INT64_C(1798761600)
#define ROOM  ((size_t)4 << 20)

static struct str load(struct arena *a, const char *name)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	assert_ok(file_read(arena_fmt(a, DIR "%s", name), &b, &err), &err);
	return str_n(arena_text(a, b.buf, b.len), b.len);
}

static const char *word(struct arena *a, const char *name)
{
	struct str s = str_trim(load(a, name));
	return arena_strndup(a, s.ptr, s.len);
}

static struct openpgp_keyring ring_of(struct arena *a, const char *names)
{
	struct openpgp_keyring ring = {0};
	struct error err = ERROR_INIT;
	struct str rest = str_of(names), name;
	while (str_next(&rest, ' ', &name))
		assert_ok(openpgp_keyring_add(&ring,
					      load(a, arena_fmt(a, "%.*s.asc", STR_ARG(name))),
					      NOW_S, a, &err),
			  &err);
	return ring;
}

static struct archive_subject subject_of(struct arena *a)
{
	struct obj *chart = obj_map();
	obj_set_str(chart, "name", "etcd");
	obj_set_str(chart, "version", "0.9.4");
	obj_set_str(chart, "description", "a database");
	return (struct archive_subject){.digest = word(a, "digest"), .chart = obj_keep(a, chart)};
}

#define ALL "rsa ed short revoked parent"

static void test_verify__provenance_of_gpg_and_helm(void **state)
{
	static const struct {
		const char *file, *keys;
		const char *why; /* NULL: valid */
	} cases[] = {
		{"rsa.prov", ALL, NULL},
		{"ed.prov", ALL, NULL},
		{"sha512.prov", ALL, NULL},
		{"subkey.prov", ALL, NULL},
		{"subkey.prov", "parent", NULL},
		{"rsa.prov", "ed", "not among the keys"},
		{"ed.prov", "rsa", "not among the keys"},
		{"other.prov", ALL, "not among the keys"},
		{"short.prov", ALL, "has expired"},
		{"revoked.prov", ALL, "is revoked"},
		{"ended.prov", ALL, "the signature by key"},
		{"three.prov", ALL, "want two documents"},
		{"subject.prov", ALL, "signed for another archive than etcd-0.9.4.tgz"},
		{"chart.prov", ALL, "has another version"},
		{"ed.asc", ALL, "does not begin with"},
		{"cosign.json", ALL, "does not begin with"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		struct error err = ERROR_INIT;
		struct openpgp_keyring ring = ring_of(a, cases[i].keys);
		struct archive_subject subject = subject_of(a);
		int64_t until = -1;
		int r = provenance_check(&ring, load(a, cases[i].file), &subject, NOW_S, &until,
					 &err);
		if (!cases[i].why && r < 0)
			fail_msg("%s: %s", cases[i].file, err.msg);
		if (cases[i].why && (r == 0 || !strstr(err.msg, cases[i].why)))
			fail_msg("%s: %s", cases[i].file, r == 0 ? "is valid" : err.msg);
		if (r == 0)
			assert_int_equal(until, 0);
	}
}

static void test_verify__another_archive_is_not_what_was_signed(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct error err = ERROR_INIT;
	struct openpgp_keyring ring = ring_of(a, ALL);
	struct archive_subject subject = subject_of(a);
	int64_t until;
	subject.digest = word(a, "manifest");
	assert_true(provenance_check(&ring, load(a, "ed.prov"), &subject, NOW_S, &until, &err) < 0);
	assert_non_null(strstr(err.msg, "and this one has"));
	subject.digest = arena_strndup(a, word(a, "digest"), 12);
	assert_true(provenance_check(&ring, load(a, "ed.prov"), &subject, NOW_S, &until, &err) < 0);
}

static void test_verify__until_when_a_signature_is_valid(void **state)
{
	static const int64_t jan_12 = INT64_C(1768176000), jan_15 = INT64_C(1768435200);
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct error err = ERROR_INIT;
	struct openpgp_keyring ring = {0};
	struct openpgp_clearsigned c;
	int64_t until = 0;
	assert_ok(openpgp_keyring_add(&ring, load(a, "short.asc"), jan_12, a, &err), &err);
	assert_ok(openpgp_clearsigned_read(load(a, "short.prov"), a, &c, &err), &err);
	assert_ok(openpgp_check(&ring, &c, jan_12, &until, &err), &err);
	assert_int_equal(until, jan_15);
	assert_true(openpgp_check(&ring, &c, jan_12 - INT64_C(30) * 86400, &until, &err) < 0);
	assert_non_null(strstr(err.msg, "in the future"));
}

/* To the second: from when it may be ahead of this clock, and when it ends. */
static void test_verify__the_second_at_which_a_signature_ends(void **state)
{
	static const struct {
		const char *key, *file;
		int64_t made; /* by generate.sh: 2026-01-10, 2026-01-01 */
	} rows[] = {{"short.asc", "short.prov", INT64_C(1768003200)},
		    {"ed.asc", "ended.prov", INT64_C(1767225600)}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		struct error err = ERROR_INIT;
		struct openpgp_keyring ring = {0};
		struct openpgp_clearsigned c;
		int64_t until = 0, ignored, made = rows[i].made;
		assert_ok(openpgp_keyring_add(&ring, load(a, rows[i].key), made, a, &err), &err);
		assert_ok(openpgp_clearsigned_read(load(a, rows[i].file), a, &c, &err), &err);
		int64_t first = made, refused = made - 2 * OPENPGP_SKEW_S;
		while (first - refused > 1) {
			int64_t middle = refused + (first - refused) / 2;
			bool ok = openpgp_check(&ring, &c, middle, &until, &err) == 0;
			*(ok ? &first : &refused) = middle;
		}
		assert_in_range(first - made + OPENPGP_SKEW_S, 0, 60); /* gpg takes its time */
		assert_ok(openpgp_check(&ring, &c, made, &until, &err), &err);
		if (i == 1) { /* the signature's own end; a key's is judged when it is added */
			assert_ok(openpgp_check(&ring, &c, until - 1, &ignored, &err), &err);
			assert_true(openpgp_check(&ring, &c, until, &ignored, &err) < 0);
			assert_non_null(strstr(err.msg, "has expired"));
		}
	}
}

/* Dashes, blanks at the end of lines, "From": as gpg hashes them. */
static void test_verify__text_as_gpg_reads_it(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct error err = ERROR_INIT;
	struct openpgp_keyring ring = ring_of(a, ALL);
	struct openpgp_clearsigned c;
	int64_t until;
	assert_ok(openpgp_clearsigned_read(load(a, "dashes.prov"), a, &c, &err), &err);
	assert_ok(openpgp_check(&ring, &c, NOW_S, &until, &err), &err);
	assert_true(str_has_suffix(c.text, STR("\n- dash\nFrom x\n\ntrailing\n")));
}

/* --- every change --- */

struct mutants {
	struct arena *a;
	struct openpgp_keyring ring;
	struct archive_subject subject;
	const char *name;
	size_t n;
};

static void refuse(struct mutants *m, struct str file, const char *how, size_t at)
{
	struct error err = ERROR_INIT;
	int64_t until;
	m->n++;
	if (provenance_check(&m->ring, file, &m->subject, NOW_S, &until, &err) == 0)
		fail_msg("%s with %s at %zu is valid", m->name, how, at);
	assert_true(*err.msg);
}

static void mutate(struct mutants *m, struct str good)
{
	char *copy = arena_alloc(m->a, good.len + 1);
	for (size_t i = 0; i < good.len; i++) {
		memcpy(copy, good.ptr, good.len);
		for (unsigned bit = 0; bit < 8; bit++) {
			copy[i] = (char)(good.ptr[i] ^ 1 << bit);
			refuse(m, str_n(copy, good.len), "a bit flipped", i);
		}
		memcpy(copy + i, good.ptr + i + 1, good.len - i - 1);
		refuse(m, str_n(copy, good.len - 1), "a byte left out", i);
		refuse(m, str_n(good.ptr, i), "its end cut off", i);
	}
}

static void test_verify__no_change_is_accepted(void **state)
{
	static const char *const files[] = {"rsa.prov", "ed.prov", "subkey.prov"};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct mutants m = {.a = a, .ring = ring_of(a, ALL), .subject = subject_of(a)};
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		m.name = files[i];
		mutate(&m, str_trim(load(a, files[i])));
	}
	assert_true(m.n >= 10000);
}

static void test_verify__two_files_in_one(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct mutants m = {.a = a, .ring = ring_of(a, ALL), .subject = subject_of(a)};
	struct str good = load(a, "ed.prov"), other = load(a, "other.prov");
	m.name = "ed.prov";
	refuse(&m, str_of(arena_fmt(a, "%s%s", good.ptr, good.ptr)), "itself after it", 0);
	refuse(&m, str_of(arena_fmt(a, "%s%s", good.ptr, other.ptr)), "another after it", 0);
	refuse(&m, str_of(arena_fmt(a, "%s%s", other.ptr, good.ptr)), "another before it", 0);
	refuse(&m, str_of(arena_fmt(a, "name: etcd\n%s", good.ptr)), "a line before it", 0);
	refuse(&m, str_of(arena_fmt(a, "%sname: etcd\n", good.ptr)), "a line after it", 0);
	/* the text of one, the signature of another */
	const char *text = strstr(good.ptr, "-----BEGIN PGP SIGNATURE");
	const char *signature = strstr(load(a, "subject.prov").ptr, "-----BEGIN PGP SIGNATURE");
	refuse(&m, str_of(arena_fmt(a, "%.*s%s", (int)(text - good.ptr), good.ptr, signature)),
	       "a replayed signature", 0);
}

/* Keys are the administrator's; whatever is in them ends in an error or in keys. */
static void test_verify__damaged_keys(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct str good = load(a, "parent.asc");
	CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(ROOM);
	char *copy = arena_alloc(a, good.len);
	for (size_t i = 0; i < good.len; i++) {
		CLEANUP(arena_freep) struct arena *b = arena_new(ROOM);
		struct openpgp_keyring ring = {0};
		struct error err = ERROR_INIT;
		memcpy(copy, good.ptr, good.len);
		copy[i] ^= 1;
		if (openpgp_keyring_add(&ring, str_n(copy, good.len), NOW_S, b, &err) < 0)
			assert_true(*err.msg);
		ring = (struct openpgp_keyring){0};
		err = ERROR_INIT;
		(void)openpgp_keyring_add(&ring, str_n(good.ptr, i), NOW_S, b, &err);
	}
}

/* As many packets as a keyring may have, in one file or in two, and one more. */
static void test_verify__a_keyring_has_a_limit_of_packets(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	char packets[2 * (OPENPGP_PACKETS_MAX + 1)];
	for (size_t i = 0; i < sizeof(packets); i += 2) { /* user ids, empty */
		packets[i] = (char)0xCD;
		packets[i + 1] = 0;
	}
	for (size_t first = 0; first <= 2; first += 2)
		for (size_t n = OPENPGP_PACKETS_MAX; n <= OPENPGP_PACKETS_MAX + 1; n++) {
			struct openpgp_keyring ring = {0};
			struct error err = ERROR_INIT;
			if (first)
				openpgp_keyring_add(&ring, str_n(packets, 2 * first), NOW_S, a,
						    &err);
			int r = openpgp_keyring_add(&ring, str_n(packets, 2 * (n - first)), NOW_S,
						    a, &err);
			assert_int_equal(r, n > OPENPGP_PACKETS_MAX ? -E_LIMIT : -E_INVALID);
		}
}

/* A keyring without its armor. */
static struct str bare(struct arena *a, const char *name, struct strbuf *raw)
{
	struct str text = load(a, name), line, data;
	struct error err = ERROR_INIT;
	while (pgp_next_line(&text, &line))
		if (str_is(line, OPENPGP_KEY_BEGIN)) {
			assert_ok(pgp_dearmor(&text, "-----END PGP PUBLIC KEY BLOCK-----", a, &data,
					      &err),
				  &err);
			strbuf_addstr(raw, data);
		}
	return strbuf_str(raw);
}

/* Another curve's numbers are no key of this one. */
static void test_verify__a_key_of_another_curve_is_none(void **state)
{
	static const char oid[] = "\x09\x2B\x06\x01\x04\x01\xDA\x47\x0F\x01";
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(ROOM);
	struct str good = bare(a, "ed.asc", &raw);
	ptrdiff_t at = str_find(good, str_n(oid, sizeof(oid) - 1));
	(void)state;
	assert_true(at > 0);
	for (size_t i = 0; i < sizeof(oid); i++) { /* the last: as it is */
		struct openpgp_keyring ring = {0};
		struct error err = ERROR_INIT;
		char *copy = arena_text(a, good.ptr, good.len);
		copy[(size_t)at + i] ^= i + 1 < sizeof(oid) ? 2 : 0;
		assert_ok(openpgp_keyring_add(&ring, str_n(copy, good.len), NOW_S, a, &err), &err);
		assert_int_equal(ring.items[0].key != NULL, i + 1 == sizeof(oid));
		if (!ring.items[0].key)
			assert_string_equal(ring.items[0].problem, "is damaged");
	}
}

static void test_verify__a_keyring_has_a_limit_of_bytes(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct str key = load(a, "ed.asc");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	(void)state;
	strbuf_addstr(&b, key);
	strbuf_pad(&b, '\n', OPENPGP_KEYRING_BYTES_MAX + 1 - key.len);
	assert_int_equal(b.len, OPENPGP_KEYRING_BYTES_MAX + 1);
	for (size_t more = 0; more < 2; more++) {
		struct openpgp_keyring ring = {0};
		struct error err = ERROR_INIT;
		int r = openpgp_keyring_add(&ring, str_n(b.buf, b.len - 1 + more), NOW_S, a, &err);
		assert_int_equal(r, more ? -E_LIMIT : 0);
		assert_int_equal(ring.n != 0, !more);
	}
}

/* What the check says of the signature by parent's subkey, keys being the bytes; "" if it holds. */
static const char *verdict(struct arena *a, struct str keys, const char *more)
{
	struct openpgp_keyring ring = {0};
	struct openpgp_clearsigned c;
	struct error err = ERROR_INIT;
	int64_t until;
	assert_ok(openpgp_keyring_add(&ring, keys, NOW_S, a, &err), &err);
	if (more)
		assert_ok(openpgp_keyring_add(&ring, load(a, more), NOW_S, a, &err), &err);
	assert_ok(openpgp_clearsigned_read(load(a, "subkey.prov"), a, &c, &err), &err);
	return openpgp_check(&ring, &c, NOW_S, &until, &err) < 0 ? arena_strdup(a, err.msg) : "";
}

/* A revocation is put between any two packets of a key, and behind the last. It is believed without
 * a proof: who can add one to the keyring can as well take the key out. */
static void test_verify__a_revocation_counts_wherever_it_stands(void **state)
{
	static const unsigned char types[] = {PGP_REVOKE_KEY, PGP_REVOKE_SUBKEY};
	(void)state;
	size_t n = 0;
	for (size_t t = 0; t < ARRAY_LEN(types); t++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(ROOM);
		struct str all = bare(a, "parent.asc", &raw), rest = all;
		struct pgp_packet p;
		struct error err = ERROR_INIT;
		bool subkey = false;
		assert_string_equal(verdict(a, all, NULL), "");
		while (pgp_next_packet(&rest, &p, &err) > 0) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
			const char revocation[] = {(char)0xC2, 2, 4, (char)types[t]};
			subkey = subkey || p.tag == PGP_SUBKEY;
			strbuf_add(&b, all.ptr, all.len - rest.len);
			strbuf_add(&b, revocation, sizeof(revocation));
			strbuf_addstr(&b, rest);
			const char *want = types[t] == PGP_REVOKE_KEY ? "is revoked"
					   : subkey ? "is a subkey that is revoked"
						    : ""; /* of no subkey that comes after */
			const char *said = verdict(a, strbuf_str(&b), NULL);
			if (*want ? !strstr(said, want) : *said)
				fail_msg("0x%02x at %zu: %s", types[t], all.len - rest.len, said);
			/* an old copy without it undoes nothing */
			assert_string_equal(verdict(a, strbuf_str(&b), "parent.asc"), said);
			n++;
		}
	}
	assert_int_equal(n, 2 * 5);
}

/* The binary form; every flipped bit of it. A signature by a subkey that nobody bound is worth
 * nothing: the bits of key, user ID and binding that are signed all count. */
static void test_verify__a_subkey_counts_as_bound(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(ROOM), text = STRBUF_INIT(ROOM);
	struct str rest = load(a, "parent.asc"), line;
	struct archive_subject subject = subject_of(a);
	struct str file = load(a, "subkey.prov");
	struct error err = ERROR_INIT;
	size_t n_valid = 0, primary = 53;
	while (str_next_line(&rest, &line))
		if (line.len > 5 && line.ptr[0] != '-' && line.ptr[0] != '=')
			strbuf_addstr(&text, line);
	assert_true(base64_decode(strbuf_str(&text), &raw));
	for (size_t i = 0; i < raw.len; i++) {
		CLEANUP(arena_freep) struct arena *b = arena_new(ROOM);
		struct openpgp_keyring ring = {0};
		int64_t until;
		raw.buf[i] ^= 1;
		bool valid = openpgp_keyring_add(&ring, strbuf_str(&raw), NOW_S, b, &err) == 0 &&
			     provenance_check(&ring, file, &subject, NOW_S, &until, &err) == 0;
		raw.buf[i] ^= 1;
		if (valid && i < primary)
			fail_msg("another primary key (byte %zu) still vouches for its subkey", i);
		n_valid += valid;
	}
	assert_int_equal(n_valid, 0);
}

/* --- cosign --- */

static const struct pubkey *pem(struct arena *a, const char *name)
{
	struct pubkey *k = NULL;
	struct error err = ERROR_INIT;
	assert_ok(pubkey_pem(load(a, name), &k, &err), &err);
	return k;
}

static void test_verify__cosign_of_openssl(void **state)
{
	static const struct {
		const char *key, *payload, *signature;
		const char *why; /* NULL: valid */
	} cases[] = {
		{"cosign-ec.pem", "cosign.json", "cosign-ec.sig", NULL},
		{"cosign-rsa.pem", "cosign.json", "cosign-rsa.sig", NULL},
		{"cosign-ed.pem", "cosign.json", "cosign-ed.sig", NULL},
		{"cosign-ec.pem", "cosign.json", "cosign-other-ec.sig", "none of the keys"},
		{"cosign-rsa.pem", "cosign.json", "cosign-ec.sig", "none of the keys"},
		{"cosign-ec.pem", "cosign-type.json", "cosign-ec.sig", "none of the keys"},
		{"cosign-ec.pem", "cosign-type.json", "cosign-type.sig", "critical.type"},
		{"cosign-ec.pem", "cosign.json", "cosign.json", "no base64"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		struct error err = ERROR_INIT;
		const struct pubkey *key = pem(a, cases[i].key);
		int r = cosign_check(&key, 1, load(a, cases[i].payload),
				     load(a, cases[i].signature), word(a, "manifest"), &err);
		if (!cases[i].why && r < 0)
			fail_msg("%s: %s", cases[i].signature, err.msg);
		if (cases[i].why && (r == 0 || !strstr(err.msg, cases[i].why)))
			fail_msg("%s: %s", cases[i].signature, r == 0 ? "is valid" : err.msg);
		if (r == 0 &&
		    cosign_check(&key, 1, load(a, cases[i].payload), load(a, cases[i].signature),
				 word(a, "digest"), &err) == 0)
			fail_msg("replayed for another manifest");
		pubkey_free(mem_unconst(key));
	}
}

static void test_verify__a_large_payload_of_cosign_is_refused(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	const struct pubkey *key = pem(a, "cosign-ec.pem");
	struct str signature = load(a, "cosign-ec.sig");
	(void)state;
	strbuf_pad(&b, ' ', COSIGN_PAYLOAD_BYTES_MAX);
	for (int over = 0; over < 2; over++) {
		struct error err = ERROR_INIT;
		assert_int_equal(
			cosign_check(&key, 1, strbuf_str(&b), signature, word(a, "manifest"), &err),
			over ? -E_LIMIT : -E_INVALID);
		strbuf_addc(&b, ' ');
	}
	pubkey_free(mem_unconst(key));
}

static void test_verify__no_change_of_cosign_is_accepted(void **state)
{
	static const char *const kinds[] = {"ec", "rsa", "ed"};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	struct str payload = load(a, "cosign.json");
	const char *manifest = word(a, "manifest");
	size_t n = 0;
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		const struct pubkey *key = pem(a, arena_fmt(a, "cosign-%s.pem", kinds[k]));
		struct str signature = load(a, arena_fmt(a, "cosign-%s.sig", kinds[k]));
		for (size_t i = 0; i < payload.len + signature.len; i++) {
			char *at = mem_unconst(i < payload.len ? payload.ptr + i
							       : signature.ptr + i - payload.len);
			for (unsigned bit = 0; bit < 8; bit++, n++) {
				struct error err = ERROR_INIT;
				*at = (char)(*at ^ 1 << bit);
				if (cosign_check(&key, 1, payload, signature, manifest, &err) == 0)
					fail_msg("%s: bit %u of byte %zu", kinds[k], bit, i);
				*at = (char)(*at ^ 1 << bit);
			}
		}
		pubkey_free(mem_unconst(key));
	}
	assert_true(n >= 10000);
}

static void test_verify__weak_keys_are_no_keys(void **state)
{
	static const char rsa_512[] =
		"-----BEGIN PUBLIC KEY-----\n"
		"MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAL0wn2kgTyyBEUtDcrVg9t2lyqYVmGRZ\n"
		"nrrtCy0vdoNSr4/mUfZhnXJAKQZ7u2VdRrPSzv3U3R3NdbGAOOXkg8ECAwEAAQ==\n"
		"-----END PUBLIC KEY-----\n";
	(void)state;
	struct pubkey *k = NULL;
	struct error err = ERROR_INIT;
	assert_true(pubkey_pem(str_of(rsa_512), &k, &err) < 0);
	assert_non_null(strstr(err.msg, "RSA key of 512 bits"));
	assert_true(pubkey_rsa(STR("\xff\xff"), STR("\x03"), &k, &err) < 0);
	assert_true(pubkey_rsa(STR("\xff\xff"), STR("\x01"), &k, &err) < 0);
	assert_true(pubkey_ed25519(STR("short"), &k, &err) < 0);
	assert_null(k);
}

/* --- the job --- */

static struct obj *question(struct arena *a, const char *key, const char *file)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	struct obj *q = obj_map(), *keys = obj_map();
	struct archive_subject subject = subject_of(a);
	if (key)
		obj_set(keys, "k", obj_stringn(load(a, key)));
	obj_set(q, "keys", keys);
	obj_set_int(q, "now", NOW_S);
	obj_set_str(q, "digest", subject.digest);
	obj_set(q, "chart", obj_ref(subject.chart));
	if (file) {
		base64_encode(load(a, file), &b);
		obj_set(q, "provenance", obj_stringn(strbuf_str(&b)));
	}
	return obj_keep(a, q);
}

static void answers(struct obj *q, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(ROOM), out = STRBUF_INIT(ROOM);
	struct error err = ERROR_INIT;
	json_print(q, &in);
	const char *got = verify_job(strbuf_str(&in), &out, &err) < 0 ? err.msg : out.buf;
	if (!strstr(got, want))
		fail_msg("want %s, got %s", want, got);
}

static void test_verify__a_missing_signature_is_an_invalid_one(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	answers(question(a, "ed.asc", "ed.prov"), "{\"until\":0}");
	answers(question(a, "ed.asc", NULL), "SignatureInvalid: it is not signed");
	answers(question(a, NULL, "ed.prov"), "SignatureInvalid: there are no keys");
	answers(question(a, "digest", "ed.prov"), "SignatureInvalid: key k: is neither");
	answers(question(a, "ed.asc", "other.prov"),
		"SignatureInvalid: provenance: it is signed by");
	/* a key of the other kind does not help */
	answers(question(a, "cosign-ec.pem", "ed.prov"), "keys in PEM are for cosign");
	struct obj *q = question(a, NULL, "ed.prov"), *keys = obj_map();
	struct str text = load(a, "cosign-ec.pem");
	obj_set(keys, "k", obj_stringn(str_sub(text, 0, text.len / 2)));
	obj_set(q, "keys", keys);
	answers(q, "SignatureInvalid: key k: a public key in PEM is cut off");
	q = question(a, "ed.asc", NULL);
	obj_set_str(q, "manifest", word(a, "manifest"));
	answers(q, "SignatureInvalid: it is not signed");
	q = question(a, "cosign-ec.pem", NULL);
	obj_set_str(q, "manifest", word(a, "manifest"));
	answers(q, "cosign has left no signature");
}

static void test_verify__one_good_cosign_signature_is_enough(void **state)
{
	static const char *const files[] = {"cosign-other-ec.sig", "cosign-ec.sig"};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	struct obj *q = question(a, "cosign-ec.pem", NULL), *list = obj_list();
	obj_set_str(q, "manifest", word(a, "manifest"));
	obj_set(q, "cosign", list);
	base64_encode(load(a, "cosign.json"), &b);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct obj *o = obj_map();
		obj_set(o, "payload", obj_stringn(strbuf_str(&b)));
		obj_set(o, "signature", obj_stringn(load(a, files[i])));
		obj_append(list, o);
		answers(q, i ? "{\"until\":0}" : "SignatureInvalid: cosign: it is signed by none");
	}
	obj_set_str(q, "manifest", word(a, "digest"));
	answers(q, "SignatureInvalid: cosign: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verify__provenance_of_gpg_and_helm),
		cmocka_unit_test(test_verify__another_archive_is_not_what_was_signed),
		cmocka_unit_test(test_verify__until_when_a_signature_is_valid),
		cmocka_unit_test(test_verify__the_second_at_which_a_signature_ends),
		cmocka_unit_test(test_verify__text_as_gpg_reads_it),
		cmocka_unit_test(test_verify__no_change_is_accepted),
		cmocka_unit_test(test_verify__two_files_in_one),
		cmocka_unit_test(test_verify__damaged_keys),
		cmocka_unit_test(test_verify__a_keyring_has_a_limit_of_packets),
		cmocka_unit_test(test_verify__a_keyring_has_a_limit_of_bytes),
		cmocka_unit_test(test_verify__a_key_of_another_curve_is_none),
		cmocka_unit_test(test_verify__a_revocation_counts_wherever_it_stands),
		cmocka_unit_test(test_verify__a_subkey_counts_as_bound),
		cmocka_unit_test(test_verify__cosign_of_openssl),
		cmocka_unit_test(test_verify__a_large_payload_of_cosign_is_refused),
		cmocka_unit_test(test_verify__no_change_of_cosign_is_accepted),
		cmocka_unit_test(test_verify__weak_keys_are_no_keys),
		cmocka_unit_test(test_verify__a_missing_signature_is_an_invalid_one),
		cmocka_unit_test(test_verify__one_good_cosign_signature_is_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
