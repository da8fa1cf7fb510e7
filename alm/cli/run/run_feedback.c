#include "alm/cli/run/run_feedback.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/map.h"
#include "alm/cli/run/run_report.h"
#include "alm/cli/term.h"
#include "alm/client/webhook.h"
#include "alm/io/metrics_server.h"

#define SECRET_BYTES_MAX 4096
#define URL_FLAG         "feedback.webhook"
#define SECRET_FLAG      "feedback.webhook.secret-file"

struct run_feedback {
	struct loop *loop;
	struct metrics *metrics;
	struct metrics_server *server;
	struct transport *transport;
	struct webhook *webhook;
	struct run_report *report;
	struct audit *audit;
	struct map *began; /* instance -> milliseconds, monotonic, of its attempt */
	bool succeeded, over;
	struct timer timer;
};

/* "https://host:port" and "/path?query", in the arena. */
static int split_url(const struct cli *c, const char *url, const char **ret_base,
		     const char **ret_target, struct error *err)
{
	const char *host = strstr(url, "://");
	bool known = cstr_has_prefix(url, "https://") || cstr_has_prefix(url, "http://");
	if (!known || !host[3] || host[3] == '/' || strpbrk(url, "@#"))
		return error_set(err, E_USAGE,
				 "--" URL_FLAG " %.200s: want https://HOST[:PORT]/PATH, without "
				 "user name and fragment",
				 url);
	const char *path = strchr(host + 3, '/');
	*ret_base = path ? arena_strndup(c->arena, url, (size_t)(path - url)) : url;
	*ret_target = path ? path : "/";
	return 0;
}

int run_feedback_check(const struct cli *c, struct error *err)
{
	const char *base, *target, *url = cli_value(c, URL_FLAG);
	if (!url && cli_value(c, SECRET_FLAG))
		return error_set(err, E_USAGE, "--" SECRET_FLAG " without --" URL_FLAG);
	return url ? split_url(c, url, &base, &target, err) : 0;
}

static void on_commit(void *arg, int64_t from, int64_t to)
{
	struct run_feedback *f = arg;
	(void)from;
	(void)to;
	if (f->webhook)
		webhook_poke(f->webhook);
	run_report_poke(f->report);
}

static bool is_idle(const struct run_feedback *f)
{
	return (!f->webhook || webhook_is_idle(f->webhook)) && run_report_is_idle(f->report);
}

static void on_idle(void *arg)
{
	struct run_feedback *f = arg;
	if (f->over && is_idle(f))
		loop_stop(f->loop);
}

static int read_secret(const struct cli *c, struct strbuf *b, struct error *err)
{
	const char *file = cli_value(c, SECRET_FLAG);
	if (!file)
		return 0;
	if (file_read_input(file, b, err) < 0)
		return error_wrap(err, "--" SECRET_FLAG);
	if (!str_trim(strbuf_str(b)).len)
		return error_set(err, E_USAGE, "--" SECRET_FLAG " %.200s: is empty", file);
	return 0;
}

static int open_webhook(struct run_feedback *f, const struct cli *c, struct audit *audit,
			struct db *db, struct error *err)
{
	const char *base, *target, *url = cli_value(c, URL_FLAG);
	CLEANUP(strbuf_release) struct strbuf secret = STRBUF_INIT(SECRET_BYTES_MAX);
	if (!url)
		return 0;
	if (split_url(c, url, &base, &target, err) < 0 || read_secret(c, &secret, err) < 0)
		return -err->code;
	struct transport_config tc = {.base_url = base, .user_agent = "alm/" ALM_VERSION};
	if (transport_curl_new(f->loop, &tc, &f->transport, err) < 0)
		return error_wrap(err, "--" URL_FLAG);
	struct webhook_config wc = {.loop = f->loop,
				    .transport = f->transport,
				    .target = target,
				    .name = url,
				    .secret = str_trim(strbuf_str(&secret)),
				    .audit = audit,
				    .db = db,
				    .metrics = f->metrics,
				    .idle = on_idle,
				    .arg = f};
	if (webhook_new(&wc, &f->webhook, err) < 0)
		return -err->code;
	return 0;
}

static const char *not_ready(void *arg)
{
	const struct run_feedback *f = arg;
	return f->succeeded ? NULL : "no run has succeeded yet";
}

int run_feedback_open(const struct cli *c, struct loop *l, struct audit *audit, struct db *db,
		      struct run_feedback **ret, struct error *err)
{
	const char *listen = cli_value(c, "metrics-listen");
	struct run_feedback *f = xcalloc(1, sizeof(*f));
	f->loop = l;
	f->metrics = metrics_new();
	f->began = map_new(NULL);
	struct metrics_server_config mc = {.listen = listen ? listen : "off",
					   .metrics = f->metrics,
					   .not_ready = not_ready,
					   .arg = f};
	*ret = f;
	f->audit = audit;
	if (metrics_server_start(l, &mc, &f->server, err) < 0)
		return -err->code;
	const struct run_report_log log = {audit, db, on_idle, f};
	if (run_report_open(c, l, &log, &f->report, err) < 0 ||
	    open_webhook(f, c, audit, db, err) < 0)
		return -err->code;
	if (f->webhook || f->report)
		audit_on_commit(audit, on_commit, f);
	return 0;
}

struct metrics *run_feedback_metrics(struct run_feedback *f)
{
	return f->metrics;
}

void run_feedback_begin(struct run_feedback *f, const char *instance)
{
	map_set_number(f->began, instance, (size_t)(loop_mono(f->loop) / NS_PER_MS));
}

/* Names of Locutus. */
void run_feedback_end(struct run_feedback *f, const char *instance, const struct error *err)
{
	static const char name[] = "rollout_execution_duration_seconds";
	static const char help[] = "Time that runs have taken.";
	int64_t now = loop_mono(f->loop);
	int64_t began = (int64_t)map_number(f->began, instance) * NS_PER_MS;
	int64_t span = began ? now - began : 0;
	struct metric *failed = metrics_counter(f->metrics, "rollout_executions_failed_total",
						"Runs that failed.", NULL);
	metric_add(metrics_summary(f->metrics, name, help, "_sum", true),
		   (uint64_t)(span > 0 ? span : 0));
	metric_add(metrics_summary(f->metrics, name, help, "_count", false), 1);
	metric_add(metrics_counter(f->metrics, "rollout_executions_total",
				   "Runs that have ended, well or not.", NULL),
		   1);
	(void)map_del(f->began, instance);
	if (err)
		metric_add(failed, 1);
	else
		f->succeeded = true;
}

static void close_all(struct run_feedback *f)
{
	if (f->webhook || f->report)
		audit_on_commit(f->audit, NULL, NULL);
	webhook_free(STEAL(f->webhook));
	run_report_free(STEAL(f->report));
}

/* No more waiting: the time is over, or somebody is in a hurry. */
static void too_late(void *arg)
{
	struct run_feedback *f = arg;
	term_error("alm: the webhook, or the database, did not take all events; a run with the "
		   "same --audit-log tells the others\n");
	close_all(f);
	loop_stop(f->loop);
}

static void on_signal(void *arg, int signal)
{
	(void)signal;
	too_late(arg);
}

void run_feedback_finish(struct run_feedback *f)
{
	if (!f || (!f->webhook && !f->report))
		return;
	f->over = true;
	f->timer = (struct timer){.fn = too_late, .arg = f};
	loop_arm(f->loop, &f->timer, RUN_FEEDBACK_WAIT_NS);
	loop_on_signal(f->loop, on_signal, f);
	while (!is_idle(f))
		loop_run(f->loop);
	loop_disarm(f->loop, &f->timer);
}

void run_feedback_free(struct run_feedback *f)
{
	if (!f)
		return;
	close_all(f);
	transport_free(f->transport);
	metrics_server_free(f->server);
	metrics_free(f->metrics);
	map_free(f->began);
	xfree(f);
}
