#include "catalog/index/package.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/decode.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

struct descriptor {
	const char *app_type, *replaces, *skip_range, *min_kube_version, *rollback;
	const struct obj *
		requires,
			*
			conflicts,
		*requirements;
	struct decode_strs provides, channels, skips, images;
};

#define FIELD(path, type, member) {path, type, offsetof(struct descriptor, member)}
static const struct decode_field fields[] = {
	FIELD("appType", DECODE_STR, app_type),
	FIELD("replaces", DECODE_VERSION, replaces),
	FIELD("skipRange", DECODE_VERSION, skip_range),
	FIELD("minKubeVersion", DECODE_VERSION, min_kube_version),
	FIELD("rollback", DECODE_STR, rollback),
	FIELD("requires", DECODE_LIST, requires),
	FIELD("conflicts", DECODE_LIST, conflicts),
	FIELD("requirements", DECODE_LIST, requirements),
	FIELD("provides", DECODE_STRS, provides),
	FIELD("channels", DECODE_STRS, channels),
	FIELD("skips", DECODE_STRS, skips),
	FIELD("images", DECODE_STRS, images),
	{0},
};

static const char *copy(const char *s, struct arena *a)
{
	return s ? arena_strdup(a, s) : NULL;
}

static const char **copy_all(const struct decode_strs *strs, struct arena *a)
{
	const char **list = ARENA_ARRAY(a, const char *, strs->n);
	for (size_t i = 0; i < strs->n; i++)
		list[i] = arena_strdup(a, strs->items[i]);
	return list;
}

static int check_known(const struct obj *d, struct error *err)
{
	OBJ_EACH (it, d) {
		size_t i = 0;
		while (fields[i].path && strcmp(fields[i].path, it.key) != 0)
			i++;
		if (!fields[i].path)
			return error_set(err, E_INVALID, "unknown field %s", it.key);
	}
	return 0;
}

static int check_range(const char *versions, struct arena *a, const char *where, struct error *err)
{
	struct range range;
	if (versions && range_parse(str_of(versions), a, &range, err) < 0)
		return error_wrap(err, "%s.versions", where);
	return 0;
}

static int read_requirement(const struct obj *o, const char *where, struct arena *a,
			    struct package_requirement *r, struct error *err)
{
	static const struct decode_field members[] = {
		{"resource", DECODE_STR, offsetof(struct package_requirement, resource)},
		{"versions", DECODE_VERSION, offsetof(struct package_requirement, versions)},
		{"optional", DECODE_BOOL, offsetof(struct package_requirement, optional)},
		{0},
	};
	struct resource_ref ref;
	if (decode_members(o, where, members, r, a, err) < 0)
		return -err->code;
	if (!r->resource || !resource_ref_parse(r->resource, a, &ref))
		return error_set(err, E_INVALID, "%s.resource: want plural.group/version", where);
	r->resource = resource_ref_fmt(&ref, a);
	r->versions = copy(r->versions, a);
	return check_range(r->versions, a, where, err);
}

static int read_requires(const struct obj *list, struct arena *a, struct package_version *p,
			 struct error *err)
{
	struct package_requirement *items =
		ARENA_ARRAY(a, struct package_requirement, obj_len(list));
	p->n_requires = obj_len(list);
	for (size_t i = 0; i < p->n_requires; i++)
		if (read_requirement(obj_at(list, i), arena_fmt(a, "requires[%zu]", i), a,
				     &items[i], err) < 0)
			return -err->code;
	p->
		requires
	= items;
	return 0;
}

static int read_conflict(const struct obj *o, const char *where, struct arena *a,
			 struct package_conflict *c, struct error *err)
{
	static const struct decode_field members[] = {
		{"package", DECODE_STR, offsetof(struct package_conflict, package)},
		{"versions", DECODE_VERSION, offsetof(struct package_conflict, versions)},
		{0},
	};
	c->versions = "*";
	if (decode_members(o, where, members, c, a, err) < 0)
		return -err->code;
	if (!c->package)
		return error_set(err, E_INVALID, "%s.package: want a name", where);
	c->package = copy(c->package, a);
	c->versions = copy(c->versions, a);
	return check_range(c->versions, a, where, err);
}

static int read_conflicts(const struct obj *list, struct arena *a, struct package_version *p,
			  struct error *err)
{
	p->n_conflicts = obj_len(list);
	p->conflicts = ARENA_ARRAY(a, struct package_conflict, p->n_conflicts);
	for (size_t i = 0; i < p->n_conflicts; i++)
		if (read_conflict(obj_at(list, i), arena_fmt(a, "conflicts[%zu]", i), a,
				  &p->conflicts[i], err) < 0)
			return -err->code;
	return 0;
}

/* {kind, ...}: checked before an install, never installed. */
static int check_requirements(const struct obj *list, struct error *err)
{
	static const char *const kinds[] = {"Permission", "Object", "CRD", "Feature"};
	if (obj_len(list) > PACKAGE_REQUIREMENTS_MAX)
		return error_set(err, E_LIMIT, "requirements: more than %d",
				 PACKAGE_REQUIREMENTS_MAX);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *kind = obj_str(obj_at(list, i), "kind");
		bool known = false;
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			known = known || cstr_eq(kind, kinds[k]);
		if (!known)
			return error_set(err, E_INVALID,
					 "requirements[%zu].kind: \"%s\" is none of Permission, "
					 "Object, CRD, Feature",
					 i, kind ? kind : "");
	}
	return 0;
}

static int read_provides(const struct decode_strs *strs, struct arena *a, struct package_version *p,
			 struct error *err)
{
	if (strs->n > PACKAGE_RESOURCES_MAX)
		return error_set(err, E_LIMIT, "provides: more than %d", PACKAGE_RESOURCES_MAX);
	p->provides = ARENA_ARRAY(a, const char *, strs->n);
	for (size_t i = 0; i < strs->n; i++) {
		struct resource_ref ref;
		if (!resource_ref_parse(strs->items[i], a, &ref) || !*ref.version)
			return error_set(err, E_INVALID,
					 "provides[%zu]: \"%s\" is no plural.group/version", i,
					 strs->items[i]);
		p->provides[p->n_provides++] = resource_ref_fmt(&ref, a);
	}
	return 0;
}

/* Versions and ranges of the edges must be readable, and edges lead up (rule edge-backwards). */
static int check_edges(const struct package_version *p, struct arena *a, struct error *err)
{
	struct version v;
	struct range range;
	for (size_t i = 0; i <= p->n_skips; i++) {
		const char *text = i < p->n_skips ? p->skips[i] : p->replaces;
		const char *field = i < p->n_skips ? "skips" : "replaces";
		if (!text)
			continue;
		if (version_parse(str_of(text), VERSION_STRICT, &v, err) < 0)
			return error_wrap(err, "%s: \"%s\"", field, text);
		if (version_cmp(&v, &p->version) >= 0)
			return error_set(err, E_INVALID, "%s: %s is not below %.*s", field, text,
					 STR_ARG(p->version.text));
	}
	if (p->skip_range && range_parse(str_of(p->skip_range), a, &range, err) < 0)
		return error_wrap(err, "skipRange");
	if (p->min_kube_version &&
	    version_parse(str_of(p->min_kube_version), VERSION_LOOSE, &v, err) < 0)
		return error_wrap(err, "minKubeVersion: \"%s\"", p->min_kube_version);
	if (p->kube_version && range_parse(str_of(p->kube_version), a, &range, err) < 0)
		return error_wrap(err, "kubeVersion");
	return 0;
}

/* Everything is copied: a parsed tree takes ten times the room of its text. */
static int take_descriptor(const struct obj *o, struct arena *a, struct package_version *p,
			   struct error *err)
{
	struct descriptor d = {0};
	if (obj_type(o) != OBJ_MAP)
		return error_set(err, E_INVALID, "want a map");
	if (check_known(o, err) < 0 || decode_fields(o, fields, &d, a, err) < 0)
		return -err->code;
	if (d.rollback && strcmp(d.rollback, "Unsafe") != 0)
		return error_set(err, E_INVALID, "rollback: \"%s\" is not Unsafe", d.rollback);
	p->app_type = copy(d.app_type, a);
	p->replaces = copy(d.replaces, a);
	p->skip_range = copy(d.skip_range, a);
	p->min_kube_version = copy(d.min_kube_version, a);
	p->rollback_unsafe = d.rollback != NULL;
	p->skips = copy_all(&d.skips, a);
	p->n_skips = d.skips.n;
	p->channels = copy_all(&d.channels, a);
	p->n_channels = d.channels.n;
	p->images = copy_all(&d.images, a);
	p->n_images = d.images.n;
	p->requirements = d.requirements ? obj_keep(a, obj_ref(d.requirements)) : NULL;
	if (check_requirements(d.requirements, err) < 0 ||
	    read_provides(&d.provides, a, p, err) < 0 || read_requires(d.requires, a, p, err) < 0)
		return -err->code;
	return read_conflicts(d.conflicts, a, p, err);
}

int package_parse_descriptor(struct str text, struct obj **ret, struct error *err)
{
	*ret = NULL;
	text = str_trim(text);
	if (text.len > PACKAGE_DESCRIPTOR_BYTES_MAX)
		return error_set(err, E_LIMIT, "alm.yaml: larger than %zu bytes",
				 PACKAGE_DESCRIPTOR_BYTES_MAX);
	if (text.len && yaml_parse_one(text, ret, err) < 0)
		return error_wrap(err, "alm.yaml");
	return 0;
}

static int read_descriptor(struct str text, const struct obj *parsed, struct arena *a,
			   struct package_version *p, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	text = str_trim(text); /* an annotation may have lost the last line end */
	sha256_hex(text, p->descriptor_digest);
	if (!text.len)
		return 0;
	if (!parsed && package_parse_descriptor(text, &o, err) < 0)
		return -err->code;
	if (take_descriptor(parsed ? parsed : o, a, p, err) < 0)
		return error_wrap(err, "alm.yaml");
	return 0;
}

int package_check_name(struct str name, struct error *err)
{
	if (!name.len || name.len > PACKAGE_NAME_BYTES_MAX)
		return error_set(err, E_INVALID, "name: %zu bytes, want a chart name of 1 to %d",
				 name.len, PACKAGE_NAME_BYTES_MAX);
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (!char_is_alnum(c) && c != '_' && (!i || (c != '.' && c != '-')))
			return error_set(
				err, E_INVALID,
				"name: byte 0x%02x at %zu, want letters, digits, \".\", "
				"\"_\" and \"-\", the first of them neither \".\" nor \"-\"",
				(unsigned char)c, i);
	}
	return 0;
}

static int take_chart(const struct obj *o, struct arena *a, struct package_version *p,
		      const char **ret_annotation, struct error *err)
{
	static const struct decode_field members[] = {{"version", DECODE_VERSION, 0}, {0}};
	const char *version = NULL;
	struct str whole = obj_as_str(obj_get(o, "version"));
	if (package_check_name(obj_as_str(obj_get(o, "name")), err) < 0)
		return error_wrap(err, "Chart.yaml");
	p->package = copy(obj_str(o, "name"), a);
	if (decode_fields(o, members, &version, a, err) < 0)
		return error_wrap(err, "Chart.yaml");
	if (!version)
		return error_set(err, E_INVALID, "Chart.yaml: version: want a semantic version");
	if (whole.len && memchr(whole.ptr, 0, whole.len))
		return error_set(err, E_INVALID, "Chart.yaml: version: has U+0000");
	version = copy(version, a);
	if (version_parse(str_of(version), VERSION_STRICT, &p->version, err) < 0)
		return error_wrap(err, "Chart.yaml: version: \"%s\"", version);
	p->kube_version = copy(obj_str(o, "kubeVersion"), a);
	p->deprecated = obj_flag(o, "deprecated", false);
	const struct obj *annotations = obj_get(o, "annotations");
	*ret_annotation = copy(obj_as_string(obj_get(annotations, PACKAGE_ANNOTATION)), a);
	return 0;
}

static int read_chart(const struct package_source *s, struct arena *a, struct package_version *p,
		      const char **ret_annotation, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (s->chart)
		return take_chart(s->chart, a, p, ret_annotation, err);
	if (yaml_parse_one(s->chart_yaml, &o, err) < 0)
		return error_wrap(err, "Chart.yaml");
	return take_chart(o, a, p, ret_annotation, err);
}

int package_crd_resources(const struct obj *crd, struct arena *a, const char ***resources,
			  size_t *n, struct error *err)
{
	const char *plural = obj_str(crd, "spec.names.plural"), *group = obj_str(crd, "spec.group");
	const struct obj *versions = obj_path(crd, "spec.versions");
	if (!plural || !group)
		return error_set(err, E_INVALID, "a CRD without spec.group or spec.names.plural");
	const char **grown = ARENA_ARRAY(a, const char *, *n + obj_len(versions));
	if (*n)
		memcpy(grown, *resources, *n * sizeof(char *));
	for (size_t i = 0; i < obj_len(versions); i++) {
		const struct obj *v = obj_at(versions, i);
		const char *name = obj_str(v, "name");
		if (name && obj_flag(v, "served", false))
			grown[(*n)++] = arena_fmt(a, "%s.%s/%s", plural, group, name);
	}
	*resources = grown;
	return *n <= PACKAGE_RESOURCES_MAX
		       ? 0
		       : error_set(err, E_LIMIT, "more than %d resources", PACKAGE_RESOURCES_MAX);
}

static void provide_own(struct package_version *p)
{
	if (p->n_provides)
		return;
	p->provides = p->own_crds;
	p->n_provides = p->n_own_crds;
}

int package_learn(struct package_version *p, const struct obj *own_crds, struct arena *a,
		  struct error *err)
{
	size_t n = obj_len(own_crds);
	if (n > PACKAGE_RESOURCES_MAX)
		return error_set(err, E_LIMIT, "more than %d resources", PACKAGE_RESOURCES_MAX);
	if (p->provides == p->own_crds) /* not declared: it follows what is known */
		p->n_provides = 0;
	p->own_crds = ARENA_ARRAY(a, const char *, n);
	p->n_own_crds = 0;
	for (size_t i = 0; i < n; i++) {
		const char *text = obj_as_string(obj_at(own_crds, i));
		if (text)
			p->own_crds[p->n_own_crds++] = arena_strdup(a, text);
	}
	p->unread = false;
	provide_own(p);
	return 0;
}

int package_read(const struct package_source *s, struct arena *a, struct package_version **ret,
		 struct error *err)
{
	struct package_version *p = ARENA_NEW(a, struct package_version);
	const char *annotation = NULL;
	p->digest = arena_strdup(a, s->digest);
	p->locator = arena_strdup(a, s->locator);
	p->verified_by = copy(s->verified_by, a);
	p->verified_until_s = s->verified_until_s;
	p->withdrawn = copy(s->unusable, a);
	p->is_unusable = s->unusable != NULL;
	if (read_chart(s, a, p, &annotation, err) < 0)
		return -err->code;
	struct str descriptor = s->descriptor;
	if (annotation && descriptor.ptr &&
	    !str_eq(str_trim(str_of(annotation)), str_trim(descriptor)))
		return error_because(err, E_INVALID, REASON_DESCRIPTOR_MISMATCH,
				     "alm.yaml and the annotation " PACKAGE_ANNOTATION
				     " of Chart.yaml differ; build the package again");
	if (!descriptor.ptr)
		descriptor = str_of(annotation);
	if (read_descriptor(descriptor, s->parsed, a, p, err) < 0)
		return -err->code;
	if (s->own_crds && package_learn(p, s->own_crds, a, err) < 0)
		return -err->code;
	p->unread = s->unread;
	for (size_t i = 0; i < s->n_crds; i++)
		if (package_crd_resources(s->crds[i], a, &p->own_crds, &p->n_own_crds, err) < 0)
			return error_wrap(err, "crds");
	provide_own(p);
	if (check_edges(p, a, err) < 0)
		return error_wrap(err, "%s %.*s", p->package, STR_ARG(p->version.text));
	*ret = p;
	return 0;
}

bool package_has_channel(const struct package_version *p, const char *channel)
{
	for (size_t i = 0; i < p->n_channels; i++)
		if (!strcmp(p->channels[i], channel))
			return true;
	return !p->n_channels;
}

bool package_provides(const struct package_version *p, const char *resource)
{
	for (size_t i = 0; i < p->n_provides; i++)
		if (!strcmp(p->provides[i], resource))
			return true;
	return false;
}
