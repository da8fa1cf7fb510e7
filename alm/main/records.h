/*
 * records: the log's AuditRecords for the users of a cluster (`kubectl get auditrecords`), as an
 * aggregated API: TLS on an address of its own (--records-listen), behind APIService
 * v1alpha1.audit.app.coreos.com and Service alm-system/alm-records. Who asks and what he may is
 * said by the cluster (delegated.h); what is answered is the embedded API server's
 * (apiserver_config.records_only).
 *
 * Certificates are ALM's own: a CA in the data folder (records-ca.crt, records-ca.key; own_ca.h),
 * which stands in spec.caBundle of the APIService and is replaced without losing a request
 * (injected_ca.h); of it a serving certificate in memory for 30 days (serving_cert.h).
 */
#ifndef ALM_MAIN_RECORDS_H
#define ALM_MAIN_RECORDS_H

#include "alm/audit/audit.h"
#include "alm/client/client.h"

#define RECORDS_HOST    "alm-records.alm-system.svc"
#define RECORDS_SERVICE "v1alpha1.audit.app.coreos.com"
#define RECORDS_MAX     256 /* questions to the cluster under way; more are answered 429 */

struct records_config {
	const char *listen; /* NULL: none */
	const char *data_dir;
	struct audit *audit;
	struct client *client;
	const char *const *hosts; /* as of metrics_server.h; borrowed */
	size_t n_hosts;
};

/* *ret NULL: there is none. The texts are borrowed. */
struct records;
/* Whether listen (NULL: none) can be listened on; it is not, and nothing is written. E_USAGE, E_IO,
 * E_EXISTS. */
int records_check(struct loop *l, const char *listen, struct error *err);
int records_start(const struct records_config *c, struct records **ret, struct error *err);
/* Whether the APIService is ours to write; NULL is fine. */
void records_lead(struct records *r, bool leads);
const char *records_address(const struct records *r); /* "127.0.0.1:41873" */
void records_free(struct records *r);                 /* before the log is closed */

#define RECORDS_LISTEN_OPTION                                                                    \
	{"records-listen", "ADDR:PORT",                                                          \
	 "address of the AuditRecords for the cluster's API server (kubectl get auditrecords), " \
	 "over TLS; APIService v1alpha1.audit.app.coreos.com leads to it (default: none)",       \
	 0}

#endif
