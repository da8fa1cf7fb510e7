/*
 * unit_side: what a process was told to run itself, without a resource that says so (`alm run`). It
 * makes the units and keeps how far they are; the unit controller reads both in each reconcile.
 *
 * The key of a unit is BUNDLE/INSTANCE.
 *
 * A unit is run in attempts. The record of an attempt is told before anything it speaks of is
 * written (plan_record()):
 *
 *	{"attempt", "state": Running|RollingBack|Succeeded|RolledBack|Failed, "reason", "message",
 *	 "digest", "run", "steps": {"GROUP/STEP": {"state": InProgress|Finished|Failed, "since",
 *	 "reason", "message", "trouble": what a server says to its writes}}, "hooks": [...],
 *	 "kept": [texts], "pruned": n, "returned": [texts],
 *	 "begun": something of it, or of what it prunes, may have been written,
 *	 "waits": what holds a delete, "waitsSinceNs",
 *	 "unhealthy": what was ready and is not since a while, "drifted": what is not as declared and is
 *	 not put back, "driftedWhy": Reported|RepairRefused|RepairFought, "ailing": {object: {"ns"}}: since when,
 *	 "resumed": a process before this one has told some of it, and this one did not look yet, or
 *	 waits for what a server says to its repair,
 *	 "looked": {"oROW"}: of what no informer shows after the attempt: it was read live since it is so,
 *	 "orphans": [{"apiVersion", "kind", "namespace", "name", "uid", "by", "since", "deleteAt",
 *	 "message"}], "orphanCount", "orphansDigest", "orphansHeld", "orphansUnknown": of unit_sweep.c,
 *	 "restored": its inventory was lost, and what it had could not be listed then and can be now: who begins
 *	 it anew has it pruned,
 *	 "deleted": {object: {"since", "unconfirmed"}}: when its last create may have been sent,
 *	 "back": {"run", "steps", "hooks"}: the same of the unit before, while and after it is
 *	 applied again}
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_SIDE_H
#define ALM_CONTROLLERS_UNIT_UNIT_SIDE_H

#include "alm/obj/obj.h"
#include "alm/unit/unit_make.h"

struct controller;

/* What nobody has declared in some namespaces is told, and deleted after a while (stray.h). */
struct unit_sweep {
	const struct obj *namespaces; /* at least one */
	int64_t interval_ns, grace_ns, max_deletes;
	const char *approved; /* digest of the orphans whose deletion somebody wants; NULL */
	const struct obj *
		known; /* told before this attempt, as record.orphans: what no writer of a status can forge; NULL: none */
};

/* Running or RollingBack: the attempt goes on. */
bool unit_record_is_open(const struct obj *record);
/* It was refused, and nothing but its inventory was written before: what was there is there. */
bool unit_record_is_refused(const struct obj *record);

struct unit_job {
	const struct unit *unit;
	const struct obj *record; /* NULL: nothing was begun */
	/* What stands on the cluster while this one is refused, before it has written anything: that is kept
	 * meanwhile. NULL: nothing does, or nobody here knows (a process that began since). */
	const struct unit *former;
	int64_t attempt; /* from 1; another one than the record's: begin anew */
	/* The object that this is run for; NULL: none, or it is gone. Borrowed as the job is. */
	const struct obj *main;
	bool watched; /* it is run for an object: when that goes in the middle, nothing more is made */
	bool touches; /* its finalizer and its status are written */
	/* Where it is from, for the log: {"commit", "author", "subject"}; NULL: nobody says. */
	const struct obj *source;
	/* What a person says of it while it runs: {"approve": {"weight", "reason", "by"}, "skip":
	 * {"reason", "by"}, "abort": {..}} (bundle_steer.h); NULL: nothing. */
	const struct obj *steer;
	bool is_steered; /* there is a Bundle that says it */
	const char
		*as; /* user name of the account that all is done as; NULL: who runs this process */
	const char *inventory_ns;
	size_t inventory_bytes; /* of one of its ConfigMaps; 0: INVENTORY_BYTES_MAX */
	bool never_empty;       /* a unit of no objects that had some is a mistake: SourceEmpty */
	int64_t max_deletes;    /* more are not pruned at once: PruneHeld */
	const struct unit_sweep *sweep; /* after an attempt that succeeded; NULL: nothing is */
	bool ends;                      /* the process does, with the attempt */
	bool keeps;                     /* what has drifted after an attempt is put back at once */
	/* What has drifted is put back in these alone, a list; NULL: everywhere. */
	const struct obj *namespaces;
	bool adopts;       /* objects that nobody has marked */
	bool takes;        /* objects of other bundles */
	bool spares;       /* what it has no more is told and stays */
	bool deleting;     /* all that the inventory names goes, and the inventory */
	bool orphans;      /* deleting: the marks go alone, the objects stay */
	bool made_nothing; /* deleting: none was ever begun, so no inventory is none lost */
};

/* Of the units of a job; its own. */
struct unit_arenas {
	struct arena *unit;
	struct arena *former; /* NULL: former is unit, or there is none */
};

/* The attempt of the record is over, or another one begins: what is there, as far as that is one unit, is former. */
void unit_job_settle(struct unit_job *job, struct unit_arenas *of);
/* The next attempt is of this unit, which a holds; taken. */
void unit_job_replace(struct unit_job *job, struct unit_arenas *of, const struct unit *unit,
		      struct arena *a);
void unit_arenas_free(struct unit_arenas *of);

/* Called in the turns of the manager's loop; job is borrowed until the next turn. */
struct unit_side {
	const struct unit_job *(*job)(void *arg, const char *key); /* NULL: not (any more) */
	void (*each)(void *arg, void (*fn)(void *fn_arg, const char *key), void *fn_arg);
	void (*record)(void *arg, const char *key, const struct obj *record);
	/* A reconcile has ended; err NULL: well, or with half, that it goes on. */
	void (*passed)(void *arg, const char *key, bool half, const struct error *err);
	const char *selector; /* of the objects of all its units; NULL: of those of each bundle */
	/* All objects of a bundle are of this unit of it, whatever their label of an instance says; NULL:
	 * of that one. */
	const char *whole;
	void *arg;
};

/* Runs what the view was told to run; the only one of such a process. */
extern const struct controller unit_controller;

#endif
