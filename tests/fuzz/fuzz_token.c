/*
 * fuzz_token: any bytes as a ServiceAccount token, and as the PEM text of its key. The header and
 * signature of a valid token are given to a claim set of the input's choice as well: none is
 * accepted, as none was signed.
 */
#include <assert.h>
#include <string.h>

#include "alm/apiserver/auth/token.h"
#include "alm/base/hash.h"
#include "alm/base/mem.h"
#include "alm/obj/json.h"
#include "tests/fuzz/fuzz.h"

#define NOW_S 2000

static struct token_keys keys;
static struct strbuf valid = STRBUF_INIT(TOKEN_BYTES_MAX);
static struct obj *audiences;

static void setup(void)
{
	struct error err = ERROR_INIT;
	CLEANUP(xfreep) char *pem = NULL;
	audiences = obj_list();
	obj_append(audiences, obj_string(TOKEN_ISSUER));
	struct token_claims c = {"ns", "builder", "u-1", "id-1", audiences, 1000, 4600};
	int r = jws_key_new(&pem, &err);
	assert(r == 0);
	r = jws_key_read(pem, &keys.items[0], &err);
	assert(r == 0);
	keys.n = 1;
	r = token_sign(&keys, &c, &valid, &err);
	assert(r == 0);
}

static void refuse(struct str token)
{
	struct error err = ERROR_INIT;
	struct obj *claims = NULL;
	if (str_eq(token, strbuf_str(&valid)))
		return;
	int r = token_verify(&keys, token, audiences, NOW_S, &claims, &err);
	assert(r == -E_UNAUTHORIZED && !claims && *err.msg);
	fuzz_note_text(err.msg);
}

/* The valid token with the input in place of its claims, plain and in base64url, or of what
 * follows. */
static void swap_parts(struct str input)
{
	struct str head, rest, claims, signature;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 * TOKEN_BYTES_MAX);
	str_cut(strbuf_str(&valid), '.', &head, &rest);
	str_cut(rest, '.', &claims, &signature);
	strbuf_addf(&b, "%.*s.", (int)head.len, head.ptr);
	base64url_encode(input, &b);
	strbuf_addf(&b, ".%.*s", (int)signature.len, signature.ptr);
	refuse(strbuf_str(&b));
	strbuf_clear(&b);
	strbuf_addf(&b, "%.*s.%.*s.", (int)head.len, head.ptr, (int)claims.len, claims.ptr);
	base64url_encode(input, &b);
	refuse(strbuf_str(&b));
	strbuf_clear(&b);
	base64url_encode(input, &b);
	strbuf_addf(&b, ".%.*s.%.*s", (int)claims.len, claims.ptr, (int)signature.len,
		    signature.ptr);
	refuse(strbuf_str(&b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct jws_key *k = NULL;
	if (size > TOKEN_BYTES_MAX)
		return 0;
	if (!keys.n)
		setup();
	CLEANUP(xfreep) char *pem = xstrndup((const char *)data, size);
	if (jws_key_read(pem, &k, &err) == 0)
		assert(*jws_key_id(k));
	jws_key_free(k);
	refuse(str_n((const char *)data, size));
	swap_parts(str_n((const char *)data, size));
	return 0;
}
