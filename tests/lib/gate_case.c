/* gate_case.c: see gate_case.h. */
#include "tests/lib/gate_case.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "tests/lib/test.h"

#define LIMIT ((size_t)4 << 20)
#define CRD   "etcds.etcd.coreos.com"

const char *gate_case_text(struct arena *a, const struct obj *o)
{
	char *owned = json_text(o);
	const char *text = arena_strdup(a, owned);
	xfree(owned);
	return text;
}

const struct obj *gate_case_file(struct arena *a, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LIMIT);
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(file_read(arena_fmt(a, "tests/golden/gate/%s", name), &text, &err), &err);
	if (yaml_parse_one(strbuf_str(&text), &o, &err) < 0)
		fail_msg("%s: %s", name, err.msg);
	return obj_keep(a, o);
}

/* The whole schema around that of spec.x. */
static struct obj *around(const struct obj *x)
{
	struct obj *root = obj_map(), *spec = obj_map();
	obj_set_str(spec, "type", "object");
	obj_set_path(spec, "properties.x", obj_ref(x));
	obj_set_str(root, "type", "object");
	obj_set_path(root, "properties.spec", spec);
	return root;
}

static struct obj *version(const struct obj *from, bool is_storage)
{
	struct obj *v = obj_map();
	obj_set_bool(v, "served", true);
	obj_set_bool(v, "storage", is_storage);
	OBJ_EACH (it, from)
		if (strcmp(it.key, "x") != 0 && strcmp(it.key, "root") != 0)
			obj_set(v, it.key, obj_ref(it.value));
	obj_set_path(v, "schema.openAPIV3Schema",
		     obj_has(from, "root") ? obj_ref(obj_get(from, "root"))
					   : around(obj_get(from, "x")));
	return v;
}

static struct obj *one_version(const struct obj *x)
{
	struct obj *v = obj_map();
	obj_set_str(v, "name", "v1");
	obj_set(v, "x", obj_ref(x));
	return v;
}

static void set_versions(struct arena *a, struct obj *spec, const struct obj *side)
{
	const struct obj *from = obj_get(side, "versions");
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(from); i++)
		obj_append(list, version(obj_at(from, i), i == 0));
	if (!from)
		obj_append(list, version(obj_keep(a, one_version(side)), true));
	obj_set(spec, "versions", list);
}

static bool is_elsewhere(const char *key)
{
	static const char *const keys[] = {"versions", "stored", "annotations", "managed"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

struct obj *gate_case_crd(struct arena *a, const struct obj *side)
{
	struct obj *o = obj_keep(a, obj_map()), *spec = obj_map();
	bool whole = obj_has(side, "versions");
	obj_set_str(o, "apiVersion", "apiextensions.k8s.io/v1");
	obj_set_str(o, "kind", "CustomResourceDefinition");
	obj_set_path(o, "metadata.name", obj_string(CRD));
	if (obj_has(side, "annotations") && whole)
		obj_set_path(o, "metadata.annotations", obj_ref(obj_get(side, "annotations")));
	obj_set_str(spec, "group", "etcd.coreos.com");
	obj_set_str(spec, "scope", "Namespaced");
	obj_set_path(spec, "names.plural", obj_string("etcds"));
	obj_set_path(spec, "names.kind", obj_string("Etcd"));
	OBJ_EACH (it, whole ? side : NULL)
		if (!is_elsewhere(it.key))
			obj_set(spec, it.key, obj_ref(it.value));
	set_versions(a, spec, side);
	struct obj *stored = obj_list();
	obj_append(stored, obj_string(obj_str(spec, "versions[0].name")));
	if (obj_has(side, "stored") && whole) {
		obj_unref(stored);
		stored = obj_ref(obj_get(side, "stored"));
	}
	obj_set_path(o, "status.storedVersions", stored);
	obj_set(o, "spec", spec);
	return o;
}

struct obj *gate_case_object(struct arena *a, const struct obj *value)
{
	struct obj *o = obj_keep(a, obj_map()), *meta = obj_map();
	obj_set_str(o, "apiVersion", "etcd.coreos.com/v1");
	obj_set_str(o, "kind", "Etcd");
	obj_set_str(meta, "name", "a");
	obj_set_str(meta, "namespace", "default");
	OBJ_EACH (it, obj_get(value, "metadata"))
		obj_set(meta, it.key, obj_ref(it.value));
	obj_set(o, "metadata", meta);
	if (!obj_has(value, "metadata") || obj_has(value, "kind"))
		obj_set_path(o, "spec.x", obj_ref(value));
	return o;
}

size_t gate_case_managed(struct arena *a, const struct obj *side, const char *const **ret)
{
	const struct obj *list = obj_has(side, "versions") ? obj_get(side, "managed") : NULL;
	const char **names = ARENA_ARRAY(a, const char *, obj_len(list) + 1);
	for (size_t i = 0; i < obj_len(list); i++)
		names[i] = arena_fmt(a, CRD "/%s", obj_as_string(obj_at(list, i)));
	*ret = names;
	return obj_len(list);
}

const char *gate_case_findings(struct arena *a, const struct gate *g)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	for (size_t i = 0; i < gate_count(g); i++)
		strbuf_addf(&b, "%s%s@%s", i ? " " : "", gate_finding(g, i)->rule,
			    gate_finding(g, i)->path);
	return b.len ? arena_strdup(a, b.buf) : "-";
}

const char *gate_case_outcome(const struct gate *g)
{
	return gate_outcome(g) == FINDING_REFUSE ? "refuse"
	       : gate_outcome(g) == FINDING_WARN ? "warn"
						 : "allow";
}

/* NOLINTBEGIN(misc-no-recursion): as deep as objects are */
bool gate_case_keeps(const struct obj *x, const struct obj *y)
{
	if (obj_type(x) != obj_type(y))
		return false;
	if (obj_type(x) == OBJ_MAP) {
		OBJ_EACH (it, x)
			if (!obj_has(y, it.key) || !gate_case_keeps(it.value, obj_get(y, it.key)))
				return false;
		return true;
	}
	if (obj_type(x) != OBJ_LIST)
		return obj_equal(x, y);
	for (size_t i = 0; i < obj_len(x); i++)
		if (!gate_case_keeps(obj_at(x, i), obj_at(y, i)))
			return false;
	return obj_len(x) == obj_len(y);
}
/* NOLINTEND(misc-no-recursion) */
