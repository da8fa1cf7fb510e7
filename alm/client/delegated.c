#include "alm/client/delegated.h"

#include <string.h>
#include <strings.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/mem.h"
#include "alm/obj/json.h"

#define TRUST_BYTES_MAX ((size_t)1 << 20)
#define MASTERS         "system:masters"
#define AUTHENTICATED   "system:authenticated"
#define UNAUTHENTICATED "system:unauthenticated"

/* --- whom a proxy names --- */

static const struct obj *strings_of(const struct obj *data, const char *key, struct arena *a,
				    bool *ret_bad)
{
	struct error ignored = ERROR_INIT;
	struct obj *list = NULL;
	const char *text = obj_as_string(obj_get(data, key));
	if (!text || !*text)
		return NULL;
	if (json_parse(str_of(text), &list, &ignored) == 0)
		obj_keep(a, list);
	*ret_bad = *ret_bad || obj_type(list) != OBJ_LIST;
	for (size_t i = 0; i < obj_len(list); i++)
		*ret_bad = *ret_bad || !obj_as_string(obj_at(list, i));
	return *ret_bad ? NULL : list;
}

struct proxy_trust proxy_trust_read(const struct obj *configmap, struct arena *a)
{
	const struct obj *data = obj_get(configmap, "data");
	const char *ca = obj_as_string(obj_get(data, "requestheader-client-ca-file"));
	bool bad = false;
	struct proxy_trust t = {
		.ca_pem = ca && *ca ? ca : NULL,
		.names = strings_of(data, "requestheader-allowed-names", a, &bad),
	};
	if (bad)
		t.ca_pem = NULL;
	bad = false;
	t.user = strings_of(data, "requestheader-username-headers", a, &bad);
	t.uid = strings_of(data, "requestheader-uid-headers", a, &bad);
	t.group = strings_of(data, "requestheader-group-headers", a, &bad);
	t.extra = strings_of(data, "requestheader-extra-headers-prefix", a, &bad);
	return t;
}

static bool is_trusted(const struct proxy_trust *t, const char *name)
{
	if (!t->ca_pem || !name)
		return false;
	for (size_t i = 0; i < obj_len(t->names); i++)
		if (cstr_eq(obj_as_string(obj_at(t->names, i)), name))
			return true;
	return obj_len(t->names) == 0;
}

/* The value of the first of these headers that is there. */
static const char *first_of(const struct obj *names, const struct http_headers *h)
{
	for (size_t i = 0; i < obj_len(names); i++) {
		const char *value = http_header(h, obj_as_string(obj_at(names, i)));
		if (value && *value)
			return value;
	}
	return NULL;
}

static const char *proxied_name(const struct proxy_trust *t, const struct http_request *r)
{
	return is_trusted(t, r->client_name) ? first_of(t->user, &r->headers) : NULL;
}

static bool list_has(const struct obj *list, const char *s)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), s))
			return true;
	return false;
}

/* As every API server: who is not nobody is one of all. */
static void add_authenticated(struct obj *groups)
{
	if (!list_has(groups, AUTHENTICATED) && !list_has(groups, UNAUTHENTICATED))
		obj_append(groups, obj_string(AUTHENTICATED));
}

static void add_groups(const struct proxy_trust *t, const struct http_headers *h,
		       struct obj *groups)
{
	for (size_t i = 0; i < obj_len(t->group); i++) {
		const char *name = obj_as_string(obj_at(t->group, i));
		for (size_t j = 0; j < h->n; j++)
			if (strcasecmp(h->items[j].name, name) == 0)
				obj_append(groups, obj_string(h->items[j].value));
	}
	add_authenticated(groups);
}

/* X-Remote-Extra-KEY: the key is in lower case, and escaped where a header has no such sign. */
static void add_extra(struct obj *extra, const char *key, const char *value, struct arena *a)
{
	char *plain = url_decode(str_of(key), false, a);
	if (!plain || !*plain)
		return;
	for (char *p = plain; *p; p++)
		*p = char_lower(*p);
	if (!obj_has(extra, plain))
		obj_set(extra, plain, obj_list());
	obj_append(obj_get_mut(extra, plain), obj_string(value));
}

static void add_extras(const struct proxy_trust *t, const struct http_headers *h, struct obj *extra,
		       struct arena *a)
{
	for (size_t i = 0; i < obj_len(t->extra); i++) {
		const char *prefix = obj_as_string(obj_at(t->extra, i));
		size_t n = strlen(prefix);
		for (size_t j = 0; n && j < h->n; j++)
			if (strncasecmp(h->items[j].name, prefix, n) == 0)
				add_extra(extra, h->items[j].name + n, h->items[j].value, a);
	}
}

struct obj *proxy_user(const struct proxy_trust *t, const struct http_request *r, struct arena *a)
{
	const char *name = proxied_name(t, r), *uid = first_of(t->uid, &r->headers);
	if (!name)
		return NULL;
	struct obj *user = obj_map(), *groups = obj_list(), *extra = obj_map();
	add_groups(t, &r->headers, groups);
	add_extras(t, &r->headers, extra, a);
	obj_set_str(user, "user", name);
	if (uid)
		obj_set_str(user, "uid", uid);
	obj_set(user, "groups", groups);
	obj_set(user, "extra", extra);
	return user;
}

/* --- what the cluster says of proxies --- */

struct delegated {
	struct client *client;
	struct loop *loop;
	delegated_trust_fn tell;
	void *arg;
	struct client_call *call;
	struct timer timer;
	struct arena *arena; /* of trust; NULL: not read yet */
	struct obj *configmap;
	struct proxy_trust trust;
	bool told; /* that it cannot be read */
};

static void read_trust(void *arg);

static void not_read(struct delegated *d, const char *why)
{
	if (!d->told)
		log_warn("who may speak for the users of the cluster is not known (ConfigMap "
			 "kube-system/extension-apiserver-authentication)",
			 "error", why);
	d->told = true;
	loop_arm(d->loop, &d->timer, DELEGATED_READ_AGAIN_NS);
}

static void take_trust(struct delegated *d, const struct obj *configmap)
{
	struct error err = ERROR_INIT;
	struct arena *a = arena_new(TRUST_BYTES_MAX);
	struct obj *kept = obj_ref(configmap);
	struct proxy_trust t = proxy_trust_read(kept, a);
	bool same = d->arena && cstr_eq(t.ca_pem, d->trust.ca_pem);
	int r = same ? 0 : d->tell(d->arg, t.ca_pem, &err);
	if (r < 0) {
		obj_unref(kept);
		arena_free(a);
		not_read(d, err.msg);
		return;
	}
	if (!t.ca_pem && !same)
		log_warn("the API server of the cluster names no CA of a proxy: users are those of "
			 "tokens only, and an APIService is answered 401",
			 "flag", "--requestheader-client-ca-file");
	obj_unref(d->configmap);
	arena_free(d->arena);
	d->configmap = kept;
	d->arena = a;
	d->trust = t;
	d->told = false;
	loop_arm(d->loop, &d->timer, DELEGATED_READ_NS);
}

static void trust_came(void *arg, const struct client_reply *reply)
{
	struct delegated *d = arg;
	d->call = NULL;
	if (reply->err)
		not_read(d, reply->err->msg);
	else
		take_trust(d, reply->body);
}

static void read_trust(void *arg)
{
	static const struct resource configmaps = {"", "v1", "configmaps", "ConfigMap", true};
	struct delegated *d = arg;
	d->call = client_get(d->client, &configmaps, "kube-system",
			     "extension-apiserver-authentication", NULL, trust_came, d);
}

struct delegated *delegated_new(struct client *c)
{
	struct delegated *d = xcalloc(1, sizeof(*d));
	d->client = c;
	d->loop = client_loop(c);
	d->timer = (struct timer){.fn = read_trust, .arg = d};
	return d;
}

void delegated_start(struct delegated *d, delegated_trust_fn trust, void *arg)
{
	d->tell = trust;
	d->arg = arg;
	read_trust(d);
}

void delegated_free(struct delegated *d)
{
	if (!d)
		return;
	if (d->call)
		client_cancel(d->client, d->call);
	loop_disarm(d->loop, &d->timer);
	obj_unref(d->configmap);
	arena_free(d->arena);
	xfree(d);
}

const char *delegated_proxied(const struct delegated *d, const struct http_request *r,
			      struct arena *a)
{
	const char *name = proxied_name(&d->trust, r);
	return name ? arena_strdup(a, name) : NULL;
}

/* --- one question --- */

struct delegated_ask {
	struct delegated *d;
	const struct exchange *x;
	const struct rbac_attributes *at;
	const char *version;
	struct client_call *call;
	struct obj *user;
	struct task task; /* of an answer that needs nobody */
	struct error err;
	delegated_fn done;
	void *arg;
};

static const struct client_options review = {
	.asks = true, .urgent = true, .timeout_ns = DELEGATED_REVIEW_NS};

void delegated_cancel(struct delegated_ask *q)
{
	if (!q)
		return;
	if (q->call)
		client_cancel(q->d->client, q->call);
	loop_unpost(q->d->loop, &q->task);
	obj_unref(q->user);
	xfree(q);
}

static void end(struct delegated_ask *q, const struct error *err)
{
	struct obj *user = STEAL(q->user);
	const char *name = obj_str(user, "user");
	delegated_fn done = q->done;
	void *arg = q->arg;
	struct error told = ERROR_INIT;
	if (err)
		told = *err;
	delegated_cancel(q);
	done(arg, name ? name : "", err ? &told : NULL);
	obj_unref(user);
}

static void end_now(void *arg)
{
	struct delegated_ask *q = arg;
	end(q, q->err.code ? &q->err : NULL);
}

/* 0: the review was answered. */
static int check(const struct client_reply *reply, struct error *err)
{
	if (!reply->err)
		return 0;
	log_warn("the API server does not say who asks and what he may", "error", reply->err->msg);
	return error_set(err, E_UNAVAILABLE,
			 "the API server of the cluster does not say who may: %s", reply->err->msg);
}

static void may_came(void *arg, const struct client_reply *reply)
{
	struct delegated_ask *q = arg;
	struct error err = ERROR_INIT;
	q->call = NULL;
	if (check(reply, &err) == 0 && !obj_flag(reply->body, "status.allowed", false))
		(void)error_set(&err, E_FORBIDDEN, "forbidden");
	end(q, err.code ? &err : NULL);
}

static struct obj *attributes(const struct delegated_ask *q)
{
	const struct rbac_attributes *at = q->at;
	struct obj *o = obj_map();
	const char *const parts[][2] = {{"verb", at->verb},
					{"path", at->is_resource ? NULL : at->path},
					{"group", at->is_resource ? at->group : NULL},
					{"version", at->is_resource ? q->version : NULL},
					{"resource", at->is_resource ? at->resource : NULL},
					{"subresource", at->is_resource ? at->subresource : NULL},
					{"namespace", at->is_resource ? at->ns : NULL},
					{"name", at->is_resource ? at->name : NULL}};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i][1] && *parts[i][1])
			obj_set_str(o, parts[i][0], parts[i][1]);
	return o;
}

static struct obj *review_of(const char *group, const char *kind, struct obj *spec)
{
	struct obj *o = obj_map();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/v1", group);
	obj_set_str(o, "apiVersion", b.buf);
	obj_set_str(o, "kind", kind);
	obj_set(o, "spec", spec);
	return o;
}

/* Of a known user. */
static void ask_may(struct delegated_ask *q)
{
	static const struct resource reviews = {
		"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false};
	if (list_has(obj_get(q->user, "groups"), MASTERS)) {
		loop_post(q->d->loop, &q->task);
		return;
	}
	struct obj *spec = obj_copy(q->user);
	obj_set(spec, q->at->is_resource ? "resourceAttributes" : "nonResourceAttributes",
		attributes(q));
	CLEANUP(obj_unrefp) struct obj *body = review_of(reviews.group, reviews.kind, spec);
	q->call = client_create(q->d->client, &reviews, NULL, body, &review, may_came, q);
}

static void who_came(void *arg, const struct client_reply *reply)
{
	struct delegated_ask *q = arg;
	struct error err = ERROR_INIT;
	q->call = NULL;
	const struct obj *user = obj_path(reply->body, "status.user");
	const char *name = obj_str(user, "username");
	if (check(reply, &err) < 0) {
		end(q, &err);
		return;
	}
	if (!obj_flag(reply->body, "status.authenticated", false) || !name || !*name) {
		(void)error_set(&err, E_UNAUTHORIZED, "Unauthorized");
		end(q, &err);
		return;
	}
	const struct obj *groups = obj_get(user, "groups"), *extra = obj_get(user, "extra");
	const char *uid = obj_str(user, "uid");
	struct obj *list = obj_len(groups) ? obj_copy(groups) : obj_list();
	add_authenticated(list);
	q->user = obj_map();
	obj_set_str(q->user, "user", name);
	if (uid && *uid)
		obj_set_str(q->user, "uid", uid);
	obj_set(q->user, "groups", list);
	if (obj_len(extra))
		obj_set(q->user, "extra", obj_copy(extra));
	ask_may(q);
}

static struct str bearer(const struct http_request *r)
{
	static const char scheme[] = "Bearer ";
	const char *header = http_header(&r->headers, "Authorization");
	if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1) != 0)
		return STR_NONE;
	return str_trim(str_of(header + sizeof(scheme) - 1));
}

static void ask_who(struct delegated_ask *q)
{
	static const struct resource reviews = {"authentication.k8s.io", "v1", "tokenreviews",
						"TokenReview", false};
	struct str token = bearer(q->x->request);
	if (!token.len || token.len > DELEGATED_TOKEN_BYTES_MAX) {
		(void)error_set(&q->err, E_UNAUTHORIZED, "Unauthorized");
		loop_post(q->d->loop, &q->task);
		return;
	}
	struct obj *spec = obj_map();
	obj_set(spec, "token", obj_stringn(token));
	CLEANUP(obj_unrefp) struct obj *body = review_of(reviews.group, reviews.kind, spec);
	q->call = client_create(q->d->client, &reviews, NULL, body, &review, who_came, q);
}

struct delegated_ask *delegated_ask(struct delegated *d, const struct exchange *x,
				    const struct rbac_attributes *at, const char *version,
				    delegated_fn done, void *arg)
{
	struct delegated_ask *q = xcalloc(1, sizeof(*q));
	*q = (struct delegated_ask){
		.d = d, .x = x, .at = at, .version = version, .done = done, .arg = arg};
	q->task = (struct task){.fn = end_now, .arg = q};
	q->user = proxy_user(&d->trust, x->request, x->arena);
	if (q->user)
		ask_may(q);
	else
		ask_who(q);
	return q;
}
