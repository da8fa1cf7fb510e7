/* marks: finalizers, labels and annotations of ALM on objects of any kind. */
#ifndef CRDS_MARKS_H
#define CRDS_MARKS_H

#define APP_FINALIZER          "app.coreos.com/apptype"
#define STRATEGY_FINALIZER     "app.coreos.com/strategy"
#define BUNDLE_FINALIZER       "app.coreos.com/bundle"
#define LABEL_APP              "app.coreos.com/app"
#define LABEL_STRATEGY         "app.coreos.com/strategy"
#define ANNOTATION_APPLIED     "app.coreos.com/applied"
#define ANNOTATION_CRD_VERSION "app.coreos.com/crd-version" /* the version that applied a CRD */
#define ANNOTATION_OWNER       "app.coreos.com/owner"
#define ANNOTATION_RELEASED    "app.coreos.com/released"
#define ANNOTATION_MADE_BY     "app.coreos.com/made-by"
#define ANNOTATION_REQUIRED_BY "app.coreos.com/required-by"
#define ANNOTATION_DELETE_CRDS "app.coreos.com/delete-crds" /* named_crds.h */
#define ANNOTATION_RETRY       "app.coreos.com/retry"
#define ANNOTATION_APPS        "app.coreos.com/apps"      /* may be used for these AppTypes */
#define ANNOTATION_INSTANCES   "app.coreos.com/instances" /* of a Namespace: instance_app.h */
/* Of an AppType that ALM made of an instance: which, and of whose resource. */
#define ANNOTATION_OF_INSTANCE  "app.coreos.com/of-instance"
#define ANNOTATION_INSTANCE_APP "app.coreos.com/instance-of-app"
#define ANNOTATION_WAIT         "app.coreos.com/wait" /* disabled: readiness is not waited for */
/* Of a definition made from one of 2017: the group that it had then ("1.etcd.coreos.com"). */
#define ANNOTATION_LEGACY_GROUP "app.coreos.com/legacy-group"
#define SYSTEM_NAMESPACE        "alm-system"
#define CLUSTER_NAMESPACES      "alm-cluster-" /* of each cluster one, for its Installs */
#define INSTALL_NAMESPACE       CLUSTER_NAMESPACES "default"
/* Of the objects of a unit that no AppType made. */
#define LABEL_BUNDLE        "app.coreos.com/bundle"
#define LABEL_INSTANCE      "app.coreos.com/instance"
#define ANNOTATION_OWNER_ID "app.coreos.com/owner-id" /* HUB.BUNDLE.INSTANCE */
#define ANNOTATION_INTENT   "app.coreos.com/intent"   /* the key of the object */
#define ANNOTATION_ONE_OFF  "app.coreos.com/one-off"  /* true: created, never changed */
#define ANNOTATION_FORCE    "app.coreos.com/force"    /* true: deleted and made anew (switches.h) */
/* Of an inventory: the unit that was begun last; ANNOTATION_APPLIED: that succeeded last. */
#define ANNOTATION_UNIT       "app.coreos.com/unit"
#define ANNOTATION_INCOMPLETE "app.coreos.com/incomplete" /* of an inventory that was lost */
#define ANNOTATION_PIECES     "app.coreos.com/pieces" /* of one in several ConfigMaps: how many */
#define ANNOTATION_MAIN \
	"app.coreos.com/main" /* of an inventory: the object it is run for (inventory.h) */
#define ANNOTATION_PRUNE "app.coreos.com/prune" /* disabled: never deleted */
/* The last run that may be deleting the object: it was written since, so that deletion does not fit. */
#define ANNOTATION_FENCE "app.coreos.com/fence"

/* Value of ANNOTATION_OWNER: a CRD that whoever provides it may have. */
#define OWNER_ANYBODY "alm"

#endif
