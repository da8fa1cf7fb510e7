/* discovery: the paths of discovery, OpenAPI and version; documents are made on first use and kept
 * until a kind is added or removed. */
#include "alm/apiserver/docs/discovery.h"

#include <string.h>

#include "alm/apiserver/docs/discovery_docs.h"
#include "alm/apiserver/docs/openapi.h"
#include "alm/apiserver/wire/negotiate.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"

#define JSON            "application/json"
#define V2_PROTOBUF     "application/com.github.proto-openapi.spec.v2"
#define CACHED_DOCS_MAX 4096
#define ACCEPTS_MAX     32

/* A cached document. */
struct doc {
	char *text;
	size_t len;
	char etag[SHA256_HEX + 2];
};

struct api_docs {
	struct map *docs; /* "path form" -> doc */
	uint64_t generation;
};

/* Makes the text of a path; false: nothing there. */
typedef bool (*doc_fn)(struct request *r, const char *arg1, const char *arg2, struct strbuf *b);

static void doc_free(void *p)
{
	struct doc *d = p;
	xfree(d->text);
	xfree(d);
}

struct api_docs *api_docs_new(void)
{
	struct api_docs *d = xcalloc(1, sizeof(*d));
	d->docs = map_new(doc_free);
	return d;
}

void api_docs_free(struct api_docs *d)
{
	if (!d)
		return;
	map_free(d->docs);
	xfree(d);
}

static const struct doc *document(struct api_docs *d, struct request *r, const char *form,
				  doc_fn make, const char *arg1, const char *arg2)
{
	uint64_t generation = kinds_generation(request_kinds(r));
	if (d->generation != generation || map_count(d->docs) >= CACHED_DOCS_MAX)
		map_clear(d->docs);
	d->generation = generation;
	const char *key = arena_fmt(r->arena, "%s %s %s", form, arg1, arg2);
	struct doc *doc = map_get(d->docs, key);
	if (doc)
		return doc;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	if (!make(r, arg1, arg2, &b) || b.over)
		return NULL;
	char hash[SHA256_HEX];
	doc = xcalloc(1, sizeof(*doc));
	sha256_hex(strbuf_str(&b), hash);
	doc->etag[0] = '"';
	memcpy(doc->etag + 1, hash, SHA256_HEX - 1);
	doc->etag[SHA256_HEX] = '"';
	doc->len = b.len;
	doc->text = strbuf_detach(&b);
	map_set(d->docs, key, doc);
	return doc;
}

static void send(struct request *r, const struct doc *doc, const char *content_type, bool etag)
{
	const char *match = request_header(r, "If-None-Match");
	if (!doc) {
		request_reply_no_page(r);
		return;
	}
	if (etag) {
		request_set_header(r, "ETag", arena_strdup(r->arena, doc->etag));
		request_set_header(r, "Vary", "Accept");
	}
	if (etag && match && str_contains(str_of(match), str_of(doc->etag)))
		request_reply(r, 304, content_type, STR(""));
	else
		request_reply(r, 200, content_type, str_n(doc->text, doc->len));
}

/* A document that is an object may be had as YAML, too; what else is asked for, is JSON here. */
static void send_object(struct request *r, const struct doc *doc)
{
	struct error err = ERROR_INIT;
	struct accept a;
	bool yaml = negotiate_accept(request_header(r, "Accept"), false, false, &a, &err) == 0 &&
		    a.form == FORM_YAML;
	if (yaml)
		r->accept.form = FORM_YAML;
	if (doc && yaml)
		request_reply_json(r, 200, str_n(doc->text, doc->len));
	else
		send(r, doc, JSON, false);
}

/* The makers. */

static bool make_versions(struct request *r, const char *arg1, const char *arg2, struct strbuf *b)
{
	const char *host = request_header(r, "Host");
	(void)arg1;
	(void)arg2;
	discovery_versions(host, b);
	return true;
}

static bool make_groups(struct request *r, const char *arg1, const char *arg2, struct strbuf *b)
{
	(void)arg1;
	(void)arg2;
	discovery_group_list(request_kinds(r), b);
	return true;
}

static bool make_group(struct request *r, const char *group, const char *arg2, struct strbuf *b)
{
	(void)arg2;
	return discovery_group(request_kinds(r), group, b);
}

static bool make_resources(struct request *r, const char *group, const char *version,
			   struct strbuf *b)
{
	return discovery_resources(request_kinds(r), group, version, b);
}

static bool make_aggregated(struct request *r, const char *which, const char *version,
			    struct strbuf *b)
{
	discovery_aggregated(request_kinds(r), cstr_eq(which, "api"), version, b);
	return true;
}

static bool make_v3(struct request *r, const char *group, const char *version, struct strbuf *b)
{
	return openapi_v3_document(request_kinds(r), group, version, b);
}

static bool make_v3_index(struct request *r, const char *arg1, const char *arg2, struct strbuf *b)
{
	(void)arg1;
	(void)arg2;
	openapi_v3_index(request_kinds(r), b);
	return true;
}

static bool make_v2(struct request *r, const char *arg1, const char *arg2, struct strbuf *b)
{
	(void)arg1;
	(void)arg2;
	openapi_v2_document(request_kinds(r), b);
	return true;
}

static bool make_v2_protobuf(struct request *r, const char *arg1, const char *arg2,
			     struct strbuf *b)
{
	(void)arg1;
	(void)arg2;
	openapi_v2_protobuf(request_kinds(r), b);
	return true;
}

/* "v2", "v2beta1", "" for plain JSON; NULL if the client takes none of them. Order is preference,
 * quality is ignored, as for objects. */
static const char *aggregated_version(struct request *r)
{
	struct str rest = str_of(request_header(r, "Accept")), part;
	if (!rest.len)
		return "";
	for (int i = 0; i < ACCEPTS_MAX && str_next(&rest, ',', &part); i++) {
		part = str_trim(part);
		bool list = str_contains(part, STR("as=APIGroupDiscoveryList")) &&
			    str_contains(part, STR("g=apidiscovery.k8s.io"));
		struct str type, parameters;
		str_cut(part, ';', &type, &parameters);
		type = str_trim(type);
		bool yaml = str_is(type, "application/yaml") && !list;
		if (!yaml && !str_is(type, JSON) && !str_is(type, "*/*") &&
		    !str_is(type, "application/*"))
			continue;
		if (!list && !str_contains(parameters, STR("as=")))
			return "";
		if (list && str_contains(part, STR("v=v2beta1")))
			return "v2beta1";
		if (list && str_contains(part, STR("v=v2")))
			return "v2";
	}
	return NULL;
}

static void handle_root(struct api_docs *d, struct request *r, const char *which)
{
	const char *version = aggregated_version(r);
	if (!version) {
		struct error err = ERROR_INIT;
		error_set(&err, E_NOTACCEPTABLE,
			  "only the following media types are accepted: application/json, "
			  "application/yaml, application/vnd.kubernetes.protobuf");
		request_reply_error(r, &err);
		return;
	}
	if (*version) {
		request_set_header(r, "Cache-Control", "public");
		send(r, document(d, r, "aggregated", make_aggregated, which, version),
		     arena_fmt(r->arena,
			       JSON ";g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList",
			       version),
		     true);
	} else if (cstr_eq(which, "api")) {
		const char *host = request_header(r, "Host");
		send_object(r, document(d, r, "versions", make_versions, host ? host : "", ""));
	} else {
		send_object(r, document(d, r, "groups", make_groups, "", ""));
	}
}

/* /openapi/v3/apis/G/V and /openapi/v3/api/v1; a stale hash is sent to the right one. */
static void handle_v3(struct api_docs *d, struct request *r, const char *group, const char *version)
{
	const char *hash = request_query(r, "hash");
	char current[SHA256_HEX];
	if (!kinds_has_group_version(request_kinds(r), group, version)) {
		request_reply_no_page(r);
		return;
	}
	if (hash && *hash) {
		openapi_hash(request_kinds(r), group, version, current);
		if (!cstr_eq(hash, current)) {
			request_set_header(r, "Location",
					   arena_fmt(r->arena, "%s?hash=%s", r->path, current));
			request_reply(r, 301, "text/plain; charset=utf-8", STR(""));
			return;
		}
		request_set_header(r, "Cache-Control", "public, immutable");
		request_set_header(r, "Expires", "Fri, 01 Jan 2100 00:00:00 GMT");
	}
	send(r, document(d, r, "v3", make_v3, group, version), JSON, true);
}

static void handle_v2(struct api_docs *d, struct request *r)
{
	const char *accept = request_header(r, "Accept");
	/* the answer's type has a dot where the request's has an @, which Go could not parse */
	if (accept && str_contains(str_of(accept), STR(V2_PROTOBUF)))
		send(r, document(d, r, "v2pb", make_v2_protobuf, "", ""),
		     V2_PROTOBUF ".v1.0+protobuf", true);
	else
		send(r, document(d, r, "v2", make_v2, "", ""), JSON, true);
}

static void handle_version(struct request *r)
{
	request_reply(r, 200, JSON,
		      STR("{\"major\":\"1\",\"minor\":\"33\",\"gitVersion\":\"v1.33.0+alm1\","
			  "\"gitCommit\":\"\",\"gitTreeState\":\"clean\",\"buildDate\":"
			  "\"1970-01-01T00:00:00Z\",\"goVersion\":\"none\",\"compiler\":\"cc\","
			  "\"platform\":\"linux/amd64\"}"));
}

#define SEGMENTS_MAX 4

/* The parts of a path, at most SEGMENTS_MAX; more than that: 0. */
static size_t split(struct request *r, const char *segments[SEGMENTS_MAX])
{
	struct str rest = str_of(r->path), part;
	size_t n = 0;
	rest = str_skip(rest, 1); /* a slash, or the asterisk of OPTIONS */
	if (str_has_suffix(rest, STR("/")))
		rest = str_sub(rest, 0, rest.len - 1);
	while (str_next(&rest, '/', &part)) {
		if (n == SEGMENTS_MAX + 1)
			return 0;
		if (n < SEGMENTS_MAX)
			segments[n] = arena_strndup(r->arena, part.ptr, part.len);
		n++;
	}
	return n <= SEGMENTS_MAX ? n : 0;
}

static bool handle_openapi(struct api_docs *d, struct request *r, const char *const *s, size_t n)
{
	/* /openapi/v3/apis/G/V has five parts; the last ones are cut off r->path here */
	const char *prefix = "/openapi/v3/apis/";
	if (cstr_has_prefix(r->path, prefix)) {
		struct str group, version;
		if (!str_cut(str_of(r->path + strlen(prefix)), '/', &group, &version))
			request_reply_no_page(r);
		else
			handle_v3(d, r, arena_strndup(r->arena, group.ptr, group.len),
				  arena_strndup(r->arena, version.ptr, version.len));
		return true;
	}
	if (n == 2 && cstr_eq(s[1], "v2"))
		handle_v2(d, r);
	else if (n == 2 && cstr_eq(s[1], "v3"))
		send(r, document(d, r, "v3index", make_v3_index, "", ""), JSON, false);
	else if (n == 4 && cstr_eq(s[1], "v3") && cstr_eq(s[2], "api"))
		handle_v3(d, r, "", s[3]);
	else
		request_reply_no_page(r);
	return true;
}

bool api_docs_handle(struct api_docs *d, struct request *r)
{
	const char *s[SEGMENTS_MAX];
	bool openapi = cstr_has_prefix(r->path, "/openapi/");
	size_t n = split(r, s);
	if (!cstr_eq(r->exchange->request->method, "GET") &&
	    !cstr_eq(r->exchange->request->method, "HEAD"))
		return false;
	if (openapi)
		return handle_openapi(d, r, s, n);
	if (n == 1 && cstr_eq(s[0], "version"))
		handle_version(r);
	else if (n == 1 && (cstr_eq(s[0], "api") || cstr_eq(s[0], "apis")))
		handle_root(d, r, s[0]);
	else if (n == 2 && cstr_eq(s[0], "api"))
		send_object(r, document(d, r, "resources", make_resources, "", s[1]));
	else if (n == 2 && cstr_eq(s[0], "apis"))
		send_object(r, document(d, r, "group", make_group, s[1], ""));
	else if (n == 3 && cstr_eq(s[0], "apis"))
		send_object(r, document(d, r, "resources", make_resources, s[1], s[2]));
	else
		return false;
	return true;
}
