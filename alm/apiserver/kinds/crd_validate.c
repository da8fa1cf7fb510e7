/*
 * crd_validate: what is wrong with a definition, in the order and the words of apiextensions 1.36. What all versions have in
 * common is reported under spec, as the real server's internal form has it there.
 */
#include <string.h>

#include "alm/apiserver/admission/conversion.h"
#include "alm/apiserver/admission/hook_check.h"
#include "alm/apiserver/embedded.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/crd_internal.h"
#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define VERSIONS_MAX 100 /* of one definition */
#define COLUMNS_MAX  100 /* of one version: each is a path through every object of a table */
#define WARNING_MAX  256
#define APPROVAL     "api-approved.kubernetes.io"

/* --- one version --- */

/* A warning is of a version that is deprecated; a former alm let others have one. */
static void check_deprecation(struct field_errors *e, const char *at, const struct obj *version,
			      const struct obj *before)
{
	const struct obj *text = obj_get(version, "deprecationWarning");
	const char *path = check_below(e, at, "deprecationWarning");
	struct str s = obj_as_str(text);
	size_t i = 0;
	for (size_t k = 0; k < obj_len(before) && text; k++)
		if (obj_equal(obj_get(obj_at(before, k), "deprecationWarning"), text) &&
		    obj_flag(obj_at(before, k), "deprecated", false) ==
			    obj_flag(version, "deprecated", false))
			return;
	if (text && !obj_flag(version, "deprecated", false)) {
		check_invalid(e, path, text, "can only be set for deprecated versions");
		return;
	}
	if (s.len > WARNING_MAX)
		check_invalid(e, path, text, "must be <= 256 characters long");
	if (text && !s.len)
		check_invalid(e, path, text, "must not be an empty string");
	while (i < s.len && (unsigned char)s.ptr[i] >= 0x20 && s.ptr[i] != 0x7f)
		i++;
	if (i < s.len)
		check_invalid(e, path, text,
			      arena_fmt(e->arena,
					"must only contain printable UTF-8 characters; "
					"non-printable character found at index %zu",
					i));
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

static void check_schema(struct field_errors *e, const char *at, const struct obj *s,
			 bool has_status, const struct map *known)
{
	at = check_below(e, at, "openAPIV3Schema");
	if (!obj_is_set(s))
		return;
	if (has_status)
		crd_check_root(s, at, e);
	if (!schema_was_there(known, s) && schema_check(s, at, embedded_check_at, e))
		schema_check_rules(s, at, e);
}

/* s: NULL where the schema stands elsewhere than the list: the real server takes what all versions have in common for the whole
 * definition, each by itself. Its words are those of a schema that is missing. */
static void check_selectable(struct field_errors *e, const char *at, const struct obj *version,
			     const struct obj *s, bool of_spec)
{
	static const char *const types[] = {"string", "boolean", "integer", NULL};
	const struct obj *list = obj_get(version, "selectableFields");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	const char *schema_at = check_below(e, at, "schema.openAPIV3Schema");
	at = check_below(e, at, "selectableFields");
	if (obj_len(list) && !obj_is_set(s))
		check_invalid_text(
			e, at, "",
			of_spec ? "may only be set when validations.schema is included"
				: "may only be set when `version.schema.openAPIV3Schema` is not "
				  "included");
	if (obj_len(list) && obj_is_set(s) && schema_unread(s))
		check_invalid_text(e, schema_at, "", schema_unread(s));
	for (size_t i = 0; i < obj_len(list) && obj_is_set(s) && !field_errors_full(e); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		const char *path = check_below(e, check_at(e, at, i), "jsonPath"), *why = NULL;
		const char *text = check_text(obj_at(list, i), "jsonPath");
		if (!*text) {
			check_required(e, path, NULL);
			continue;
		}
		const struct obj *found = schema_at_path(s, text, false, &b, e->arena, &why);
		if (!found) {
			check_invalid_text(e, path, text,
					   arena_fmt(e->arena, "is an invalid path: %s", why));
			continue;
		}
		if (strcmp(b.buf, "metadata") == 0 || cstr_has_prefix(b.buf, "metadata."))
			check_invalid_text(e, path, text, "must not point to fields in metadata");
		if (!cstr_in(check_text(found, "type"), types))
			check_invalid_text(e, path, text,
					   "must point to a field of type string, boolean or "
					   "integer. Enum string fields and strings with formats "
					   "are allowed.");
		if (check_again(seen, b.buf))
			field_errors_add_text(e, FIELD_DUPLICATE, path, text);
	}
	if (map_count(seen) > CRD_SELECTABLE_MAX)
		field_errors_add(e, FIELD_TOO_MANY, at, "Too many: %zu: must have at most %d items",
				 map_count(seen), CRD_SELECTABLE_MAX);
}

/* --- all versions --- */

static bool is_common(const struct obj *versions, const char *member)
{
	const struct obj *first = obj_get(obj_at(versions, 0), member);
	for (size_t i = 1; i < obj_len(versions); i++) {
		const struct obj *other = obj_get(obj_at(versions, i), member);
		if (!first != !other || (first && !obj_equal(first, other)))
			return false;
	}
	return true;
}

static const struct obj *schema_of(const struct obj *version)
{
	return obj_path(version, "schema.openAPIV3Schema");
}

static bool has_status(const struct obj *version)
{
	return obj_is_set(obj_path(version, "subresources.status"));
}

struct common {
	bool schemas, subresources, columns, selectable;
};

static void check_parts(struct field_errors *e, const char *at, const struct obj *v, bool of_spec,
			const struct common *c, bool status, const struct map *known)
{
	const char *schema_at = check_below(e, at, of_spec ? "validation" : "schema");
	if (c->schemas == of_spec)
		check_schema(e, schema_at, schema_of(v), status, known);
	if (c->subresources == of_spec)
		crd_check_scale(v, at, e);
	if (c->columns == of_spec)
		crd_check_columns(v, at, e);
	if (c->selectable == of_spec)
		check_selectable(e, at, v, c->schemas == of_spec ? schema_of(v) : NULL, of_spec);
}

static void check_version_name(struct field_errors *e, const char *path, const char *name)
{
	const char *fault = name_fault(NAME_DNS1035_LABEL, str_of(name));
	if (fault)
		check_invalid_text(e, path, name, fault);
}

static void check_each_version(struct field_errors *e, const struct obj *list,
			       const struct obj *before, const struct common *c,
			       const struct map *known)
{
	size_t n_storage = 0;
	CLEANUP(map_freep) struct map *names = map_new(NULL);
	bool again = false;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *v = obj_at(list, i);
		const char *at = check_at(e, "spec.versions", i);
		n_storage += obj_flag(v, "storage", false);
		again |= check_again(names, check_text(v, "name"));
		check_version_name(e, check_below(e, at, "name"), check_text(v, "name"));
		check_deprecation(e, at, v, before);
		check_parts(e, at, v, false, c, has_status(v), known);
		size_t n_columns = obj_len(obj_get(v, "additionalPrinterColumns"));
		if (n_columns > COLUMNS_MAX)
			field_errors_add(e, FIELD_TOO_MANY,
					 check_below(e, at, "additionalPrinterColumns"),
					 "Too many: %zu: must have at most %d items", n_columns,
					 COLUMNS_MAX);
	}
	if (again)
		check_invalid(e, "spec.versions", list, "must contain unique version names");
	if (n_storage != 1)
		check_invalid(e, "spec.versions", list,
			      "must have exactly one version marked as storage version");
}

static bool is_unpruned(const struct obj *o)
{
	return obj_flag(obj_get(o, "spec"), "preserveUnknownFields", false);
}

/* A default makes a value of what is unknown. */
static void check_unpruned_defaults(struct field_errors *e, const struct obj *o,
				    const struct obj *versions)
{
	bool found = false;
	for (size_t i = 0; i < obj_len(versions) && is_unpruned(o) && !found; i++)
		found = schema_has_defaults(schema_of(obj_at(versions, i)));
	if (found)
		field_errors_add(e, FIELD_INVALID, "spec.preserveUnknownFields",
				 "Invalid value: true: must be false in order to use defaults in "
				 "the schema");
}

static void check_versions(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char *const names[] = {"plural", "singular", "kind", "listKind"};
	const struct obj *list = obj_path(o, "spec.versions"), *first = obj_at(list, 0);
	const struct common c = {.schemas = is_common(list, "schema"),
				 .subresources = is_common(list, "subresources"),
				 .columns = is_common(list, "additionalPrinterColumns"),
				 .selectable = is_common(list, "selectableFields")};
	CLEANUP(map_freep) struct map *known = schemas_of(before);
	bool any_status = false;
	for (size_t i = 0; i < obj_len(list); i++) {
		any_status |= has_status(obj_at(list, i));
		if (!obj_is_set(schema_of(obj_at(list, i))))
			check_required(e,
				       check_below(e, check_at(e, "spec.versions", i),
						   "schema.openAPIV3Schema"),
				       NULL);
	}
	check_unpruned_defaults(e, o, list);
	check_each_version(e, list, obj_path(before, "spec.versions"), &c, known);
	if (!check_is_empty(first, "name"))
		check_version_name(e, "spec.version", check_text(first, "name"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (check_is_empty(obj_path(o, "spec.names"), names[i]))
			check_required(e, arena_fmt(e->arena, "spec.names.%s", names[i]), NULL);
	crd_check_names(obj_path(o, "spec.names"), "spec.names", e);
	if (obj_len(list))
		check_parts(e, "spec", first, true, &c, any_status, known);
}

/* --- conversion --- */

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
	if (is_unpruned(o) && strategy && strcmp(strategy, "None") != 0)
		check_invalid_text(e, "spec.conversion.strategy", strategy,
				   "must be None if spec.preserveUnknownFields is true");
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

/* --- all of it --- */

static void check_spec(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char *const scopes[] = {"Cluster", "Namespaced", NULL};
	const struct obj *list = obj_path(o, "spec.versions");
	const char *group = check_text(o, "spec.group"), *scope = check_text(o, "spec.scope");
	const char *fault = name_fault(NAME_DNS_SUBDOMAIN, str_of(group));
	if (!*group)
		check_required(e, "spec.group", NULL);
	else if (fault)
		check_invalid_text(e, "spec.group", group, fault);
	else if (!strchr(group, '.')) /* those are built in */
		check_invalid_text(e, "spec.group", group,
				   "should be a domain with at least one dot");
	if (*scope)
		field_errors_one_of(e, "spec.scope", scope, scopes);
	else
		check_required(e, "spec.scope", NULL);
	if (obj_len(list) > VERSIONS_MAX) { /* each is a kind that is served */
		field_errors_add(e, FIELD_TOO_MANY, "spec.versions",
				 "Too many: %zu: must have at most %d items", obj_len(list),
				 VERSIONS_MAX);
		return;
	}
	check_versions(o, before, e);
	check_conversion(o, before, e);
}

static void check_immutable(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char *const fields[] = {"spec.scope", "spec.names.kind", "spec.group",
					     "spec.names.plural"};
	bool settled = condition_is(before, "Established", "True");
	for (size_t i = settled ? 0 : 2; before && i < ARRAY_LEN(fields); i++)
		if (strcmp(check_text(o, fields[i]), check_text(before, fields[i])) != 0)
			check_invalid_text(e, fields[i], check_text(o, fields[i]),
					   "field is immutable");
}

static void check_stored_versions(const struct obj *o, struct field_errors *e)
{
	static const char path[] = "status.storedVersions";
	const struct obj *stored = obj_path(o, path), *list = obj_path(o, "spec.versions");
	if (!obj_len(stored)) {
		check_invalid(e, path, NULL, "must have at least one stored version");
		return;
	}
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *name = obj_get(obj_at(list, i), "name");
		bool found = false;
		for (size_t k = 0; k < obj_len(stored); k++)
			found |= name && obj_equal(obj_at(stored, k), name);
		if (!found && obj_flag(obj_at(list, i), "storage", false))
			check_invalid(e, path, stored,
				      arena_fmt(e->arena, "must have the storage version %s",
						check_text(obj_at(list, i), "name")));
	}
	for (size_t i = 0; i < obj_len(stored); i++) {
		const char *want = obj_as_string(obj_at(stored, i));
		bool found = false;
		for (size_t k = 0; k < obj_len(list); k++)
			found |= cstr_eq(obj_str(obj_at(list, k), "name"), want);
		if (!found && want)
			check_invalid_text(
				e, check_at(e, path, i), want,
				arena_fmt(e->arena,
					  "missing from spec.versions; %s was previously a storage "
					  "version, and must remain in spec.versions until a "
					  "storage migration ensures no data remains persisted in "
					  "%s and removes %s from status.storedVersions",
					  want, want, want));
	}
}

static bool is_protected(const char *group)
{
	return group &&
	       (cstr_has_suffix(group, ".k8s.io") || cstr_eq(group, "k8s.io") ||
		cstr_has_suffix(group, ".kubernetes.io") || cstr_eq(group, "kubernetes.io"));
}

static bool is_approved(const char *note)
{
	const char *scheme = strstr(note, "://");
	return cstr_has_prefix(note, "unapproved") || (scheme && scheme > note && scheme[3]);
}

static void check_approval(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char path[] = "metadata.annotations[" APPROVAL "]";
	const char *note = meta_annotation(o, APPROVAL), *was = meta_annotation(before, APPROVAL);
	const char *see = "https://github.com/kubernetes/enhancements/pull/1111";
	bool is_same =
		before && (note && *note ? was && *was && is_approved(was) == is_approved(note)
					 : !was || !*was);
	if (!is_protected(obj_str(o, "spec.group")) || is_same)
		return;
	if (!note || !*note)
		check_required(e, path,
			       arena_fmt(e->arena,
					 "protected groups must have approval annotation "
					 "\"" APPROVAL "\", see %s",
					 see));
	else if (!is_approved(note))
		check_invalid_text(e, path, note,
				   arena_fmt(e->arena,
					     "protected groups must have approval annotation "
					     "\"" APPROVAL "\" with either a URL or a reason "
					     "starting with \"unapproved\", see %s",
					     see));
}

void crd_validate_status(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	const struct obj *names = obj_path(o, "status.acceptedNames");
	if (!obj_equal(names, obj_path(before, "status.acceptedNames")))
		crd_check_names(names, "status.acceptedNames", e);
}

void crd_validate(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	if (!before)
		check_wanted_name(e, o, false,
				  arena_fmt(e->arena, "%s.%s", check_text(o, "spec.names.plural"),
					    check_text(o, "spec.group")),
				  "must be spec.names.plural+\".\"+spec.group");
	check_spec(o, before, e);
	check_immutable(o, before, e);
	check_stored_versions(o, e);
	check_approval(o, before, e);
	const struct obj *unpruned = obj_path(o, "spec.preserveUnknownFields");
	if (obj_is_true(unpruned))
		check_invalid(e, "spec.preserveUnknownFields", unpruned,
			      "cannot set to true, set x-kubernetes-preserve-unknown-fields to "
			      "true in spec.versions[*].schema instead");
}
