#include "alm/sources/registry.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/base/hash.h"
#include "alm/obj/json_foreign.h"

#define CALL_BYTES      ((size_t)64 << 10)
#define TOKEN_BYTES_MAX ((size_t)64 << 10)
#define ERROR_BYTES_MAX ((size_t)64 << 10)

struct registry_call {
	TAILQ_ENTRY(registry_call) link;
	struct registry *registry;
	struct arena *a;
	struct registry_request request;
	struct weburl url;
	struct remote_call *call;
	bool repeated;
	remote_done done;
	void *arg;
};

struct registry {
	struct remote *remote;
	struct weburl base;
	const char *name, *actions;
	struct credentials credentials;
	struct arena *a;
	char *authorization; /* what the last challenge led to; wiped */
	TAILQ_HEAD(, registry_call) calls;
};

struct registry *registry_new(struct remote *r, const struct oci_reference *ref,
			      const struct credentials *c, const char *actions)
{
	struct registry *g = xcalloc(1, sizeof(*g));
	g->remote = r;
	g->a = arena_new(CALL_BYTES);
	g->base = (struct weburl){arena_strdup(g->a, ref->registry.origin), "/", NULL};
	g->name = arena_strdup(g->a, ref->name);
	g->actions = arena_strdup(g->a, actions);
	if (credentials_are_for(c, g->base.origin))
		g->credentials = *c;
	TAILQ_INIT(&g->calls);
	return g;
}

static void call_free(struct registry_call *c)
{
	if (c->call)
		remote_cancel(c->call);
	TAILQ_REMOVE(&c->registry->calls, c, link);
	arena_free(c->a);
	xfree(c);
}

static void set_authorization(struct registry *g, const char *text)
{
	if (g->authorization)
		explicit_bzero(g->authorization, strlen(g->authorization));
	xfree(g->authorization);
	g->authorization = text ? xstrdup(text) : NULL;
}

void registry_free(struct registry *g)
{
	struct registry_call *c;
	if (!g)
		return;
	while ((c = TAILQ_FIRST(&g->calls)) != NULL)
		call_free(c);
	set_authorization(g, NULL);
	arena_free(g->a);
	xfree(g);
}

static void finish(struct registry_call *c, const struct remote_reply *reply)
{
	c->call = NULL;
	c->done(c->arg, reply);
	call_free(c);
}

static void fail(struct registry_call *c, const struct remote_reply *reply, const struct error *err)
{
	struct remote_reply failed = *reply;
	failed.err = err;
	finish(c, &failed);
}

static void start(struct registry_call *c);

static void token_came(void *arg, const struct remote_reply *reply)
{
	struct registry_call *c = arg;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	c->call = NULL;
	if (remote_check(reply, &err) < 0 || json_foreign_parse(reply->body, &o, &err) < 0) {
		error_wrap(&err, "%s: token", c->registry->base.origin);
		fail(c, reply, &err);
		return;
	}
	const char *token = obj_str(o, "token");
	if (!token)
		token = obj_str(o, "access_token");
	if (!token || strpbrk(token, "\r\n")) {
		error_set(&err, E_IO, "%s: the token service gave no token",
			  c->registry->base.origin);
		fail(c, reply, &err);
		return;
	}
	set_authorization(c->registry, arena_fmt(c->a, "Bearer %s", token));
	start(c);
}

/* Asks the realm for a token. That the registry names it is no reason to send it the credentials:
 * they say themselves who may see them. */
static int ask_token(struct registry_call *c, const struct oci_challenge *ch, struct error *err)
{
	struct registry *g = c->registry;
	struct weburl realm;
	if (weburl_parse(str_of(ch->realm), "https", c->a, &realm, err) < 0)
		return error_wrap(err, "%s: realm of the challenge", g->base.origin);
	const char *scope =
		arena_fmt(c->a, "repository:%s:%s", g->name, g->actions); /* ours, not theirs */
	realm.query = arena_fmt(c->a, "%s%sscope=%s%s%s", realm.query ? realm.query : "",
				realm.query ? "&" : "", url_encode(str_of(scope), c->a),
				ch->service ? "&service=" : "",
				ch->service ? url_encode(str_of(ch->service), c->a) : "");
	const struct credentials *k = &g->credentials;
	if (k->username && !credentials_are_for(k, realm.origin))
		return error_set(err, E_NOTALLOWED,
				 "%s: its token service is %s, which the credentials are not for; "
				 "the key origins of the Secret (--token-service of a command) "
				 "lists it if it may see them",
				 g->base.origin, realm.origin);
	struct remote_request q = {
		.url = &realm,
		.authorization =
			k->username ? credentials_basic(k->username, k->password, c->a) : NULL,
		.body_max = TOKEN_BYTES_MAX};
	c->call = remote_send(g->remote, &q, token_came, c);
	return 0;
}

/* 0: another request is under way. */
static int answer_challenge(struct registry_call *c, const struct remote_reply *reply,
			    struct error *err)
{
	struct registry *g = c->registry;
	struct oci_challenge ch;
	const char *header = http_header(reply->headers, "WWW-Authenticate");
	if (!header || oci_challenge_parse(header, c->a, &ch, err) < 0)
		return error_set(err, E_UNAUTHORIZED, "%s: answers 401 without a challenge",
				 g->base.origin);
	if (ch.is_basic) {
		if (!g->credentials.username)
			return error_set(err, E_UNAUTHORIZED,
					 "%s: asks for a user name; the Secret of "
					 "spec.source.secretRef gives username and password",
					 g->base.origin);
		set_authorization(g, credentials_basic(g->credentials.username,
						       g->credentials.password, c->a));
		start(c);
		return 0;
	}
	if (g->credentials.token) {
		set_authorization(g, arena_fmt(c->a, "Bearer %s", g->credentials.token));
		start(c);
		return 0;
	}
	return ask_token(c, &ch, err);
}

static void came(void *arg, const struct remote_reply *reply)
{
	struct registry_call *c = arg;
	struct error err = ERROR_INIT;
	c->call = NULL;
	if (reply->err || reply->status != 401 || c->repeated ||
	    !weburl_same_origin(reply->url, &c->registry->base)) {
		finish(c, reply);
		return;
	}
	c->repeated = true;
	if (answer_challenge(c, reply, &err) < 0)
		fail(c, reply, &err);
}

static void start(struct registry_call *c)
{
	const struct registry_request *q = &c->request;
	struct remote_request r = {.method = q->method,
				   .url = &c->url,
				   .authorization = weburl_same_origin(&c->url, &c->registry->base)
							    ? c->registry->authorization
							    : NULL,
				   .accept = q->accept,
				   .content_type = q->content_type,
				   .if_none_match = q->if_none_match,
				   .body = q->body,
				   .body_max = q->body_max};
	c->call = remote_send(c->registry->remote, &r, came, c);
}

static const char *copy(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

void registry_send(struct registry *g, const struct registry_request *q, remote_done done,
		   void *arg)
{
	struct registry_call *c = xcalloc(1, sizeof(*c));
	c->registry = g;
	c->a = arena_new(CALL_BYTES + q->body.len);
	c->done = done;
	c->arg = arg;
	c->url = g->base;
	if (q->url)
		c->url = (struct weburl){arena_strdup(c->a, q->url->origin),
					 arena_strdup(c->a, q->url->path),
					 copy(c->a, q->url->query)};
	else {
		struct str path, query;
		bool has = str_cut(str_of(q->path), '?', &path, &query);
		c->url.path = arena_fmt(c->a, "/v2/%s%.*s", g->name, STR_ARG(path));
		c->url.query = has ? arena_text(c->a, query.ptr, query.len) : NULL;
	}
	c->request = (struct registry_request){
		.method = copy(c->a, q->method),
		.accept = copy(c->a, q->accept),
		.content_type = copy(c->a, q->content_type),
		.if_none_match = copy(c->a, q->if_none_match),
		.body = str_n(arena_text(c->a, q->body.ptr ? q->body.ptr : "", q->body.len),
			      q->body.len),
		.body_max = q->body_max ? q->body_max : ERROR_BYTES_MAX,
	};
	TAILQ_INSERT_TAIL(&g->calls, c, link);
	start(c);
}
