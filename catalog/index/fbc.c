#include "catalog/index/fbc.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/map.h"

/* While it is applied; in the arena of the index, but for the maps. */
struct olm {
	struct catalog_index *x;
	struct map *bundles; /* "PACKAGE NAME": struct bundle */
};

struct edges {
	const char **items;
	size_t n, cap;
};

struct bundle {
	struct package_version *p; /* NULL: its version cannot be read */
	bool own;                  /* alm.yaml has edges or channels */
	struct edges channels, sources;
	const char *skip_range;
};

void fbc_take(struct catalog_index *x, const struct obj *line)
{
	struct obj *o = mem_unconst(line);
	if (!x->olm)
		x->olm = obj_keep(x->arena, obj_list());
	if (obj_len(x->olm) >= INDEX_VERSIONS_MAX)
		x->over = true;
	else
		obj_append(x->olm, obj_ref(o));
}

static const struct obj *document(const struct olm *m, size_t i, const char *schema,
				  const char **ret_package)
{
	const struct obj *o = obj_get(obj_at(m->x->olm, i), "olm");
	*ret_package = obj_str(o, "package");
	return cstr_eq(obj_str(o, "schema"), schema) && *ret_package ? o : NULL;
}

static void reject(struct olm *m, size_t i, const char *why)
{
	const char *where = obj_str(obj_at(m->x->olm, i), "where");
	index_reject(m->x, where ? where : "a bundle", why, REASON_NONE);
}

static struct bundle *find(const struct olm *m, const char *package, const char *name)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	return map_get(m->bundles, arena_fmt(a, "%s %s", package, name ? name : ""));
}

/* --- bundles --- */

static struct package_version *same_version(const struct catalog_index *x, const char *package,
					    const struct version *v)
{
	size_t n;
	struct package_version *const *all = index_package(x, package, &n);
	for (size_t i = 0; i < n; i++)
		if (!version_cmp(&all[i]->version, v))
			return all[i];
	return NULL;
}

static const char *digest_of(const char *image, const struct obj *bundle, struct arena *a)
{
	static const char mark[] = "@sha256:";
	const char *at = image ? strstr(image, mark) : NULL;
	char *hex = arena_calloc(a, SHA256_HEX, 1);
	if (at && strlen(at + strlen(mark)) == SHA256_HEX - 1)
		return arena_strdup(a, at + strlen(mark));
	const char *name = obj_str(bundle, "name");
	sha256_hex(str_of(arena_fmt(a, "%s %s", name ? name : "", image ? image : "")), hex);
	return hex;
}

/* Listed, never installable. */
static struct package_version *list_bundle(struct olm *m, const struct obj *o, const char *package,
					   const char *version, struct error *err)
{
	struct arena *a = m->x->arena;
	const char *image = obj_str(o, "image"), *name = obj_str(o, "name");
	CLEANUP(obj_unrefp) struct obj *chart = obj_map();
	struct package_version *p = NULL;
	obj_set_str(chart, "name", package);
	obj_set_str(chart, "version", version);
	struct package_source s = {.chart = chart,
				   .digest = digest_of(image, o, a),
				   .locator = image ? image : package};
	if (package_read(&s, a, &p, err) < 0)
		return NULL;
	p->listed_only = true;
	p->withdrawn =
		arena_fmt(a,
			  "NotAChart: bundle %s (%s) is none; put the chart %s-%s.tgz beside "
			  "this catalog to install it",
			  name ? name : "?", image ? image : "no image", package, version);
	ARRAY_GROW(m->x->versions, m->x->cap, m->x->n + 1);
	m->x->versions[m->x->n++] = p;
	return p;
}

static void add_bundle(struct olm *m, size_t i, size_t n_sorted)
{
	struct error err = ERROR_INIT;
	const char *package;
	const struct obj *o = document(m, i, "olm.bundle", &package);
	const char *name = obj_str(o, "name"), *version = obj_str(o, "version");
	struct version v;
	if (!o)
		return;
	struct arena *a = m->x->arena;
	struct bundle *b = ARENA_NEW(a, struct bundle);
	if (!version || version_parse(str_of(version), VERSION_STRICT, &v, &err) < 0) {
		reject(m, i,
		       arena_fmt(a, "bundle %s: version: \"%s\"", name ? name : "?",
				 version ? version : ""));
		return;
	}
	const struct catalog_index known = {.versions = m->x->versions, .n = n_sorted};
	b->p = same_version(&known, package, &v);
	if (b->p)
		b->own = b->p->replaces || b->p->n_skips || b->p->skip_range || b->p->n_channels;
	else
		b->p = list_bundle(m, o, package, version, &err);
	if (!b->p)
		reject(m, i, arena_strdup(a, err.msg));
	else
		map_set(m->bundles, arena_fmt(a, "%s %s", package, name ? name : ""), b);
}

/* --- channels --- */

static bool has(const struct edges *e, const char *text)
{
	for (size_t i = 0; i < e->n; i++)
		if (!strcmp(e->items[i], text))
			return true;
	return false;
}

static void add_to(struct edges *e, const char *text, struct arena *a)
{
	if (e->n >= FBC_EDGES_MAX || has(e, text))
		return;
	ARENA_GROW(a, e->items, e->cap, e->n, 8);
	e->items[e->n++] = arena_strdup(a, text);
}

/* "etcdoperator.v0.9.4" of a bundle that is in no file any more: what stands after the first dot,
 * without the v. NULL: that is no version. */
static const char *version_in_name(const char *name)
{
	struct version v;
	struct error ignored;
	const char *dot = strchr(name, '.');
	const char *text = dot ? dot + 1 + (dot[1] == 'v') : NULL;
	if (!text || version_parse(str_of(text), VERSION_STRICT, &v, &ignored) < 0)
		return NULL;
	return text;
}

static void add_source(struct olm *m, size_t i, const char *package, const char *channel,
		       struct bundle *b, const char *name)
{
	const struct bundle *from = name ? find(m, package, name) : NULL;
	const char *text = from && from->p
				   ? arena_fmt(m->x->arena, "%.*s", STR_ARG(from->p->version.text))
			   : name ? version_in_name(name)
				  : NULL;
	struct version v;
	struct error ignored;
	if (!text || version_parse(str_of(text), VERSION_STRICT, &v, &ignored) < 0)
		return;
	if (version_cmp(&v, &b->p->version) < 0)
		add_to(&b->sources, text, m->x->arena);
	else
		reject(m, i,
		       arena_fmt(m->x->arena,
				 "edge-backwards: %s channel %s: %.*s replaces or skips %s; the "
				 "edge is left out",
				 package, channel, STR_ARG(b->p->version.text), text));
}

static void add_range(struct olm *m, size_t i, struct bundle *b, const char *text)
{
	struct arena *a = m->x->arena;
	struct range range;
	struct error err = ERROR_INIT;
	if (!text || cstr_eq(text, b->skip_range))
		return;
	if (range_parse(str_of(text), a, &range, &err) < 0)
		reject(m, i,
		       arena_fmt(a, "skipRange of %.*s: %s", STR_ARG(b->p->version.text), err.msg));
	else
		b->skip_range = b->skip_range ? arena_fmt(a, "%s || %s", b->skip_range, text)
					      : arena_strdup(a, text);
}

static void add_channel(struct olm *m, size_t i)
{
	const char *package;
	const struct obj *o = document(m, i, "olm.channel", &package);
	const char *channel = obj_str(o, "name");
	const struct obj *entries = obj_get(o, "entries");
	for (size_t k = 0; channel && k < obj_len(entries); k++) {
		const struct obj *e = obj_at(entries, k);
		const char *name = obj_str(e, "name");
		struct bundle *b = find(m, package, name);
		const struct obj *skips = obj_get(e, "skips");
		if (!b) {
			reject(m, i,
			       arena_fmt(m->x->arena, "%s channel %s: no bundle %s", package,
					 channel, name ? name : "?"));
			continue;
		}
		add_to(&b->channels, channel, m->x->arena);
		add_source(m, i, package, channel, b, obj_str(e, "replaces"));
		for (size_t s = 0; s < obj_len(skips); s++)
			add_source(m, i, package, channel, b, obj_as_string(obj_at(skips, s)));
		add_range(m, i, b, obj_str(e, "skipRange"));
	}
}

/* --- deprecations --- */

static bool is_meant(const struct package_version *p, const struct olm *m, const char *package,
		     const char *schema, const char *name)
{
	if (cstr_eq(schema, "olm.package"))
		return true;
	if (cstr_eq(schema, "olm.channel"))
		return name && p->n_channels && package_has_channel(p, name);
	const struct bundle *b = find(m, package, name);
	return b && b->p == p;
}

static void add_deprecations(struct olm *m, size_t i)
{
	const char *package;
	const struct obj *o = document(m, i, "olm.deprecations", &package);
	const struct obj *entries = obj_get(o, "entries");
	for (size_t k = 0; k < obj_len(entries); k++) {
		const struct obj *e = obj_at(entries, k);
		const char *message = obj_str(e, "message");
		size_t n;
		struct package_version *const *all = index_package(m->x, package, &n);
		for (size_t v = 0; v < n; v++) {
			if (!is_meant(all[v], m, package, obj_str(e, "reference.schema"),
				      obj_str(e, "reference.name")))
				continue;
			all[v]->deprecated = true;
			all[v]->deprecation =
				arena_strdup(m->x->arena, message ? message : "deprecated");
		}
	}
}

/* --- what came of it --- */

/* OLM's first version of a channel is reached by none; ours without edges by every lower one. */
#define NO_EDGES "<0.0.0-0"

static void settle(struct arena *a, struct bundle *b)
{
	struct package_version *p = b->p;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)1 << 20);
	if (b->own || !b->channels.n)
		return;
	p->channels = b->channels.items;
	p->n_channels = b->channels.n;
	p->replaces = b->sources.n ? b->sources.items[0] : NULL;
	p->skips = b->sources.n > 1 ? b->sources.items + 1 : NULL;
	p->n_skips = b->sources.n > 1 ? b->sources.n - 1 : 0;
	p->skip_range = b->skip_range ? b->skip_range : b->sources.n ? NULL : NO_EDGES;
	for (size_t i = 0; i < b->channels.n; i++)
		strbuf_addf(&text, "%s ", b->channels.items[i]);
	for (size_t i = 0; i < b->sources.n; i++)
		strbuf_addf(&text, "<%s ", b->sources.items[i]);
	strbuf_addf(&text, "%s", p->skip_range ? p->skip_range : "");
	p->overlay = arena_strdup(a, text.buf);
}

void fbc_apply(struct catalog_index *x)
{
	CLEANUP(map_freep) struct map *bundles = map_new(NULL);
	struct olm m = {x, bundles};
	size_t n_sorted = x->n, n = obj_len(x->olm);
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		add_bundle(&m, i, n_sorted);
	index_sort(x);
	for (size_t i = 0; i < n; i++)
		add_channel(&m, i);
	for (struct map_entry *e = map_first(bundles); e; e = map_next(e))
		settle(x->arena, e->value);
	for (size_t i = 0; i < n; i++)
		add_deprecations(&m, i);
}
