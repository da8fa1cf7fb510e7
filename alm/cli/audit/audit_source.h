/*
 * audit_source: the log that "alm audit" reads: an archive (--file), the database of the data
 * folder, read-only also beside a running server, or the AuditRecords of another server.
 */
#ifndef ALM_CLI_AUDIT_AUDIT_SOURCE_H
#define ALM_CLI_AUDIT_AUDIT_SOURCE_H

#include "alm/audit/query.h"
#include "alm/audit/verify.h"
#include "alm/cli/cli.h"
#include "alm/client/discovery.h"

enum audit_source_type { AUDIT_DATABASE, AUDIT_ARCHIVE, AUDIT_API };

struct audit_source {
	enum audit_source_type type;
	struct db *db;
	const char *dir; /* of AUDIT_DATABASE: the folder, with the keys */
};

extern const struct resource audit_source_records; /* auditrecords */
/* Of the database, where there is one. */
const char *audit_source_path(struct cli *c);
int audit_source_open(struct cli *c, struct audit_source *ret, struct error *err);
void audit_source_release(struct audit_source *s);

/* --subject --actor --type --reason --since --until --from-seq --cluster. */
int audit_source_selector(struct cli *c, const struct audit_source *s, struct query_selector *ret,
			  struct error *err);
/* RFC 3339, or a span before now ("24h"). */
int audit_source_time(const char *text, int64_t now_us, int64_t *ret_us, struct error *err);
int64_t audit_source_now_us(void);

/* For verify_options: arg is the source. The objects in the server's tables of the same database
 * that have Write records. */
int audit_source_objects(void *arg, verify_object_fn fn, void *fn_arg, struct error *err);
/* Whether there are such tables. */
bool audit_source_has_objects(struct db *d);
/* Whether the log, or the one that audit.head remembers where there is none, is of `alm run`: no database of a server
 * is, whatever its origin says. */
bool audit_source_is_of_runs(const struct audit_source *s);
/* The command as it asks the cluster of the kubeconfig, whatever --data-dir says. */
struct cli audit_source_cluster(const struct cli *c);
/* The statuses of ALM's kinds on the cluster of the kubeconfig; arg is the struct cli. */
int audit_source_statuses(void *arg, verify_object_fn fn, void *fn_arg, struct error *err);

#endif
