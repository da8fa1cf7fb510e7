/*
 * flat_box: rendering for a command: a folder of manifests or a Jsonnet program is read, rendered in
 * a child of a sandbox, and waited for. The sandbox is forked when the box is made, which is before
 * the command has a connection or a credential.
 */
#ifndef ALM_RENDER_FLAT_BOX_H
#define ALM_RENDER_FLAT_BOX_H

#include "alm/render/flat_job.h"
#include "alm/render/tree_read.h"

struct flat_box;

int flat_box_new(struct flat_box **ret, struct error *err);
void flat_box_free(struct flat_box *b);
DEFINE_FREEP(flat_box)

/* Both wait, up to the limits of the job, and give a flat map of its arena. */
int flat_box_files(struct flat_box *b, const char *dir, const char *ns, struct flat *ret,
		   struct error *err);

struct flat_program {
	const char *entrypoint, *ns;
	const char *const *jpath;
	size_t n_jpath;
	const struct obj *ext_str; /* as in struct flat_request */
	const struct obj *runtime;
};
/* *ret_rollout lives in the arena of ret; NULL: there is none. msg gets the whole message of
 * Jsonnet, which has lines; empty: err says it all. */
int flat_box_jsonnet(struct flat_box *b, const struct flat_program *p, struct flat *ret,
		     const struct obj **ret_rollout, struct strbuf *msg, struct error *err);

#endif
