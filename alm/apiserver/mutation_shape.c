/* mutation_shape: what a client sent, made an object of its kind, and what is found on the way. */
#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/converting.h"
#include "alm/apiserver/embedded.h"
#include "alm/apiserver/kinds/autoscale.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/mutation_internal.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/texts.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_decode.h"
#include "alm/obj/schema/schema_node.h"

#define PATCH_SHOWN_MAX  256
#define PATCH_TEXT_BYTES 8192
#define OWNER_BYTES_MAX  ((size_t)32 << 20) /* as text: more than any body comes to */
#define UIDS_BYTES_MAX   ((size_t)4 << 10)  /* that are told to be there twice */

/* Findings. */

static void finding_add(struct mutation *m, const char *text)
{
	if (m->findings.n < FINDINGS_MAX)
		m->findings.items[m->findings.n++] = text;
}

/* What a former release stored unchecked goes in silence: no client wrote it now. */
static void unknown_field(void *arg, const char *path)
{
	struct mutation *m = arg;
	if (!m->is_put && m->before && obj_path(m->before, path))
		return;
	finding_add(m, arena_fmt(m->r->arena, "unknown field \"%s\"", path));
}

/* What is applied was looked at by its types, which let more through than is kept: that is no reason to refuse it, even where
 * fieldValidation is Strict. */
static void pruned_field(void *arg, const char *path)
{
	struct mutation *m = arg;
	if (m->opt.validation != VALIDATE_IGNORE)
		request_warn(m->r, "unknown field \"%s\"", path);
}

/* NOLINTBEGIN(misc-no-recursion): as deep as JSON is read */
static struct obj *without_nulls(const struct obj *v)
{
	struct obj *o = obj_type(v) == OBJ_LIST ? obj_list() : obj_map();
	if (obj_type(v) != OBJ_LIST && obj_type(v) != OBJ_MAP) {
		obj_unref(o);
		return obj_ref(v);
	}
	OBJ_EACH (it, v)
		if (obj_type(it.value) != OBJ_NULL)
			obj_set(o, it.key, without_nulls(it.value));
	for (size_t i = 0; obj_type(v) == OBJ_LIST && i < obj_len(v); i++)
		obj_append(o, without_nulls(obj_at(v, i)));
	return o;
}

/* Lists whose order a patch tells are taken out of it when it is applied, and nulls in what is put where nothing
 * of its type was; it is shown afterwards. */
static struct obj *as_applied(const struct obj *patch, const struct obj *before,
			      const struct api_type *t);

/* Of a list that is merged, each item as it is applied to the one of its key. */
static struct obj *items_applied(const struct obj *patch, const struct obj *before, const char *key,
				 const struct api_type *t)
{
	CLEANUP(map_freep) struct map *had = map_new(NULL); /* by its key, where that is a text */
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(before); i++)
		if (obj_str(obj_at(before, i), key))
			(void)map_set(had, obj_str(obj_at(before, i), key),
				      mem_unconst(obj_at(before, i)));
	for (size_t i = 0; i < obj_len(patch); i++) {
		const struct obj *item = obj_at(patch, i);
		const char *name = obj_type(item) == OBJ_MAP ? obj_str(item, key) : NULL;
		const struct obj *was = name ? map_get(had, name) : NULL;
		obj_append(list, was ? as_applied(item, was, t) : obj_ref(item));
	}
	return list;
}

static struct obj *as_applied(const struct obj *patch, const struct obj *before,
			      const struct api_type *t)
{
	static const char order[] = "$setElementOrder/";
	struct obj *o = obj_copy_map(patch);
	OBJ_EACH (it, patch) {
		const struct obj *was = obj_get(before, it.key);
		const struct api_field *f = t ? api_find(t, it.key, NULL) : NULL;
		const struct api_type *of = f && f->shape == API_STRUCT ? api_struct_of(f) : NULL;
		bool always = of && !f->marks && obj_type(it.value) == OBJ_MAP && before;
		if (obj_type(it.value) != obj_type(was) && !always)
			obj_set(o, it.key, without_nulls(it.value));
		else if (obj_type(it.value) == OBJ_MAP && !(f && api_is_replaced(t, f)))
			obj_set(o, it.key, as_applied(it.value, was, of));
		else if (of && f->flags & API_MERGE && obj_type(was) == OBJ_LIST)
			obj_set(o, it.key,
				items_applied(it.value, was, api_text(f->merge_key), of));
	}
	OBJ_EACH (it, patch)
		if (cstr_has_prefix(it.key, order)) {
			obj_del(o, it.key);
			obj_del(o, it.key + sizeof(order) - 1);
		}
	return o;
}

/* NOLINTEND(misc-no-recursion) */

/* It is told with the patch, as Go prints a map. */
static int cannot_handle_strategic(struct mutation *m, const char *why, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(PATCH_TEXT_BYTES);
	CLEANUP(strbuf_release) struct strbuf quoted = STRBUF_INIT(4 * PATCH_TEXT_BYTES);
	const char *api_version = kind_api_version(m->kind, m->r->arena);
	const struct api_type *t = api_type_of_kind(api_version, m->kind->kind);
	CLEANUP(obj_unrefp) struct obj *patch = as_applied(m->strategic, m->before, t);
	go_plain(patch, &plain);
	go_quote(strbuf_str(&plain), &quoted);
	return fail_invalid_one(m->r, "", "", "", FIELD_INVALID, "patch", err,
				"Invalid value: %s: %s", quoted.buf, why);
}

/* The object is none of its kind. What a patch made of a built-in one is judged as the patch. */
static int cannot_handle(struct mutation *m, const char *why, struct error *err)
{
	const struct kind *k = m->kind;
	if (m->by_webhook)
		return error_set(err, E_INTERNAL, "%s", why);
	if (m->is_apply && !(k->flags & KIND_CUSTOM)) {
		const char *api = kind_api_version(k, m->r->arena), *core = *k->group ? "" : "/";
		return fail_code(
			m->r, E_BADREQUEST, err,
			"failed to convert new object (%s/%s; %s%s, Kind=%s) to proper "
			"version: unable to convert unstructured object to %s%s, Kind=%s: %s",
			m->stated.ns, m->stated.name, core, api, k->kind, core, api, k->kind, why);
	}
	if (m->is_apply || !cstr_eq(m->r->verb, "patch"))
		return fail_code(m->r, E_BADREQUEST, err,
				 "%s in version \"%s\" cannot be handled as a %s: %s", k->kind,
				 k->version, k->kind, why);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	if (m->strategic)
		return cannot_handle_strategic(m, why, err);
	json_print(m->after, &b);
	return fail_invalid_one(m->r, "", "", "", FIELD_INVALID, "patch", err,
				"Invalid value: \"%.*s\": %s", PATCH_SHOWN_MAX, b.buf, why);
}

int mutation_report(struct mutation *m, struct error *err)
{
	const struct findings *f = &m->findings;
	const char *list = m->twice;
	if (m->opt.validation == VALIDATE_IGNORE)
		return 0;
	if (m->opt.validation == VALIDATE_WARN) {
		request_warn_lines(m->r, m->twice ? m->twice : "");
		for (size_t i = 0; i < f->n; i++)
			request_warn(m->r, "%s", f->items[i]);
		return 0;
	}
	for (size_t i = 0; i < f->n; i++)
		list = list ? arena_fmt(m->r->arena, "%s, %s", list, f->items[i]) : f->items[i];
	if (!list)
		return 0;
	return cannot_handle(m, arena_fmt(m->r->arena, "strict decoding error: %s", list), err);
}

/* Shape. */

/* Why an object of that kind is none of the one that is written. */
static const char *other_kind(const struct mutation *m, const char *api_version, const char *kind)
{
	const char *group = *m->kind->group ? m->kind->group : "core";
	if (!api_type_of_kind(api_version, kind))
		return arena_fmt(m->r->arena,
				 "no kind \"%s\" is registered for version \"%s\" in scheme "
				 "\"pkg/runtime/scheme.go:111\"",
				 kind, api_version);
	return arena_fmt(m->r->arena, "converting (%s.%s) to (%.*s.%s): unknown conversion",
			 m->kind->version, kind, (int)strcspn(group, "."), group, m->kind->kind);
}

static int check_type(struct mutation *m, struct error *err)
{
	struct request *r = m->r;
	const char *kind = meta_kind(m->after), *api = meta_api_version(m->after);
	const char *want = kind_api_version(m->kind, r->arena);
	if (kind && !cstr_eq(kind, m->kind->kind) && !(m->kind->flags & KIND_CUSTOM) &&
	    !cstr_eq(r->verb, "patch"))
		return fail_code(r, E_BADREQUEST, err,
				 "%s in version \"%s\" cannot be handled as a %s: %s", kind,
				 m->kind->version, m->kind->kind, other_kind(m, want, kind));
	if (kind && !cstr_eq(kind, m->kind->kind))
		return fail_invalid_one(r, m->kind->group, kind, meta_name(m->after), FIELD_INVALID,
					"kind", err, "Invalid value: \"%s\": must be %s", kind,
					m->kind->kind);
	if (api && *api && !cstr_eq(api, want))
		return fail_code(r, E_BADREQUEST, err,
				 "the API version in the data (%s) does not match the expected API "
				 "version (%s)",
				 api, want);
	obj_set_str(m->after, "apiVersion", want);
	obj_set_str(m->after, "kind", m->kind->kind);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of a custom resource: its metadata first, that of objects in it last. */
static int place_of(const char *finding)
{
	if (cstr_has_prefix(finding, "unknown field \"metadata."))
		return 0;
	return strstr(finding, ".metadata.") ? 2 : 1;
}

static int by_place(const void *a, const void *b)
{
	int x = place_of(*(const char *const *)a), y = place_of(*(const char *const *)b);
	return x != y ? x - y : by_text(a, b);
}

static bool is_emptied(const struct obj *v)
{
	return (obj_type(v) == OBJ_LIST || obj_type(v) == OBJ_MAP) && !obj_len(v);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON is read */
static bool has_emptied(const struct obj *o)
{
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		if (has_emptied(obj_at(o, i)))
			return true;
	OBJ_EACH (it, o) {
		bool one = cstr_eq(it.key, "items") && obj_type(it.value) != OBJ_MAP;
		if (one || is_emptied(it.value) || has_emptied(it.value))
			return true;
	}
	return false;
}

/* The checks of a schema tell what is empty from what is not there. */
static void read_definition(struct mutation *m, const struct api_type *t, enum api_dialect how)
{
	struct error ignored = ERROR_INIT;
	m->as_read = NULL;
	if (!cstr_eq(m->kind->group, CRD_GROUP) || m->is_status ||
	    !has_emptied(obj_path(m->after, "spec.versions")))
		return;
	struct obj *o = obj_keep(m->r->arena, obj_copy(m->after));
	if (api_decode_as_read(t, how, o, &ignored) == 0)
		m->as_read = o;
}

const struct obj *mutation_definition(const struct mutation *m)
{
	if (!m->as_read)
		return m->after;
	struct obj *o = obj_keep(m->r->arena, obj_copy_shallow(m->after));
	struct obj *spec = obj_copy_shallow(obj_get(o, "spec"));
	obj_set(spec, "versions", obj_ref(obj_path(m->as_read, "spec.versions")));
	obj_set(o, "spec", spec);
	return o;
}

/* Of a container that comes later these may not be there at all. */
static void note_emptied_later(struct mutation *m, const char *path, const struct obj *spec)
{
	static const char *const fields[] = {"restartPolicyRules", "resizePolicy", "ports"};
	static const char *const amounts[] = {"claims", "requests", "limits"};
	const struct obj *list = obj_get(spec, "ephemeralContainers");
	for (size_t i = obj_len(list); i-- > 0;) { /* the first of them is told */
		const struct obj *c = obj_at(list, i), *asked = obj_get(c, "resources");
		const char *found = NULL;
		for (size_t k = 0; k < ARRAY_LEN(fields); k++)
			found = is_emptied(obj_get(c, fields[k])) ? fields[k] : found;
		for (size_t k = 0; k < ARRAY_LEN(amounts) && !found; k++)
			found = is_emptied(obj_get(asked, amounts[k])) ? "resources" : NULL;
		if (found)
			m->emptied = arena_fmt(m->r->arena, "%s.ephemeralContainers[%zu].%s", path,
					       i, found);
	}
}

/* Empty lists and maps are not kept, but these are no such thing to the real server's checks. */
static void note_emptied(struct mutation *m)
{
	static const char *const of_pods[] = {"spec", "spec.template.spec", "template.spec",
					      "spec.jobTemplate.spec.template.spec"};
	static const char *const scaling[] = {"spec.behavior.scaleUp.policies",
					      "spec.behavior.scaleDown.policies"};
	static const char *const of_claims[] = {"spec.metadata.ownerReferences",
						"spec.metadata.finalizers",
						"spec.metadata.managedFields"};
	for (size_t i = 0; i < ARRAY_LEN(of_pods); i++) {
		const struct obj *spec = obj_path(m->after, of_pods[i]);
		const struct obj *claims = obj_get(obj_get(spec, "resources"), "claims");
		note_emptied_later(m, of_pods[i], spec);
		if (is_emptied(claims))
			m->emptied = arena_fmt(m->r->arena, "%s.resources.claims", of_pods[i]);
		if (is_emptied(obj_get(spec, "overhead")) && i == 0)
			m->emptied = "spec.overhead";
	}
	m->has_bare_pods = is_emptied(obj_path(m->after, "spec.template.metadata.labels"));
	for (size_t i = 0; i < ARRAY_LEN(scaling); i++)
		if (is_emptied(obj_path(m->after, scaling[i])))
			m->emptied = scaling[i];
	for (size_t i = ARRAY_LEN(of_claims); i-- > 0;) /* the first of them is told */
		if (cstr_eq(m->kind->plural, "resourceclaimtemplates") &&
		    is_emptied(obj_path(m->after, of_claims[i])))
			m->emptied = of_claims[i];
}

void mutation_drop_empty(struct mutation *m)
{
	struct error ignored = ERROR_INIT;
	const char *api_version = kind_api_version(m->kind, m->r->arena);
	if (m->has_empty)
		(void)api_decode(api_type_of_kind(api_version, m->kind->kind), API_JSON_TEXT,
				 m->after, NULL, NULL, &ignored);
	m->has_empty = false;
}

/* Of a built-in kind, by the table of its types. */
static int shape_builtin(struct mutation *m, struct error *err)
{
	const char *api_version = kind_api_version(m->kind, m->r->arena);
	const struct api_type *t = api_type_of_kind(api_version, m->kind->kind);
	bool patched = cstr_eq(m->r->verb, "patch");
	note_emptied(m);
	enum api_dialect how = m->is_apply || m->strategic ? API_UNSTRUCTURED
			       : patched && !m->is_ordered ? API_JSON_SORTED
							   : API_JSON_TEXT;
	read_definition(m, t, how);
	int rc = t ? api_decode_keeping(t, how, m->after, unknown_field, m, err)
		   : object_meta_coerce(m->after, false, unknown_field, m, err);
	m->has_empty = rc > 0;
	if (m->keep_managers)
		mutation_drop_empty(m);
	if (!obj_has(m->after, "metadata"))
		obj_set(m->after, "metadata", obj_map());
	if (how != API_JSON_TEXT)
		qsort(m->findings.items, m->findings.n, sizeof(*m->findings.items), by_text);
	if (rc >= 0 && cstr_eq(m->kind->plural, "daemonsets"))
		rc = object_meta_read_generation(m->after, err);
	return rc;
}

/* Owners that are alike have the same text. */
static void print_owner(struct strbuf *b, const struct obj *owner)
{
	static const char *const fields[] = {"apiVersion", "kind",       "name",
					     "uid",        "controller", "blockOwnerDeletion"};
	strbuf_clear(b);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (obj_has(owner, fields[i]))
			json_print(obj_get(owner, fields[i]), b);
		strbuf_addc(b, ' ');
	}
}

/* An owner that is named twice is one, and who did that is told. */
static void drop_same_owners(struct mutation *m)
{
	const struct obj *list = obj_path(m->after, "metadata.ownerReferences");
	CLEANUP(strbuf_release) struct strbuf owner = STRBUF_INIT(OWNER_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf uids = STRBUF_INIT(UIDS_BYTES_MAX);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(obj_unrefp) struct obj *kept = obj_list();
	for (size_t i = 0; i < obj_len(list) && obj_len(list) > 1; i++) {
		const char *uid = obj_str(obj_at(list, i), "uid");
		print_owner(&owner, obj_at(list, i));
		if (map_has(seen, owner.buf)) {
			strbuf_addf(&uids, "%s%s", uids.len ? ", " : "", uid ? uid : "");
			continue;
		}
		map_set(seen, owner.buf, NULL);
		obj_append(kept, obj_ref(obj_at(list, i)));
	}
	if (obj_len(list) < 2 || obj_len(kept) == obj_len(list))
		return;
	request_warn(m->r,
		     ".metadata.ownerReferences contains duplicate entries%s; API server dedups "
		     "owner references in 1.20+, and may reject such requests as early as 1.24; "
		     "please fix your requests; duplicate UID(s) observed: %s",
		     cstr_eq(m->r->verb, "patch") ? " after mutating admission happens" : "",
		     uids.buf);
	obj_set_path(m->after, "metadata.ownerReferences", obj_ref(kept));
}

int mutation_reads(struct mutation *m, const struct obj *config, struct error *err)
{
	const char *api_version = kind_api_version(m->kind, m->r->arena);
	struct obj *o = obj_keep(m->r->arena, obj_copy(config));
	struct error inner = ERROR_INIT;
	if (api_decode(api_type_of_kind(api_version, m->kind->kind), API_UNSTRUCTURED, o, NULL,
		       NULL, &inner) < 0)
		return cannot_handle(m, inner.msg, err);
	return 0;
}

int mutation_shape(struct mutation *m, struct error *err)
{
	struct error inner = ERROR_INIT;
	bool custom = m->kind->flags & KIND_CUSTOM;
	if (check_type(m, err) < 0)
		return -err->code;
	size_t from = m->findings.n;
	if (m->kind->schema)
		schema_prune(m->kind->schema, m->after, m->is_apply ? pruned_field : unknown_field,
			     m);
	qsort(m->findings.items + from, m->findings.n - from, sizeof(*m->findings.items), by_place);
	if ((custom ? object_meta_coerce(m->after, m->is_apply, unknown_field, m, &inner)
		    : shape_builtin(m, &inner)) < 0 ||
	    (custom && !m->is_apply && embedded_coerce(m->kind->schema, m->after, &inner) < 0))
		return cannot_handle(m, inner.msg, err);
	if (m->kind->schema && !(m->is_apply ? schema_default_applied(m->kind->schema, m->after)
					     : schema_default(m->kind->schema, m->after)))
		return store_too_large(err);
	drop_same_owners(m);
	const char *fault = texts_fault(m->kind, m->after, m->r->arena);
	if (fault)
		return fail_invalid_one(m->r, m->kind->group, m->kind->kind, m->name, FIELD_INVALID,
					fault, err, "Invalid value: %s", TEXTS_FAULT);
	return 0;
}

/* Another version's form of a status may say less of it. */
int mutation_convert(struct mutation *m, struct error *err)
{
	struct obj *made = NULL;
	if (!m->in_storage && !converting_is_needed(m->kind))
		m->in_storage = convert_form(m->kind, m->after, m->r->arena);
	if (m->in_storage || !m->r->exchange || !converting_is_needed(m->kind))
		return 0;
	if (converting_to_storage(m->r, m->after, &made, err) < 0)
		return -err->code;
	m->in_storage = made;
	return 0;
}

/* All but metadata, of which labels and annotations are the converter's. */
static void take_form(struct obj *o, const struct obj *from)
{
	static const char *const own[] = {"labels", "annotations"};
	struct obj *meta = obj_copy_map(obj_get(o, "metadata"));
	CLEANUP(obj_unrefp) struct obj *last = obj_copy_shallow(o);
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		const struct obj *v = obj_get(obj_get(from, "metadata"), own[i]);
		obj_del(meta, own[i]);
		if (v)
			obj_set(meta, own[i], obj_ref(v));
	}
	OBJ_EACH (it, last)
		obj_del(o, it.key);
	OBJ_EACH (it, from)
		if (!cstr_eq(it.key, "metadata"))
			obj_set(o, it.key, obj_ref(it.value));
	obj_set(o, "metadata", meta);
}

void mutation_to_storage(const struct mutation *m, struct obj *o)
{
	bool none = m->kind->flags & KIND_CUSTOM && !(m->kind->flags & KIND_STORAGE);
	if (none || converting_is_needed(m->kind)) {
		if (m->in_storage)
			take_form(o, m->in_storage);
		return;
	}
	convert_to_storage(m->kind, o);
	if (!autoscaler_is_v1(m->kind))
		return;
	if (m->metrics)
		obj_set_path(o, "status.currentMetrics", obj_ref(m->metrics));
	defaults_set(o, m->resource->group, m->resource->plural);
	if (m->is_status || m->whole)
		return;
	obj_del(o, "status");
	if (obj_has(m->stored, "status"))
		obj_set(o, "status", obj_ref(obj_get(m->stored, "status")));
	api_fill(api_type_of_kind("autoscaling/v2", m->kind->kind), o);
}
