/*
 * plan: what one reconcile wants done, in order. Lives in its arena; the executor performs
 * it: entries of the log first, in one commit, then the status, then the other actions in their order
 * (applies of one stage together, at most 8 at once).
 *
 * Two parties write. What belongs to an app (plan_apply and its like, lookups, gates) is done as
 * the account of the app (account.h), which a step must have asked for before: planned without, it
 * is a bug of that step, and asserted. ALM's own books (its resources, stored plans, the
 * account's rights, marks on CRDs) are plan_own_apply and its like, which nothing that a chart says
 * may reach.
 *
 * What plans, however far below, is named by a verb: ensure_x() plans what x lacks, and tells by
 * enum ensured whether what follows may begin. What is named like a question (is_, has_, may_) or
 * answers with a bool plans nothing (tests/lint/predicates.py): a condition has no effects.
 */
#ifndef ALM_ENGINE_PLAN_H
#define ALM_ENGINE_PLAN_H

#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/client/resource.h"
#include "alm/engine/secrets.h"
#include "alm/obj/obj.h"

#define PLAN_ACTIONS_MAX 4096 /* performed of one plan; the next reconcile plans the rest */
#define SURVEY_AGE_NS    (5 * NS_PER_S) /* a live read that decides about a removal is this young */
/* How long after an answer a write may be carried out once more: the API server ends a request after
 * a minute (kube-apiserver --request-timeout). */
#define LATE_WRITE_NS (60 * NS_PER_S)

struct work_kind;

enum act_type {
	ACT_APPLY,  /* server-side apply of a whole object; the only create-or-update verb */
	ACT_CREATE, /* create if absent, under a fixed name */
	ACT_PATCH,  /* merge patch with the resourceVersion it was computed from */
	ACT_DELETE, /* with uid and resourceVersion as preconditions */
	ACT_ROW,    /* a Decision, Approval or Observe entry */
	ACT_STATUS, /* one per reconcile; written only if it changed, after its Transition entry */
	ACT_FORGET, /* an outcome that is of no more use (stash.h) */
	ACT_WATCH,  /* start an informer */
	ACT_RECORD, /* how far something is, for who told this process to run it */
	ACT_WORK,   /* anything that is no write: work.h */
};

/* How far a sub-step is. */
enum ensured {
	DONE,    /* it holds: what follows may begin */
	WAITING, /* for what the plan has, or for a change; either brings the key back */
	ENDED,   /* it cannot be, or is not wanted any more, and why is reported: nothing follows */
};

/* Reasons of the entry that says how a delete ended: it is carried out (or there was nothing left), the
 * server refused it, or nobody knows. */
struct delete_entry {
	const char *done, *refused, *unknown;
};

struct action {
	struct action *next;
	enum act_type type;
	const char *as;               /* user name of the app's account; NULL: ALM itself */
	const char *manager;          /* of its fields; NULL: CLIENT_FIELD_MANAGER */
	const char *id;               /* names the outcome in the stash: "render:..." */
	const struct work_kind *work; /* ACT_WORK */
	const char *step; /* that planned it, of a constant table; NULL: outside of a reconcile */
	struct resource
		resource; /* kind and group/version always; plural may be NULL: discovery knows */
	const char *ns, *name;
	const struct obj *body;
	bool force;
	bool repairs; /* a write: puts back what somebody has changed (repairs.h) */
	int stage;    /* of applies */
	/* ACT_DELETE: an Observe entry with body follows the answer; NULL: none. Refused alike again
	 * it has none. Constant. */
	const struct delete_entry *ends;
	const char *uid, *resource_version, *propagation; /* preconditions */
	const struct obj *inputs; /* ACT_ROW: what the decision read, kept as a blob; NULL: none */
	/* ACT_ROW, ACT_STATUS */
	const char *row_type, *reason, *message,
		*key;               /* key: digest of the outcome; equal: no entry */
	const struct obj *subject;  /* the object the entry is about */
	const struct obj *event_of; /* whom its Event is about; NULL: the subject */
	const char *chain;          /* of causes, which it joins: chain.h */
	bool advances;              /* later entries of the chain have it as cause */
	const char
		*event_type; /* "Normal", "Warning"; NULL: no Event. Of an entry: when it is new */
	int64_t seq;         /* ACT_ROW: set by the executor; 0: there is such an entry already */
	/* Of an Approval: who, by which field manager; known by the server, or only claimed. */
	const char *actor, *actor_via;
	bool actor_known;
	/* ACT_ROW: a field that somebody changed ("spec.upgrade"): his is the Write record, beside
	 * the server, that changed it or made the object */
	const char *touches;
	const char *also_chain;  /* another chain: its newest entry is the cause if it is newer */
	bool row_only;           /* ACT_STATUS: the entry of a deletion, no write */
	const char *subresource; /* ACT_PATCH */
	const char *selector;    /* ACT_WATCH */
	bool metadata_only;
	/* ACT_WORK, for its kind */
	bool guards; /* nothing after it happens unless it passes */
	/* the version of the account's rights when it was asked, since when it is so */
	uint64_t rights_version;
	int64_t rights_since_ns; /* 0: not known */
	const char *expect;      /* with guards: passes with what has this key, if any */
};

struct plan {
	struct arena *a;
	struct action *head, **tail;
	size_t n;
	const char *step;         /* whose turn it is, or was last */
	int64_t requeue_after_ns; /* 0: none; the smallest wins */
	const char
		*as; /* what is planned for the app is done as; NULL: nothing may be (account.h) */
	bool as_caller;         /* or as who started this process: what he told it to run is his */
	const char *trigger;    /* what began the reconcile, of a constant table; NULL: not known */
	const char *manager;    /* of the fields of what is planned for the app; NULL: ALM's */
	const char *chain;      /* its Plan entry joins, when it is the only one; NULL: none */
	struct secrets secrets; /* what no entry and no status of it may show */
	const struct obj *known; /* the object whose values secrets has */
};

void plan_init(struct plan *p, struct arena *a);
struct action *plan_add(struct plan *p, enum act_type type);

/* Objects of the app. o has apiVersion, kind, metadata.name; consumed by the arena (obj_keep). */
struct action *plan_apply(struct plan *p, struct obj *o, int stage, bool force);
/* An apply over live: refused when that has changed, or is gone. (Of a version alone it would make anew
 * what is gone: a late one, what was deleted meanwhile.) */
void plan_over(struct plan *p, struct action *x, const struct obj *live);
void plan_create(struct plan *p, struct obj *o);
/* live is the object the patch was computed from: gives resource, names and resourceVersion. */
struct action *plan_patch(struct plan *p, const struct obj *live, struct obj *patch);
struct action *plan_delete(struct plan *p, const struct obj *live, const char *propagation);
/* The same as ALM itself. */
void plan_own_apply(struct plan *p, struct obj *o);
struct action *plan_own_create(struct plan *p, struct obj *o);
struct action *plan_own_patch(struct plan *p, const struct obj *live, struct obj *patch);
void plan_own_delete(struct plan *p, const struct obj *live);
void plan_watch(struct plan *p, const struct resource *r, const char *selector, bool metadata_only);
/* Work whose outcome has that id; the rest of the action is what its kind wants. The second
 * is done as the account of the app. */
struct action *plan_work(struct plan *p, const struct work_kind *kind, const char *id);
struct action *plan_app_work(struct plan *p, const struct work_kind *kind, const char *id);
/* How far the unit of this key is: told before anything else of the plan is done. */
void plan_record(struct plan *p, const char *key, const struct obj *record);
void plan_requeue_after(struct plan *p, int64_t ns);
/* DONE once nothing is left of a time; until then another reconcile is asked for when it is over. */
enum ensured plan_await(struct plan *p, int64_t left_ns);
/* All that from has follows what p has; they share an arena. */
void plan_take(struct plan *p, const struct plan *from);

/* The secrets of this install plan (install_plan.h) are shown by no entry, status or error of p that
 * is made afterwards. The values of the object that an entry or status is about never are. */
void plan_hide(struct plan *p, const struct obj *doc);
/* A status without them; consumes and owned. */
struct obj *plan_hide_messages(struct plan *p, const struct obj *live, struct obj *status);

/* An entry that is written only when key differs from that of the last one of this type and subject. Of
 * Decisions a reconcile has several: the keys of those before stand on lines of their own before its own, and it is
 * written when the last one had none of it. */
struct action *plan_row(struct plan *p, const char *type, const struct obj *subject,
			const char *reason, const char *key, struct obj *body);

/* A Transition of what no server has an object for: subject has kind, name and uid, status (without
 * transitionSeq; consumed) is kept in the log alone. One that says what the last one said is none.
 * reason and message must live as long as the plan. */
struct action *plan_told(struct plan *p, const struct obj *subject, struct obj *status,
			 const char *reason, const char *message);

/* The whole status the object shall have, without transitionSeq. reason names the transition. */
struct action *plan_status(struct plan *p, const struct obj *live, struct obj *status,
			   const char *reason, const char *message);

/* The same plan in another arena, so that what the reconcile has read, which may be every app and
 * version there is, does not wait for the answers to its writes. Bodies are shared, texts copied.
 */
void plan_move(struct plan *to, const struct plan *from, struct arena *a);
/* Leaves the first n actions, and all entries and statuses: what a crash after n actions leaves, so
 * the next pass goes on from there. It is asked for if anything was left out. */
void plan_cut(struct plan *p, size_t n);

/* Does the plan write anything but entries and status? */
bool plan_has_writes(const struct plan *p);

#endif
