/* admit_secret: what is told of a Secret that is stored all the same. */
#include <string.h>

#include "alm/apiserver/admit_platform.h"
#include "alm/apiserver/core.h"
#include "alm/base/hash.h"
#include "alm/base/keypair.h"

static bool decode(const struct obj *data, const char *key, struct strbuf *b)
{
	struct str text = obj_as_str(obj_get(data, key));
	return text.ptr && base64_decode(text, b);
}

void admit_secret_validate(struct mutation *m, struct field_errors *e)
{
	CLEANUP(strbuf_release) struct strbuf certificate = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	const struct obj *data = obj_get(m->after, "data");
	if (e->n || !cstr_eq(obj_str(m->after, "type"), "kubernetes.io/tls") ||
	    !decode(data, "tls.crt", &certificate) || !decode(data, "tls.key", &key))
		return;
	const char *why = keypair_fault(strbuf_str(&certificate), strbuf_str(&key), m->r->arena);
	if (key.len)
		explicit_bzero(key.buf, key.len);
	if (why)
		request_warn(m->r, "%s", why);
}
