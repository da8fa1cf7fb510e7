/*
 * pod_notes: annotations of Pods that Kubernetes itself reads: what a Pod costs to delete, profiles of seccomp and AppArmor as they
 * were said before they had fields, and the mark of a Pod that a node mirrors. In the words of 1.36. Pure.
 */
#ifndef ALM_APISERVER_KINDS_POD_NOTES_H
#define ALM_APISERVER_KINDS_POD_NOTES_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

#define POD_NOTE_APPARMOR "container.apparmor.security.beta.kubernetes.io/"
#define POD_NOTE_SECCOMP  "container.seccomp.security.alpha.kubernetes.io/"
#define POD_NOTE_SECCOMPS "seccomp.security.alpha.kubernetes.io/pod"

/* Each by itself; path: of the annotations. */
void pod_notes_check(struct field_errors *e, const char *path, const struct obj *notes,
		     const struct obj *spec);
/* That a new Pod's fields say the same; path: of the spec. */
void pod_notes_match(struct field_errors *e, const char *path, const struct obj *notes,
		     const struct obj *spec);
/* Does the annotation of AppArmor mean that profile? Either may be NULL. */
bool pod_notes_says(const struct obj *note, const struct obj *profile);
/* Of a Pod that is there some neither come nor go. */
void pod_notes_kept(struct field_errors *e, const struct obj *notes, const struct obj *before);

#endif
