/*
 * offline_view: what the controllers would see of a cluster that is nothing but files: the view of
 * alm/engine/view.h over manifests and catalogs, so that `alm why --offline` decides with the
 * very code of the controllers. Live objects that are not in the files are unknown, never zero.
 */
#ifndef ALM_CLI_APP_OFFLINE_VIEW_H
#define ALM_CLI_APP_OFFLINE_VIEW_H

#include "alm/cli/cli.h"
#include "alm/engine/view.h"

#define OFFLINE_CATALOGS_MAX 64

/* Of -f, --catalog and --kube-version; an AppType of this name is made if no file has it, and what
 * --installed, --range and --channel say is added. Everything lives in the arena of the command. */
int offline_view_open(struct cli *c, const char *app, struct view **ret, struct error *err);

/* Rows for the option tables. */
/* clang-format off */
#define OFFLINE_VIEW_OPTIONS \
	{"offline", NULL, "decide from files, without a server", 0}, \
	{"catalog", "[NAME=]SOURCE", "with --offline: folder, FILE.tgz, https://..., oci://...; may be given again", 0}, \
	{"filename", "FILE", "with --offline: objects, as of `kubectl get apps,ist,crd,catalogs -o yaml`", 'f'}, \
	{"installed", "VERSION", "with --offline: the version that is installed", 0}, \
	{"range", "RANGE", "with --offline: instead of spec.version", 0}, \
	{"channel", "NAME", "with --offline: instead of spec.channel", 0}, \
	{"kube-version", "VERSION", "with --offline: of the cluster; without it every Kubernetes version is right", 0}
/* clang-format on */

#endif
