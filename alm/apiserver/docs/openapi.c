/* openapi: kinds -> OpenAPI v3 (and v2) text. */
#include "alm/apiserver/docs/openapi.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/json.h"
#include "installers/chart/gzip.h"

#define RATIO_MAX 1100 /* more than deflate can reach: OPENAPI_BYTES_MAX is the bound */
#define V3_REF    "#/components/schemas/"
#define V2_REF    OPENAPI_V2_REF
#define META      "io.k8s.apimachinery.pkg.apis.meta.v1."
#define GVK_KEY   "x-kubernetes-group-version-kind"
/* To be changed with the form of the documents: clients keep them by their hash. */
#define TYPES_STATE "types of 1.36, embedded resources"

struct writer {
	struct strbuf *b;
	const char *ref;
};

/* com.example.golden.v1.Widget; io.k8s.api.core.v1.ConfigMap. */
static void add_schema_name(struct strbuf *b, const struct kind *k, const char *kind)
{
	struct str rest = str_of(k->group), before, last;
	if (!(k->flags & KIND_CUSTOM)) {
		if (cstr_eq(k->group, "apiextensions.k8s.io"))
			strbuf_adds(b, "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions");
		else if (cstr_eq(k->group, "apiregistration.k8s.io"))
			strbuf_adds(b, "io.k8s.kube-aggregator.pkg.apis.apiregistration");
		else if (str_cut(rest, '.', &before, &last))
			strbuf_addf(b, "io.k8s.api.%.*s", STR_ARG(before));
		else
			strbuf_addf(b, "io.k8s.api.%s", k->group[0] ? k->group : "core");
	} else {
		while (str_rcut(rest, '.', &before, &last)) {
			strbuf_addf(b, "%.*s.", STR_ARG(last));
			rest = before;
		}
		strbuf_addstr(b, rest);
	}
	strbuf_addf(b, ".%s.%s", k->version, kind);
}

static void add_ref(struct writer *w, const struct kind *k, const char *kind)
{
	strbuf_addf(w->b, "{\"$ref\":\"%s", w->ref);
	add_schema_name(w->b, k, kind);
	strbuf_adds(w->b, "\"}");
}

static void add_gvk(struct strbuf *b, const struct kind *k, const char *kind)
{
	strbuf_addf(b, "{\"group\":\"%s\",\"kind\":\"%s\",\"version\":\"%s\"}", k->group, kind,
		    k->version);
}

static struct obj *schema_of(const struct kind *k)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(OPENAPI_BYTES_MAX);
	struct error err;
	struct obj *o = NULL;
	if (!k->openapi.len || gzip_unpack(k->openapi, RATIO_MAX, &text, &err) < 0)
		return NULL;
	return json_parse(strbuf_str(&text), &o, &err) < 0 ? NULL : o;
}

/* A CRD's schema as it stands, with the three fields that every object has. */
static void add_custom_schema(struct writer *w, const struct kind *k)
{
	CLEANUP(obj_unrefp) struct obj *openapi = schema_of(k);
	if (cstr_eq(w->ref, OPENAPI_V2_REF) && (!openapi || openapi_is_open(openapi))) {
		/* kubectl would take what is named for all there is */
		strbuf_adds(w->b, "{\"type\":\"object\"");
		return;
	}
	if (openapi)
		openapi_custom_schema(openapi, w->ref);
	strbuf_addc(w->b, '{');
	OBJ_EACH (it, openapi) {
		if (cstr_eq(it.key, "properties") || cstr_eq(it.key, "type"))
			continue;
		json_quote(str_of(it.key), w->b);
		strbuf_addc(w->b, ':');
		json_print(it.value, w->b);
		strbuf_addc(w->b, ',');
	}
	strbuf_adds(w->b, "\"type\":\"object\",\"properties\":{");
	openapi_own_properties(w->ref, "ObjectMeta", w->b);
	OBJ_EACH (it, obj_get(openapi, "properties")) {
		if (cstr_eq(it.key, "apiVersion") || cstr_eq(it.key, "kind") ||
		    cstr_eq(it.key, "metadata"))
			continue;
		strbuf_addc(w->b, ',');
		json_quote(str_of(it.key), w->b);
		strbuf_addc(w->b, ':');
		json_print(it.value, w->b);
	}
	strbuf_addc(w->b, '}');
}

static const struct api_type *type_of(const struct kind *k)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s%s%s", k->group, k->group[0] ? "/" : "", k->version);
	return k->flags & KIND_CUSTOM ? NULL : api_type_of_kind(b.buf, k->kind);
}

static void add_builtin_schema(struct writer *w, const struct kind *k)
{
	const struct api_type *t = type_of(k);
	if (t) {
		strbuf_addf(w->b, "{\"description\":\"%s of the group %s.\",", k->kind,
			    k->group[0] ? k->group : "core");
		openapi_type_members(t, w->ref, w->b);
		return;
	}
	strbuf_addf(w->b,
		    "{\"description\":\"%s of the group %s, stored as it is sent.\",\"type\":"
		    "\"object\",\"properties\":{",
		    k->kind, k->group[0] ? k->group : "core");
	openapi_own_properties(w->ref, "ObjectMeta", w->b);
	openapi_builtin_properties(k, w->b);
	strbuf_adds(w->b, "},\"x-kubernetes-preserve-unknown-fields\":true");
}

static void add_schemas(struct writer *w, const struct kind *k)
{
	strbuf_adds(w->b, ",\"");
	add_schema_name(w->b, k, k->kind);
	strbuf_adds(w->b, "\":");
	if (k->flags & KIND_CUSTOM)
		add_custom_schema(w, k);
	else
		add_builtin_schema(w, k);
	strbuf_adds(w->b, ",\"" GVK_KEY "\":[");
	add_gvk(w->b, k, k->kind);
	strbuf_adds(w->b, "]},\"");
	add_schema_name(w->b, k, k->list_kind);
	strbuf_addf(w->b,
		    "\":{\"description\":\"%s is a list of %s\",\"type\":\"object\",\"required\":["
		    "\"items\"],\"properties\":{\"items\":{\"description\":\"List of %s.\","
		    "\"type\":\"array\",\"items\":",
		    k->list_kind, k->kind, k->plural);
	add_ref(w, k, k->kind);
	strbuf_adds(w->b, "},");
	openapi_own_properties(w->ref, "ListMeta", w->b);
	strbuf_adds(w->b, "},\"" GVK_KEY "\":[");
	add_gvk(w->b, k, k->list_kind);
	strbuf_adds(w->b, "]}");
}

/* clang-format off */
static const struct operation {
	const char *method, *action;
	unsigned verb;
	bool one;               /* on an object, not on the collection */
	const char *parameters; /* names, blank between */
} operations[] = {
	{"get", "list", VERB_LIST, false,
	 "allowWatchBookmarks continue fieldSelector labelSelector limit resourceVersion "
	 "resourceVersionMatch sendInitialEvents timeoutSeconds watch"},
	{"post", "post", VERB_CREATE, false, "dryRun fieldManager fieldValidation"},
	{"delete", "deletecollection", VERB_DELETECOLLECTION, false,
	 "continue dryRun fieldSelector gracePeriodSeconds labelSelector limit orphanDependents "
	 "propagationPolicy resourceVersion resourceVersionMatch timeoutSeconds"},
	{"get", "get", VERB_GET, true, "resourceVersion"},
	{"put", "put", VERB_UPDATE, true, "dryRun fieldManager fieldValidation"},
	{"patch", "patch", VERB_PATCH, true, "dryRun fieldManager fieldValidation force"},
	{"delete", "delete", VERB_DELETE, true,
	 "dryRun gracePeriodSeconds orphanDependents propagationPolicy"},
};

static const struct { const char *name, *type; } parameter_types[] = {
	{"allowWatchBookmarks", "boolean"}, {"watch", "boolean"}, {"force", "boolean"},
	{"sendInitialEvents", "boolean"}, {"orphanDependents", "boolean"},
	{"limit", "integer"}, {"timeoutSeconds", "integer"}, {"gracePeriodSeconds", "integer"},
};
/* clang-format on */

static void add_parameter(struct strbuf *b, struct str name, const char *in)
{
	const char *type = "string";
	for (size_t i = 0; i < ARRAY_LEN(parameter_types); i++)
		if (str_is(name, parameter_types[i].name))
			type = parameter_types[i].type;
	strbuf_addf(b, "{\"name\":\"%.*s\",\"in\":\"%s\",%s\"schema\":{\"type\":\"%s\"}}",
		    STR_ARG(name), in, cstr_eq(in, "path") ? "\"required\":true," : "", type);
}

static void add_parameters(struct strbuf *b, const char *names)
{
	struct str rest = str_of(names), name;
	const char *sep = "";
	strbuf_adds(b, "\"parameters\":[");
	while (str_next(&rest, ' ', &name)) {
		strbuf_adds(b, sep);
		add_parameter(b, name, "query");
		sep = ",";
	}
	strbuf_addc(b, ']');
}

/* createNamespacedWidget, as generators of client code name their functions after it. */
static void add_operation_id(struct strbuf *b, const struct kind *k, const char *action,
			     bool namespaced, const char *sub)
{
	strbuf_addf(b, "\"operationId\":\"%s%s%s%s%s%s\"", action, namespaced ? "Namespaced" : "",
		    k->kind, sub[0] ? "_" : "", sub,
		    cstr_eq(action, "list") && !namespaced && k->flags & KIND_NAMESPACED
			    ? "ForAllNamespaces"
			    : "");
}

static void add_operation(struct writer *w, const struct kind *k, const struct operation *o,
			  bool namespaced, const char *sub)
{
	struct strbuf *b = w->b;
	bool list = cstr_eq(o->action, "list");
	strbuf_addf(b, "\"%s\":{", o->method);
	add_operation_id(b, k, o->action, namespaced, sub);
	strbuf_addc(b, ',');
	add_parameters(b, o->parameters);
	if (cstr_eq(o->method, "post") || cstr_eq(o->method, "put")) {
		strbuf_adds(b, ",\"requestBody\":{\"content\":{\"*/*\":{\"schema\":");
		add_ref(w, k, k->kind);
		strbuf_adds(b, "}}}");
	} else if (cstr_eq(o->method, "patch")) {
		/* strategic merge is left out: with it kubectl apply would compute patches of
		 * built-in kinds from this document, and no longer from its own types */
		strbuf_addf(
			b,
			",\"requestBody\":{\"content\":{\"application/apply-patch+yaml\":{"
			"\"schema\":{\"$ref\":\"%s" META "Patch\"}},"
			"\"application/json-patch+json\":{\"schema\":{\"$ref\":\"%s" META
			"Patch\"}},\"application/merge-patch+json\":{\"schema\":{\"$ref\":\"%s" META
			"Patch\"}}},\"required\":true}",
			w->ref, w->ref, w->ref);
	}
	strbuf_adds(b, ",\"responses\":{\"200\":{\"description\":\"OK\",\"content\":{"
		       "\"application/json\":{\"schema\":");
	add_ref(w, k, list ? k->list_kind : k->kind);
	strbuf_addf(b,
		    "}}},\"401\":{\"description\":\"Unauthorized\"}},"
		    "\"x-kubernetes-action\":\"%s\",\"" GVK_KEY "\":",
		    o->action);
	add_gvk(b, k, k->kind);
	strbuf_addc(b, '}');
}

/* What the path has in braces: an empty list would be none once it was read and written. */
static void add_braces(struct strbuf *b, bool namespaced, bool one, bool first)
{
	if (!one && !namespaced)
		return;
	strbuf_addf(b, "%s\"parameters\":[", first ? "" : ",");
	if (one)
		add_parameter(b, STR("name"), "path");
	if (one && namespaced)
		strbuf_addc(b, ',');
	if (namespaced)
		add_parameter(b, STR("namespace"), "path");
	strbuf_addc(b, ']');
}

static void add_path(struct writer *w, const struct kind *k, bool namespaced, bool one,
		     const char *sub)
{
	struct strbuf *b = w->b;
	bool all_namespaces = k->flags & KIND_NAMESPACED && !namespaced;
	if (b->buf[b->len - 1] != '{')
		strbuf_addc(b, ',');
	strbuf_addf(b, "\"/%s%s/%s/%s%s%s%s%s\":{", k->group[0] ? "apis/" : "api", k->group,
		    k->version, namespaced ? "namespaces/{namespace}/" : "", k->plural,
		    one ? "/{name}" : "", sub[0] ? "/" : "", sub);
	bool first = true;
	for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
		const struct operation *o = &operations[i];
		bool fits = o->one == one && k->verbs & o->verb;
		if (all_namespaces && !cstr_eq(o->action, "list"))
			fits = false;
		if (sub[0] && cstr_eq(o->action, "delete"))
			fits = false;
		if (!fits)
			continue;
		if (!first)
			strbuf_addc(b, ',');
		first = false;
		add_operation(w, k, o, namespaced, sub);
	}
	add_braces(b, namespaced, one, first);
	strbuf_addc(b, '}');
}

static void add_paths(struct writer *w, const struct kind *k)
{
	bool namespaced = k->flags & KIND_NAMESPACED;
	if (namespaced && k->verbs & VERB_LIST)
		add_path(w, k, false, false, "");
	add_path(w, k, namespaced, false, "");
	if (!(k->verbs & VERB_GET))
		return;
	add_path(w, k, namespaced, true, "");
	if (k->flags & KIND_STATUS)
		add_path(w, k, namespaced, true, "status");
	if (k->flags & KIND_SCALE)
		add_path(w, k, namespaced, true, "scale");
}

static bool in(const struct kind *k, const char *group, const char *version)
{
	return cstr_eq(k->group, group) && cstr_eq(k->version, version);
}

/* The schemas of the kinds of group and version (NULL: of all), and what they refer to. Doors for
 * documents of 2017 have none: kubectl then leaves it to the server to judge those. */
static void add_all_schemas(struct writer *w, struct kinds *k, const char *group,
			    const char *version)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	struct openapi_types *need = xcalloc(1, sizeof(*need));
	assert(api_n_types <= OPENAPI_TYPES_MAX);
	openapi_common_schemas(w->ref, w->b);
	for (size_t i = 0; i < n; i++) {
		const struct api_type *t = type_of(all[i]);
		if ((group && !in(all[i], group, version)) || all[i]->legacy_group)
			continue;
		add_schemas(w, all[i]);
		if (!t)
			continue;
		openapi_types_have(need, t);
		openapi_types_need(need, t);
	}
	openapi_types_add(need, w->ref, w->b);
	xfree(need);
}

bool openapi_v3_document(struct kinds *k, const char *group, const char *version, struct strbuf *b)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	struct writer w = {b, V3_REF};
	if (!kinds_has_group_version(k, group, version))
		return false;
	strbuf_adds(b, "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"ALM\",\"version\":\"v0.1.0\"},"
		       "\"paths\":{");
	for (size_t i = 0; i < n; i++)
		if (in(all[i], group, version) && !all[i]->legacy_group)
			add_paths(&w, all[i]);
	strbuf_adds(b, "},\"components\":{\"schemas\":{");
	add_all_schemas(&w, k, group, version);
	strbuf_adds(b, "}}}");
	return true;
}

void openapi_hash(struct kinds *k, const char *group, const char *version, char out[SHA256_HEX])
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	unsigned char digest[SHA256_BYTES];
	CLEANUP(sha256_freep) struct sha256 *h = sha256_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	sha256_add(h, ALM_VERSION, sizeof(ALM_VERSION));
	sha256_add(h, TYPES_STATE, sizeof(TYPES_STATE));
	for (size_t i = 0; i < n; i++) {
		if (!in(all[i], group, version))
			continue;
		strbuf_clear(&b);
		strbuf_addf(&b, "%s/%s/%s/%s/%s/%u/%u\n", group, version, all[i]->kind,
			    all[i]->list_kind, all[i]->plural, all[i]->verbs, all[i]->flags);
		strbuf_addstr(&b, all[i]->openapi);
		sha256_add(h, b.buf, b.len);
	}
	sha256_final(h, digest);
	hex_encode(digest, sizeof(digest), out);
}

void openapi_v3_index(struct kinds *k, struct strbuf *b)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	char hash[SHA256_HEX];
	const char *sep = "";
	strbuf_adds(b, "{\"paths\":{");
	for (size_t i = 0; i < n; i++) {
		if ((i && in(all[i], all[i - 1]->group, all[i - 1]->version)) ||
		    all[i]->legacy_group)
			continue;
		const char *prefix = all[i]->group[0] ? "apis/" : "api";
		openapi_hash(k, all[i]->group, all[i]->version, hash);
		strbuf_addf(b,
			    "%s\"%s%s/%s\":{\"serverRelativeURL\":\"/openapi/v3/%s%s/%s?hash=%s\"}",
			    sep, prefix, all[i]->group, all[i]->version, prefix, all[i]->group,
			    all[i]->version, hash);
		sep = ",";
	}
	strbuf_adds(b, "}}");
}

void openapi_v2_document(struct kinds *k, struct strbuf *b)
{
	struct writer w = {b, V2_REF};
	strbuf_adds(b, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"ALM\",\"version\":\"v0.1.0\"},"
		       "\"paths\":{},\"definitions\":{");
	add_all_schemas(&w, k, NULL, NULL);
	strbuf_adds(b, "}}");
}

void openapi_v2_definitions(struct kinds *k, struct strbuf *b)
{
	struct writer w = {b, V2_REF};
	strbuf_addc(b, '{');
	add_all_schemas(&w, k, NULL, NULL);
	strbuf_addc(b, '}');
}
