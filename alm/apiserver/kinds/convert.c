/* convert: see convert.h. */
#include "alm/apiserver/kinds/convert.h"

#include <string.h>

#include "alm/apiserver/kinds/autoscale.h"
#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/obj/json.h"

/* events.k8s.io Event <-> core Event: the same object, other names. */
static const struct {
	const char *core, *events;
} event_names[] = {
	{"involvedObject", "regarding"},
	{"message", "note"},
	{"source", "deprecatedSource"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"count", "deprecatedCount"},
	{"reportingComponent", "reportingController"},
};

static bool is_events_group(const struct kind *k)
{
	return cstr_eq(k->group, "events.k8s.io") && cstr_eq(k->kind, "Event");
}

static void rename_events(struct obj *o, bool to_core)
{
	for (size_t i = 0; i < ARRAY_LEN(event_names); i++) {
		const char *from = to_core ? event_names[i].events : event_names[i].core;
		const char *to = to_core ? event_names[i].core : event_names[i].events;
		const struct obj *v = obj_get(o, from);
		if (!v)
			continue;
		const char *s = obj_as_string(v);
		if (to_core || !s || *s)
			obj_set(o, to, obj_ref(v));
		obj_del(o, from);
	}
	const char *instance = obj_str(o, "reportingInstance");
	if (!to_core && instance && !*instance)
		obj_del(o, "reportingInstance");
}

void convert_to_storage(const struct kind *k, struct obj *o)
{
	if (is_events_group(k)) {
		rename_events(o, true);
		obj_set_str(o, "apiVersion", "v1");
	} else if (!(k->flags & KIND_STORAGE) && k->storage_version) {
		if (autoscaler_is_v1(k))
			autoscaler_from_v1(o);
		CLEANUP(arena_freep) struct arena *a = arena_new(1024);
		struct kind storage = *k;
		storage.version = k->storage_version;
		obj_set_str(o, "apiVersion", kind_api_version(&storage, a));
	}
}

/* As the version it is stored in has it, and of that what k has, too: no more is given by default. */
static void show_form(const struct kind *k, struct obj *o, struct arena *a)
{
	const char *group, *version = k->version;
	(void)gvk_split_api_version(obj_str(o, "apiVersion"), a, &group, &version);
	bool other = !cstr_eq(version, k->version);
	const struct schema *was = other ? kind_form_schema(k, version) : k->schema;
	if (!was)
		was = k->schema; /* of a version that is no more */
	if (!was)
		return;
	/* No write would get through with more defaults than fit: shown without the rest. */
	schema_prune(was, o, NULL, NULL);
	(void)schema_default(was, o);
	if (other && k->schema)
		schema_fit(k->schema, o);
}

/* What is stored, as k shows it; shaped: it is in the form of k's schema. */
static void show_as(const struct kind *k, struct obj *o, bool shaped, struct arena *a)
{
	if (is_events_group(k))
		rename_events(o, false);
	if (cstr_eq(k->plural, "customresourcedefinitions") && cstr_eq(k->version, "v1beta1"))
		crd_to_v1beta1(o);
	if (autoscaler_is_v1(k))
		autoscaler_to_v1(o);
	if (k->flags & KIND_CUSTOM && !shaped)
		show_form(k, o, a);
	obj_set_str(o, "apiVersion", kind_api_version(k, a));
}

struct obj *convert_form(const struct kind *k, const struct obj *o, struct arena *a)
{
	const struct schema *stored = kind_form_schema(k, k->storage_version);
	if (!(k->flags & KIND_CUSTOM) || cstr_eq(k->version, k->storage_version))
		return NULL;
	struct obj *form = obj_keep(a, obj_copy(o));
	convert_to_storage(k, form);
	if (stored)
		schema_fit(stored, form);
	return form;
}

/* Of another version, which only its converter makes one of this. */
static bool is_foreign(const struct kind *k, const struct text *t, const struct obj *o,
		       struct arena *a)
{
	return k->converter && t->stamp != k->stamp &&
	       !cstr_eq(obj_str(o, "apiVersion"), kind_api_version(k, a));
}

struct obj *convert_read(const struct kind *k, struct text *t, struct arena *a)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(text_str(t), &o, &err) < 0)
		return NULL;
	obj_keep(a, o);
	if (!is_foreign(k, t, o, a))
		show_as(k, o, t->stamp == k->stamp, a);
	return o;
}

const struct obj *convert_between(const struct kind *from, const struct kind *to,
				  const struct obj *o, struct arena *a)
{
	if (!o || from == to)
		return o;
	struct obj *copy = obj_keep(a, obj_copy(o));
	if (to->flags & KIND_CUSTOM) { /* no more than that, for admission */
		obj_set_str(copy, "apiVersion", kind_api_version(to, a));
		return copy;
	}
	convert_to_storage(from, copy);
	show_as(to, copy, false, a);
	return copy;
}

static void print_item(const struct kind *k, struct str json, bool item, struct strbuf *b)
{
	ptrdiff_t at =
		item && !(k->flags & KIND_CUSTOM) ? str_find(json, STR("\"metadata\":{")) : -1;
	if (at > 0) {
		strbuf_addc(b, '{');
		json = str_skip(json, (size_t)at);
	}
	strbuf_addstr(b, json);
}

void convert_print(const struct kind *k, struct text *t, bool item, struct strbuf *b)
{
	if ((k->flags & KIND_STORAGE) && t->stamp == k->stamp) {
		print_item(k, text_str(t), item, b);
		return;
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *o = convert_read(k, t, a);
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 2);
	if (o)
		json_print(o, &json);
	if ((k->flags & KIND_STORAGE) && !k->converter && str_eq(strbuf_str(&json), text_str(t)))
		t->stamp = k->stamp;
	print_item(k, strbuf_str(&json), item, b);
}

static const char *const root_order[] = {"apiVersion", "kind", "metadata", NULL};
static const char *const meta_order[] = {
	"name",
	"generateName",
	"namespace",
	"uid",
	"resourceVersion",
	"generation",
	"creationTimestamp",
	"deletionTimestamp",
	"deletionGracePeriodSeconds",
	"labels",
	"annotations",
	"ownerReferences",
	"finalizers",
	"managedFields",
	NULL,
};

static bool in_order(const char *const *order, const char *key)
{
	for (; *order; order++)
		if (cstr_eq(*order, key))
			return true;
	return false;
}

static struct obj *ordered(const struct obj *o, const char *const *order)
{
	struct obj *out = obj_map();
	for (size_t i = 0; order[i]; i++) {
		const struct obj *v = obj_get(o, order[i]);
		if (v)
			obj_set(out, order[i], obj_ref(v));
	}
	OBJ_EACH (it, o)
		if (!in_order(order, it.key))
			obj_set(out, it.key, obj_ref(it.value));
	return out;
}

struct obj *convert_canonical(struct obj *o)
{
	struct obj *out = ordered(o, root_order);
	struct obj *meta = ordered(obj_get(o, "metadata"), meta_order);
	if (!obj_has(meta, "resourceVersion")) {
		obj_set_str(meta, "resourceVersion", "0");
		struct obj *again = ordered(meta, meta_order);
		obj_unref(meta);
		meta = again;
	}
	obj_set(out, "metadata", meta);
	obj_unref(o);
	return out;
}
