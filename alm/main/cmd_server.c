/* `alm server`: the embedded API server alone, until a signal comes. */
#include "alm/main/cmd_server.h"

#include <stdio.h>

#include "alm/cli/term.h"
#include "alm/io/loop_measure.h"
#include "alm/io/metrics_server.h"
#include "alm/io/process.h"
#include "alm/main/anchors.h"
#include "alm/main/embedded.h"
#include "alm/main/protection.h"

struct server_command {
	struct embedded_config config;
	struct loop *loop;
	struct embedded *embedded;
	const char *metrics_listen;
	struct metrics_server *metrics_server; /* NULL: none */
};

static void stopped(void *arg)
{
	struct server_command *c = arg;
	loop_stop(c->loop);
}

static void on_signal(void *arg, int signal)
{
	struct server_command *c = arg;
	(void)signal;
	embedded_stop(c->embedded, stopped, c);
}

static int start(struct server_command *c, struct error *err)
{
	c->loop = loop_event_new();
	c->config.metrics = metrics_new();
	loop_measure(c->loop, c->config.metrics);
	const struct metrics_server_config msc = {.listen = c->metrics_listen,
						  .hosts = c->config.hosts.names,
						  .n_hosts = c->config.hosts.n,
						  .metrics = c->config.metrics};
	if (metrics_server_start(c->loop, &msc, &c->metrics_server, err) < 0 ||
	    anchor_setup_check(c->config.anchors, c->loop, err) < 0 ||
	    embedded_start(&c->config, c->loop, &c->embedded, err) < 0 || process_confine(err) < 0)
		return -err->code;
	return 0;
}

static void release(struct server_command *c)
{
	metrics_server_free(c->metrics_server);
	embedded_free(c->embedded);
	loop_free(c->loop);
	metrics_free(c->config.metrics);
}

/* --no-audit */
static int refuse_unused(const struct cli *cli, struct error *err)
{
	static const char *const of_log[] = {"audit-retain", "audit-anchor", "audit-origin"};
	for (size_t i = 0; i < ARRAY_LEN(of_log); i++)
		if (cli_value(cli, of_log[i]))
			return error_set(err, E_USAGE,
					 "--%s is of an audit log, and --no-audit keeps none",
					 of_log[i]);
	return 0;
}

static int run(struct cli *cli, struct error *err)
{
	const char *listen = cli_value(cli, "listen");
	const char *metrics = cli_value(cli, "metrics-listen");
	struct server_command c = {
		.metrics_listen = metrics ? metrics : "off",
		.config = {.data_dir = cli_data_dir(cli),
			   .listen = listen ? listen : "127.0.0.1:6443",
			   .token_file = cli_value(cli, "token-file"),
			   .simulate_workloads = cli_flag(cli, "simulate-workloads"),
			   .no_audit = cli_flag(cli, "no-audit"),
			   .audit_origin = cli_value(cli, "audit-origin")}};
	struct anchor_setup anchors;
	if (allowed_hosts_read(cli, &c.config.hosts, err) < 0 ||
	    embedded_legacy(cli, &c.config.no_legacy, err) < 0 ||
	    process_become(cli_value(cli, "user"), err) < 0 ||
	    anchor_setup_embedded(cli, c.config.data_dir, &anchors, err) < 0)
		return -err->code;
	if (c.config.no_audit && refuse_unused(cli, err) < 0)
		return -err->code;
	c.config.anchors = &anchors;
	if (start(&c, err) < 0) {
		release(&c);
		return -err->code;
	}
	loop_on_signal(c.loop, on_signal, &c);
	term_print("alm server: https://%s, kubeconfig %s\n", embedded_address(c.embedded),
		   embedded_kubeconfig(c.embedded));
	if (c.metrics_server)
		term_print("alm server: metrics http://%s/metrics\n",
			   metrics_server_address(c.metrics_server));
	print_protection("alm server", NULL);
	(void)term_flush();
	loop_run(c.loop);
	release(&c);
	return 0;
}

static const struct cmd_option options[] = {
	{"listen", "ADDR:PORT", "address of the API (default 127.0.0.1:6443; port 0: a free one)",
	 0},
	{"metrics-listen", "ADDR:PORT",
	 "address of /metrics, /healthz and /readyz for everybody (default off; port 0: a free "
	 "one)",
	 0},
	{"token-file", "FILE",
	 "more users: TOKEN,USER,UID,\"GROUP,GROUP\" a line; not for others to read (chmod 600)",
	 0},
	{"user", "NAME", "started by root: become this user at once, who owns the data folder", 0},
	ALLOWED_HOST_OPTION,
	{"simulate-workloads", NULL,
	 "ReplicaSets, Pods, Endpoints and statuses as if workloads ran, as no kubelet is here; "
	 "annotation app.coreos.com/simulate \"REASON: TEXT\" of a Pod template makes it fail so: "
	 "\"ImagePullBackOff: manifest unknown\"",
	 0},
	{"no-audit", NULL, "keep no audit log", 0},
	LEGACY_OPTION,
	ANCHOR_OPTION,
	{0},
};

const struct cmd cmd_server = {
	.name = "server",
	.usage = "alm server [--data-dir DIR] [--listen ADDR:PORT] [--token-file FILE]",
	.examples = "alm server --data-dir /var/lib/alm",
	.summary = "run the embedded API server alone",
	.description = "Writes DIR/kubeconfig and stays in the foreground until SIGINT or SIGTERM. "
		       "It has no CRDs and no controllers of its own: kubectl apply -f crds/, then "
		       "alm controller.",
	.options = options,
	.is_service = true,
	.run = run,
};
