/* own_volume: the PersistentVolume of the audit log on a cluster where nobody makes volumes: a folder of
 * one node, which an administrator made there (alm install --to-cluster --log-volume NODE:/PATH). The
 * kubelet gives it to the group of the Pod; the Pod runs on that node alone. */
#ifndef ALM_CLI_APP_OWN_VOLUME_H
#define ALM_CLI_APP_OWN_VOLUME_H

#include "alm/cli/session.h"
#include "alm/obj/yaml.h"

#define OWN_VOLUME_TARGET "/api/v1/persistentvolumes/alm-log"

/* Of --log-volume; nothing without. E_USAGE. To be released. */
int own_volume_read(struct cli *c, struct yaml_documents *ret, struct error *err);
/* E_REFUSED: there is no such node, the claim would get a volume of the cluster's default StorageClass instead, or a
 * volume of that name is there that is not ours. That one is there already is no error: it is the second time; whose claim is
 * gone is freed for the next one. */
int own_volume_check(struct cli *c, struct session *s, struct error *err);
/* Of the one that is there: E_REFUSED if it is somebody else's. */
int own_volume_take(const struct obj *volume, struct error *err);
/* Whether it is one that was made so. */
bool own_volume_is_ours(const struct obj *volume);

#endif
