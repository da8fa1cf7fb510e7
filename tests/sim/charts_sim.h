/* charts_sim: small archives of one operator, built from texts, for the catalog folder. */
#ifndef TESTS_SIM_CHARTS_SIM_H
#define TESTS_SIM_CHARTS_SIM_H

#include "tests/sim/world.h"

#define CATALOG_DIR "/catalog"

/* Which versions of etcds.etcd.coreos.com an archive serves; v1 is stored as long as it is served,
 * unless told otherwise. */
enum chart_serves { SERVES_V1 = 1, SERVES_V2 = 2, STORES_V2 = 4 };

/* Puts etcd-operator-VERSION.tgz into the folder. */
void charts_put(struct world *w, const char *version, unsigned serves);
/* Puts NAME-VERSION.tgz with one template and no CRD. */
void charts_put_text(struct world *w, const char *name, const char *version, const char *template);
/* The same with a ConfigMap. */
void charts_put_plain(struct world *w, const char *name, const char *version);

extern const struct source_files charts_files; /* arg: the world; set it in a copy */

#endif
