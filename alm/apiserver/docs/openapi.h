/*
 * openapi: the OpenAPI documents as text, made from the table of kinds (kube-api.md 4.2). Pure;
 * discovery.c caches them.
 *
 * Custom kinds are described by their own schema, built-in ones by the table of their types. That is
 * what kubectl needs for create, apply, diff and explain; server-side validation does not read it.
 */
#ifndef ALM_APISERVER_DOCS_OPENAPI_H
#define ALM_APISERVER_DOCS_OPENAPI_H

#include "alm/apiserver/kinds/kinds.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/schema/api_types.h"

#define OPENAPI_BYTES_MAX ((size_t)64 << 20)
#define OPENAPI_V2_REF    "#/definitions/" /* the prefix of references in swagger */

/* Changes exactly when the document of the group and version may change. */
void openapi_hash(struct kinds *k, const char *group, const char *version, char out[SHA256_HEX]);

/* The index {"paths":{"api/v1":{"serverRelativeURL":...}}}. */
void openapi_v3_index(struct kinds *k, struct strbuf *b);
/* False if the group and version are not served. */
bool openapi_v3_document(struct kinds *k, const char *group, const char *version, struct strbuf *b);

/* swagger 2.0 with the definitions of everything that is served. */
void openapi_v2_document(struct kinds *k, struct strbuf *b);
/* The protobuf form: the definitions, and for each kind a PATCH with the parameter dryRun, without
 * which kubectl 1.20 refuses server dry runs. */
void openapi_v2_protobuf(struct kinds *k, struct strbuf *b);

/* Schemas that every document has: "NAME":{...},"NAME":{...}; ref is the prefix of references. */
void openapi_common_schemas(const char *ref, struct strbuf *b);
/* swagger's definitions: {"NAME":{...},...}. */
void openapi_v2_definitions(struct kinds *k, struct strbuf *b);
/* Makes of a schema of a CRD, changed in place, what the documents say: an embedded resource has the fields of every object;
 * swagger has no defaults and no logic, what may be null has no type there, and what keeps unknown fields lists none. */
void openapi_custom_schema(struct obj *schema, const char *ref);
/* It keeps unknown fields: of a whole kind swagger then says that it is an object, and no more. */
bool openapi_is_open(const struct obj *schema);
/* apiVersion, kind and metadata, ObjectMeta or ListMeta, as members. */
void openapi_own_properties(const char *ref, const char *meta, struct strbuf *b);
bool openapi_is_common(const char *name);
/* The properties of a built-in kind without a type (AuditRecord) beside apiVersion, kind and
 * metadata, each with a comma before it. */
void openapi_builtin_properties(const struct kind *k, struct strbuf *b);

/* openapi_types.c: the types that a document refers to. */
#define OPENAPI_TYPES_MAX 1024

struct openapi_types {
	bool types[OPENAPI_TYPES_MAX]; /* by their place in the table */
	bool made[OPENAPI_TYPES_MAX];  /* stand in the document already */
	bool shapes[API_SCHEMA_OR_STRINGS + 1];
};

/* What the fields of t refer to, and so on. */
void openapi_types_need(struct openapi_types *need, const struct api_type *t);
/* t is the type of a kind, which has its schema. */
void openapi_types_have(struct openapi_types *need, const struct api_type *t);
/* ,"NAME":{...} for each. */
void openapi_types_add(const struct openapi_types *need, const char *ref, struct strbuf *b);
/* "type":"object","properties":{...},"required":[...] */
void openapi_type_members(const struct api_type *t, const char *ref, struct strbuf *b);

#endif
