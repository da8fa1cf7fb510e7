/*
 * `alm uninstall --from-cluster`: ALM goes, and nothing is left that waits for it.
 *
 * An AppType, InstallStrategy or Bundle has a finalizer that only ALM's controllers take off, so they go
 * first: while any app is there the command refuses, or (--keep-apps) ends the controllers, takes
 * the finalizers off and deletes the records as orphans, so that what they installed runs on. Then
 * the definitions, the rights named alm:..., and what the manifest brought, in the opposite order.
 * The log's volume, the ConfigMap that remembers how long the log is, and their namespace stay
 * without --with-log: a later install goes on with them.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/app/own_lease.h"
#include "alm/cli/app/own_manifest.h"
#include "alm/cli/app/own_volume.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"
#include "crds/kinds.h"
#include "crds/marks.h"

#define POLL_NS (500 * NS_PER_MS)
#define WAIT_NS (5 * NS_PER_MIN)
#define PODS_PATH \
	"/api/v1/namespaces/" OWN_NAMESPACE "/pods?labelSelector=app.kubernetes.io%2Fname%3Dalm"
#define RIGHTS       "/apis/rbac.authorization.k8s.io/v1/"
#define RIGHTS_NAMES "alm:"          /* alm/controllers/app/account.h */
#define STILL_NS     (12 * NS_PER_S) /* more than twice the time between renewals (leader.h) */

struct uninstall {
	struct cli *c;
	struct session *s;
	int64_t end_ns; /* of loop_mono() */
};

/* --- requests --- */

/* *ret: NULL if it is not there. */
static int look(struct uninstall *u, const char *path, const struct obj **ret, struct error *err)
{
	*ret = NULL;
	int r = session_get(u->s, path, ret, err);
	if (r == -E_NOTFOUND) {
		*err = ERROR_INIT;
		return 0;
	}
	return r;
}

static int pause_for(struct uninstall *u, const char *what, struct error *err)
{
	if (loop_mono(session_loop(u->s)) >= u->end_ns)
		return error_set(err, E_TIMEOUT, "timed out: %s is still there", what);
	(void)session_run(u->s, POLL_NS);
	return 0;
}

static int wait_gone(struct uninstall *u, const char *path, const char *what, struct error *err)
{
	for (;;) {
		const struct obj *o;
		if (look(u, path, &o, err) < 0)
			return -err->code;
		if (!o)
			return 0;
		if (pause_for(u, what, err) < 0)
			return -err->code;
	}
}

/* An absent object is fine. policy: of its dependents. */
static int delete(struct uninstall *u, const char *path, const char *policy, const char *what,
		  struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct session_reply reply;
	obj_set_str(o, "apiVersion", "v1");
	obj_set_str(o, "kind", "DeleteOptions");
	obj_set_str(o, "propagationPolicy", policy);
	struct session_request q = {.method = "DELETE", .target = path, .body = o};
	int r = session_send(u->s, &q, &reply, err);
	if (r == -E_NOTFOUND) {
		*err = ERROR_INIT;
		return 0;
	}
	if (r < 0)
		return error_wrap(err, "%s", what);
	term_print("%s deleted\n", what);
	(void)term_flush();
	return 0;
}

/* --- the controllers --- */

/* The holder of the Lease renews it: a controller that is no Pod of the Deployment. */
static int check_lease(struct uninstall *u, struct error *err)
{
	const char *first = NULL;
	int64_t since = loop_mono(session_loop(u->s));
	while (loop_mono(session_loop(u->s)) < since + STILL_NS) {
		const struct obj *o;
		if (look(u, OWN_LEASE_TARGET, &o, err) < 0)
			return -err->code;
		const char *holder = o ? obj_str(o, "spec.holderIdentity") : NULL;
		const char *renewed = o ? obj_str(o, "spec.renewTime") : NULL;
		if (!holder || !*holder || !renewed)
			return 0; /* it was given up */
		if (!first)
			first = renewed;
		if (!cstr_eq(first, renewed))
			return error_set(err, E_REFUSED,
					 "a controller outside of Deployment " OWN_NAMESPACE
					 "/" OWN_DEPLOYMENT " works for this cluster (log %s): "
					 "stop it first",
					 holder);
		(void)session_run(u->s, POLL_NS);
	}
	return 0;
}

static int stop_controllers(struct uninstall *u, struct error *err)
{
	if (delete (u, "/apis/apps/v1/namespaces/" OWN_NAMESPACE "/deployments/" OWN_DEPLOYMENT,
		    "Foreground", "Deployment " OWN_DEPLOYMENT, err) < 0)
		return -err->code;
	for (;;) {
		const struct obj *pods;
		if (look(u, PODS_PATH, &pods, err) < 0)
			return -err->code;
		if (!obj_len(obj_get(pods, "items")))
			return check_lease(u, err);
		if (pause_for(u, "a Pod of ALM", err) < 0)
			return -err->code;
	}
}

/* --- apps --- */

static int list(struct uninstall *u, const struct crd_kind *k, const struct obj **ret,
		struct error *err)
{
	const struct obj *all;
	*ret = NULL;
	if (look(u, arena_fmt(u->c->arena, "/apis/%s/%s/%s", k->group, k->version, k->plural), &all,
		 err) < 0)
		return -err->code;
	*ret = obj_get(all, "items");
	return 0;
}

/* Finalizers that are not ALM's stay. */
static struct obj *other_finalizers(const struct obj *o)
{
	const struct obj *all = obj_path(o, "metadata.finalizers");
	struct obj *rest = obj_list();
	for (size_t i = 0; i < obj_len(all); i++) {
		const char *f = obj_as_string(obj_at(all, i));
		if (f && !cstr_eq(f, APP_FINALIZER) && !cstr_eq(f, STRATEGY_FINALIZER) &&
		    !cstr_eq(f, BUNDLE_FINALIZER))
			obj_append(rest, obj_string(f));
	}
	return rest;
}

static int release_one(struct uninstall *u, const struct crd_kind *k, const struct obj *o,
		       struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	const char *path = arena_fmt(u->c->arena, "/apis/%s/%s/%s/%s", k->group, k->version,
				     k->plural, meta_name(o));
	const char *what = arena_fmt(u->c->arena, "%s %s", k->kind, meta_name(o));
	struct session_reply reply;
	obj_set_path(patch, "metadata.finalizers", other_finalizers(o));
	obj_set_path(patch, "metadata.resourceVersion", obj_string(meta_resource_version(o)));
	struct session_request q = {
		.method = "PATCH", .target = path, .content_type = MERGE_PATCH, .body = patch};
	int r = session_send(u->s, &q, &reply, err);
	if (r == -E_NOTFOUND) {
		*err = ERROR_INIT;
		return 0;
	}
	if (r < 0)
		return error_wrap(err, "%s", what);
	if (delete (u, path, "Orphan", what, err) < 0)
		return -err->code;
	return wait_gone(u, path, what, err);
}

/* Strategies first: an app owns its own. */
static int release_all(struct uninstall *u, struct error *err)
{
	for (size_t i = n_crd_kinds; i-- > 0;) {
		const struct obj *items;
		if (crd_kinds[i]->namespaced) /* Installs go with their Bundles */
			continue;
		if (list(u, crd_kinds[i], &items, err) < 0)
			return -err->code;
		for (size_t n = 0; n < obj_len(items); n++)
			if (release_one(u, crd_kinds[i], obj_at(items, n), err) < 0)
				return -err->code;
	}
	return 0;
}

static int check_apps(struct uninstall *u, struct error *err)
{
	for (size_t i = 0; i < n_crd_kinds; i++) {
		const struct obj *items;
		if (cstr_eq(crd_kinds[i]->kind, "Catalog") || crd_kinds[i]->namespaced)
			continue; /* without a finalizer */
		if (list(u, crd_kinds[i], &items, err) < 0)
			return -err->code;
		if (obj_len(items))
			return error_set(
				err, E_REFUSED,
				"there are %zu %ss (%s%s), which nobody could delete without ALM: "
				"kubectl delete apptypes.app.coreos.com --all ends them first; "
				"--keep-apps forgets them, and what they installed runs on",
				obj_len(items), crd_kinds[i]->kind, meta_name(obj_at(items, 0)),
				obj_len(items) > 1 ? ", ..." : "");
	}
	return 0;
}

/* --- what ALM brought --- */

static int delete_definitions(struct uninstall *u, struct error *err)
{
	for (size_t i = n_crd_kinds; i-- > 0;) {
		const struct crd_kind *k = crd_kinds[i];
		const char *path =
			arena_fmt(u->c->arena,
				  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s.%s",
				  k->plural, k->group);
		const char *what = arena_fmt(u->c->arena, "CustomResourceDefinition %s.%s",
					     k->plural, k->group);
		if (delete (u, path, "Background", what, err) < 0 ||
		    wait_gone(u, path, what, err) < 0)
			return -err->code;
	}
	return 0;
}

/* Of accounts of apps: ClusterRoles, and bindings in the cluster and in namespaces. */
static int delete_rights(struct uninstall *u, struct error *err)
{
	static const char *const kinds[][2] = {{"rolebindings", "RoleBinding"},
					       {"clusterrolebindings", "ClusterRoleBinding"},
					       {"clusterroles", "ClusterRole"}};
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		const struct obj *all;
		if (look(u,
			 arena_fmt(u->c->arena, RIGHTS "%s?labelSelector=app.coreos.com%%2Fapp",
				   kinds[k][0]),
			 &all, err) < 0)
			return -err->code;
		for (size_t i = 0; i < obj_len(obj_get(all, "items")); i++) {
			const struct obj *o = obj_at(obj_get(all, "items"), i);
			const char *ns = meta_namespace(o);
			if (!cstr_has_prefix(meta_name(o), RIGHTS_NAMES))
				continue;
			const char *path = arena_fmt(u->c->arena, RIGHTS "%s%s%s%s/%s",
						     ns ? "namespaces/" : "", ns ? ns : "",
						     ns ? "/" : "", kinds[k][0], meta_name(o));
			if (delete (u, path, "Background",
				    arena_fmt(u->c->arena, "%s %s", kinds[k][1], meta_name(o)),
				    err) < 0)
				return -err->code;
		}
	}
	return 0;
}

/* What the chart brings with auditRecords and admissionWebhook: an APIService that leads nowhere
 * would stop the deletion of every namespace of the cluster, a webhook that nobody answers every
 * write of an InstallStrategy, the one that takes its finalizer away included. */
static int delete_services(struct uninstall *u, struct error *err)
{
	static const char *const objects[][3] = {
		{"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/",
		 "ValidatingWebhookConfiguration", "approvals.opinstaller.coreos.com"},
		{"/api/v1/namespaces/alm-system/services/", "Service", "alm-webhook"},
		{RIGHTS "clusterrolebindings/", "ClusterRoleBinding", "alm-controller-webhook"},
		{RIGHTS "clusterroles/", "ClusterRole", "alm-controller-webhook"},
		{"/apis/apiregistration.k8s.io/v1/apiservices/", "APIService",
		 "v1alpha1.audit.app.coreos.com"},
		{"/api/v1/namespaces/alm-system/services/", "Service", "alm-records"},
		{RIGHTS "namespaces/kube-system/rolebindings/", "RoleBinding",
		 "alm-controller-records"},
		{RIGHTS "clusterrolebindings/", "ClusterRoleBinding", "alm-controller-records"},
		{RIGHTS "clusterroles/", "ClusterRole", "alm-controller-records"}};
	for (size_t i = 0; i < ARRAY_LEN(objects); i++)
		if (delete (u, arena_fmt(u->c->arena, "%s%s", objects[i][0], objects[i][2]),
			    "Background",
			    arena_fmt(u->c->arena, "%s %s", objects[i][1], objects[i][2]), err) < 0)
			return -err->code;
	return 0;
}

static bool is_log(const struct obj *o)
{
	return cstr_eq(meta_kind(o), "Namespace") || cstr_eq(meta_kind(o), "PersistentVolumeClaim");
}

static int delete_manifest(struct uninstall *u, struct error *err)
{
	struct yaml_documents docs = {0};
	int rc = own_manifest_read(u->c, NULL, &docs, err);
	for (size_t i = docs.n; rc >= 0 && i-- > 0;) {
		const struct obj *o = docs.items[i].value;
		struct resource r;
		if (is_log(o) && !cli_flag(u->c, "with-log"))
			continue;
		rc = session_kind(u->s, o, &r, err);
		if (rc == -E_NOTFOUND && own_manifest_may_lack(o)) {
			*err = ERROR_INIT;
			rc = 0;
			continue;
		}
		if (rc >= 0)
			rc = delete (
				u, session_target(u->s, &r, meta_namespace(o), meta_name(o), NULL),
				"Background", arena_fmt(u->c->arena, "%s %s", r.kind, meta_name(o)),
				err);
	}
	yaml_documents_release(&docs);
	return rc;
}

/* What --log-volume made: the folder on the node stays. */
static int delete_volume(struct uninstall *u, struct error *err)
{
	const struct obj *volume;
	if (!cli_flag(u->c, "with-log"))
		return 0;
	if (look(u, OWN_VOLUME_TARGET, &volume, err) < 0)
		return -err->code;
	return !volume || !own_volume_is_ours(volume) ? 0
						      : delete (u, OWN_VOLUME_TARGET, "Background",
								"PersistentVolume alm-log", err);
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct uninstall u = {.c = c};
	const struct obj *live;
	int64_t timeout = 0;
	if (!cli_flag(c, "from-cluster"))
		return error_set(err, E_USAGE,
				 "--from-cluster says that ALM itself goes; an app goes with "
				 "`alm delete apptype NAME`");
	if (cli_duration(c, "timeout", WAIT_NS, &timeout, err) < 0 || session_open(c, &s, err) < 0)
		return -err->code;
	u.s = s;
	u.end_ns = loop_mono(session_loop(s)) + timeout;
	if (own_manifest_deployment(s, &live, err) < 0 ||
	    (!cli_flag(c, "keep-apps") && check_apps(&u, err) < 0) ||
	    stop_controllers(&u, err) < 0 || delete_services(&u, err) < 0 ||
	    release_all(&u, err) < 0 || delete_definitions(&u, err) < 0 ||
	    delete_rights(&u, err) < 0 || delete_manifest(&u, err) < 0 ||
	    delete_volume(&u, err) < 0)
		return -err->code;
	if (own_manifest_release(live))
		term_print("Helm still has a record of it: helm uninstall %s -n " OWN_NAMESPACE
			   "\n",
			   own_manifest_release(live));
	if (!cli_flag(c, "with-log"))
		term_print("The audit log stays: PersistentVolumeClaim " OWN_NAMESPACE
			   "/alm-log; --with-log deletes it\n");
	return 0;
}

static const struct cmd_option options[] = {
	{"from-cluster", NULL, "ALM itself, with its definitions and rights", 0},
	{"keep-apps", NULL, "forget the apps that there are; what they installed runs on", 0},
	{"with-log", NULL, "the audit log, too: its volume and namespace alm-system", 0},
	{"timeout", "DURATION", "longest wait (default 5m)", 0},
	{0},
};

const struct cmd cmd_uninstall = {
	.name = "uninstall",
	.usage = "alm uninstall --from-cluster [--keep-apps] [--with-log]",
	.summary = "take ALM itself off a cluster",
	.description =
		"Refuses while there are apps, which nobody could delete afterwards. Ends the "
		"controllers, deletes the definitions of ALM with the Catalogs, the rights that it "
		"gave, and what the manifest or the chart brought. CRDs and instances of operators "
		"stay, as they do when an app is deleted.",
	.examples = "kubectl delete apptypes.app.coreos.com --all\n"
		    "alm uninstall --from-cluster",
	.options = options,
	.args = {0, 0},
	.run = run,
};
