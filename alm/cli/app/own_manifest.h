/* own_manifest: what `kubectl apply -f deploy/manifests/alm.yaml` brings onto a cluster, as the
 * program carries it: alm install --to-cluster and alm uninstall --from-cluster. */
#ifndef ALM_CLI_APP_OWN_MANIFEST_H
#define ALM_CLI_APP_OWN_MANIFEST_H

#include "alm/cli/session.h"
#include "alm/obj/yaml.h"

#define OWN_NAMESPACE  "alm-system"
#define OWN_DEPLOYMENT "alm-controller"

/* image: a reference that the Deployment gets, NULL: as it stands. E_USAGE. To be released. */
int own_manifest_read(struct cli *c, const char *image, struct yaml_documents *ret,
		      struct error *err);
/* The live Deployment, NULL without one. */
int own_manifest_deployment(struct session *s, const struct obj **ret, struct error *err);
/* The Helm release that made it, or NULL. */
const char *own_manifest_release(const struct obj *deployment);
/* A kind of Kubernetes 1.30 that an older server does not have: admission policies. */
bool own_manifest_may_lack(const struct obj *o);

/* alm install --to-cluster */
int own_manifest_install(struct cli *c, struct error *err);

#endif
