#include "alm/controllers/app/app.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/usage.h"
#include "alm/controllers/work/shared.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/patch.h"

static const char *const phase_names[] = {
	[PHASE_NEW] = "",
	[PHASE_PENDING] = "Pending",
	[PHASE_BLOCKED] = "Blocked",
	[PHASE_AWAITING] = "AwaitingApproval",
	[PHASE_INSTALLING] = "Installing",
	[PHASE_VERIFYING] = "Verifying",
	[PHASE_SUCCEEDED] = "Succeeded",
	[PHASE_ROLLING_BACK] = "RollingBack",
	[PHASE_ROLLED_BACK] = "RolledBack",
	[PHASE_FAILED] = "Failed",
	[PHASE_SUPERSEDED] = "Superseded",
};

enum phase phase_of(const struct obj *strategy)
{
	const char *text = obj_str(strategy, "status.phase");
	for (size_t i = 1; text && i < ARRAY_LEN(phase_names); i++)
		if (!strcmp(text, phase_names[i]))
			return (enum phase)i;
	return PHASE_NEW;
}

const char *phase_name(enum phase p)
{
	return phase_names[p];
}

bool phase_is_busy(enum phase p)
{
	return p == PHASE_INSTALLING || p == PHASE_VERIFYING || p == PHASE_ROLLING_BACK;
}

bool phase_is_unfinished(enum phase p)
{
	return p == PHASE_PENDING || p == PHASE_AWAITING || phase_is_busy(p);
}

const char *app_self_ref(const struct obj *apptype, struct arena *a)
{
	const char *type = obj_str(apptype, "spec.type");
	return arena_fmt(a, "%s.%s", meta_name(apptype), type ? type : "");
}

const char *app_label_value(const char *text, struct arena *a)
{
	char hex[SHA256_HEX];
	if (strlen(text) <= 63)
		return text;
	sha256_hex(str_of(text), hex);
	return arena_fmt(a, "%s-%.8s", name_cut(text, 54, a), hex);
}

const char *strategy_name(const char *version, const char *self_ref, struct arena *a)
{
	char *v = arena_strdup(a, version);
	bool changed = false;
	for (char *p = v; *p; p++) {
		char c = char_lower(*p);
		if (!char_is_alnum(c) && c != '.' && c != '-')
			c = '-';
		changed = changed || c != *p;
		*p = c;
	}
	char *name = arena_fmt(a, "install.%s.%s", v, self_ref);
	if (!changed && strlen(name) <= GVK_NAME_MAX)
		return name;
	char hex[SHA256_HEX];
	sha256_hex(str_of(version), hex);
	return arena_fmt(a, "%s-%.8s", name_cut(name, GVK_NAME_MAX - 9, a), hex);
}

const char *values_digest(const struct obj *values, struct arena *a)
{
	char hex[SHA256_HEX];
	json_digest(values, hex);
	return arena_strndup(a, hex, 12);
}

struct obj *strategy_values(const struct app *app, const struct obj *strategy)
{
	struct error err;
	struct obj *merged = NULL;
	const struct obj *own = obj_path(strategy, "spec.strategy.values");
	if (!own || patch_merge(app->values, own, &merged, &err) < 0)
		return obj_ref(app->values);
	return merged;
}

const struct package_version *entry_by_digest(const struct view *v, const char *sha256,
					      const char **ret_catalog)
{
	for (size_t i = 0; sha256 && i < v->shared->n_indexes; i++) {
		const struct package_version *p =
			index_by_digest(v->shared->indexes[i], str_of(sha256));
		if (!p)
			continue;
		if (ret_catalog)
			*ret_catalog = v->shared->indexes[i]->name;
		return p;
	}
	return NULL;
}

const char **app_strings(const struct obj *list, struct arena *a)
{
	size_t n = obj_len(list), kept = 0;
	const char **items = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *s = obj_as_string(obj_at(list, i));
		if (s)
			items[kept++] = s;
	}
	return items;
}

const char *strategy_version(const struct obj *strategy, struct arena *a)
{
	const struct obj *v = obj_path(strategy, "spec.version");
	if (obj_is_number(v))
		return arena_fmt(a, "%.*s", STR_ARG(obj_number_text(v)));
	const char *s = obj_as_string(v);
	return s ? s : "";
}

const char **strategy_managed(const struct obj *strategy, struct arena *a)
{
	return app_strings(obj_path(strategy, "spec.resources"), a);
}

bool is_older_than_log(const struct view *v, const struct obj *o)
{
	int64_t seen = obj_i64(o, "status.transitionSeq", 0);
	return meta_uid(o) && seen < v->ops->head(v->ops_arg, meta_uid(o));
}

int app_check_age(const struct view *v, const struct app *app, const char *but, struct error *err)
{
	if (!app->deleting && is_older_than_log(v, app->o))
		return error_set(err, E_CONFLICT, "the view of AppType %s is older than the log",
				 app->name);
	for (size_t i = 0; i < app->n; i++) {
		const struct strategy_ref *s = &app->strategies[i];
		if (!cstr_eq(s->name, but) && is_older_than_log(v, s->o))
			return error_set(err, E_CONFLICT,
					 "the view of InstallStrategy %s is older than the log",
					 s->name);
	}
	return 0;
}

void plan_redo(struct plan *p, const struct obj *o)
{
	plan_status(p, o, obj_copy_map(obj_get(o, "status")), "Refreshed", "");
}

bool app_replans(const struct app *app)
{
	return app->installed &&
	       (app->installed->phase == PHASE_PENDING || app->installed->phase == PHASE_AWAITING);
}

struct strategy_ref *app_strategy(const struct app *app, const char *version)
{
	for (size_t i = 0; version && i < app->n; i++)
		if (!strcmp(app->strategies[i].version, version))
			return &app->strategies[i];
	return NULL;
}

int64_t strategy_running_revision(const struct strategy_ref *installed)
{
	int64_t former = obj_i64(installed->o, "status.former.revision", 0);
	return former && installed->phase != PHASE_SUCCEEDED ? former : installed->revision;
}

int64_t app_highest_revision(const struct app *app)
{
	int64_t highest = 0;
	for (size_t i = 0; i < app->n; i++) {
		const struct strategy_ref *s = &app->strategies[i];
		int64_t back = obj_i64(s->o, "status.rollbackRevision", 0);
		int64_t own = s->revision > back ? s->revision : back;
		highest = own > highest ? own : highest;
	}
	return highest;
}

const struct candidate *app_candidate(const struct app *app, const char *version)
{
	for (size_t i = 0; i < app->resolution.n; i++)
		if (!strcmp(app->resolution.candidates[i].version, version))
			return &app->resolution.candidates[i];
	return NULL;
}
