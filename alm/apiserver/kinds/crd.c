/* crd: see crd.h. */
#include "alm/apiserver/kinds/crd.h"

#include <string.h>

#include "alm/apiserver/admission/conversion.h"
#include "alm/apiserver/admission/hook_check.h"
#include "alm/apiserver/kinds/crd_internal.h"
#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define VERSIONS_MAX 100 /* of one definition */
#define COLUMNS_MAX  100 /* of one version: each is a path through every object of a table */

/* Defaults. */

void crd_default(struct obj *o)
{
	struct obj *spec = obj_get_mut(o, "spec");
	struct obj *names = obj_get_mut(spec, "names");
	const char *kind = obj_str(names, "kind");
	if (obj_type(names) == OBJ_MAP && kind) {
		if (!obj_str(names, "singular")) {
			CLEANUP(xfreep) char *lower = xstrdup(kind);
			for (char *p = lower; *p; p++)
				*p = char_lower(*p);
			obj_set_str(names, "singular", lower);
		}
		if (!obj_str(names, "listKind"))
			obj_set(names, "listKind", obj_stringf("%sList", kind));
	}
	if (obj_type(spec) == OBJ_MAP && !obj_is_set(obj_get(spec, "conversion")))
		obj_set_path(spec, "conversion.strategy", obj_string("None"));
	if (obj_type(obj_path(spec, "conversion.webhook.clientConfig.service")) == OBJ_MAP &&
	    !obj_is_set(obj_path(spec, "conversion.webhook.clientConfig.service.port")))
		obj_set_path(spec, "conversion.webhook.clientConfig.service.port", obj_int(443));
	obj_del(spec, "preserveUnknownFields");
}

/* Checks. */

/* A warning is of a version that is deprecated; a former alm let others have one. */
static void check_deprecation(struct field_errors *e, const char *at, const struct obj *version,
			      const struct obj *before)
{
	const struct obj *text = obj_get(version, "deprecationWarning");
	const char *path = check_below(e, at, "deprecationWarning");
	for (size_t i = 0; i < obj_len(before) && text; i++)
		if (obj_equal(obj_get(obj_at(before, i), "deprecationWarning"), text))
			return;
	if (text && !obj_flag(version, "deprecated", false))
		check_invalid(e, path, text, "can only be set for deprecated versions");
	else if (text && !obj_as_str(text).len)
		check_invalid(e, path, text, "must not be an empty string");
}

static void check_versions(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	const struct obj *list = obj_path(o, "spec.versions");
	size_t n_storage = 0;
	if (obj_len(list) > VERSIONS_MAX) { /* each is a kind that is served */
		field_errors_add(e, FIELD_TOO_MANY, "spec.versions",
				 "Too many: %zu: must have at most %d items", obj_len(list),
				 VERSIONS_MAX);
		return;
	}
	for (size_t i = 0; i < obj_len(list); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(4096);
		const char *at = arena_fmt(a, "spec.versions[%zu]", i);
		const struct obj *v = obj_at(list, i);
		const char *name = obj_str(v, "name");
		n_storage += obj_flag(v, "storage", false);
		if (!obj_path(v, "schema.openAPIV3Schema"))
			field_errors_add(e, FIELD_REQUIRED,
					 arena_fmt(a, "%s.schema.openAPIV3Schema", at),
					 "Required value");
		check_deprecation(e, at, v, obj_path(before, "spec.versions"));
		if (!name || name_fault(NAME_DNS1035_LABEL, str_of(name)))
			field_errors_add(e, FIELD_INVALID, arena_fmt(a, "%s.name", at),
					 "Invalid value: \"%s\": %s", name ? name : "",
					 name ? name_fault(NAME_DNS1035_LABEL, str_of(name))
					      : "must not be empty");
		size_t n_columns = obj_len(obj_get(v, "additionalPrinterColumns"));
		if (n_columns > COLUMNS_MAX)
			field_errors_add(e, FIELD_TOO_MANY,
					 arena_fmt(a, "%s.additionalPrinterColumns", at),
					 "Too many: %zu: must have at most %d items", n_columns,
					 COLUMNS_MAX);
		for (size_t j = 0; name && j < i; j++)
			if (cstr_eq(name, obj_str(obj_at(list, j), "name")))
				field_errors_add(e, FIELD_INVALID, arena_fmt(a, "%s.name", at),
						 "Invalid value: \"%s\": must not be used more "
						 "than once",
						 name);
	}
	if (n_storage != 1)
		check_invalid(e, "spec.versions", list,
			      "must have exactly one version marked as storage version");
}

/* The schemas of a definition, by digest. */
static struct map *schemas_of(const struct obj *definition)
{
	const struct obj *list = obj_path(definition, "spec.versions");
	struct map *m = map_new(NULL);
	char digest[SHA256_HEX];
	for (size_t i = 0; i < obj_len(list); i++) {
		json_digest(obj_path(obj_at(list, i), "schema.openAPIV3Schema"), digest);
		map_set(m, digest, NULL);
	}
	return m;
}

static bool schema_was_there(const struct map *before, const struct obj *schema)
{
	char digest[SHA256_HEX];
	if (!map_count(before))
		return false;
	json_digest(schema, digest);
	return map_has(before, digest);
}

static void check_schemas(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	const struct obj *list = obj_path(o, "spec.versions");
	CLEANUP(map_freep) struct map *known = schemas_of(before);
	bool one = crd_schemas_equal(list);
	for (size_t i = 0; i < obj_len(list) && i < VERSIONS_MAX && (i == 0 || !one); i++) {
		const struct obj *s = obj_path(obj_at(list, i), "schema.openAPIV3Schema");
		CLEANUP(arena_freep) struct arena *a = arena_new(4096);
		const char *at = one ? "spec.validation.openAPIV3Schema"
				     : arena_fmt(a, "spec.versions[%zu].schema.openAPIV3Schema", i);
		if (!s || schema_was_there(known, s))
			continue;
		size_t n = e->n;
		schema_check(s, at, e);
		if (e->n == n)
			schema_check_rules(s, at, e);
	}
}

static void check_immutable(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char *const fields[] = {"spec.group", "spec.scope", "spec.names.kind",
					     "spec.names.plural"};
	if (!before || !condition_is(before, "Established", "True"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *now = obj_str(o, fields[i]);
		if (!cstr_eq(now, obj_str(before, fields[i])))
			field_errors_add(e, FIELD_INVALID, fields[i],
					 "Invalid value: \"%s\": field is immutable",
					 now ? now : "");
	}
}

static void check_stored_versions(const struct obj *o, struct field_errors *e)
{
	const struct obj *stored = obj_path(o, "status.storedVersions");
	const struct obj *list = obj_path(o, "spec.versions");
	for (size_t i = 0; i < obj_len(stored); i++) {
		const char *want = obj_as_string(obj_at(stored, i));
		bool found = false;
		for (size_t j = 0; j < obj_len(list); j++)
			found = found || cstr_eq(obj_str(obj_at(list, j), "name"), want);
		CLEANUP(arena_freep) struct arena *a = arena_new(4096);
		if (!found && want)
			field_errors_add(
				e, FIELD_INVALID, arena_fmt(a, "status.storedVersions[%zu]", i),
				"Invalid value: \"%s\": missing from spec.versions; %s was "
				"previously a storage version, and must remain in "
				"spec.versions until a storage migration ensures no data "
				"remains persisted in %s and removes %s from "
				"status.storedVersions",
				want, want, want, want);
	}
}

/* Under the names that the real server has inside. */
static void check_converter(const struct obj *webhook, const struct obj *before,
			    struct field_errors *e)
{
	static const char client[] = "spec.conversion.webhookClientConfig";
	static const char versions[] = "spec.conversion.conversionReviewVersions";
	const struct obj *list = obj_get(webhook, "conversionReviewVersions");
	const struct obj *last = obj_path(before, "spec.conversion");
	if (obj_type(obj_get(webhook, "clientConfig")) == OBJ_MAP)
		hook_check_client(obj_get(webhook, "clientConfig"), client, e);
	else
		field_errors_add(e, FIELD_REQUIRED, client,
				 "Required value: required when strategy is set to Webhook");
	if (!obj_len(list))
		field_errors_add(e, FIELD_REQUIRED, versions, "Required value");
	else if (!before || !crd_has_converter(before) || conversion_version(last))
		hook_check_versions(list, versions, e);
}

static void check_conversion(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char *const strategies[] = {"None", "Webhook", NULL};
	const char *strategy = obj_str(o, "spec.conversion.strategy");
	const struct obj *webhook = obj_path(o, "spec.conversion.webhook");
	if (crd_has_converter(o)) {
		check_converter(webhook, before, e);
		return;
	}
	if (!strategy || !*strategy)
		field_errors_add(e, FIELD_REQUIRED, "spec.conversion.strategy", "Required value");
	else
		field_errors_one_of(e, "spec.conversion.strategy", strategy, strategies);
	if (obj_is_set(obj_get(webhook, "clientConfig")))
		field_errors_add(
			e, FIELD_FORBIDDEN, "spec.conversion.webhookClientConfig",
			"Forbidden: should not be set when strategy is not set to Webhook");
	if (obj_len(obj_get(webhook, "conversionReviewVersions")))
		field_errors_add(
			e, FIELD_FORBIDDEN, "spec.conversion.conversionReviewVersions",
			"Forbidden: should not be set when strategy is not set to Webhook");
}

static bool is_protected(const char *group)
{
	return group &&
	       (cstr_has_suffix(group, ".k8s.io") || cstr_eq(group, "k8s.io") ||
		cstr_has_suffix(group, ".kubernetes.io") || cstr_eq(group, "kubernetes.io"));
}

void crd_validate_status(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	const struct obj *names = obj_path(o, "status.acceptedNames");
	if (!obj_equal(names, obj_path(before, "status.acceptedNames")))
		crd_check_names(names, "status.acceptedNames", e);
}

void crd_validate(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char *const required[] = {"spec.group", "spec.scope", "spec.names.plural",
					       "spec.names.kind"};
	const char *group = obj_str(o, "spec.group"), *plural = obj_str(o, "spec.names.plural");
	const char *scope = obj_str(o, "spec.scope"), *name = meta_name(o);
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	for (size_t i = 0; i < ARRAY_LEN(required); i++)
		if (!obj_str(o, required[i]) || !*obj_str(o, required[i]))
			field_errors_add(e, FIELD_REQUIRED, required[i], "Required value");
	if (group && plural && name && !cstr_eq(name, arena_fmt(a, "%s.%s", plural, group)))
		field_errors_add(
			e, FIELD_INVALID, "metadata.name",
			"Invalid value: \"%s\": must be spec.names.plural+\".\"+spec.group", name);
	if (group && !before)
		check_name_rule(e, "spec.group", NAME_DNS_SUBDOMAIN, group);
	if (group && *group && !name_fault(NAME_DNS_SUBDOMAIN, str_of(group)) &&
	    !strchr(group, '.')) /* those are built in */
		field_errors_add(e, FIELD_INVALID, "spec.group",
				 "Invalid value: \"%s\": should be a domain with at least one dot",
				 group);
	if (scope && !cstr_eq(scope, "Namespaced") && !cstr_eq(scope, "Cluster"))
		field_errors_add(e, FIELD_NOT_SUPPORTED, "spec.scope",
				 "Unsupported value: \"%s\": supported values: \"Cluster\", "
				 "\"Namespaced\"",
				 scope);
	if (is_protected(group) && !meta_annotation(o, "api-approved.kubernetes.io"))
		field_errors_add(e, FIELD_REQUIRED,
				 "metadata.annotations[api-approved.kubernetes.io]",
				 "Required value: protected groups must have approval annotation "
				 "\"api-approved.kubernetes.io\", see "
				 "https://github.com/kubernetes/enhancements/pull/1111");
	check_versions(o, before, e);
	crd_check_names(obj_path(o, "spec.names"), "spec.names", e);
	crd_check_versions(o, e);
	check_schemas(o, before, e);
	check_conversion(o, before, e);
	check_immutable(o, before, e);
	check_stored_versions(o, e);
}

/* Names and conditions. */

struct conflict {
	const char *reason, *name;
};

static bool kind_has_plural(const struct kind *k, const char *s)
{
	return cstr_eq(k->plural, s) || cstr_eq(k->singular, s) || cstr_in(s, k->short_names);
}

static bool short_name_taken(const struct kind *k, const struct obj *names, struct conflict *ret)
{
	const struct obj *list = obj_get(names, "shortNames");
	for (size_t i = 0; i < obj_len(list); i++) {
		ret->name = obj_as_string(obj_at(list, i));
		if (ret->name && kind_has_plural(k, ret->name))
			return true;
	}
	return false;
}

static bool conflict_with(const struct kind *k, const struct obj *names, struct conflict *ret)
{
	const char *plural = obj_str(names, "plural"), *singular = obj_str(names, "singular");
	const char *kind = obj_str(names, "kind"), *list = obj_str(names, "listKind");
	if (plural && kind_has_plural(k, plural))
		*ret = (struct conflict){"PluralConflict", plural};
	else if (singular && kind_has_plural(k, singular))
		*ret = (struct conflict){"SingularConflict", singular};
	else if (short_name_taken(k, names, ret))
		ret->reason = "ShortNamesConflict";
	else if (cstr_eq(k->kind, kind) || cstr_eq(k->list_kind, kind))
		*ret = (struct conflict){"KindConflict", kind};
	else if (cstr_eq(k->kind, list) || cstr_eq(k->list_kind, list))
		*ret = (struct conflict){"ListKindConflict", list};
	else
		return false;
	return true;
}

static bool find_conflict(struct crds *c, const struct obj *o, struct conflict *ret)
{
	size_t n;
	const struct kind *const *all = kinds_all(c->server->kinds, &n);
	const char *group = obj_str(o, "spec.group");
	for (size_t i = 0; i < n; i++)
		if (cstr_eq(all[i]->group, group) && !cstr_eq(all[i]->crd_name, meta_name(o)) &&
		    conflict_with(all[i], obj_path(o, "spec.names"), ret))
			return true;
	return false;
}

static void add_stored_version(struct obj *status, const struct obj *o)
{
	const struct obj *list = obj_path(o, "spec.versions");
	const char *storage = NULL;
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_flag(obj_at(list, i), "storage", false))
			storage = obj_str(obj_at(list, i), "name");
	if (obj_type(obj_get(status, "storedVersions")) != OBJ_LIST)
		obj_set(status, "storedVersions", obj_list());
	struct obj *stored = obj_get_mut(status, "storedVersions");
	for (size_t i = 0; i < obj_len(stored); i++)
		if (cstr_eq(obj_as_string(obj_at(stored, i)), storage))
			return;
	if (storage)
		obj_append(stored, obj_string(storage));
}

static void set_conditions(struct obj *list, const struct conflict *x, bool established,
			   int64_t now_ns)
{
	struct condition names = {.type = "NamesAccepted",
				  .status = "True",
				  .reason = "NoConflicts",
				  .message = "no conflicts found"};
	struct condition ready = {.type = "Established",
				  .status = "True",
				  .reason = "InitialNamesAccepted",
				  .message = "the initial names have been accepted"};
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	if (x) {
		strbuf_addf(&text, "\"%s\" is already in use", x->name);
		names.status = "False";
		names.reason = x->reason;
		names.message = text.buf;
		ready.status = "False";
		ready.reason = "NotAccepted";
		ready.message = "not all names are accepted";
	}
	condition_set(list, &names, now_ns);
	if (!x || !established) /* once established it stays so */
		condition_set(list, &ready, now_ns);
}

void crd_set_status(struct crds *c, struct obj *o, const struct obj *before, int64_t now_ns)
{
	struct conflict x = {NULL, NULL};
	bool taken = find_conflict(c, o, &x);
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	struct obj *status = obj_get_mut(o, "status");
	if (obj_type(obj_get(status, "conditions")) != OBJ_LIST)
		obj_set(status, "conditions", obj_list());
	set_conditions(obj_get_mut(status, "conditions"), taken ? &x : NULL,
		       before && condition_is(before, "Established", "True"), now_ns);
	if (!taken && obj_path(o, "spec.names"))
		obj_set(status, "acceptedNames", obj_copy(obj_path(o, "spec.names")));
	if (!obj_has(status, "acceptedNames")) {
		obj_set_path(status, "acceptedNames.plural", obj_string(""));
		obj_set_path(status, "acceptedNames.kind", obj_string(""));
	}
	add_stored_version(status, o);
}

void crd_set_terminating(struct obj *o, int64_t now_ns)
{
	struct condition c = {.type = "Terminating",
			      .status = "True",
			      .reason = "InstanceDeletionPending",
			      .message = "CustomResourceDefinition marked for deletion; "
					 "CustomResource deletion will begin soon"};
	if (obj_type(obj_path(o, "status.conditions")) != OBJ_LIST)
		obj_set_path(o, "status.conditions", obj_list());
	condition_set(obj_get_mut(obj_get_mut(o, "status"), "conditions"), &c, now_ns);
}

bool crd_is_terminating(struct crds *c, const struct kind *k)
{
	return k->crd_name && map_has(c->ending, k->crd_name);
}
