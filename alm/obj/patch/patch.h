/*
 * patch: merge (RFC 7396), JSON (RFC 6902) and strategic merge patches. The document is borrowed
 * and unchanged; the result is a new, owned object that shares nothing and may be changed. The
 * differences (patch_X_diff) may share subtrees with what they were made from.
 */
#ifndef ALM_OBJ_PATCH_PATCH_H
#define ALM_OBJ_PATCH_PATCH_H

#include "alm/obj/obj.h"

#define PATCH_OPERATIONS_MAX 10000
#define PATCH_TOKEN_MAX      1023 /* bytes of one token of a JSON pointer, unescaped */
#define PATCH_POINTER_MAX    65536

int patch_merge(const struct obj *doc, const struct obj *patch, struct obj **ret,
		struct error *err);
/* As a real API server's library (evanphx/json-patch 4) does it, not quite RFC 6902: a member that a
 * map lacks, or a value that the operation does not state, is null, so replace, test and copy take
 * it. E_INVALID for a failed test or a missing path, E_TOOLARGE for too many operations, E_BADREQUEST
 * for something that is no JSON patch, or for a pointer beyond the limits. */
int patch_json(const struct obj *doc, const struct obj *operations, struct obj **ret,
	       struct error *err);
/* The merge key of a list ("name" for containers), "" for a primitive list that merges as a set,
 * NULL for one that is replaced. path is "spec.template.spec.containers"; a list within its
 * elements is "spec.template.spec.containers.ports". arg is the caller's. */
/* Of a map: not NULL where it is replaced as a whole. */
typedef const char *(*patch_merge_key_fn)(const void *arg, const char *path);
/* Directives: $patch, $retainKeys, $setElementOrder/F, $deleteFromPrimitiveList/F. E_BADREQUEST for
 * a misused directive or a list element without its merge key. */
int patch_strategic(const struct obj *doc, const struct obj *patch, patch_merge_key_fn merge_key,
		    const void *arg, struct obj **ret, struct error *err);

/* RFC 6902 operations that lead from a to b; they may be beyond the limits of patch_json(). */
struct obj *patch_json_diff(const struct obj *a, const struct obj *b);

#endif
