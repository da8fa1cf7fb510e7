/*
 * anchor_configmap: ConfigMap alm-system/alm-audit-anchor of the target cluster remembers the
 * newest checkpoint of the controllers' log (audit.md 4). It is written under the
 * resourceVersion that was read, so that a leader whose time is over loses.
 */
#ifndef ALM_ENGINE_ANCHOR_CONFIGMAP_H
#define ALM_ENGINE_ANCHOR_CONFIGMAP_H

#include "alm/audit/anchor.h"
#include "alm/client/client.h"

#define ANCHOR_CONFIGMAP_NS   "alm-system"
#define ANCHOR_CONFIGMAP_NAME "alm-audit-anchor"
#define ANCHOR_CONFIGMAP_KEY  "checkpoint"
#define ANCHOR_CONFIGMAP      "configmap:" ANCHOR_CONFIGMAP_NS "/" ANCHOR_CONFIGMAP_NAME

struct anchor *anchor_configmap_new(struct client *c);

#endif
