/* `alm up`: the embedded default. Wiring only: sandbox, server, CRDs, controllers, metrics,
 * signals. */
#include "alm/main/cmd_up.h"

#include <stdio.h>
#include <stdlib.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/controllers/manager.h"
#include "alm/main/alert_sender.h"
#include "alm/main/embedded.h"
#include "alm/main/metrics_server.h"
#include "alm/main/our_crds.h"
#include "alm/main/sandbox_jobs.h"

struct up {
	struct embedded_config config;
	const char *metrics_listen, *alertmanager;
	int64_t verify_soak_ns;
	struct loop *loop;
	struct sandbox *sandbox;
	struct embedded *embedded;
	struct transport *transport;
	struct client *client;
	struct our_crds *crds;
	struct manager *manager;
	struct metrics *metrics;
	struct alert_sender alert_sender;
	struct server *metrics_server;
	int exit;
};

static void stopped(void *arg)
{
	struct up *u = arg;
	loop_stop(u->loop);
}

static void stop(struct up *u)
{
	manager_free(STEAL(u->manager));
	our_crds_free(STEAL(u->crds));
	embedded_stop(u->embedded, stopped, u);
}

static void on_signal(void *arg, int signal)
{
	(void)signal;
	stop(arg);
}

static void crds_applied(void *arg, const struct error *err)
{
	struct up *u = arg;
	if (err) {
		log_error("the CRDs of ALM could not be created", "error", err->msg);
		u->exit = error_exit(err->code);
		stop(u);
		return;
	}
	manager_start(u->manager);
}

static int start(struct up *u, struct error *err)
{
	struct sandbox_config sc = {.jobs = sandbox_jobs};
	struct error ignored = ERROR_INIT;
	u->metrics = u->config.metrics = metrics_new();
	if (sandbox_process_new(u->loop, &sc, &u->sandbox, err) < 0 ||
	    embedded_start(&u->config, u->loop, &u->embedded, err) < 0)
		return -err->code;
	if (metrics_server_start(u->loop, u->metrics_listen, u->metrics, &u->metrics_server,
				 &ignored) < 0)
		log_warn("no metrics are served; choose another address with --metrics-listen",
			 "error", ignored.msg);
	if (alert_sender_open(&u->alert_sender, u->loop, u->alertmanager, u->metrics, err) < 0)
		return -err->code;
	u->transport = transport_local_new(u->loop, embedded_handle, u->embedded,
					   embedded_token(u->embedded));
	u->client = client_new(u->loop, u->transport);
	struct manager_config mc = {.loop = u->loop,
				    .client = u->client,
				    .audit = embedded_audit(u->embedded),
				    .db = embedded_db(u->embedded),
				    .same_process = true,
				    .watch_dirs = true,
				    .settings = {.verify_soak_ns = u->verify_soak_ns,
						 .simulated = u->config.simulate_workloads},
				    .sandbox = u->sandbox,
				    .metrics = u->metrics,
				    .alerts = u->alert_sender.alerts};
	u->manager = manager_new(&mc);
	u->crds = our_crds_apply(u->client, crds_applied, u);
	return 0;
}

static void release(struct up *u)
{
	manager_free(u->manager);
	our_crds_free(u->crds);
	client_free(u->client);
	transport_free(u->transport);
	server_free(u->metrics_server);
	embedded_free(u->embedded);
	alert_sender_close(&u->alert_sender);
	metrics_free(u->metrics);
	sandbox_free(u->sandbox);
	loop_free(u->loop);
}

static int usage(void)
{
	fprintf(stderr, "usage: alm up [--data-dir DIR] [--listen ADDR:PORT] [--metrics-listen "
			"ADDR:PORT|off] "
			"[--token-file FILE] [--alertmanager URL] [--verify-soak DURATION] "
			"[--no-simulate-workloads]\n");
	return error_exit(E_USAGE);
}

static bool read_options(struct up *u, int argc, char **argv)
{
	struct error err;
	const char *soak = NULL;
	for (int i = 0; i < argc; i++) {
		const char **value = cstr_eq(argv[i], "--data-dir")         ? &u->config.data_dir
				     : cstr_eq(argv[i], "--listen")         ? &u->config.listen
				     : cstr_eq(argv[i], "--token-file")     ? &u->config.token_file
				     : cstr_eq(argv[i], "--metrics-listen") ? &u->metrics_listen
				     : cstr_eq(argv[i], "--alertmanager")   ? &u->alertmanager
				     : cstr_eq(argv[i], "--verify-soak")    ? &soak
									    : NULL;
		if (cstr_eq(argv[i], "--simulate-workloads"))
			u->config.simulate_workloads = true;
		else if (cstr_eq(argv[i], "--no-simulate-workloads"))
			u->config.simulate_workloads = false;
		else if (value && i + 1 < argc)
			*value = argv[++i];
		else
			return false;
	}
	return !soak || duration_parse(str_of(soak), &u->verify_soak_ns, &err) == 0;
}

static const char *default_data_dir(char out[4096])
{
	const char *home = getenv("HOME");
	snprintf(out, 4096, "%s/.alm", home ? home : "/root");
	return out;
}

int cmd_up_main(int argc, char **argv)
{
	char home[4096];
	struct up u = {.config = {.listen = "127.0.0.1:6443", .simulate_workloads = true},
		       .metrics_listen = "127.0.0.1:8080",
		       .verify_soak_ns = 10 * NS_PER_S};
	struct error err = ERROR_INIT;
	if (!read_options(&u, argc, argv))
		return usage();
	if (!u.config.data_dir)
		u.config.data_dir = default_data_dir(home);
	u.loop = loop_event_new();
	if (start(&u, &err) < 0) {
		fprintf(stderr, "alm up: %s\n", err.msg);
		release(&u);
		return error_exit(err.code);
	}
	loop_on_signal(u.loop, on_signal, &u);
	printf("alm: https://%s, kubeconfig %s, data %s\n", embedded_address(u.embedded),
	       embedded_kubeconfig(u.embedded), u.config.data_dir);
	if (u.config.simulate_workloads)
		printf("alm: workloads are simulated (--simulate-workloads), no kubelet runs "
		       "here\n");
	fflush(stdout);
	loop_run(u.loop);
	release(&u);
	return u.exit;
}
