/*
 * approval_hook: the validating webhook for approvals (approval_review.h), which the API server of a
 * cluster without ValidatingAdmissionPolicies calls: POST /approvals over TLS on an address of its own
 * (--webhook-listen), behind ValidatingWebhookConfiguration approvals.opinstaller.coreos.com and
 * Service alm-system/alm-webhook (deploy/approval-webhook.yaml).
 *
 * Certificates are ALM's own: webhook-ca.crt and .key in the data folder (injected_server.h). Who calls
 * is not asked: a verdict tells nothing but what stands in the question. So anybody of the cluster's
 * network may send slowly: a body has 5 s, and 100 ms when others want its place (server.h).
 *
 * 200 with the verdict; 400 no review of an InstallStrategy; 404, 405 another request; 413 over
 * APPROVAL_REVIEW_BYTES_MAX; 429 while 32 reviews or 32 MiB of them are read that began less than
 * 100 ms ago, which the API server asks again after.
 */
#ifndef ALM_MAIN_APPROVAL_HOOK_H
#define ALM_MAIN_APPROVAL_HOOK_H

#include "alm/client/client.h"

#define APPROVAL_HOOK_HOST "alm-webhook.alm-system.svc"

struct approval_hook_config {
	const char *listen; /* NULL: none */
	const char *data_dir;
	struct client *client;
	const char *const *hosts; /* as of metrics_server.h; borrowed */
	size_t n_hosts;
};

/* Whether it would get its address now. E_USAGE: it is the one of the records. */
int approval_hook_check(struct loop *l, const char *listen, const char *records_listen,
			struct error *err);
/* *ret NULL: there is none. The texts are borrowed. */
struct approval_hook;
int approval_hook_start(const struct approval_hook_config *c, struct approval_hook **ret,
			struct error *err);
/* Whether the configuration is ours to write; NULL is fine. */
void approval_hook_lead(struct approval_hook *h, bool leads);
/* As injected_ca_bundle(); NULL: there is none. */
const char *const *approval_hook_bundle(const struct approval_hook *h);
const char *approval_hook_address(const struct approval_hook *h); /* "127.0.0.1:41873" */
void approval_hook_free(struct approval_hook *h);

#define WEBHOOK_LISTEN_OPTION                                                                  \
	{"webhook-listen", "ADDR:PORT",                                                        \
	 "address of the validating webhook that ties approvals to who gives them, over TLS, " \
	 "for clusters before Kubernetes 1.30; ValidatingWebhookConfiguration "                \
	 "approvals.opinstaller.coreos.com leads to it (default: none)",                       \
	 0}

#endif
