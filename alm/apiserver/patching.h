/* patching: the body of a PATCH -> the object it makes of the present one (kube-api.md 12, 13). */
#ifndef ALM_APISERVER_PATCHING_H
#define ALM_APISERVER_PATCHING_H

#include "alm/apiserver/mutation.h"

enum patch_type { PATCH_MERGE, PATCH_JSON, PATCH_STRATEGIC, PATCH_APPLY };

/* From the Content-Type; E_MEDIATYPE lists what the kind takes. */
int patching_type(struct request *r, enum patch_type *ret, struct error *err);
/* doc patched with the body of the request; the result is of the arena. Sets m->strategic, adds to
 * m->findings. Not for PATCH_APPLY. */
int patching_apply(struct mutation *m, enum patch_type type, const struct obj *doc,
		   struct obj **ret, struct error *err);
/* Server-side apply: sets m->after and m->keep_managers; creates if there is no object. */
int patching_server_side(struct mutation *m, struct error *err);
/* The body of an apply, of the arena: a map, of whatever kind; the first document, as the real server reads it. Keys that
 * stand there twice are told by patching_report_twice(), when all else has gone well: E_BADREQUEST where that is asked for. */
int patching_config(struct mutation *m, struct obj **ret, const char **ret_twice,
		    struct error *err);
int patching_report_twice(struct mutation *m, const char *twice, struct error *err);
/* Apply through the scale of a built-in kind: config is what the Scale says of the object itself, and
 * is given its kind. Sets m->after as above; who updated is told of in the version of the Scale. */
int patching_scale(struct mutation *m, struct obj *config, struct error *err);
/* Of what that made, when it has been shaped: it is the object that the request and its body mean. */
int patching_check_stated(struct mutation *m, struct error *err);

#endif
