#include "catalog/trust/verify.h"

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "catalog/trust/cosign.h"
#include "catalog/trust/provenance.h"

#define PEM_END "-----END PUBLIC KEY-----"

static void free_pubkey(void *p)
{
	pubkey_free(p);
}

/* --- keys --- */

static int add_pem(struct str text, struct arena *a, struct verify_keys *keys, struct error *err)
{
	ptrdiff_t from, to;
	while ((from = str_find(text, STR(VERIFY_PEM_BEGIN))) >= 0) {
		struct pubkey *k;
		text = str_skip(text, (size_t)from);
		to = str_find(text, STR(PEM_END));
		if (to < 0)
			return error_set(err, E_INVALID, "a public key in PEM is cut off");
		if (keys->n_pem == VERIFY_PEM_KEYS_MAX)
			return error_set(err, E_LIMIT, "more than %d keys in PEM",
					 VERIFY_PEM_KEYS_MAX);
		size_t n = (size_t)to + sizeof(PEM_END) - 1;
		if (pubkey_pem(str_n(text.ptr, n), &k, err) < 0)
			return -err->code;
		arena_defer(a, free_pubkey, k);
		keys->pem[keys->n_pem++] = k;
		text = str_skip(text, n);
	}
	return 0;
}

static int add_text(struct str text, int64_t now_s, struct arena *a, struct verify_keys *keys,
		    struct error *err)
{
	bool pgp = str_contains(text, STR(OPENPGP_KEY_BEGIN));
	bool pem = str_contains(text, STR(VERIFY_PEM_BEGIN));
	if (!pgp && !pem)
		return error_set(err, E_INVALID,
				 "is neither an OpenPGP key (" OPENPGP_KEY_BEGIN
				 ") nor a public key in PEM (" VERIFY_PEM_BEGIN ")");
	if (pgp && openpgp_keyring_add(&keys->ring, text, now_s, a, err) < 0)
		return -err->code;
	return add_pem(text, a, keys, err);
}

int verify_keys_read(const struct obj *data, int64_t now_s, struct arena *a,
		     struct verify_keys *ret, struct error *err)
{
	struct verify_keys keys = {0};
	OBJ_EACH (it, data)
		if (add_text(obj_as_str(it.value), now_s, a, &keys, err) < 0)
			return error_wrap(err, "key %.100s", it.key);
	if (!keys.ring.n && !keys.n_pem)
		return error_set(err, E_INVALID, "there are no keys");
	*ret = keys;
	return 0;
}

/* --- one archive --- */

struct question {
	const struct obj *in;
	struct verify_keys keys;
	int64_t now_s, until_s;
};

static int check_provenance(struct question *q, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT(PROVENANCE_BYTES_MAX);
	const char *digest = obj_str(q->in, "digest");
	struct archive_subject subject = {.digest = digest ? digest : "",
					  .chart = obj_get(q->in, "chart")};
	if (!base64_decode(obj_as_str(obj_get(q->in, "provenance")), &file))
		return error_set(err, E_BADREQUEST, "provenance: is no base64");
	return provenance_check(&q->keys.ring, strbuf_str(&file), &subject, q->now_s, &q->until_s,
				err);
}

static int check_cosign(struct question *q, struct error *err)
{
	const struct obj *list = obj_get(q->in, "cosign");
	const char *manifest = obj_str(q->in, "manifest");
	for (size_t i = 0; i < obj_len(list) && i < COSIGN_SIGNATURES_MAX; i++) {
		CLEANUP(strbuf_release) struct strbuf payload =
			STRBUF_INIT(COSIGN_PAYLOAD_BYTES_MAX + 1);
		*err = ERROR_INIT;
		if (!base64_decode(obj_as_str(obj_get(obj_at(list, i), "payload")), &payload))
			return error_set(err, E_BADREQUEST, "cosign: is no base64");
		if (cosign_check(q->keys.pem, q->keys.n_pem, strbuf_str(&payload),
				 obj_as_str(obj_get(obj_at(list, i), "signature")),
				 manifest ? manifest : "", err) == 0)
			return 0;
	}
	return error_wrap(err, "cosign");
}

static int missing(const struct question *q, struct error *err)
{
	if (obj_has(q->in, "manifest") && q->keys.n_pem)
		return error_set(err, E_INVALID, "it is not signed: cosign has left no signature%s",
				 q->keys.ring.n ? ", and there is no provenance" : "");
	if (!q->keys.ring.n)
		return error_set(err, E_INVALID,
				 "it is not signed with an OpenPGP key, and keys in PEM are for "
				 "cosign, which signs what lies in a registry");
	return error_set(
		err, E_INVALID,
		"it is not signed: there is no provenance; make it with helm package --sign");
}

static int check(struct question *q, struct error *err)
{
	bool provenance = q->keys.ring.n && obj_has(q->in, "provenance");
	bool cosign = q->keys.n_pem && obj_len(obj_get(q->in, "cosign"));
	if (!provenance && !cosign)
		return missing(q, err);
	if (provenance && check_provenance(q, err) == 0)
		return 0;
	return cosign ? check_cosign(q, err) : -err->code;
}

int verify_job(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)32 << 20);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(obj_unrefp) struct obj *answer = obj_map();
	if (json_parse(input, &o, err) < 0)
		return -err->code;
	struct question q = {.in = o, .now_s = obj_i64(o, "now", 0)};
	if (verify_keys_read(obj_get(o, "keys"), q.now_s, a, &q.keys, err) < 0)
		return error_set_reason(err, REASON_SIGNATURE_INVALID);
	struct error failed = ERROR_INIT;
	if (check(&q, &failed) < 0) {
		*err = failed;
		return error_set_reason(err, REASON_SIGNATURE_INVALID);
	}
	obj_set_int(answer, "until", q.until_s);
	json_print(answer, output);
	return strbuf_check(output, "the answer", err);
}
