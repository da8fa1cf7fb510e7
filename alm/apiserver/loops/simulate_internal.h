/*
 * simulate_internal: what the files of simulate share. A reconciler gets one object and makes what
 * its controller would have made of it: children first, then the status of the object itself. Every
 * one is level-triggered and writes only what differs, so that a second pass writes nothing.
 */
#ifndef ALM_APISERVER_LOOPS_SIMULATE_INTERNAL_H
#define ALM_APISERVER_LOOPS_SIMULATE_INTERNAL_H

#include "alm/apiserver/core.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/clock.h"

/* A workload has no more Pods than these, whatever its status says: they are only looked at. */
#define SIM_PODS_MAX 10
/* Children of an owner that are looked at. */
#define SIM_CHILDREN_MAX 256
/* Addresses of an EndpointSlice, as upstream by default. */
#define SIM_ENDPOINTS_MAX 100

/* How the Pods of a template fail: by the annotation, or by the tag of an image. */
enum fault_kind {
	FAULT_NONE,
	FAULT_UNREADY, /* tag "fail" */
	FAULT_HANGS,   /* tag "hang": what ends does not */
	FAULT_WAITS,   /* a container waits with the reason */
	FAULT_ENDED,   /* a container ended with it, and is started again */
	FAULT_UNSCHEDULABLE,
	FAULT_EVICTED,
	FAULT_EVENT,    /* only an Event tells */
	FAULT_PODLESS,  /* no Pod is made */
	FAULT_DEADLINE, /* of a Deployment */
	FAULT_JOB,      /* condition Failed of a Job */
};

struct fault {
	enum fault_kind kind;
	const char *reason, *message;
};

/* One object that is looked at. */
struct pass {
	struct apiserver *server;
	struct arena *a;
	const struct obj *o; /* of the arena, not deleting */
	struct fault fault;
	const char *refused; /* why not all of its Pods were made; NULL: they were */
	int64_t now_ns;
	int64_t again_ns; /* set by the reconciler: to be looked at again then; 0: on a change */
	char now[CLOCK_TEXT_MAX];
};

/* The objects of one resource whose controller is one owner. */
struct children {
	const struct obj *items[SIM_CHILDREN_MAX];
	size_t n;
};

/* simulate_objects.c */
void sim_children(struct pass *p, const char *uid, const char *group, const char *plural,
		  struct children *ret);
/* {apiVersion, kind, metadata} in owner's namespace, controlled by owner; name NULL: none yet. */
struct obj *sim_child(const char *api_version, const char *kind, const char *name,
		      const struct obj *owner);
/* A copy to be changed, of the arena. */
struct obj *sim_copy(struct pass *p, const struct obj *o);
/* Creates o (consumed) and says its uid; false: it is not there, or another's. */
bool sim_create(struct pass *p, struct obj *o, char ret_uid[STORE_UID_TEXT]);
void sim_put(struct pass *p, const struct obj *before, const struct obj *wanted);
void sim_delete(struct pass *p, const struct obj *o);
#define SIM_HASH 11
/* Ten letters that stand for the template. */
void sim_hash(const struct obj *template, char out[SIM_HASH]);
/* status and status.conditions of an object under construction. */
struct obj *sim_status(struct obj *o);
void sim_condition(struct pass *p, struct obj *o, const char *type, bool is_true,
		   const char *reason, const char *message);
void sim_labels(struct obj *to, const struct obj *labels);
struct fault sim_fault(const struct obj *o, struct arena *a);
/* Pods that a refused workload has, and when it is looked at again. */
int64_t sim_refused(struct pass *p, const char *uid);
/* Of a workload without Pods whose template a LimitRange or a quota refuses: as p->fault, and p is looked at
 * again. */
void sim_limits(struct pass *p);

/* simulate_pods.c */
struct pod_set {
	const struct obj *owner, *template;
	const struct obj *labels; /* besides the template's */
	const char *revision;     /* of label controller-revision-hash; NULL: any */
	int64_t want;
	bool ordinal; /* NAME-0, NAME-1, ... */
};
/* Makes and deletes Pods until there are as many as wanted; at most SIM_PODS_MAX. */
void sim_pods(struct pass *p, const struct pod_set *set);
void sim_pod(struct pass *p); /* the status of one */

/* simulate_workloads.c */
void sim_deployment(struct pass *p);
void sim_replicaset(struct pass *p);
void sim_statefulset(struct pass *p);
void sim_daemonset(struct pass *p);

/* simulate_jobs.c */
void sim_job(struct pass *p);
void sim_cronjob(struct pass *p);

/* simulate_services.c */
void sim_service(struct pass *p);
void sim_claim(struct pass *p);
void sim_volume(struct pass *p);
void sim_api_service(struct pass *p);

#endif
