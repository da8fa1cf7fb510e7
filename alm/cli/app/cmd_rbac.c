/* `alm rbac APP`: the rights that the plan of a version takes, as manifests (rights.h). */
#include "alm/base/visible.h"
#include "alm/cli/app/rights.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/term.h"
#include "alm/obj/yaml.h"

#define TEXT_BYTES_MAX ((size_t)16 << 20)

static int print(const struct cli *c, const struct obj *manifests, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	const char *format = cli_value(c, "output");
	struct printer p;
	for (size_t i = 0; !format && i < obj_len(manifests); i++) {
		if (i)
			visible_addf(&b, "---\n");
		yaml_print(obj_at(manifests, i), &b);
	}
	if (format) {
		CLEANUP(obj_unrefp) struct obj *list = obj_map();
		obj_set_str(list, "apiVersion", "v1");
		obj_set_str(list, "kind", "List");
		obj_set(list, "items", obj_ref(manifests));
		if (printer_parse(format, &p, err) < 0 || printer_object(&p, list, &b, err) < 0)
			return -err->code;
	}
	if (format)
		printer_write(&p, strbuf_str(&b));
	else
		term_lines(strbuf_str(&b));
	return 0;
}

static int rbac_run(struct cli *c, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *list = NULL;
	struct app_session a;
	int r = app_session_open(c, c->args[0], &a, err);
	if (!r)
		r = rights_manifests(c, &a, cli_value(c, "to"), &list, err);
	if (!r)
		r = print(c, list, err);
	app_session_release(&a);
	return r;
}

static const struct cmd_option options[] = {
	{"to", "VERSION", "the version to be installed (default: the available one)", 0},
	{"output", "FORMAT", "yaml (default, as documents), json", 'o'},
	{0},
};

const struct cmd cmd_rbac = {
	.name = "rbac",
	.usage = "alm rbac APP [--to VERSION] [-o FORMAT]",
	.summary = "print the rights that an install takes, as manifests",
	.description =
		"Roles and bindings for the account of the app: the smallest that write its "
		"objects, "
		"run its hooks and hand on what its own Roles give. Before the first write "
		"ALM asks "
		"the server for each; what is missing blocks the version with reason "
		"Forbidden. What the installed version takes stays in it, for the way back. The "
		"account is spec.serviceAccountName, else ALM's own for the app, which has "
		"what the "
		"operator of one namespace needs.",
	.examples = "alm rbac etcd | kubectl apply -f -",
	.options = options,
	.args = {1, 1},
	.run = rbac_run,
};
