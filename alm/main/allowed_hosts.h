/* allowed_hosts: --allowed-host NAME, of the commands that serve HTTP. */
#ifndef ALM_MAIN_ALLOWED_HOSTS_H
#define ALM_MAIN_ALLOWED_HOSTS_H

#include "alm/cli/cli.h"

#define ALLOWED_HOSTS_MAX 64

/* Names beyond those of alm/io/hosts.h that a Host header may have. Borrowed from the command. */
struct allowed_hosts {
	const char *names[ALLOWED_HOSTS_MAX];
	size_t n;
};

/* E_USAGE for what is no host name. */
int allowed_hosts_read(const struct cli *c, struct allowed_hosts *ret, struct error *err);

/* A row of struct cmd.options. */
#define ALLOWED_HOST_OPTION                                                                    \
	{"allowed-host", "NAME",                                                               \
	 "one more name under which clients may reach this, besides addresses, localhost and " \
	 "the machine's name; may be repeated",                                                \
	 0}

#endif
