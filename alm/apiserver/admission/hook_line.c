/* hook_line: see hook_line.h. */
#include "alm/apiserver/admission/hook_line.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/meta.h"

#define CA_BYTES_MAX ((size_t)1 << 20)
#define HTTPS        "https://"

/* --- services --- */

/* A Service and the port of it that is wanted. */
struct wanted {
	struct apiserver *s;
	struct arena *a;
	const char *ns, *name;
	const struct obj *service, *port;
};

/* An address, and whether nothing can listen there. */
struct found {
	const char *host;
	int64_t port;
	bool simulated;
};

static int find_service(struct wanted *w, int64_t number, struct error *err)
{
	struct head *h = store_find(w->s->store, "", "services", w->ns, w->name);
	w->service = h ? head_obj_hot(h) : NULL;
	if (!w->service)
		return error_set(err, E_NOTFOUND, "service \"%s\" not found", w->name);
	const struct obj *ports = obj_path(w->service, "spec.ports");
	for (size_t i = 0; i < obj_len(ports); i++)
		if (obj_i64(obj_at(ports, i), "port", 0) == number)
			w->port = obj_at(ports, i);
	if (!w->port && !cstr_eq(obj_str(w->service, "spec.type"), "ExternalName"))
		return error_set(err, E_UNAVAILABLE,
				 "no service port %lld found for service \"%s\"", (long long)number,
				 w->name);
	return 0;
}

static const char *text(const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s ? s : "";
}

/* The port of a slice or subset that stands for that of the Service: it has its name. */
static int64_t port_behind(const struct wanted *w, const struct obj *ports)
{
	for (size_t i = 0; i < obj_len(ports); i++)
		if (strcmp(text(obj_at(ports, i), "name"), text(w->port, "name")) == 0)
			return obj_i64(obj_at(ports, i), "port", 0);
	return 0;
}

static bool is_simulated(const struct wanted *w, const struct obj *endpoint)
{
	return w->s->simulate && cstr_eq(obj_str(endpoint, "targetRef.kind"), "Pod");
}

static bool look_in_slice(const struct wanted *w, const struct obj *slice, struct found *ret)
{
	const struct obj *list = obj_get(slice, "endpoints");
	int64_t port = port_behind(w, obj_get(slice, "ports"));
	for (size_t i = 0; i < obj_len(list) && port; i++) {
		const struct obj *e = obj_at(list, i);
		const char *host = obj_as_string(obj_at(obj_get(e, "addresses"), 0));
		if (!host || !obj_flag(e, "conditions.ready", true))
			continue;
		*ret = (struct found){host, port, is_simulated(w, e)};
		return true;
	}
	return false;
}

static bool look_in_slices(const struct wanted *w, struct found *ret)
{
	const struct store_table *t =
		store_resource(w->s->store, "discovery.k8s.io", "endpointslices");
	for (size_t i = resource_lower_bound(t, w->ns, "");
	     i < t->n_heads && cstr_eq(t->heads[i]->ns, w->ns); i++) {
		const struct obj *o = head_obj(t->heads[i], w->a);
		const char *of = o ? meta_label(o, "kubernetes.io/service-name") : NULL;
		if (cstr_eq(of, w->name) && look_in_slice(w, o, ret))
			return true;
	}
	return false;
}

static bool look_in_endpoints(const struct wanted *w, struct found *ret)
{
	struct head *h = store_find(w->s->store, "", "endpoints", w->ns, w->name);
	const struct obj *subsets = h ? obj_get(head_obj(h, w->a), "subsets") : NULL;
	for (size_t i = 0; i < obj_len(subsets); i++) {
		const struct obj *e = obj_at(obj_get(obj_at(subsets, i), "addresses"), 0);
		int64_t port = port_behind(w, obj_get(obj_at(subsets, i), "ports"));
		const char *host = obj_str(e, "ip");
		if (!host || !port)
			continue;
		*ret = (struct found){host, port, is_simulated(w, e)};
		return true;
	}
	return false;
}

static int find_endpoint(const struct wanted *w, int64_t number, struct found *ret,
			 struct error *err)
{
	if (cstr_eq(obj_str(w->service, "spec.type"), "ExternalName")) {
		*ret = (struct found){obj_str(w->service, "spec.externalName"), number, false};
		return ret->host ? 0 : error_set(err, E_UNAVAILABLE, "no externalName");
	}
	if (look_in_slices(w, ret) || look_in_endpoints(w, ret))
		return 0;
	return error_set(err, E_UNAVAILABLE, "no endpoints available for service \"%s\"", w->name);
}

static int of_service(struct apiserver *s, const struct obj *service, const char *query,
		      struct arena *a, struct hook_target *ret, struct error *err)
{
	struct wanted w = {
		.s = s, .a = a, .ns = text(service, "namespace"), .name = text(service, "name")};
	int64_t number = obj_i64(service, "port", 443);
	const char *path = text(service, "path");
	struct found at = {0};
	ret->server_name = arena_fmt(a, "%s.%s.svc", w.name, w.ns);
	ret->path = arena_fmt(a, "%s%s%s", *path == '/' ? "" : "/", path, query);
	ret->shown =
		arena_fmt(a, HTTPS "%s:%lld%s", ret->server_name, (long long)number, ret->path);
	if (find_service(&w, number, err) < 0 || find_endpoint(&w, number, &at, err) < 0)
		return error_wrap(err, "Post \"%s\"", ret->shown);
	ret->base_url = arena_fmt(a, strchr(at.host, ':') ? HTTPS "[%s]:%lld" : HTTPS "%s:%lld",
				  at.host, (long long)at.port);
	return at.simulated ? HOOK_SIMULATED : HOOK_FOUND;
}

/* --- URLs --- */

/* What was stored before URLs were looked at. */
static int of_url(const char *url, const char *query, struct arena *a, struct hook_target *ret,
		  struct error *err)
{
	struct str rest = str_of(url);
	if (!str_has_prefix(rest, STR(HTTPS)))
		return error_set(err, E_INVALID, "want a URL of https");
	int64_t slash = str_find_char(str_sub(rest, strlen(HTTPS), rest.len), '/');
	size_t end = slash < 0 ? rest.len : strlen(HTTPS) + (size_t)slash;
	ret->base_url = arena_strndup(a, url, end);
	ret->path = arena_fmt(a, "%s%s", slash < 0 ? "/" : url + end, query);
	ret->shown = arena_fmt(a, "%s%s%s", url, slash < 0 ? "/" : "", query);
	return HOOK_FOUND;
}

int hook_target_find(struct apiserver *s, const struct obj *client_config, int64_t timeout_s,
		     struct arena *a, struct hook_target *ret, struct error *err)
{
	const struct obj *service = obj_get(client_config, "service");
	const char *query = arena_fmt(a, "?timeout=%llds", (long long)timeout_s);
	struct str ca = obj_as_str(obj_get(client_config, "caBundle"));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CA_BYTES_MAX);
	*ret = (struct hook_target){0};
	if (ca.len && !base64_decode(ca, &b))
		return error_set(err, E_INVALID, "caBundle is no base64");
	if (b.len)
		ret->ca_pem = arena_strndup(a, b.buf, b.len);
	return obj_type(service) == OBJ_MAP
		       ? of_service(s, service, query, a, ret, err)
		       : of_url(text(client_config, "url"), query, a, ret, err);
}

/* --- connections --- */

struct hook_line {
	struct transport *transport;
	size_t n_calls;
};

struct hook_lines {
	struct apiserver *server;
	struct map *lines; /* digest of the target -> struct hook_line, the one used last is last */
};

static void line_free(void *p)
{
	struct hook_line *l = p;
	transport_free(l->transport);
	xfree(l);
}

struct hook_lines *hook_lines_new(struct apiserver *s)
{
	struct hook_lines *l = xcalloc(1, sizeof(*l));
	l->server = s;
	l->lines = map_new(line_free);
	return l;
}

void hook_lines_free(struct hook_lines *l)
{
	if (!l)
		return;
	map_free(l->lines);
	xfree(l);
}

static void key_of(const struct hook_target *t, char out[SHA256_HEX])
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CA_BYTES_MAX * 2);
	strbuf_addf(&b, "%s\n%s\n%s", t->base_url, t->server_name ? t->server_name : "",
		    t->ca_pem ? t->ca_pem : "");
	sha256_hex(strbuf_str(&b), out);
}

/* Those that nobody has used for longest go first. */
static void make_room(struct hook_lines *l)
{
	for (struct map_entry *e = map_first(l->lines), *next;
	     e && map_count(l->lines) >= HOOK_LINES_MAX; e = next) {
		struct hook_line *line = e->value;
		next = map_next(e);
		if (line->n_calls == 0)
			map_del(l->lines, e->key);
	}
}

int hook_line_get(struct hook_lines *l, const struct hook_target *t, struct hook_line **ret,
		  struct error *err)
{
	char key[SHA256_HEX];
	struct apiserver *s = l->server;
	const struct transport_config c = {.base_url = t->base_url,
					   .tls_server_name = t->server_name,
					   .ca_pem = t->ca_pem,
					   .user_agent = "kube-apiserver-admission"};
	key_of(t, key);
	struct hook_line *line = map_take(l->lines, key);
	if (!line) {
		struct transport *transport = NULL;
		if (!s->config.dial)
			return error_set(err, E_UNSUPPORTED, "this server calls no webhooks");
		if (s->config.dial(s->loop, &c, &transport, err) < 0)
			return -err->code;
		make_room(l);
		line = xcalloc(1, sizeof(*line));
		line->transport = transport;
	}
	map_set(l->lines, key, line); /* to the end */
	line->n_calls++;
	*ret = line;
	return 0;
}

struct transport *hook_line_transport(struct hook_line *l)
{
	return l->transport;
}

void hook_line_put(struct hook_line *l)
{
	l->n_calls--;
}
