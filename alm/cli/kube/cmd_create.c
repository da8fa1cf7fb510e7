/* cmd_create: POST of every object of -f. */
#include <stdio.h>

#include "alm/cli/cmds.h"
#include "alm/cli/kube/manifest.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/kube/write.h"
#include "alm/cli/session.h"
#include "alm/obj/meta.h"

static const struct cmd_option options[] = {
	{"filename", "FILE", "file, folder or - for standard input; may be given again", 'f'},
	{"output", "FORMAT", "name, json or yaml instead of a line", 'o'},
	{"dry-run", "WHERE", "server: check, store nothing", 0},
	{"field-manager", "NAME", "owner of the fields (default alm-create)", 0},
	{0},
};

/* Its version joins the others. */
static int add_version(struct cli *c, struct session *s, const struct manifest_item *m,
		       const struct resource *r, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	obj_set_path(patch, "spec.versions", obj_ref(obj_path(m->o, "spec.versions")));
	struct session_request q = {
		.method = "PATCH",
		.target = session_target(s, r, NULL, meta_name(m->o),
					 write_query(c, "alm-create", "")),
		.content_type = MERGE_PATCH,
		.body = patch,
	};
	struct session_reply reply;
	if (session_send(s, &q, &reply, err) < 0)
		return error_wrap(err, "%s", m->file);
	return write_print(c, reply.body, "configured", err);
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
