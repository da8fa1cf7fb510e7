#include "alm/apiserver/auth/token.h"

#include "alm/base/hash.h"
#include "alm/obj/json.h"

#define SKEW_S       60 /* of nbf: the clocks of two servers */
#define HEADER_BYTES 256

static void print_header(const struct jws_key *k, struct strbuf *b)
{
	strbuf_addf(b, "{\"alg\":\"ES256\",\"kid\":\"%s\"}", jws_key_id(k));
}

static struct obj *claims_obj(const struct token_claims *c)
{
	struct obj *o = obj_map(), *k = obj_map(), *account = obj_map();
	obj_set(o, "aud", obj_copy(c->audiences));
	obj_set_int(o, "exp", c->expires_s);
	obj_set_int(o, "iat", c->issued_s);
	obj_set_str(o, "iss", TOKEN_ISSUER);
	obj_set_str(o, "jti", c->id);
	obj_set_str(k, "namespace", c->ns);
	obj_set_str(account, "name", c->account);
	obj_set_str(account, "uid", c->account_uid);
	obj_set(k, "serviceaccount", account);
	obj_set(o, "kubernetes.io", k);
	obj_set_int(o, "nbf", c->issued_s);
	obj_set(o, "sub", obj_stringf("system:serviceaccount:%s:%s", c->ns, c->account));
	return o;
}

int token_sign(const struct token_keys *keys, const struct token_claims *c, struct strbuf *b,
	       struct error *err)
{
	unsigned char sig[JWS_SIGNATURE_BYTES];
	CLEANUP(strbuf_release) struct strbuf header = STRBUF_INIT(HEADER_BYTES);
	CLEANUP(obj_unrefp) struct obj *claims = claims_obj(c);
	CLEANUP(xfreep) char *text = json_text(claims);
	size_t start = b->len;
	print_header(keys->items[0], &header);
	base64url_encode(strbuf_str(&header), b);
	strbuf_addc(b, '.');
	base64url_encode(str_of(text), b);
	if (strbuf_check(b, "the token", err) < 0 ||
	    jws_sign(keys->items[0], str_skip(strbuf_str(b), start), sig, err) < 0)
		return -err->code;
	strbuf_addc(b, '.');
	base64url_encode(str_n((const char *)sig, sizeof(sig)), b);
	return strbuf_check(b, "the token", err);
}

static int refused(struct error *err)
{
	return error_set(err, E_UNAUTHORIZED, "Unauthorized");
}

static const struct jws_key *key_of(const struct token_keys *keys, struct str head)
{
	for (size_t i = 0; i < keys->n; i++) {
		CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(HEADER_BYTES);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2 * HEADER_BYTES);
		print_header(keys->items[i], &text);
		base64url_encode(strbuf_str(&text), &want);
		if (!want.over && str_eq(strbuf_str(&want), head))
			return keys->items[i];
	}
	return NULL;
}

static bool signed_by_us(const struct token_keys *keys, struct str head, struct str text,
			 struct str sig)
{
	CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(TOKEN_BYTES_MAX);
	const struct jws_key *k = key_of(keys, head);
	return k && base64url_decode(sig, &raw) && jws_verify(k, text, strbuf_str(&raw));
}

static bool list_has(const struct obj *list, struct str s)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_type(obj_at(list, i)) == OBJ_STRING &&
		    str_eq(obj_as_str(obj_at(list, i)), s))
			return true;
	return false;
}

struct obj *token_audiences(const struct obj *of_token, const struct obj *wanted)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(wanted); i++)
		if (obj_type(obj_at(wanted, i)) == OBJ_STRING &&
		    list_has(of_token, obj_as_str(obj_at(wanted, i))))
			obj_append(out, obj_ref(obj_at(wanted, i)));
	return out;
}

static bool is_for(const struct obj *claims, const struct obj *audiences)
{
	CLEANUP(obj_unrefp) struct obj *both = token_audiences(obj_get(claims, "aud"), audiences);
	return cstr_eq(obj_str(claims, "iss"), TOKEN_ISSUER) && obj_len(both) > 0;
}

int token_verify(const struct token_keys *keys, struct str token, const struct obj *audiences,
		 int64_t now_s, struct obj **ret, struct error *err)
{
	struct str text, sig, head, body;
	struct error ignored = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *claims = NULL;
	if (token.len > TOKEN_BYTES_MAX || !str_rcut(token, '.', &text, &sig) ||
	    !str_cut(text, '.', &head, &body) || !signed_by_us(keys, head, text, sig))
		return refused(err);
	if (!base64url_decode(body, &b) || json_parse(strbuf_str(&b), &claims, &ignored) < 0)
		return refused(err);
	if (obj_i64(claims, "exp", 0) <= now_s ||
	    obj_i64(claims, "nbf", INT64_MAX) > now_s + SKEW_S || !is_for(claims, audiences))
		return refused(err);
	*ret = STEAL(claims);
	return 0;
}
