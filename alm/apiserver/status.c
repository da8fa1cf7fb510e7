/* status: the wording of failures. It must not decide what fails. */
#include "alm/apiserver/status.h"

#include <string.h>

#include "alm/obj/json.h"

const char *status_resource(struct arena *a, const char *plural, const char *group)
{
	return group && *group ? arena_fmt(a, "%s.%s", plural, group) : arena_strdup(a, plural);
}

static int fail_va(struct request *r, int code, struct error *err, const char *fmt, va_list args)
{
	r->failure = (struct failure){.message = arena_vfmt(r->arena, fmt, args)};
	return error_set(err, code, "%s", r->failure.message);
}

void failure_details(struct request *r, const char *name, const char *group, const char *kind)
{
	r->failure.details = true;
	r->failure.name = name ? arena_strdup(r->arena, name) : NULL;
	r->failure.group = arena_strdup(r->arena, group);
	r->failure.kind = arena_strdup(r->arena, kind);
}

int fail_code(struct request *r, int code, struct error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int rc = fail_va(r, code, err, fmt, args);
	va_end(args);
	return rc;
}

int fail_not_found(struct request *r, const char *group, const char *plural, const char *name,
		   struct error *err)
{
	int rc = fail_code(r, E_NOTFOUND, err, "%s \"%s\" not found",
			   status_resource(r->arena, plural, group), name);
	failure_details(r, name, group, plural);
	return rc;
}

int fail_exists_generated(struct request *r, const char *name, struct error *err)
{
	int rc = fail_code(r, E_EXISTS, err,
			   "%s \"%s\" already exists, the server was not able to generate a unique "
			   "name for the object",
			   status_resource(r->arena, r->resource, r->group), name);
	failure_details(r, name, r->group, r->resource);
	r->failure.retry_after_s = 1;
	return rc;
}

int fail_exists(struct request *r, const char *name, struct error *err)
{
	int rc = fail_code(r, E_EXISTS, err, "%s \"%s\" already exists",
			   status_resource(r->arena, r->resource, r->group), name);
	failure_details(r, name, r->group, r->resource);
	return rc;
}

int fail_conflict(struct request *r, const char *name, struct error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	const char *why = arena_vfmt(r->arena, fmt, args);
	va_end(args);
	int rc = fail_code(r, E_CONFLICT, err, "Operation cannot be fulfilled on %s \"%s\": %s",
			   status_resource(r->arena, r->resource, r->group), name, why);
	failure_details(r, name, r->group, r->resource);
	return rc;
}

int fail_modified(struct request *r, const char *name, struct error *err)
{
	return fail_conflict(r, name, err,
			     "the object has been modified; please apply your changes to the "
			     "latest version and try again");
}

int fail_forbidden(struct request *r, const char *name, struct error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	const char *why = arena_vfmt(r->arena, fmt, args);
	va_end(args);
	const char *what = status_resource(r->arena, r->resource, r->group);
	int rc = fail_code(r, E_FORBIDDEN, err, "%s \"%s\" is forbidden: %s", what, name, why);
	failure_details(r, name, r->group, r->resource);
	return rc;
}

int fail_invalid(struct request *r, const char *group, const char *kind, const char *name,
		 const struct field_errors *errors, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	field_errors_text(errors, &b);
	int rc = fail_code(r, E_INVALID, err, "%s \"%s\" is invalid: %s",
			   status_resource(r->arena, kind, group), name ? name : "", b.buf);
	failure_details(r, name, group, kind);
	r->failure.causes = errors;
	return rc;
}

static struct field_errors *one_error(struct request *r, enum field_error_type type,
				      const char *field, const char *fmt, va_list args)
{
	struct field_errors *e = ARENA_NEW(r->arena, struct field_errors);
	field_errors_init(e, r->arena);
	field_errors_add(e, type, field, "%s", arena_vfmt(r->arena, fmt, args));
	return e;
}

int fail_invalid_one(struct request *r, const char *group, const char *kind, const char *name,
		     enum field_error_type type, const char *field, struct error *err,
		     const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct field_errors *e = one_error(r, type, field, fmt, args);
	va_end(args);
	return fail_invalid(r, group, kind, name, e, err);
}

int fail_options(struct request *r, const char *options, enum field_error_type type,
		 const char *field, struct error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct field_errors *e = one_error(r, type, field, fmt, args);
	va_end(args);
	return fail_invalid(r, "meta.k8s.io", options, "", e, err);
}

int fail_method(struct request *r, const char *verb, struct error *err)
{
	if (r->kind && !(r->kind->flags & KIND_CUSTOM) && !cstr_eq(verb, "watch")) {
		int unrouted = fail_code(
			r, E_METHOD, err,
			"the server does not allow this method on the requested resource");
		r->failure.details = true;
		return unrouted;
	}
	int rc = fail_code(r, E_METHOD, err, "%s is not supported on resources of kind \"%s\"",
			   verb, status_resource(r->arena, r->resource, r->group));
	failure_details(r, NULL, r->group, r->resource);
	return rc;
}

static void set_nonempty(struct obj *o, const char *key, const char *value)
{
	if (value && *value)
		obj_set_str(o, key, value);
}

static void add_cause(struct obj *list, const char *reason, const char *message, const char *field)
{
	struct obj *c = obj_map();
	set_nonempty(c, "reason", reason);
	set_nonempty(c, "message", message);
	set_nonempty(c, "field", field);
	obj_append(list, c);
}

static struct obj *details_of(const struct failure *f)
{
	struct obj *d = obj_map();
	set_nonempty(d, "name", f->name);
	set_nonempty(d, "group", f->group);
	set_nonempty(d, "kind", f->kind);
	set_nonempty(d, "uid", f->uid);
	struct obj *causes = obj_list();
	for (size_t i = 0; f->causes && i < f->causes->n; i++) {
		const struct field_error *e = &f->causes->items[i];
		add_cause(causes, field_error_reason(e->type), e->message, e->path);
	}
	for (size_t i = 0; i < f->n_extra; i++)
		add_cause(causes, f->extra[i].reason, f->extra[i].message, f->extra[i].field);
	if (obj_len(causes))
		obj_set(d, "causes", causes);
	else
		obj_unref(causes);
	if (f->retry_after_s)
		obj_set_int(d, "retryAfterSeconds", f->retry_after_s);
	return d;
}

static struct obj *status_new(const char *status)
{
	struct obj *o = obj_map();
	obj_set_str(o, "kind", "Status");
	obj_set_str(o, "apiVersion", "v1");
	obj_set(o, "metadata", obj_map());
	obj_set_str(o, "status", status);
	return o;
}

void status_print(const struct failure *f, const struct error *err, struct strbuf *b)
{
	CLEANUP(obj_unrefp) struct obj *o = status_new("Failure");
	if (f->status) {
		OBJ_EACH (it, f->status)
			obj_set(o, it.key, obj_ref(it.value));
		json_print(o, b);
		return;
	}
	if (f->continue_token)
		obj_set_path(o, "metadata.continue", obj_string(f->continue_token));
	obj_set_str(o, "message", f->message ? f->message : err->msg);
	if (f->reason)
		obj_set_str(o, "reason", f->reason);
	else if (!f->no_reason)
		obj_set_str(o, "reason", error_reason(err->code));
	if (f->details || f->retry_after_s)
		obj_set(o, "details", details_of(f));
	obj_set_int(o, "code", error_http(err->code));
	json_print(o, b);
}

void status_print_deleted(const char *name, const char *group, const char *plural, const char *uid,
			  struct strbuf *b)
{
	struct failure f = {.name = name, .group = group, .kind = plural, .uid = uid};
	CLEANUP(obj_unrefp) struct obj *o = status_new("Success");
	obj_set(o, "details", details_of(&f));
	json_print(o, b);
}
