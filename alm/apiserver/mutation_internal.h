/* mutation_internal: the steps that create, update and deletion share; for mutation*.c alone. */
#ifndef ALM_APISERVER_MUTATION_INTERNAL_H
#define ALM_APISERVER_MUTATION_INTERNAL_H

#include "alm/apiserver/mutation.h"
#include "alm/obj/field_error.h"

/* What was kept for managedFields alone. */
void mutation_drop_empty(struct mutation *m);
/* managedFields of what manager made of before (NULL: of nothing). mutation_track.c */
int mutation_track(struct mutation *m, const struct obj *before, const char *manager,
		   const char *subresource, struct error *err);
/* A main endpoint sets no status: what there is of it in m->after is that of m->before, or gone. */
void mutation_keep_status(struct mutation *m);
/* Of another version than is stored: m->in_storage, by which mutation_to_storage() goes. It may wait. */
int mutation_convert(struct mutation *m, struct error *err);
/* o, which is or would be m->after, in the form that is stored. */
void mutation_to_storage(const struct mutation *m, struct obj *o);
/* Errors of fields that live as long as the request. */
struct field_errors *mutation_errors(struct request *r);
/* Metadata, admission's own rules, schema and its CEL rules. E_INVALID with all causes. */
int mutation_validate(struct mutation *m, struct error *err);
/* What may be refused although it is valid, in the order of Kubernetes' plugins. */
int mutation_admission(struct mutation *m, struct error *err);
void mutation_warn_finalizers(struct mutation *m);
/* Stores m->after, or removes the object, whose last state it is. E_CONFLICT. */
int mutation_store(struct mutation *m, struct error *err);
/* A dry run: what would have been stored, as text that belongs to the arena. */
int mutation_pretend(struct mutation *m, bool with_rv, struct error *err);
/* Nothing was stored: the object as it is, and an entry of the write. */
int mutation_keep_unchanged(struct mutation *m);

#endif
