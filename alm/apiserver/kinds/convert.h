/*
 * convert: stored text -> object in the version that is asked for.
 *
 * Of a definition with conversion strategy None what is read is pruned and defaulted by the schema of the version it is stored
 * in, and pruned by that of the one asked for; what is written is pruned by that of the one that is stored, too. Events, CRDs of
 * v1beta1 and autoscalers of v1 have other fields. A text that is known to be in that form already (its stamp is that of the kind)
 * is served byte for byte. Of a kind with a converter (converting.h) what is stored in another version stays in that.
 */
#ifndef ALM_APISERVER_KINDS_CONVERT_H
#define ALM_APISERVER_KINDS_CONVERT_H

#include "alm/apiserver/kinds/kinds.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/strbuf.h"

/* The object as k shows it; of the arena; may be changed. NULL for damaged text. */
struct obj *convert_read(const struct kind *k, struct text *t, struct arena *a);
/* o of one version of a resource as another one shows it; of the arena. NULL: NULL. */
const struct obj *convert_between(const struct kind *from, const struct kind *to,
				  const struct obj *o, struct arena *a);
/* As JSON, appended; item: as an element of a list (built-ins without apiVersion and kind). */
void convert_print(const struct kind *k, struct text *t, bool item, struct strbuf *b);
/* The other direction, before storing: version k -> storage form, in place. */
void convert_to_storage(const struct kind *k, struct obj *o);
/* The same of a custom resource of another version than is stored (strategy None): a copy, of the arena; NULL: it is as it is. */
struct obj *convert_form(const struct kind *k, const struct obj *o, struct arena *a);
/* Members in canonical order: apiVersion, kind, metadata (names first), the rest. Consumes o. */
struct obj *convert_canonical(struct obj *o);

#endif
