/*
 * git_hook: what a server of git says of a push (fleet.md 3.1), and whether it knows the secret.
 * Pure. Of the body only the repository's addresses and the ref are read: it says that there is
 * something to read, and nothing of what that is.
 */
#ifndef ALM_SOURCE_GIT_HOOK_H
#define ALM_SOURCE_GIT_HOOK_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define GIT_HOOK_BYTES_MAX    ((size_t)1 << 20)
#define GIT_HOOK_URLS_MAX     16
#define GIT_HOOK_SECRET_BYTES 16 /* at least: who may guess may guess fast */
#define GIT_HOOK_SECRET_TYPE  "app.coreos.com/git-hook"

struct git_hook {
	struct str body;       /* that is signed */
	const char *signature; /* X-Hub-Signature-256 (GitHub, Gitea, Forgejo); NULL */
	const char *token;     /* X-Gitlab-Token; NULL */
	const char *urls[GIT_HOOK_URLS_MAX];
	size_t n_urls;
	const char *ref; /* "refs/heads/main"; NULL: it is about no ref (a ping) */
};

/* Sets urls and ref; texts in the arena. E_BADREQUEST: no JSON, or no repository in it. */
int git_hook_read(struct git_hook *h, struct arena *a, struct error *err);
/* Scheme, user, letters of the host, ":443", ":22", ".git" and the last slash make no difference, nor
 * whether it is a URL or user@host:path. */
bool git_hook_is_of(const struct git_hook *h, const char *url, struct arena *a);
/* About this branch, or about none. */
bool git_hook_is_about(const struct git_hook *h, const char *branch);

/* data.secret of a Secret of GIT_HOOK_SECRET_TYPE; E_NOTALLOWED: it is none, or it is too short. */
int git_hook_secret(const struct obj *secret, struct arena *a, struct str *ret, struct error *err);
/* Does who has sent it know the secret? In a time that does not depend on how much of it is right. */
bool git_hook_is_signed(const struct git_hook *h, struct str secret);

#endif
