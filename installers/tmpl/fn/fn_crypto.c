/* fn_crypto: passwords, keys, certificates, AES, sums. What is random is drawn from the entropy given. */
#include <assert.h>
#include <crypt.h>
#include <string.h>

#include <openssl/evp.h>

#include "alm/base/hash.h"
#include "installers/tmpl/cast.h"
#include "installers/tmpl/fn/cert.h"
#include "installers/tmpl/fn/fn.h"

#define BCRYPT_BYTES_MAX 72
#define AES_BLOCK        16
#define AES_KEY          32

/* ---- bcrypt ---- */
/* 16 bytes of salt as 22 characters of bcrypt's own alphabet. */
static void bcrypt_salt(const unsigned char salt[16], char out[23])
{
	static const char set[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	size_t n = 0;
	for (size_t i = 0; i < 16; i += 3) {
		unsigned a = salt[i], b = i + 1 < 16 ? salt[i + 1] : 0;
		unsigned c = i + 2 < 16 ? salt[i + 2] : 0;
		unsigned group = a << 16 | b << 8 | c;
		for (unsigned k = 0; k < 4 && n < 22; k++)
			out[n++] = set[group >> (18 - 6 * k) & 63];
	}
	out[22] = '\0';
}

static int add_bcrypt(struct tmpl_run *run, struct str password, struct strbuf *b)
{
	if (password.len > BCRYPT_BYTES_MAX) {
		strbuf_adds(b, "failed to encrypt string with bcrypt: bcrypt: password length "
			       "exceeds 72 bytes");
		return 0;
	}
	if (password.len && memchr(password.ptr, 0, password.len))
		return tmpl_fail_code(run, E_UNSUPPORTED, "bcrypt of a text with a NUL byte");
	unsigned char salt[16];
	int r = tmpl_want_slow_hash(run);
	if (r >= 0)
		r = tmpl_entropy(run, salt, sizeof(salt));
	if (r < 0)
		return r;
	char setting[40] = "$2a$10$";
	bcrypt_salt(salt, setting + 7);
	struct crypt_data *data = arena_alloc(tmpl_arena(run), sizeof(*data));
	char *key = arena_strndup(tmpl_arena(run), password.len ? password.ptr : "", password.len);
	const char *hash = crypt_r(key, setting, data);
	if (!hash || hash[0] == '*')
		return tmpl_fail_code(run, E_UNSUPPORTED, "this system's libcrypt has no bcrypt");
	strbuf_adds(b, hash);
	return 0;
}

FN(fn_bcrypt)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	int r = add_bcrypt(run, value_text(args[0]), &b);
	return r < 0 ? r : tmpl_return(run, &b, ret);
}

FN(fn_htpasswd)
{
	(void)n;
	struct str user = value_text(args[0]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	if (str_find_char(user, ':') >= 0) {
		strbuf_adds(&b, "invalid username: ");
		strbuf_addstr(&b, user);
		return tmpl_return(run, &b, ret);
	}
	strbuf_addstr(&b, user);
	strbuf_addc(&b, ':');
	int r = add_bcrypt(run, value_text(args[1]), &b);
	return r < 0 ? r : tmpl_return(run, &b, ret);
}

/* ---- derivePassword: the Master Password algorithm ---- */
static const struct {
	const char *type;
	const char *templates[22];
} password_types[] = {
	{"maximum", {"anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"}},
	{"long",
	 {"CvcvnoCvcvCvcv", "CvcvCvcvnoCvcv", "CvcvCvcvCvcvno", "CvccnoCvcvCvcv", "CvccCvcvnoCvcv",
	  "CvccCvcvCvcvno", "CvcvnoCvccCvcv", "CvcvCvccnoCvcv", "CvcvCvccCvcvno", "CvcvnoCvcvCvcc",
	  "CvcvCvcvnoCvcc", "CvcvCvcvCvccno", "CvccnoCvccCvcv", "CvccCvccnoCvcv", "CvccCvccCvcvno",
	  "CvcvnoCvccCvcc", "CvcvCvccnoCvcc", "CvcvCvccCvccno", "CvccnoCvcvCvcc", "CvccCvcvnoCvcc",
	  "CvccCvcvCvccno"}},
	{"medium", {"CvcnoCvc", "CvcCvcno"}},
	{"short", {"Cvcn"}},
	{"basic", {"aaanaaan", "aannaaan", "aaannaaa"}},
	{"pin", {"nnnn"}},
};
static const struct {
	char letter;
	const char *characters;
} password_letters[] = {
	{'V', "AEIOU"},
	{'C', "BCDFGHJKLMNPQRSTVWXYZ"},
	{'v', "aeiou"},
	{'c', "bcdfghjklmnpqrstvwxyz"},
	{'A', "AEIOUBCDFGHJKLMNPQRSTVWXYZ"},
	{'a', "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz"},
	{'n', "0123456789"},
	{'o', "@&%?,=[]_:-+*$#!'^~;()/."},
	{'x', "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()"},
};

static const char *characters_of(char letter)
{
	for (size_t i = 0; i < ARRAY_LEN(password_letters); i++) {
		if (password_letters[i].letter == letter)
			return password_letters[i].characters;
	}
	return "?";
}

static void add_be32(struct strbuf *b, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		strbuf_addc(b, (char)(v >> shift & 255));
}

static void add_seeded(struct strbuf *b, struct str text)
{
	strbuf_adds(b, "com.lyndir.masterpassword");
	add_be32(b, (uint32_t)text.len);
	strbuf_addstr(b, text);
}

static int add_password(struct tmpl_run *run, const char *const *templates,
			const struct value *args, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf salt = STRBUF_INIT(fn_string_max(run));
	CLEANUP(strbuf_release) struct strbuf site = STRBUF_INIT(fn_string_max(run));
	unsigned char key[64], seed[SHA256_BYTES];
	int r = tmpl_want_slow_hash(run);
	if (r < 0)
		return r;
	add_seeded(&salt, value_text(args[3]));
	if (EVP_PBE_scrypt(args[2].s, args[2].len, (const unsigned char *)salt.buf, salt.len, 32768,
			   8, 2, (uint64_t)64 << 20, key, sizeof(key)) != 1)
		return tmpl_fail(run, "failed to derive password");
	add_seeded(&site, value_text(args[4]));
	add_be32(&site, (uint32_t)args[0].u);
	hmac_sha256(str_n((const char *)key, sizeof(key)), strbuf_str(&site), seed);
	size_t count = 0;
	while (count < 22 && templates[count])
		count++;
	assert(count);
	const char *t = templates[seed[0] % count];
	for (size_t i = 0; t[i]; i++) {
		const char *set = characters_of(t[i]);
		strbuf_addc(out, set[seed[i + 1] % strlen(set)]);
	}
	return 0;
}

FN(fn_derive_password)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	for (size_t i = 0; i < ARRAY_LEN(password_types); i++) {
		if (!value_is_string(args[1], password_types[i].type))
			continue;
		int r = add_password(run, password_types[i].templates, args, &b);
		return r < 0 ? r : tmpl_return(run, &b, ret);
	}
	strbuf_adds(&b, "cannot find password template ");
	strbuf_addstr(&b, value_text(args[1]));
	return tmpl_return(run, &b, ret);
}

/* ---- AES ---- */
static void aes_key(struct str password, unsigned char key[AES_KEY])
{
	memset(key, 0, AES_KEY);
	memcpy(key, password.ptr, password.len < AES_KEY ? password.len : AES_KEY);
}

/* CBC without padding of its own; in and out are len bytes, a multiple of a block. */
static bool aes_cbc(bool encrypt, const unsigned char key[AES_KEY], const unsigned char *iv,
		    const char *in, size_t len, char *out)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n = 0, m = 0;
	bool ok = ctx && EVP_CipherInit_ex(ctx, EVP_aes_256_cbc(), NULL, key, iv, encrypt) == 1 &&
		  EVP_CIPHER_CTX_set_padding(ctx, 0) == 1 &&
		  EVP_CipherUpdate(ctx, (unsigned char *)out, &n, (const unsigned char *)in,
				   (int)len) == 1 &&
		  EVP_CipherFinal_ex(ctx, (unsigned char *)out + n, &m) == 1;
	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

FN(fn_encrypt_aes)
{
	(void)n;
	struct str text = value_text(args[1]);
	*ret = value_str(STR(""));
	if (text.len == 0)
		return 0;
	unsigned char key[AES_KEY], iv[AES_BLOCK];
	int r = tmpl_entropy(run, iv, sizeof(iv));
	if (r < 0)
		return r;
	aes_key(value_text(args[0]), key);
	size_t pad = AES_BLOCK - text.len % AES_BLOCK, len = text.len + pad;
	char *plain = arena_alloc(tmpl_arena(run), len);
	char *out = arena_alloc(tmpl_arena(run), AES_BLOCK + len);
	memcpy(plain, text.ptr, text.len);
	memset(plain + text.len, (int)pad, pad);
	memcpy(out, iv, AES_BLOCK);
	if (!aes_cbc(true, key, iv, plain, len, out + AES_BLOCK))
		return tmpl_fail(run, "AES failed");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	base64_encode(str_n(out, AES_BLOCK + len), &b);
	return tmpl_return(run, &b, ret);
}

FN(fn_decrypt_aes)
{
	(void)n;
	*ret = value_str(STR(""));
	if (args[1].len == 0)
		return 0;
	struct value decoded;
	int r = misc_b64dec(run, &args[1], &decoded);
	if (r < 0)
		return r;
	struct str in = value_text(decoded);
	if (in.len < AES_BLOCK)
		return tmpl_fail(run,
				 "runtime error: slice bounds out of range [:16] with capacity %zu",
				 (size_t)args[1].len / 4 * 3);
	size_t len = in.len - AES_BLOCK;
	if (len % AES_BLOCK)
		return tmpl_fail(run, "crypto/cipher: input not full blocks");
	if (len == 0)
		return tmpl_fail(run, "runtime error: index out of range [-1]");
	unsigned char key[AES_KEY];
	aes_key(value_text(args[0]), key);
	char *out = arena_alloc(tmpl_arena(run), len + AES_BLOCK);
	if (!aes_cbc(false, key, (const unsigned char *)in.ptr, in.ptr + AES_BLOCK, len, out))
		return tmpl_fail(run, "AES failed");
	size_t pad = (unsigned char)out[len - 1];
	if (pad > len)
		return tmpl_fail(run, "runtime error: slice bounds out of range [:%lld]",
				 (long long)len - (long long)pad);
	*ret = value_str(str_n(out, len - pad));
	return 0;
}

/* ---- keys and certificates ---- */
FN(fn_gen_private_key)
{
	(void)n;
	return cert_private_key(run, value_text(args[0]), ret);
}

FN(fn_build_custom_cert)
{
	(void)n;
	return cert_build_custom(run, value_text(args[0]), value_text(args[1]), ret);
}

FN(fn_gen_ca)
{
	struct cert_request rq = {.cn = value_text(args[0]), .days = args[1].i, .ca = true};
	if (n > 2)
		rq.key = value_text(args[2]);
	return cert_make(run, &rq, ret);
}

FN(fn_gen_self_signed)
{
	struct cert_request rq = {
		.cn = value_text(args[0]), .ips = args[1], .names = args[2], .days = args[3].i};
	if (n > 4)
		rq.key = value_text(args[4]);
	return cert_make(run, &rq, ret);
}

FN(fn_gen_signed)
{
	struct cert_request rq = {.cn = value_text(args[0]),
				  .ips = args[1],
				  .names = args[2],
				  .days = args[3].i,
				  .signer = &args[4]};
	if (n > 5)
		rq.key = value_text(args[5]);
	return cert_make(run, &rq, ret);
}

/* ---- sums ---- */
static int hex_digest(struct tmpl_run *run, const char *name, struct str s, struct value *ret)
{
	unsigned char out[64];
	size_t len = hash_digest(name, s, out);
	char *hex = arena_alloc(tmpl_arena(run), 2 * len + 1);
	hex_encode(out, len, hex);
	*ret = value_str(str_n(hex, 2 * len));
	return 0;
}

FN(fn_sha1sum)
{
	(void)n;
	return hex_digest(run, "sha1", value_text(args[0]), ret);
}

FN(fn_sha256sum)
{
	(void)n;
	return hex_digest(run, "sha256", value_text(args[0]), ret);
}

FN(fn_sha512sum)
{
	(void)n;
	return hex_digest(run, "sha512", value_text(args[0]), ret);
}

FN(fn_adler32sum)
{
	(void)n;
	struct str s = value_text(args[0]);
	uint32_t a = 1, b = 0;
	for (size_t i = 0; i < s.len; i++) {
		a = (a + (unsigned char)s.ptr[i]) % 65521;
		b = (b + a) % 65521;
	}
	*ret = value_cstr(arena_fmt(tmpl_arena(run), "%u", b << 16 | a));
	return 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_crypto[] = {
	{"bcrypt", "s:s", fn_bcrypt, TMPL_FN_RANDOM},
	{"htpasswd", "ss:s", fn_htpasswd, TMPL_FN_RANDOM},
	{"derivePassword", "Ussss:s", fn_derive_password, 0},
	{"encryptAES", "ss:s", fn_encrypt_aes, TMPL_FN_RANDOM},
	{"decryptAES", "ss:s", fn_decrypt_aes, 0},
	{"genPrivateKey", "s:s", fn_gen_private_key, TMPL_FN_RANDOM},
	{"buildCustomCert", "ss:c", fn_build_custom_cert, 0},
	{"genCA", "si:c", fn_gen_ca, TMPL_FN_RANDOM},
	{"genCAWithKey", "sis:c", fn_gen_ca, TMPL_FN_RANDOM},
	{"genSelfSignedCert", "sAAi:c", fn_gen_self_signed, TMPL_FN_RANDOM},
	{"genSelfSignedCertWithKey", "sAAis:c", fn_gen_self_signed, TMPL_FN_RANDOM},
	{"genSignedCert", "sAAic:c", fn_gen_signed, TMPL_FN_RANDOM},
	{"genSignedCertWithKey", "sAAics:c", fn_gen_signed, TMPL_FN_RANDOM},
	{"sha1sum", "s:s", fn_sha1sum, 0},
	{"sha256sum", "s:s", fn_sha256sum, 0},
	{"sha512sum", "s:s", fn_sha512sum, 0},
	{"adler32sum", "s:s", fn_adler32sum, 0},
	{0},
};
/* clang-format on */
