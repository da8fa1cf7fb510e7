#include "alm/client/git_ssh.h"

#include <string.h>

#include "alm/base/file.h"

#define FOLDER    "ssh"
#define KEY       "key"
#define KNOWN     "known_hosts"
#define FILES_MAX 64

/* --- files --- */

void git_ssh_clear(const char *dir, struct arena *a)
{
	const char *folder = arena_fmt(a, "%s/" FOLDER, dir);
	struct error ignored = ERROR_INIT;
	struct dir_entry *list;
	size_t n;
	if (dir_entries(folder, FILES_MAX, &list, &n, &ignored) < 0)
		return; /* there is none */
	for (size_t i = 0; i < n; i++)
		(void)file_remove(arena_fmt(a, "%s/%s", folder, list[i].name), &ignored);
	dir_entries_free(list, n);
}

static int put(const char *folder, const char *name, const char *text, struct arena *a,
	       struct error *err)
{
	/* a key whose last line has no end is none */
	struct str bytes = str_of(arena_fmt(a, "%s\n", text));
	return file_write_new(arena_fmt(a, "%s/%s", folder, name), bytes, 0600, err);
}

int git_ssh_put(const char *dir, const struct git_ssh *s, struct arena *a, struct error *err)
{
	const char *folder = arena_fmt(a, "%s/" FOLDER, dir);
	git_ssh_clear(dir, a);
	if (dir_make(folder, 0700, err) < 0 || put(folder, KEY, s->key, a, err) < 0 ||
	    put(folder, KNOWN, s->known_hosts, a, err) < 0)
		return -err->code;
	return 0;
}

/* --- variables --- */

/* Relative names, as a shell and ssh would read much into others. -F none: neither ~/.ssh/config nor
 * the one of the machine; what is not said here is then as ssh has it by itself. Of two values ssh
 * takes the first: where it goes is what was judged, whatever git reads out of the url. */
#define SSH_COMMAND                                                                     \
	"cd \"$HOME\" && exec " SSH_PROGRAM " -F none -T -i " FOLDER "/" KEY            \
	" -o IdentitiesOnly=yes -o IdentityAgent=none"                                  \
	" -o UserKnownHostsFile=" FOLDER "/" KNOWN " -o GlobalKnownHostsFile=/dev/null" \
	" -o StrictHostKeyChecking=yes -o UpdateHostKeys=no -o CheckHostIP=no"          \
	" -o BatchMode=yes -o PreferredAuthentications=publickey"                       \
	" -o ConnectTimeout=15 -o ServerAliveInterval=15 -o LogLevel=ERROR"             \
	" -o HostKeyAlias='%s' -o HostName=%s -o Port=%u -o User=%s"

void git_ssh_environment(struct git_environment *e, const struct git_ssh_url *u,
			 const char *address)
{
	git_environment_add(e, arena_fmt(e->a, "GIT_SSH_COMMAND=" SSH_COMMAND, u->known,
					 address ? address : u->host, u->port, u->user));
	git_environment_add(e, "GIT_SSH_VARIANT=ssh");
}

/* --- what ssh says --- */

const struct git_fault *git_ssh_faults(const struct git_ssh_url *u, struct arena *a)
{
	const char *changed = arena_fmt(
		a,
		"%s shows another host key than known_hosts has: the server was set up again, or "
		"somebody stands in between; ask who runs it",
		u->known);
	const char *revoked =
		arena_fmt(a, "%s shows a host key that known_hosts has as revoked", u->known);
	const char *unknown = arena_fmt(
		a,
		"known_hosts of the Secret has no host key of %s that it shows; ssh-keyscan "
		"prints them, and who runs the server says whether they are the right ones",
		u->known);
	const char *denied =
		arena_fmt(a, "%s does not take the private key for the user %s", u->known, u->user);
	/* clang-format off */
	const struct git_fault table[] = {
		{"REMOTE HOST IDENTIFICATION HAS CHANGED", E_NOTALLOWED, REASON_HOST_KEY_CHANGED, changed},
		{"REVOKED HOST KEY",                E_NOTALLOWED,   REASON_HOST_KEY_CHANGED, revoked},
		{"Host key verification failed",    E_NOTALLOWED,   REASON_HOST_KEY_UNKNOWN, unknown},
		{"Load key \"" FOLDER "/" KEY "\"", E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED,
		 "ssh-privatekey is no private key that ssh can read"},
		{"Permission denied (",             E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, denied},
		{"Too many authentication failures", E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, denied},
		{SSH_PROGRAM ": ",                  E_NOTFOUND,     REASON_GIT_MISSING,
		 "there is no " SSH_PROGRAM "; install the package openssh-client"},
		{NULL,                              E_OK,           REASON_NONE,             NULL},
	};
	/* clang-format on */
	struct git_fault *copy = ARENA_ARRAY(a, struct git_fault, ARRAY_LEN(table));
	memcpy(copy, table, sizeof(table));
	return copy;
}
