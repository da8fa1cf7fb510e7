/* negotiate: Accept and Content-Type (kube-api.md 5). */
#ifndef ALM_APISERVER_WIRE_NEGOTIATE_H
#define ALM_APISERVER_WIRE_NEGOTIATE_H

#include "alm/apiserver/request.h"

#define NEGOTIATE_PROTOBUF   "application/vnd.kubernetes.protobuf"
#define NEGOTIATE_TYPES      "application/json, application/yaml, " NEGOTIATE_PROTOBUF
#define NEGOTIATE_TYPES_ONLY "only the following media types are accepted: " NEGOTIATE_TYPES

/* The first alternative that is served; NULL or empty header is JSON. is_watch: no YAML. Protobuf (has_type: of a kind of the
 * table of types, and whole objects only) is for who takes nothing else. E_NOTACCEPTABLE with Kubernetes' text (golden G97, G98). */
int negotiate_accept(const char *header, bool is_watch, bool has_type, struct accept *ret,
		     struct error *err);

struct body {
	struct obj *value; /* tied to the arena, may be changed by the caller */
	/* Findings of fieldValidation, as they stand in a message: 'duplicate field "spec.size"'. */
	const char *duplicates[64];
	size_t n_duplicates;
	const char *twice; /* of YAML; negotiate_twice() */
};

/* 'yaml: unmarshal errors:\n  line 6: key "size" already set in map', of the arena; NULL: no key is. */
struct yaml_document;
const char *negotiate_twice(const struct yaml_document *d, struct arena *a);

/* E_TOOLARGE for a body that no object can come from: more than STORE_VALUE_BYTES_MAX, white space
 * apart. */
int negotiate_size(struct str bytes, struct error *err);
/* Decodes JSON, YAML or protobuf (kind: the kind of the path; NULL: DeleteOptions or any). An empty
 * body gives value NULL. E_MEDIATYPE, E_BADREQUEST with the texts of golden G45 to G48, E_TOOLARGE
 * also for more than OBJ_BODY_NODES_MAX values. */
int negotiate_body(const struct kind *kind, const char *content_type, struct str bytes,
		   struct arena *a, struct body *ret, struct error *err);

#endif
