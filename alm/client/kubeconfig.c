/* kubeconfig: see kubeconfig.h. */
#include "alm/client/kubeconfig.h"

#include <assert.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/yaml.h"

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
#define PEM_BYTES_MAX       ((size_t)1 << 20)
#define OTHERS_READ         0004u

/* A named cluster, user or context, and the folder its relative paths start from. */
struct entry {
	const struct obj *value; /* of a document in arena */
	const char *dir;
};

struct kubeconfig {
	struct arena *arena;
	struct map *clusters, *users, *contexts; /* name -> struct entry, in the arena */
	const char *current;
	const char **names; /* of contexts, in order */
	const char *warnings[KUBECONFIG_FILES_MAX];
	size_t n_warnings;
};

static bool holds_credentials(const struct obj *doc)
{
	const struct obj *users = obj_get(doc, "users");
	for (size_t i = 0; i < obj_len(users); i++) {
		const struct obj *user = obj_get(obj_at(users, i), "user");
		if (obj_has(user, "token") || obj_has(user, "password") ||
		    obj_has(user, "client-key-data"))
			return true;
	}
	return false;
}

/* 1 and a warning if others may read the file. */
static int is_open(const char *path, struct arena *a, const char **ret_warning, struct error *err)
{
	struct file_info info;
	if (file_info(path, &info, err) < 0)
		return -err->code;
	if (!(info.mode & OTHERS_READ))
		return 0;
	*ret_warning =
		arena_fmt(a, "%s holds credentials and can be read by others: chmod 600 it", path);
	return 1;
}

/* The first file that has a name wins. */
static void add_entries(struct kubeconfig *k, struct map *to, const struct obj *list,
			const char *member, const char *dir)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *name = obj_str(obj_at(list, i), "name");
		const struct obj *value = obj_get(obj_at(list, i), member);
		if (!name || obj_type(value) != OBJ_MAP || map_has(to, name))
			continue;
		struct entry *e = ARENA_NEW(k->arena, struct entry);
		*e = (struct entry){value, dir};
		map_set(to, name, e);
	}
}

/* Whole: a program named relative to it is looked for, and allowed, by its whole path. */
static int dir_of(const char *path, struct arena *a, const char **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT(STRBUF_SMALL);
	struct str dir = STR_NONE, base;
	if (!str_rcut(str_of(path), '/', &dir, &base))
		dir = str_of(".");
	const char *text = dir.len ? arena_strndup(a, dir.ptr, dir.len) : "/";
	if (*text != '/' && file_absolute(text, &whole, err) < 0)
		return -err->code;
	*ret = whole.len ? arena_strdup(a, whole.buf) : text;
	return 0;
}

static int add_file(struct kubeconfig *k, const struct kubeconfig_sources *s, const char *path,
		    struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(KUBECONFIG_BYTES_MAX);
	struct obj *doc = NULL;
	if ((s->is_command ? file_read_input(path, &text, err) : file_read(path, &text, err)) < 0)
		return -err->code;
	if (yaml_parse_one(strbuf_str(&text), &doc, err) < 0)
		return error_wrap(err, "%s", path);
	obj_keep(k->arena, doc);
	int open = holds_credentials(doc)
			   ? is_open(path, k->arena, &k->warnings[k->n_warnings], err)
			   : 0;
	if (open < 0)
		return open;
	k->n_warnings += (size_t)open;
	const char *dir, *current = obj_str(doc, "current-context");
	if (dir_of(path, k->arena, &dir, err) < 0)
		return -err->code;
	add_entries(k, k->clusters, obj_get(doc, "clusters"), "cluster", dir);
	add_entries(k, k->users, obj_get(doc, "users"), "user", dir);
	add_entries(k, k->contexts, obj_get(doc, "contexts"), "context", dir);
	if (!k->current && current && *current)
		k->current = current;
	return 0;
}

/* The files of $KUBECONFIG; returns how many were there. */
static int add_files(struct kubeconfig *k, const struct kubeconfig_sources *s, struct error *err)
{
	struct str rest = str_of(s->env), path;
	int n = 0;
	for (size_t seen = 0; str_next(&rest, ':', &path) && seen < KUBECONFIG_FILES_MAX; seen++) {
		const char *name = arena_strndup(k->arena, path.ptr, path.len);
		if (!path.len || !file_exists(name))
			continue;
		if (add_file(k, s, name, err) < 0)
			return -err->code;
		n++;
	}
	return n;
}

static int load(struct kubeconfig *k, const struct kubeconfig_sources *s, struct error *err)
{
	if (s->path)
		return add_file(k, s, s->path, err);
	if (s->env && *s->env) {
		int n = add_files(k, s, err);
		if (n == 0)
			return error_set(err, E_NOTFOUND, "no file of KUBECONFIG=%s exists",
					 s->env);
		return n;
	}
	const char *path = arena_fmt(k->arena, "%s/.kube/config", s->home ? s->home : "");
	if (!s->home || !file_exists(path))
		return error_set(err, E_NOTFOUND, "no kubeconfig: %s does not exist", path);
	return add_file(k, s, path, err);
}

int kubeconfig_load(const struct kubeconfig_sources *s, struct kubeconfig **ret, struct error *err)
{
	CLEANUP(kubeconfig_freep) struct kubeconfig *k = xcalloc(1, sizeof(*k));
	k->arena = arena_new(KUBECONFIG_FILES_MAX * KUBECONFIG_BYTES_MAX);
	k->clusters = map_new(NULL);
	k->users = map_new(NULL);
	k->contexts = map_new(NULL);
	if (load(k, s, err) < 0)
		return -err->code;
	size_t n = 0;
	k->names = ARENA_ARRAY(k->arena, const char *, map_count(k->contexts));
	for (struct map_entry *e = map_first(k->contexts); e; e = map_next(e))
		k->names[n++] = e->key;
	*ret = STEAL(k);
	return 0;
}

void kubeconfig_free(struct kubeconfig *k)
{
	if (!k)
		return;
	map_free(k->clusters);
	map_free(k->users);
	map_free(k->contexts);
	arena_free(k->arena);
	xfree(k);
}

size_t kubeconfig_n_contexts(const struct kubeconfig *k)
{
	return map_count(k->contexts);
}

const char *kubeconfig_context(const struct kubeconfig *k, size_t i)
{
	return i < kubeconfig_n_contexts(k) ? k->names[i] : NULL;
}

static const char *copied(const struct obj *o, const char *key, struct arena *a)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s && *s ? arena_strdup(a, s) : NULL;
}

static const char *path_in(const struct entry *e, const char *key, struct arena *a)
{
	const char *path = obj_as_string(obj_get(e->value, key));
	if (!path || !*path)
		return NULL;
	return *path == '/' ? arena_strdup(a, path) : arena_fmt(a, "%s/%s", e->dir, path);
}

static int read_text(const char *path, struct arena *a, const char **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PEM_BYTES_MAX);
	if (file_read(path, &b, err) < 0)
		return -err->code;
	*ret = arena_strndup(a, b.buf, b.len);
	return 0;
}

/* KEY-data in base64 wins over the file KEY; absent: *ret stays. */
static int pem(const struct entry *e, const char *key, struct arena *a, const char **ret,
	       struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PEM_BYTES_MAX);
	const struct obj *data = obj_get(e->value, arena_fmt(a, "%s-data", key));
	const char *path = path_in(e, key, a);
	if (obj_as_str(data).len) {
		if (!base64_decode(obj_as_str(data), &b))
			return error_set(err, E_INVALID, "%s-data is no base64", key);
		*ret = arena_strndup(a, b.buf, b.len);
		return 0;
	}
	if (!path)
		return 0;
	return read_text(path, a, ret, err) < 0 ? error_wrap(err, "%s", key) : 0;
}

static void warn(struct kubeconfig_target *t, const char *text)
{
	assert(t->n_warnings < KUBECONFIG_WARNINGS_MAX);
	t->warnings[t->n_warnings++] = text;
}

static int resolve_cluster(const struct entry *e, bool allow_insecure, struct arena *a,
			   struct kubeconfig_target *target, struct error *err)
{
	struct transport_config *t = &target->transport;
	const char *server = copied(e->value, "server", a);
	if (!server ||
	    (!cstr_has_prefix(server, "https://") && !cstr_has_prefix(server, "http://")))
		return error_set(err, E_INVALID, "server: found %s, wanted a https:// address",
				 server ? server : "nothing");
	t->base_url = server;
	t->tls_server_name = copied(e->value, "tls-server-name", a);
	t->proxy_url = copied(e->value, "proxy-url", a);
	t->insecure_skip_tls_verify = obj_flag(e->value, "insecure-skip-tls-verify", false);
	if (t->insecure_skip_tls_verify && !allow_insecure)
		warn(target,
		     arena_fmt(a,
			       "insecure-skip-tls-verify: anybody on the way to %s can read and "
			       "change what is sent; set certificate-authority instead",
			       server));
	if (!obj_as_str(obj_get(e->value, "certificate-authority-data")).len)
		t->ca_file = path_in(e, "certificate-authority", a);
	return pem(e, "certificate-authority", a, &t->ca_pem, err);
}

/* The file of the key is in use only where no data is. */
static int check_key_file(const struct entry *e, struct arena *a, struct kubeconfig_target *target,
			  struct error *err)
{
	const char *path = path_in(e, "client-key", a), *text = NULL;
	if (!path || obj_as_str(obj_get(e->value, "client-key-data")).len)
		return 0;
	int r = is_open(path, a, &text, err);
	if (r < 0)
		return error_wrap(err, "client-key");
	if (r > 0)
		warn(target, text);
	return 0;
}

/* What it keeps for a program that prints credentials. */
static const struct obj *for_plugin(const struct entry *cluster)
{
	const struct obj *list = obj_get(cluster->value, "extensions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), "client.authentication.k8s.io/exec"))
			return obj_get(obj_at(list, i), "extension");
	return NULL;
}

static int resolve_user(const struct entry *e, const struct entry *cluster, struct arena *a,
			struct kubeconfig_target *target, struct error *err)
{
	struct transport_config *t = &target->transport;
	const struct obj *exec = obj_get(e->value, "exec");
	if (obj_is_set(obj_get(e->value, "auth-provider")))
		return error_set(err, E_UNSUPPORTED,
				 "credential plugins (auth-provider) are not supported");
	if (obj_is_set(exec)) {
		struct exec_plugin p;
		if (exec_plugin_read(exec, e->dir, a, &p, err) < 0)
			return -err->code;
		p.cluster_config = obj_keep(a, obj_ref(for_plugin(cluster)));
		target->exec = arena_memdup(a, &p, sizeof(p));
	}
	t->token = copied(e->value, "token", a);
	t->token_file = path_in(e, "tokenFile", a);
	t->username = copied(e->value, "username", a);
	t->password = copied(e->value, "password", a);
	if (pem(e, "client-certificate", a, &t->cert_pem, err) < 0 ||
	    check_key_file(e, a, target, err) < 0 || pem(e, "client-key", a, &t->key_pem, err) < 0)
		return -err->code;
	return 0;
}

int kubeconfig_resolve(const struct kubeconfig *k, const char *context, bool allow_insecure,
		       struct arena *a, struct kubeconfig_target *ret, struct error *err)
{
	const char *name = context ? context : k->current;
	if (!name)
		return error_set(err, E_INVALID, "kubeconfig has no current-context");
	const struct entry *c = map_get(k->contexts, name);
	if (!c)
		return error_set(err, E_NOTFOUND, "no context \"%s\" in kubeconfig", name);
	const char *cluster = obj_str(c->value, "cluster"), *user = obj_str(c->value, "user");
	const struct entry *ce = cluster ? map_get(k->clusters, cluster) : NULL;
	const struct entry *ue = user && *user ? map_get(k->users, user) : NULL;
	struct kubeconfig_target t = {.context = arena_strdup(a, name)};
	if (!ce)
		return error_set(err, E_NOTFOUND, "context %s: no cluster \"%s\" in kubeconfig",
				 name, cluster ? cluster : "");
	if (user && *user && !ue)
		return error_set(err, E_NOTFOUND, "context %s: no user \"%s\" in kubeconfig", name,
				 user);
	for (size_t i = 0; i < k->n_warnings; i++)
		warn(&t, arena_strdup(a, k->warnings[i]));
	if (resolve_cluster(ce, allow_insecure, a, &t, err) < 0)
		return error_wrap(err, "cluster %s", cluster);
	if (ue && resolve_user(ue, ce, a, &t, err) < 0)
		return error_wrap(err, "user %s", user);
	t.ns = copied(c->value, "namespace", a);
	t.ns = t.ns ? t.ns : "default";
	*ret = t;
	return 0;
}

int kubeconfig_refuse_exec(const struct kubeconfig_target *t, struct error *err)
{
	if (!t->exec)
		return 0;
	return error_set(err, E_UNSUPPORTED,
			 "user of context %s: exec (%s) is run for commands alone, and this works "
			 "unattended: give it a token, a tokenFile or a client certificate",
			 t->context, t->exec->command);
}

int kubeconfig_in_cluster(const char *host, const char *port, const char *dir, struct arena *a,
			  struct kubeconfig_target *ret, struct error *err)
{
	struct kubeconfig_target t = {.context = ""};
	const char *ns = NULL;
	if (!host || !*host || !port || !*port)
		return error_set(err, E_NOTFOUND,
				 "not in a cluster: KUBERNETES_SERVICE_HOST is not set");
	dir = dir ? dir : SERVICE_ACCOUNT_DIR;
	t.transport.base_url = strchr(host, ':') ? arena_fmt(a, "https://[%s]:%s", host, port)
						 : arena_fmt(a, "https://%s:%s", host, port);
	t.transport.token_file = arena_fmt(a, "%s/token", dir);
	if (!file_exists(t.transport.token_file))
		return error_set(err, E_NOTFOUND, "not in a cluster: %s does not exist",
				 t.transport.token_file);
	t.transport.ca_file = arena_fmt(a, "%s/ca.crt", dir);
	if (read_text(t.transport.ca_file, a, &t.transport.ca_pem, err) < 0)
		return -err->code;
	const char *ns_file = arena_fmt(a, "%s/namespace", dir);
	if (file_exists(ns_file) && read_text(ns_file, a, &ns, err) < 0)
		return -err->code;
	struct str trimmed = str_trim(str_of(ns));
	t.ns = trimmed.len ? arena_strndup(a, trimmed.ptr, trimmed.len) : "default";
	*ret = t;
	return 0;
}
