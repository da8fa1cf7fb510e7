/*
 * faults: the table of what may go wrong, with odds.
 *
 * To add a fault: a row in faults.c with its name and odds, the place that asks for it, and a
 * planted bug that only this fault finds (reliability.md 3).
 */
#ifndef TESTS_SIM_FAULTS_H
#define TESTS_SIM_FAULTS_H

#include "alm/base/error.h"
#include "tests/sim/prng.h"

/* id, name, odds: per 1,000 requests (or seconds, for what happens to a process; or renders; or
 * events of watches) */
/* clang-format off */
#define FAULTS(X)                                     \
	X(FAULT_REQUEST_LOST,  "request-lost",   10)  \
	X(FAULT_REPLY_LOST,    "reply-lost",     15)  \
	X(FAULT_REPLY_LATE,    "reply-timeout",  10)  \
	X(FAULT_DUPLICATE,     "duplicate",      10)  \
	X(FAULT_DELAY,         "delay",          15)  \
	X(FAULT_409,           "409",            15)  \
	X(FAULT_429,           "429",             8)  \
	X(FAULT_500,           "500",             8)  \
	X(FAULT_503,           "503",             8)  \
	X(FAULT_504,           "504",             8)  \
	X(FAULT_BODY_CUT,      "body-cut",        8)  \
	X(FAULT_WATCH_CUT,     "watch-cut",     300)  \
	X(FAULT_WATCH_410,     "watch-410",     150)  \
	X(FAULT_STALE_LIST,    "stale-list",    150)  \
	X(FAULT_CRASH_CLIENT,  "crash-client",   12)  \
	X(FAULT_CRASH_SERVER,  "crash-server",    8)  \
	X(FAULT_POWER_LOSS,    "power-loss",     15)  \
	X(FAULT_DISK_ERROR,    "disk-error",      8)  \
	X(FAULT_CLOCK_JUMP,    "clock-jump",      4)  \
	X(FAULT_EVENT_TWICE,   "event-twice",    50)  \
	X(FAULT_EVENT_MERGED,  "event-merged",  500)  \
	X(FAULT_CHILD_KILLED,  "child-killed",  100)  \
	X(FAULT_CHILD_GARBAGE, "child-garbage", 100)  \
	X(FAULT_CHILD_LATE,    "child-late",    100)  \
	X(FAULT_WATCH_LAG,     "watch-lag",     250)  \
	X(FAULT_REVOKED,       "revoked",         2)  \
	X(FAULT_CLOCKS_APART,  "clocks-apart",    2)  \
	X(FAULT_ANSWER_HELD,   "answer-held",    30)
/* clang-format on */

enum fault_id {
#define X(id, name, odds) id,
	FAULTS(X)
#undef X
		FAULTS_N
};

struct faults {
	unsigned per_mille[FAULTS_N]; /* 0: off */
	bool on;                      /* false once the faults have stopped */
	uint64_t n[FAULTS_N];         /* how often each struck */
	struct prng prng;
	struct prng events; /* theirs: what strikes requests stays where it was */
	struct prng later;  /* of what was added since, for the same reason */
	struct prng answers;
};

/* A point where one fault strikes once: crash-before@w17, reply-lost@w3, crash-after@c9. */
struct fault_point {
	enum {
		POINT_NONE,
		POINT_CRASH_BEFORE,
		POINT_CRASH_AFTER,
		POINT_REPLY_LOST,
		POINT_409,
		POINT_500,
		POINT_DUPLICATE,
		POINT_REVOKED
	} what;
	bool at_commit; /* of the server's database; else at a write to the API */
	uint64_t n;
};

/* "none", "all" (but answer-held: its times would move those of all others), a name of the table, or NAME@wN, NAME@cN; called once for each --fault. */
int faults_parse(const char *text, struct faults *f, struct fault_point *point, struct error *err);
bool fault_strikes(struct faults *f, enum fault_id id);
bool fault_strikes_event(struct faults *f, enum fault_id id);
bool fault_strikes_later(struct faults *f, enum fault_id id);
bool fault_strikes_answer(struct faults *f, enum fault_id id);
bool faults_any(const struct faults *f); /* random ones, whether they are on or have stopped */
bool faults_move_clocks(const struct faults *f); /* some of these move wall clocks */
const char *fault_name(enum fault_id id);

#endif
