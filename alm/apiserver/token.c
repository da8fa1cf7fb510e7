#include "alm/apiserver/token.h"

#include "alm/base/hash.h"
#include "alm/obj/json.h"

static const char header[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";

static struct obj *claims_obj(const struct token_claims *c)
{
	struct obj *o = obj_map(), *account = obj_map();
	struct obj *audiences =
		obj_type(c->audiences) == OBJ_LIST ? obj_copy(c->audiences) : obj_list();
	if (!obj_len(audiences))
		obj_append(audiences, obj_string(TOKEN_ISSUER));
	obj_set(o, "aud", audiences);
	obj_set_int(o, "exp", c->expires_s);
	obj_set_int(o, "iat", c->issued_s);
	obj_set_str(o, "iss", TOKEN_ISSUER);
	obj_set_int(o, "nbf", c->issued_s);
	obj_set(o, "sub", obj_stringf("system:serviceaccount:%s:%s", c->ns, c->account));
	obj_set_str(account, "name", c->account);
	obj_set_str(account, "uid", c->account_uid);
	obj_set(o, "kubernetes.io", obj_map());
	obj_set_str(obj_get_mut(o, "kubernetes.io"), "namespace", c->ns);
	obj_set(obj_get_mut(o, "kubernetes.io"), "serviceaccount", account);
	return o;
}

void token_sign(const unsigned char key[TOKEN_KEY_BYTES], const struct token_claims *c,
		struct strbuf *b)
{
	unsigned char mac[SHA256_BYTES];
	CLEANUP(obj_unrefp) struct obj *claims = claims_obj(c);
	CLEANUP(xfreep) char *text = json_text(claims);
	size_t start = b->len;
	base64url_encode(str_of(header), b);
	strbuf_addc(b, '.');
	base64url_encode(str_of(text), b);
	hmac_sha256(str_n((const char *)key, TOKEN_KEY_BYTES), str_skip(strbuf_str(b), start), mac);
	strbuf_addc(b, '.');
	base64url_encode(str_n((const char *)mac, sizeof(mac)), b);
}

static int refused(struct error *err)
{
	return error_set(err, E_UNAUTHORIZED, "Unauthorized");
}

static bool signed_by(const unsigned char key[TOKEN_KEY_BYTES], struct str text, struct str sig)
{
	unsigned char mac[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf given = STRBUF_INIT(TOKEN_BYTES_MAX);
	hmac_sha256(str_n((const char *)key, TOKEN_KEY_BYTES), text, mac);
	return base64url_decode(sig, &given) && given.len == sizeof(mac) &&
	       mem_equal(given.buf, mac, sizeof(mac));
}

int token_verify(const unsigned char key[TOKEN_KEY_BYTES], struct str token, int64_t now_s,
		 struct obj **ret, struct error *err)
{
	struct str text, sig, head, body;
	struct error ignored = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *claims = NULL;
	if (token.len > TOKEN_BYTES_MAX || !str_rcut(token, '.', &text, &sig) ||
	    !str_cut(text, '.', &head, &body) || !signed_by(key, text, sig))
		return refused(err);
	if (!base64url_decode(head, &b) || !str_is(strbuf_str(&b), header))
		return refused(err);
	strbuf_clear(&b);
	if (!base64url_decode(body, &b) || json_parse(strbuf_str(&b), &claims, &ignored) < 0)
		return refused(err);
	if (obj_i64(claims, "exp", 0) <= now_s || obj_i64(claims, "nbf", INT64_MAX) > now_s + 60)
		return refused(err);
	*ret = STEAL(claims);
	return 0;
}
