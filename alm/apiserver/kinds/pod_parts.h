/* pod_parts: parts of a PodSpec: sources of volumes, environments, devices, claims (pod_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_POD_PARTS_H
#define ALM_APISERVER_KINDS_POD_PARTS_H

#include "alm/base/map.h"
#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* The source of a volume, which is one, and the name of the claim that is made for it in the Pod of that name (NULL: it has none). */
void pod_check_source(struct field_errors *e, const char *path, const struct obj *volume,
		      const char *pod);
/* The source of that name, which is the only one, of the volume in path. */
void pod_check_one_source(struct field_errors *e, const char *path, const char *source,
			  const struct obj *o);
/* An iSCSI portal is told to nodes with the name of its volume: what is said of that, of the text shown at the path. */
void pod_check_portal(struct field_errors *e, const char *path, const char *shown,
		      const struct obj *iscsi, const char *name);
/* What a source of that name has on a network or of a driver; others have nothing. */
void pod_check_driver(struct field_errors *e, const char *path, const char *source,
		      const struct obj *o);
/* What an environment reads of the Pod, or of what a container asks for. */
void pod_check_field_ref(struct field_errors *e, const char *path, const struct obj *ref);
void pod_check_resource_ref(struct field_errors *e, const char *path, const struct obj *ref);
/* Of a path, that it does not go back. */
void pod_check_steps(struct field_errors *e, const char *path, const char *text);
/* Of a path below something, that it stays there. */
void pod_check_path(struct field_errors *e, const char *path, const char *text);
/* Of the image of a container of a Pod; in a template a blank may stand for one that comes later. */
void pod_check_image(struct field_errors *e, const char *path, const struct obj *container);
/* What is mounted. volumes: those that are good, by their names; NULL is the claim of a template. */
void pod_check_mounts(struct field_errors *e, const char *path, const struct obj *container,
		      const struct map *volumes);
void pod_check_env(struct field_errors *e, const char *path, const struct obj *container);
/* What a container does when it is resized. never: the Pod is not started again. */
void pod_check_resize(struct field_errors *e, const char *path, const struct obj *container,
		      bool never);
/* What a file of a volume tells of the Pod or of a container. */
void pod_check_file_ref(struct field_errors *e, const char *path, const struct obj *file);
void pod_check_restart(struct field_errors *e, const char *path, const struct obj *container,
		       bool init);
/* The volumes that environments are read from. */
void pod_check_files(struct field_errors *e, const char *path, const struct obj *spec);
/* Claims of devices of a container, which are among claims, those of its Pod. */
void pod_check_claim_names(struct field_errors *e, const char *path, const struct obj *list,
			   const struct obj *claims);
/* What is asked for; claims: of devices, the Pod's. pod: it is of the Pod as a whole. */
void pod_check_resources(struct field_errors *e, const char *path, const struct obj *resources,
			 const struct obj *claims, bool pod);
/* What the Pod takes besides its containers, as the limits of one are. */
void pod_check_overhead(struct field_errors *e, const char *path, const struct obj *amounts);
/* spec.resources of a Pod, and that what its containers ask for is in it. */
void pod_check_whole(struct field_errors *e, const char *path, const struct obj *spec);
/* dnsPolicy and dnsConfig of a Pod. */
void pod_check_dns(struct field_errors *e, const char *path, const struct obj *spec);
/* What processes, users and the name have of the host. */
void pod_check_host(struct field_errors *e, const char *path, const struct obj *spec);
/* Its operating system, and what that does not have. */
void pod_check_system(struct field_errors *e, const char *path, const struct obj *spec);
/* Nothing of a volume is mounted for a container that comes later. */
void pod_check_ephemeral_mounts(struct field_errors *e, const char *path, const struct obj *c);
/* What of the Pod gets devices. */
void pod_check_claims(struct field_errors *e, const char *path, const struct obj *list);
/* What its status tells of containers. */
void pod_check_status(struct field_errors *e, const struct obj *o);
/* The claim in its status that was made for resources by their names. */
void pod_check_extended_claim(struct field_errors *e, const struct obj *o);

#endif
