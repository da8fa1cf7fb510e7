/*
 * world: a server on its disk, controllers, a user, and the network between them, in virtual time.
 *
 * Each side can crash alone: its memory goes, the other lives on. The server comes back from what
 * its disk kept, the controllers with empty caches. What a run does is a table (struct scenario);
 * what must hold is a list of functions over the world (invariants.h).
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include "alm/apiserver/apiserver.h"
#include "alm/audit/anchor.h"
#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/client/informer.h"
#include "tests/sim/db_sim.h"
#include "tests/sim/faults.h"
#include "tests/sim/loop_sim.h"
#include "tests/sim/transport_sim.h"

#define WORLD_DB    "alm.db"
#define WORLD_TOKEN "sim"
/* A value that is secret by its key: in no record, Event or status. */
#define WORLD_CANARY "canary-5ee4c0de"

struct git_table_commit;
struct world;

enum action_verb {
	DO_CREATE, /* POST of body to target; a 409 counts as done */
	DO_PATCH,  /* merge patch; a 404 is tried again */
	DO_DELETE, /* a 404 counts as done */
	DO_APPEAR, /* waits until GET of target answers 200 (at most an hour) */
	DO_UNTIL,  /* waits until GET of target has in its body FIELD=VALUE, see world_has() */
	DO_GONE,   /* waits until it answers 404 */
	DO_FILE,   /* puts body under the name target into the catalog folder; NULL takes it away */
	DO_CALL,   /* calls fn */
};

/* What the user does, one after the other, each at least after_ns after the one before. */
struct user_action {
	int64_t after_ns;
	enum action_verb verb;
	const char *target, *body;
	void (*fn)(struct world *w);
};

/* What runs beside the server: made anew after every crash. */
struct program {
	void *(*start)(struct world *w, struct loop *l, struct transport *t);
	void (*stop)(void *p);
	/* False while it has work left; NULL: not asked. */
	bool (*idle)(void *p);
	/* The log that it keeps on a drive of its own; NULL: none. */
	struct db *(*db)(void *p);
	/* Sees each of its requests that reaches the server; NULL: not. */
	void (*observe)(struct world *w, const struct http_request *r);
	/* What it keeps joins the trace at the end of a run; NULL: nothing does. */
	void (*digest)(void *p, struct trace *t);
	/* Its caches of whole objects; NULL: none. */
	void (*each_cache)(void *p, void (*fn)(void *arg, const struct informer *cache), void *arg);
};

struct scenario {
	const char *name, *about;
	const struct user_action *actions; /* ended by a target of NULL */
	size_t points_from; /* one fault at every point: of what happens from this action on */
	const struct program *program;
	const struct git_table_commit
		*commits; /* of its repository, git_sim.h; NULL: it has none */
	bool simulate_workloads;
	/* The most that the program writes without a fault, with room for a tenth; 0: not asked.
	 * A fault may triple it. */
	uint64_t writes;
	int64_t lasts_ns; /* the most that the user needs; 0: 12 hours */
	bool by_clock; /* it is over when the clock says so: no fault moves one, or what is waited for */
	/* At the end: E_... says what is not as it must be. */
	int (*converged)(struct world *w, struct error *err);
	/* Sees every request that reaches the server; NULL: none. */
	void (*observe)(struct world *w, const struct http_request *r, bool faulty);
	/* May it be deleted without a mark of ALM? NULL: nothing may. */
	bool (*is_stray)(const struct obj *o);
	void (*setup)(struct world *w); /* before the first start: files */
};

struct world {
	struct sim sim;
	struct net *net;
	struct disk *disk;
	struct faults faults;
	struct fault_point point;
	const struct scenario *scenario;
	bool together; /* server and controllers are one process: a crash takes both */
	struct loop *world_loop;
	int64_t program_ahead_ns; /* of its wall clock; not if both are one process */
	struct timer second;      /* crashes and jumps of the random faults */
	uint64_t n_seconds;
	struct prng prng;

	struct loop *server_loop;
	struct db *db;
	struct audit *audit;
	struct metrics *metrics; /* of both sides, through all their lives */
	struct apiserver *server;
	char *home; /* the working directory; NULL: not begun */
	struct anchors *anchors;
	unsigned server_starts;

	struct loop *program_loop;
	struct transport *program_transport;
	void *program;
	unsigned program_starts;
	unsigned runners; /* processes of a pair that were started, runner.h */

	struct transport *user_transport;
	struct loop *user_loop;
	size_t next_action;
	struct timer user_timer;
	struct task user_task;
	int user_status;
	struct strbuf user_body;
	int64_t user_waits_since;
	int64_t rows_at_rest; /* records of all logs when the idle hour begins */
	/* Called before each turn of a loop; NULL: not. */
	void (*before_turn)(struct world *w, void *arg);
	void *hook_arg;
	char *noted; /* what a scenario keeps for its end */
	int64_t noted_ns;

	struct map *user_deleted; /* keys of the store that the user deleted, see writes.c */
	struct map *files;        /* name -> struct world_file, the catalog folder */
	uint64_t n_files;
	struct error failed; /* the first thing that did not hold */
};

struct world_file {
	char *bytes;
	size_t n;
	int64_t mtime_ns;
	uint64_t inode;
};

/* Starts everything. world_free() takes a half-made one. */
int world_init(struct world *w, const struct scenario *s, uint64_t seed, enum trace_level level,
	       struct error *err);
void world_free(struct world *w);

/* The point strikes from now on; world_init() does it for a point that is set by then. */
void world_arm_point(struct world *w);
/* Runs until the user is through and the programs rest, then stops the faults, waits for rest and
 * checks everything. 0, or the first violation. */
int world_run(struct world *w, struct error *err);
/* Prints the log of decisions, or the answer of the server's database to a query (one column). */
void world_tell(struct world *w, const char *query);
/* Steps of virtual time, with crashes handled on the way. */
int world_run_for(struct world *w, int64_t ns, struct error *err);

/* The first call stays; the run ends with it. */
void world_fail(struct world *w, const char *fmt, ...) PRINTF(2, 3);

/* No fault strikes in this run. */
bool world_is_faultless(const struct world *w);

/* A request of the user, outside of any fault: status, and what a 200 says in ret (owned). body: a merge patch; NULL:
 * none. */
int world_send(struct world *w, const char *method, const char *target, const char *body,
	       struct obj **ret, struct error *err);
int world_get(struct world *w, const char *target, struct obj **ret, struct error *err);
void world_put_file(struct world *w, const char *name, struct str bytes); /* STR_NONE: removes */

/* True if o has FIELD=VALUE: a path, or @TYPE for the reason of a condition. VALUE "" is absence.
 */
bool world_has(const struct obj *o, const char *field_is_value);

void world_crash_program(struct world *w, enum disk_keep keep);
void world_crash_server(struct world *w, enum disk_keep keep);

/* The newest version of "group/plural/ns/name" in the server's database, in the arena; NULL: it is not
 * there. */
const struct obj *world_stored(struct world *w, const char *name, struct arena *a);

#endif
