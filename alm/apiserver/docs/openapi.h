/*
 * openapi: the OpenAPI documents as text, made from the table of kinds (kube-api.md 4.2). Pure;
 * discovery.c caches them.
 *
 * Custom kinds are described by their own schema, built-in ones by their top-level fields. That is
 * what kubectl needs for create, apply, diff and explain; server-side validation does not read it.
 */
#ifndef ALM_APISERVER_DOCS_OPENAPI_H
#define ALM_APISERVER_DOCS_OPENAPI_H

#include "alm/apiserver/kinds/kinds.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"

#define OPENAPI_BYTES_MAX ((size_t)64 << 20)

/* Changes exactly when the document of the group and version may change. */
void openapi_hash(struct kinds *k, const char *group, const char *version, char out[SHA256_HEX]);

/* The index {"paths":{"api/v1":{"serverRelativeURL":...}}}. */
void openapi_v3_index(struct kinds *k, struct strbuf *b);
/* False if the group and version are not served. */
bool openapi_v3_document(struct kinds *k, const char *group, const char *version, struct strbuf *b);

/* swagger 2.0 with the definitions of everything that is served. */
void openapi_v2_document(struct kinds *k, struct strbuf *b);
/* The protobuf form: for each built-in kind a PATCH with the parameter dryRun, without which
 * kubectl 1.20 refuses server dry runs. No definitions, so clients validate nothing. */
void openapi_v2_protobuf(struct kinds *k, struct strbuf *b);

/* Schemas that every document has: "NAME":{...},"NAME":{...}; ref is the prefix of references. */
void openapi_common_schemas(const char *ref, struct strbuf *b);
/* The properties of a built-in kind beside apiVersion, kind and metadata, each with a comma before
 * it. */
void openapi_builtin_properties(const struct kind *k, struct strbuf *b);

#endif
