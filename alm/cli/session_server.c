/* session_server: see session_server.h. */
#include "alm/cli/session_server.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/cli/term.h"

static const char *default_kubeconfig(const struct cli *c)
{
	const char *own = arena_fmt(c->arena, "%s/kubeconfig", cli_data_dir(c));
	if (cli_value(c, "kubeconfig"))
		return cli_value(c, "kubeconfig");
	if (cli_value(c, "data-dir"))
		return own;
	const char *env = getenv("KUBECONFIG");
	return !(env && *env) && file_exists(own) ? own : NULL;
}

static int read_target(struct cli *c, struct kubeconfig_target *t, struct error *err)
{
	CLEANUP(kubeconfig_freep) struct kubeconfig *k = NULL;
	struct kubeconfig_sources src = {.path = default_kubeconfig(c),
					 .env = getenv("KUBECONFIG"),
					 .home = getenv("HOME"),
					 .is_command = true};
	int r = kubeconfig_load(&src, &k, err);
	if (r >= 0) {
		r = kubeconfig_resolve(k, cli_value(c, "context"),
				       cli_flag(c, "insecure-skip-tls-verify"), c->arena, t, err);
		for (size_t i = 0; r >= 0 && i < t->n_warnings; i++)
			term_error("Warning: %s\n", t->warnings[i]);
		return r;
	}
	struct error none = ERROR_INIT;
	if (r == -E_NOTFOUND && !src.path &&
	    !cli_value(c, "master") && /* a Pod's token is for its cluster */
	    kubeconfig_in_cluster(getenv("KUBERNETES_SERVICE_HOST"),
				  getenv("KUBERNETES_SERVICE_PORT"), NULL, c->arena, t, &none) >= 0)
		return 0;
	return r;
}

/* --master URL, of commands that have it: the server, with the credentials of the kubeconfig, or where
 * there is none, without any; as client-go. */
int session_server(struct cli *c, struct kubeconfig_target *t, struct error *err)
{
	const char *url = cli_value(c, "master");
	struct error own = ERROR_INIT;
	int r = read_target(c, t, &own);
	bool none = r == -E_NOTFOUND && url && !default_kubeconfig(c) && !cli_value(c, "context");
	size_t n = url ? strlen(url) : 0;
	if (r < 0 && !none)
		return error_copy(err, &own);
	if (!url)
		return 0;
	const char *host = strstr(url, "://");
	if ((!cstr_has_prefix(url, "https://") && !cstr_has_prefix(url, "http://")) || !host[3] ||
	    host[3] == '/' || strpbrk(url, "@?#"))
		return error_set(err, E_USAGE,
				 "--master %.200s: want https://HOST[:PORT], without user name",
				 strchr(url, '@') ? "URL" : url);
	while (url[n - 1] == '/')
		n--;
	if (none)
		*t = (struct kubeconfig_target){.context = ""};
	t->transport.base_url = arena_strndup(c->arena, url, n);
	return 0;
}
