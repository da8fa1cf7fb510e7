/* Live answers, one after the other: what a template looks up, time zones, and lists by label. Each
 * need gets its answer (render_host.h) or the error that the template shall fail with. */
#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/io/http.h"
#include "alm/io/zones.h"
#include "alm/obj/meta.h"
#include "alm/render/render_host.h"

struct asking {
	size_t bytes;                    /* of all answers */
	const struct resource *resource; /* of the need under way */
};

static void ask_next(struct work *w);

static struct asking *state_of(const struct work *w)
{
	_Static_assert(sizeof(struct asking) <= WORK_STATE_BYTES, "it has no room");
	return (struct asking *)mem_unconst(w->state);
}

static const struct obj *need_of(const struct work *w)
{
	return obj_at(w->action->body, w->at - 1);
}

/* value is consumed; NULL: there is none. */
static void answer(struct work *w, const char *error, struct obj *value)
{
	struct obj *a = obj_copy(need_of(w));
	if (error)
		obj_set_str(a, "error", error);
	else
		obj_set(a, "value", value ? value : obj_null());
	obj_append(w->found, a);
}

/* Not the template's failure: the rights may come. */
static void answer_denied(struct work *w, const char *error)
{
	struct obj *a = obj_copy(need_of(w));
	obj_set_str(a, "error", error);
	obj_set_bool(a, "denied", true);
	obj_set_int(a, "rightsVersion", (int64_t)w->action->rights_version);
	obj_set_int(a, "rightsSince", w->action->rights_since_ns);
	obj_append(w->found, a);
}

static void answer_large(struct work *w)
{
	struct obj *a = obj_copy(need_of(w));
	obj_set_str(a, "error", "RenderLimit: the answers have more than 16 MiB");
	obj_set_bool(a, "large", true);
	obj_append(w->found, a);
}

static void answer_zone(struct work *w, const char *zone)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	struct str bytes;
	if (zones_read(NULL, a, str_of(zone), &bytes) < 0) {
		answer(w, NULL, NULL);
		return;
	}
	base64_encode(bytes, &text);
	answer(w, NULL, obj_stringn(strbuf_str(&text)));
}

/* A list answers with SecretList; its items say their own kind, as client-go makes them. */
static struct obj *own_copy(const struct work *w, const struct obj *body)
{
	struct obj *o = obj_copy(body);
	const char *name = obj_str(need_of(w), "name"); /* of one object, whose items are its own */
	struct obj *items = (!name || !*name) && obj_type(obj_get(o, "items")) == OBJ_LIST
				    ? obj_get_mut(o, "items")
				    : NULL;
	for (size_t i = 0; i < obj_len(items); i++) {
		struct obj *item = obj_at_mut(items, i);
		if (!meta_kind(item))
			obj_set_str(item, "kind", state_of(w)->resource->kind);
		if (!meta_api_version(item))
			obj_set_str(item, "apiVersion", obj_str(need_of(w), "apiVersion"));
	}
	return o;
}

static void answered(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	w->call = NULL;
	bool told = obj_flag(need_of(w), "tolerant", false) && reply->err &&
		    reply->err->code == E_INTERNAL; /* a converter's failure is an answer */
	if (reply->err && error_retry(reply->err->code) == RETRY_BACKOFF &&
	    reply->err->code != E_FORBIDDEN &&
	    !told) { /* the server's trouble, not the template's */
		work_fail(w, reply->err);
		return;
	}
	state_of(w)->bytes += reply->text.len;
	if (state_of(w)->bytes > RENDER_ANSWERS_MAX || (reply->err && reply->err->code == E_LIMIT))
		answer_large(w);
	else if (reply->err && reply->err->code == E_FORBIDDEN && w->action->as)
		answer_denied(w, reply->err->msg);
	else if (reply->err && reply->err->code != E_NOTFOUND)
		answer(w, reply->err->msg, NULL);
	else
		answer(w, NULL, reply->err ? NULL : own_copy(w, reply->body));
	ask_next(w);
}

static const char *query_of(struct arena *a, const char *selector)
{
	return selector ? arena_fmt(a, "labelSelector=%s", url_encode(str_of(selector), a)) : "";
}

/* A name that would leave its place in the path names nothing. */
static bool is_dots(const char *s)
{
	return s && (!strcmp(s, ".") || !strcmp(s, ".."));
}

static void kind_found(void *arg, const struct resource *found, const struct error *err)
{
	struct work *w = arg;
	struct client *client = w->client;
	const struct obj *need = need_of(w);
	const char *ns = obj_str(need, "namespace"), *name = obj_str(need, "name");
	if (!found) {
		answer(w,
		       arena_fmt(w->a,
				 "unable to get apiresource from unstructured: %s, Kind=%s: %s",
				 obj_str(need, "apiVersion") ? obj_str(need, "apiVersion") : "any",
				 obj_str(need, "kind"), err ? err->msg : "not served"),
		       NULL);
		ask_next(w);
		return;
	}
	if (is_dots(ns) || is_dots(name)) {
		answer(w, NULL, NULL);
		ask_next(w);
		return;
	}
	struct resource *own = ARENA_NEW(w->a, struct resource);
	*own = resource_copy(found, w->a);
	state_of(w)->resource = own;
	if (!own->namespaced || (ns && !*ns))
		ns = NULL;
	const struct client_options o = {.as = w->action->as};
	if (name && *name)
		w->call = client_get(client, own, ns, name, &o, answered, w);
	else
		w->call =
			client_list_with(client, own, ns, query_of(w->a, obj_str(need, "selector")),
					 &o, answered, w);
}

static void ask_next(struct work *w)
{
	while (w->at < obj_len(w->action->body)) {
		const struct obj *need = obj_at(w->action->body, w->at++);
		const char *zone = obj_str(need, "zone"), *text = obj_str(need, "apiVersion");
		struct str group, version;
		if (zone) {
			answer_zone(w, zone);
			continue;
		}
		if (!str_cut(str_of(text ? text : ""), '/', &group, &version)) {
			version = group;
			group = STR("");
		}
		const char *kind = obj_str(need, "kind");
		if (!text) { /* what a person wrote */
			discovery_require_name(w->discovery, kind ? kind : "", kind_found, w);
			return;
		}
		discovery_require_kind(w->discovery, arena_strndup(w->a, group.ptr, group.len),
				       arena_strndup(w->a, version.ptr, version.len),
				       kind ? kind : "", kind_found, w);
		return;
	}
	work_put(w, NULL, STR_NONE, STEAL(w->found));
	work_done(w);
}

static void start(struct work *w)
{
	w->found = obj_list();
	ask_next(w);
}

const struct work_kind ask_work = {.name = "ask", .start = start};
