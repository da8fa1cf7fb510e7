/* patching: see patching.h. */
#include "alm/apiserver/patching.h"

#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/modern.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/wire/json_fault.h"
#include "alm/apiserver/wire/negotiate.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/apply.h"
#include "alm/obj/patch/patch.h"
#include "alm/obj/schema/api_types.h"
#include "alm/obj/yaml.h"

static const struct {
	const char *media;
	enum patch_type type;
} patch_types[] = {
	{"application/merge-patch+json", PATCH_MERGE},
	{"application/json-patch+json", PATCH_JSON},
	{"application/strategic-merge-patch+json", PATCH_STRATEGIC},
	{"application/apply-patch+yaml", PATCH_APPLY},
};

int patching_type(struct request *r, enum patch_type *ret, struct error *err)
{
	const char *header = request_header(r, "Content-Type");
	struct str media = STR(""), rest;
	bool custom = r->kind->flags & KIND_CUSTOM;
	if (header)
		str_cut(str_of(header), ';', &media, &rest);
	media = str_trim(media);
	for (size_t i = 0; i < ARRAY_LEN(patch_types); i++) {
		if (!str_is(media, patch_types[i].media) ||
		    (custom && patch_types[i].type == PATCH_STRATEGIC))
			continue;
		*ret = patch_types[i].type;
		return 0;
	}
	return fail_code(r, E_MEDIATYPE, err,
			 "the body of the request was in an unknown format - accepted media types "
			 "include: application/json-patch+json, application/merge-patch+json, %s"
			 "application/apply-patch+yaml",
			 custom ? "" : "application/strategic-merge-patch+json, ");
}

/* The merge key of a list of a built-in kind, from the table of its types. */
static const char *merge_key(const void *arg, const char *path)
{
	const struct api_type *t = arg, *last = NULL;
	const struct api_field *f = NULL;
	struct str rest = str_of(path), name;
	while (str_next(&rest, '.', &name)) {
		CLEANUP(xfreep) char *text = str_dup(name);
		last = t;
		f = t ? api_find(t, text, NULL) : NULL;
		t = f && !(f->marks & API_MAP) ? api_struct_of(f) : NULL;
	}
	bool told = f && (f->flags & API_MERGE || (last && api_is_replaced(last, f)));
	return told ? api_text(f->merge_key) : NULL;
}

static int parse_patch(struct request *r, struct findings *f, struct obj **ret, struct error *err)
{
	struct json_duplicates dup = {.n = 0};
	struct error inner = ERROR_INIT;
	struct obj *o = NULL;
	struct str body = r->exchange->request->body;
	if (negotiate_size(body, &inner) < 0)
		return fail_code(r, E_TOOLARGE, err, "%s", inner.msg);
	if (json_parse_dup(body, OBJ_BODY_NODES_MAX, &dup, &o, &inner) < 0) {
		if (inner.code == E_TOOLARGE)
			return fail_code(r, E_TOOLARGE, err, "error decoding patch: %s", inner.msg);
		const char *fault = json_fault(body, r->arena); /* NULL: only our limits are hurt */
		return fail_code(r, E_BADREQUEST, err, "error decoding patch: %s",
				 fault ? fault : inner.msg);
	}
	for (size_t i = 0; i < dup.n && f->n < FINDINGS_MAX; i++)
		f->items[f->n++] = arena_fmt(r->arena, "duplicate field \"%s\"", dup.paths[i]);
	json_duplicates_release(&dup);
	*ret = obj_keep(r->arena, o);
	return 0;
}

static int json_patch_failed(struct request *r, const struct error *inner, struct error *err)
{
	if (inner->code == E_TOOLARGE || inner->code == E_BADREQUEST)
		return fail_code(r, inner->code, err, "%s", inner->msg);
	int rc = fail_code(r, E_INVALID, err,
			   "the server rejected our request due to an error in our request");
	r->failure.details = true;
	return rc;
}

/* In the words of the real server. */
static int refuse_form(struct request *r, enum patch_type type, const struct obj *patch,
		       struct error *err)
{
	const char *name = json_fault_type(patch);
	if (type == PATCH_JSON || !name)
		return 0;
	return fail_code(
		r, E_BADREQUEST, err,
		"%sjson: cannot unmarshal %s into Go value of type map[string]interface {}",
		type == PATCH_MERGE ? "error decoding patch: " : "", name);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_members(struct request *r, struct obj *map)
{
	const char **keys = ARENA_ARRAY(r->arena, const char *, obj_len(map) + 1);
	size_t n = 0;
	OBJ_EACH (it, map)
		keys[n++] = arena_strdup(r->arena, it.key);
	qsort(keys, n, sizeof(*keys), by_key);
	for (size_t i = 0; i < n; i++) {
		struct obj *v = obj_ref(obj_get(map, keys[i]));
		obj_del(map, keys[i]);
		obj_set(map, keys[i], v);
	}
}

/* What a JSON patch went through is written anew with its keys sorted; its values stay as they came. */
static void sort_touched(struct request *r, struct obj *o, const struct obj *patch)
{
	for (size_t i = 0; i < obj_len(patch); i++) {
		struct str rest = obj_as_str(obj_get(obj_at(patch, i), "path")), step;
		struct obj *at = o;
		rest = str_skip(rest, rest.len > 0);
		while (at && str_next(&rest, '/', &step)) {
			uint64_t n = 0;
			if (obj_type(at) == OBJ_MAP)
				sort_members(r, at);
			if (!rest.len) /* the value itself */
				break;
			if (obj_type(at) == OBJ_LIST)
				at = str_parse_u64(step, &n) && n < obj_len(at) ? obj_at_mut(at, n)
										: NULL;
			else
				at = obj_type(at) == OBJ_MAP
					     ? obj_get_mut(at, arena_strndup(r->arena, step.ptr,
									     step.len))
					     : NULL;
		}
	}
}

int patching_apply(struct mutation *m, enum patch_type type, const struct obj *doc,
		   struct obj **ret, struct error *err)
{
	struct request *r = m->r;
	struct obj *patch = NULL, *out = NULL;
	struct error inner = ERROR_INIT;
	int rc;
	if (parse_patch(r, &m->findings, &patch, err) < 0 || refuse_form(r, type, patch, err) < 0)
		return -err->code;
	m->strategic = type == PATCH_STRATEGIC ? patch : NULL;
	if (type == PATCH_JSON) {
		rc = patch_json(doc, patch, &out, &inner);
		if (rc < 0)
			return json_patch_failed(r, &inner, err);
		m->is_ordered = true;
		if (!(r->kind->flags & KIND_CUSTOM))
			sort_touched(r, out, patch);
	} else {
		rc = type == PATCH_MERGE
			     ? patch_merge(doc, patch, &out, &inner)
			     : patch_strategic(doc, patch, merge_key,
					       api_type_of_kind(kind_api_version(r->kind, r->arena),
								r->kind->kind),
					       &out, &inner);
		if (rc < 0)
			return fail_code(r, inner.code, err, "%s", inner.msg);
	}
	if (obj_type(out) != OBJ_MAP) {
		obj_unref(out);
		return fail_code(r, E_BADREQUEST, err, "the patched document is no object");
	}
	*ret = obj_keep(r->arena, out);
	return 0;
}

/* Server-side apply. */

static int conflict_answer(struct request *r, const struct apply_conflicts *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	apply_conflicts_text(c, &b);
	int rc = fail_code(r, E_CONFLICT, err, "%s", b.buf);
	struct status_cause *causes = ARENA_ARRAY(r->arena, struct status_cause, c->n);
	for (size_t i = 0; i < c->n; i++) {
		const struct apply_conflict *k = &c->items[i];
		const char *sub =
			k->subresource && *k->subresource
				? arena_fmt(r->arena, " with subresource \"%s\"", k->subresource)
				: "";
		causes[i].reason = "FieldManagerConflict";
		causes[i].message = arena_fmt(r->arena, "conflict with \"%s\"%s%s%s", k->manager,
					      sub, k->is_update ? " using " : "",
					      k->is_update ? k->api_version : "");
		causes[i].field = k->field;
	}
	r->failure.details = true;
	r->failure.extra = causes;
	r->failure.n_extra = c->n;
	return rc;
}

/* What Go says of JSON that is no object. */
static const char *go_name(const struct obj *o)
{
	switch (obj_type(o)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_INT:
	case OBJ_DOUBLE:
		return "number";
	case OBJ_LIST:
		return "array";
	case OBJ_STRING:
	case OBJ_MAP:
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return "string";
}

int patching_config(struct mutation *m, struct obj **ret, const char **ret_twice, struct error *err)
{
	struct request *r = m->r;
	struct error inner = ERROR_INIT;
	CLEANUP(yaml_documents_release) struct yaml_documents docs = {0};
	struct str body = r->exchange->request->body;
	if (negotiate_size(body, &inner) < 0)
		return fail_code(r, E_TOOLARGE, err, "%s", inner.msg);
	if (yaml_parse_max(body, OBJ_BODY_NODES_MAX, &docs, &inner) < 0)
		return fail_code(r, inner.code, err,
				 "error decoding YAML: error converting YAML to JSON: %s",
				 inner.msg);
	struct obj *o = docs.n ? obj_ref(docs.items[0].value) : obj_null();
	obj_keep(r->arena, o);
	if (obj_type(o) == OBJ_NULL)
		return fail_code(r, E_BADREQUEST, err, "invalid object type: /, Kind=");
	if (obj_type(o) != OBJ_MAP)
		return fail_code(
			r, E_BADREQUEST, err,
			"error decoding YAML: error unmarshaling JSON: while decoding JSON: "
			"json: cannot unmarshal %s into Go value of type "
			"map[string]interface {}",
			go_name(o));
	*ret = o;
	*ret_twice = negotiate_twice(&docs.items[0], r->arena);
	return 0;
}

int patching_report_twice(struct mutation *m, const char *twice, struct error *err)
{
	if (!twice || m->opt.validation == VALIDATE_IGNORE)
		return 0;
	if (m->opt.validation == VALIDATE_STRICT)
		return fail_code(m->r, E_BADREQUEST, err,
				 "error strict decoding YAML: error converting YAML to JSON: %s",
				 twice);
	request_warn_lines(m->r, twice);
	return 0;
}

/* Kind and version are those of the path. */
static int check_config(struct mutation *m, struct obj *config, struct apply_request *q,
			struct error *err)
{
	struct request *r = m->r;
	struct error inner = ERROR_INIT;
	const char *want = kind_api_version(m->kind, r->arena);
	const char *api = meta_api_version(config), *kind = meta_kind(config);
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	const char *core = api && strchr(api, '/') ? "" : "/";
	if (!api || !kind || !cstr_eq(api, want) || !cstr_eq(kind, m->kind->kind))
		return fail_code(r, E_BADREQUEST, err, "invalid object type: %s%s, Kind=%s", core,
				 api ? api : "", kind ? kind : "");
	return apply_check(q, &why, &inner) < 0 ? fail_code(r, inner.code, err, "%s", why.buf) : 0;
}

/* One that is empty, or null, is none there, as it is where "0" is stated. */
static const char *stated_revision(const struct mutation *m, const struct obj *config)
{
	const struct obj *v = obj_path(config, "metadata.resourceVersion");
	bool none = obj_type(v) == OBJ_NULL || (obj_type(v) == OBJ_STRING && !obj_as_str(v).len);
	return m->head && none ? "0" : NULL;
}

static const char *stated_text(const struct mutation *m, const char *text)
{
	return text ? arena_strdup(m->r->arena, text) : "";
}

int patching_check_stated(struct mutation *m, struct error *err)
{
	const char *rv = m->stated.rv, *uid = m->stated.uid;
	if (*uid && !m->head)
		return fail_conflict(m->r, m->name, err,
				     "uid mismatch: the provided object specified uid %s, and no "
				     "existing object was found",
				     uid);
	if (mutation_fits_url(m, m->after, err) < 0 ||
	    (*rv && mutation_reads_revision(m, rv, err) < 0))
		return -err->code;
	if (m->head && cstr_eq(rv, "0")) { /* none: which kinds may do without is seen later */
		obj_set_path(m->after, "metadata.resourceVersion", obj_string(rv));
		return 0;
	}
	bool stale = *rv && m->head && !cstr_eq(rv, meta_resource_version(m->stored));
	return stale ? fail_modified(m->r, m->name, err) : 0;
}

/* kubectl may go back to apply on the client's side: the annotation that it left there says what is
 * applied now. Nobody owns it. */
static void update_last_applied(struct mutation *m, const struct obj *config)
{
	if (!cstr_eq(m->opt.manager, APPLY_KUBECTL) || !m->before ||
	    !meta_annotation(m->before, APPLY_LAST_APPLIED))
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(config);
	obj_del_path(o, "metadata.managedFields");
	obj_del_path(o, "metadata.annotations['" APPLY_LAST_APPLIED "']");
	json_print_canonical(o, &b);
	strbuf_addc(&b, '\n');
	if (!b.over)
		meta_set_annotation(m->after, APPLY_LAST_APPLIED, b.buf);
}

/* What a write of the status leaves alone is nobody's. */
static const char *kept_field(const struct mutation *m)
{
	if (!m->is_status || m->kind->flags & KIND_CUSTOM)
		return NULL;
	return mutation_status_keeps(m, "labels")            ? "f:labels"
	       : mutation_status_keeps(m, "ownerReferences") ? "f:ownerReferences"
							     : NULL;
}

static int merge_config(struct mutation *m, const struct apply_request *q,
			const char *update_version, struct error *err)
{
	struct request *r = m->r;
	struct obj *merged = NULL;
	struct apply_conflicts conflicts = {.arena = r->arena};
	struct error inner = ERROR_INIT;
	if (apply_merge(q, &conflicts, &merged, &inner) < 0) {
		if (inner.code != E_CONFLICT)
			return fail_code(r, inner.code, err, "%s", inner.msg);
		for (size_t i = 0; update_version && i < conflicts.n; i++)
			conflicts.items[i].api_version = update_version;
		return conflict_answer(r, &conflicts, err);
	}
	m->after = obj_keep(r->arena, merged);
	m->keep_managers = true;
	m->verb = "apply";
	return 0;
}

int patching_scale(struct mutation *m, struct obj *config, struct error *err)
{
	const char *api_version = kind_api_version(m->kind, m->r->arena);
	struct apply_request q = {
		.schema = apply_builtin_schema(api_version, m->kind->kind),
		.live = m->before,
		.config = config,
		.manager = m->opt.manager,
		.api_version = api_version,
		.subresource = m->r->subresource,
		.has_status = m->kind->flags & KIND_STATUS,
		.force = m->opt.force,
		.now_ns = request_now(m->r),
		.bytes_max = STORE_VALUE_BYTES_MAX,
	};
	obj_set_str(config, "apiVersion", api_version);
	obj_set_str(config, "kind", m->kind->kind);
	return merge_config(m, &q, "autoscaling/v1", err);
}

int patching_server_side(struct mutation *m, struct error *err)
{
	struct request *r = m->r;
	struct obj *config = NULL;
	const char *twice = NULL;
	if (patching_config(m, &config, &twice, err) < 0 || modern_form(r, &config, err) < 0)
		return -err->code;
	modern_join(r, m->before, config);
	const struct schema *schema = m->kind->schema;
	const char *api_version = kind_api_version(m->kind, r->arena);
	struct apply_request q = {
		.schema = schema ? schema : apply_builtin_schema(api_version, m->kind->kind),
		.live = m->before,
		.config = config,
		.manager = m->opt.manager,
		.api_version = api_version,
		.subresource = r->subresource,
		.has_status = m->kind->flags & KIND_STATUS,
		.keeps_meta = mutation_status_keeps(m, NULL),
		.keeps_field = kept_field(m),
		.force = m->opt.force,
		.forms = mutation_forms(m),
		.now_ns = request_now(r),
		.bytes_max = STORE_VALUE_BYTES_MAX,
	};
	m->stated = (struct stated){
		stated_text(m, meta_namespace(config)), stated_text(m, meta_name(config)),
		stated_text(m, meta_resource_version(config)), stated_text(m, meta_uid(config))};
	if (stated_revision(m, config))
		m->stated.rv = stated_revision(m, config);
	q.stated_namespace = m->stated.ns;
	if (check_config(m, config, &q, err) < 0)
		return -err->code;
	m->is_apply = true;
	if (m->head && cstr_eq(m->resource->plural, "certificatesigningrequests")) {
		if (mutation_reads(m, config, err) < 0)
			return -err->code;
		obj_del(config, "spec"); /* what was asked for stays, and nobody owns it */
	}
	obj_del_path(config, "metadata.resourceVersion");
	if (m->kind->flags & KIND_CUSTOM)
		object_meta_tidy(config);
	if (merge_config(m, &q, NULL, err) < 0)
		return -err->code;
	update_last_applied(m, config);
	return patching_report_twice(m, twice, err);
}
