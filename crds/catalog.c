/* catalog: see catalog.h. */
#include "crds/catalog.h"

#include "alm/base/clock.h"

#define FIELD(path, type, member, flags) {path, type, offsetof(struct catalog, member), flags}

/* clang-format off */
static const struct decode_field fields[] = {
	FIELD("metadata.name",                   DECODE_STR,      name, DECODE_REQUIRED),
	FIELD("spec.source.url",                 DECODE_STR,      url, DECODE_REQUIRED),
	FIELD("spec.source.secretRef.name",      DECODE_STR,      secret_name, 0),
	FIELD("spec.source.secretRef.namespace", DECODE_STR,      secret_namespace, 0),
	FIELD("spec.source.allowUnpinned",       DECODE_BOOL,     allow_unpinned, 0),
	FIELD("spec.verify.mode",                DECODE_STR,      verify_mode, 0),
	FIELD("spec.verify.keysRef.name",        DECODE_STR,      keys_name, 0),
	FIELD("spec.verify.keysRef.namespace",   DECODE_STR,      keys_namespace, 0),
	FIELD("spec.verify.maxAge",              DECODE_DURATION, max_age_ns, 0),
	FIELD("spec.priority",                   DECODE_INT,      priority, 0),
	FIELD("spec.interval",                   DECODE_DURATION, interval_ns, 0),
	FIELD("status.digest",                   DECODE_STR,      digest, 0),
	{0},
};
/* clang-format on */

int catalog_decode(const struct obj *o, struct arena *a, struct catalog *ret, struct error *err)
{
	struct catalog c = {.interval_ns = 5 * NS_PER_MIN};
	if (decode(o, fields, &c, a, err) < 0)
		return -err->code;
	*ret = c;
	return 0;
}
