#include "alm/main/target_cluster.h"

#include <stdlib.h>

#include "alm/base/log.h"

int target_cluster_find(const struct cli *c, struct arena *a, struct kubeconfig_target *ret,
			struct error *err)
{
	CLEANUP(kubeconfig_freep) struct kubeconfig *k = NULL;
	const char *host = getenv("KUBERNETES_SERVICE_HOST"),
		   *port = getenv("KUBERNETES_SERVICE_PORT");
	struct kubeconfig_sources s = {.path = cli_value(c, "kubeconfig"),
				       .env = getenv("KUBECONFIG"),
				       .home = getenv("HOME")};
	if (!s.path && !s.env && host)
		return kubeconfig_in_cluster(host, port, NULL, a, ret, err);
	if (kubeconfig_load(&s, &k, err) < 0)
		return -err->code;
	if (kubeconfig_resolve(k, cli_value(c, "context"), cli_flag(c, "insecure-skip-tls-verify"),
			       a, ret, err) < 0)
		return -err->code;
	for (size_t i = 0; i < ret->n_warnings; i++)
		log_warn("kubeconfig", "warning", ret->warnings[i]);
	return 0;
}

static void on_failure(const char *message)
{
	log_warn("kubeconfig", "warning", message);
}

/* Of what this process has, a name alone each. */
static const char *const *scrubbed(struct arena *a)
{
	static const char *const kept[] = {"HOME", "PATH"};
	const char **env = ARENA_ARRAY(a, const char *, ARRAY_LEN(kept) + 1);
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (getenv(kept[i]))
			env[n++] = arena_fmt(a, "%s=%s", kept[i], getenv(kept[i]));
	return env;
}

int target_cluster_exec(const struct cli *c, struct kubeconfig_target *t, struct loop *l,
			struct programs *programs, struct arena *a, struct exec_run **ret,
			struct error *err)
{
	const char *path = NULL;
	*ret = NULL;
	if (!t->exec)
		return 0;
	if (exec_run_find(t->exec, getenv("PATH"), a, &path, err) < 0)
		return -err->code;
	if (!cstr_eq(cli_value(c, "allow-exec-plugin"), path))
		return error_set(err, E_FORBIDDEN,
				 "user of context %s: the kubeconfig wants %s to be run for "
				 "credentials: allow it with --allow-exec-plugin %s, or give it a "
				 "token, a tokenFile or a client certificate",
				 t->context, path, path);
	const struct exec_run_config config = {.loop = l,
					       .programs = programs,
					       .plugin = t->exec,
					       .path = path,
					       .dir = "/",
					       .env = scrubbed(a),
					       .wall_ns = TARGET_EXEC_NS,
					       .again_ns = TARGET_EXEC_AGAIN_NS,
					       .on_failure = on_failure};
	return exec_run_new(&config, &t->transport, a, ret, err);
}
