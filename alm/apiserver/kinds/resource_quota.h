/*
 * resource_quota: what one object takes of a ResourceQuota, in the words of the real server. Pure.
 *
 * Names of spec.hard: count/PLURAL[.GROUP] counts the objects of any namespaced resource, as do configmaps, secrets,
 * services, replicationcontrollers, resourcequotas and persistentvolumeclaims; pods counts those that have not ended.
 * What follows is measured on each object: cpu, memory, ephemeral-storage and hugepages-SIZE (also as requests.NAME),
 * limits.NAME of the first three, requests.NAME of an extended resource, of Pods that have not ended; services.nodeports
 * and services.loadbalancers; requests.storage, and both names of claims with CLASS.storageclass.storage.k8s.io/ before it.
 */
#ifndef ALM_APISERVER_KINDS_RESOURCE_QUOTA_H
#define ALM_APISERVER_KINDS_RESOURCE_QUOTA_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"
#include "alm/obj/quantity.h"

/* Is it one of the three kinds of which more than the number counts? */
bool quota_measures(const char *group, const char *plural);
/* The resource of which the name counts every object, "count/deployments.apps" and its like. False: it is measured. */
bool quota_counts(const char *name, struct str *ret_group, struct str *ret_plural);
/* What an object of the resource takes of the name; false: nothing that is measured. */
bool quota_takes(const char *group, const char *plural, const struct obj *o, const char *name,
		 struct quantity *ret);
/* Does any name of the quota's spec.hard concern objects of the resource, and do its scopes cover this one? */
bool quota_covers(const struct obj *quota, const char *group, const char *plural,
		  const struct obj *o);
/* "limits.memory for: c; requests.cpu for: c,d" of containers that do not state what the quota limits; NULL: none. */
const char *quota_unstated(const struct obj *quota, const struct obj *pod, struct arena *a);

/* Is there anything of which the name could tell how much is used? */
bool quota_is_measured(const char *name);

/* What is wrong with the quota itself, and with a change of it (resource_quota_check.c). */
/* An amount of that name, which is not below zero, and whole where parts of it are nothing. */
void quota_check_amount(struct field_errors *e, const char *path, const char *name,
			const char *text);
void quota_check_status(struct field_errors *e, const struct obj *quota);
void quota_check_spec(struct field_errors *e, const struct obj *quota);
void quota_check_kept(struct field_errors *e, const struct obj *quota, const struct obj *before);

#endif
