#include "alm/main/allowed_hosts.h"

#include "alm/io/hosts.h"

int allowed_hosts_read(const struct cli *c, struct allowed_hosts *ret, struct error *err)
{
	struct allowed_hosts h = {.n = 0};
	const char *name;
	while ((name = cli_value_at(c, "allowed-host", h.n)) != NULL) {
		if (host_of(str_of(name)).len != strlen(name))
			return error_set(err, E_USAGE,
					 "--allowed-host %s: want a name like alm.example.com, "
					 "without a port",
					 name);
		if (h.n == ALLOWED_HOSTS_MAX)
			return error_set(err, E_USAGE, "--allowed-host: at most %d names",
					 ALLOWED_HOSTS_MAX);
		h.names[h.n++] = name;
	}
	*ret = h;
	return 0;
}
