/*
 * git_verify: is a commit signed by one of these keys? Judged by `git verify-commit`, which asks gpg
 * or ssh-keygen; both know these keys and no others, and look none up. The files that they need lie in
 * the folder of the mirror: "signers", and ".gnupg", made anew each time.
 */
#ifndef ALM_CLIENT_GIT_VERIFY_H
#define ALM_CLIENT_GIT_VERIFY_H

#include "alm/client/git_run.h"
#include "alm/source/git_signature.h"

#define GPG_PROGRAM        "/usr/bin/gpg"
#define SSH_KEYGEN_PROGRAM "/usr/bin/ssh-keygen"

struct git_verify;
/* err NULL: signer is who signed it, for people; borrowed. */
typedef void (*git_verify_fn)(void *arg, const char *signer, const struct error *err);

/* place->env has HOME=place->dir. All is borrowed until the end, which is told once, in a later
 * turn, unless it was cancelled. Errors have SignatureInvalid: E_INVALID of the commit or the keys,
 * E_UNAVAILABLE where a program is missing or fails. */
struct git_verify *git_verify_start(const struct git_place *p, const char *commit,
				    const struct git_keys *keys, struct arena *a,
				    git_verify_fn done, void *arg);
void git_verify_cancel(struct git_verify *v);

#endif
