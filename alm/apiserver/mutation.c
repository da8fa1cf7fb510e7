/* mutation: see mutation.h. It must not know HTTP beyond the request's query. */
#include "alm/apiserver/mutation_internal.h"

#include <string.h>

#include "alm/apiserver/admission/class.h"
#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/admission/policies.h"
#include "alm/apiserver/admission/priority.h"
#include "alm/apiserver/admit.h"
#include "alm/apiserver/auth/refusals.h"
#include "alm/apiserver/converting.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/embedded.h"
#include "alm/apiserver/kinds/builtin_check.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/scale.h"
#include "alm/apiserver/kinds/warn.h"
#include "alm/apiserver/limits.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/resizing.h"
#include "alm/apiserver/resource_quotas.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/store/audit_write.h"
#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_types.h"
#include "alm/obj/schema/schema_node.h"

int mutation_init(struct mutation *m, struct request *r, const char *ns, const char *name,
		  struct error *err)
{
	*m = (struct mutation){.r = r, .kind = r->kind, .ns = ns, .name = name, .verb = r->verb};
	m->resource = server_resource(r->server, r->kind);
	m->is_status = cstr_eq(r->subresource, "status");
	m->opt.manager = "";
	m->head = name && *name ? resource_find(m->resource, ns, name) : NULL;
	if (!m->head)
		return 0;
	struct text *t = m->head->text;
	if (converting_text(r, &t, err) < 0)
		return -err->code;
	m->before = convert_read(r->kind, t, r->arena);
	m->stored = m->before;
	if (m->before &&
	    (m->head->text->stamp != r->kind->stamp || !(r->kind->flags & KIND_STORAGE))) {
		struct obj *raw = NULL;
		if (json_parse(text_str(m->head->text), &raw, err) < 0)
			return -err->code;
		m->stored = obj_keep(r->arena, raw);
	}
	if (!m->before)
		return error_set(err, E_CORRUPT, "the stored object %s/%s is damaged", ns, name);
	return 0;
}

int mutation_fits_url(const struct mutation *m, const struct obj *o, struct error *err)
{
	const char *name = meta_name(o), *ns = meta_namespace(o);
	if (ns && *m->ns && !cstr_eq(ns, m->ns))
		return fail_code(
			m->r, E_BADREQUEST, err,
			"the namespace of the provided object does not match the namespace "
			"sent on the request");
	if (!name)
		return fail_code(
			m->r, E_BADREQUEST, err,
			"the name of the object (%s based on URL) was undeterminable: name "
			"must be provided",
			m->name);
	if (!cstr_eq(name, m->name))
		return fail_code(
			m->r, E_BADREQUEST, err,
			"the name of the object (%s) does not match the name on the URL (%s)", name,
			m->name);
	return 0;
}

static void free_errors(void *p)
{
	xfree(p);
}

struct field_errors *mutation_errors(struct request *r)
{
	struct field_errors *e = xmalloc(sizeof(*e)); /* 10 KiB: of most writes there are none */
	arena_defer(r->arena, free_errors, e);
	field_errors_init(e, r->arena);
	return e;
}

/* w: none so far. The server's own writers are told nothing. */
static void warn(struct mutation *m, struct field_errors *w)
{
	if (m->kind->flags & KIND_CUSTOM || m->is_status || m->whole || *m->r->subresource)
		return;
	warn_of(w, m->resource->group, m->resource->plural, m->after, m->before);
	for (size_t i = 0; i < w->n; i++)
		request_warn(m->r, "%s%s%s", w->items[i].path, *w->items[i].path ? ": " : "",
			     w->items[i].message);
}

/* That a name can stand in no path is found last of all, where the kind has no rule for it. */
static bool is_path_fault(const struct mutation *m, const struct field_error *e)
{
	return m->kind->flags & KIND_FREE_PREFIX &&
	       (cstr_eq(e->path, "metadata.generateName") ||
		(m->kind->flags & KIND_PATH_NAME && cstr_eq(e->path, "metadata.name") &&
		 e->type == FIELD_INVALID));
}

/* Of these a new one's metadata is looked at when all else is right. first: what was found of it. */
static bool is_meta_last(const struct mutation *m, const struct field_error *first)
{
	return !m->before && (cstr_eq(m->kind->plural, "poddisruptionbudgets") ||
			      (cstr_eq(m->kind->plural, "events") && !*m->kind->group) ||
			      is_path_fault(m, first));
}

/* Behind what is told of the containers of its Pod among those from number i to n. spec: "spec.template.spec.". */
static size_t place_in_pod(const struct field_errors *e, struct str spec, size_t i, size_t n)
{
	static const char *const before[] = {"volumes", "resourceClaims", "containers",
					     "initContainers", "ephemeralContainers["};
	size_t first = n, behind = 0;
	for (; i < n; i++) {
		const char *path = e->items[i].path;
		bool is_whole = strlen(path) + 1 == spec.len; /* that it may not change */
		if (strncmp(path, spec.ptr, spec.len - is_whole) != 0)
			continue;
		first = first < i ? first : i;
		if (is_whole)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(before); k++)
			if (cstr_has_prefix(path + spec.len, before[k]))
				behind = i + 1;
	}
	return behind ? behind : first;
}

/* "1" of "1].name" */
static uint64_t index_at(const char *text)
{
	uint64_t i = 0;
	(void)str_parse_u64(str_n(text, strcspn(text, "]")), &i);
	return i;
}

/* Among what is told of later containers from number i to n: behind what else is told of this one (path), in the order of the fields
 * that none of them may have; in front of what is told of the next ones. */
static size_t place_in_later(const struct field_errors *e, const char *path, size_t i, size_t n)
{
	const struct api_type *t = api_type_named("core.v1.EphemeralContainerCommon");
	const char *field = strrchr(path, '.') + 1, *number = strrchr(path, '[') + 1;
	size_t before = (size_t)(field - path), list = (size_t)(number - path);
	size_t behind = 0, first = n;
	for (; i < n; i++) {
		const struct field_error *f = &e->items[i];
		if (strncmp(f->path, path, list) != 0)
			continue;
		if (index_at(f->path + list) > index_at(number))
			first = first < i ? first : i;
		if (strncmp(f->path, path, before) != 0)
			continue;
		if (f->type == FIELD_FORBIDDEN &&
		    api_place_in_struct(t, f->path + before) > api_place_in_struct(t, field))
			return i;
		behind = i + 1;
	}
	return behind ? behind : first;
}

/* In front of the first of what begins with these. */
static size_t place_before(const struct field_errors *e, struct str start)
{
	size_t at = 0;
	while (at < e->n && strncmp(e->items[at].path, start.ptr, start.len) != 0)
		at++;
	return at;
}

/* What was added last stands at `at`. */
static void move_last(struct field_errors *e, size_t n, size_t at)
{
	if (at < n && e->n > n)
		field_errors_swap(e, at, n, e->n);
}

/* Of an update of a Job twice, as all of it. spec: the beginning of the path of what was emptied. */
static void refuse_in_pod(const struct mutation *m, struct str spec, const char *why,
			  struct check_parts *parts, struct field_errors *e)
{
	const char *path = spec.ptr;
	size_t n = e->n, first = parts->checked;
	bool twice = m->before && cstr_eq(m->kind->plural, "jobs");
	check_forbidden(e, path, why);
	size_t later = strchr(path, '[') && !twice ? place_in_later(e, path, 0, n) : n;
	move_last(e, n,
		  later < n ? later
		  : twice   ? place_in_pod(e, spec, first, parts->changed)
			    : place_in_pod(e, spec, 0, n));
	n = e->n;
	if (!twice)
		return;
	check_forbidden(e, path, why);
	move_last(e, n, place_in_pod(e, spec, 0, first));
	parts->checked += e->n - n;
	parts->kept += e->n - n;
}

static void check_emptied(const struct mutation *m, struct check_parts *parts,
			  struct field_errors *e)
{
	static const char claims[] = ".resources.claims", later[] = "ephemeralContainers[";
	const char *path = m->emptied && !m->is_status ? m->emptied : "",
		   *field = strrchr(path, '.');
	const char *container = strstr(path, later);
	size_t n = e->n;
	if (cstr_has_suffix(path, claims))
		refuse_in_pod(m, (struct str){path, strlen(path) - sizeof(claims) + 2},
			      "claims may not be set for Resources at pod-level", parts, e);
	else if (container)
		refuse_in_pod(m, (struct str){path, (size_t)(container - path)},
			      "cannot be set for an Ephemeral Container", parts, e);
	else if (field && strcmp(field, ".policies") == 0) {
		check_required(e, path, "must specify at least one Policy");
		if (strstr(path, ".scaleUp."))
			move_last(e, n, place_before(e, STR("spec.behavior.scaleDown")));
	} else if (cstr_has_prefix(path, "spec.metadata.")) {
		size_t at = place_before(e, STR("spec.spec"));
		for (size_t i = 0; i < n && at == n; i++) /* or before "field is immutable" */
			at = cstr_eq(e->items[i].path, "spec") ? i : n;
		check_forbidden(e, path, "cannot be set");
		move_last(e, n, at);
	}
}

/* No labels and a map without labels are two things where they are shown, and nothing else is wrong with either. */
static void show_bare_pods(const struct mutation *m, struct field_errors *e)
{
	for (size_t i = 0; i < e->n && m->has_bare_pods; i++)
		if (cstr_eq(e->items[i].path, "spec.template.metadata.labels"))
			e->items[i].message =
				"Invalid value: {}: `selector` does not match template `labels`";
}

static void drop_hidden(struct field_errors *e)
{
	e->n -= e->hidden;
	memmove(e->items, e->items + e->hidden, e->n * sizeof(*e->items));
}

/* What fails and may stay as it was is told as a warning. */
static void check_rules(struct mutation *m, struct field_errors *e)
{
	struct field_errors *through = mutation_errors(m->r);
	schema_validate_update_rules(m->kind->schema, m->after, m->before, e, through);
	for (size_t i = 0; i < through->n; i++)
		request_warn(m->r, "%s: %s", through->items[i].path, through->items[i].message);
}

int mutation_validate(struct mutation *m, struct error *err)
{
	struct field_errors *e = mutation_errors(m->r);
	size_t again;
	bool in_part = m->is_status || cstr_eq(m->r->subresource, "finalize");
	object_meta_validate(m->kind, m->after, m->before, m->other_uid, in_part, &again, e);
	size_t of_meta = e->n;
	e->whole = again == SIZE_MAX || m->kind->flags & KIND_META_FIRST ? 0 : again;
	struct check_parts parts = {of_meta, of_meta, of_meta};
	admit_validate(m, &parts, e);
	check_emptied(m, &parts, e);
	show_bare_pods(m, e);
	/* What an update says of the metadata comes between what a new object has to be and what may not
	 * change, or the other way round. */
	if (of_meta && e->n > of_meta && is_meta_last(m, &e->items[0]))
		e->hidden = of_meta;
	if (e->hidden)
		drop_hidden(e);
	else if (again < of_meta)
		field_errors_swap(e, again, of_meta,
				  m->kind->flags & KIND_META_FIRST ? parts.checked : parts.kept);
	if (m->kind->schema) {
		if (!m->is_status)
			schema_validate_at(m->kind->schema, "", m->after, m->before, e);
		else if (obj_has(m->after, "status")) /* the rest is as it was stored */
			schema_validate_at(schema_property(m->kind->schema, "status"), "status",
					   obj_get(m->after, "status"),
					   obj_get(m->before, "status"), e);
		scale_check(m->kind, m->after, m->is_status, e);
		if (!m->is_status)
			embedded_check(m->kind->schema, m->after, e);
		check_rules(m, e);
	}
	if (e->n == 0) {
		warn(m, e);
		return 0;
	}
	/* A name that is missing has one cause, whatever else is wrong (golden G32). */
	return fail_invalid(m->r, m->resource->group, m->kind->kind, meta_name(m->after), e, err);
}

int mutation_admission(struct mutation *m, struct error *err)
{
	if (limits_check(m, err) < 0 || priority_check(m, err) < 0 || class_check(m, err) < 0 ||
	    resizing_check(m, err) < 0 || policies_check(m, err) < 0 ||
	    hooks_validate(m, err) < 0 || quotas_check(m, err) < 0)
		return -err->code;
	return 0;
}

void mutation_warn_finalizers(struct mutation *m)
{
	const struct obj *list = obj_path(m->after, "metadata.finalizers");
	if (!(m->kind->flags & KIND_CUSTOM))
		return; /* of others they are judged, or nobody asks */
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *s = obj_as_string(obj_at(list, i));
		if (s && !strchr(s, '/') && !cstr_eq(s, "orphan") &&
		    !cstr_eq(s, "foregroundDeletion") && !cstr_eq(s, "kubernetes") &&
		    !cstr_eq(s, CRD_FINALIZER) && !meta_has_finalizer(m->before, s))
			request_warn(m->r,
				     "metadata.finalizers: \"%s\": prefer a domain-qualified "
				     "finalizer name %sto avoid accidental conflicts with other "
				     "finalizer writers",
				     s, strchr(s, '.') ? "including a path (/) " : "");
	}
}

/* The answer names the entry of the log, so that both logs join. */
static void name_row(struct mutation *m, const struct audit_row *row)
{
	struct apiserver *s = m->r->server;
	const char *tag = s->audit ? audit_origin_tag(s->audit) : NULL;
	if (!row || !tag)
		return;
	if (row->op)
		request_set_header(m->r, "Audit-Id",
				   arena_fmt(m->r->arena, "alm-%s-%s", tag, row->op));
	else
		request_set_header(m->r, "Audit-Id",
				   arena_fmt(m->r->arena, "alm-%s-row-%lld", tag,
					     (long long)store_last_row(s->store)));
}

/* m->after becomes what is stored; what else is shown of it is known then. */
static int store_form(struct mutation *m, bool stored, struct error *err)
{
	if (mutation_convert(m, err) < 0)
		return -err->code;
	mutation_to_storage(m, m->after);
	/* One reference for the canonical form, one that the arena keeps. */
	m->after = obj_keep(m->r->arena, convert_canonical(obj_ref(m->after)));
	return m->r->exchange && converting_is_needed(m->kind)
		       ? converting_prepare(m->r, m->after, m->head ? m->head->text : NULL, stored,
					    err)
		       : 0;
}

/* With a converter it may be another version's. */
static uint32_t stamp_of(const struct kind *k)
{
	return k->flags & KIND_STORAGE && !converting_is_needed(k) ? k->stamp : 0;
}

int mutation_store(struct mutation *m, struct error *err)
{
	struct apiserver *s = m->r->server;
	if (!kind_fits_namespace(m->kind, m->ns))
		return error_set(err, E_INTERNAL, "%s \"%s\" in namespace \"%s\": wrong scope",
				 m->kind->plural, m->name, m->ns);
	struct audit_write aw = {
		.request = m->r,
		.kind = m->kind,
		.verb = m->verb,
		.ns = m->ns,
		.name = m->name,
		.uid = meta_uid(m->after),
		.before = m->stored,
		.after = m->removed ? NULL : m->after,
		.rv_before = m->head ? m->head->rv : 0,
		.rv_after = store_next_rv(s->store),
		.is_status = m->is_status,
	};
	if (store_form(m, true, err) < 0)
		return -err->code;
	struct audit_write_parts parts;
	audit_write_rows(&aw, &parts);
	struct write w = {
		.resource = m->resource,
		.ns = m->ns,
		.name = m->name,
		.head = m->head,
		.after = m->after,
		.remove = m->removed,
		.stamp = stamp_of(m->kind),
		.row = parts.row,
		.deletion = parts.deletion,
	};
	int rc = store_write(s->store, &w, &m->text, err);
	if (rc == 0)
		name_row(m, w.row);
	if (rc < 0 && err->code == E_CONFLICT)
		return fail_modified(m->r, m->name, err);
	if (rc < 0)
		m->r->failure = (struct failure){0};
	return rc;
}

static void free_text(void *p)
{
	text_unref(p);
}

int mutation_pretend(struct mutation *m, bool with_rv, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	if (store_form(m, false, err) < 0)
		return -err->code;
	if (with_rv)
		obj_set_path(m->after, "metadata.resourceVersion",
			     obj_stringf("%lld", (long long)m->head->rv));
	else
		obj_del_path(m->after, "metadata.resourceVersion");
	json_print(m->after, &b);
	if (strbuf_check(&b, "the object", err) < 0)
		return -err->code;
	m->text = text_new(strbuf_str(&b));
	m->text->stamp = stamp_of(m->kind);
	arena_defer(m->r->arena, free_text, m->text);
	return 0;
}

int mutation_keep_unchanged(struct mutation *m)
{
	struct refusals *counted = m->r->server->refusals;
	const struct audit_write aw = {
		.request = m->r,
		.kind = m->kind,
		.verb = m->verb,
		.ns = m->ns,
		.name = m->name,
		.uid = meta_uid(m->stored),
		.before = m->stored,
		.after = m->stored,
		.rv_before = m->head->rv, /* and no revision is made */
		.is_status = m->is_status,
	};
	const struct audit_row *row = m->opt.dry_run ? NULL : audit_write_unchanged(&aw);
	if (row && counted)
		refusals_add_unchanged(counted, m->r, row);
	m->unchanged = true;
	m->text = m->head->text;
	return 0;
}

/* Deletion. */

int mutation_remove(struct mutation *m, struct error *err)
{
	m->after = obj_keep(m->r->arena, obj_copy_shallow(m->before));
	m->removed = true;
	m->in_storage = m->stored;
	return m->opt.dry_run ? mutation_pretend(m, true, err) : mutation_store(m, err);
}

int mutation_mark(struct mutation *m, struct error *err)
{
	char now[CLOCK_TEXT_MAX];
	bool first = !meta_is_deleting(m->before);
	if (converting_is_needed(m->kind))
		m->in_storage = m->stored;
	clock_format(request_now(m->r), CLOCK_SECONDS, now);
	if (first) {
		obj_set_path(m->after, "metadata.deletionTimestamp", obj_string(now));
		obj_set_path(m->after, "metadata.deletionGracePeriodSeconds", obj_int(0));
		if (!admit_mark(m) && (m->kind->flags & (KIND_GENERATION | KIND_CUSTOM)))
			obj_set_path(m->after, "metadata.generation",
				     obj_int(meta_generation(m->before) + 1));
	}
	if (!first && obj_equal(m->after, m->before))
		return mutation_keep_unchanged(m);
	return m->opt.dry_run ? mutation_pretend(m, true, err) : mutation_store(m, err);
}
