/* Live answers, one after the other: what a template looks up, time zones, and lists by label. Each
 * need gets its answer (render_host.h) or the error that the template shall fail with. */
#include <string.h>

#include "alm/engine/executor_run.h"
#include "alm/io/http.h"
#include "alm/io/zones.h"
#include "alm/obj/meta.h"
#include "alm/render/render_host.h"

static void ask_next(struct step_call *c);

static const struct obj *need_of(const struct step_call *c)
{
	return obj_at(c->action->body, c->at - 1);
}

/* value is consumed; NULL: there is none. */
static void answer(struct step_call *c, const char *error, struct obj *value)
{
	struct obj *a = obj_copy(need_of(c));
	if (error)
		obj_set_str(a, "error", error);
	else
		obj_set(a, "value", value ? value : obj_null());
	obj_append(c->found, a);
}

/* Not the template's failure: the rights may come. */
static void answer_denied(struct step_call *c, const char *error)
{
	struct obj *a = obj_copy(need_of(c));
	obj_set_str(a, "error", error);
	obj_set_bool(a, "denied", true);
	obj_set_int(a, "rightsVersion", (int64_t)c->action->rights_version);
	obj_set_int(a, "rightsSince", c->action->rights_since_ns);
	obj_append(c->found, a);
}

static void answer_large(struct step_call *c)
{
	struct obj *a = obj_copy(need_of(c));
	obj_set_str(a, "error", "RenderLimit: the answers have more than 16 MiB");
	obj_set_bool(a, "large", true);
	obj_append(c->found, a);
}

static void answer_zone(struct step_call *c, const char *zone)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	struct str bytes;
	if (zones_read(NULL, a, str_of(zone), &bytes) < 0) {
		answer(c, NULL, NULL);
		return;
	}
	base64_encode(bytes, &text);
	answer(c, NULL, obj_stringn(strbuf_str(&text)));
}

/* A list answers with SecretList; its items say their own kind, as client-go makes them. */
static struct obj *own_copy(const struct step_call *c, const struct obj *body)
{
	struct obj *o = obj_copy(body);
	const char *name = obj_str(need_of(c), "name"); /* of one object, whose items are its own */
	struct obj *items = (!name || !*name) && obj_type(obj_get(o, "items")) == OBJ_LIST
				    ? obj_get_mut(o, "items")
				    : NULL;
	for (size_t i = 0; i < obj_len(items); i++) {
		struct obj *item = obj_at_mut(items, i);
		if (!meta_kind(item))
			obj_set_str(item, "kind", c->resource->kind);
		if (!meta_api_version(item))
			obj_set_str(item, "apiVersion", obj_str(need_of(c), "apiVersion"));
	}
	return o;
}

static void answered(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	c->call = NULL;
	bool told = obj_flag(need_of(c), "tolerant", false) && reply->err &&
		    reply->err->code == E_INTERNAL; /* a converter's failure is an answer */
	if (reply->err && error_retry(reply->err->code) == RETRY_BACKOFF &&
	    reply->err->code != E_FORBIDDEN &&
	    !told) { /* the server's trouble, not the template's */
		run_fail(c->run, reply->err);
		call_done(c);
		return;
	}
	c->bytes += reply->text.len;
	if (c->bytes > RENDER_ANSWERS_MAX || (reply->err && reply->err->code == E_LIMIT))
		answer_large(c);
	else if (reply->err && reply->err->code == E_FORBIDDEN && c->action->as)
		answer_denied(c, reply->err->msg);
	else if (reply->err && reply->err->code != E_NOTFOUND)
		answer(c, reply->err->msg, NULL);
	else
		answer(c, NULL, reply->err ? NULL : own_copy(c, reply->body));
	ask_next(c);
}

static const char *query_of(struct run *r, const char *selector)
{
	return selector ? arena_fmt(r->a, "labelSelector=%s", url_encode(str_of(selector), r->a))
			: "";
}

/* A name that would leave its place in the path names nothing. */
static bool is_dots(const char *s)
{
	return s && (!strcmp(s, ".") || !strcmp(s, ".."));
}

static void kind_found(void *arg, const struct resource *found, const struct error *err)
{
	struct step_call *c = arg;
	struct run *r = c->run;
	struct client *client = r->x->c.client;
	const struct obj *need = need_of(c);
	const char *ns = obj_str(need, "namespace"), *name = obj_str(need, "name");
	if (!found) {
		answer(c,
		       arena_fmt(r->a,
				 "unable to get apiresource from unstructured: %s, Kind=%s: %s",
				 obj_str(need, "apiVersion") ? obj_str(need, "apiVersion") : "any",
				 obj_str(need, "kind"), err ? err->msg : "not served"),
		       NULL);
		ask_next(c);
		return;
	}
	if (is_dots(ns) || is_dots(name)) {
		answer(c, NULL, NULL);
		ask_next(c);
		return;
	}
	struct resource *own = ARENA_NEW(r->a, struct resource);
	*own = resource_copy(found, r->a);
	c->resource = own;
	if (!own->namespaced || (ns && !*ns))
		ns = NULL;
	const struct client_options o = {.as = c->action->as};
	if (name && *name)
		c->call = client_get(client, own, ns, name, &o, answered, c);
	else
		c->call = client_list_with(client, own, ns, query_of(r, obj_str(need, "selector")),
					   &o, answered, c);
}

static void ask_next(struct step_call *c)
{
	struct run *r = c->run;
	while (c->at < obj_len(c->action->body)) {
		const struct obj *need = obj_at(c->action->body, c->at++);
		const char *zone = obj_str(need, "zone"), *text = obj_str(need, "apiVersion");
		struct str group, version;
		if (zone) {
			answer_zone(c, zone);
			continue;
		}
		if (!str_cut(str_of(text ? text : ""), '/', &group, &version)) {
			version = group;
			group = STR("");
		}
		const char *kind = obj_str(need, "kind");
		if (!text) { /* what a person wrote */
			discovery_require_name(r->x->c.discovery, kind ? kind : "", kind_found, c);
			return;
		}
		discovery_require_kind(r->x->c.discovery, arena_strndup(r->a, group.ptr, group.len),
				       arena_strndup(r->a, version.ptr, version.len),
				       kind ? kind : "", kind_found, c);
		return;
	}
	run_put(r, c->action->id, NULL, STR_NONE, STEAL(c->found));
	call_done(c);
}

void work_ask(struct run *r, struct action *a)
{
	struct step_call *c = call_new(r, a);
	c->found = obj_list();
	ask_next(c);
}
