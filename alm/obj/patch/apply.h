/*
 * apply: server-side apply and managedFields (kube-api.md 13; KEP-555).
 *
 * Pure: live object, configuration, schema and time in; the new object with its managedFields, or
 * the conflicts, out. schema may be NULL (built-in kinds use apply_builtin_schema()).
 */
#ifndef ALM_OBJ_PATCH_APPLY_H
#define ALM_OBJ_PATCH_APPLY_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"
#include "alm/obj/schema/schema.h"

/* The manager of kubectl apply --server-side, and what kubectl apply leaves in the object. */
#define APPLY_KUBECTL      "kubectl"
#define APPLY_LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* Of a built-in kind whose versions have other fields: who owns a field of another version loses it by what changes there. */
struct apply_forms {
	/* o, a whole object or nothing of one, in the version of a manager; NULL: as it is. Borrowed, as long as the call. */
	const struct obj *(*read)(void *arg, const struct obj *o, const char *api_version);
	void *arg;
};

struct apply_request {
	const struct schema *schema;
	const struct obj *live;   /* NULL: create */
	const struct obj *config; /* what the manager applies */
	const char *manager, *api_version;
	const char *stated_namespace; /* what the client wrote, for refusals; NULL: nothing */
	const char *subresource;      /* "" for the main endpoint */
	bool has_status; /* the kind has the subresource: nobody owns status on the main endpoint */
	bool keeps_meta; /* a built-in kind whose metadata is not written through its status */
	const char *keeps_field; /* nor this of its metadata, "f:labels"; or NULL */
	bool force;
	const struct apply_forms *forms; /* NULL: all versions have the same fields */
	int64_t now_ns;
	size_t bytes_max; /* of the text of managedFields; 0: no limit */
};

struct apply_conflict {
	const char *manager, *api_version, *subresource;
	bool is_update;    /* operation Update: the message says "using g/v1" */
	const char *field; /* .spec.ports[name="a"].port */
};

struct apply_conflicts {
	struct arena *arena; /* given by the caller */
	struct apply_conflict *items;
	size_t n;
};

/* What apply_merge() refuses the configuration for, of metadata too, before that is looked at. The
 * whole of the reason is added to why, as an error may hold less of it. */
int apply_check(const struct apply_request *r, struct strbuf *why, struct error *err);
/* E_CONFLICT with ret_conflicts filled, E_BADREQUEST for undeclared fields, wrong types, duplicate
 * set items or keys and non-empty managedFields, E_TOOLARGE for too many managers or fields. The
 * result is owned, shares nothing that may be changed, and is not yet pruned, defaulted, validated.
 */
int apply_merge(const struct apply_request *r, struct apply_conflicts *ret_conflicts,
		struct obj **ret, struct error *err);
/* "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .spec.size\n- ..." */
void apply_conflicts_text(const struct apply_conflicts *c, struct strbuf *b);

struct update_request {
	const struct schema *schema;
	const struct obj *before; /* NULL: create */
	struct obj *after;        /* under construction: its metadata.managedFields is set */
	const char *manager, *api_version, *subresource;
	bool has_status; /* as above */
	const struct apply_forms *forms;
	int64_t now_ns;
	size_t bytes_max; /* as above */
};

/* managedFields after a POST, PUT or other patch: changed leaves move to the manager's Update
 * entry, removed ones leave all sets, at most 10 Update entries ("ancient-changes"). Honours a
 * client's managedFields: [] or [{}], or a valid list. E_TOOLARGE as above. */
int apply_track_update(const struct update_request *r, struct error *err);

/* config over live, as a MutatingAdmissionPolicy applies it (apply_over.c): nobody owns or loses anything by it, and what is
 * atomic may not be stated. Both are of one kind; schema NULL: it is built in. E_INVALID. *ret is of the arena. */
int apply_over(const struct schema *schema, const struct obj *live, const struct obj *config,
	       struct arena *a, struct obj **ret, struct error *err);

/* List and map types of the built-in kinds, by "apps/v1" and "Deployment"; NULL if nothing is known
 * of it. */
const struct schema *apply_builtin_schema(const char *api_version, const char *kind);

#endif
