/*
 * bundle_git: the program git as a command asks it: one question after the other, each waited for.
 */
#ifndef ALM_CLI_BUNDLE_BUNDLE_GIT_H
#define ALM_CLI_BUNDLE_BUNDLE_GIT_H

#include "alm/client/git_run.h"

struct loop;

struct bundle_git {
	struct loop *loop;
	struct git_place place; /* repo and env may be changed between questions */
	struct arena *a;
	bool done;
	int status;                /* of the last answer; -1: there is none, and err says why */
	struct str output, errors; /* in the arena */
	struct error err;
};

/* In dir, absolute; both are borrowed. Forks. */
int bundle_git_open(struct bundle_git *q, const char *dir, struct arena *a, struct error *err);
void bundle_git_close(struct bundle_git *q);
void bundle_git_ask(struct bundle_git *q, struct str input, const char *const *args);
/* The last answer as an error: "git WHAT: ...". */
int bundle_git_said(const struct bundle_git *q, const char *what, struct error *err);
/* Asks, and takes any status but 0 for an error. */
int bundle_git_must(struct bundle_git *q, struct str input, const char *const *args,
		    struct error *err);
/* What else was begun in its place: called when that is done, and until then waited for. */
void bundle_git_done(struct bundle_git *q, const struct error *err);
void bundle_git_wait(struct bundle_git *q);

#endif
