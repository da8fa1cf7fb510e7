/* git_mirror_internal: one reading of git_mirror.h, for its own files: where the branch is and who may
 * ask (git_mirror_remote.c), what was committed between (git_mirror_history.c), all else. */
#ifndef ALM_CLIENT_GIT_MIRROR_INTERNAL_H
#define ALM_CLIENT_GIT_MIRROR_INTERNAL_H

#include "alm/client/git_address.h"
#include "alm/client/git_files.h"
#include "alm/client/git_mirror.h"
#include "alm/client/git_run.h"
#include "alm/client/git_verify.h"

#define GIT_MIRROR_HEAD     "refs/alm/head"
#define GIT_MIRROR_FETCH_NS (5 * NS_PER_MIN)

struct git_read {
	struct programs *programs;
	struct program_run *run;
	struct git_request rq;
	git_read_fn done;
	void *arg;
	struct arena *a;
	const char *repo;
	struct git_place place; /* of what stays on this machine */
	struct git_host host;   /* of https and ssh */
	const char *pin; /* of https "HOST:PORT:ADDRESS,...", of ssh an address; NULL: it is one, or
			  * there is no network */
	struct git_ssh_url ssh; /* text NULL: not by ssh */
	const char *next;       /* the head that the server named */
	const char *wanted;     /* what is read: it, or the commit that was asked for */
	bool renewing;          /* another mirror is made beside the one that may be damaged */
	struct error why;       /* it may be */
	size_t depth;           /* that was asked for beyond the head; 0: nothing was */
	struct git_files *tree; /* under way */
	struct git_verify *verify;
	struct files files;
	struct git_result result;
};

extern const char git_mirror_log[]; /* the format of git log */

/* The end: told, and freed. */
void git_mirror_finish(struct git_read *g, const struct error *err);
void git_mirror_call(struct git_read *g, const struct git_stage *s, const char *const *args);
/* It talks to the server: it alone gets the credentials. */
void git_mirror_call_remote(struct git_read *g, const struct git_stage *s, const char *const *args);

/* The variables of the calls that stay on this machine; remote: of those that talk to the server. */
const char *const *git_mirror_environment(const struct git_read *g, bool remote);
/* Which head has the branch? The addresses of its host come first. git_mirror_asked() follows. */
void git_mirror_begin(struct git_read *g);
void git_mirror_asked(struct git_read *g);

/* Of what a call that was ended, or had no room, has begun to write: a pack for each try. */
void git_mirror_tidy(const struct git_read *g);

/* Is the commit that was asked for one of the branch? git_mirror_show() follows. */
void git_mirror_find(struct git_read *g);
void git_mirror_show(struct git_read *g);

/* The head is here and may be read: what lies between it and the applied commit.
 * git_mirror_read_tree() follows. */
void git_mirror_history(struct git_read *g);
void git_mirror_read_tree(struct git_read *g);

#endif
