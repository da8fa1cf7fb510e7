/*
 * openapi_schemas: the types of apimachinery that every document has, described in our own words,
 * and the one kind that is ours.
 */
#include "alm/apiserver/docs/openapi.h"

#include <string.h>

#define META      "io.k8s.apimachinery.pkg.apis.meta.v1."
#define STR_TYPE  "\"type\":\"string\""
#define INT_TYPE  "\"type\":\"integer\",\"format\":\"int64\""
#define BOOL_TYPE "\"type\":\"boolean\""
#define MAP_TYPE  "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}"
#define LIST_TYPE "\"type\":\"array\",\"items\":{\"type\":\"string\"}"
#define FREE      "\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true"

struct property {
	const char *name, *type, *description;
	const char *ref; /* schema that type "ref" or "refs" (a list) points at */
};

/* clang-format off */
static const struct property object_meta[] = {
	{"name", STR_TYPE, "Unique among objects of the kind in the namespace.", NULL},
	{"generateName", STR_TYPE, "Prefix the server completes to a name when name is empty.", NULL},
	{"namespace", STR_TYPE, "The namespace of the object; empty for cluster-scoped kinds.", NULL},
	{"uid", STR_TYPE, "Unique in time and space; set by the server.", NULL},
	{"resourceVersion", STR_TYPE, "The revision of the last write; opaque to clients.", NULL},
	{"generation", INT_TYPE, "Counts changes of the desired state.", NULL},
	{"creationTimestamp", NULL, "CreationTimestamp is a timestamp: when the object was created.", META "Time"},
	{"deletionTimestamp", NULL, "When deletion was asked for.", META "Time"},
	{"deletionGracePeriodSeconds", INT_TYPE, "Seconds the object has to end itself.", NULL},
	{"labels", MAP_TYPE, "Keys and values that selectors match.", NULL},
	{"annotations", MAP_TYPE, "Keys and values of tools; not matched by selectors.", NULL},
	{"ownerReferences", "refs", "The objects this one depends on; when all are gone, it is deleted.", META "OwnerReference"},
	{"finalizers", LIST_TYPE, "Names that must be gone before the object is.", NULL},
	{"managedFields", "refs", "Which manager owns which field.", META "ManagedFieldsEntry"},
	{"selfLink", STR_TYPE, "No longer set.", NULL},
	{0}};
static const struct property owner_reference[] = {
	{"apiVersion", STR_TYPE, "API version of the owner.", NULL},
	{"kind", STR_TYPE, "Kind of the owner.", NULL},
	{"name", STR_TYPE, "Name of the owner.", NULL},
	{"uid", STR_TYPE, "UID of the owner.", NULL},
	{"controller", BOOL_TYPE, "The owner is the one that manages the object.", NULL},
	{"blockOwnerDeletion", BOOL_TYPE, "A foreground deletion of the owner waits for this object.", NULL},
	{0}};
static const struct property managed_fields[] = {
	{"manager", STR_TYPE, "Who manages the fields.", NULL},
	{"operation", STR_TYPE, "Apply or Update.", NULL},
	{"apiVersion", STR_TYPE, "Version the field set is written in.", NULL},
	{"time", NULL, "When the entry changed last.", META "Time"},
	{"fieldsType", STR_TYPE, "FieldsV1.", NULL},
	{"fieldsV1", NULL, "The set of fields.", META "FieldsV1"},
	{"subresource", STR_TYPE, "The subresource that was written, or empty.", NULL},
	{0}};
static const struct property list_meta[] = {
	{"resourceVersion", STR_TYPE, "The revision the list shows.", NULL},
	{"continue", STR_TYPE, "Token for the next page.", NULL},
	{"remainingItemCount", INT_TYPE, "Objects after this page.", NULL},
	{"selfLink", STR_TYPE, "No longer set.", NULL},
	{0}};
static const struct property delete_options[] = {
	{"apiVersion", STR_TYPE, "The version of the schema.", NULL},
	{"kind", STR_TYPE, "DeleteOptions.", NULL},
	{"dryRun", LIST_TYPE, "All: nothing is stored.", NULL},
	{"gracePeriodSeconds", INT_TYPE, "Seconds before the object is deleted.", NULL},
	{"orphanDependents", BOOL_TYPE, "Superseded by propagationPolicy.", NULL},
	{"preconditions", NULL, "What must be true for the deletion.", META "Preconditions"},
	{"propagationPolicy", STR_TYPE, "Orphan, Background or Foreground.", NULL},
	{0}};
static const struct property preconditions[] = {
	{"resourceVersion", STR_TYPE, "The revision the object must have.", NULL},
	{"uid", STR_TYPE, "The UID the object must have.", NULL},
	{0}};
static const struct property status_cause[] = {
	{"field", STR_TYPE, "Path of the field.", NULL},
	{"message", STR_TYPE, "What is wrong with it.", NULL},
	{"reason", STR_TYPE, "One word for machines.", NULL},
	{0}};
static const struct property status_details[] = {
	{"causes", "refs", "What went wrong, one by one.", META "StatusCause"},
	{"group", STR_TYPE, "Group of the resource.", NULL},
	{"kind", STR_TYPE, "Kind or resource.", NULL},
	{"name", STR_TYPE, "Name of the object.", NULL},
	{"retryAfterSeconds", "\"type\":\"integer\",\"format\":\"int32\"", "When to try again.", NULL},
	{"uid", STR_TYPE, "UID of the object.", NULL},
	{0}};
static const struct property status[] = {
	{"apiVersion", STR_TYPE, "v1.", NULL},
	{"kind", STR_TYPE, "Status.", NULL},
	{"metadata", NULL, "List metadata.", META "ListMeta"},
	{"status", STR_TYPE, "Success or Failure.", NULL},
	{"message", STR_TYPE, "What happened, for people.", NULL},
	{"reason", STR_TYPE, "What happened, one word for machines.", NULL},
	{"details", NULL, "About which object.", META "StatusDetails"},
	{"code", "\"type\":\"integer\",\"format\":\"int32\"", "HTTP status.", NULL},
	{0}};

static const struct {
	const char *name, *description;
	const struct property *properties; /* NULL: type says it all */
	const char *type;
} common[] = {
	{META "ObjectMeta", "Standard object's metadata: what every stored object carries.", object_meta, NULL},
	{META "OwnerReference", "An owner of the object.", owner_reference, NULL},
	{META "ManagedFieldsEntry", "The fields one manager owns.", managed_fields, NULL},
	{META "FieldsV1", "A set of fields as a trie of JSON keys.", NULL, "\"type\":\"object\""},
	{META "Time", "An instant, RFC 3339 in UTC.", NULL, "\"type\":\"string\",\"format\":\"date-time\""},
	{META "Patch", "The body of a PATCH request.", NULL, "\"type\":\"object\""},
	{META "ListMeta", "What every list carries.", list_meta, NULL},
	{META "DeleteOptions", "How to delete.", delete_options, NULL},
	{META "Preconditions", "What must be true for a write.", preconditions, NULL},
	{META "StatusCause", "One thing that went wrong.", status_cause, NULL},
	{META "StatusDetails", "What a Status is about.", status_details, NULL},
	{META "Status", "The answer of a call that returns no object.", status, NULL},
};

static const struct property of_audit[] = {
	{"seq", INT_TYPE, "Position in the log.", NULL},
	{"type", STR_TYPE, "Kind of the row.", NULL},
	{"reason", STR_TYPE, "One word for machines.", NULL},
	{"subject", FREE, "What the row is about: cluster, kind, namespace, name, uid.", NULL},
	{"actor", STR_TYPE, "Who acted.", NULL},
	{"cause", INT_TYPE, "The row that led to this one.", NULL},
	{"body", FREE, "What was seen, decided or done.", NULL}, {0}};

/* clang-format on */

static void add_property(const struct property *p, const char *ref, struct strbuf *b)
{
	strbuf_addf(b, "\"%s\":{\"description\":\"%s\",", p->name, p->description);
	if (!p->type)
		strbuf_addf(b,
			    strstr(ref, "components") ? "\"allOf\":[{\"$ref\":\"%s%s\"}]}"
						      : "\"$ref\":\"%s%s\"}",
			    ref, p->ref);
	else if (p->ref)
		strbuf_addf(b, "\"type\":\"array\",\"items\":{\"$ref\":\"%s%s\"}}", ref, p->ref);
	else
		strbuf_addf(b, "%s}", p->type);
}

void openapi_common_schemas(const char *ref, struct strbuf *b)
{
	for (size_t i = 0; i < ARRAY_LEN(common); i++) {
		strbuf_addf(b, "%s\"%s\":{\"description\":\"%s\",", i ? "," : "", common[i].name,
			    common[i].description);
		if (!common[i].properties) {
			strbuf_addf(b, "%s}", common[i].type);
			continue;
		}
		strbuf_adds(b, "\"type\":\"object\",\"properties\":{");
		for (const struct property *p = common[i].properties; p->name; p++) {
			if (p != common[i].properties)
				strbuf_addc(b, ',');
			add_property(p, ref, b);
		}
		strbuf_addf(b, "}%s}",
			    common[i].properties == owner_reference
				    ? ",\"required\":[\"apiVersion\",\"kind\",\"name\",\"uid\"]"
				    : "");
	}
}

bool openapi_is_common(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		if (cstr_eq(common[i].name, name))
			return true;
	return false;
}

void openapi_builtin_properties(const struct kind *k, struct strbuf *b)
{
	if (!cstr_eq(k->kind, "AuditRecord"))
		return;
	for (const struct property *p = of_audit; p->name; p++) {
		strbuf_addc(b, ',');
		add_property(p, "", b);
	}
}

void openapi_own_properties(const char *ref, const char *meta, struct strbuf *b)
{
	bool v2 = cstr_eq(ref, OPENAPI_V2_REF);
	strbuf_adds(b, "\"apiVersion\":{\"description\":\"APIVersion defines the version of the "
		       "schema of this object.\"," STR_TYPE "},");
	strbuf_adds(b, "\"kind\":{\"description\":\"Kind is what this object is, in "
		       "CamelCase.\"," STR_TYPE "},");
	strbuf_addf(b,
		    "\"metadata\":{\"description\":\"Standard %s metadata.\",%s\"$ref\":\"%s" META
		    "%s\"%s}",
		    cstr_eq(meta, "ListMeta") ? "list" : "object's", v2 ? "" : "\"allOf\":[{", ref,
		    meta, v2 ? "" : "}]");
}
