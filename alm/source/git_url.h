/*
 * git_url: where a repository is that is read by ssh, in the two ways that people say it. Pure.
 *
 *	ssh://USER@HOST[:PORT]/PATH
 *	USER@HOST:PATH               as scp has it: PATH without a slash is below the user's home
 *
 * USER is not left out, as the one that would be guessed is whoever runs ALM. A password, a host or a
 * user that a program could take for an option, bytes that are no printable ASCII, and brackets (of a
 * URL also percent signs) in PATH, in which git would find another host, are refused: what git gets
 * is made of the parts that were read, and of nothing else.
 */
#ifndef ALM_SOURCE_GIT_URL_H
#define ALM_SOURCE_GIT_URL_H

#include <stdbool.h>

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/str.h"

#define GIT_SSH_PORT 22

struct git_ssh_url {
	const char *user, *path;
	const char *host; /* lower case, without brackets */
	unsigned port;
	const char *origin; /* "ssh://host[:port]": the port only if it is not GIT_SSH_PORT */
	const char *known;  /* as known_hosts and ssh-keyscan name it: "host", "[host]:port" */
	const char *text;   /* the whole, in the way that was used */
};

/* Does it want to be one of the two? */
bool git_url_is_ssh(const char *url);
/* E_INVALID; texts in the arena. */
int git_url_ssh(const char *url, struct arena *a, struct git_ssh_url *ret, struct error *err);
/* "ssh://HOST[:PORT]" and no more, as the origin that git_url_ssh() makes of it. */
int git_url_ssh_origin(struct str text, struct arena *a, const char **ret, struct error *err);

#endif
