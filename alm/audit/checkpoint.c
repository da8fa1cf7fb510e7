#include "alm/audit/checkpoint.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <string.h>

#define KEY_BYTES    32
#define ID_BYTES     4
#define SIG_BYTES    64
#define TYPE_ED25519 0x01
#define TYPE_COSIGN  0x04
#define TIME_BYTES   8
#define DASH         "\xe2\x80\x94 " /* em dash and a blank begin a signature line */

struct signer {
	EVP_PKEY *key;
	char *name, *vkey;
	unsigned char id[ID_BYTES];
};

/* First 4 bytes of SHA-256(name, LF, type, public key). */
static void key_id(struct str name, char type, const unsigned char pub[KEY_BYTES],
		   unsigned char out[ID_BYTES])
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	unsigned char hash[SHA256_BYTES];
	strbuf_addstr(&b, name);
	strbuf_addc(&b, '\n');
	strbuf_addc(&b, type);
	strbuf_add(&b, pub, KEY_BYTES);
	sha256(strbuf_str(&b), hash);
	memcpy(out, hash, ID_BYTES);
}

int signer_new(const char *name, const unsigned char seed[SIGNER_SEED_BYTES], struct signer **ret,
	       struct error *err)
{
	CLEANUP(signer_freep) struct signer *s = xcalloc(1, sizeof(*s));
	unsigned char pub[1 + KEY_BYTES] = {TYPE_ED25519};
	size_t n = KEY_BYTES;
	s->name = xstrdup(name);
	s->key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, SIGNER_SEED_BYTES);
	if (!s->key || EVP_PKEY_get_raw_public_key(s->key, pub + 1, &n) != 1 || n != KEY_BYTES)
		return error_set(err, E_INTERNAL, "no Ed25519 key from the seed");
	key_id(str_of(name), TYPE_ED25519, pub + 1, s->id);
	char hex[2 * ID_BYTES + 1];
	hex_encode(s->id, ID_BYTES, hex);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s+%s+", name, hex);
	base64_encode(str_n((const char *)pub, sizeof(pub)), &b);
	s->vkey = strbuf_detach(&b);
	*ret = STEAL(s);
	return 0;
}

void signer_free(struct signer *s)
{
	if (!s)
		return;
	EVP_PKEY_free(s->key);
	xfree(s->name);
	xfree(s->vkey);
	xfree(s);
}

const char *signer_vkey(const struct signer *s)
{
	return s->vkey;
}

static bool sign(const struct signer *s, struct str text, unsigned char sig[SIG_BYTES])
{
	size_t n = SIG_BYTES;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, s->key) == 1 &&
		  EVP_DigestSign(ctx, sig, &n, (const unsigned char *)text.ptr, text.len) == 1;
	EVP_MD_CTX_free(ctx);
	return ok && n == SIG_BYTES;
}

int checkpoint_sign(const struct signer *s, int64_t size, const unsigned char root[SHA256_BYTES],
		    struct strbuf *b, struct error *err)
{
	unsigned char sig[ID_BYTES + SIG_BYTES];
	size_t from = b->len;
	strbuf_addf(b, "%s\n%" PRId64 "\n", s->name, size);
	base64_encode(str_n((const char *)root, SHA256_BYTES), b);
	strbuf_addc(b, '\n');
	if (!sign(s, str_n(b->buf + from, b->len - from), sig + ID_BYTES))
		return error_set(err, E_INTERNAL,
				 "the checkpoint of size %" PRId64 " could not be signed", size);
	memcpy(sig, s->id, ID_BYTES);
	strbuf_addf(b, "\n" DASH "%s ", s->name);
	base64_encode(str_n((const char *)sig, sizeof(sig)), b);
	strbuf_addc(b, '\n');
	return strbuf_check(b, "checkpoint", err);
}

/* One spelling only: base64 with stray low bits would be a second note with the same meaning. */
bool checkpoint_bytes(struct str base64, unsigned char *out, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(STRBUF_SMALL);
	if (!base64_decode(base64, &b) || b.len != n)
		return false;
	base64_encode(strbuf_str(&b), &again);
	if (!str_eq(strbuf_str(&again), base64))
		return false;
	memcpy(out, b.buf, n);
	return true;
}

/* "NAME+HEXID+BASE64(type, key)": false if the id is not the one of name and key. */
static bool vkey_parse(const char *vkey, char type, struct str *ret_name,
		       unsigned char id[ID_BYTES], unsigned char pub[KEY_BYTES])
{
	struct str name, rest, hex, key;
	unsigned char typed[1 + KEY_BYTES], want[ID_BYTES];
	if (strlen(vkey) > VKEY_BYTES_MAX || !str_cut(str_of(vkey), '+', &name, &rest) ||
	    !str_cut(rest, '+', &hex, &key))
		return false;
	if (hex.len != 2 * ID_BYTES || !hex_decode(hex, id, ID_BYTES) ||
	    !checkpoint_bytes(key, typed, sizeof(typed)))
		return false;
	char text[2 * ID_BYTES + 1];
	hex_encode(id, ID_BYTES, text);
	memcpy(pub, typed + 1, KEY_BYTES);
	key_id(name, type, pub, want);
	*ret_name = name;
	return typed[0] == (unsigned char)type && !memcmp(want, id, ID_BYTES) && str_is(hex, text);
}

static bool signature_fits(const unsigned char pub[KEY_BYTES], struct str text,
			   const unsigned char sig[SIG_BYTES])
{
	EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, pub, KEY_BYTES);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = key && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
		  EVP_DigestVerify(ctx, sig, SIG_BYTES, (const unsigned char *)text.ptr,
				   text.len) == 1;
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
	return ok;
}

/* Signature lines: the one of our key must be there and must fit; others are ignored. */
static bool signed_by(struct str lines, const char *origin, const unsigned char id[ID_BYTES],
		      const unsigned char pub[KEY_BYTES], struct str text)
{
	bool found = false;
	struct str line, name, base64;
	if (!str_has_suffix(lines, STR("\n")))
		return false;
	while (str_next_line(&lines, &line)) {
		unsigned char sig[ID_BYTES + SIG_BYTES];
		if (!str_has_prefix(line, STR(DASH)))
			return false;
		if (!str_rcut(str_skip(line, strlen(DASH)), ' ', &name, &base64))
			return false;
		if (!str_is(name, origin))
			continue;
		if (!checkpoint_bytes(base64, sig, sizeof(sig)) || memcmp(sig, id, ID_BYTES) != 0)
			continue;
		if (!signature_fits(pub, text, sig + ID_BYTES))
			return false;
		found = true;
	}
	return found;
}

bool checkpoint_number(struct str s, int64_t *ret)
{
	return s.len > 0 && char_is_digit(s.ptr[0]) && (s.len == 1 || s.ptr[0] != '0') &&
	       str_parse_i64(s, ret);
}

/* Origin, size and root, three lines. */
static bool body_parse(struct str text, struct str *ret_origin, struct checkpoint *ret)
{
	struct str line, rest = text;
	return str_next_line(&rest, ret_origin) && str_next_line(&rest, &line) &&
	       checkpoint_number(line, &ret->size) && str_next_line(&rest, &line) &&
	       checkpoint_bytes(line, ret->root, SHA256_BYTES) && rest.len == 0;
}

/* The signed text, its last newline included, and the lines of signatures. */
static bool note_split(struct str note, struct str *ret_text, struct str *ret_lines)
{
	ptrdiff_t at = note.len <= CHECKPOINT_BYTES_MAX ? str_find(note, STR("\n\n")) : -1;
	if (at < 0)
		return false;
	*ret_text = str_sub(note, 0, (size_t)at + 1);
	*ret_lines = str_skip(note, (size_t)at + 2);
	return true;
}

int checkpoint_read(struct str note, struct str *ret_origin, struct checkpoint *ret,
		    struct error *err)
{
	struct str text, lines;
	struct checkpoint c = {0};
	if (!note_split(note, &text, &lines) || !body_parse(text, ret_origin, &c))
		return error_set(err, E_CORRUPT, "no signed checkpoint");
	*ret = c;
	return 0;
}

int checkpoint_verify(struct str note, const char *origin, const char *vkey, struct checkpoint *ret,
		      struct error *err)
{
	unsigned char id[ID_BYTES], pub[KEY_BYTES];
	struct str name, text, lines, said;
	struct checkpoint c = {0};
	if (!vkey_parse(vkey, TYPE_ED25519, &name, id, pub) || !str_is(name, origin))
		return error_set(err, E_ALTERED, "the key %.80s is not one of %s", vkey, origin);
	if (!note_split(note, &text, &lines))
		return error_set(err, E_ALTERED, "the note is no signed checkpoint");
	if (!body_parse(text, &said, &c) || !str_is(said, origin))
		return error_set(err, E_ALTERED, "the note is no checkpoint of %s", origin);
	if (!signed_by(lines, origin, id, pub, text))
		return error_set(err, E_ALTERED, "the signature does not fit");
	*ret = c;
	return 0;
}

/* "cosignature/v1", the time, and the text of the note. */
static void cosigned_text(struct str text, int64_t time_s, struct strbuf *b)
{
	strbuf_addf(b, "cosignature/v1\ntime %" PRId64 "\n", time_s);
	strbuf_addstr(b, text);
}

static int64_t big_endian(const unsigned char p[TIME_BYTES])
{
	uint64_t v = 0;
	for (size_t i = 0; i < TIME_BYTES; i++)
		v = v << 8 | p[i];
	return v > INT64_MAX ? -1 : (int64_t)v;
}

bool cosigner_is_valid(const char *vkey)
{
	unsigned char id[ID_BYTES], pub[KEY_BYTES];
	struct str name;
	return vkey_parse(vkey, TYPE_COSIGN, &name, id, pub);
}

bool cosignature_fits(struct str note, struct str lines, const char *vkey, int64_t *ret_time_s)
{
	unsigned char id[ID_BYTES], pub[KEY_BYTES], sig[ID_BYTES + TIME_BYTES + SIG_BYTES];
	struct str witness, text, own, line, name, base64;
	if (!vkey_parse(vkey, TYPE_COSIGN, &witness, id, pub) || !note_split(note, &text, &own))
		return false;
	while (str_next_line(&lines, &line)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * CHECKPOINT_BYTES_MAX);
		if (!str_has_prefix(line, STR(DASH)) ||
		    !str_rcut(str_skip(line, strlen(DASH)), ' ', &name, &base64) ||
		    !str_eq(name, witness) || !checkpoint_bytes(base64, sig, sizeof(sig)) ||
		    memcmp(sig, id, ID_BYTES) != 0)
			continue;
		*ret_time_s = big_endian(sig + ID_BYTES);
		cosigned_text(text, *ret_time_s, &b);
		return *ret_time_s >= 0 &&
		       signature_fits(pub, strbuf_str(&b), sig + ID_BYTES + TIME_BYTES);
	}
	return false;
}
