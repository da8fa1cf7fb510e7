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
			       a, ret, err) < 0 ||
	    kubeconfig_refuse_exec(ret, err) < 0)
		return -err->code;
	for (size_t i = 0; i < ret->n_warnings; i++)
		log_warn("kubeconfig", "warning", ret->warnings[i]);
	return 0;
}
