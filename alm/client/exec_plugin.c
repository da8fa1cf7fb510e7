/* exec_plugin: see exec_plugin.h. */
#include "alm/client/exec_plugin.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"

#define API_GROUP  "client.authentication.k8s.io/"
#define INFO_BYTES ((size_t)2 << 20)
#define DEPRECATED "v1beta1"

static const char *text_of(const struct obj *o, const char *member, struct arena *a)
{
	const char *text = obj_str(o, member);
	return text && *text ? arena_strdup(a, text) : NULL;
}

/* env: {name, value} each; else texts. */
static int read_list(const struct obj *list, const char *what, bool env, struct arena *a,
		     const char *const **ret, struct error *err)
{
	size_t n = obj_len(list);
	if (n > EXEC_PLUGIN_ARGS_MAX)
		return error_set(err, E_INVALID, "exec.%s: more than %d", what,
				 EXEC_PLUGIN_ARGS_MAX);
	const char **out = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct obj *item = obj_at(list, i);
		const char *name = obj_str(item, "name"), *value = obj_str(item, "value");
		const char *text = env ? NULL : obj_as_string(item);
		if (env && name && *name && !strchr(name, '='))
			text = arena_fmt(a, "%s=%s", name, value ? value : "");
		if (!text)
			return error_set(err, E_INVALID, "exec.%s[%zu]: want %s", what, i,
					 env ? "a name and a value" : "a text");
		out[i] = arena_strdup(a, text);
	}
	*ret = out;
	return 0;
}

static int read_mode(const struct obj *exec, const char *version, struct error *err)
{
	static const char *const modes[] = {"Never", "IfAvailable", "Always"};
	const char *mode = obj_str(exec, "interactiveMode");
	size_t i = 0;
	if (!mode && strcmp(version, API_GROUP DEPRECATED) != 0)
		return error_set(
			err, E_INVALID,
			"exec.interactiveMode must be specified: Never, IfAvailable or Always");
	while (mode && i < ARRAY_LEN(modes) && strcmp(mode, modes[i]) != 0)
		i++;
	if (i == ARRAY_LEN(modes))
		return error_set(
			err, E_INVALID,
			"exec.interactiveMode: found %s, want Never, IfAvailable or Always", mode);
	if (cstr_eq(mode, "Always"))
		return error_set(err, E_UNSUPPORTED,
				 "exec.interactiveMode is Always: programs that ask on the "
				 "terminal are not run");
	return 0;
}

int exec_plugin_read(const struct obj *exec, const char *dir, struct arena *a,
		     struct exec_plugin *ret, struct error *err)
{
	struct exec_plugin p = {.api_version = text_of(exec, "apiVersion", a),
				.install_hint = text_of(exec, "installHint", a)};
	p.command = text_of(exec, "command", a);
	p.wants_cluster = obj_flag(exec, "provideClusterInfo", false);
	if (!p.command)
		return error_set(err, E_INVALID, "exec.command must be specified");
	if (!p.api_version || (strcmp(p.api_version, API_GROUP "v1") != 0 &&
			       strcmp(p.api_version, API_GROUP DEPRECATED) != 0))
		return error_set(err, E_INVALID,
				 "exec.apiVersion: found %s, want " API_GROUP
				 "v1 or " API_GROUP DEPRECATED,
				 p.api_version ? p.api_version : "nothing");
	if (strchr(p.command, '/') && *p.command != '/')
		p.command = arena_fmt(a, "%s/%s", dir, p.command);
	if (read_mode(exec, p.api_version, err) < 0 ||
	    read_list(obj_get(exec, "args"), "args", false, a, &p.args, err) < 0 ||
	    read_list(obj_get(exec, "env"), "env", true, a, &p.env, err) < 0)
		return -err->code;
	*ret = p;
	return 0;
}

static struct obj *cluster_of(const struct exec_plugin *p, const struct transport_config *t)
{
	struct obj *o = obj_map();
	CLEANUP(strbuf_release) struct strbuf ca = STRBUF_INIT(INFO_BYTES);
	obj_set_str(o, "server", t->base_url);
	if (t->tls_server_name)
		obj_set_str(o, "tls-server-name", t->tls_server_name);
	if (t->insecure_skip_tls_verify)
		obj_set_bool(o, "insecure-skip-tls-verify", true);
	if (t->ca_pem) {
		base64_encode(str_of(t->ca_pem), &ca);
		obj_set_str(o, "certificate-authority-data", ca.buf);
	}
	if (t->proxy_url)
		obj_set_str(o, "proxy-url", t->proxy_url);
	obj_set(o, "config", p->cluster_config ? obj_ref(p->cluster_config) : obj_null());
	return o;
}

const char *exec_plugin_info(const struct exec_plugin *p, const struct transport_config *t,
			     struct arena *a)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(INFO_BYTES);
	obj_set_str(o, "kind", "ExecCredential");
	obj_set_str(o, "apiVersion", p->api_version);
	if (p->wants_cluster)
		obj_set_path(o, "spec.cluster", cluster_of(p, t));
	obj_set_path(o, "spec.interactive", obj_bool(false));
	json_print(o, &b);
	return arena_strdup(a, b.buf);
}

static int read_status(const struct obj *status, int64_t now_ns, struct arena *a,
		       struct transport_config *t, int64_t *ret_until_ns, struct error *err)
{
	const char *until = obj_str(status, "expirationTimestamp");
	const char *token = text_of(status, "token", a);
	const char *cert = text_of(status, "clientCertificateData", a),
		   *key = text_of(status, "clientKeyData", a);
	int64_t ns = 0;
	if (obj_type(status) != OBJ_MAP)
		return error_set(err, E_UNAUTHORIZED, "exec plugin didn't return a status field");
	if (!token && !cert && !key)
		return error_set(err, E_UNAUTHORIZED,
				 "exec plugin didn't return a token or cert/key pair");
	if (!cert != !key)
		return error_set(err, E_UNAUTHORIZED,
				 "exec plugin returned only certificate or key, not both");
	if (until && (!clock_parse(str_of(until), &ns) || ns <= now_ns))
		return error_set(err, E_UNAUTHORIZED,
				 "exec plugin returned credentials that ended at %.64s", until);
	*ret_until_ns = ns;
	t->token = token ? token : t->token;
	t->token_file = token ? NULL : t->token_file;
	t->cert_pem = cert ? cert : t->cert_pem;
	t->key_pem = key ? key : t->key_pem;
	return 0;
}

int exec_plugin_answer(const struct exec_plugin *p, struct str output, int64_t now_ns,
		       struct arena *a, struct transport_config *t, int64_t *ret_until_ns,
		       struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error inner = ERROR_INIT;
	if (json_parse(output, &o, &inner) < 0) /* what it printed may be a secret */
		return error_set(err, E_UNAUTHORIZED, "exec plugin printed no JSON");
	const char *kind = obj_str(o, "kind"), *version = obj_str(o, "apiVersion");
	if (!cstr_eq(kind, "ExecCredential") || !cstr_eq(version, p->api_version))
		return error_set(err, E_UNAUTHORIZED,
				 "exec plugin is configured to use API version %s, plugin returned "
				 "%.100s %.100s",
				 p->api_version, version ? version : "no version",
				 kind ? kind : "and no kind");
	return read_status(obj_get(o, "status"), now_ns, a, t, ret_until_ns, err);
}
