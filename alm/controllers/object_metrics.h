/*
 * object_metrics: the alm_* series of strategies, catalogs, definitions and records (lifecycle.md
 * 4.5), each from the object or record alone. metrics may be NULL everywhere: nothing is counted.
 */
#ifndef ALM_CONTROLLERS_OBJECT_METRICS_H
#define ALM_CONTROLLERS_OBJECT_METRICS_H

#include <stdbool.h>
#include <stdint.h>

struct audit_row;
struct metrics;
struct obj;

/* An AppType or InstallStrategy: alm_state_overdue{kind,name}. */
void object_metrics_overdue(struct metrics *m, const struct obj *o, bool gone);
/* alm_phase_seconds{phase} of the phase that ended between before and o, and
 * alm_approval_pending_seconds{app}. before may be NULL; gone: o is as it was last. */
void object_metrics_strategy(struct metrics *m, const struct obj *before, const struct obj *o,
			     bool gone);
/* alm_catalog_info{catalog,digest}, alm_catalog_entries_rejected{catalog}. */
void object_metrics_catalog(struct metrics *m, const struct obj *o, bool gone);
/* A sync that succeeded: alm_catalog_last_success_timestamp_seconds{catalog}. */
void object_metrics_synced(struct metrics *m, const char *catalog, int64_t now_ns);
/* alm_migration_remaining{crd}, as alm crd migrate notes it on the definition. */
void object_metrics_crd(struct metrics *m, const struct obj *crd, bool gone);
/* alm_bundle_state{bundle,state}, alm_bundle_held{bundle,reason}. */
void object_metrics_bundle(struct metrics *m, const struct obj *o, bool gone);
/* alm_resolve_seconds, alm_resolve_decisions: one search for the version to install. */
void object_metrics_resolved(struct metrics *m, int64_t took_ns, int64_t decisions);
/* alm_audit_rows_total{type,reason}, alm_drift_repaired_total{app},
 * alm_gate_findings_total{rule,outcome}; for audit_on_row(), metrics as its arg. */
void object_metrics_row(void *metrics, const struct audit_row *row);

#endif
