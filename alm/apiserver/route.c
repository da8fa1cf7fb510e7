/* route: see route.h. It reads the table of kinds, and whether documents of 2017 are taken. */
#include "alm/apiserver/route.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/modern.h"
#include "alm/apiserver/status.h"

struct segments {
	const char *items[ROUTE_SEGMENTS_MAX];
	size_t n;
};

static int segments_split(struct request *r, const char *path, struct segments *ret,
			  struct error *err)
{
	struct str rest = str_of(path), part;
	while (str_next(&rest, '/', &part)) {
		if (part.len == 0)
			continue;
		const char *text = url_decode(part, false, r->arena);
		if (!text || strchr(text, '/') || cstr_eq(text, ".") || cstr_eq(text, ".."))
			return fail_code(r, E_BADREQUEST, err, "the path has a bad segment: %.*s",
					 STR_ARG(part));
		if (ret->n == ROUTE_SEGMENTS_MAX)
			return fail_code(r, E_BADREQUEST, err, "the path has more than %d segments",
					 ROUTE_SEGMENTS_MAX);
		ret->items[ret->n++] = text;
	}
	return 0;
}

static bool is_true(const char *v)
{
	return v && !cstr_eq(v, "false") && !cstr_eq(v, "0");
}

/* What the segments say besides the request's own members. */
struct place {
	bool watch;  /* the legacy prefix: /api/v1/watch/... */
	bool beyond; /* segments follow the subresource: no path of ours */
};

static bool is_namespace_part(const char *s)
{
	return cstr_eq(s, "status") || cstr_eq(s, "finalize");
}

/* What follows group and version, from segment i on. */
static void route_resource(struct request *r, const struct segments *s, size_t i, struct place *ret)
{
	if (i < s->n && cstr_eq(s->items[i], "watch")) {
		ret->watch = true;
		i++;
	}
	if (i >= s->n)
		return;
	r->is_resource = true;
	/* namespaces/NS is an object, and the place of those that follow. */
	if (cstr_eq(s->items[i], "namespaces") && i + 2 < s->n &&
	    !(is_namespace_part(s->items[i + 2]) && *r->group == '\0')) {
		r->ns = s->items[i + 1];
		i += 2;
	}
	r->resource = s->items[i++];
	if (i < s->n)
		r->name = s->items[i++];
	if (i < s->n)
		r->subresource = s->items[i++];
	ret->beyond = i < s->n;
}

/* What a path offers of a kind. */
enum offer { OFFER_PAGE, OFFER_OTHER_METHODS, OFFER_NONE };

/* The scope of a request, decided here alone, by resource and path together and before anybody is
 * asked for rights: no namespace leads to a cluster-scoped kind, and only a list or watch goes
 * across the namespaces of a namespaced one. There is no such page elsewhere, as upstream. */
static enum offer offer_of(const struct request *r, const struct place *place, bool reads)
{
	const struct kind *k = r->kind;
	bool collection = *r->name == '\0', posts_only = k->verbs == VERB_CREATE;
	/* Of custom resources an unknown subresource is an object that is not there (golden G79).
	 */
	bool known = kind_has_subresource(k, r->subresource) || (k->flags & KIND_CUSTOM);
	if (place->beyond || !known || (posts_only && !collection) ||
	    (place->watch && !(k->verbs & VERB_WATCH)))
		return OFFER_NONE;
	if (kind_fits_namespace(k, r->ns))
		return place->watch && !reads ? OFFER_OTHER_METHODS : OFFER_PAGE;
	if (!(k->flags & KIND_NAMESPACED) || !collection || posts_only)
		return OFFER_NONE;
	if (cstr_eq(r->verb, "list") || (cstr_eq(r->verb, "watch") && reads))
		return OFFER_PAGE;
	return k->flags & KIND_CUSTOM ? OFFER_NONE : OFFER_OTHER_METHODS;
}

static const char *verb_of(const struct request *r, const char *method, bool watch)
{
	bool named = *r->name != '\0';
	if (cstr_eq(method, "GET") || cstr_eq(method, "HEAD"))
		return watch ? "watch" : named ? "get" : "list";
	if (cstr_eq(method, "POST"))
		return "create";
	if (cstr_eq(method, "PUT"))
		return "update";
	if (cstr_eq(method, "PATCH"))
		return "patch";
	if (cstr_eq(method, "DELETE"))
		return named ? "delete" : "deletecollection";
	return NULL;
}

static char *lower(struct arena *a, const char *s)
{
	char *out = arena_strdup(a, s);
	for (char *p = out; *p; p++)
		*p = char_lower(*p);
	return out;
}

int route_parse(struct request *r, struct error *err)
{
	const struct http_request *h = r->exchange->request;
	struct segments s = {.n = 0};
	struct place place = {false, false};
	r->group = r->version = r->resource = r->subresource = r->ns = r->name = "";
	r->query = h->query ? h->query : "";
	r->path = url_decode(str_of(h->path), false, r->arena);
	r->verb = lower(r->arena, h->method);
	if (!r->path)
		return fail_code(r, E_BADREQUEST, err, "the path has a bad escape");
	if (segments_split(r, h->path, &s, err) < 0)
		return -err->code;
	if (s.n > 2 && cstr_eq(s.items[0], "api")) {
		r->version = s.items[1];
		route_resource(r, &s, 2, &place);
	} else if (s.n > 3 && cstr_eq(s.items[0], "apis")) {
		r->group = s.items[1];
		r->version = s.items[2];
		route_resource(r, &s, 3, &place);
	}
	if (!r->is_resource)
		return 0;
	bool watch = place.watch || (*r->name == '\0' && is_true(request_query(r, "watch")));
	const char *verb = verb_of(r, h->method, watch);
	if (!verb)
		return fail_method(r, r->verb, err);
	bool reads = cstr_eq(verb, "get") || cstr_eq(verb, "list") || cstr_eq(verb, "watch");
	r->verb = place.watch ? "watch" : verb; /* the prefix is the verb, whatever the method */
	r->kind = kinds_find(request_kinds(r), r->group, r->version, r->resource);
	modern_route(r);
	enum offer offer = r->kind ? offer_of(r, &place, reads) : OFFER_NONE;
	r->wrong_method = offer == OFFER_OTHER_METHODS;
	if (offer == OFFER_NONE)
		r->kind = NULL;
	return 0;
}
