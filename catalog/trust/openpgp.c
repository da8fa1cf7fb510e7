#include "catalog/trust/openpgp.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/pubkey.h"
#include "alm/base/strbuf.h"
#include "catalog/trust/openpgp_packet.h"

/* --- keys --- */

static void free_pubkey(void *p)
{
	pubkey_free(p);
}

static const struct pubkey *keep(struct arena *a, struct pubkey *k)
{
	arena_defer(a, free_pubkey, k);
	return k;
}

/* RFC 9580 5.5.5.5: the curve's identifier, then 0x40 and the point. */
static bool take_legacy_point(struct str *s, struct str *ret)
{
	static const char oid[] = "\x09\x2B\x06\x01\x04\x01\xDA\x47\x0F\x01";
	struct str name;
	if (!pgp_take(s, sizeof(oid) - 1, &name) || memcmp(name.ptr, oid, name.len) != 0 ||
	    !pgp_take_number(s, ret) || ret->len != PUBKEY_ED25519_BYTES + 1 || ret->ptr[0] != 0x40)
		return false;
	*ret = str_skip(*ret, 1);
	return true;
}

static int read_numbers(uint32_t algorithm, struct str s, struct pubkey **ret, struct error *err)
{
	struct str n, e;
	switch (algorithm) {
	case PGP_RSA:
	case PGP_RSA_SIGN:
		if (pgp_take_number(&s, &n) && pgp_take_number(&s, &e) && !s.len)
			return pubkey_rsa(n, e, ret, err);
		break;
	case PGP_EDDSA:
		if (take_legacy_point(&s, &n) && !s.len)
			return pubkey_ed25519(n, ret, err);
		break;
	case PGP_ED25519:
		if (pgp_take(&s, PUBKEY_ED25519_BYTES, &n) && !s.len)
			return pubkey_ed25519(n, ret, err);
		break;
	default:
		return error_set(err, E_INVALID,
				 "is of algorithm %u; RSA and Ed25519 keys are read", algorithm);
	}
	return error_set(err, E_INVALID, "is damaged");
}

/* What is hashed of a key, here and in every signature about it. */
static void add_key(struct strbuf *b, struct str body)
{
	strbuf_addc(b, (char)0x99);
	strbuf_addc(b, (char)(body.len >> 8 & 0xFF));
	strbuf_addc(b, (char)(body.len & 0xFF));
	strbuf_addstr(b, body);
}

/* The key that is being read with all that follows it. */
struct reading {
	struct openpgp_keyring *ring;
	struct arena *a;
	int64_t now_s;
	struct str primary, component; /* bodies; component: the user ID or subkey just read */
	unsigned tag;                  /* of the component; PGP_KEY: none yet */
	bool skip;                     /* a key of another version, with all that follows */
	size_t first, current;         /* items: the primary key, the key being read */
	int64_t bound_s;               /* newest binding of the current subkey */
	bool sub_revoked;              /* the current subkey */
	int64_t newest_s;              /* of the self signatures; below 0: none is valid */
	uint32_t life_s;               /* as the newest says */
	bool may_sign;                 /* as the newest says */
	bool revoked;
};

static void set_problem(struct openpgp_key *k, const char *problem)
{
	if (!k->problem)
		k->problem = problem;
}

static void add_item(struct reading *r, struct str body, uint32_t created, uint32_t algorithm,
		     struct str numbers)
{
	struct openpgp_keyring *ring = r->ring;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct openpgp_key k = {.created_s = created};
	struct pubkey *key = NULL;
	struct error err = ERROR_INIT;
	unsigned char raw[64];
	ARENA_GROW(r->a, ring->items, ring->cap, ring->n, 8);
	add_key(&b, body);
	(void)hash_digest("SHA1", strbuf_str(&b), raw); /* RFC 4880 12.2: a name, not a proof */
	memcpy(k.fingerprint, raw, sizeof(k.fingerprint));
	if (read_numbers(algorithm, numbers, &key, &err) < 0)
		k.problem = arena_strdup(r->a, err.msg);
	else
		k.key = keep(r->a, key);
	r->current = ring->n;
	ring->items[ring->n++] = k;
}

static void read_key(struct reading *r, const struct pgp_packet *p)
{
	struct str body = p->body;
	uint32_t version, created, algorithm;
	bool ok = pgp_take_uint(&body, 1, &version) && version == 4 && p->body.len <= 0xFFFF &&
		  pgp_take_uint(&body, 4, &created) && pgp_take_uint(&body, 1, &algorithm);
	if (p->tag == PGP_KEY)
		r->skip = !ok;
	r->tag = ok ? p->tag : 0; /* a subkey of another version: what follows is about it */
	if (!ok || r->skip)
		return;
	r->component = p->body;
	r->bound_s = -1;
	r->sub_revoked = false;
	add_item(r, p->body, created, algorithm, body);
	if (p->tag == PGP_SUBKEY) {
		set_problem(&r->ring->items[r->current], "is bound to its key by no signature");
		return;
	}
	r->primary = p->body;
	r->first = r->current;
	r->newest_s = -1;
	r->life_s = 0;
	r->may_sign = false;
	r->revoked = false;
}

/* --- one signature --- */

static bool is_by(const struct pgp_signature *s, const struct openpgp_key *k)
{
	if (!s->key_id.len && !s->fingerprint.len)
		return false;
	if (s->fingerprint.len &&
	    memcmp(s->fingerprint.ptr, k->fingerprint, OPENPGP_FINGERPRINT_BYTES) != 0)
		return false;
	return !s->key_id.len || !memcmp(s->key_id.ptr, k->fingerprint + 12, 8);
}

/* Big-endian and cut; left is what OpenSSL wants. */
static bool take_padded(struct str *s, unsigned char *out, size_t n)
{
	struct str v;
	if (!pgp_take_number(s, &v) || v.len > n)
		return false;
	memset(out, 0, n - v.len);
	memcpy(out + n - v.len, v.ptr, v.len);
	return true;
}

static bool fields_hold(const struct pgp_signature *s, const struct pubkey *k, const char *hash,
			struct str data, struct str hashed)
{
	unsigned char raw[PUBKEY_RSA_BITS_MAX / 8];
	struct str rest = s->fields, v;
	if ((s->algorithm == PGP_RSA || s->algorithm == PGP_RSA_SIGN) && !pubkey_is_ed25519(k)) {
		size_t n = pubkey_bytes(k);
		return n <= sizeof(raw) && take_padded(&rest, raw, n) && !rest.len &&
		       pubkey_verify(k, hash, data, str_n((const char *)raw, n));
	}
	if (!pubkey_is_ed25519(k))
		return false;
	if (s->algorithm == PGP_ED25519)
		return pgp_take(&rest, 64, &v) && !rest.len && pubkey_verify(k, NULL, hashed, v);
	return s->algorithm == PGP_EDDSA && take_padded(&rest, raw, 32) &&
	       take_padded(&rest, raw + 32, 32) && !rest.len &&
	       pubkey_verify(k, NULL, hashed, str_n((const char *)raw, 64));
}

/* data is what it is about; here comes what is hashed after it (RFC 4880 5.2.4). */
static bool holds(const struct pgp_signature *s, const struct openpgp_key *k, struct strbuf *data)
{
	unsigned char raw[64];
	const char *hash = pgp_hash_name(s->hash);
	size_t n = s->hashed.len;
	const unsigned char end[] = {4,
				     0xFF,
				     (unsigned char)(n >> 24),
				     (unsigned char)(n >> 16),
				     (unsigned char)(n >> 8),
				     (unsigned char)n};
	if (!hash || !k->key)
		return false;
	strbuf_addstr(data, s->hashed);
	strbuf_add(data, end, sizeof(end));
	if (data->over)
		return false;
	size_t len = hash_digest(hash, strbuf_str(data), raw);
	return !memcmp(raw, s->left, sizeof(s->left)) &&
	       fields_hold(s, k->key, hash, strbuf_str(data), str_n((const char *)raw, len));
}

static int64_t earlier(int64_t a, int64_t b) /* 0: never */
{
	return !a || (b && b < a) ? b : a;
}

/* --- what follows a key --- */

static void self_signature(struct reading *r, const struct pgp_signature *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENPGP_KEYRING_BYTES_MAX);
	const struct openpgp_key *k = &r->ring->items[r->first];
	size_t n = r->component.len;
	const char head[] = {(char)0xB4, (char)(n >> 24 & 0xFF), (char)(n >> 16 & 0xFF),
			     (char)(n >> 8 & 0xFF), (char)(n & 0xFF)};
	add_key(&b, r->primary);
	if (r->tag == PGP_USER_ID) {
		strbuf_add(&b, head, sizeof(head));
		strbuf_addstr(&b, r->component);
	}
	if (!is_by(s, k) || (s->expires_s && s->expires_s <= r->now_s) ||
	    s->created_s <= r->newest_s || !holds(s, k, &b))
		return;
	r->newest_s = s->created_s;
	r->life_s = s->key_life_s;
	r->may_sign = !s->has_flags || (s->key_flags & PGP_FLAG_SIGN);
}

/* The subkey's own word: else anybody could bind a foreign key to his. */
static bool agrees(const struct reading *r, const struct pgp_signature *binding,
		   const struct openpgp_key *sub)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENPGP_KEYRING_BYTES_MAX);
	struct pgp_signature s;
	struct error ignored;
	if (!binding->embedded.len || pgp_read_signature(binding->embedded, &s, &ignored) < 0 ||
	    s.type != PGP_BIND_PRIMARY || !is_by(&s, sub))
		return false;
	add_key(&b, r->primary);
	add_key(&b, r->component);
	return holds(&s, sub, &b);
}

/* The newest one counts. */
static void binding(struct reading *r, const struct pgp_signature *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENPGP_KEYRING_BYTES_MAX);
	struct openpgp_key *sub = &r->ring->items[r->current];
	add_key(&b, r->primary);
	add_key(&b, r->component);
	if (!sub->key || s->created_s <= r->bound_s || !is_by(s, &r->ring->items[r->first]) ||
	    (s->expires_s && s->expires_s <= r->now_s) || !holds(s, &r->ring->items[r->first], &b))
		return;
	r->bound_s = s->created_s;
	sub->expires_s = earlier(s->key_life_s ? sub->created_s + s->key_life_s : 0, s->expires_s);
	sub->problem = NULL;
	if (!(s->key_flags & PGP_FLAG_SIGN))
		sub->problem = "is a subkey that is not for signing";
	else if (!agrees(r, s, sub))
		sub->problem = "is a subkey that does not agree to be one";
}

/* Also of one that is not read otherwise. */
static unsigned type_of(struct str body)
{
	size_t at = body.len && body.ptr[0] < 4 ? 2 : 1;
	return body.len > at ? (unsigned char)body.ptr[at] : 0;
}

static void read_signature(struct reading *r, struct str body)
{
	struct pgp_signature s;
	struct error ignored;
	unsigned type = type_of(body);
	if (type == PGP_REVOKE_KEY)
		r->revoked = true;
	else if (type == PGP_REVOKE_SUBKEY)
		r->sub_revoked = true;
	else if (pgp_read_signature(body, &s, &ignored) < 0)
		return;
	else if ((r->tag == PGP_KEY && type == PGP_DIRECT) ||
		 (r->tag == PGP_USER_ID && type >= PGP_CERTIFY_FIRST && type <= PGP_CERTIFY_LAST))
		self_signature(r, &s);
	else if (r->tag == PGP_SUBKEY && type == PGP_BIND_SUBKEY)
		binding(r, &s);
	if (r->sub_revoked && r->tag == PGP_SUBKEY)
		r->ring->items[r->current].problem = "is a subkey that is revoked";
}

/* What the primary key lacks, its subkeys lack. */
static void finish_key(struct reading *r)
{
	struct openpgp_keyring *ring = r->ring;
	if (r->skip)
		return;
	struct openpgp_key *first = &ring->items[r->first];
	if (r->life_s)
		first->expires_s = first->created_s + r->life_s;
	const char *problem = r->revoked ? "is revoked"
			      : first->key && r->newest_s < 0
				      ? "has no valid signature of its own (SHA-256 or better)"
				      : NULL;
	for (size_t i = r->first; i < ring->n; i++) {
		struct openpgp_key *k = &ring->items[i];
		k->expires_s = earlier(k->expires_s, first->expires_s);
		if (problem)
			k->problem = problem;
		else if (k->expires_s && k->expires_s <= r->now_s)
			set_problem(k, "has expired");
	}
	if (!r->may_sign)
		set_problem(first, "is not for signing");
}

static void read_packet(struct reading *r, const struct pgp_packet *p)
{
	if (p->tag == PGP_KEY)
		finish_key(r);
	if (p->tag == PGP_KEY || (p->tag == PGP_SUBKEY && !r->skip)) {
		read_key(r, p);
	} else if (p->tag == PGP_SIGNATURE && !r->skip) {
		read_signature(r, p->body);
	} else if (!r->skip) { /* trust, pictures: what is said of them is not said of the key */
		r->tag = p->tag;
		r->component = p->body;
	}
}

static int read_keys(struct openpgp_keyring *ring, struct str data, int64_t now_s, struct arena *a,
		     struct error *err)
{
	struct reading r = {.ring = ring, .a = a, .now_s = now_s, .skip = true};
	struct pgp_packet p;
	int more;
	while ((more = pgp_next_packet(&data, &p, err)) > 0) {
		if (++ring->n_packets > OPENPGP_PACKETS_MAX)
			return error_set(err, E_LIMIT, "more than %d OpenPGP packets",
					 OPENPGP_PACKETS_MAX);
		read_packet(&r, &p);
	}
	finish_key(&r);
	return more;
}

int openpgp_keyring_add(struct openpgp_keyring *ring, struct str text, int64_t now_s,
			struct arena *a, struct error *err)
{
	struct str line, data;
	size_t n = ring->n;
	if (text.len > OPENPGP_KEYRING_BYTES_MAX)
		return error_set(err, E_LIMIT, "keys of more than %zu bytes",
				 OPENPGP_KEYRING_BYTES_MAX);
	if (text.len && (text.ptr[0] & 0x80) && read_keys(ring, text, now_s, a, err) < 0)
		return -err->code;
	while (text.len && !(text.ptr[0] & 0x80) && pgp_next_line(&text, &line))
		if (str_is(line, OPENPGP_KEY_BEGIN) &&
		    (pgp_dearmor(&text, "-----END PGP PUBLIC KEY BLOCK-----", a, &data, err) < 0 ||
		     read_keys(ring, data, now_s, a, err) < 0))
			return -err->code;
	if (ring->n == n)
		return error_set(err, E_INVALID, "no OpenPGP public key of version 4 is in it");
	return 0;
}

/* --- the check --- */

/* Of several copies of a key the one with a problem: an old copy does not undo a revocation. */
static const struct openpgp_key *maker(const struct openpgp_keyring *ring,
				       const struct pgp_signature *s)
{
	const struct openpgp_key *found = NULL;
	for (size_t i = 0; i < ring->n; i++)
		if (is_by(s, &ring->items[i]) && (!found || !found->problem))
			found = &ring->items[i];
	return found;
}

static int unknown_key(const struct pgp_signature *s, struct error *err)
{
	char hex[2 * OPENPGP_FINGERPRINT_BYTES + 1] = "";
	struct str id = s->fingerprint.len ? s->fingerprint : s->key_id;
	if (!id.len)
		return error_set(err, E_INVALID, "the signature does not say by which key it is");
	hex_encode(id.ptr, id.len, hex);
	return error_set(err, E_INVALID, "it is signed by key %s, which is not among the keys",
			 hex);
}

int openpgp_check(const struct openpgp_keyring *ring, const struct openpgp_clearsigned *c,
		  int64_t now_s, int64_t *ret_until_s, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf data =
		STRBUF_INIT(OPENPGP_CLEARSIGN_BYTES_MAX * 2 + STRBUF_SMALL);
	char hex[2 * OPENPGP_FINGERPRINT_BYTES + 1];
	struct pgp_signature s;
	if (pgp_read_signature(c->signature, &s, err) < 0)
		return -err->code;
	if (s.type != PGP_TEXT && s.type != PGP_BINARY)
		return error_set(err, E_INVALID, "a signature of type 0x%02X, not of a text",
				 s.type);
	if (s.hash > 10 || !(c->hashes & 1u << s.hash))
		return error_set(err, E_INVALID,
				 "the signature's hash is not the one of the header");
	const struct openpgp_key *k = maker(ring, &s);
	if (!k)
		return unknown_key(&s, err);
	hex_encode(k->fingerprint, sizeof(k->fingerprint), hex);
	strbuf_addstr(&data, c->canonical);
	if (!k->key)
		return error_set(err, E_INVALID, "key %s %s", hex, k->problem);
	if (!holds(&s, k, &data))
		return error_set(err, E_INVALID, "it is not what key %s has signed", hex);
	if (k->problem)
		return error_set(err, E_INVALID, "key %s %s", hex, k->problem);
	if (s.created_s < k->created_s || s.created_s > now_s + OPENPGP_SKEW_S)
		return error_set(err, E_INVALID,
				 "it was signed before key %s was made, or in the "
				 "future; look at the clocks",
				 hex);
	if (s.expires_s && s.expires_s <= now_s)
		return error_set(err, E_INVALID, "the signature by key %s has expired", hex);
	*ret_until_s = earlier(k->expires_s, s.expires_s);
	return 0;
}
