/* `alm controller`: the same controllers on a cluster, with an audit log of their own. One replica
 * acts: the one that holds the Lease, and it tries for that only with the exclusive lock on its log
 * (audit.md 1, law 3); db_open() refuses a second one on the same log. */
#include "alm/main/cmd_controller.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/log.h"
#include "alm/cli/term.h"
#include "alm/controllers/manager.h"
#include "alm/engine/leader.h"
#include "alm/io/data_dir.h"
#include "alm/io/loop_measure.h"
#include "alm/io/metrics_server.h"
#include "alm/io/process.h"
#include "alm/io/program.h"
#include "alm/main/alert_sender.h"
#include "alm/main/allowed_hosts.h"
#include "alm/main/anchors.h"
#include "alm/main/approval_hook.h"
#include "alm/main/embedded.h"
#include "alm/main/git_hooks.h"
#include "alm/main/our_crds.h"
#include "alm/main/protection.h"
#include "alm/main/records.h"
#include "alm/main/sandbox_jobs.h"
#include "alm/main/source_access.h"
#include "alm/main/target_cluster.h"

#define LEASE_NAMESPACE "alm-system"
#define LEASE_NAME      "alm-controller"
#define CRDS_RETRY_NS   (5 * NS_PER_S)
#define CRDS_REFUSED_NS NS_PER_MIN /* somebody has to do something */
#define VERIFY_SOAK_NS  (10 * NS_PER_S)
#define STANDBY_NS      NS_PER_S

struct controller_command {
	const struct cli *cli;
	struct source_access access;
	const char *data_dir, *metrics_listen, *alertmanager;
	struct allowed_hosts hosts; /* of the metrics */
	bool stopping, standby;
	bool is_waiting; /* another one has the Lease */
	int64_t verify_soak_ns;
	struct arena *arena;
	struct loop *loop;
	struct kubeconfig_target target;
	struct sandbox *sandbox;
	struct programs *programs;
	struct exec_run *exec; /* NULL: no program prints the credentials */
	struct db *db;
	struct audit *audit;
	struct pruner *pruner;
	struct disk_watch *disk;
	struct transport *transport;
	struct client *client;
	struct leader *leader;
	struct our_crds *crds;
	struct timer crds_retry, standby_retry;
	struct manager *manager;
	struct metrics *metrics;
	struct alert_sender alert_sender;
	struct metrics_server *metrics_server;
	struct git_hooks *hooks;
	struct records *records;
	struct approval_hook *approvals;
	const char *origin;
	struct anchor_setup setup;
	struct anchors *anchors;
	struct error *err; /* why it ends by itself */
};

static void stop_acting(struct controller_command *c)
{
	loop_disarm(c->loop, &c->crds_retry);
	git_hooks_set(c->hooks, NULL);
	records_lead(c->records, false);
	approval_hook_lead(c->approvals, false);
	manager_free(STEAL(c->manager));
	alerts_forget(c->alert_sender.alerts);
	our_crds_free(STEAL(c->crds));
}

static void stopped(void *arg)
{
	struct controller_command *c = arg;
	loop_stop(c->loop);
}

static void on_signal(void *arg, int signal)
{
	struct controller_command *c = arg;
	(void)signal;
	loop_disarm(c->loop, &c->standby_retry);
	stop_acting(c);
	if (c->stopping) { /* asked again: at once */
		loop_stop(c->loop);
		return;
	}
	c->stopping = true;
	if (c->leader)
		leader_resign(c->leader, stopped, c);
	else
		loop_stop(c->loop);
}

/* --- leadership --- */

static void log_leader(struct controller_command *c, const char *details)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "what", "leader");
	obj_set_str(body, "details", details);
	struct audit_row row = {.type = "System",
				.reason = "LeaderChanged",
				.subject = {.kind = "Log", .name = audit_origin(c->audit)},
				.body = body};
	if (audit_append_now(c->audit, &row, &seq, &err) < 0)
		log_error("a change of leadership is not in the audit log", "error", err.msg);
}

static void crd_seen(void *arg, const struct obj *crd, bool gone)
{
	const struct controller_command *c = arg;
	our_crds_seen(c->crds, crd, gone);
}

static void start_manager(struct controller_command *c)
{
	struct manager_config mc = {.loop = c->loop,
				    .client = c->client,
				    .audit = c->audit,
				    .db = c->db,
				    .disk = c->disk,
				    .watch_dirs = true,
				    .settings = {.verify_soak_ns = c->verify_soak_ns,
						 .approval_ca = approval_hook_bundle(c->approvals)},
				    .sandbox = c->sandbox,
				    .metrics = c->metrics,
				    .alerts = c->alert_sender.alerts};
	source_access_set(&c->access, &mc);
	mc.programs = c->programs;
	mc.crd_seen = crd_seen;
	mc.crd_seen_arg = c;
	c->manager = manager_new(&mc);
	manager_start(c->manager);
	git_hooks_set(c->hooks, c->manager);
}

/* Without the right to write CRDs those that an administrator applied are used. */
static void crds_applied(void *arg, const struct error *err)
{
	struct controller_command *c = arg;
	if (err)
		log_warn("the CRDs of ALM could not be applied", "error", err->msg);
	if (err && err->code != E_FORBIDDEN)
		loop_arm(c->loop, &c->crds_retry,
			 err->code == E_REFUSED ? CRDS_REFUSED_NS : CRDS_RETRY_NS);
	else if (c->manager)
		manager_kinds_back(c->manager);
	else
		start_manager(c);
}

static void apply_crds(void *arg)
{
	struct controller_command *c = arg;
	our_crds_apply(c->crds);
}

static void on_elected(void *arg, int64_t epoch)
{
	struct controller_command *c = arg;
	char details[64];
	c->is_waiting = false;
	audit_set_epoch(c->audit, epoch);
	snprintf(details, sizeof(details), "elected, epoch %lld", (long long)epoch);
	log_leader(c, details);
	records_lead(c->records, true);
	approval_hook_lead(c->approvals, true);
	c->crds = our_crds_new(c->client, c->loop, crds_applied, c);
	apply_crds(c);
}

static void on_lost(void *arg)
{
	struct controller_command *c = arg;
	log_warn("the lease is lost: nothing is written until it is ours again", "lease",
		 LEASE_NAMESPACE "/" LEASE_NAME);
	stop_acting(c);
	log_leader(c, "lost");
}

static void on_waiting(void *arg, const char *holder)
{
	struct controller_command *c = arg;
	c->is_waiting = true;
	term_print("alm controller: waiting, %s holds the lease " LEASE_NAMESPACE "/" LEASE_NAME
		   "\n",
		   holder);
	(void)term_flush();
}

static void start_leading(struct controller_command *c)
{
	struct leader_config lc = {.client = c->client,
				   .ns = LEASE_NAMESPACE,
				   .name = LEASE_NAME,
				   .identity = audit_origin(c->audit),
				   .on_elected = on_elected,
				   .on_lost = on_lost,
				   .on_waiting = on_waiting,
				   .arg = c};
	c->leader = leader_new(&lc);
}

/* An anchor remembers what the log does not have: nothing may be written to the cluster. */
static void on_refused(void *arg)
{
	struct controller_command *c = arg;
	stop_acting(c);
	(void)error_set(c->err, E_ALTERED, "%s", audit_read_only(c->audit));
	if (c->leader && !c->stopping) {
		c->stopping = true;
		leader_resign(c->leader, stopped, c);
	} else
		loop_stop(c->loop);
}

static void on_recalled(void *arg)
{
	struct controller_command *c = arg;
	if (!audit_read_only(c->audit))
		start_leading(c);
}

/* --- start --- */

static int open_log(struct controller_command *c, struct error *err)
{
	struct db_config dc = {.path = arena_fmt(c->arena, "%s/alm.db", c->data_dir),
			       .layout = DB_LAYOUT};
	if (data_dir_make(c->data_dir, err) < 0 || db_open(&dc, &c->db, err) < 0)
		return -err->code;
	struct audit_config ac = {.db = c->db,
				  .loop = c->loop,
				  .origin = c->origin,
				  .key_dir = c->data_dir,
				  .anchor_files = c->setup.files,
				  .tells_end = true};
	if (audit_open(&ac, &c->audit, err) < 0)
		return -err->code;
	struct disk_watch_config wc = {c->db, c->loop, c->audit, c->metrics};
	c->disk = disk_watch_new(&wc);
	const char *why = audit_read_only(c->audit);
	return why ? error_set(err, E_ALTERED, "%s", why) : 0;
}

/* Of /readyz: a replica that waits for its turn is ready, one that cannot act is not. */
static const char *not_ready(void *arg)
{
	const struct controller_command *c = arg;
	if (!c->audit)
		return NULL;
	if (audit_read_only(c->audit))
		return audit_read_only(c->audit);
	if (disk_watch_is_full(c->disk))
		return "DiskFull: nothing is written until there is room for the audit log";
	return c->manager || c->is_waiting ? NULL
					   : "the lease or the CRDs of ALM are not there yet";
}

/* What its API servers ask of us. */
static int serve_the_cluster(struct controller_command *c, struct error *err)
{
	const struct records_config rc = {.listen = cli_value(c->cli, "records-listen"),
					  .data_dir = c->data_dir,
					  .audit = c->audit,
					  .client = c->client,
					  .hosts = c->hosts.names,
					  .n_hosts = c->hosts.n};
	const struct approval_hook_config hc = {.listen = cli_value(c->cli, "webhook-listen"),
						.data_dir = c->data_dir,
						.client = c->client,
						.hosts = c->hosts.names,
						.n_hosts = c->hosts.n};
	if (records_start(&rc, &c->records, err) < 0 ||
	    approval_hook_start(&hc, &c->approvals, err) < 0)
		return -err->code;
	return 0;
}

static void print_addresses(const struct controller_command *c)
{
	if (c->hooks)
		term_print("alm controller: hooks of git on http://%s/hooks/git\n",
			   git_hooks_address(c->hooks));
	if (c->records)
		term_print("alm controller: audit records on https://%s\n",
			   records_address(c->records));
	if (c->approvals)
		term_print("alm controller: webhook of approvals on https://%s/approvals\n",
			   approval_hook_address(c->approvals));
}

static int begin(struct controller_command *c, struct error *err)
{
	if (open_log(c, err) < 0 || source_access_open(&c->access, c->cli, c->data_dir, err) < 0)
		return -err->code;
	c->crds_retry = (struct timer){.fn = apply_crds, .arg = c};
	if (serve_the_cluster(c, err) < 0)
		return -err->code;
	if (anchor_setup_start(&c->setup, c->audit, c->db, c->loop, c->client, &c->anchors, err) <
		    0 ||
	    process_confine(err) < 0)
		return -err->code;
	c->pruner = anchor_setup_prune(&c->setup, c->audit, c->db, c->loop, c->anchors);
	anchors_on_refused(c->anchors, on_refused, c);
	anchors_when_recalled(c->anchors, on_recalled, c);
	term_print("alm controller: %s, data %s\n", c->target.transport.base_url, c->data_dir);
	print_addresses(c);
	print_protection("alm controller", c->sandbox);
	(void)term_flush();
	return 0;
}

/* --standby: true while another process works with the folder. */
static bool stands_by(struct controller_command *c, const struct error *err)
{
	if (!c->standby || c->db || err->code != E_UNAVAILABLE)
		return false;
	loop_arm(c->loop, &c->standby_retry, STANDBY_NS);
	return true;
}

static void try_again(void *arg)
{
	struct controller_command *c = arg;
	struct error err = ERROR_INIT;
	if (begin(c, &err) == 0 || stands_by(c, &err))
		return;
	*c->err = err;
	loop_stop(c->loop);
}

/* What the command line and the kubeconfig name, before the data folder is made. Who stands by may
 * find the addresses of the records and the webhook taken by the one before. */
static int connect_all(struct controller_command *c, struct error *err)
{
	c->target.transport.user_agent = "alm/" ALM_VERSION;
	if (anchor_setup_check(&c->setup, c->loop, err) < 0 ||
	    source_access_check(c->cli, c->data_dir, err) < 0 ||
	    transport_curl_new(c->loop, &c->target.transport, &c->transport, err) < 0 ||
	    alert_sender_open(&c->alert_sender, c->loop, c->alertmanager, c->metrics, err) < 0)
		return -err->code;
	c->client = client_new(c->loop, c->transport);
	if (c->exec)
		exec_run_keep(c->exec, c->transport);
	const char *records = cli_value(c->cli, "records-listen");
	if (approval_hook_check(c->loop, cli_value(c->cli, "webhook-listen"), records, err) < 0 &&
	    !(c->standby && err->code == E_EXISTS))
		return -err->code;
	if (records_check(c->loop, records, err) < 0 && !(c->standby && err->code == E_EXISTS))
		return -err->code;
	return 0;
}

static int start(struct controller_command *c, struct error *err)
{
	struct sandbox_config sc = {.jobs = sandbox_jobs};
	c->metrics = metrics_new();
	loop_measure(c->loop, c->metrics);
	struct metrics_server_config msc = {.listen = c->metrics_listen,
					    .hosts = c->hosts.names,
					    .n_hosts = c->hosts.n,
					    .metrics = c->metrics,
					    .not_ready = not_ready,
					    .arg = c};
	const struct git_hooks_config hc = {.listen = cli_value(c->cli, "hooks-listen"),
					    .hosts = c->hosts.names,
					    .n_hosts = c->hosts.n,
					    .metrics = c->metrics};
	c->standby_retry = (struct timer){.fn = try_again, .arg = c};
	if (sandbox_process_new(c->loop, &sc, &c->sandbox, err) < 0 ||
	    programs_process_new(c->loop, &c->programs, err) < 0 ||
	    target_cluster_find(c->cli, c->arena, &c->target, err) < 0 ||
	    target_cluster_exec(c->cli, &c->target, c->loop, c->programs, c->arena, &c->exec, err) <
		    0 ||
	    metrics_server_start(c->loop, &msc, &c->metrics_server, err) < 0 ||
	    git_hooks_start(c->loop, &hc, &c->hooks, err) < 0 || connect_all(c, err) < 0)
		return -err->code;
	if (begin(c, err) == 0)
		return 0;
	if (!stands_by(c, err))
		return -err->code;
	term_print("alm controller: standing by, %s\n", err->msg);
	(void)term_flush();
	*err = ERROR_INIT;
	return 0;
}

static void release(struct controller_command *c)
{
	stop_acting(c);
	git_hooks_free(c->hooks);
	records_free(c->records);
	approval_hook_free(c->approvals);
	leader_free(c->leader);
	disk_watch_free(c->disk);
	pruner_free(c->pruner);
	audit_close(c->audit); /* its anchors hear of the last checkpoint */
	anchors_free(c->anchors);
	client_free(c->client);
	exec_run_free(c->exec);
	transport_free(c->transport);
	metrics_server_free(c->metrics_server);
	alert_sender_close(&c->alert_sender);
	metrics_free(c->metrics);
	db_close(c->db);
	source_access_close(&c->access);
	programs_free(c->programs);
	sandbox_free(c->sandbox);
	loop_free(c->loop);
	arena_free(c->arena);
}

static int run(struct cli *cli, struct error *err)
{
	struct controller_command c = {.cli = cli,
				       .data_dir = cli_value(cli, "data-dir"),
				       .metrics_listen = cli_value(cli, "metrics-listen"),
				       .alertmanager = cli_value(cli, "alertmanager"),
				       .standby = cli_flag(cli, "standby")};
	if (!c.data_dir)
		return error_set(err, E_USAGE,
				 "--data-dir is missing: the folder of the audit log");
	if (cli_duration(cli, "verify-soak", VERIFY_SOAK_NS, &c.verify_soak_ns, err) < 0 ||
	    render_cpu_read(cli, err) < 0 || allowed_hosts_read(cli, &c.hosts, err) < 0)
		return -err->code;
	if (process_become(cli_value(cli, "user"), err) < 0 ||
	    anchor_setup_parse(cli, c.data_dir, "configmap", false, &c.setup, err) < 0)
		return -err->code;
	c.origin = cli_value(cli, "audit-origin");
	c.err = err;
	c.arena = arena_new(KUBECONFIG_BYTES_MAX * 4);
	c.loop = loop_event_new();
	if (start(&c, err) == 0) {
		loop_on_signal(c.loop, on_signal, &c);
		loop_run(c.loop);
	}
	release(&c);
	return -err->code;
}

static const struct cmd_option options[] = {
	{"metrics-listen", "ADDR:PORT", "address of /metrics (default 127.0.0.1:8080), or off", 0},
	HOOKS_LISTEN_OPTION,
	RECORDS_LISTEN_OPTION,
	WEBHOOK_LISTEN_OPTION,
	{"user", "NAME", "started by root: become this user at once, who owns the data folder", 0},
	ALLOWED_HOST_OPTION,
	{"alertmanager", "URL", "where alerts of blocked upgrades go: http://HOST:PORT", 0},
	{"standby", NULL,
	 "while another process works with the folder, wait for its end and go on in its place", 0},
	{"verify-soak", "DURATION",
	 "how long workloads must stay available before a version is Installed (default 10s)", 0},
	RENDER_CPU_OPTION,
	SOURCE_ACCESS_OPTIONS,
	ANCHOR_OPTION,
	{0},
};

const struct cmd cmd_controller = {
	.name = "controller",
	.usage = "alm controller --data-dir DIR [--kubeconfig FILE] [--context NAME]",
	.summary = "run the controllers against a cluster",
	.description =
		"The cluster is that of --kubeconfig, $KUBECONFIG or ~/.kube/config, or the one "
		"this runs in. The CRDs of ALM are created there where the rights suffice; else "
		"kubectl apply -f crds/ comes first. DIR holds the audit log, and one process at a "
		"time works with it. A cluster has one log and so one controller: a second one "
		"with a folder of its own is refused by what ConfigMap alm-system/alm-audit-anchor "
		"remembers; to move the controller, move DIR (or say alm audit accept-gap, if it "
		"is "
		"lost). The Lease alm-system/alm-controller keeps the former one from acting while "
		"both run. Processes that share DIR, on one machine, take turns with --standby. "
		"A program that the kubeconfig names for credentials (exec) is run only if "
		"--allow-exec-plugin has its path, with $HOME, $PATH and what the kubeconfig gives "
		"it as its variables. "
		"Stays in the foreground until SIGINT or SIGTERM.",
	.examples = "alm controller --data-dir /var/lib/alm-controller --context prod",
	.options = options,
	.is_service = true,
	.run = run,
};
