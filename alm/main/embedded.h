/*
 * embedded: the API server of a data folder: listens, makes what the folder lacks (database, CA,
 * token) and writes the kubeconfig (0600). `alm server` is this alone, `alm up` adds the
 * controllers.
 */
#ifndef ALM_MAIN_EMBEDDED_H
#define ALM_MAIN_EMBEDDED_H

#include "alm/audit/audit.h"
#include "alm/io/loop.h"
#include "alm/io/server.h"
#include "alm/main/allowed_hosts.h"

struct cli;
struct embedded;
struct anchor_setup;
struct metrics;

struct embedded_config {
	const char *data_dir, *listen, *token_file;
	struct allowed_hosts hosts; /* also names of the serving certificate */
	bool simulate_workloads, no_audit;
	bool own_controllers;     /* they run in this process */
	bool no_legacy;           /* --legacy-yaml deny */
	const char *audit_origin; /* NULL: a random one */
	const struct anchor_setup *anchors;
	struct metrics *metrics; /* of the process, or NULL */
};

#define LEGACY_OPTION                                                            \
	{"legacy-yaml", "MODE",                                                  \
	 "warn (default): kubectl create of a document of 2017 stores the form " \
	 "of today; deny: it is refused",                                        \
	 0}
/* Its value; E_USAGE. */
int embedded_legacy(const struct cli *c, bool *ret_deny, struct error *err);

int embedded_start(const struct embedded_config *config, struct loop *l, struct embedded **ret,
		   struct error *err);
/* Ends streams and idle connections, then calls done. */
void embedded_stop(struct embedded *e, void (*done)(void *arg), void *arg);
void embedded_free(struct embedded *e);
DEFINE_FREEP(embedded)

const char *embedded_address(const struct embedded *e); /* "127.0.0.1:6443" */
const char *embedded_kubeconfig(const struct embedded *e);
const char *embedded_token(const struct embedded *e); /* of admin */
struct audit *embedded_audit(struct embedded *e);     /* NULL with no_audit */
struct db *embedded_db(struct embedded *e);
struct disk_watch *embedded_disk(struct embedded *e);
/* server_handler with the struct embedded as arg: for transport_local_new(). */
void embedded_handle(void *arg, struct exchange *x);

#endif
