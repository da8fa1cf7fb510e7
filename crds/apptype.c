/* apptype: see apptype.h. */
#include "crds/apptype.h"

#include "alm/base/clock.h"

#define FIELD(path, type, member, flags) {path, type, offsetof(struct apptype, member), flags}

/* clang-format off */
static const struct decode_field fields[] = {
	FIELD("metadata.name",                   DECODE_STR,      name, DECODE_REQUIRED),
	FIELD("spec.type",                       DECODE_STR,      type, DECODE_REQUIRED),
	FIELD("spec.displayName",                DECODE_STR,      display_name, 0),
	FIELD("spec.description",                DECODE_STR,      description, 0),
	FIELD("spec.keywords",                   DECODE_STRS,     keywords, 0),
	FIELD("spec.package",                    DECODE_STR,      package, 0),
	FIELD("spec.catalog",                    DECODE_STR,      catalog, 0),
	FIELD("spec.channel",                    DECODE_STR,      channel, 0),
	FIELD("spec.version",                    DECODE_STR,      version, 0),
	FIELD("spec.installNamespace",           DECODE_STR,      install_namespace, 0),
	FIELD("spec.serviceAccountName",         DECODE_STR,      service_account, 0),
	FIELD("spec.rolloutRef.name",            DECODE_STR,      rollout, 0),
	FIELD("spec.paused",                     DECODE_BOOL,     paused, 0),
	FIELD("spec.historyLimit",               DECODE_INT,      history_limit, 0),
	FIELD("spec.values",                     DECODE_OBJ,      values, 0),
	FIELD("spec.operator",                   DECODE_OBJ,      operator_config, 0),
	FIELD("spec.resources",                  DECODE_LIST,     resources, 0),
	FIELD("spec.upgrade.to",                 DECODE_STR,      upgrade.to, 0),
	FIELD("spec.upgrade.approveVersion",     DECODE_STR,      upgrade.approve_version, 0),
	FIELD("spec.upgrade.soak",               DECODE_DURATION, upgrade.soak_ns, 0),
	FIELD("spec.upgrade.approveFirst",       DECODE_BOOL,     upgrade.approve_first, 0),
	FIELD("spec.upgrade.requirePlanDigest",  DECODE_BOOL,     upgrade.require_plan_digest, 0),
	FIELD("spec.upgrade.approvalTTL",        DECODE_DURATION, upgrade.approval_ttl_ns, 0),
	FIELD("spec.upgrade.deadlines.pending",    DECODE_DURATION, upgrade.pending_ns, 0),
	FIELD("spec.upgrade.deadlines.installing", DECODE_DURATION, upgrade.installing_ns, 0),
	FIELD("spec.upgrade.deadlines.verifying",  DECODE_DURATION, upgrade.verifying_ns, 0),
	{0},
};
#undef FIELD

#define FIELD(path, type, member, flags) {path, type, offsetof(struct apptype_window, member), flags}
static const struct decode_field window_fields[] = {
	FIELD("days", DECODE_STRS, days, 0),
	FIELD("from", DECODE_STR,  from, DECODE_REQUIRED),
	FIELD("to",   DECODE_STR,  to, DECODE_REQUIRED),
	{0},
};
#undef FIELD

#define FIELD(path, type, member, flags) {path, type, offsetof(struct apptype_waiver, member), flags}
static const struct decode_field waiver_fields[] = {
	FIELD("rule",     DECODE_STR,  rule, DECODE_REQUIRED),
	FIELD("resource", DECODE_STR,  resource, DECODE_REQUIRED),
	FIELD("path",     DECODE_STR,  path, 0),
	FIELD("reason",   DECODE_STR,  reason, DECODE_REQUIRED),
	FIELD("expires",  DECODE_TIME, expires_ns, 0),
	{0},
};
#undef FIELD
/* clang-format on */

/* The index of the text at path among words (NULL-ended); 0, the default, when absent. */
static int decode_word(const struct obj *o, const char *path, const char *const *words,
		       struct error *err)
{
	const struct obj *v = obj_path(o, path);
	if (obj_type(v) == OBJ_ABSENT || obj_type(v) == OBJ_NULL)
		return 0;
	for (int i = 0; words[i]; i++)
		if (cstr_eq(words[i], obj_as_string(v)))
			return i;
	return error_set(err, E_INVALID, "%s: found %.64s, wanted %s or another of its words", path,
			 obj_as_string(v) ? obj_as_string(v) : obj_type_name(obj_type(v)),
			 words[0]);
}

static int decode_words(const struct obj *o, struct apptype *ret, struct error *err)
{
	static const char *const modes[] = {"Automatic", "Manual", "None", NULL};
	static const char *const drift[] = {"Repair", "Report", NULL};
	static const char *const on_warn[] = {"Proceed", "Approve", NULL};
	static const char *const on_failure[] = {"Rollback", "Stay", NULL};
	int mode = decode_word(o, "spec.upgrade.mode", modes, err);
	int report = mode < 0 ? mode : decode_word(o, "spec.drift", drift, err);
	int warn = report < 0 ? report : decode_word(o, "spec.upgrade.onWarn", on_warn, err);
	int stay = warn < 0 ? warn : decode_word(o, "spec.upgrade.onFailure", on_failure, err);
	if (stay < 0)
		return stay;
	ret->upgrade.mode = (enum apptype_mode)mode;
	ret->drift_report = report == 1;
	ret->upgrade.approve_on_warn = warn == 1;
	ret->upgrade.stay_on_failure = stay == 1;
	return 0;
}

static int decode_lists(const struct obj *o, struct arena *a, struct apptype_upgrade *u,
			struct error *err)
{
	const struct obj *windows = obj_path(o, "spec.upgrade.windows");
	const struct obj *waivers = obj_path(o, "spec.upgrade.waivers");
	u->n_windows = obj_len(windows);
	u->windows = ARENA_ARRAY(a, struct apptype_window, u->n_windows);
	for (size_t i = 0; i < u->n_windows; i++)
		if (decode(obj_at(windows, i), window_fields, &u->windows[i], a, err) < 0)
			return error_wrap(err, "spec.upgrade.windows[%zu]", i);
	u->n_waivers = obj_len(waivers);
	u->waivers = ARENA_ARRAY(a, struct apptype_waiver, u->n_waivers);
	for (size_t i = 0; i < u->n_waivers; i++)
		if (decode(obj_at(waivers, i), waiver_fields, &u->waivers[i], a, err) < 0)
			return error_wrap(err, "spec.upgrade.waivers[%zu]", i);
	return 0;
}

int apptype_decode(const struct obj *o, struct arena *a, struct apptype *ret, struct error *err)
{
	struct apptype t = {
		.channel = "stable",
		.history_limit = 10,
		.upgrade.approval_ttl_ns = 72 * NS_PER_HOUR,
	};
	if (decode(o, fields, &t, a, err) < 0 || decode_words(o, &t, err) < 0 ||
	    decode_lists(o, a, &t.upgrade, err) < 0)
		return -err->code;
	if (!t.install_namespace)
		t.install_namespace = t.name;
	*ret = t;
	return 0;
}
