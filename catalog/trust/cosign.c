#include "catalog/trust/cosign.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/pubkey.h"
#include "alm/obj/json.h"

#define SIGNATURE_BYTES_MAX (PUBKEY_RSA_BITS_MAX / 8)

const char *cosign_tag(const char *manifest_digest, struct arena *a)
{
	return arena_fmt(a, "sha256-%s.sig", manifest_digest);
}

static bool is_signed(const struct pubkey *const *keys, size_t n, struct str payload,
		      struct str signature)
{
	for (size_t i = 0; i < n; i++)
		if (pubkey_verify(keys[i], "SHA256", payload, signature))
			return true;
	return false;
}

/* What is signed is a statement about this manifest. */
static int check_payload(struct str payload, const char *manifest_digest, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (json_parse(payload, &o, err) < 0)
		return error_wrap(err, "payload");
	const char *type = obj_str(o, "critical.type");
	const char *digest = obj_str(o, "critical.image.docker-manifest-digest");
	if (!cstr_eq(type, "cosign container image signature"))
		return error_set(err, E_INVALID, "critical.type is \"%.100s\"", type ? type : "");
	if (!digest || strlen(manifest_digest) != SHA256_HEX - 1 ||
	    !cstr_has_prefix(digest, "sha256:") ||
	    strcmp(digest + strlen("sha256:"), manifest_digest) != 0)
		return error_set(err, E_INVALID, "it is signed for manifest %.100s, not sha256:%s",
				 digest ? digest : "(none)", manifest_digest);
	return 0;
}

int cosign_check(const struct pubkey *const *keys, size_t n_keys, struct str payload,
		 struct str signature, const char *manifest_digest, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(SIGNATURE_BYTES_MAX);
	if (payload.len > COSIGN_PAYLOAD_BYTES_MAX)
		return error_set(err, E_LIMIT, "payload larger than %zu bytes",
				 COSIGN_PAYLOAD_BYTES_MAX);
	if (!base64_decode(signature, &raw) || raw.over || !raw.len)
		return error_set(err, E_INVALID, "its signature is no base64");
	if (!is_signed(keys, n_keys, payload, strbuf_str(&raw)))
		return error_set(err, E_INVALID, "it is signed by none of the keys");
	return check_payload(payload, manifest_digest, err);
}
