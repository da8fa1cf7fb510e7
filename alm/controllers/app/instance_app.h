/*
 * instance_app: an instance of a resource in place (AppType spec.resources) that names a chart is an application of its
 * own: an AppType that ALM makes of it, with the chart as spec.operator (alm/sources/inplace.h). So what installs, checks,
 * upgrades, rolls back, logs and removes any other application does it here, and this is a translation. Pure.
 *
 *	spec.type                    helm
 *	spec.helmChart.template      HOST/NAME:TAG, looked up each INPLACE_TAG_NS, or HOST/NAME@sha256:DIGEST
 *	spec.helmChart.values        of the chart
 *	spec.helmChart.upgrades      automatic (true; false: another digest waits for an approval), strategy: rolling
 *
 * A registry that asks for a password is read with the Secret of the resource's secretRef in the AppType, which names the
 * servers that may see it; the instance names none.
 *
 * Whose rights. The AppType installs into the namespace of the instance, as the account of its own (account.h), which
 * gets the rights of a namespace's operator there and nothing in the cluster: whoever may create instances would else
 * have whatever a chart has. And that much only where whoever may write the Namespace consents, in its annotation
 * app.coreos.com/instances: names of the AppTypes whose instances may bring charts, with commas between, or "*".
 * Whoever may create those instances there, or AppTypes, then has these rights in that namespace.
 *
 * The values stand in the AppType and in its Catalog, so whoever reads these of the cluster reads them, too.
 *
 * Whose life. The AppType goes when the instance is gone, and its objects with it; it has no owner reference, since an
 * object of the cluster cannot have one in a namespace, and the instance no finalizer, since none of ALM's must keep a
 * custom resource. It outlives the AppType that brought the definition, as the instances do.
 *
 * What is told. status.outputs has each of the outputs that the resource declares: of ConfigMap APPTYPE-outputs, which
 * the chart may have, else of the values.
 */
#ifndef ALM_CONTROLLERS_APP_INSTANCE_APP_H
#define ALM_CONTROLLERS_APP_INSTANCE_APP_H

#include "alm/obj/obj.h"

#define INSTANCE_APP_NAME_MAX 53 /* of a Helm release */

/* "PLURAL.GROUP/NAMESPACE/NAME". False: it is none. */
struct instance_key {
	const char *crd, *ns, *name; /* ns NULL: of the cluster */
};
bool instance_key_read(const char *key, struct arena *a, struct instance_key *ret);
/* Of the AppType that was made of an instance: its key; NULL: it was made otherwise. */
const char *instance_of(const struct obj *apptype);
/* Name of the AppType that brought the resource of that instance. */
const char *instance_parent(const struct obj *apptype);

/* Name of the AppType: that of the instance, and ten digits of the key's digest. */
const char *instance_app_name(const char *key, struct arena *a);
/* Does it name something to be installed? */
bool instance_is_app(const struct obj *instance);
/* What is wrong with it, "spec.helmChart.template: ..."; NULL: nothing. */
const char *instance_problem(const struct obj *instance, struct arena *a);
/* The AppType, owned. parent: the AppType that brought the resource, declared: its row of spec.resources. */
struct obj *instance_app(const struct obj *instance, const char *key, const struct obj *parent,
			 const struct obj *declared, struct arena *a);

/* Does the annotation instances of the Namespace name the AppType that brought the resource of apptype? */
bool instance_is_welcome(const struct obj *ns, const struct obj *apptype);

/* {NAME: value} of those of the declared outputs that have a value of their type, owned. of_chart: data of the chart's
 * ConfigMap, or NULL. */
struct obj *instance_outputs(const struct obj *declared, const struct obj *of_chart,
			     const struct obj *values);

#endif
