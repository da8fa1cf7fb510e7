/* `alm up`: the embedded default. Wiring only: sandbox, server, CRDs, controllers, metrics,
 * signals. */
#include "alm/main/cmd_up.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/pool.h"
#include "alm/cli/term.h"
#include "alm/console/console.h"
#include "alm/controllers/manager.h"
#include "alm/io/loop_measure.h"
#include "alm/io/metrics_server.h"
#include "alm/io/process.h"
#include "alm/io/program.h"
#include "alm/main/alert_sender.h"
#include "alm/main/anchors.h"
#include "alm/main/embedded.h"
#include "alm/main/git_hooks.h"
#include "alm/main/our_crds.h"
#include "alm/main/protection.h"
#include "alm/main/sandbox_jobs.h"
#include "alm/main/source_access.h"

struct up {
	const struct cli *cli;
	struct source_access access;
	struct embedded_config config;
	const char *metrics_listen, *alertmanager;
	int64_t verify_soak_ns;
	struct loop *loop;
	struct sandbox *sandbox;
	struct programs *programs;
	struct embedded *embedded;
	struct transport *transport;
	struct client *client;
	struct our_crds *crds;
	struct manager *manager;
	struct metrics *metrics;
	struct alert_sender alert_sender;
	struct metrics_server *metrics_server;
	struct git_hooks *hooks;
	struct timer trim;
	bool is_ready; /* told */
	int exit;
};

#define TRIM_AFTER_NS  (2 * NS_PER_S)
#define VERIFY_SOAK_NS (10 * NS_PER_S)

static void stopped(void *arg)
{
	struct up *u = arg;
	loop_stop(u->loop);
}

static void stop(struct up *u)
{
	loop_disarm(u->loop, &u->trim);
	git_hooks_set(u->hooks, NULL);
	manager_free(STEAL(u->manager));
	our_crds_free(STEAL(u->crds));
	embedded_stop(u->embedded, stopped, u);
}

static void on_signal(void *arg, int signal)
{
	(void)signal;
	stop(arg);
}

/* What scripts wait for is printed when what they ask for next is served: the definitions, too. */
static void print_ready(struct up *u)
{
	const char *address = embedded_address(u->embedded);
	if (u->is_ready)
		return;
	u->is_ready = true;
	term_print("alm: https://%s, kubeconfig %s, data %s, console https://%s" CONSOLE_PATH "\n",
		   address, embedded_kubeconfig(u->embedded), u->config.data_dir, address);
	if (u->hooks)
		term_print("alm: hooks of git on http://%s/hooks/git\n",
			   git_hooks_address(u->hooks));
	if (u->config.simulate_workloads)
		term_print("alm: workloads are simulated (--simulate-workloads), no kubelet runs "
			   "here\n");
	print_protection("alm", u->sandbox);
	(void)term_flush();
}

static void crds_applied(void *arg, const struct error *err)
{
	struct up *u = arg;
	if (err && audit_read_only(embedded_audit(u->embedded))) {
		print_ready(u); /* reported already: what is there can be read, nobody acts */
		return;
	}
	if (err) {
		log_error("the CRDs of ALM could not be applied", "error", err->msg);
		u->exit = error_exit(err->code);
		stop(u);
		return;
	}
	print_ready(u);
	manager_start(u->manager);
	git_hooks_set(u->hooks, u->manager);
	loop_arm(u->loop, &u->trim, TRIM_AFTER_NS);
}

static void trim(void *arg UNUSED)
{
	pool_trim();
}

static int start(struct up *u, struct error *err)
{
	struct sandbox_config sc = {.jobs = sandbox_jobs};
	u->metrics = u->config.metrics = metrics_new();
	loop_measure(u->loop, u->metrics);
	struct metrics_server_config msc = {.listen = u->metrics_listen,
					    .hosts = u->config.hosts.names,
					    .n_hosts = u->config.hosts.n,
					    .metrics = u->metrics};
	const struct git_hooks_config hc = {.listen = cli_value(u->cli, "hooks-listen"),
					    .hosts = u->config.hosts.names,
					    .n_hosts = u->config.hosts.n,
					    .metrics = u->metrics};
	if (sandbox_process_new(u->loop, &sc, &u->sandbox, err) < 0 ||
	    programs_process_new(u->loop, &u->programs, err) < 0 ||
	    metrics_server_start(u->loop, &msc, &u->metrics_server, err) < 0 ||
	    git_hooks_start(u->loop, &hc, &u->hooks, err) < 0 ||
	    alert_sender_open(&u->alert_sender, u->loop, u->alertmanager, u->metrics, err) < 0 ||
	    anchor_setup_check(u->config.anchors, u->loop, err) < 0 ||
	    source_access_check(u->cli, u->config.data_dir, err) < 0)
		return -err->code;
	/* Here the data folder is made: what is on the command line was found to be good. */
	if (embedded_start(&u->config, u->loop, &u->embedded, err) < 0 ||
	    source_access_open(&u->access, u->cli, u->config.data_dir, err) < 0)
		return -err->code;
	u->transport = transport_local_new(u->loop, embedded_handle, u->embedded,
					   embedded_token(u->embedded));
	u->client = client_new(u->loop, u->transport);
	struct manager_config mc = {.loop = u->loop,
				    .client = u->client,
				    .audit = embedded_audit(u->embedded),
				    .db = embedded_db(u->embedded),
				    .disk = embedded_disk(u->embedded),
				    .same_process = true,
				    .watch_dirs = true,
				    .settings = {.verify_soak_ns = u->verify_soak_ns,
						 .simulated = u->config.simulate_workloads,
						 .approver_is_requester = true},
				    .sandbox = u->sandbox,
				    .metrics = u->metrics,
				    .alerts = u->alert_sender.alerts};
	source_access_set(&u->access, &mc);
	mc.programs = u->programs;
	u->manager = manager_new(&mc);
	u->crds = our_crds_new(u->client, u->loop, crds_applied, u);
	our_crds_apply(u->crds);
	return 0;
}

static void release(struct up *u)
{
	git_hooks_free(u->hooks);
	manager_free(u->manager);
	our_crds_free(u->crds);
	client_free(u->client);
	transport_free(u->transport);
	metrics_server_free(u->metrics_server);
	embedded_free(u->embedded);
	alert_sender_close(&u->alert_sender);
	metrics_free(u->metrics);
	source_access_close(&u->access);
	programs_free(u->programs);
	sandbox_free(u->sandbox);
	loop_free(u->loop);
}

static int run(struct cli *c, struct error *err)
{
	const char *metrics = cli_value(c, "metrics-listen");
	struct up u = {.cli = c,
		       .config = {.data_dir = cli_data_dir(c),
				  .listen = cli_value(c, "listen"),
				  .token_file = cli_value(c, "token-file"),
				  .simulate_workloads = !cli_flag(c, "no-simulate-workloads"),
				  .own_controllers = true},
		       .metrics_listen = metrics,
		       .alertmanager = cli_value(c, "alertmanager")};
	struct anchor_setup anchors;
	if (cli_duration(c, "verify-soak", VERIFY_SOAK_NS, &u.verify_soak_ns, err) < 0 ||
	    render_cpu_read(c, err) < 0 || allowed_hosts_read(c, &u.config.hosts, err) < 0 ||
	    embedded_legacy(c, &u.config.no_legacy, err) < 0 ||
	    process_become(cli_value(c, "user"), err) < 0 ||
	    anchor_setup_embedded(c, u.config.data_dir, &anchors, err) < 0)
		return -err->code;
	u.config.anchors = &anchors;
	u.config.audit_origin = cli_value(c, "audit-origin");
	if (!u.config.listen)
		u.config.listen = "127.0.0.1:6443";
	u.trim.fn = trim;
	u.loop = loop_event_new();
	if (start(&u, err) < 0 || process_confine(err) < 0) {
		release(&u);
		return -err->code;
	}
	loop_on_signal(u.loop, on_signal, &u);
	loop_run(u.loop);
	release(&u);
	c->exit_code = u.exit;
	return 0;
}

static const struct cmd_option options[] = {
	{"listen", "ADDR:PORT", "address of the API (default 127.0.0.1:6443; port 0: a free one)",
	 0},
	{"metrics-listen", "ADDR:PORT", "address of /metrics (default 127.0.0.1:8080), or off", 0},
	HOOKS_LISTEN_OPTION,
	{"token-file", "FILE",
	 "more users: TOKEN,USER,UID,\"GROUP,GROUP\" a line; not for others to read (chmod 600)",
	 0},
	{"user", "NAME", "started by root: become this user at once, who owns the data folder", 0},
	ALLOWED_HOST_OPTION,
	{"alertmanager", "URL", "where alerts of blocked upgrades go: http://HOST:PORT", 0},
	{"verify-soak", "DURATION",
	 "how long workloads must stay available before a version is Installed (default 10s)", 0},
	{"simulate-workloads", NULL,
	 "ReplicaSets, Pods, Endpoints and statuses as if workloads ran, as no kubelet is here; "
	 "annotation app.coreos.com/simulate \"REASON: TEXT\" of a Pod template makes it fail so: "
	 "\"ImagePullBackOff: manifest unknown\" (default)",
	 0},
	{"no-simulate-workloads", NULL, "leave their status to others", 0},
	RENDER_CPU_OPTION,
	SOURCE_ACCESS_OPTIONS,
	LEGACY_OPTION,
	ANCHOR_OPTION,
	{0},
};

const struct cmd cmd_up = {
	.name = "up",
	.usage = "alm up [--data-dir DIR] [--listen ADDR:PORT] [--metrics-listen ADDR:PORT]",
	.summary = "run API server and controllers in one process",
	.description = "Creates the CRDs of ALM, writes DIR/kubeconfig and stays in the foreground "
		       "until SIGINT or SIGTERM. DIR (default ~/.alm) holds everything: the "
		       "database alm.db with all objects and the audit log, the CA, the token of "
		       "admin and the keys of the log.",
	.examples = "alm up --data-dir /var/lib/alm &\n"
		    "kubectl --kubeconfig /var/lib/alm/kubeconfig get Apps",
	.options = options,
	.is_service = true,
	.run = run,
};
