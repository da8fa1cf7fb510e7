/* OpenSSL would rather have all digests by EVP: see sha256(). */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "alm/base/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "alm/base/mem.h"

struct sha256 {
	EVP_MD_CTX *ctx;
};

static void must(int ok)
{
	if (ok != 1)
		abort();
}

struct sha256 *sha256_new(void)
{
	struct sha256 *h = xcalloc(1, sizeof(*h));
	h->ctx = EVP_MD_CTX_new();
	must(h->ctx != NULL);
	must(EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL));
	return h;
}

void sha256_free(struct sha256 *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	xfree(h);
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
	must(EVP_DigestUpdate(h->ctx, p, n));
}

void sha256_final(struct sha256 *h, unsigned char out[SHA256_BYTES])
{
	must(EVP_DigestFinal_ex(h->ctx, out, NULL));
	must(EVP_DigestInit_ex(h->ctx, NULL, NULL));
}

/* By its own functions: EVP costs 90 ns more a text, a sixth of an entry of the log, which is three of
 * them. */
void sha256(struct str s, unsigned char out[SHA256_BYTES])
{
	SHA256_CTX c;
	must(SHA256_Init(&c));
	must(SHA256_Update(&c, s.ptr ? s.ptr : "", s.len));
	must(SHA256_Final(out, &c));
}

void sha256_hex(struct str s, char out[SHA256_HEX])
{
	unsigned char raw[SHA256_BYTES];
	sha256(s, raw);
	hex_encode(raw, sizeof(raw), out);
}

size_t hash_digest(const char *name, struct str s, unsigned char out[64])
{
	unsigned n = 0;
	const EVP_MD *md = EVP_get_digestbyname(name);
	must(md != NULL);
	must(EVP_Digest(s.ptr ? s.ptr : "", s.len, out, &n, md, NULL));
	return n;
}

void hmac_sha256(struct str key, struct str s, unsigned char out[SHA256_BYTES])
{
	unsigned n = 0;
	const unsigned char *data = (const unsigned char *)(s.ptr ? s.ptr : "");
	if (!HMAC(EVP_sha256(), key.ptr, (int)key.len, data, s.len, out, &n))
		abort();
}

/* The 16 bytes that the kernel gives every program at its start: no call, no order of set-up. */
static const uint64_t *table_key(void)
{
	static uint64_t key[2];
	static bool made;
	if (!made) {
		unsigned char d[SHA256_BYTES];
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is how it comes */
		const char *random = (const char *)getauxval(AT_RANDOM);
		sha256(str_n(random, random ? 16 : 0), d); /* the canary of the stack is in them */
		memcpy(key, d, sizeof(key));
		made = true;
	}
	return key;
}

static uint64_t rotated(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[0] = rotated(v[0], 32);
	v[2] += v[3];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

uint64_t hash_key(struct str s)
{
	const uint64_t *k = table_key();
	uint64_t v[4] = {k[0] ^ UINT64_C(0x736f6d6570736575), k[1] ^ UINT64_C(0x646f72616e646f6d),
			 k[0] ^ UINT64_C(0x6c7967656e657261), k[1] ^ UINT64_C(0x7465646279746573)};
	uint64_t word = 0;
	size_t i = 0;
	for (; i + 8 <= s.len; i += 8) {
		memcpy(&word, s.ptr + i, 8);
		sip_word(v, word);
	}
	word = 0;
	if (s.len > i)
		memcpy(&word, s.ptr + i, s.len - i);
	sip_word(v, word | (uint64_t)s.len << 56);
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

bool mem_equal(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}

void hex_encode(const void *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *in = p;
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[in[i] >> 4];
		out[2 * i + 1] = digits[in[i] & 15];
	}
	out[2 * n] = '\0';
}

static unsigned nibble(char c)
{
	c = char_lower(c);
	return (unsigned)(char_is_digit(c) ? c - '0' : c - 'a' + 10);
}

bool hex_decode(struct str hex, unsigned char *out, size_t n)
{
	if (hex.len != 2 * n)
		return false;
	for (size_t i = 0; i < hex.len; i++)
		if (!char_is_hex(hex.ptr[i]))
			return false;
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)(nibble(hex.ptr[2 * i]) << 4 | nibble(hex.ptr[2 * i + 1]));
	return true;
}

static const char std_alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode(struct str s, struct strbuf *b, const char *alphabet, bool pad)
{
	for (size_t i = 0; i < s.len; i += 3) {
		uint32_t v = 0;
		size_t have = s.len - i < 3 ? s.len - i : 3;
		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (k < have ? (unsigned char)s.ptr[i + k] : 0u);
		char out[4];
		size_t n = 0;
		for (size_t k = 0; k < 4; k++) {
			if (k <= have)
				out[n++] = alphabet[v >> (18 - 6 * k) & 63];
			else if (pad)
				out[n++] = '=';
		}
		strbuf_add(b, out, n);
	}
}

#define NO_DIGIT 64

/* Writes to out, which has room; the number of bytes, or -1. */
static ptrdiff_t decode_to(struct str s, const char *alphabet, char *out)
{
	unsigned char value[256];
	ptrdiff_t n = 0;
	unsigned v = 0, bits = 0;
	memset(value, NO_DIGIT, sizeof(value));
	for (unsigned char i = 0; i < NO_DIGIT; i++)
		value[(unsigned char)alphabet[i]] = i;
	for (size_t i = 0; i < s.len; i++) {
		unsigned x = value[(unsigned char)s.ptr[i]];
		if (x == NO_DIGIT)
			return -1;
		v = (v << 6 | x) & 0xFFFFFF;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[n++] = (char)(v >> bits & 0xFF);
		}
	}
	return bits < 6 && !(v & ((1u << bits) - 1)) ? n : -1;
}

static bool decode(struct str s, struct strbuf *b, const char *alphabet)
{
	char *out = strbuf_reserve(b, s.len / 4 * 3 + s.len % 4 * 3 / 4);
	ptrdiff_t n = out ? decode_to(s, alphabet, out) : 0;
	if (out)
		strbuf_commit(b, n > 0 ? (size_t)n : 0);
	return n >= 0;
}

void base64_encode(struct str s, struct strbuf *b)
{
	encode(s, b, std_alphabet, true);
}

bool base64_decode(struct str s, struct strbuf *b)
{
	if (s.len % 4)
		return false;
	for (int i = 0; i < 2 && s.len && s.ptr[s.len - 1] == '='; i++)
		s.len--;
	return decode(s, b, std_alphabet);
}

void base64url_encode(struct str s, struct strbuf *b)
{
	encode(s, b, url_alphabet, false);
}

bool base64url_decode(struct str s, struct strbuf *b)
{
	return decode(s, b, url_alphabet);
}

void hash_stream_read(struct hash_stream *h, void *out, size_t len)
{
	unsigned char *to = out, in[SHA256_BYTES + sizeof(h->counter)], block[SHA256_BYTES];
	while (len) {
		size_t n = len < sizeof(block) ? len : sizeof(block);
		memcpy(in, h->seed, SHA256_BYTES);
		memcpy(in + SHA256_BYTES, &h->counter, sizeof(h->counter));
		h->counter++;
		sha256(str_n((const char *)in, sizeof(in)), block);
		memcpy(to, block, n);
		to += n;
		len -= n;
	}
}
