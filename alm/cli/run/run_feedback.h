/*
 * run_feedback: what a run tells besides its output: transitions to a webhook (webhook.h), numbers
 * and health to whoever asks (metrics_server.h).
 */
#ifndef ALM_CLI_RUN_RUN_FEEDBACK_H
#define ALM_CLI_RUN_RUN_FEEDBACK_H

#include "alm/audit/audit.h"
#include "alm/cli/cli.h"
#include "alm/io/metrics.h"

struct run_feedback;

/* What the flags say; E_USAGE before anything is opened. */
int run_feedback_check(const struct cli *c, struct error *err);
/* The log is open and nothing was written to it yet. Borrows all. */
int run_feedback_open(const struct cli *c, struct loop *l, struct audit *audit, struct db *db,
		      struct run_feedback **ret, struct error *err);
struct metrics *run_feedback_metrics(struct run_feedback *f);
/* An attempt of an instance begins; it has ended, err NULL: well. */
void run_feedback_begin(struct run_feedback *f, const char *instance);
void run_feedback_end(struct run_feedback *f, const char *instance, const struct error *err);
/* Waits until the webhook knows all, for RUN_FEEDBACK_WAIT_NS at most; what is left over then is
 * told by the next run with the same --audit-log. */
#define RUN_FEEDBACK_WAIT_NS (15 * NS_PER_S)
void run_feedback_finish(struct run_feedback *f);
void run_feedback_free(struct run_feedback *f);

/* Rows of struct cmd.options. */
#define RUN_FEEDBACK_OPTIONS                                                      \
	{"feedback.webhook", "URL",                                               \
	 "a CloudEvent to this URL for each transition, until it is taken", 0},   \
		{"feedback.webhook.secret-file", "FILE",                          \
		 "signs them (X-ALM-Signature-256: sha256=HMAC of the body)", 0}, \
		{"metrics-listen", "ADDR:PORT", "/metrics, /healthz and /readyz there", 0}

#endif
