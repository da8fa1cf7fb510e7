/* defaults: those of a CRD that code needs of an object which no server has filled in. Each stands here
 * and in the YAML; test_crds compares them. */
#ifndef CRDS_DEFAULTS_H
#define CRDS_DEFAULTS_H

/* AppType */
#define APPTYPE_CHANNEL       "stable" /* spec.channel */
#define APPTYPE_APPROVAL_TTL  "72h"    /* spec.upgrade.approvalTTL */
#define APPTYPE_HISTORY_LIMIT 10       /* spec.historyLimit */

#endif
