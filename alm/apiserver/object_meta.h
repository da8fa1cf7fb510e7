/* object_meta: the rules of metadata (kube-api.md 8.2): shape, names, immutability. */
#ifndef ALM_APISERVER_OBJECT_META_H
#define ALM_APISERVER_OBJECT_META_H

#include "alm/apiserver/kinds/kinds.h"
#include "alm/apiserver/store/store.h"
#include "alm/obj/field_error.h"

/* At metadata.labels. */
void object_meta_check_labels(const struct obj *labels, struct field_errors *e);
/* Owners, at path; had: those of before. */
void object_meta_check_owners(const struct obj *list, const struct obj *had, const char *at,
			      struct field_errors *e);
/* Annotations, at path. */
void object_meta_check_annotations(const struct obj *notes, const char *path,
				   struct field_errors *e);
/* Makes metadata an ObjectMeta, in place: unknown fields and empty ones go, the former are told to
 * unknown ("metadata.bogus"). E_BADREQUEST "json: cannot unmarshal bool into Go struct field
 * ObjectMeta.name of type string" for a wrong type; drop: what is of one goes, too. */
int object_meta_coerce(struct obj *o, bool drop, void (*unknown)(void *arg, const char *path),
		       void *arg, struct error *err);
/* Of what is applied: what is null or an empty text goes; maps and lists are owned though they are empty, labels, annotations and
 * finalizers though they are null. */
void object_meta_tidy(struct obj *o);
/* uid: another one that the client stated, or NULL. is_status: it came through that. ret_again: the number of the first of e that stands behind the first
 * part of the checks of the object's kind; SIZE_MAX if none does. */
void object_meta_validate(const struct kind *k, const struct obj *o, const struct obj *before,
			  const char *uid, bool is_status, size_t *ret_again,
			  struct field_errors *e);
/* uid, creationTimestamp and what else a client cannot say; for create. */
void object_meta_create(const struct kind *k, struct obj *o, const char *uid, int64_t now_ns);
/* Takes over from before what an update cannot change. */
void object_meta_update(struct obj *o, const struct obj *before);
/* Did anything change that counts for metadata.generation? */
bool object_meta_spec_changed(const struct kind *k, const struct obj *before, const struct obj *o);
/* A fresh UUID. */
void object_meta_uid(struct loop *l, char out[STORE_UID_TEXT]);

/* A DaemonSet's annotation of old is a number, if it is there. */
int object_meta_read_generation(const struct obj *o, struct error *err);

#endif
