#include "alm/cli/catalog_source.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "alm/sources/sync.h"

#define SECRET_BYTES_MAX ((size_t)1 << 20)

struct catalog_source {
	struct loop *loop;
	struct sandbox *sandbox;
	struct sync_host host;
	struct source_cache *cache;
	struct obj *catalog, *secret;
	struct obj *keys;        /* of --keys; NULL: signatures are not looked at */
	char policy[SHA256_HEX]; /* their digest */
	struct catalog_index *index;
	bool done;
	struct error err;
	struct strbuf *bytes; /* of the archive that is being fetched */
};

static const struct sandbox_job jobs[] = {SOURCE_JOBS, {0}};

static int add_file(struct cli *c, const char *option, const char *key, struct obj *data,
		    struct error *err)
{
	const char *path = cli_value(c, option);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SECRET_BYTES_MAX);
	if (!path)
		return 0;
	if (file_read_input(path, &b, err) < 0)
		return error_wrap(err, "--%s", option);
	obj_set(data, key, obj_stringn(str_trim(strbuf_str(&b))));
	return 0;
}

/* Who may see them: the server that the user names, and the token services that he names. */
static void set_origins(struct cli *c, const char *url, struct obj *data)
{
	struct weburl u;
	struct error ignored;
	const char *service;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const char *scheme = cstr_has_prefix(url, "oci://") ? "oci" : "https";
	if (weburl_parse(str_of(url), scheme, c->arena, &u, &ignored) == 0)
		strbuf_adds(&b, u.origin);
	for (size_t i = 0; (service = cli_value_at(c, "token-service", i)); i++)
		strbuf_addf(&b, " %s", service);
	obj_set(data, "origins", obj_stringn(strbuf_str(&b)));
}

/* A Secret made of the options, for the server of url and for those of --token-service; NULL if
 * there are none; owned. */
static int secret_of_options(struct cli *c, const char *url, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *data = obj_map();
	obj_set_str(o, "type", CREDENTIALS_TYPE);
	obj_set(o, "stringData", data);
	obj_set_str(data, "username", cli_value(c, "username"));
	if (add_file(c, "password-file", "password", data, err) < 0 ||
	    add_file(c, "token-file", "token", data, err) < 0 ||
	    add_file(c, "ca-file", "ca.crt", data, err) < 0)
		return -err->code;
	if (!obj_len(data))
		return 0;
	set_origins(c, url, data);
	*ret = STEAL(o);
	return 0;
}

static const char *url_of(struct cli *c, const char *what)
{
	if (strstr(what, "://"))
		return what;
	return arena_fmt(c->arena, "%s://%s", cstr_has_suffix(what, ".tgz") ? "file" : "dir", what);
}

void catalog_source_free(struct catalog_source *s)
{
	if (!s)
		return;
	index_free(s->index);
	source_cache_free(s->cache);
	obj_unref(s->catalog);
	obj_unref(s->secret);
	obj_unref(s->keys);
	sandbox_free(s->sandbox);
	loop_free(s->loop);
	xfree(s);
}

/* As the ConfigMap of a Catalog's policy has them. */
static int read_keys(struct cli *c, struct catalog_source *s, struct error *err)
{
	const char *path, *policy = "command line";
	CLEANUP(arena_freep) struct arena *a = arena_new(VERIFY_KEYS_BYTES_MAX * 8);
	struct verify_keys parsed;
	for (size_t i = 0; (path = cli_value_at(c, "keys", i)); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VERIFY_KEYS_BYTES_MAX);
		if (file_read(path, &b, err) < 0)
			return error_wrap(err, "--keys");
		if (!s->keys)
			s->keys = obj_map();
		obj_set(s->keys, path, obj_stringn(strbuf_str(&b)));
	}
	if (!s->keys)
		return 0;
	sha256_hex(str_of(policy), s->policy);
	return verify_keys_read(s->keys, loop_now(s->loop) / NS_PER_S, a, &parsed, err) < 0
		       ? error_wrap(err, "--keys")
		       : 0;
}

static void read_done(void *arg, struct sync_result *result)
{
	struct catalog_source *s = arg;
	s->done = true;
	s->index = STEAL(result->index);
	if (result->err)
		s->err = *result->err;
	loop_stop(s->loop);
}

int catalog_source_read(struct cli *c, const char *what, struct catalog_source **ret,
			struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = xcalloc(1, sizeof(*s));
	s->loop = loop_event_new();
	s->sandbox = sandbox_inline_new(s->loop, jobs);
	s->host = (struct sync_host){.loop = s->loop,
				     .files = &source_files_real,
				     .sandbox = s->sandbox,
				     .take_fresh = true,
				     .take_all = true};
	s->cache = source_cache_new();
	s->catalog = meta_skeleton("app.coreos.com/v1alpha1", "Catalog", NULL, "local");
	obj_set_path(s->catalog, "spec.source.url", obj_string(url_of(c, what)));
	if (cli_flag(c, "allow-unpinned"))
		obj_set_path(s->catalog, "spec.source.allowUnpinned", obj_bool(true));
	if (secret_of_options(c, what, &s->secret, err) < 0 || read_keys(c, s, err) < 0)
		return -err->code;
	const struct sync_request r = {.catalog = s->catalog,
				       .secret = s->secret,
				       .keys = s->keys,
				       .policy = s->policy,
				       .cache = s->cache};
	sync_start(&s->host, &r, read_done, s);
	while (!s->done)
		loop_run(s->loop);
	if (s->err.code)
		return error_copy(err, &s->err);
	*ret = STEAL(s);
	return 0;
}

const struct catalog_index *catalog_source_index(const struct catalog_source *s)
{
	return s->index;
}

int64_t catalog_source_now(const struct catalog_source *s)
{
	return loop_now(s->loop);
}

static void fetch_done(void *arg, const struct archive_result *result)
{
	struct catalog_source *s = arg;
	s->done = true;
	if (result->err)
		s->err = *result->err;
	else
		strbuf_addstr(s->bytes, result->bytes);
	loop_stop(s->loop);
}

int catalog_source_fetch(struct catalog_source *s, const struct package_version *p,
			 struct strbuf *ret, struct error *err)
{
	s->done = false;
	s->err = ERROR_INIT;
	s->bytes = ret;
	const struct archive_request r = {
		.catalog = s->catalog, .secret = s->secret, .policy = s->policy, .version = p};
	archive_fetch_start(&s->host, &r, fetch_done, s);
	while (!s->done)
		loop_run(s->loop);
	return s->err.code ? error_copy(err, &s->err) : 0;
}

/* --- a registry --- */

struct registry_session {
	struct loop *loop;
	struct arena *a;
	struct oci_reference ref;
	struct credentials credentials;
	struct obj *secret;
	struct remote *remote;
	struct registry *registry;
	bool done;
	struct remote_reply reply;
	struct http_headers headers;
	struct weburl url;
	struct error err;
};

int registry_session_open(struct cli *c, const char *url, const char *actions,
			  struct registry_session **ret, struct error *err)
{
	CLEANUP(registry_session_freep) struct registry_session *s = xcalloc(1, sizeof(*s));
	s->loop = loop_event_new();
	s->a = c->arena;
	if (oci_reference_parse(str_of(url), s->a, &s->ref, err) < 0 ||
	    secret_of_options(c, url, &s->secret, err) < 0 ||
	    credentials_read(s->secret, s->ref.registry.origin, s->a, &s->credentials, err) < 0)
		return error_wrap(err, "%s", url);
	s->remote = remote_new(s->loop, s->credentials.ca_pem, NULL);
	s->registry = registry_new(s->remote, &s->ref, &s->credentials, actions);
	*ret = STEAL(s);
	return 0;
}

void registry_session_free(struct registry_session *s)
{
	if (!s)
		return;
	registry_free(s->registry);
	remote_free(s->remote);
	obj_unref(s->secret);
	loop_free(s->loop);
	xfree(s);
}

const struct oci_reference *registry_session_reference(const struct registry_session *s)
{
	return &s->ref;
}

static void reply_came(void *arg, const struct remote_reply *reply)
{
	struct registry_session *s = arg;
	s->done = true;
	s->headers.n = 0;
	for (size_t i = 0; i < reply->headers->n; i++)
		http_header_add(&s->headers, arena_strdup(s->a, reply->headers->items[i].name),
				arena_strdup(s->a, reply->headers->items[i].value));
	s->url = (struct weburl){arena_strdup(s->a, reply->url->origin),
				 arena_strdup(s->a, reply->url->path),
				 reply->url->query ? arena_strdup(s->a, reply->url->query) : NULL};
	s->reply = *reply;
	s->reply.headers = &s->headers;
	s->reply.url = &s->url;
	s->reply.body = str_n(arena_text(s->a, reply->body.ptr, reply->body.len), reply->body.len);
	if (reply->err)
		s->err = *reply->err;
	s->reply.err = NULL;
	loop_stop(s->loop);
}

int registry_session_send(struct registry_session *s, const struct registry_request *q,
			  struct remote_reply *ret, struct error *err)
{
	s->done = false;
	s->err = ERROR_INIT;
	registry_send(s->registry, q, reply_came, s);
	while (!s->done)
		loop_run(s->loop);
	if (s->err.code)
		return error_copy(err, &s->err);
	*ret = s->reply;
	return 0;
}
