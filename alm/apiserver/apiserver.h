/*
 * apiserver: the whole embedded, Kubernetes-compatible API server behind one function.
 *
 * apiserver_handle() takes an exchange and answers it: reads at once, writes after the group commit
 * of the turn, watches as streams. It does no I/O but db.h; clock, randomness and deferred work
 * come through the loop, so the simulation drives all of it. kube-api.md is the contract.
 */
#ifndef ALM_APISERVER_APISERVER_H
#define ALM_APISERVER_APISERVER_H

#include "alm/audit/audit.h"
#include "alm/audit/disk_watch.h"
#include "alm/io/db.h"
#include "alm/io/loop.h"
#include "alm/io/metrics.h"
#include "alm/io/server.h"
#include "alm/io/transport.h"

struct apiserver;

struct apiserver_token {
	const char *token, *user, *uid;
	const char *const *groups;
	size_t n_groups;
};

struct apiserver_config {
	struct db *db;
	struct loop *loop;
	struct audit *audit;
	struct disk_watch *disk; /* NULL: the disk has room */
	const struct apiserver_token *tokens;
	size_t n_tokens;
	/* P-256 keys in PEM form. The first signs ServiceAccount tokens, NULL: one is made that
	 * dies with the server; tokens that the old one signed stay valid. */
	const char *account_key, *account_old_key;
	const char *ca_pem;  /* goes into ConfigMap kube-root-ca.crt; "" in tests */
	const char *address; /* advertised host:port */
	bool simulate_workloads;
	bool no_legacy; /* documents of 2017 are refused as written (crds/legacy.h) */
	/* Nothing but the AuditRecords of audit is served, to whom others have let in
	 * (apiserver_asks()): the store is empty and stays so, tokens are not looked at. */
	bool records_only;
	bool own_controllers; /* they run in this process and name their entries (approval.h) */
	/* How webhooks are reached: transport_curl_new(). NULL: none is called, which is a failure of
	 * its call. */
	int (*dial)(struct loop *l, const struct transport_config *c, struct transport **ret,
		    struct error *err);
	struct metrics *metrics; /* shown at /metrics, outlives the server; NULL: one of its own */
};

/* Loads every object head into memory; creates the default namespaces on an empty store. */
int apiserver_new(const struct apiserver_config *c, struct apiserver **ret, struct error *err);
void apiserver_free(struct apiserver *s);
/* What the start found that an administrator should know, a sentence each. Borrowed; NULL past the
 * end. */
const char *apiserver_notice(const struct apiserver *s, size_t i);
#define APISERVER_NOTICES_MAX 64

void apiserver_handle(struct apiserver *s, struct exchange *x);
/* Authenticates at the head of a request, before its body: a server_admit. What is everybody's
 * (health) is answered, and who is nobody gets his 401. The client is the one that asks, not the
 * one it impersonates. */
bool apiserver_admit(struct apiserver *s, struct exchange *x, struct server_client *ret);

/* With records_only: what a request wants, texts of its arena, for whoever decides; version of
 * group. Negative: it is no request, and was answered. */
struct rbac_attributes;
int apiserver_asks(struct apiserver *s, struct exchange *x, struct rbac_attributes *ret,
		   const char **ret_version);
/* Refuses what apiserver_asks() was told: E_FORBIDDEN in the words of the real server about user. */
void apiserver_refuse(struct exchange *x, const char *user, const struct error *err);

#endif
