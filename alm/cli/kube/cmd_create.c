/* cmd_create: POST of every object of -f. */
#include "alm/cli/cmds.h"
#include "alm/cli/kube/manifest.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/kube/write.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"
#include "crds/legacy_crd.h"
#include "crds/legacy_crd_take.h"

static const struct cmd_option options[] = {
	{"filename", "FILE", "file, folder or - for standard input; may be given again", 'f'},
	{"output", "FORMAT", "name, json or yaml instead of a line", 'o'},
	{"dry-run", "WHERE", "server: check, store nothing", 0},
	{"field-manager", "NAME", "owner of the fields (default alm-create)", 0},
	{0},
};

#define ADD_TRIES 20 /* while others change the definition */

static void not_yet(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static void warn(void *arg, const char *text)
{
	const struct manifest_item *m = *(const struct manifest_item *const *)arg;
	term_error("Warning: %s:%d: %s\n", m->file, m->line, text);
}

/* What changes of there when the version joins the others; it fits no other revision. */
static struct obj *patch_of(struct cli *c, const struct manifest_item *m, const struct obj *there,
			    void (*say)(void *arg, const char *text))
{
	static const char *const members[] = {"metadata.labels", "metadata.annotations",
					      "spec.names", "spec.conversion", "spec.versions"};
	struct obj *now = obj_keep(c->arena, obj_copy(there));
	struct obj *joined = obj_keep(c->arena, obj_copy(m->said)), *patch = obj_map();
	legacy_crd_join(there, joined);
	obj_set_path(now, "spec.versions", obj_ref(obj_path(joined, "spec.versions")));
	legacy_crd_take(now, m->said, c->arena, say, &m);
	obj_set_path(patch, "metadata.resourceVersion", obj_string(meta_resource_version(there)));
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (obj_path(now, members[i]))
			obj_set_path(patch, members[i], obj_ref(obj_path(now, members[i])));
	return patch;
}

/* What is there by now, to which it still may be added. */
static int look_again(struct session *s, const struct manifest_item *m, const char *target,
		      const struct obj **ret_there, struct error *err)
{
	const struct obj *there = NULL;
	if (session_get(s, target, &there, err) < 0 || legacy_crd_fits(there, m->said, err) < 0)
		return -err->code;
	if (legacy_crd_has(there, m->said))
		return error_set(err, E_EXISTS, "somebody else has added this version to %s",
				 meta_name(there));
	*ret_there = there;
	return 0;
}

/* Its version joins the others. */
static int add_version(struct cli *c, struct session *s, const struct manifest_item *m,
		       const struct resource *r, struct error *err)
{
	const struct obj *there = m->there;
	const char *target = session_target(s, r, NULL, meta_name(m->o), NULL);
	struct session_reply reply;
	for (int i = 0;; i++) {
		CLEANUP(obj_unrefp) struct obj *patch = patch_of(c, m, there, not_yet);
		struct session_request q = {
			.method = "PATCH",
			.target = session_target(s, r, NULL, meta_name(m->o),
						 write_query(c, "alm-create", "")),
			.content_type = MERGE_PATCH,
			.body = patch,
		};
		if (session_send(s, &q, &reply, err) >= 0) {
			obj_unref(patch_of(c, m, there, warn)); /* of what it was added to */
			return write_print(c, reply.body, "configured", err);
		}
		if (err->code != E_CONFLICT || i + 1 == ADD_TRIES)
			return error_wrap(err, "%s", m->file);
		*err = ERROR_INIT;
		if (look_again(s, m, target, &there, err) < 0)
			return error_wrap(err, "%s", m->file);
	}
}

static int create(struct cli *c, struct session *s, const struct manifest_item *m,
		  struct error *err)
{
	struct resource r;
	int rc = session_kind(s, m->o, &r, err);
	if (rc < 0)
		return error_wrap(err, "%s", m->file);
	if (m->is_new_version)
		return add_version(c, s, m, &r, err);
	struct session_request q = {
		.method = "POST",
		.target = session_target(s, &r, write_namespace(s, &r, m->o), NULL,
					 write_query(c, "alm-create", "")),
		.body = write_manifest(c, m->o, true),
	};
	struct session_reply reply;
	rc = session_send(s, &q, &reply, err);
	if (rc < 0)
		return error_wrap(err, "%s", m->file);
	return write_print(c, reply.body, "created", err);
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct manifest m = {0};
	if (c->n_args > 0)
		return error_set(
			err, E_USAGE,
			"%s: alm create takes objects of files (-f FILE, or - for standard "
			"input); of a chart, alm install [NAME] CATALOG/CHART makes the "
			"AppType, and --dry-run prints it",
			c->args[0]);
	return write_each(c, &s, &m, create, err);
}

const struct cmd cmd_create = {
	.name = "create",
	.usage = "alm create -f FILE...",
	.summary = "create objects",
	.examples = "alm create -f etcd-apptype.yaml",
	.options = options,
	.args = {0, 2},
	.run = run,
};
