/*
 * view: everything a reconcile may know, at one instant: the informer caches, what the
 * controllers share, the outcomes of slow work, and the time. Const to the steps; parsed objects live in the pass' arena.
 *
 * The manager fills it through view_ops, so unit tests give steps a view made of plain tables.
 */
#ifndef ALM_ENGINE_VIEW_H
#define ALM_ENGINE_VIEW_H

#include "alm/base/map.h"
#include "alm/client/resource.h"
#include "alm/engine/stash.h"

struct view;
struct shared;

struct view_settings {
	const char *kube_version; /* "v1.33.0+alm1" */
	int64_t verify_soak_ns;   /* workloads available this long; 10 s */
	bool simulated;
	/* The server ties spec.approvedBy to who approves, as the embedded one does. */
	bool approver_is_requester;
	/* Of the webhook by which the server asks us about approvals (approver.h), its caBundle as it is
	 * to be now; NULL: there is none. */
	const char *const *approval_ca;
	bool foreign;             /* the server's writes are in another log than ours */
	int64_t rights_settle_ns; /* until every API server has seen new rights; 0: at once */
	/* How long a write may be carried out once more, by a proxy that repeats it or a server that is
	 * slow: LATE_WRITE_NS (plan.h); 0 where server and controller are one process and end together. */
	int64_t late_write_ns;
};

/* kind: one that the manager watches always; the controllers number them (watched.h there). */
struct view_ops {
	/* Owned by the caller; NULL if absent. */
	struct obj *(*get)(void *arg, unsigned kind, const char *name);
	/* The same, which may lack its largest parts; NULL: get has it. */
	struct obj *(*outline)(void *arg, unsigned kind, const char *name);
	/* Calls fn for each in order of name until it returns false. */
	void (*each)(void *arg, unsigned kind, bool (*fn)(void *fn_arg, struct str json),
		     void *fn_arg);
	/* Those of a kind that refer to an object of that name, and maybe others, in order of name;
	 * fn owns them. NULL: of each. */
	void (*referring)(void *arg, unsigned kind, const char *name,
			  void (*fn)(void *fn_arg, struct obj *o), void *fn_arg);
	/* An object in an on-demand informer. 1: found; 0: absent; -1: not known yet (no synced
	 * informer). */
	int (*live)(void *arg, const struct resource *r, const char *ns, const char *name,
		    struct obj **ret);
	/* Custom resources of group and plural, metadata only. False: not known yet. */
	bool (*instances)(void *arg, const char *group, const char *plural,
			  bool (*fn)(void *fn_arg, struct str json), void *fn_arg);
	/* Changes whenever one of them does; 0: not known yet. */
	uint64_t (*instances_version)(void *arg, const char *group, const char *plural);
	/* The objects of a kind that carry an app's label and have this name, in any namespace; fn
	 * owns them. False: not known yet. */
	bool (*owned)(void *arg, const char *group, const char *plural, const char *name,
		      bool (*fn)(void *fn_arg, struct obj *o), void *fn_arg);
	uint64_t (*owned_version)(void *arg, const char *group, const char *plural);
	/* NULL: the server does not serve the kind. version NULL: any. */
	const struct resource *(*resource)(void *arg, const char *group, const char *version,
					   const char *kind);
	/* Newest entry of the log of this type about a cluster-scoped object; owned, NULL if none. */
	struct obj *(*last_row)(void *arg, const char *type, const char *kind, const char *name);
	/* The same of one reason; NULL: not asked. */
	struct obj *(*last_reason)(void *arg, const char *type, const char *reason,
				   const char *kind, const char *name);
	/* Of an instance of a managed CRD ("PLURAL.GROUP"), as its informer has it, and what it is
	 * one of. 1, 0, -1 as live. */
	int (*instance)(void *arg, const char *crd, const char *ns, const char *name,
			const struct resource **ret_resource, struct obj **ret);
	/* Newest Observe record about an object, body.object as text; owned, NULL if none. */
	struct obj *(*last_observed)(void *arg, const char *kind, const char *ns, const char *name);
	/* Without secret values, as records have it; owned. */
	struct obj *(*redacted)(void *arg, const struct obj *o);
	/* Newest transitionSeq that the log has for the uid; 0: none. */
	int64_t (*head)(void *arg, const char *uid);
	/* The status that the newest Transition of the log has for the uid (audit_said()); owned,
	 * NULL: there is none. Unlike the object's own it is nobody's who may write that. */
	struct obj *(*said)(void *arg, const char *uid);
	/* What is left of a deadline, in monotonic time. The first call for an id starts it with
	 * what the wall clock leaves, at least a tenth (lifecycle.md 4.2). */
	int64_t (*left)(void *arg, const char *id, int64_t deadline_ns, int64_t by_wall_ns);
	/* Around a search for the version to install; decisions: of one that is over, -1 of one
	 * that begins. May be NULL. */
	void (*resolving)(void *arg, int64_t decisions);
	/* hex digest of the redacted object */
	void (*digest)(void *arg, const struct obj *o, char out[65]);
};

struct view {
	struct arena *a;
	int64_t now_ns;
	const struct view_settings *settings;
	const struct view_ops *ops;
	void *ops_arg;
	struct stash *stash;
	const struct shared *shared; /* what the controllers know of besides */
	void **pass;                 /* shared by the steps of one reconcile */
	/* What the reconcile has read already, by what it is: large things are asked for many times.
	 * NULL: the view changes under who uses it, and nothing is kept. */
	struct map *memo;
};

/* In the arena; the same one each time. */
const struct obj *view_get(const struct view *v, unsigned kind, const char *name);
/* All but its largest parts, which it may lack. */
const struct obj *view_outline(const struct view *v, unsigned kind, const char *name);
/* True: *ret is what view_keep() was given for the id in this reconcile; it may be NULL. */
bool view_kept(const struct view *v, const char *id, const struct obj **ret);
const struct obj *view_keep(const struct view *v, const char *id, const struct obj *o);
/* All of a kind, in the arena; naming: only those whose text has it as a string, NULL for all. */
const struct obj *const *view_list(const struct view *v, unsigned kind, const char *naming,
				   size_t *ret_n);
/* 1, 0, -1 as view_ops.live. */
int view_live(const struct view *v, const struct resource *r, const char *ns, const char *name,
	      const struct obj **ret);
/* In the arena, with its value as a tree; NULL: there is none. */
const struct outcome *view_outcome(const struct view *v, const char *id);
/* What the server said to the last write of an object; ns NULL: it has none. Two kinds of one name
 * are of different groups. NULL: it was not refused. */
const struct outcome *view_refusal(const struct view *v, const struct obj *o, const char *ns);
char *refusal_id(const char *group, const char *kind, const char *ns, const char *name,
		 struct arena *a);

/* Those of a kind whose field at path is name, in order of name. */
const struct obj *const *view_referring(const struct view *v, unsigned kind, const char *path,
					const char *name, size_t *ret_n);

#endif
