#include "alm/controllers/work/policy.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/json.h"
#include "catalog/trust/verify.h"

#define KEYS_REF "spec.verify.keysRef"

bool policy_wanted(const struct obj *catalog)
{
	return obj_path(catalog, "spec.verify") != NULL;
}

int policy_keys_name(const struct obj *catalog, const char **ret, struct error *err)
{
	const char *mode = obj_str(catalog, "spec.verify.mode");
	const char *name = obj_str(catalog, KEYS_REF ".name");
	const char *ns = obj_str(catalog, KEYS_REF ".namespace");
	if (mode && strcmp(mode, "Required") != 0)
		return error_because(err, E_INVALID, REASON_SIGNATURE_INVALID,
				     "spec.verify.mode: \"%.50s\"; "
				     "want Required",
				     mode);
	if (!name || !*name)
		return error_because(err, E_INVALID, REASON_SIGNATURE_INVALID,
				     KEYS_REF ".name: want a ConfigMap");
	if (ns && strcmp(ns, POLICY_NAMESPACE) != 0)
		return error_because(err, E_INVALID, REASON_SIGNATURE_INVALID,
				     KEYS_REF ".namespace: keys are read in " POLICY_NAMESPACE
					      " only");
	*ret = name;
	return 0;
}

int policy_keys(const struct obj *catalog, const struct obj *config_map, const struct obj **ret,
		char ret_digest[SHA256_HEX], struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VERIFY_KEYS_BYTES_MAX * 6);
	const struct obj *data = obj_get(config_map, "data");
	if (!obj_len(data))
		return error_because(
			err, E_INVALID, REASON_SIGNATURE_INVALID,
			KEYS_REF ": the ConfigMap has no keys; each value of data is an armored "
				 "OpenPGP key, or a public key in PEM");
	const char *url = obj_str(catalog, "spec.source.url");
	strbuf_addf(&b, "%s\n", url ? url : "");
	json_print_canonical(data, &b);
	if (strbuf_check(&b, KEYS_REF, err) < 0)
		return error_set_reason(err, REASON_SIGNATURE_INVALID);
	sha256_hex(strbuf_str(&b), ret_digest);
	*ret = data;
	return 0;
}

/* --- what may be installed --- */

static bool vouches(const struct view *v, const struct catalog_index *x,
		    const struct package_version *p)
{
	if (!policy_wanted(view_get(v, WATCH_CATALOG, x->name)))
		return true;
	return *x->policy && cstr_eq(p->verified_by, x->policy) &&
	       (!p->verified_until_s || v->now_ns / NS_PER_S < p->verified_until_s);
}

static bool is_any_wanted(const struct view *v)
{
	size_t n;
	const struct obj *const *all = view_list(v, WATCH_CATALOG, NULL, &n);
	for (size_t i = 0; i < n; i++)
		if (policy_wanted(all[i]))
			return true;
	return false;
}

const char *policy_refuses(const struct view *v, const char *archive)
{
	for (size_t i = 0; i < v->shared->n_indexes; i++) {
		const struct package_version *p =
			index_by_digest(v->shared->indexes[i], str_of(archive));
		if (p && vouches(v, v->shared->indexes[i], p))
			return NULL;
	}
	if (!is_any_wanted(v))
		return NULL;
	return arena_fmt(
		v->a,
		"no Catalog vouches for the archive with sha256 %s: spec.verify asks for a "
		"valid signature (status.rejected says what was left out)",
		archive);
}

/* --- freshness --- */

static int stale(struct error *err, const char *what, int64_t then_ns, const char *against)
{
	char then[CLOCK_TEXT_MAX];
	clock_format(then_ns, CLOCK_SECONDS, then);
	return error_because(err, E_REFUSED, REASON_CATALOG_STALE,
			     "its index was generated at %s, %s%s", then, what, against);
}

int policy_check_age(const struct obj *catalog, const struct policy_ages *g, struct error *err)
{
	int64_t max_ns = 0;
	char old[CLOCK_TEXT_MAX];
	const char *max = obj_str(catalog, "spec.verify.maxAge");
	if (!policy_wanted(catalog))
		return 0;
	if (max && (duration_parse(str_of(max), &max_ns, err) < 0 || max_ns <= 0))
		return error_set(err, E_INVALID,
				 "spec.verify.maxAge: \"%.50s\" is no duration like "
				 "168h",
				 max);
	if ((max || g->old_ns) && !g->new_ns)
		return error_because(err, E_REFUSED, REASON_CATALOG_STALE,
				     "the source does not say when its index was "
				     "generated (generated: of a Helm index.yaml)%s",
				     max ? "; without that there is no spec.verify.maxAge" : "");
	if (g->new_ns > g->now_ns + NS_PER_DAY)
		return stale(err, "which is in the future", g->new_ns, "");
	if (g->new_ns < g->old_ns && !g->accepted) {
		clock_format(g->old_ns, CLOCK_SECONDS, old);
		return stale(err, "before the revision in use: ", g->new_ns, old);
	}
	if (max && g->now_ns - g->new_ns > max_ns)
		return stale(err, "more than spec.verify.maxAge ago: ", g->new_ns, max);
	return 0;
}
