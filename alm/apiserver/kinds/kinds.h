/*
 * kinds: every resource type that is served, built in or from a CustomResourceDefinition, at every
 * version. Discovery, OpenAPI, the router, the registry and the table printer all read this one
 * table; the CRD module adds and removes rows.
 *
 * Built-in kinds are rows of a constant table (kube-api.md 14), custom ones are made by crd.c.
 */
#ifndef ALM_APISERVER_KINDS_KINDS_H
#define ALM_APISERVER_KINDS_KINDS_H

#include "alm/obj/gvk.h"
#include "alm/obj/query/jsonpath.h"
#include "alm/obj/schema/schema.h"

enum kind_verb {
	VERB_GET = 1 << 0,
	VERB_LIST = 1 << 1,
	VERB_WATCH = 1 << 2,
	VERB_CREATE = 1 << 3,
	VERB_UPDATE = 1 << 4,
	VERB_PATCH = 1 << 5,
	VERB_DELETE = 1 << 6,
	VERB_DELETECOLLECTION = 1 << 7,
	VERB_ALL = (1 << 8) - 1,
	VERB_READ = VERB_GET | VERB_LIST | VERB_WATCH,
};

enum kind_flag {
	KIND_NAMESPACED = 1 << 0,
	KIND_CUSTOM = 1 << 1,               /* from a CRD: no strategic merge patch */
	KIND_STATUS = 1 << 2,               /* status subresource */
	KIND_SCALE = 1 << 3,                /* scale subresource */
	KIND_UNCONDITIONAL_UPDATE = 1 << 4, /* PUT without resourceVersion */
	KIND_CREATE_ON_UPDATE = 1 << 5,     /* PUT of a missing object creates it */
	KIND_GENERATION = 1 << 6,           /* spec changes bump metadata.generation */
	KIND_VIRTUAL = 1 << 7,              /* not in the store: AuditRecord, reviews */
	KIND_LABEL_NAME = 1 << 8,           /* name is a DNS label (63), not a subdomain */
	KIND_PATH_NAME = 1 << 9,            /* RBAC: any path segment */
	KIND_NO_AUDIT = 1 << 10,            /* Lease, Event: no Write entry */
	KIND_STORAGE = 1 << 11,             /* the version objects are stored in */
	/* Metadata of an update is judged by two rules of all kinds and by the kind's own, which has that of an update and, with
	 * FIRST in front and with LAST behind it, that of a new object (object_meta_check.c) */
	KIND_META_FIRST = 1 << 12,
	KIND_META_LAST = 1 << 13,
	KIND_META_ALONE = 1 << 14, /* that of a new object only; with LAST twice */
	KIND_META_NONE = KIND_META_FIRST | KIND_META_LAST | KIND_META_ALONE,
	KIND_META_TOGETHER = 1 << 16, /* with FIRST: all of it is before the checks of the kind */
	KIND_FREE_PREFIX = 1 << 15,   /* generateName is not judged as a name */
};

struct kind_column {
	const char *name, *type, *format, *description;
	const char *json_path; /* ".spec.size" (alm/obj/query/jsonpath.h), or NULL */
	int priority;
	const struct jsonpath *path; /* json_path, parsed; NULL: parsed for each row */
	/* Built-in kinds: computes the cell, owned; now_ns is for ages. Wins over json_path. */
	struct obj *(*cell)(const struct obj *o, int64_t now_ns);
};

/* A version of a definition, served or not. */
struct kind_form {
	const char *version;
	const struct schema *schema; /* or NULL */
};

struct kind {
	const char *group, *version; /* group "" for core */
	const char *kind, *list_kind, *plural, *singular;
	const char *const *short_names, *const *categories; /* NULL-ended, or NULL */
	unsigned verbs, flags;
	/* NULL: Age. The column Name of a custom kind is not in it, that of a built-in one is. */
	const struct kind_column *columns;
	size_t n_columns;
	const struct schema *schema;   /* of this version; NULL for most built-ins */
	const struct kind_form *forms; /* all versions of its CRD; NULL for built-ins */
	size_t n_forms;
	/* The CRD version's openAPIV3Schema as JSON, for OpenAPI, gzip: documents are rarely asked
	 * for, and as a tree it would take twenty times as much. Empty: none. */
	struct str openapi;
	const char *const
		*selectable; /* further field selectors, "spec.size", NULL-ended; or NULL */
	uint32_t stamp;      /* of the schema, never used twice; 0 for built-ins */
	const char *deprecation_warning; /* or NULL */
	/* scale paths ".spec.replicas"; label_selector_path may be NULL */
	const char *spec_replicas_path, *status_replicas_path, *label_selector_path;
	const char *storage_version; /* same for all versions of a resource */
	const struct obj *converter; /* spec.conversion of a webhook (converting.h), or NULL */
	const char *crd_name;        /* CRD the kind comes from, or NULL */
	/* The objects are those of another group (events.k8s.io shows those of ""); NULL: its own.
	 */
	const char *storage_group;
	/* A door for documents of 2017 (modern.h): what is asked of an object of this group and
	 * version is asked of that one, with the rights of that one. NULL: none. */
	const char *legacy_group, *legacy_version;
};

struct kinds;

struct kinds *kinds_new(void);                 /* with the built-in rows */
struct kinds *kinds_new_of(const char *group); /* with those of one group */
void kinds_free(struct kinds *k);
DEFINE_FREEP(kinds)
/* Consumes an owned kind made by crd.c (freed through free_kind). Bumps the generation. A built-in
 * plural of the group stays what it is: false, and the kind is freed. */
bool kinds_add(struct kinds *k, struct kind *kind, void (*free_kind)(struct kind *));
void kinds_remove_crd(struct kinds *k, const char *crd_name);
/* Called with each row before it is freed: whoever keeps pointers to kinds over turns of the loop
 * (watches) drops them here. One listener. */
void kinds_on_remove(struct kinds *k, void (*fn)(void *arg, const struct kind *kind), void *arg);
/* Changes whenever a row is added or removed: the key of every cached discovery or OpenAPI
 * document. */
uint64_t kinds_generation(const struct kinds *k);

const struct kind *kinds_find(const struct kinds *k, const char *group, const char *version,
			      const char *plural);
const struct kind *kinds_find_kind(const struct kinds *k, const char *group, const char *version,
				   const char *kind);
/* The storage version of group and plural; follows storage_group, so events of events.k8s.io give
 * those of v1. */
const struct kind *kinds_storage(const struct kinds *k, const char *group, const char *plural);
/* Any version of it that is served; NULL: none is. */
const struct kind *kinds_any(const struct kinds *k, const char *group, const char *plural);
bool kinds_has_builtin_group(const char *group);
bool kinds_has_group(const struct kinds *k, const char *group);
bool kinds_has_group_version(const struct kinds *k, const char *group, const char *version);
/* All rows: by group, version priority (kube_version_cmp), plural. Borrowed until the next change.
 */
const struct kind *const *kinds_all(struct kinds *k, size_t *ret_n);

/* "golden.example.com/v1" or "v1"; from a. */
const char *kind_api_version(const struct kind *k, struct arena *a);

/* Of that version of its definition; NULL: there is none. */
const struct schema *kind_form_schema(const struct kind *k, const char *version);

/* Objects of a namespaced kind have a namespace, those of a cluster-scoped one have none (""). */
bool kind_fits_namespace(const struct kind *k, const char *ns);

/* What a built-in kind has besides status and scale (subresources.c). */
struct kind_subresource {
	const char *group, *plural, *name;
	unsigned verbs;
	const char *of_group, *of_version, *of_kind; /* of the body; NULL: of the kind itself */
	bool needs_kubelet;                          /* refused, as no container runs here */
};

const struct kind_subresource *kind_subresource(const struct kind *k, const char *name);
const struct kind_subresource *kind_subresource_at(const struct kind *k, size_t i); /* NULL: end */
bool kind_has_subresource(const struct kind *k, const char *name); /* "": the object itself */

/* The constant rows (kinds_builtin.c). To add a built-in kind: one row there. */
const struct kind *kinds_builtin(size_t *ret_n);

#endif
