/* admit_platform: what the server adds of its own to Pods, Nodes, DaemonSets, Leases and drivers; the rows are in admit.c, and for it
 * alone. default: before managedFields are told; late: nobody owns it. */
#ifndef ALM_APISERVER_ADMIT_PLATFORM_H
#define ALM_APISERVER_ADMIT_PLATFORM_H

#include "alm/apiserver/mutation.h"
#include "alm/obj/field_error.h"

void admit_pod_default(struct mutation *m);
void admit_node_default(struct mutation *m);
void admit_node_late(struct mutation *m);
void admit_slice_late(struct mutation *m);
void admit_claim_late(struct mutation *m);
void admit_volume_late(struct mutation *m);
/* Who asks is the server's to say, and what is asked stays. */
void admit_request_late(struct mutation *m);
/* A number that is always shown. */
void admit_priority_late(struct mutation *m);
void admit_revision_late(struct mutation *m);
void admit_job_default(struct mutation *m);
void admit_job_late(struct mutation *m);
void admit_job_validate(struct mutation *m, struct field_errors *e);
void admit_lease_late(struct mutation *m);
void admit_driver_late(struct mutation *m);
void admit_daemon_default(struct mutation *m);
void admit_daemon_late(struct mutation *m);
/* Of ResourceSlices: since when a taint is there; without fields of features that are off (admit_devices.c). */
void admit_devices_default(struct mutation *m);
void admit_devices_late(struct mutation *m);
/* Without fields of features that are off. */
void admit_pod_late(struct mutation *m);
void admit_cron_late(struct mutation *m);
void admit_pod_template_late(struct mutation *m);
void admit_template_late(struct mutation *m);
void admit_stateful_late(struct mutation *m);

/* What only the server can judge: is there a zone of that name, may devices be asked for in this namespace? */
void admit_device_validate(struct mutation *m, struct field_errors *e);

/* Of a Pod that its node leaves in time (DefaultTolerationSeconds); of others nothing. Before webhooks are asked. */
void admit_tolerations(struct mutation *m);

/* --- admit_new.c: what more than the object is needed for --- */
void admit_cron_validate(struct mutation *m, struct field_errors *e);
void admit_ingress_validate(struct mutation *m, struct field_errors *e);

/* --- admit_places.c: Pods among others --- */
/* A new one's selectors of other Pods get what its own labels say of matchLabelKeys and mismatchLabelKeys (KEP-3633, KEP-3243). */
void admit_places_late(struct mutation *m);

/* --- admit_notes.c: what the annotations of a Pod mean --- */
/* A new one's profiles of AppArmor get their fields. */
void admit_notes_late(struct mutation *m);
void admit_notes_validate(struct mutation *m, struct field_errors *e);

/* --- admit_secret.c --- */
/* What is wrong with a pair of keys is told, if nothing else is. */
void admit_secret_validate(struct mutation *m, struct field_errors *e);

#endif
