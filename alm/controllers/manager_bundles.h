/*
 * manager_bundles: what the manager holds of each Bundle: a slot with what was read last
 * (manager_bundle_read.c, from where manager_bundle_place.c says) and what is run
 * (manager_bundles.c). Memory only, but for the mirrors
 * (manager_bundle_mirrors.c): the cluster and the Bundle's status say the rest (bundle.c).
 */
#ifndef ALM_CONTROLLERS_MANAGER_BUNDLES_H
#define ALM_CONTROLLERS_MANAGER_BUNDLES_H

#include "alm/base/clock.h"
#include "alm/controllers/fleet/bundle_render.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/unit/unit_failing.h"
#include "alm/render/live_input.h"
#include "alm/unit/unit_make.h"

#define BUNDLE_BYTES_MAX ((size_t)512 << 20) /* of a unit's arena */

struct reading;

/* The server did not take what it was shown. */
struct bundle_rejected {
	char *secret_version; /* resourceVersion of the Secret; "": none was named */
	int64_t generation;   /* of the Bundle */
	int64_t at_ns;        /* loop_mono() */
	unsigned times;       /* in a row; 0: it was taken, or not shown */
	struct error why;
};

struct bundle_slot {
	struct bundles *b;
	char *name, *key;        /* "NAME/files" */
	char *dir;               /* of the mirror that was read last; NULL: none */
	struct reading *reading; /* NULL: none is under way */
	/* Read last, well or not: the same head is not read again for the same spec. */
	char *head;
	int64_t generation;
	char *accepted;           /* bundle_accepts() of the Bundle then; NULL: nothing */
	char keys[SHA256_HEX];    /* digest of those that judged it; "": none */
	char rollout[SHA256_HEX]; /* ... and of the Rollout that it was made with */
	char config[SHA256_HEX];  /* ... and of what its program was given; "": nothing */
	char tree[SHA256_HEX];    /* of its files; "": not known */
	bool lacks;               /* what its program is given was not there */
	struct obj *lists;        /* ... of them the lists, as {"NAME/list": true}; NULL: none */
	struct error failed;      /* what is wrong with that head */
	/* It met a limit, which a busy machine meets sooner: times in a row, the last one at. */
	unsigned limits;
	int64_t limited_ns; /* loop_mono() */
	struct bundle_rejected rejected;
	struct obj *read;  /* the last good one; NULL: none */
	bool rewritten;    /* what ran before it is none of its ancestors */
	struct arena *a;   /* of next; NULL with it */
	struct unit *next; /* what it is, until it is run */
	/* Run. */
	struct unit_job job;
	struct unit_arenas arenas; /* of the job's */
	struct obj *record, *source;
	struct obj *steer;         /* what a person says of job.unit; NULL: nothing */
	struct obj *namespaces;    /* of the job */
	char job_rest[SHA256_HEX]; /* bundle_steer_rest() of the spec that it is run by */
	char job_since
		[CLOCK_TEXT_MAX]; /* when its rollout began (bundle_steer.h); "": nothing is run */
	int64_t job_generation, ended_ns;
	unsigned failures;
	struct unit_failing failing;
	char *asked, *asked_read; /* bundle_side.h */
	bool asks;                /* the reading is one that was asked for */
	bool fetched;             /* the last reading that ended had a commit */
	bool hooked;              /* a push was told since the last reading began */
	/* manager_bundle_sweep.c */
	bool sweeps;             /* what is run was told so */
	struct unit_sweep sweep; /* of the job */
	struct obj *steers;      /* the Bundle that it is of */
	struct obj *told;        /* orphans of the record before, or of the log; NULL: not asked */
};

struct bundles {
	struct manager *m;
	struct manager *units; /* NULL: nothing was run yet */
	struct manager *(*open)(const struct manager_config *c);
	struct unit_side side;
	struct bundle_side shared;
	struct live_input *live; /* NULL: nobody was asked yet for a configuration */
	struct map *slots;       /* name -> struct bundle_slot */
	bool swept;              /* no mirror is left of what was read before this process began */
	bool cleared;            /* nor a key of ssh in one */
};

/* What spec.rolloutRef names, as it is now; digest of what of it counts. All empty: there is none. */
struct bundle_rollout {
	struct rollout *rollout;
	const struct obj *text;
	char digest[SHA256_HEX];
};
/* name NULL: none. In the arena. E_INVALID with the field, E_UNAVAILABLE. */
int bundle_rollout_read(const struct manager *m, const char *name, struct arena *a,
			struct bundle_rollout *ret, struct error *err);
/* Made where it is missing. */
struct bundle_slot *bundle_slot_of(struct bundles *b, const char *name);
void bundle_slot_free(void *p); /* of the map */
/* Another rollout begins; the first of this process may go on with the one of another. */
void bundle_slot_since(struct bundle_slot *s, const struct obj *bundle);
/* What the Bundle says now of job.unit. false: nothing else than before. */
bool bundle_slot_steer(struct bundle_slot *s, const struct obj *bundle);
/* The server did not take that Secret's credentials: the same ones are shown to it more and more seldom. */
void bundle_rejected_note(struct bundle_slot *s, const struct obj *bundle,
			  const char *secret_version, const struct error *why);
void bundle_rejected_clear(struct bundle_slot *s);
bool bundle_rejected_still(const struct bundle_slot *s, const struct obj *bundle,
			   const char *secret_version);
/* What became of a commit, again: of the one before. One whose program met a limit is run again, more and more
 * seldom, as what was refused is. */
void bundle_slot_limit(struct bundle_slot *s, bool again, const struct error *err);
/* Was the program given the same? One that met a limit has its pause with any: a lively one would end it. */
bool bundle_slot_has_config(const struct bundle_slot *s, const char *digest);
bool bundle_slot_tries_again(const struct bundle_slot *s);
/* A reading begins. */
void bundle_slot_begin(struct bundle_slot *s, const struct obj *bundle);
/* What is under way ends, and who waits for it is told this. */
void bundle_reading_fail(struct bundle_slot *s, const struct error *err);
/* The folder of the mirror of a Bundle with that spec. */
const char *bundle_mirror_dir(const struct bundles *b, const struct obj *bundle,
			      const struct bundle_spec *spec, struct arena *a);
/* It is read from now on: the one that was read before goes from this machine, and, once a process,
 * all that no Bundle reads. */
void bundle_mirror_use(struct bundle_slot *s, const char *dir);
/* The job's sweep, by the Bundle as it is now. */
void bundle_sweep_steer(struct bundle_slot *s);
/* The record goes: since when its orphans are is kept. */
void bundle_sweep_keep(struct bundle_slot *s, bool deleting);
/* It is being deleted, or gone (NULL): what was fetched for it goes, too. Nobody reads it. */
void bundle_mirror_drop(struct bundle_slot *s, const struct obj *bundle);
/* Where a repository is. */
struct bundle_place {
	const char *url;    /* as git gets it */
	const char *origin; /* that credentials are for; NULL: a folder, which takes none */
};
/* May it be read? */
int bundle_place_read(const struct manager *m, const char *url, struct arena *a,
		      struct bundle_place *ret, struct error *err);
/* What a program gets besides its files (manager_bundle_input.c): of the cluster, as the Bundle's account. */
struct bundle_asking {
	struct bundle_slot *s;
	const struct bundle_spec *spec;
	struct arena *a;
	struct bundle_input input;   /* what came of it */
	struct bundle_input without; /* ... without lists */
	struct live_input_wants wants;
	struct live_input_read *live;
	struct arena
		*lists_a; /* of the lists alone, which may be large: they go before the unit does */
	unsigned times;   /* that the program asked for others */
	void (*done)(struct bundle_slot *s, const struct error *lacks); /* NULL: input is there */
};
/* 1: it is there. 0: done is called, in a later turn. */
int bundle_ask(struct bundle_asking *q, struct error *err);
/* The same, with the lists that a program wants to have instead (flat_job_lists()). */
int bundle_ask_again(struct bundle_asking *q, const struct obj *lists, struct error *err);
/* The child has the lists: they go, but for Secrets, which are looked for in what it gives. */
void bundle_ask_sent(struct bundle_asking *q);
/* They go, and what is under way. */
void bundle_ask_end(struct bundle_asking *q);
/* Of its units, in the arena; E_UNAVAILABLE until the cluster's identity is known. */
int bundle_unit_options(const struct bundle_slot *s, struct arena *a, struct unit_options *ret,
			struct error *err);

#endif
