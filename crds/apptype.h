/*
 * apptype: the typed view of an AppType (lifecycle.md 0).
 *
 * Strings and objects are borrowed from the object, arrays live in the arena. Defaults are those of
 * apptype.yaml, so an object that no server has defaulted reads the same.
 */
#ifndef CRDS_APPTYPE_H
#define CRDS_APPTYPE_H

#include "alm/obj/decode.h"

enum apptype_mode { MODE_AUTOMATIC, MODE_MANUAL, MODE_NONE };

struct apptype_window {
	struct decode_strs days; /* none: every day */
	const char *from, *to;   /* "22:00" in UTC */
};

struct apptype_waiver {
	const char *rule, *resource, *path, *reason; /* path may be NULL */
	int64_t expires_ns;                          /* 0: never */
};

struct apptype_upgrade {
	enum apptype_mode mode;
	const char *to;              /* one exact version, or NULL */
	const char *approve_version; /* a range, or NULL */
	int64_t soak_ns;
	struct apptype_window *windows;
	size_t n_windows;
	struct apptype_waiver *waivers;
	size_t n_waivers;
	bool approve_on_warn; /* onWarn: Approve */
	bool approve_first;
	bool stay_on_failure; /* onFailure: Stay */
	bool require_plan_digest;
	int64_t approval_ttl_ns;
	int64_t pending_ns, installing_ns, verifying_ns; /* deadlines; 0: the program's default */
};

struct apptype {
	const char *name, *type;
	const char *display_name, *description; /* or NULL, as those below */
	const char *package, *catalog, *channel, *version;
	const char *install_namespace; /* the app's name if not given */
	const char *service_account, *rollout;
	bool paused;
	bool drift_report; /* drift: Report */
	int64_t history_limit;
	const struct obj *values, *operator_config; /* spec.operator */
	const struct obj *resources;                /* list */
	struct decode_strs keywords;
	struct apptype_upgrade upgrade;
};

/* E_INVALID names the field. */
int apptype_decode(const struct obj *o, struct arena *a, struct apptype *ret, struct error *err);

#endif
