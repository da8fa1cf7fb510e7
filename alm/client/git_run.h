/*
 * git_run: one call of the program git, and what became of it. Who calls says where the repository is
 * and with which variables; there are no others, no terminal and no question.
 */
#ifndef ALM_CLIENT_GIT_RUN_H
#define ALM_CLIENT_GIT_RUN_H

#include "alm/base/arena.h"
#include "alm/io/program.h"

#define GIT_PROGRAM    "/usr/bin/git"
#define GIT_TEXT_BYTES ((size_t)1 << 20) /* of a short answer */
#define GIT_ASK_NS     (30 * NS_PER_S)   /* of a call that moves no objects */
#define GIT_ARGS_MAX   16

/* What git, or what it runs, says of one thing that went wrong, and what that is. */
struct git_fault {
	const char *word; /* NULL: the end of a table */
	int code;
	enum error_reason reason;
	const char *text; /* for people; NULL: the line that git says is fatal */
};

/* Borrowed as long as calls are made. */
struct git_place {
	struct programs *programs;
	const char *repo; /* --git-dir; NULL: the one that dir is in */
	const char *dir;  /* the working folder of the calls; absolute */
	const char *const *env;
	bool is_users; /* as in his shell (program_call); else with the limits of a mirror */
	const char *const *hidden;      /* texts that no message has, NULL-ended; NULL: none */
	const struct git_fault *faults; /* looked at before those of git; NULL: none */
};

struct git_stage {
	const char *what; /* for messages */
	size_t output_bytes;
	int64_t wall_ns;
	program_done done;
};

/* args: NULL-ended, at most GIT_ARGS_MAX; copied. */
struct program_run *git_run(const struct git_place *p, const struct git_stage *s, struct str input,
			    const char *const *args, void *arg);
#define GIT_ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Did it end well? Else err says why, "git fetch: ...", with a reason: that of the fault, GitMissing,
 * CredentialsRejected, BranchNotFound, LimitExceeded (E_LIMIT), else SourceUnreachable: E_IO if this
 * machine has no room for it. */
bool git_is_well(const struct git_place *p, const struct git_stage *s,
		 const struct program_result *r, const struct error *failed, struct error *err);

/* Has what git printed one of these? NULL-ended. */
bool git_says(struct str errors, const char *const *words);
/* Of what git printed: the line that says what is fatal, else the last one; bounded. Where git only
 * says that there is no more to read, the line before has the cause. */
struct str git_fatal_line(struct str errors);

/* The variables of a call, ended by GIT_CONFIG_COUNT: made, filled, finished. */
struct git_environment {
	struct arena *a;
	const char **items;
	size_t n, n_config, cap;
};

/* With what no call goes without: no questions, texts in English, no program of the repository. */
void git_environment_init(struct git_environment *e, struct arena *a);
void git_environment_add(struct git_environment *e, const char *item); /* "NAME=VALUE" */
void git_environment_config(struct git_environment *e, const char *key, const char *value);
const char *const *git_environment_end(struct git_environment *e);

#endif
