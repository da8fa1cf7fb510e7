#include "alm/controllers/app/unsupported.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/named_crds.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"
#include "crds/marks.h"

#define DIGEST_MARK "@sha256:"
#define DIGITS_MIN  7 /* as the pattern of spec.strategy.sha256 */

struct refusal {
	const char *path, *message;
};

/* clang-format off */
static const struct refusal of_strategy[] = {
	{"spec.strategy.jsonnet", "spec.strategy.jsonnet: only charts are installed; create it with "
				  "type helm and without the field"},
	{"spec.strategy.image",   "spec.strategy.image: only charts are installed; create it with "
				  "type helm and without the field"},
};
/* clang-format on */

static const char *first_of(const struct obj *o, const struct refusal *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (obj_is_set(obj_path(o, list[i].path)))
			return list[i].message;
	}
	return NULL;
}

const char *unsupported_of_app(const struct obj *app, struct arena *a)
{
	struct named_crd *ignored;
	const char *why;
	return named_crds(app, a, &ignored, &why) < 0 ? why : inplace_problem(app, a);
}

static const char *digest_of_reference(const struct obj *strategy)
{
	const char *chart = obj_str(strategy, "spec.strategy.helmChart");
	const char *mark = chart ? strstr(chart, DIGEST_MARK) : NULL;
	return mark ? mark + strlen(DIGEST_MARK) : NULL;
}

static bool is_digest(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");
	return !text[n] && n >= DIGITS_MIN && n < SHA256_HEX;
}

const char *strategy_sha256(const struct obj *strategy)
{
	const char *own = obj_str(strategy, "spec.strategy.sha256");
	const char *pinned = digest_of_reference(strategy);
	return own ? own : pinned && is_digest(pinned) ? pinned : NULL;
}

/* Of two that start alike the longer one says more, but one archive is meant. */
static bool is_same(const char *a, const char *b)
{
	return cstr_has_prefix(a, b) || cstr_has_prefix(b, a);
}

const char *unsupported_of_strategy(const struct obj *strategy, struct arena *a)
{
	const char *type = obj_str(strategy, "spec.strategy.type");
	const char *own = obj_str(strategy, "spec.strategy.sha256");
	const char *pinned = digest_of_reference(strategy);
	if (type && strcmp(type, "helm") != 0)
		return arena_fmt(a,
				 "spec.strategy.type: %s is not installed; create it with type "
				 "helm",
				 type);
	if (pinned && !is_digest(pinned))
		return "spec.strategy.helmChart: want 7 to 64 digits of a SHA-256 "
		       "after " DIGEST_MARK;
	if (own && pinned && !is_same(own, pinned))
		return "spec.strategy.sha256 is not the digest in spec.strategy.helmChart; create "
		       "it "
		       "with one of them";
	return first_of(strategy, of_strategy, ARRAY_LEN(of_strategy));
}
