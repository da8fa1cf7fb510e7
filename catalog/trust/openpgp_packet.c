#include "catalog/trust/openpgp_packet.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/strbuf.h"

#define NUMBER_BYTES_MAX 1024
#define ARMOR_LINE_MAX   76

static unsigned byte_at(struct str s, size_t i)
{
	return (unsigned char)s.ptr[i];
}

bool pgp_take(struct str *s, size_t n, struct str *ret)
{
	if (s->len < n)
		return false;
	*ret = str_n(s->ptr, n);
	*s = str_n(s->ptr + n, s->len - n);
	return true;
}

bool pgp_take_uint(struct str *s, unsigned n_bytes, uint32_t *ret)
{
	struct str raw;
	uint32_t v = 0;
	if (!pgp_take(s, n_bytes, &raw))
		return false;
	for (size_t i = 0; i < n_bytes; i++)
		v = v << 8 | byte_at(raw, i);
	*ret = v;
	return true;
}

bool pgp_take_number(struct str *s, struct str *ret)
{
	uint32_t bits, top = 0;
	if (!pgp_take_uint(s, 2, &bits) || !bits || bits > NUMBER_BYTES_MAX * 8 ||
	    !pgp_take(s, (bits + 7) / 8, ret))
		return false;
	for (unsigned v = byte_at(*ret, 0); v; v >>= 1)
		top++;
	return top == (bits - 1) % 8 + 1;
}

/* --- packets --- */

/* RFC 4880 4.2.2; partial lengths are for data that nobody has measured yet. */
static bool take_new_length(struct str *s, uint32_t *ret)
{
	uint32_t first, second;
	if (!pgp_take_uint(s, 1, &first))
		return false;
	*ret = first;
	if (first < 192)
		return true;
	if (first == 255)
		return pgp_take_uint(s, 4, ret);
	if (first >= 224 || !pgp_take_uint(s, 1, &second))
		return false;
	*ret = ((first - 192) << 8) + second + 192;
	return true;
}

static bool take_length(struct str *s, unsigned head, uint32_t *ret)
{
	unsigned type = head & 3;
	if (head & 0x40)
		return take_new_length(s, ret);
	return type < 3 && pgp_take_uint(s, 1u << type, ret);
}

int pgp_next_packet(struct str *rest, struct pgp_packet *ret, struct error *err)
{
	uint32_t head, len;
	if (!rest->len)
		return 0;
	if (!pgp_take_uint(rest, 1, &head) || !(head & 0x80) || !take_length(rest, head, &len) ||
	    !pgp_take(rest, len, &ret->body))
		return error_set(err, E_INVALID, "an OpenPGP packet is damaged or cut off");
	ret->tag = head & 0x40 ? head & 0x3F : head >> 2 & 0x0F;
	return 1;
}

/* --- signatures --- */

enum subpacket {
	SUB_CREATED = 2,
	SUB_EXPIRES = 3,
	SUB_KEY_EXPIRES = 9,
	SUB_ISSUER = 16,
	SUB_KEY_FLAGS = 27,
	SUB_EMBEDDED = 32,
	SUB_FINGERPRINT = 33,
};

/* Those that may be critical and yet need nothing done about them: how far a key is trusted, what
 * its owner likes, who he is. */
static bool is_harmless(unsigned type)
{
	static const unsigned char known[] = {4, 7, 11, 21, 22, 23, 24, 25, 26, 28, 30, 34};
	return memchr(known, (int)type, sizeof(known)) != NULL;
}

static bool take_subpacket(struct str *area, uint32_t *ret_type, struct str *ret)
{
	uint32_t len;
	return take_new_length(area, &len) && len && pgp_take(area, len, ret) &&
	       pgp_take_uint(ret, 1, ret_type);
}

static bool take_fingerprint(struct str body, struct str *ret)
{
	uint32_t version;
	return pgp_take_uint(&body, 1, &version) && version == 4 &&
	       pgp_take(&body, OPENPGP_FINGERPRINT_BYTES, ret) && !body.len;
}

static bool take_time(struct str body, uint32_t *ret)
{
	return body.len == 4 && pgp_take_uint(&body, 4, ret);
}

/* False: damaged, or critical and unknown. */
static bool read_hashed(struct pgp_signature *s, uint32_t type, struct str body, uint32_t *life)
{
	uint32_t v;
	switch (type & 0x7F) {
	case SUB_CREATED:
		if (!take_time(body, &v))
			return false;
		s->created_s = v;
		return true;
	case SUB_EXPIRES:
		return take_time(body, life);
	case SUB_KEY_EXPIRES:
		return take_time(body, &s->key_life_s);
	case SUB_ISSUER:
		s->key_id = body;
		return body.len == 8;
	case SUB_KEY_FLAGS:
		s->has_flags = true;
		s->key_flags = body.len ? byte_at(body, 0) : 0;
		return true;
	case SUB_EMBEDDED:
		s->embedded = body;
		return true;
	case SUB_FINGERPRINT:
		return take_fingerprint(body, &s->fingerprint);
	default:
		return !(type & 0x80) || is_harmless(type & 0x7F);
	}
}

/* Nobody has signed this area: all it is believed in is who the issuer might be, and the agreement
 * of a subkey, which is a signature of its own. */
static bool read_unhashed(struct pgp_signature *s, uint32_t type, struct str body)
{
	if (type == SUB_EMBEDDED && !s->embedded.len) {
		s->embedded = body;
		return true;
	}
	if (type == SUB_ISSUER && !s->key_id.len) {
		s->key_id = body;
		return body.len == 8;
	}
	return type == SUB_FINGERPRINT && !s->fingerprint.len &&
	       take_fingerprint(body, &s->fingerprint);
}

static bool read_areas(struct pgp_signature *s, struct str hashed, struct str unhashed)
{
	uint32_t type, life = 0;
	struct str body;
	s->created_s = -1;
	while (hashed.len)
		if (!take_subpacket(&hashed, &type, &body) || !read_hashed(s, type, body, &life))
			return false;
	while (unhashed.len)
		if (!take_subpacket(&unhashed, &type, &body) || !read_unhashed(s, type, body))
			return false;
	s->expires_s = life ? s->created_s + life : 0;
	return s->created_s >= 0;
}

/* RFC 4880 5.2.3. */
int pgp_read_signature(struct str body, struct pgp_signature *ret, struct error *err)
{
	struct pgp_signature s = {0};
	struct str rest = body, hashed, unhashed, left;
	uint32_t version, n;
	if (!pgp_take_uint(&rest, 1, &version))
		return error_set(err, E_INVALID, "an empty signature");
	if (version != 4)
		return error_set(err, E_INVALID, "a signature of version %u; only 4 is read",
				 version);
	if (!pgp_take_uint(&rest, 1, &s.type) || !pgp_take_uint(&rest, 1, &s.algorithm) ||
	    !pgp_take_uint(&rest, 1, &s.hash) || !pgp_take_uint(&rest, 2, &n) ||
	    !pgp_take(&rest, n, &hashed))
		return error_set(err, E_INVALID, "a signature that is cut off");
	s.hashed = str_n(body.ptr, body.len - rest.len);
	if (!pgp_take_uint(&rest, 2, &n) || !pgp_take(&rest, n, &unhashed) ||
	    !pgp_take(&rest, 2, &left) || !read_areas(&s, hashed, unhashed))
		return error_set(err, E_INVALID,
				 "a signature that is damaged, or asks for what is not known here");
	memcpy(s.left, left.ptr, sizeof(s.left));
	s.fields = rest;
	*ret = s;
	return 0;
}

const char *pgp_hash_name(unsigned algorithm)
{
	switch (algorithm) {
	case 8:
		return "SHA256";
	case 9:
		return "SHA384";
	case 10:
		return "SHA512";
	default:
		return NULL;
	}
}

/* --- armor --- */

bool pgp_next_line(struct str *rest, struct str *ret)
{
	if (!rest->len)
		return false;
	const char *end = memchr(rest->ptr, '\n', rest->len);
	size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
	*ret = str_n(rest->ptr, n);
	if (end && n && ret->ptr[n - 1] == '\r')
		ret->len--;
	*rest = str_skip(*rest, end ? n + 1 : n);
	return true;
}

/* RFC 4880 6.1. */
static uint32_t crc24(struct str s)
{
	uint32_t crc = 0xB704CE;
	for (size_t i = 0; i < s.len; i++) {
		crc ^= byte_at(s, i) << 16;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x800000 ? (crc << 1 ^ 0x1864CFB) & 0xFFFFFF : crc << 1;
	}
	return crc;
}

static bool crc_holds(struct str line, struct str data)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(8);
	struct str raw;
	uint32_t crc;
	if (!base64_decode(str_skip(line, 1), &b))
		return false;
	raw = strbuf_str(&b);
	return raw.len == 3 && pgp_take_uint(&raw, 3, &crc) && crc == crc24(data);
}

static int damaged(struct error *err)
{
	return error_set(err, E_INVALID, "OpenPGP armor that is damaged or cut off");
}

/* "Version: GnuPG v2", "Comment: ...": they mean nothing. */
static bool skip_headers(struct str *rest)
{
	struct str line;
	while (pgp_next_line(rest, &line)) {
		if (!line.len)
			return true;
		if (str_find(line, STR(": ")) <= 0)
			return false;
	}
	return false;
}

int pgp_dearmor(struct str *rest, const char *last_line, struct arena *a, struct str *ret,
		struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(OPENPGP_KEYRING_BYTES_MAX * 2);
	CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT(OPENPGP_KEYRING_BYTES_MAX);
	struct str line, crc = STR_NONE;
	if (!skip_headers(rest))
		return damaged(err);
	for (;;) {
		if (!pgp_next_line(rest, &line) || line.len > ARMOR_LINE_MAX)
			return damaged(err);
		if (str_is(line, last_line))
			break;
		if (!line.len || crc.len)
			return damaged(err);
		if (line.ptr[0] == '=')
			crc = line;
		else
			strbuf_addstr(&text, line);
	}
	if (!base64_decode(strbuf_str(&text), &data) || !data.len ||
	    (crc.len && !crc_holds(crc, strbuf_str(&data))))
		return damaged(err);
	if (strbuf_check(&text, "OpenPGP armor", err) < 0 ||
	    strbuf_check(&data, "OpenPGP armor", err) < 0)
		return -err->code;
	*ret = str_n(arena_text(a, data.buf, data.len), data.len);
	return 0;
}
