/* resource_quota_check: is a ResourceQuota one? In the words of the real server. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"

/* --- names and amounts --- */

/* One that needs no slash; the others are of extended resources, classes and counts. */
static bool is_standard(const char *name)
{
	return check_is_standard(name) && strcmp(name, "storage") != 0;
}

static void check_name(struct field_errors *e, const char *path, const char *name)
{
	check_resource_name(e, path, name);
	if (!strchr(name, '/') && !is_standard(name))
		check_invalid_text(e, path, name, "must be a standard resource for quota");
}

static bool is_whole(const char *name)
{
	struct str group, plural;
	if (quota_counts(name, &group, &plural) || strcmp(name, "pods") == 0 ||
	    cstr_has_prefix(name, "services."))
		return true;
	return strchr(name, '/') && !strstr(name, "kubernetes.io/") &&
	       !cstr_has_prefix(name, "requests.") && !name_fault(NAME_QUALIFIED, str_of(name));
}

void quota_check_amount(struct field_errors *e, const char *path, const char *name,
			const char *text)
{
	struct quantity q;
	if (!text || !quantity_read(str_of(text), &q))
		return; /* told when it was decoded */
	if (q.nanos < 0)
		field_errors_add(e, FIELD_INVALID, path,
				 "Invalid value: \"%s\": must be greater than or equal to 0", text);
	if (is_whole(name) && q.nanos % 1000000000)
		field_errors_add(e, FIELD_INVALID, path,
				 "Invalid value: \"%s\": must be an integer", text);
}

/* --- scopes --- */

static bool is_scope(const char *scope)
{
	static const char *const names[] = {"Terminating",          "NotTerminating",
					    "BestEffort",           "NotBestEffort",
					    "PriorityClass",        "CrossNamespacePodAffinity",
					    "VolumeAttributesClass"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (cstr_eq(scope, names[i]))
			return true;
	return false;
}

/* May the scope be asked for with the name? */
static bool fits(const char *scope, const char *name)
{
	static const char *const compute[] = {"cpu",           "memory",       "limits.cpu",
					      "limits.memory", "requests.cpu", "requests.memory"};
	if (!is_standard(name))
		return true;
	if (cstr_eq(scope, "VolumeAttributesClass"))
		return strcmp(name, "persistentvolumeclaims") == 0 ||
		       strcmp(name, "requests.storage") == 0;
	if (strcmp(name, "pods") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(compute) && !cstr_eq(scope, "BestEffort"); i++)
		if (strcmp(name, compute[i]) == 0)
			return true;
	return !is_scope(scope);
}

static bool has_scope(const struct obj *scopes, const char *scope)
{
	for (size_t i = 0; i < obj_len(scopes); i++)
		if (cstr_eq(obj_as_string(obj_at(scopes, i)), scope))
			return true;
	return false;
}

#define SCOPES "spec.scopes"
#define TERM   "spec.scopeSelector.matchExpressions"

static bool is_selected(const struct obj *terms, const char *scope)
{
	for (size_t i = 0; i < obj_len(terms); i++)
		if (cstr_eq(obj_str(obj_at(terms, i), "scopeName"), scope))
			return true;
	return false;
}

/* Of each pair one at most is asked for. What is shown are the scopes, whoever asks. */
static void check_pairs(struct field_errors *e, const char *path, const struct obj *quota,
			bool (*has)(const struct obj *list, const char *scope))
{
	static const char *const pairs[][2] = {{"BestEffort", "NotBestEffort"},
					       {"Terminating", "NotTerminating"}};
	const struct obj *list = obj_path(quota, path);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (has(list, pairs[i][0]) && has(list, pairs[i][1]))
			check_invalid(e, path, obj_path(quota, SCOPES), "conflicting scopes");
}

static void check_scopes(struct field_errors *e, const struct obj *quota)
{
	const struct obj *scopes = obj_path(quota, SCOPES), *hard = obj_path(quota, "spec.hard");
	for (size_t i = 0; i < obj_len(scopes); i++) {
		const char *scope = obj_as_string(obj_at(scopes, i));
		if (!is_scope(scope))
			check_invalid(e, SCOPES, scopes, "unsupported scope");
		OBJ_EACH (it, hard)
			if (!fits(scope, it.key))
				check_invalid(e, SCOPES, scopes,
					      "unsupported scope applied to resource");
	}
	check_pairs(e, SCOPES, quota, has_scope);
}

static void check_operator(struct field_errors *e, const struct obj *t)
{
	const char *scope = obj_str(t, "scopeName"), *op = obj_str(t, "operator");
	const struct obj *values = obj_get(t, "values");
	bool by_class = cstr_eq(scope, "PriorityClass") || cstr_eq(scope, "VolumeAttributesClass");
	if (is_scope(scope) && !by_class && !cstr_eq(op, "Exists"))
		check_invalid_text(
			e, TERM ".operator", op ? op : "",
			"must be 'Exists' when scope is any of "
			"ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
			"ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
			"ResourceQuotaScopeCrossNamespacePodAffinity");
	if (cstr_eq(op, "In") || cstr_eq(op, "NotIn")) {
		if (!obj_len(values))
			field_errors_add(e, FIELD_REQUIRED, TERM ".values",
					 "Required value: must be at least one value when "
					 "`operator` is 'In' or 'NotIn' for scope selector");
	} else if (cstr_eq(op, "Exists") || cstr_eq(op, "DoesNotExist")) {
		CLEANUP(xfreep) char *text = obj_len(values) ? json_text(values) : NULL;
		if (text)
			field_errors_add(e, FIELD_INVALID, TERM ".values",
					 "Invalid value: %s: must be no value when `operator` is "
					 "'Exist' or 'DoesNotExist' for scope selector",
					 text);
	} else {
		check_invalid_text(e, TERM ".operator", op ? op : "",
				   "not a valid selector operator");
	}
}

static void check_selector(struct field_errors *e, const struct obj *quota)
{
	const struct obj *terms = obj_path(quota, TERM), *hard = obj_path(quota, "spec.hard");
	for (size_t i = 0; i < obj_len(terms); i++) {
		const struct obj *t = obj_at(terms, i);
		const char *scope = obj_str(t, "scopeName");
		if (!is_scope(scope))
			check_invalid_text(e, TERM ".scopeName", scope ? scope : "",
					   "unsupported scope");
		OBJ_EACH (it, hard)
			if (!fits(scope, it.key))
				check_invalid(e, TERM, obj_path(quota, "spec.scopeSelector"),
					      "unsupported scope applied to resource");
		check_operator(e, t);
	}
	check_pairs(e, TERM, quota, is_selected);
}

void quota_check_spec(struct field_errors *e, const struct obj *quota)
{
	const struct obj *hard = obj_path(quota, "spec.hard");
	OBJ_EACH (it, hard) {
		const char *path = arena_fmt(e->arena, "spec.hard[%s]", it.key);
		check_name(e, path, it.key);
		quota_check_amount(e, path, it.key, obj_as_string(it.value));
	}
	check_scopes(e, quota);
	check_selector(e, quota);
}

void quota_check_status(struct field_errors *e, const struct obj *quota)
{
	static const char *const fields[] = {"status.hard", "status.used"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		OBJ_EACH (it, obj_path(quota, fields[i])) {
			const char *path = arena_fmt(e->arena, "%s[%s]", fields[i], it.key);
			check_name(e, path, it.key);
			quota_check_amount(e, path, it.key, obj_as_string(it.value));
		}
}

/* Sets: the order may change. */
void quota_check_kept(struct field_errors *e, const struct obj *quota, const struct obj *before)
{
	const struct obj *is = obj_path(quota, SCOPES), *was = obj_path(before, SCOPES);
	bool same = true;
	for (size_t i = 0; i < obj_len(is); i++)
		same = same && has_scope(was, obj_as_string(obj_at(is, i)));
	for (size_t i = 0; i < obj_len(was); i++)
		same = same && has_scope(is, obj_as_string(obj_at(was, i)));
	if (!same)
		check_invalid(e, SCOPES, is, "field is immutable");
}
