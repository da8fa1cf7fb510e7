/* scale: see scale.h. It writes replicas and nothing else. */
#include "alm/apiserver/kinds/scale.h"

#include "alm/apiserver/converting.h"
#include "alm/apiserver/docs/columns.h"
#include "alm/apiserver/docs/table.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/mutation.h"
#include "alm/apiserver/patching.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/wire/negotiate.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static int read_scale(struct request *r, struct mutation *m, struct obj **ret, struct error *err)
{
	struct body body = {0};
	struct error inner = ERROR_INIT;
	enum patch_type type;
	if (cstr_eq(r->verb, "update")) {
		if (negotiate_body(NULL, request_header(r, "Content-Type"),
				   r->exchange->request->body, r->arena, &body, &inner) < 0)
			return fail_code(r, inner.code, err, "%s", inner.msg);
		*ret = body.value;
		return 0;
	}
	struct obj *doc = NULL;
	if (patching_type(r, &type, err) < 0 || scale_of(r, m->before, &doc, err) < 0)
		return -err->code;
	return patching_apply(m, type, doc, ret, err);
}

/* What is no int32 is refused, in Go's words: taken for absent, it would stop everything. */
static int read_replicas(struct request *r, const struct obj *scale, int64_t *ret,
			 struct error *err)
{
	const struct obj *spec = obj_get(scale, "spec"), *given = obj_get(spec, "replicas");
	bool is_field = obj_type(spec) == OBJ_MAP || obj_type(spec) <= OBJ_NULL;
	int64_t n = *ret;
	if (is_field && (obj_type(given) <= OBJ_NULL ||
			 (obj_as_i64(given, &n) && n >= INT32_MIN && n <= INT32_MAX))) {
		*ret = n;
		return 0;
	}
	const struct obj *wrong = is_field ? given : spec;
	CLEANUP(xfreep) char *text = obj_is_number(wrong) ? json_text(wrong) : NULL;
	return fail_code(
		r, E_BADREQUEST, err,
		"Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal "
		"%s%s into Go struct field %s",
		text                          ? "number "
		: obj_type(wrong) == OBJ_BOOL ? "bool"
					      : obj_type_name(obj_type(wrong)),
		text ? text : "",
		is_field ? "ScaleSpec.spec.replicas of type int32"
			 : "Scale.spec of type v1.ScaleSpec");
}

static void answer_scale(struct request *r, const struct obj *scale)
{
	if (r->accept.as != AS_TABLE) {
		request_reply_obj(r, 200, scale);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	struct columns columns = columns_of("autoscaling", "Scale");
	struct kind kind = {.kind = "Scale", .columns = columns.items, .n_columns = columns.n};
	struct list_meta meta = {.resource_version = meta_resource_version(scale), .remaining = -1};
	table_begin(&b, &kind, &r->accept, &meta, true);
	table_row(&b, &kind, &r->accept, scale, request_now(r), true);
	table_end(&b);
	request_reply_json(r, 200, strbuf_str(&b));
}

/* What is stored, and the answer. */
static int scale_store(struct request *r, struct mutation *m, struct error *err)
{
	struct obj *out = NULL;
	if (mutation_update(m, err) < 0)
		return -err->code;
	/* in the version of the request, whatever is stored */
	const struct obj *now = m->unchanged ? m->before : m->after;
	if (!m->unchanged && converting_is_needed(r->kind))
		now = convert_read(r->kind, converting_shown(r, m->text), r->arena);
	if (scale_of(r, now, &out, err) < 0)
		return -err->code;
	answer_scale(r, out);
	return 0;
}

static int below_zero(struct request *r, int64_t n, struct error *err)
{
	return fail_invalid_one(r, "autoscaling", "Scale", r->name, FIELD_INVALID, "spec.replicas",
				err, "Invalid value: %lld: must be greater than or equal to 0",
				(long long)n);
}

/* --- server-side apply --- */

/* In the order of the schema of a Scale, which tells a field that it has not before a wrong type. */
static int check_applied(struct request *r, const struct obj *scale, struct error *err)
{
	static const struct {
		const char *path, *fields[6];
	} known[] = {{"", {"apiVersion", "kind", "metadata", "spec", "status", NULL}},
		     {"spec", {"replicas", NULL}},
		     {"status", {"replicas", "selector", NULL}}};
	const char *name = obj_str(scale, "metadata.name"), *why = NULL;
	const struct obj *n = obj_path(scale, "spec.replicas");
	for (size_t i = 0; !why && i < ARRAY_LEN(known); i++) {
		const char *at = known[i].path;
		const struct obj *o = *at ? obj_get(scale, at) : scale;
		if (obj_type(o) > OBJ_NULL && obj_type(o) != OBJ_MAP)
			why = arena_fmt(r->arena, ".%s: expected map, got &{%s}", at,
					obj_type_name(obj_type(o)));
		OBJ_EACH (it, o)
			if (!why && !cstr_in(it.key, known[i].fields))
				why = arena_fmt(r->arena, ".%s%s%s: field not declared in schema",
						at, *at ? "." : "", it.key);
	}
	if (!why && obj_type(n) > OBJ_NULL && !obj_is_number(n))
		why = arena_fmt(r->arena, ".spec.replicas: expected numeric (int or float), got %s",
				obj_type_name(obj_type(n)));
	if (!why)
		return 0;
	int rc = fail_code(r, E_INTERNAL, err,
			   "failed to create typed patch object (/%s; autoscaling/v1, Kind=Scale): "
			   "%s",
			   name ? name : "", why);
	r->failure.no_reason = true;
	return rc;
}

/* Another object than that of the URL, or another state of it. */
static int check_meant(struct request *r, const struct mutation *m, const struct obj *scale,
		       struct error *err)
{
	const char *name = meta_name(scale), *ns = meta_namespace(scale), *uid = meta_uid(scale),
		   *rv = meta_resource_version(scale);
	if (obj_type(obj_path(scale, "metadata.managedFields")) > OBJ_NULL)
		return fail_code(r, E_BADREQUEST, err, "metadata.managedFields must be nil");
	if (ns && *ns && !cstr_eq(ns, r->ns))
		return fail_code(
			r, E_BADREQUEST, err,
			"the namespace of the provided object does not match the namespace "
			"sent on the request");
	if (name && *name && !cstr_eq(name, r->name))
		return fail_code(r, E_BADREQUEST, err,
				 "the name of the object (%s) does not match the name on the URL "
				 "(%s)",
				 name, r->name);
	if (uid && *uid && !cstr_eq(uid, meta_uid(m->before)))
		return fail_conflict(r, r->name, err,
				     "Precondition failed: UID in precondition: %s, UID in object "
				     "meta: %s",
				     uid, meta_uid(m->before));
	return rv && *rv && !cstr_eq(rv, meta_resource_version(m->before))
		       ? fail_modified(r, r->name, err)
		       : 0;
}

/* Replicas that are not stated change nothing, nor whose they are: seen of a real 1.36. */
static int scale_apply(struct request *r, struct mutation *m, struct error *err)
{
	struct obj *scale = NULL, *config = obj_keep(r->arena, obj_map());
	const char *twice;
	if (patching_config(m, &scale, &twice, err) < 0)
		return -err->code;
	const char *api = meta_api_version(scale), *kind = meta_kind(scale);
	int64_t n = 0;
	if (!cstr_eq(api ? api : "", "autoscaling/v1") || !cstr_eq(kind ? kind : "", "Scale"))
		return fail_code(r, E_BADREQUEST, err, "invalid object type: %s, Kind=%s",
				 api ? api : "/", kind ? kind : "");
	if (check_applied(r, scale, err) < 0 || check_meant(r, m, scale, err) < 0)
		return -err->code;
	if (obj_has(obj_get(scale, "spec"), "replicas")) {
		obj_as_i64(obj_path(scale, "spec.replicas"), &n);
		n = (int32_t)n; /* as the real server reads it here */
		if (scale_put(r, config, n, err) < 0 || patching_scale(m, config, err) < 0)
			return -err->code;
	} else {
		m->after = obj_keep(r->arena, obj_copy(m->before));
		m->keep_managers = true;
	}
	if (patching_report_twice(m, twice, err) < 0)
		return -err->code;
	return n < 0 ? below_zero(r, n, err) : scale_store(r, m, err);
}

static int scale_write(struct request *r, struct mutation *m, struct error *err)
{
	struct obj *scale = NULL;
	bool put = cstr_eq(r->verb, "update");
	enum patch_type type = PATCH_MERGE;
	if (!put && patching_type(r, &type, err) < 0)
		return -err->code;
	bool apply = type == PATCH_APPLY;
	if (options_write(r, put ? "UpdateOptions" : "PatchOptions", !put, apply, &m->opt, err) < 0)
		return -err->code;
	if (apply && r->kind->flags & KIND_CUSTOM) /* nor does the real one: it fails to convert */
		return fail_code(r, E_UNSUPPORTED, err,
				 "apply patches of the scale of a custom resource are not "
				 "supported");
	if (apply)
		return scale_apply(r, m, err);
	if (read_scale(r, m, &scale, err) < 0)
		return -err->code;
	struct obj *before = NULL;
	bool none = scale_of(r, m->before, &before, err) == 0 && !obj_path(before, "spec.replicas");
	int64_t want = put || none ? 0 : -1; /* of a patch: it took replicas away */
	if (read_replicas(r, scale, &want, err) < 0)
		return -err->code;
	const char *rv = obj_str(scale, "metadata.resourceVersion");
	if (want < 0)
		return below_zero(r, want, err);
	if (rv && *rv && !cstr_eq(rv, meta_resource_version(m->before)))
		return fail_modified(r, r->name, err);
	m->after = obj_keep(r->arena, obj_copy(m->before));
	if (scale_put(r, m->after, want, err) < 0)
		return -err->code;
	/* Of a custom resource replicas keep their owners (golden G77, G91). */
	m->keep_managers = r->kind->flags & KIND_CUSTOM;
	return scale_store(r, m, err);
}

int scale_handle(struct request *r, struct error *err)
{
	struct mutation m;
	struct obj *out = NULL;
	if (mutation_init(&m, r, r->ns, r->name, err) < 0)
		return -err->code;
	bool writes = cstr_eq(r->verb, "update") || cstr_eq(r->verb, "patch");
	if (!writes && !cstr_eq(r->verb, "get"))
		return fail_method(r, r->verb, err);
	if (!m.head)
		return fail_not_found(r, r->group, r->resource, r->name, err);
	if (writes)
		return scale_write(r, &m, err);
	if (scale_of(r, m.before, &out, err) < 0)
		return -err->code;
	answer_scale(r, out);
	return 0;
}
