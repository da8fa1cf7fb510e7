#include "alm/controllers/app/instance_app.h"

#include <math.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"
#include "crds/marks.h"

#define HEX_DIGITS 10
#define NAME_CUT   (INSTANCE_APP_NAME_MAX - HEX_DIGITS - 1)

bool instance_key_read(const char *key, struct arena *a, struct instance_key *ret)
{
	struct str crd, ns, name;
	if (!str_cut(str_of(key), '/', &crd, &name) || !str_cut(name, '/', &ns, &name))
		return false;
	ret->crd = arena_strndup(a, crd.ptr, crd.len);
	ret->ns = ns.len ? arena_strndup(a, ns.ptr, ns.len) : NULL;
	ret->name = arena_strndup(a, name.ptr, name.len);
	return true;
}

const char *instance_of(const struct obj *apptype)
{
	return meta_annotation(apptype, ANNOTATION_OF_INSTANCE);
}

const char *instance_parent(const struct obj *apptype)
{
	return meta_annotation(apptype, ANNOTATION_INSTANCE_APP);
}

/* An AppType's name has no dot. */
const char *instance_app_name(const char *key, struct arena *a)
{
	char hex[SHA256_HEX];
	const char *slash = strrchr(key, '/');
	char *name = arena_strdup(a, slash ? slash + 1 : key);
	sha256_hex(str_of(key), hex);
	for (char *p = name; *p; p++)
		*p = *p == '.' ? '-' : *p;
	size_t n = strlen(name) > NAME_CUT ? NAME_CUT : strlen(name);
	while (n && name[n - 1] == '-')
		n--;
	return arena_fmt(a, "%.*s-%.*s", (int)n, name, HEX_DIGITS, hex);
}

bool instance_is_app(const struct obj *instance)
{
	return obj_is_set(obj_path(instance, "spec.helmChart"));
}

/* A merge patch cannot write one, so the AppType could not follow. NULL: there is none; else its path, from at. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as an object, OBJ_DEPTH_MAX */
static const char *null_in(const struct obj *o, const char *at, struct arena *a)
{
	const char *found = obj_type(o) == OBJ_NULL ? at : NULL;
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o) && !found; i++)
		found = null_in(obj_at(o, i), arena_fmt(a, "%s[%zu]", at, i), a);
	if (obj_type(o) == OBJ_MAP)
		OBJ_EACH (it, o)
			if (!found)
				found = null_in(it.value, arena_fmt(a, "%s.%s", at, it.key), a);
	return found;
}

static const char *upgrades_problem(const struct obj *o, struct arena *a)
{
	static const char *const known[] = {"automatic", "strategy", NULL};
	const char *strategy = obj_str(o, "strategy"), *other = obj_unknown_member(o, known);
	enum obj_type automatic = obj_type(obj_get(o, "automatic"));
	if (obj_is_set(o) && obj_type(o) != OBJ_MAP)
		return "spec.helmChart.upgrades: want an object";
	if (other)
		return arena_fmt(
			a, "spec.helmChart.upgrades.%s: not known; use automatic and strategy",
			other);
	if (automatic != OBJ_ABSENT && automatic != OBJ_NULL && automatic != OBJ_BOOL)
		return "spec.helmChart.upgrades.automatic: want true or false";
	if (obj_is_set(obj_get(o, "strategy")) && !cstr_eq(strategy, "rolling"))
		return "spec.helmChart.upgrades.strategy: use rolling";
	return NULL;
}

const char *instance_problem(const struct obj *instance, struct arena *a)
{
	static const char *const known[] = {"template", "values", "upgrades", NULL};
	const struct obj *chart = obj_path(instance, "spec.helmChart");
	const char *type = obj_str(instance, "spec.type");
	if (!meta_namespace(instance))
		return "metadata.namespace: a chart is installed for an instance of a namespace "
		       "only; give the resource scope Namespaced";
	if (obj_type(chart) != OBJ_MAP)
		return "spec.helmChart: want an object";
	if (!type || strcmp(type, "helm") != 0)
		return arena_fmt(a, "spec.type: %s is not installed; use helm",
				 type ? type : "nothing");
	const char *other = obj_unknown_member(chart, known);
	if (other)
		return arena_fmt(a,
				 "spec.helmChart.%s: not known; use template, values and upgrades",
				 other);
	const char *why = upgrades_problem(obj_get(chart, "upgrades"), a);
	if (why)
		return why;
	const char *null = obj_is_set(obj_get(chart, "values"))
				   ? null_in(obj_get(chart, "values"), "spec.helmChart.values", a)
				   : NULL;
	if (null)
		return arena_fmt(a, "%s: null is no value here; leave it out", null);
	CLEANUP(obj_unrefp) struct obj *app = instance_app(instance, "x/x/x", NULL, NULL, a);
	static const char at[] = "spec.operator";
	why = inplace_problem(app, a);
	/* the same field has another place here */
	return why && cstr_has_prefix(why, at) ? arena_fmt(a, "spec%s", why + strlen(at)) : why;
}

struct obj *instance_app(const struct obj *instance, const char *key, const struct obj *parent,
			 const struct obj *declared, struct arena *a)
{
	const struct obj *chart = obj_path(instance, "spec.helmChart");
	struct obj *o = meta_skeleton("app.coreos.com/v1beta1", "AppType", NULL,
				      instance_app_name(key, a)),
		   *operator_chart = obj_map();
	bool automatic = obj_flag(chart, "upgrades.automatic", true);
	meta_set_annotation(o, ANNOTATION_MADE_BY, "alm");
	meta_set_annotation(o, ANNOTATION_OF_INSTANCE, key);
	if (parent) {
		meta_set_annotation(o, ANNOTATION_INSTANCE_APP, meta_name(parent));
		obj_set_path(o, "spec.type", obj_ref(obj_path(parent, "spec.type")));
	}
	obj_set_path(o, "spec.installNamespace", obj_string(meta_namespace(instance)));
	obj_set_path(o, "spec.upgrade.mode", obj_string(automatic ? "Automatic" : "Manual"));
	if (obj_str(chart, "template"))
		obj_set_str(operator_chart, "template", obj_str(chart, "template"));
	if (obj_is_set(obj_get(chart, "values")))
		obj_set(operator_chart, "values", obj_copy(obj_get(chart, "values")));
	if (obj_is_set(obj_get(declared, "secretRef")))
		obj_set_path(o, "spec.operator.secretRef",
			     obj_copy(obj_get(declared, "secretRef")));
	obj_set_path(o, "spec.operator.type", obj_string("helm"));
	obj_set_path(o, "spec.operator.helmChart", operator_chart);
	return o;
}

/* --- consent --- */

bool instance_is_welcome(const struct obj *ns, const struct obj *apptype)
{
	const char *parent = instance_parent(apptype);
	struct str rest = str_of(meta_annotation(ns, ANNOTATION_INSTANCES)), one;
	while (instance_of(apptype) && parent && rest.ptr && str_next(&rest, ',', &one)) {
		one = str_trim(one);
		if (str_is(one, "*") || str_is(one, parent))
			return true;
	}
	return false;
}

/* --- outputs --- */

/* A host is what a browser takes it for. */
static struct obj *url_of(const char *text)
{
	if (!*text || strchr(text, ' '))
		return NULL;
	return strstr(text, "://") ? obj_string(text) : obj_stringf("http://%s", text);
}

/* A ConfigMap has texts alone. NULL: it is no such value. */
static struct obj *typed(const struct obj *value, const char *type)
{
	const char *text = obj_as_string(value);
	int64_t n;
	double x;
	if (!type || !strcmp(type, "string"))
		return text ? obj_string(text) : NULL;
	if (!strcmp(type, "url") || !strcmp(type, "link"))
		return text ? url_of(text) : NULL;
	if (!strcmp(type, "boolean") && text)
		return !strcmp(text, "true") || !strcmp(text, "false") ? obj_bool(*text == 't')
								       : NULL;
	if (!strcmp(type, "integer") && text)
		return str_parse_i64(str_of(text), &n) ? obj_int(n) : NULL;
	if (!strcmp(type, "number") && text)
		return str_parse_double(str_of(text), &x) && isfinite(x) ? obj_double(x) : NULL;
	enum obj_type t = obj_type(value);
	bool fits = !strcmp(type, "boolean")   ? t == OBJ_BOOL
		    : !strcmp(type, "integer") ? t == OBJ_INT
					       : t == OBJ_INT || t == OBJ_DOUBLE;
	return fits ? obj_ref(value) : NULL;
}

struct obj *instance_outputs(const struct obj *declared, const struct obj *of_chart,
			     const struct obj *values)
{
	struct obj *ret = obj_map();
	for (size_t i = 0; i < obj_len(declared); i++) {
		const struct obj *o = obj_at(declared, i);
		const char *name = obj_str(o, "name");
		const struct obj *value = name ? obj_get(of_chart, name) : NULL;
		if (name && !obj_is_set(value))
			value = obj_get(values, name);
		struct obj *x = obj_is_set(value) ? typed(value, obj_str(o, "type")) : NULL;
		if (x)
			obj_set(ret, name, x);
	}
	return ret;
}
