#include "installers/chart/chart_data.h"

#include "installers/chart/values.h"

/* ---- capabilities ---- */

const char *kube_version_default(enum tmpl_profile profile)
{
	return profile == TMPL_PROFILE_4_1 ? "v1.35.0" : "v1.36.0";
}

static struct str take_digits(struct str *s)
{
	size_t n = 0;
	while (n < s->len && char_is_digit(s->ptr[n]))
		n++;
	struct str d = str_sub(*s, 0, n);
	*s = str_skip(*s, n);
	return d;
}

static int bad_version(struct strbuf *msg, struct str text, const char *before, const char *after)
{
	strbuf_addf(msg, "invalid kube version '%.*s': %s", STR_ARG(text), before);
	value_quote(msg, text);
	strbuf_adds(msg, after);
	return -E_INVALID;
}

/* k8s.io/apimachinery's version.ParseGeneric: numbers with dots, anything may follow. */
int kube_version_parse(struct arena *a, struct str text, struct kube_version *ret,
		       struct strbuf *msg)
{
	struct str rest = str_trim_left(text), bare;
	if (str_has_prefix(rest, STR("v")))
		rest = str_skip(rest, 1);
	bare = rest;
	struct str part = take_digits(&rest);
	if (!part.len)
		return bad_version(msg, text, "could not parse ", " as version");
	size_t n = 1;
	ret->major = part;
	while (rest.len > 1 && rest.ptr[0] == '.' && char_is_digit(rest.ptr[1])) {
		rest = str_skip(rest, 1);
		part = take_digits(&rest);
		if (n++ == 1)
			ret->minor = part;
		if (part.len > 1 && part.ptr[0] == '0') {
			strbuf_addf(msg,
				    "invalid kube version '%.*s': illegal zero-prefixed version "
				    "component \"%.*s\" in \"%.*s\"",
				    STR_ARG(text), STR_ARG(part), STR_ARG(text));
			return -E_INVALID;
		}
	}
	if (n < 2)
		return bad_version(msg, text, "illegal version string ", "");
	ret->text = str_of(arena_fmt(a, "v%.*s", STR_ARG(bare)));
	ret->normal = str_of(arena_fmt(a, "v%.*s", (int)(bare.len - rest.len), bare.ptr));
	return 0;
}

/* clang-format off */
static const char *const built_in_versions[] = {
	"v1",
	"admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1alpha1",
	"admissionregistration.k8s.io/v1beta1", "internal.apiserver.k8s.io/v1alpha1",
	"apps/v1", "apps/v1beta1", "apps/v1beta2",
	"authentication.k8s.io/v1", "authentication.k8s.io/v1alpha1", "authentication.k8s.io/v1beta1",
	"authorization.k8s.io/v1", "authorization.k8s.io/v1beta1",
	"autoscaling/v1", "autoscaling/v2", "autoscaling/v2beta1", "autoscaling/v2beta2",
	"batch/v1", "batch/v1beta1",
	"certificates.k8s.io/v1", "certificates.k8s.io/v1beta1", "certificates.k8s.io/v1alpha1",
	"coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1", "coordination.k8s.io/v1",
	"discovery.k8s.io/v1", "discovery.k8s.io/v1beta1",
	"events.k8s.io/v1", "events.k8s.io/v1beta1", "extensions/v1beta1",
	"flowcontrol.apiserver.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1beta1",
	"flowcontrol.apiserver.k8s.io/v1beta2", "flowcontrol.apiserver.k8s.io/v1beta3",
	"networking.k8s.io/v1", "networking.k8s.io/v1beta1",
	"node.k8s.io/v1", "node.k8s.io/v1alpha1", "node.k8s.io/v1beta1",
	"policy/v1", "policy/v1beta1",
	"rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1beta1",
	"rbac.authorization.k8s.io/v1alpha1",
	"resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1",
	"resource.k8s.io/v1alpha3",
	"scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1",
	"storage.k8s.io/v1beta1", "storage.k8s.io/v1", "storage.k8s.io/v1alpha1",
	"storagemigration.k8s.io/v1beta1",
	"apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1",
};
/* clang-format on */

struct value chart_api_versions(struct arena *a, bool built_in, const char *const *more,
				size_t n_more)
{
	size_t n = built_in ? ARRAY_LEN(built_in_versions) : 0;
	struct value v = value_list(a, VALUE_VERSIONS, n + n_more);
	for (size_t i = 0; i < n; i++)
		v.items[i] = value_cstr(built_in_versions[i]);
	for (size_t i = 0; i < n_more; i++)
		v.items[n + i] = value_cstr(more[i]);
	return v;
}

struct value chart_data_release(struct arena *a, struct str name, struct str ns, int revision,
				bool is_upgrade)
{
	struct vmap *m = vmap_new(a);
	vmap_setc(m, "Name", value_str(name));
	vmap_setc(m, "Namespace", value_str(ns));
	vmap_setc(m, "Revision", value_int(revision));
	vmap_setc(m, "Service", value_cstr("Helm"));
	vmap_setc(m, "IsUpgrade", value_bool(is_upgrade));
	vmap_setc(m, "IsInstall", value_bool(!is_upgrade));
	return value_map(m);
}

/* ---- .Chart ---- */

static struct value text_of(struct str s)
{
	return value_str(s.ptr ? s : STR(""));
}

/* []string as []interface {}, never nil. */
static struct value plain_list(struct arena *a, struct value v)
{
	struct value list = value_list(a, VALUE_LIST, v.len);
	for (size_t i = 0; i < v.len; i++)
		list.items[i] = v.items[i];
	return list;
}

/* Profiles 4.x: maps with Go's field names. */
static struct value dependency_map(struct arena *a, const struct chart_dependency *d)
{
	struct vmap *m = vmap_new_sized(a, 8);
	vmap_setc(m, "Name", text_of(d->name));
	vmap_setc(m, "Version", text_of(d->version));
	vmap_setc(m, "Repository", text_of(d->repository));
	vmap_setc(m, "Condition", text_of(d->condition));
	vmap_setc(m, "Tags", plain_list(a, d->tags));
	vmap_setc(m, "Enabled", value_bool(d->enabled));
	vmap_setc(m, "ImportValues", plain_list(a, d->import_values));
	vmap_setc(m, "Alias", text_of(d->alias));
	return value_map(m);
}

static struct value maintainer_map(struct arena *a, const struct chart_maintainer *x)
{
	struct vmap *m = vmap_new_sized(a, 3);
	vmap_setc(m, "Name", text_of(x->name));
	vmap_setc(m, "Email", text_of(x->email));
	vmap_setc(m, "URL", text_of(x->url));
	return value_map(m);
}

struct chart_text {
	const char *name;
	struct str text;
};

#define N_CHART_TEXTS 11
static void chart_texts(const struct chart_meta *m, struct chart_text out[N_CHART_TEXTS])
{
	const struct chart_text texts[N_CHART_TEXTS] = {
		{"Name", m->name},
		{"Home", m->home},
		{"Version", m->version},
		{"Description", m->description},
		{"Icon", m->icon},
		{"APIVersion", m->api_version},
		{"Condition", m->condition},
		{"Tags", m->tags},
		{"AppVersion", m->app_version},
		{"KubeVersion", m->kube_version},
		{"Type", m->type},
	};
	for (size_t i = 0; i < N_CHART_TEXTS; i++)
		out[i] = texts[i];
}

static struct value chart_map(struct arena *a, const struct chart *c)
{
	const struct chart_meta *meta = &c->meta;
	struct vmap *m = vmap_new_sized(a, 18);
	struct chart_text texts[N_CHART_TEXTS];
	chart_texts(meta, texts);
	for (size_t i = 0; i < N_CHART_TEXTS; i++)
		vmap_setc(m, texts[i].name, text_of(texts[i].text));
	struct value deps = value_list(a, VALUE_LIST, meta->n_dependencies);
	for (size_t i = 0; i < meta->n_dependencies; i++)
		deps.items[i] = dependency_map(a, &meta->dependencies[i]);
	struct value people = value_list(a, VALUE_LIST, meta->n_maintainers);
	for (size_t i = 0; i < meta->n_maintainers; i++)
		people.items[i] = maintainer_map(a, &meta->maintainers[i]);
	vmap_setc(m, "Dependencies", deps);
	vmap_setc(m, "Maintainers", people);
	vmap_setc(m, "Sources", plain_list(a, meta->sources));
	vmap_setc(m, "Keywords", plain_list(a, meta->keywords));
	vmap_setc(m, "Annotations", value_map_as(meta->annotations, VALUE_STRMAP));
	vmap_setc(m, "Deprecated", value_bool(meta->deprecated));
	vmap_setc(m, "IsRoot", value_bool(!c->parent));
	return value_map(m);
}

/* Profile 3: structs. */
static void set_field(struct vstruct *st, const char *name, struct value v)
{
	struct value *field = vstruct_get(st, str_of(name));
	if (field)
		*field = v;
}

static struct value dependency_struct(struct arena *a, const struct chart_dependency *d)
{
	struct vstruct *st = vstruct_new(a, &vstruct_dependency);
	set_field(st, "Name", text_of(d->name));
	set_field(st, "Version", text_of(d->version));
	set_field(st, "Repository", text_of(d->repository));
	set_field(st, "Condition", text_of(d->condition));
	set_field(st, "Tags", d->tags.type ? d->tags : (struct value){.type = VALUE_STRINGS});
	set_field(st, "Enabled", value_bool(d->enabled));
	set_field(st, "ImportValues",
		  d->import_values.type ? d->import_values : (struct value){.type = VALUE_LIST});
	set_field(st, "Alias", text_of(d->alias));
	return value_struct(st, true);
}

static struct value maintainer_struct(struct arena *a, const struct chart_maintainer *x)
{
	struct vstruct *st = vstruct_new(a, &vstruct_maintainer);
	set_field(st, "Name", text_of(x->name));
	set_field(st, "Email", text_of(x->email));
	set_field(st, "URL", text_of(x->url));
	return value_struct(st, true);
}

static struct value chart_struct(struct arena *a, const struct chart *c)
{
	const struct chart_meta *meta = &c->meta;
	struct vstruct *st = vstruct_new(a, &vstruct_metadata);
	struct chart_text texts[N_CHART_TEXTS];
	const struct value none = {.type = VALUE_STRINGS}, nothing = {.type = VALUE_STRUCTS};
	struct value deps = nothing, people = nothing;
	chart_texts(meta, texts);
	for (size_t i = 0; i < N_CHART_TEXTS; i++)
		set_field(st, texts[i].name, text_of(texts[i].text));
	if (meta->n_dependencies)
		deps = value_list(a, VALUE_STRUCTS, meta->n_dependencies);
	for (size_t i = 0; i < meta->n_dependencies; i++)
		deps.items[i] = dependency_struct(a, &meta->dependencies[i]);
	if (meta->n_maintainers)
		people = value_list(a, VALUE_STRUCTS, meta->n_maintainers);
	for (size_t i = 0; i < meta->n_maintainers; i++)
		people.items[i] = maintainer_struct(a, &meta->maintainers[i]);
	set_field(st, "Dependencies", deps);
	set_field(st, "Maintainers", people);
	set_field(st, "Sources", meta->sources.type ? meta->sources : none);
	set_field(st, "Keywords", meta->keywords.type ? meta->keywords : none);
	set_field(st, "Annotations", value_map_as(meta->annotations, VALUE_STRMAP));
	set_field(st, "Deprecated", value_bool(meta->deprecated));
	set_field(st, "IsRoot", value_bool(!c->parent));
	return value_struct(st, false);
}

/* ---- the data map ---- */

static struct value files_map(struct arena *a, const struct chart *c)
{
	struct vmap *m = vmap_new_sized(a, c->files.n);
	for (size_t i = 0; i < c->files.n; i++)
		vmap_setc(m, c->files.items[i].path, value_bytes(c->files.items[i].data));
	return value_map_as(m, VALUE_FILES);
}

struct vmap *chart_data(struct arena *a, const struct chart *c, enum tmpl_profile profile,
			struct vmap *values, struct value release, struct value capabilities)
{
	struct vmap *m = vmap_new_sized(a, 7);
	vmap_setc(m, "Chart", profile == TMPL_PROFILE_3 ? chart_struct(a, c) : chart_map(a, c));
	vmap_setc(m, "Files", files_map(a, c));
	vmap_setc(m, "Release", release);
	vmap_setc(m, "Capabilities", capabilities);
	vmap_setc(m, "Values", value_map_as(values, VALUE_VALUES));
	vmap_setc(m, "Subcharts", value_map(vmap_new(a)));
	return m;
}
