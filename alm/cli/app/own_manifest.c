#include "alm/cli/app/own_manifest.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/app/own_trouble.h"
#include "alm/cli/app/own_volume.h"
#include "alm/cli/kube/write.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

#define TEXT_BYTES_MAX ((size_t)1 << 20)
#define IMAGE_MAX      512
#define POLL_NS        NS_PER_S
#define WAIT_NS        (5 * NS_PER_MIN)

extern const struct carried_text deploy_manifests_alm_yaml; /* made by the Makefile */

/* --- what there is --- */

static bool is_reference(const char *image)
{
	size_t n = strlen(image);
	return n && n <= IMAGE_MAX &&
	       strspn(image, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			     "._-/:@") == n;
}

int own_manifest_read(struct cli *c, const char *image, struct yaml_documents *ret,
		      struct error *err)
{
	static const char key[] = " image: \"";
	CLEANUP(xfreep) char *text = carried_read(&deploy_manifests_alm_yaml);
	const char *at = strstr(text, key);
	if (!image || !at)
		return yaml_parse(str_of(text), ret, err);
	if (!is_reference(image))
		return error_set(err, E_USAGE, "--image %s is no reference of an image", image);
	at += strlen(key);
	const char *with_image =
		arena_fmt(c->arena, "%.*s%s%s", (int)(at - text), text, image, strchr(at, '"'));
	return yaml_parse(str_of(with_image), ret, err);
}

int own_manifest_deployment(struct session *s, const struct obj **ret, struct error *err)
{
	*ret = NULL;
	int r = session_get(
		s, "/apis/apps/v1/namespaces/" OWN_NAMESPACE "/deployments/" OWN_DEPLOYMENT, ret,
		err);
	if (r == -E_NOTFOUND) {
		*err = ERROR_INIT;
		return 0;
	}
	return r;
}

const char *own_manifest_release(const struct obj *deployment)
{
	return deployment ? meta_annotation(deployment, "meta.helm.sh/release-name") : NULL;
}

bool own_manifest_may_lack(const struct obj *o)
{
	return cstr_has_prefix(meta_kind(o), "ValidatingAdmissionPolicy");
}

/* --- install --- */

static int apply(struct cli *c, struct session *s, const struct obj *o, struct error *err)
{
	struct resource r;
	struct session_reply reply;
	int rc = session_kind(s, o, &r, err);
	if (rc == -E_NOTFOUND && own_manifest_may_lack(o)) {
		*err = ERROR_INIT;
		term_error("alm: %s %s is left out: the server is older than Kubernetes 1.30\n",
			   meta_kind(o), meta_name(o));
		return 0;
	}
	if (rc < 0)
		return rc;
	struct session_request q = {
		.method = "PATCH",
		.target = session_target(s, &r, meta_namespace(o), meta_name(o),
					 "fieldManager=alm-cli&fieldValidation=Strict&force=true"),
		.content_type = APPLY_PATCH,
		.body = o,
	};
	rc = session_send(s, &q, &reply, err);
	if (rc < 0)
		return error_wrap(err, "%s %s", meta_kind(o), meta_name(o));
	return write_print(c, reply.body, "applied", err);
}

static bool is_available(const struct obj *deployment)
{
	return obj_i64(deployment, "status.observedGeneration", 0) >=
		       obj_i64(deployment, "metadata.generation", 1) &&
	       obj_i64(deployment, "status.updatedReplicas", 0) >= 1 &&
	       obj_i64(deployment, "status.availableReplicas", 0) >= 1;
}

/* Who may not read it is told nothing more. */
static const struct obj *read_or_null(struct session *s, const char *target)
{
	struct error ignored = ERROR_INIT;
	const struct obj *o = NULL;
	return session_get(s, target, &o, &ignored) < 0 ? NULL : o;
}

static const char *trouble(struct cli *c, struct session *s, const struct obj *deployment)
{
	return own_trouble(deployment,
			   read_or_null(s, "/api/v1/namespaces/" OWN_NAMESPACE
					   "/persistentvolumeclaims/alm-log"),
			   read_or_null(s,
					"/api/v1/namespaces/" OWN_NAMESPACE
					"/pods?limit=10&labelSelector=app.kubernetes.io/name=alm"),
			   c->arena);
}

static int wait_available(struct cli *c, struct session *s, struct error *err)
{
	int64_t timeout = 0;
	const char *told = "", *before = "";
	if (cli_duration(c, "timeout", WAIT_NS, &timeout, err) < 0)
		return -err->code;
	int64_t end = loop_mono(session_loop(s)) + timeout;
	for (;;) {
		const struct obj *o;
		if (own_manifest_deployment(s, &o, err) < 0)
			return -err->code;
		if (o && is_available(o))
			return 0;
		const char *why = trouble(c, s, o);
		if (loop_mono(session_loop(s)) >= end)
			return error_set(err, E_TIMEOUT, "no Pod of ALM is ready yet: %s",
					 why ? why : "kubectl -n " OWN_NAMESPACE " describe pods");
		/* What is there twice does not go away in a moment. */
		if (why && cstr_eq(why, before) && !cstr_eq(why, told)) {
			term_error("alm: no Pod of ALM is ready yet: %s\n", why);
			told = why;
		}
		before = why ? why : "";
		(void)session_run(s, POLL_NS);
	}
}

/* What is installed: the volume of the log, if it is told, and the manifest. */
struct parts {
	struct yaml_documents volume, manifest;
};

static int apply_docs(struct cli *c, struct session *s, const struct yaml_documents *docs,
		      struct error *err)
{
	for (size_t i = 0; i < docs->n; i++)
		if (apply(c, s, docs->items[i].value, err) < 0)
			return -err->code;
	return 0;
}

static int apply_all(struct cli *c, const struct parts *p, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	const struct obj *live;
	if (session_open(c, &s, err) < 0 || own_manifest_deployment(s, &live, err) < 0)
		return -err->code;
	const char *release = own_manifest_release(live);
	if (release)
		return error_set(err, E_REFUSED,
				 "ALM is Helm release %s of this cluster: helm upgrade %s "
				 "deploy/charts/alm -n " OWN_NAMESPACE,
				 release, release);
	if ((p->volume.n && own_volume_check(c, s, err) < 0) ||
	    apply_docs(c, s, &p->volume, err) < 0 || apply_docs(c, s, &p->manifest, err) < 0)
		return -err->code;
	return cli_flag(c, "wait") ? wait_available(c, s, err) : 0;
}

static int print_all(const struct parts *p)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_BYTES_MAX);
	for (size_t i = 0; i < p->volume.n + p->manifest.n; i++) {
		if (i)
			visible_addf(&text, "---\n");
		yaml_print(i < p->volume.n ? p->volume.items[i].value
					   : p->manifest.items[i - p->volume.n].value,
			   &text);
	}
	return term_data(strbuf_str(&text)) ? -E_IO : 0;
}

int own_manifest_install(struct cli *c, struct error *err)
{
	struct parts p = {0};
	if (c->n_args)
		return error_set(err, E_USAGE, "--to-cluster installs ALM itself, not %s",
				 c->args[0]);
	int r = own_volume_read(c, &p.volume, err);
	if (r >= 0)
		r = own_manifest_read(c, cli_value(c, "image"), &p.manifest, err);
	if (r >= 0)
		r = cli_flag(c, "dry-run") ? print_all(&p) : apply_all(c, &p, err);
	yaml_documents_release(&p.volume);
	yaml_documents_release(&p.manifest);
	return r;
}
