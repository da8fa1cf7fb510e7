/*
 * bundle_render: objects out of a Bundle's files, in the sandbox, by its renderer: for the controller, and for
 * `alm bundle`, which says the same before the push.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_RENDER_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_RENDER_H

#include "alm/base/hash.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/render/render_job.h"
#include "alm/source/files.h"

/* Files of a Bundle with that spec are collected into this: of a program they have a map of what is refused. */
void bundle_files_init(const struct bundle_spec *b, struct arena *a, struct files *ret);
/* What a program gets besides its files. */
struct bundle_input {
	const struct obj *config; /* all layers as one; NULL: none */
	const struct obj *lists;  /* {"NAME/list": [OBJECT]} of a cluster; NULL: none */
	char digest[SHA256_HEX];  /* of both; "": none */
	bool is_live;             /* a cluster is asked for the lists that it imports */
	bool is_secret; /* something of it is of a Secret, or of a list, which may have values of any */
	const struct obj *secrets; /* Secrets of it: [{"value"}] (secrets.h); NULL: none */
	const struct obj *files;   /* paths of those that may stand in an error then; NULL: none */
};
/* layers: of what spec.config.from names, over spec.config.values. Errors are ValueMissing. */
int bundle_input_make(const struct bundle_spec *b, const struct config_layer *layers, size_t n,
		      struct arena *a, struct bundle_input *ret, struct error *err);
/* What a program says that it imports (flat_job_lists()), which the sandbox is not trusted with: may it be read? */
int bundle_lists_check(const struct bundle_spec *b, const struct obj *lists, struct error *err);
/* The lists that it is given, too; what is made of them is in the arena. */
void bundle_input_lists(struct bundle_input *in, const struct obj *lists, struct arena *a);
/* The files that the program is of, before bundle_render_hide(). */
void bundle_input_files(struct bundle_input *in, const struct files *f, struct arena *a);
/* What is said where it cannot be read, and what only then is no matter of the server's. field NULL: it says
 * itself what that is. */
void bundle_input_blame(const char *field, struct error *err);
/* What call->done gets is for bundle_make(), after bundle_render_hide(). */
void bundle_render_start(const struct bundle_spec *b, struct sandbox *s, const struct files *f,
			 const struct bundle_input *in, struct render_call *call);
/* The texts of those Secrets that are in what was rendered: a unit's "hidden". In the arena; NULL: none. */
const struct obj *bundle_input_hidden(const struct bundle_input *in, const struct obj *rendered,
				      struct arena *a);
/* Of a program that says no: its words may have values of the Secrets that it was given. */
void bundle_render_hide(const struct bundle_input *in, struct obj *rendered);
/* Any other error of rendering, or of bundle_make(): with a Secret its code, its reason and the program alone are
 * told, as keys and fields may be made of its values. Returns the code negative. */
int bundle_render_mute(const struct bundle_spec *b, const struct bundle_input *in,
		       struct error *err);
/* What call->done was told instead, with the word that a condition has for it: of a program RenderFailed, of that
 * and of manifests RenderLimit. What crashed, was killed or took too long has met a limit, too: it is not fetched and
 * run again at every poll. */
void bundle_render_blame(const struct bundle_spec *b, struct error *err);

#endif
