/* discovery_docs: kinds -> the three forms of discovery. */
#include "alm/apiserver/docs/discovery_docs.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"

/* Of custom resources, in the order of golden G22; built-in ones sort theirs. */
static const struct verb_name {
	unsigned verb;
	const char *name;
} custom_verbs[] = {{VERB_DELETE, "delete"}, {VERB_DELETECOLLECTION, "deletecollection"},
		    {VERB_GET, "get"},       {VERB_LIST, "list"},
		    {VERB_PATCH, "patch"},   {VERB_CREATE, "create"},
		    {VERB_UPDATE, "update"}, {VERB_WATCH, "watch"}},
  builtin_verbs[] = {{VERB_CREATE, "create"},
		     {VERB_DELETE, "delete"},
		     {VERB_DELETECOLLECTION, "deletecollection"},
		     {VERB_GET, "get"},
		     {VERB_LIST, "list"},
		     {VERB_PATCH, "patch"},
		     {VERB_UPDATE, "update"},
		     {VERB_WATCH, "watch"}};

/* A subresource as discovery shows it; group NULL: that of the resource. */
struct subresource {
	const char *name, *group, *version, *kind;
	unsigned verbs;
};

#define SUBRESOURCES_MAX  16
#define SUBRESOURCE_VERBS (VERB_GET | VERB_PATCH | VERB_UPDATE)

static size_t subresources_of(const struct kind *k, struct subresource out[SUBRESOURCES_MAX])
{
	size_t n = 0;
	if (k->flags & KIND_STATUS)
		out[n++] = (struct subresource){"status", NULL, NULL, k->kind, SUBRESOURCE_VERBS};
	if (k->flags & KIND_SCALE)
		out[n++] = (struct subresource){"scale", "autoscaling", "v1", "Scale",
						SUBRESOURCE_VERBS};
	const struct kind_subresource *s;
	for (size_t i = 0; n < SUBRESOURCES_MAX && (s = kind_subresource_at(k, i)); i++)
		out[n++] = (struct subresource){s->name, s->of_group, s->of_version,
						s->of_kind ? s->of_kind : k->kind, s->verbs};
	return n;
}

static void add(struct strbuf *b, const char *key, const char *value)
{
	strbuf_addf(b, "\"%s\":", key);
	json_quote(str_of(value), b);
}

static void add_strings(struct strbuf *b, const char *key, const char *const *list)
{
	if (!list || !*list)
		return;
	strbuf_addf(b, ",\"%s\":[", key);
	for (size_t i = 0; list[i]; i++) {
		if (i)
			strbuf_addc(b, ',');
		json_quote(str_of(list[i]), b);
	}
	strbuf_addc(b, ']');
}

static void add_verbs(struct strbuf *b, const struct kind *k, unsigned verbs)
{
	const struct verb_name *names = k->flags & KIND_CUSTOM ? custom_verbs : builtin_verbs;
	const char *sep = "";
	strbuf_adds(b, "\"verbs\":[");
	for (size_t i = 0; i < ARRAY_LEN(custom_verbs); i++) {
		if (!(verbs & names[i].verb))
			continue;
		strbuf_addf(b, "%s\"%s\"", sep, names[i].name);
		sep = ",";
	}
	strbuf_addc(b, ']');
}

/* As the real server makes it: 8 bytes of the SHA-256 of group/version/kind. */
static void add_storage_hash(struct strbuf *b, const struct kind *k)
{
	unsigned char digest[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	if (k->flags & KIND_VIRTUAL)
		return;
	strbuf_addf(&text, "%s/%s/%s", k->group, k->storage_version, k->kind);
	sha256(strbuf_str(&text), digest);
	strbuf_adds(b, ",\"storageVersionHash\":\"");
	base64_encode(str_n((const char *)digest, 8), b);
	strbuf_addc(b, '"');
}

void discovery_versions(const char *address, struct strbuf *b)
{
	strbuf_adds(b, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
		       "\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\",");
	add(b, "serverAddress", address ? address : "");
	strbuf_adds(b, "}]}");
}

enum rank { RANK_BUILTIN, RANK_CUSTOM, RANK_DOOR, N_RANKS };

/* A group stands where its first kind stands; groups of custom kinds only come behind, and last
 * those of 2017, so that a name without group is that of today. */
static enum rank rank_of(const struct kind *const *all, size_t n, const char *group)
{
	enum rank rank = RANK_DOOR;
	for (size_t i = 0; i < n; i++) {
		if (!cstr_eq(all[i]->group, group))
			continue;
		if (!(all[i]->flags & KIND_CUSTOM))
			return RANK_BUILTIN;
		if (!all[i]->legacy_group)
			rank = RANK_CUSTOM;
	}
	return rank;
}

/* The groups in the order of the documents, borrowed names in an owned array. */
static const char **discovery_groups(struct kinds *k, size_t *ret_n)
{
	size_t n, n_groups = 0;
	const struct kind *const *all = kinds_all(k, &n);
	const char **groups = (const char **)xcalloc(n + 1, sizeof(*groups));
	for (enum rank rank = RANK_BUILTIN; rank < N_RANKS; rank++)
		for (size_t i = 0; i < n; i++) {
			if (i && cstr_eq(all[i]->group, all[i - 1]->group))
				continue;
			if (all[i]->group[0] && rank_of(all, n, all[i]->group) == rank)
				groups[n_groups++] = all[i]->group;
		}
	*ret_n = n_groups;
	return groups;
}

static void add_group_version(struct strbuf *b, const char *group, const char *version)
{
	strbuf_addf(b, "{\"groupVersion\":\"%s/%s\",\"version\":\"%s\"}", group, version, version);
}

/* "name":...,"versions":[...],"preferredVersion":{...} */
static void add_group(struct kinds *k, const char *group, struct strbuf *b)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	const char *first = NULL, *last = NULL;
	add(b, "name", group);
	strbuf_adds(b, ",\"versions\":[");
	for (size_t i = 0; i < n; i++) {
		if (!cstr_eq(all[i]->group, group) || cstr_eq(all[i]->version, last))
			continue;
		if (first)
			strbuf_addc(b, ',');
		else
			first = all[i]->version;
		last = all[i]->version;
		add_group_version(b, group, last);
	}
	strbuf_adds(b, "],\"preferredVersion\":");
	add_group_version(b, group, first);
}

void discovery_group_list(struct kinds *k, struct strbuf *b)
{
	size_t n;
	const char **groups = discovery_groups(k, &n);
	strbuf_adds(b, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
	for (size_t i = 0; i < n; i++) {
		strbuf_adds(b, i ? ",{" : "{");
		add_group(k, groups[i], b);
		strbuf_addc(b, '}');
	}
	strbuf_adds(b, "]}");
	xfree((void *)groups);
}

bool discovery_group(struct kinds *k, const char *group, struct strbuf *b)
{
	if (!group[0] || !kinds_has_group(k, group))
		return false;
	strbuf_adds(b, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",");
	add_group(k, group, b);
	strbuf_addc(b, '}');
	return true;
}

static void add_resource(struct strbuf *b, const struct kind *k)
{
	struct subresource subs[SUBRESOURCES_MAX];
	const char *namespaced = k->flags & KIND_NAMESPACED ? "true" : "false";
	strbuf_addc(b, '{');
	add(b, "name", k->plural);
	strbuf_addc(b, ',');
	add(b, "singularName", k->singular);
	strbuf_addf(b, ",\"namespaced\":%s,", namespaced);
	add(b, "kind", k->kind);
	strbuf_addc(b, ',');
	add_verbs(b, k, k->verbs);
	add_strings(b, "shortNames", k->short_names);
	add_strings(b, "categories", k->categories);
	add_storage_hash(b, k);
	strbuf_addc(b, '}');
	size_t n = subresources_of(k, subs);
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(b, ",{\"name\":\"%s/%s\",\"singularName\":\"\",\"namespaced\":%s,",
			    k->plural, subs[i].name, namespaced);
		if (subs[i].group && *subs[i].group)
			strbuf_addf(b, "\"group\":\"%s\",\"version\":\"%s\",", subs[i].group,
				    subs[i].version);
		add(b, "kind", subs[i].kind);
		strbuf_addc(b, ',');
		add_verbs(b, k, subs[i].verbs);
		strbuf_addc(b, '}');
	}
}

bool discovery_resources(struct kinds *k, const char *group, const char *version, struct strbuf *b)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	const char *sep = "";
	if (!kinds_has_group_version(k, group, version))
		return false;
	strbuf_adds(b, "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"");
	strbuf_addf(b, "%s%s%s\",\"resources\":[", group, group[0] ? "/" : "", version);
	for (size_t i = 0; i < n; i++) {
		if (!cstr_eq(all[i]->group, group) || !cstr_eq(all[i]->version, version))
			continue;
		strbuf_adds(b, sep);
		add_resource(b, all[i]);
		sep = ",";
	}
	strbuf_adds(b, "]}");
	return true;
}

static void add_response_kind(struct strbuf *b, const char *group, const char *version,
			      const char *kind)
{
	strbuf_addf(b, "\"responseKind\":{\"group\":\"%s\",\"version\":\"%s\",\"kind\":\"%s\"}",
		    group, version, kind);
}

static void add_aggregated_resource(struct strbuf *b, const struct kind *k)
{
	struct subresource subs[SUBRESOURCES_MAX];
	strbuf_addc(b, '{');
	add(b, "resource", k->plural);
	strbuf_addc(b, ',');
	add_response_kind(b, k->group, k->version, k->kind);
	strbuf_addf(b, ",\"scope\":\"%s\",", k->flags & KIND_NAMESPACED ? "Namespaced" : "Cluster");
	add(b, "singularResource", k->singular);
	strbuf_addc(b, ',');
	add_verbs(b, k, k->verbs);
	add_strings(b, "shortNames", k->short_names);
	add_strings(b, "categories", k->categories);
	size_t n = subresources_of(k, subs);
	if (n)
		strbuf_adds(b, ",\"subresources\":[");
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(b, "%s{\"subresource\":\"%s\",", i ? "," : "", subs[i].name);
		add_response_kind(b, subs[i].group ? subs[i].group : k->group,
				  subs[i].group ? subs[i].version : k->version, subs[i].kind);
		strbuf_addc(b, ',');
		add_verbs(b, k, subs[i].verbs);
		strbuf_addc(b, '}');
	}
	strbuf_adds(b, n ? "]}" : "}");
}

static void add_aggregated_group(struct kinds *k, const char *group, struct strbuf *b)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	const char *version = NULL;
	strbuf_adds(b, "{\"metadata\":{");
	if (group[0])
		add(b, "name", group);
	strbuf_adds(b, "},\"versions\":[");
	for (size_t i = 0; i < n; i++) {
		if (!cstr_eq(all[i]->group, group))
			continue;
		if (!version || !cstr_eq(version, all[i]->version)) {
			strbuf_adds(b, version ? "],\"freshness\":\"Current\"},{" : "{");
			version = all[i]->version;
			add(b, "version", version);
			strbuf_adds(b, ",\"resources\":[");
		} else {
			strbuf_addc(b, ',');
		}
		add_aggregated_resource(b, all[i]);
	}
	strbuf_adds(b, version ? "],\"freshness\":\"Current\"}]}" : "]}");
}

void discovery_aggregated(struct kinds *k, bool core, const char *version, struct strbuf *b)
{
	strbuf_addf(b,
		    "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/"
		    "%s\",\"metadata\":{},\"items\":[",
		    version);
	if (core) {
		add_aggregated_group(k, "", b);
	} else {
		size_t n;
		const char **groups = discovery_groups(k, &n);
		for (size_t i = 0; i < n; i++) {
			if (i)
				strbuf_addc(b, ',');
			add_aggregated_group(k, groups[i], b);
		}
		xfree((void *)groups);
	}
	strbuf_adds(b, "]}");
}
