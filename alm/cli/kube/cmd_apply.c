/*
 * cmd_apply: server-side apply of every object of -f.
 *
 * Without --server-side it takes fields over from other managers, as kubectl's client-side apply
 * does; with it a conflict is an error unless --force-conflicts is given. Without it, too, an
 * object may be as `get -o yaml` printed it, which server-side apply refuses.
 */
#include <stdio.h>
#include <string.h>

#include "alm/cli/cmds.h"
#include "alm/cli/kube/manifest.h"
#include "alm/cli/kube/write.h"
#include "alm/obj/meta.h"

#define MANAGER "alm-cli"

static const struct cmd_option options[] = {
	{"filename", "FILE", "file, folder or - for standard input; may be given again", 'f'},
	{"output", "FORMAT", "name, json or yaml instead of a line", 'o'},
	{"server-side", NULL, "conflicts with other managers are errors", 0},
	{"force-conflicts", NULL, "with --server-side: take the fields over", 0},
	{"dry-run", "WHERE", "server: check, store nothing", 0},
	{"field-manager", "NAME", "owner of the fields (default " MANAGER ")", 0},
	{0},
};

/* resourceVersion before, or NULL: only to say configured or unchanged. */
static int version_before(struct session *s, const char *target, const char **ret,
			  struct error *err)
{
	const struct obj *o = NULL;
	int r = session_get(s, target, &o, err);
	*ret = r >= 0 ? meta_resource_version(o) : NULL;
	if (r == -E_NOTFOUND) {
		*err = ERROR_INIT;
		return 0;
	}
	return r;
}

static int apply(struct cli *c, struct session *s, const struct manifest_item *m, struct error *err)
{
	struct resource r;
	const char *name = meta_name(m->o), *before = NULL;
	bool strict = cli_flag(c, "server-side") && !cli_flag(c, "force-conflicts");
	int rc = session_kind(s, m->o, &r, err);
	if (rc >= 0 && !name)
		rc = error_set(err, E_INVALID, "%s: metadata.name is missing", r.kind);
	if (rc < 0)
		return error_wrap(err, "%s:%d", m->file, m->line);
	const char *ns = write_namespace(s, &r, m->o);
	rc = version_before(s, session_target(s, &r, ns, name, NULL), &before, err);
	if (rc < 0)
		return error_wrap(err, "%s:%d", m->file, m->line);
	struct session_request q = {
		.method = "PATCH",
		.target = session_target(s, &r, ns, name,
					 write_query(c, MANAGER, strict ? "" : "&force=true")),
		.content_type = APPLY_PATCH,
		.body = cli_flag(c, "server-side") ? m->o : write_manifest(c, m->o, !before),
	};
	struct session_reply reply;
	rc = session_send(s, &q, &reply, err);
	if (rc < 0)
		return error_wrap(err, "%s:%d", m->file, m->line);
	const char *after = meta_resource_version(reply.body);
	const char *verb = reply.status == 201                         ? "created"
			   : after && before && cstr_eq(after, before) ? "unchanged"
								       : "configured";
	return write_print(c, reply.body, cli_flag(c, "server-side") ? "serverside-applied" : verb,
			   err);
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct manifest m = {0};
	return write_each(c, &s, &m, apply, err);
}

const struct cmd cmd_apply = {
	.name = "apply",
	.usage = "alm apply -f FILE... [--server-side [--force-conflicts]]",
	.summary = "create or change objects",
	.examples = "alm apply -f catalog.yaml -f etcd-apptype.yaml",
	.options = options,
	.args = {0, 0},
	.run = run,
};
