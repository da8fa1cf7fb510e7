/* discovery_table: see discovery_table.h. */
#include "alm/client/discovery_table.h"

#include <string.h>
#include <strings.h>

#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/obj/gvk.h"

#define NAME_BYTES_MAX 512

struct discovery_table *discovery_table_new(void)
{
	struct discovery_table *t = xcalloc(1, sizeof(*t));
	t->arena = arena_new(DISCOVERY_BYTES_MAX);
	t->troubles = map_new(NULL);
	return t;
}

void discovery_table_free(struct discovery_table *t)
{
	if (!t)
		return;
	map_free(t->troubles);
	arena_free(t->arena);
	xfree(t->items);
	xfree(t->resources);
	xfree(t);
}

static const char *text(struct discovery_table *t, const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return arena_strdup(t->arena, s ? s : "");
}

static const char *joined(struct discovery_table *t, const struct obj *names)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NAME_BYTES_MAX);
	for (size_t i = 0; i < obj_len(names); i++)
		strbuf_addf(&b, "%s%.*s", i ? "," : "", STR_ARG(obj_as_str(obj_at(names, i))));
	return arena_strdup(t->arena, b.buf);
}

static bool has_verb(const struct obj *verbs, const char *verb)
{
	for (size_t i = 0; i < obj_len(verbs); i++)
		if (cstr_eq(obj_as_string(obj_at(verbs, i)), verb))
			return true;
	return false;
}

static bool is_deletable(const struct obj *r)
{
	const struct obj *verbs = obj_get(r, "verbs");
	return has_verb(verbs, "list") && has_verb(verbs, "delete");
}

/* What comes from the server goes into paths: names that are none are left out. */
static void add(struct discovery_table *t, const struct discovery_entry *e)
{
	const struct resource *r = &e->resource;
	if (t->n == DISCOVERY_RESOURCES_MAX || !name_is_dns_label(str_of(r->plural)) ||
	    !name_is_dns_label(str_of(r->version)) || !*r->kind ||
	    (*r->group && !name_is_dns_subdomain(str_of(r->group))))
		return;
	ARRAY_GROW(t->items, t->cap, t->n + 1);
	t->items[t->n++] = *e;
}

static void add_version(struct discovery_table *t, const char *group, const struct obj *version)
{
	const char *name = text(t, version, "version");
	const struct obj *list = obj_get(version, "resources");
	if (cstr_eq(obj_str(version, "freshness"), "Stale"))
		discovery_table_fail(t, group, "the server's view of the group is stale");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *r = obj_at(list, i);
		struct discovery_entry e = {
			.resource = {.group = group, .version = name},
			.singular = text(t, r, "singularResource"),
			.short_names = joined(t, obj_get(r, "shortNames")),
			.deletable = is_deletable(r),
		};
		e.resource.plural = text(t, r, "resource");
		e.resource.kind = text(t, obj_get(r, "responseKind"), "kind");
		e.resource.namespaced = cstr_eq(obj_str(r, "scope"), "Namespaced");
		add(t, &e);
	}
}

bool discovery_table_add_aggregated(struct discovery_table *t, const struct obj *doc)
{
	if (!cstr_eq(obj_str(doc, "kind"), "APIGroupDiscoveryList"))
		return false;
	const struct obj *groups = obj_get(doc, "items");
	for (size_t i = 0; i < obj_len(groups); i++) {
		const struct obj *g = obj_at(groups, i);
		const char *group = text(t, obj_get(g, "metadata"), "name");
		const struct obj *versions = obj_get(g, "versions");
		for (size_t v = 0; v < obj_len(versions); v++)
			add_version(t, group, obj_at(versions, v));
	}
	return true;
}

void discovery_table_add_list(struct discovery_table *t, const struct obj *doc)
{
	const char *group, *version;
	const char *group_version = obj_str(doc, "groupVersion");
	const struct obj *list = obj_get(doc, "resources");
	if (!group_version || !gvk_split_api_version(group_version, t->arena, &group, &version))
		return;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *r = obj_at(list, i);
		struct discovery_entry e = {
			.resource = {.group = group, .version = version},
			.singular = text(t, r, "singularName"),
			.short_names = joined(t, obj_get(r, "shortNames")),
			.deletable = is_deletable(r),
		};
		e.resource.plural = text(t, r, "name"); /* "widgets/status" is no name */
		e.resource.kind = text(t, r, "kind");
		e.resource.namespaced = obj_flag(r, "namespaced", false);
		add(t, &e);
	}
}

void discovery_table_fail(struct discovery_table *t, const char *group, const char *why)
{
	map_set(t->troubles, group, arena_strdup(t->arena, why));
}

void discovery_table_finish(struct discovery_table *t)
{
	t->resources = xreallocarray(t->resources, t->n, sizeof(*t->resources));
	for (size_t i = 0; i < t->n; i++)
		t->resources[i] = &t->items[i].resource;
}

const struct discovery_entry *discovery_table_kind(const struct discovery_table *t,
						   const char *group, const char *version,
						   const char *kind)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct resource *r = &t->items[i].resource;
		if (cstr_eq(r->group, group) && cstr_eq(r->kind, kind) &&
		    (!version || cstr_eq(r->version, version)))
			return &t->items[i];
	}
	return NULL;
}

enum match { MATCH_RESOURCE, MATCH_SHORT, MATCH_KIND, N_MATCHES };

static bool matches(const struct discovery_entry *e, const char *name, enum match how)
{
	struct str rest = str_of(e->short_names), one;
	switch (how) {
	case MATCH_RESOURCE:
		return cstr_eq(e->resource.plural, name) || cstr_eq(e->singular, name);
	case MATCH_SHORT:
		while (*e->short_names && str_next(&rest, ',', &one))
			if (str_is(one, name))
				return true;
		return false;
	case MATCH_KIND:
	case N_MATCHES:
	default:
		return strcasecmp(e->resource.kind, name) == 0;
	}
}

static const struct discovery_entry *find(const struct discovery_table *t, const char *name,
					  const char *group, const char *version)
{
	for (int how = 0; how < N_MATCHES; how++) {
		for (size_t i = 0; i < t->n; i++) {
			const struct discovery_entry *e = &t->items[i];
			if (group && !cstr_eq(e->resource.group, group))
				continue;
			if (version && !cstr_eq(e->resource.version, version))
				continue;
			if (matches(e, name, (enum match)how))
				return e;
		}
	}
	return NULL;
}

/* name, name.group, name.version.group; "deployments.apps" before a version "apps". */
const struct discovery_entry *discovery_table_name(const struct discovery_table *t,
						   const char *name)
{
	char buf[NAME_BYTES_MAX];
	size_t len = strlen(name);
	if (len >= sizeof(buf))
		return NULL;
	for (size_t i = 0; i <= len; i++)
		buf[i] = char_lower(name[i]);
	char *group = strchr(buf, '.');
	if (!group)
		return find(t, buf, NULL, NULL);
	*group++ = '\0';
	const struct discovery_entry *e = find(t, buf, group, NULL);
	char *after_version = strchr(group, '.');
	if (e)
		return e;
	if (!after_version) /* "pods.v1" is of the core group */
		return find(t, buf, "", group);
	*after_version++ = '\0';
	return find(t, buf, after_version, group);
}
