/*
 * git_mirror: one reading of a branch by the program git (fleet.md 3.1): is there another head, and
 * if so its files and what was committed between. Nothing is checked out; no hook, no submodule, no
 * configuration but the variables of this file; credentials stand in a variable of the calls that
 * talk to the server (which the kernel shows to this user and root alone), never in an argument, on
 * disk or in a message; a key of ssh is a file while the server is talked to (git_ssh.h). Redirects
 * are not followed; a host name goes to addresses that were judged.
 *
 * The mirror is a cache: dir/repo is a bare, shallow repository of our own. One that is damaged
 * (kill -9 leaves locks) is replaced by another one, dir/repo.new, once that is fetched: a server
 * that fails costs no history. One reading of a dir at a time.
 *
 * Errors have a reason: GitMissing, SourceUnreachable, CredentialsRejected, HostKeyUnknown,
 * HostKeyChanged, BranchNotFound (the commit, too), SourceEmpty, SignatureInvalid (git_verify.h), LimitExceeded, which is E_LIMIT. A tree that is refused is E_INVALID (files.h). A name whose
 * addresses are all refused is E_NOTALLOWED; a git that cannot be told the address (before 2.37) is
 * E_UNSUPPORTED.
 */
#ifndef ALM_CLIENT_GIT_MIRROR_H
#define ALM_CLIENT_GIT_MIRROR_H

#include "alm/client/git_ssh.h"
#include "alm/io/address.h"
#include "alm/io/program.h"
#include "alm/source/git_signature.h"
#include "alm/source/git_tree.h"

#define RESOLVE_PROGRAM "/usr/bin/getent" /* names, as the machine is configured to */

struct git_request {        /* copied */
	const char *url;    /* https://HOST/PATH, file:///PATH, or as git_url.h has it; who asks has
			      * judged it as text */
	const char *branch; /* "main" */
	const char *path;   /* folder in the repository; "": its root */
	bool is_program; /* every file is wanted, and what is refused is told of each (files.h) */
	const char *dir; /* of this mirror; made where it is missing, its parent is there */
	/* Read instead of the head, if it is the head or one of the 1,000 commits before it: what a
	 * fork has pushed beside a branch is no commit of it. Its history is not told. NULL: the head. */
	const char *commit;
	const char *known;   /* what was read last: the same commit is not read again; NULL */
	const char *applied; /* the history is told from here on; NULL: the head alone */
	const char *header;  /* "Basic ..", for the URL's origin alone; NULL: none */
	const char *ca_pem;  /* the only authority that is believed; NULL: those of the machine */
	const struct git_ssh *ssh;   /* of a url of ssh, which takes one */
	const char *const *hidden;   /* texts that no message has, NULL-ended; NULL: none */
	const struct git_keys *keys; /* by one of which the head is signed; NULL: nobody asks */
	const struct address_policy *addresses; /* borrowed until the end */
};

struct git_result {     /* borrowed until the callback returns */
	bool unchanged; /* what is to be read is the known one: nothing else is set */
	bool rewritten; /* the applied commit is no ancestor of the head */
	bool unknown; /* it was not found in the history that could be fetched, which is not all */
	struct git_commit
		head; /* what is read; also of one that was found too large, without author and subject */
	const char *signer;               /* for people; NULL: nobody asked */
	const struct git_commit *skipped; /* between, newest first; at most GIT_COMMITS_MAX */
	size_t n_skipped;
	const struct files *files; /* sorted; may be none */
};

struct git_read;
typedef void (*git_read_fn)(void *arg, const struct git_result *r, const struct error *err);

/* done is called once, in a later turn, unless it was cancelled. */
struct git_read *git_read_start(struct programs *p, const struct git_request *rq, git_read_fn done,
				void *arg);
void git_read_cancel(struct git_read *g);
/* In the background; nobody reads dir any more. */
void git_mirror_remove(struct programs *p, const char *dir);

#endif
