/* claim_check: what is wrong with PersistentVolumeClaims, and what of them may not change, as volume_check.h has it. Pure. */
#ifndef ALM_APISERVER_KINDS_CLAIM_CHECK_H
#define ALM_APISERVER_KINDS_CLAIM_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* The spec of a claim, or of a template of one. */
void check_claim_spec(struct field_errors *e, const char *path, const struct obj *spec);
/* Metadata of what is made from a template: labels and annotations, and nothing else. */
void check_inner_meta(struct field_errors *e, const char *path, const struct obj *m);
void check_claim(struct field_errors *e, const struct obj *o);
void claim_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

/* Is it something that a claim can be filled from? */
bool claim_has_source(const struct obj *o);

/* What volumes have, too. */
void check_class_name(struct field_errors *e, const char *path, const struct obj *spec,
		      const char *field);
void check_volume_mode(struct field_errors *e, const char *path, const struct obj *spec);
void check_access_modes(struct field_errors *e, const char *path, const struct obj *list);

#endif
