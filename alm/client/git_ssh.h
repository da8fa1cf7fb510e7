/*
 * git_ssh: git by the program ssh. It reads no configuration, no agent, no key and no
 * known host but these; a host that they do not know is not talked to, and nobody is asked. The name
 * goes to an address that was judged (git_address.h), and is looked for in known_hosts as a name.
 *
 * The key stands in no argument, variable or message: it is a file of the folder of the mirror, for
 * its user alone, as long as the server is talked to. One that a killed process left goes with the
 * next one.
 */
#ifndef ALM_CLIENT_GIT_SSH_H
#define ALM_CLIENT_GIT_SSH_H

#include "alm/client/git_run.h"
#include "alm/source/git_url.h"

#define SSH_PROGRAM "/usr/bin/ssh"

struct git_ssh {
	const char *key;         /* private, without a passphrase */
	const char *known_hosts; /* its lines */
};

/* Below dir, in which git is to be run. */
int git_ssh_put(const char *dir, const struct git_ssh *s, struct arena *a, struct error *err);
/* What put made, or has begun to. */
void git_ssh_clear(const char *dir, struct arena *a);
/* address: of the host; NULL: it is one. */
void git_ssh_environment(struct git_environment *e, const struct git_ssh_url *u,
			 const char *address);
/* Reasons HostKeyUnknown, HostKeyChanged, CredentialsRejected, GitMissing; in the arena. */
const struct git_fault *git_ssh_faults(const struct git_ssh_url *u, struct arena *a);

#endif
