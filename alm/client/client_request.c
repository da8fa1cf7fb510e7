/* client_request: what is asked, one function a request (client.h); client.c sends it. */
#include <assert.h>
#include <string.h>

#include "alm/client/client.h"
#include "alm/client/client_internal.h"
#include "alm/obj/json.h"

#define METADATA_ACCEPT \
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

static const struct client_options no_options;

static void add_header(struct client_call *k, const char *name, const char *value)
{
	bool ok = http_header_add(&k->request.headers, name, arena_strdup(k->arena, value));
	assert(ok);
}

static struct client_call *call_new(struct client *c, const char *method,
				    const struct client_options *o, client_reply_fn fn, void *arg)
{
	struct client_call *k = client_call_new(c, method, o, fn, arg);
	if (o->as) {
		assert(!strpbrk(o->as, "\r\n")); /* the request would be the client's own */
		add_header(k, "Impersonate-User", o->as);
	}
	if (o->audit_id) {
		k->request.trusted_audit_id = arena_strdup(k->arena, o->audit_id);
		http_header_add(&k->request.headers, "Audit-ID", k->request.trusted_audit_id);
	}
	return k;
}

static void set_body(struct client_call *k, const char *type, struct str body)
{
	k->request.body.ptr = arena_memdup(k->arena, body.ptr, body.len);
	k->request.body.len = body.len;
	add_header(k, "Content-Type", type);
}

static void set_object(struct client_call *k, const char *type, const struct obj *o)
{
	CLEANUP(xfreep) char *text = json_text(o);
	set_body(k, type, str_of(text));
}

/* The path with fieldManager, force, dryRun and fieldValidation, as far as they are wanted. */
static const char *write_target(struct client_call *k, const char *path,
				const struct client_options *o, bool apply)
{
	const char *manager = o->field_manager ? o->field_manager : CLIENT_FIELD_MANAGER;
	return arena_fmt(
		k->arena, "%s?fieldManager=%s%s%s%s", path, url_encode(str_of(manager), k->arena),
		apply ? (o->force ? "&force=true" : "&force=false") : "",
		o->dry_run ? "&dryRun=All" : "", o->strict ? "&fieldValidation=Strict" : "");
}

struct client_call *client_read(struct client *c, const char *target, const char *accept,
				const struct client_options *o, client_reply_fn fn, void *arg)
{
	struct client_call *k = call_new(c, "GET", o ? o : &no_options, fn, arg);
	k->request.target = arena_strdup(k->arena, target);
	add_header(k, "Accept", accept ? accept : "application/json");
	return client_call_start(k);
}

struct client_call *client_text(struct client *c, const char *target,
				const struct client_options *o, client_reply_fn fn, void *arg)
{
	struct client_call *k = call_new(c, "GET", o, fn, arg);
	k->is_raw = true;
	k->request.target = arena_strdup(k->arena, target);
	add_header(k, "Accept", "application/json, */*"); /* a refusal is a Status */
	return client_call_start(k);
}

struct client_call *client_get(struct client *c, const struct resource *r, const char *ns,
			       const char *name, const struct client_options *o, client_reply_fn fn,
			       void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "GET", o, fn, arg);
	k->request.target = resource_path(r, ns, name, o->subresource, k->arena);
	add_header(k, "Accept", "application/json");
	return client_call_start(k);
}

struct client_call *client_list_with(struct client *c, const struct resource *r, const char *ns,
				     const char *query, const struct client_options *o,
				     client_reply_fn fn, void *arg)
{
	struct client_call *k = call_new(c, "GET", o ? o : &no_options, fn, arg);
	const char *path = resource_path(r, ns, NULL, NULL, k->arena);
	k->request.target = *query ? arena_fmt(k->arena, "%s?%s", path, query) : path;
	k->is_list = true;
	add_header(k, "Accept", o && o->metadata_only ? METADATA_ACCEPT : "application/json");
	return client_call_start(k);
}

struct client_call *client_list(struct client *c, const struct resource *r, const char *ns,
				const char *query, client_reply_fn fn, void *arg)
{
	return client_list_with(c, r, ns, query, NULL, fn, arg);
}

static struct client_call *write_object(struct client_call *k, const char *path, const char *type,
					const struct obj *body, const struct client_options *o)
{
	k->request.target =
		write_target(k, path, o, strcmp(type, "application/apply-patch+yaml") == 0);
	add_header(k, "Accept", "application/json");
	set_object(k, type, body);
	return client_call_start(k);
}

struct client_call *client_create(struct client *c, const struct resource *r, const char *ns,
				  const struct obj *body, const struct client_options *o,
				  client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "POST", o, fn, arg);
	const char *path = resource_path(r, ns, NULL, NULL, k->arena);
	return write_object(k, path, "application/json", body, o);
}

struct client_call *client_replace(struct client *c, const struct resource *r, const char *ns,
				   const char *name, const struct obj *body,
				   const struct client_options *o, client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "PUT", o, fn, arg);
	const char *path = resource_path(r, ns, name, o->subresource, k->arena);
	return write_object(k, path, "application/json", body, o);
}

/* NOLINTNEXTLINE(readability-function-size): what, with which type, and whom to tell */
struct client_call *client_patch(struct client *c, const struct resource *r, const char *ns,
				 const char *name, const char *type, const struct obj *patch,
				 const struct client_options *o, client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "PATCH", o, fn, arg);
	const char *path = resource_path(r, ns, name, o->subresource, k->arena);
	return write_object(k, path, type, patch, o);
}

struct client_call *client_apply(struct client *c, const struct resource *r, const char *ns,
				 const char *name, const struct obj *body,
				 const struct client_options *o, client_reply_fn fn, void *arg)
{
	return client_patch(c, r, ns, name, "application/apply-patch+yaml", body, o, fn, arg);
}

static struct obj *delete_options(const struct client_options *o)
{
	struct obj *body = obj_map();
	obj_set_str(body, "apiVersion", "v1");
	obj_set_str(body, "kind", "DeleteOptions");
	if (o->uid)
		obj_set_path(body, "preconditions.uid", obj_string(o->uid));
	if (o->resource_version)
		obj_set_path(body, "preconditions.resourceVersion",
			     obj_string(o->resource_version));
	obj_set_str(body, "propagationPolicy", o->propagation);
	if (o->dry_run) {
		obj_set(body, "dryRun", obj_list());
		obj_append(obj_get_mut(body, "dryRun"), obj_string("All"));
	}
	return body;
}

struct client_call *client_delete(struct client *c, const struct resource *r, const char *ns,
				  const char *name, const struct client_options *o,
				  client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "DELETE", o, fn, arg);
	CLEANUP(obj_unrefp) struct obj *body = delete_options(o);
	k->request.target = resource_path(r, ns, name, NULL, k->arena);
	add_header(k, "Accept", "application/json");
	set_object(k, "application/json", body);
	return client_call_start(k);
}

struct client_call *client_raw(struct client *c, const char *method, const char *target,
			       struct str body, const char *content_type, client_reply_fn fn,
			       void *arg)
{
	struct client_call *k = call_new(c, method, &no_options, fn, arg);
	k->is_raw = true;
	k->request.method = arena_strdup(k->arena, method);
	k->request.target = arena_strdup(k->arena, target);
	add_header(k, "Accept", "application/json, */*");
	if (body.len)
		set_body(k, content_type ? content_type : "application/json", body);
	return client_call_start(k);
}
