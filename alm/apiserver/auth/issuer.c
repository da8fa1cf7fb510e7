/* issuer: see issuer.h. */
#include "alm/apiserver/auth/issuer.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/status.h"
#include "alm/base/clock.h"
#include "alm/obj/meta.h"

#define PAGE_BYTES_MAX   8192
#define SECONDS_MAX      (INT64_C(1) << 32)
#define OLD_NAMESPACE    "kube-system"
#define OLD_SECRET       "alm-service-account-key"
#define OLD_SECRET_TYPE  "app.coreos.com/service-account-key"
#define DISCOVERY_PATH   "/.well-known/openid-configuration"
#define KEYS_PATH        "/openid/v1/jwks"
#define REQUEST_RESOURCE "authentication.k8s.io"

struct issuer {
	struct token_keys keys;
	struct obj *audiences;
	const char *address; /* borrowed from the server */
};

static const struct engine controller = {.user = "system:apiserver", .manager = "kube-apiserver"};

static int add_key(struct issuer *i, const char *pem, const char *what, struct error *err)
{
	if (jws_key_read(pem, &i->keys.items[i->keys.n], err) < 0)
		return error_wrap(err, "%s", what);
	i->keys.n++;
	return 0;
}

int issuer_new(const struct apiserver_config *c, struct issuer **ret, struct error *err)
{
	CLEANUP(issuer_freep) struct issuer *i = xcalloc(1, sizeof(*i));
	CLEANUP(xfreep) char *fresh = NULL;
	i->address = c->address;
	i->audiences = obj_list();
	obj_append(i->audiences, obj_string(TOKEN_ISSUER));
	if (!c->account_key && jws_key_new(&fresh, err) < 0)
		return -err->code;
	if (add_key(i, c->account_key ? c->account_key : fresh, "key of ServiceAccount tokens",
		    err) < 0)
		return -err->code;
	if (c->account_old_key &&
	    add_key(i, c->account_old_key, "old key of ServiceAccount tokens", err) < 0)
		return -err->code;
	*ret = STEAL(i);
	return 0;
}

void issuer_free(struct issuer *i)
{
	if (!i)
		return;
	for (size_t n = 0; n < i->keys.n; n++)
		jws_key_free(i->keys.items[n]);
	obj_unref(i->audiences);
	xfree(i);
}

const struct obj *issuer_audiences(const struct issuer *i)
{
	return i->audiences;
}

int issuer_verify(const struct issuer *i, struct str token, const struct obj *audiences,
		  int64_t now_s, struct obj **ret_claims, struct error *err)
{
	return token_verify(&i->keys, token, audiences, now_s, ret_claims, err);
}

/* POST serviceaccounts/NAME/token. */

static int wrong_field(struct request *r, enum field_error_type type, const char *field,
		       const char *why, struct error *err)
{
	return fail_invalid_one(r, REQUEST_RESOURCE, "TokenRequest", "", type, field, err, "%s",
				why);
}

static int audiences_of(struct issuer *i, struct request *r, const struct obj *spec,
			const struct obj **ret, struct error *err)
{
	const struct obj *list = obj_get(spec, "audiences");
	if (obj_len(list) > TOKEN_AUDIENCES_MAX)
		return wrong_field(r, FIELD_INVALID, "spec.audiences",
				   "Invalid value: must be a list of at most 64 strings", err);
	*ret = obj_len(list) ? list : i->audiences;
	return 0;
}

/* Too long a life is shortened with a warning, as by --service-account-max-token-expiration. */
static int seconds_of(struct request *r, const struct obj *spec, int64_t *ret, struct error *err)
{
	int64_t n = ISSUER_EXPIRATION_DEFAULT_S;
	obj_as_i64(obj_get(spec, "expirationSeconds"), &n);
	if (n < ISSUER_EXPIRATION_MIN_S || n > SECONDS_MAX)
		return wrong_field(
			r, FIELD_INVALID, "spec.expirationSeconds",
			arena_fmt(r->arena, "Invalid value: %lld: may not specify a duration %s",
				  (long long)n,
				  n < ISSUER_EXPIRATION_MIN_S ? "less than 10 minutes"
							      : "larger than 2^32 seconds"),
			err);
	if (n > ISSUER_EXPIRATION_MAX_S) {
		request_warn(r, "requested expiration of %lld seconds shortened to %lld seconds",
			     (long long)n, (long long)ISSUER_EXPIRATION_MAX_S);
		n = ISSUER_EXPIRATION_MAX_S;
	}
	*ret = n;
	return 0;
}

static struct obj *answer_of(const struct request *r, const struct token_claims *c,
			     const char *token)
{
	char expires[CLOCK_TEXT_MAX];
	struct obj *o = meta_skeleton(REQUEST_RESOURCE "/v1", "TokenRequest", r->ns, r->name);
	struct obj *spec = obj_map();
	clock_format(c->expires_s * NS_PER_S, CLOCK_SECONDS, expires);
	obj_set(spec, "audiences", obj_copy(c->audiences));
	obj_set_int(spec, "expirationSeconds", c->expires_s - c->issued_s);
	obj_set(o, "spec", spec);
	obj_set_path(o, "status.token", obj_string(token));
	obj_set_path(o, "status.expirationTimestamp", obj_string(expires));
	return o;
}

int issuer_request(struct issuer *i, struct request *r, const struct obj *body, struct obj **ret,
		   struct error *err)
{
	char id[STORE_UID_TEXT];
	int64_t seconds = 0;
	struct token_claims c = {.ns = r->ns, .account = r->name, .id = id};
	const struct obj *spec = obj_get(body, "spec"), *bound = obj_get(spec, "boundObjectRef");
	struct head *h = store_find(request_store(r), "", "serviceaccounts", r->ns, r->name);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	if (!h)
		return fail_not_found(r, "", "serviceaccounts", r->name, err);
	if (bound)
		return wrong_field(r, FIELD_FORBIDDEN, "spec.boundObjectRef",
				   "Forbidden: tokens of this server live as long as their "
				   "ServiceAccount, they are bound to no other object",
				   err);
	if (audiences_of(i, r, spec, &c.audiences, err) < 0 ||
	    seconds_of(r, spec, &seconds, err) < 0)
		return -err->code;
	object_meta_uid(r->server->loop, id);
	c.account_uid = h->uid;
	c.issued_s = request_now(r) / NS_PER_S;
	c.expires_s = c.issued_s + seconds;
	if (token_sign(&i->keys, &c, &b, err) < 0)
		return -err->code;
	*ret = answer_of(r, &c, b.buf);
	return 0;
}

/* Discovery. */

static void print_discovery(const struct issuer *i, struct strbuf *b)
{
	strbuf_addf(b,
		    "{\"issuer\":\"" TOKEN_ISSUER "\",\"jwks_uri\":\"https://%s" KEYS_PATH
		    "\",\"response_types_supported\":[\"id_token\"],\"subject_types_supported\":["
		    "\"public\"],\"id_token_signing_alg_values_supported\":[\"ES256\"]}",
		    i->address);
}

static void print_keys(const struct issuer *i, struct strbuf *b)
{
	strbuf_adds(b, "{\"keys\":[");
	for (size_t n = 0; n < i->keys.n; n++) {
		strbuf_adds(b, n ? "," : "");
		jws_key_print(i->keys.items[n], b);
	}
	strbuf_adds(b, "]}");
}

bool issuer_page(const struct issuer *i, struct request *r)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PAGE_BYTES_MAX);
	bool keys = cstr_eq(r->path, KEYS_PATH) || cstr_eq(r->path, KEYS_PATH "/");
	bool discovery = cstr_eq(r->path, DISCOVERY_PATH) || cstr_eq(r->path, DISCOVERY_PATH "/");
	if ((!keys && !discovery) || (!cstr_eq(r->verb, "get") && !cstr_eq(r->verb, "head")))
		return false;
	if (keys)
		print_keys(i, &b);
	else
		print_discovery(i, &b);
	request_set_header(r, "Cache-Control", "public, max-age=3600");
	request_reply(r, 200, keys ? "application/jwk-set+json" : "application/json",
		      strbuf_str(&b));
	return true;
}

/* The Secret of old. */

void issuer_retire_secret(struct apiserver *s)
{
	struct error err = ERROR_INIT;
	struct head *h = store_find(s->store, "", "secrets", OLD_NAMESPACE, OLD_SECRET);
	if (!h || !cstr_eq(obj_str(head_obj_hot(h), "type"), OLD_SECRET_TYPE))
		return;
	if (engine_delete(s, &controller, h, PROPAGATE_DEFAULT, &err) < 0)
		server_notice(s,
			      "secret " OLD_NAMESPACE "/" OLD_SECRET
			      " could not be removed: %s; its key signs nothing any more",
			      err.msg);
	else
		server_notice(s, "ServiceAccount tokens are signed with a key of the data folder "
				 "now: secret " OLD_NAMESPACE "/" OLD_SECRET " was removed, tokens "
				 "that it signed are no longer valid, ask for new ones");
}
