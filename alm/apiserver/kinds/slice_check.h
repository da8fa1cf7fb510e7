/* slice_check: what is wrong with DeviceClasses and ResourceSlices (resource.k8s.io), in the words of Kubernetes 1.36
 * (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_SLICE_CHECK_H
#define ALM_APISERVER_KINDS_SLICE_CHECK_H

#include "alm/base/map.h"
#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_device_class(struct field_errors *e, const struct obj *o);
void check_resource_slice(struct field_errors *e, const struct obj *o);
void resource_slice_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

/* Lists that claims and classes have alike. */
void check_device_selectors(struct field_errors *e, const char *path, const struct obj *list);
/* requests: of the claim, and of what is first available of them ("a", "a/b"); NULL of a class. sources: words for where one
 * comes from; NULL: nobody says. */
void check_device_configs(struct field_errors *e, const char *path, const struct obj *list,
			  const struct map *requests, const char *const *sources);
void check_request_ref(struct field_errors *e, const char *path, const char *name,
		       const struct map *requests);
void check_request_refs(struct field_errors *e, const char *path, const struct obj *list,
			const struct map *requests);
/* Of a pool of devices: names with '/' between them. */
void check_pool_name(struct field_errors *e, const char *path, const char *name);
/* "name" or "domain/name". */
void check_entry_name(struct field_errors *e, const char *path, const char *name);

#endif
