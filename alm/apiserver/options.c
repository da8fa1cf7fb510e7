/* options: see options.h. */
#include "alm/apiserver/options.h"

#include <stdio.h>
#include <string.h>

#include "alm/apiserver/status.h"
#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/schema_node.h"

static int dry_run_value(struct request *r, const char *options, const char *v, bool *ret,
			 struct error *err)
{
	if (!v || !*v)
		return 0;
	if (!cstr_eq(v, "All"))
		return fail_options(r, options, FIELD_NOT_SUPPORTED, "dryRun", err,
				    "Unsupported value: []string{\"%s\"}: supported values: "
				    "\"All\"",
				    v);
	*ret = true;
	return 0;
}

static int validation_value(struct request *r, const char *options, const char *v,
			    enum validation *ret, struct error *err)
{
	if (!v || !*v || cstr_eq(v, "Warn"))
		*ret = VALIDATE_WARN;
	else if (cstr_eq(v, "Ignore"))
		*ret = VALIDATE_IGNORE;
	else if (cstr_eq(v, "Strict"))
		*ret = VALIDATE_STRICT;
	else
		return fail_options(r, options, FIELD_NOT_SUPPORTED, "fieldValidation", err,
				    "Unsupported value: \"%s\": supported values: \"\", "
				    "\"Ignore\", \"Strict\", \"Warn\"",
				    v);
	return 0;
}

static const char *default_manager(struct request *r)
{
	const char *agent = request_header(r, "User-Agent");
	if (!agent || !*agent)
		return "unknown";
	struct str before, after;
	str_cut(str_of(agent), '/', &before, &after);
	return arena_strndup(r->arena, before.ptr,
			     before.len < MANAGER_BYTES_MAX ? before.len : MANAGER_BYTES_MAX);
}

static int manager_value(struct request *r, const char *options, bool apply,
			 struct write_options *ret, struct error *err)
{
	const char *v = request_query(r, "fieldManager");
	if (v && strlen(v) > MANAGER_BYTES_MAX)
		return fail_options(r, options, FIELD_TOO_LONG, "fieldManager", err,
				    "Too long: may not be more than %d bytes", MANAGER_BYTES_MAX);
	for (const char *p = v; p && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			go_quote(str_of(v), &b);
			return fail_options(r, options, FIELD_INVALID, "fieldManager", err,
					    "Invalid value: %s: invalid character U+%04X (at "
					    "position %zu)",
					    b.buf, (unsigned)*p, (size_t)(p - v));
		}
	ret->manager_stated = v && *v;
	ret->manager = ret->manager_stated ? v : default_manager(r);
	if (apply && !ret->manager_stated)
		return fail_options(r, options, FIELD_REQUIRED, "fieldManager", err,
				    "Required value: is required for apply patch");
	return 0;
}

static bool is_true(const char *v)
{
	return v && !cstr_eq(v, "false") && !cstr_eq(v, "0");
}

int options_write(struct request *r, const char *name, bool is_patch, bool apply,
		  struct write_options *ret, struct error *err)
{
	*ret = (struct write_options){.manager = ""};
	const char *force = request_query(r, "force");
	if (manager_value(r, name, apply, ret, err) < 0 ||
	    validation_value(r, name, request_query(r, "fieldValidation"), &ret->validation, err) <
		    0 ||
	    dry_run_value(r, name, request_query(r, "dryRun"), &ret->dry_run, err) < 0)
		return -err->code;
	if (force && is_patch && !apply)
		return fail_options(r, name, FIELD_FORBIDDEN, "force", err,
				    "Forbidden: may not be specified for non-apply patch");
	ret->force = is_true(force);
	return 0;
}

static int propagation_value(struct request *r, const char *v, enum propagation *ret,
			     struct error *err)
{
	if (!v)
		return 0;
	if (cstr_eq(v, "Background"))
		*ret = PROPAGATE_BACKGROUND;
	else if (cstr_eq(v, "Foreground"))
		*ret = PROPAGATE_FOREGROUND;
	else if (cstr_eq(v, "Orphan"))
		*ret = PROPAGATE_ORPHAN;
	else
		return fail_options(r, "DeleteOptions", FIELD_NOT_SUPPORTED, "propagationPolicy",
				    err,
				    "Unsupported value: \"%s\": supported values: "
				    "\"Foreground\", \"Background\", \"Orphan\", \"nil\"",
				    v);
	return 0;
}

int options_delete(struct request *r, const struct obj *body, struct delete_options *ret,
		   struct error *err)
{
	*ret = (struct delete_options){.propagation = PROPAGATE_DEFAULT, .body = body};
	const char *policy = obj_str(body, "propagationPolicy");
	const char *dry = obj_as_string(obj_at(obj_get(body, "dryRun"), 0));
	if (!body) {
		policy = request_query(r, "propagationPolicy");
		dry = request_query(r, "dryRun");
	}
	const char *orphan = body ? NULL : request_query(r, "orphanDependents");
	bool old_form = orphan || obj_is_set(obj_get(body, "orphanDependents"));
	if (policy && old_form)
		return fail_options(r, "DeleteOptions", FIELD_INVALID, "propagationPolicy", err,
				    "Invalid value: \"%s\": orphanDependents and "
				    "deletionPropagation cannot be both set",
				    policy);
	if (dry_run_value(r, "DeleteOptions", dry, &ret->dry_run, err) < 0 ||
	    propagation_value(r, policy, &ret->propagation, err) < 0)
		return -err->code;
	if (old_form)
		ret->propagation = is_true(orphan) || obj_flag(body, "orphanDependents", false)
					   ? PROPAGATE_ORPHAN
					   : PROPAGATE_BACKGROUND;
	ret->uid = obj_str(body, "preconditions.uid");
	ret->rv = obj_str(body, "preconditions.resourceVersion");
	return 0;
}

/* Field selectors. */

struct field_row {
	const char *group, *plural;
	const char *fields; /* blank-separated paths */
};

static const struct field_row field_rows[] = {
	{"", "events",
	 "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "
	 "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason "
	 "type source reportingComponent"},
	{"events.k8s.io", "events",
	 "regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion "
	 "regarding.resourceVersion regarding.fieldPath reason type reportingController"},
	{"", "namespaces", "status.phase"},
	{"", "secrets", "type"},
	{"", "pods",
	 "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.host "
	 "spec.hostNetwork status.phase status.podIP status.nominatedNodeName"},
	{"", "nodes", "spec.unschedulable"},
	{"", "services", "spec.clusterIP spec.type"},
	{"", "replicationcontrollers", "status.replicas"},
	{"apps", "replicasets", "status.replicas"},
	{"batch", "jobs", "status.successful"},
	{"certificates.k8s.io", "certificatesigningrequests", "spec.signerName"},
	{"resource.k8s.io", "resourceslices", "spec.nodeName spec.driver"},
};

static bool in_words(const char *words, struct str w)
{
	struct str rest = str_of(words), word;
	while (str_next(&rest, ' ', &word))
		if (str_eq(word, w))
			return true;
	return false;
}

static const char *fields_of(const struct kind *k)
{
	for (size_t i = 0; i < ARRAY_LEN(field_rows); i++)
		if (cstr_eq(field_rows[i].group, k->group) &&
		    cstr_eq(field_rows[i].plural, k->plural))
			return field_rows[i].fields;
	return NULL;
}

struct asked_field {
	const struct kind *kind;
	struct str refused; /* one that the kind has not */
};

static bool field_supported(void *arg, struct str field)
{
	struct asked_field *asked = arg;
	const struct kind *k = asked->kind;
	const char *words = fields_of(k);
	if (str_is(field, "metadata.name") || str_is(field, "metadata.namespace") ||
	    (words && in_words(words, field)))
		return true;
	for (size_t i = 0; !words && k->selectable && k->selectable[i]; i++)
		if (str_eq(str_of(k->selectable[i]), field))
			return true;
	asked->refused = field;
	return false;
}

/* The object whose fields are asked for, and the text of one that is a number. */
struct asked_of {
	const struct obj *o;
	char number[24];
};

/* Fields of built-in kinds, whose groups have no dot, that stand elsewhere or are never absent. */
static const struct {
	const char *field, *path, *absent;
} shown_fields[] = {
	{"spec.host", "spec.nodeName", ""},
	{"spec.hostNetwork", "spec.hostNetwork", "false"},
	{"spec.unschedulable", "spec.unschedulable", "false"},
	{"status.replicas", "status.replicas", "0"},
	{"status.successful", "status.succeeded", "0"},
};

static const char *options_field(struct asked_of *of, const char *field)
{
	const struct obj *o = of->o;
	const char *api = meta_api_version(o), *absent = "";
	int64_t n;
	for (size_t i = 0; i < ARRAY_LEN(shown_fields) && !(api && strchr(api, '.')); i++)
		if (cstr_eq(shown_fields[i].field, field)) {
			field = shown_fields[i].path;
			absent = shown_fields[i].absent;
			break;
		}
	if (cstr_eq(field, "source")) {
		const char *c = obj_str(o, "source.component");
		if (!c || !*c)
			c = obj_str(o, "reportingComponent");
		return c ? c : "";
	}
	const struct obj *v = obj_path(o, field);
	if (obj_type(v) == OBJ_BOOL)
		return obj_is_true(v) ? "true" : "false";
	if (obj_is_number(v) && obj_as_i64(v, &n)) {
		(void)snprintf(of->number, sizeof(of->number), "%lld", (long long)n);
		return of->number;
	}
	const char *s = obj_as_string(v);
	return s ? s : absent;
}

static const char *field_value(void *arg, const char *field)
{
	return options_field(arg, field);
}

bool options_match(const struct list_options *l, const struct obj *o)
{
	struct asked_of of = {.o = o};
	return !l->selective || (selector_matches(l->labels, obj_path(o, "metadata.labels")) &&
				 field_selector_matches(l->fields, field_value, &of));
}

static void free_selector(void *p)
{
	selector_free(p);
}

static void free_field_selector(void *p)
{
	field_selector_free(p);
}

/* Built-in kinds without fields of their own name the two that all have. */
static int field_refused(const struct kind *k, struct str field, struct error *err)
{
	if (cstr_eq(k->group, "batch") && cstr_eq(k->kind, "Job"))
		return error_set(err, E_BADREQUEST, "field label \"%.*s\" not supported for Job",
				 STR_ARG(field));
	if (cstr_eq(k->group, "resource.k8s.io") && cstr_eq(k->kind, "ResourceSlice"))
		return error_set(err, E_BADREQUEST,
				 "field label not supported for %s/%s, Kind=ResourceSlice: %.*s",
				 k->group, k->version, STR_ARG(field));
	if (!(k->flags & KIND_CUSTOM) && !k->selectable && !fields_of(k))
		return error_set(err, E_BADREQUEST,
				 "\"%.*s\" is not a known field selector: only \"metadata.name\", "
				 "\"metadata.namespace\"",
				 STR_ARG(field));
	return -err->code;
}

/* The field selector: of a path that names one object (/api/v1/watch/.../NAME) that object alone,
 * for it is what the rights were asked for. */
static int fields_value(struct request *r, struct list_options *ret, struct error *err)
{
	const char *text = request_query(r, "fieldSelector");
	struct asked_field asked = {.kind = r->kind};
	if (!(text && *text) && *r->name)
		text = arena_fmt(r->arena, "metadata.name=%s", r->name);
	if (field_selector_parse(str_of(text ? text : ""), field_supported, &asked, &ret->fields,
				 err) < 0)
		return asked.refused.len ? field_refused(r->kind, asked.refused, err) : -err->code;
	arena_defer(r->arena, free_field_selector, ret->fields);
	ret->by_fields = text && *text;
	if (*r->name && !cstr_eq(field_selector_exact(ret->fields, "metadata.name"), r->name))
		return fail_code(r, E_BADREQUEST, err,
				 "fieldSelector metadata.name doesn't match requested name");
	return 0;
}

static int selectors_value(struct request *r, struct list_options *ret, struct error *err)
{
	const char *labels = request_query(r, "labelSelector");
	if (selector_parse(str_of(labels ? labels : ""), &ret->labels, err) < 0)
		return -err->code;
	arena_defer(r->arena, free_selector, ret->labels);
	if (fields_value(r, ret, err) < 0)
		return -err->code;
	ret->selective = ret->by_fields || !selector_is_empty(ret->labels);
	return 0;
}

static int number_value(struct request *r, const char *name, int64_t *ret, struct error *err)
{
	const char *v = request_query(r, name);
	if (!v || !*v || str_parse_i64(str_of(v), ret))
		return 0;
	return fail_code(r, E_BADREQUEST, err, "strconv.ParseInt: parsing \"%s\": invalid syntax",
			 v);
}

static int match_value(struct request *r, struct list_options *l, struct error *err)
{
	static const char opts[] = "ListOptions", field[] = "resourceVersionMatch";
	const char *v = request_query(r, "resourceVersionMatch");
	if (!v || !*v)
		return 0;
	if (!l->rv_stated && !l->initial_events)
		return fail_options(r, opts, FIELD_FORBIDDEN, field, err,
				    "Forbidden: resourceVersionMatch is forbidden unless "
				    "resourceVersion is provided");
	if (l->continue_token)
		return fail_options(r, opts, FIELD_FORBIDDEN, field, err,
				    "Forbidden: resourceVersionMatch is forbidden when continue is "
				    "provided");
	if (!cstr_eq(v, "Exact") && !cstr_eq(v, "NotOlderThan"))
		return fail_options(r, opts, FIELD_NOT_SUPPORTED, field, err,
				    "Unsupported value: \"%s\": supported values: \"Exact\", "
				    "\"NotOlderThan\", \"\"",
				    v);
	if (cstr_eq(v, "Exact") && cstr_eq(l->rv_text, "0"))
		return fail_options(r, opts, FIELD_FORBIDDEN, field, err,
				    "Forbidden: resourceVersionMatch \"exact\" is forbidden for "
				    "resourceVersion \"0\"");
	l->match = cstr_eq(v, "Exact") ? MATCH_EXACT : MATCH_NOT_OLDER;
	return 0;
}

static int initial_events_value(struct request *r, struct list_options *l, bool watch,
				struct error *err)
{
	const char *v = request_query(r, "sendInitialEvents");
	if (!v)
		return 0;
	if (!watch)
		return fail_options(r, "ListOptions", FIELD_FORBIDDEN, "sendInitialEvents", err,
				    "Forbidden: sendInitialEvents is forbidden for list");
	if (!cstr_eq(request_query(r, "resourceVersionMatch"), "NotOlderThan"))
		return fail_options(r, "ListOptions", FIELD_FORBIDDEN, "resourceVersionMatch", err,
				    "Forbidden: sendInitialEvents requires setting "
				    "resourceVersionMatch to NotOlderThan");
	l->initial_events = is_true(v);
	return 0;
}

static int rv_value(struct request *r, struct list_options *l, bool watch, struct error *err)
{
	uint64_t n = 0;
	if (!l->rv_stated)
		return 0;
	if (!str_parse_u64(str_of(l->rv_text), &n) || n > INT64_MAX)
		return fail_code(
			r, E_BADREQUEST, err,
			"%sresourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing "
			"\"%s\": invalid syntax",
			watch ? "" : "invalid resource version: ", l->rv_text, l->rv_text);
	l->rv = (int64_t)n;
	return 0;
}

int options_list(struct request *r, struct list_options *ret, struct error *err)
{
	*ret = (struct list_options){.limit = 0};
	bool watch = cstr_eq(r->verb, "watch");
	ret->continue_token = request_query(r, "continue");
	if (ret->continue_token && !*ret->continue_token)
		ret->continue_token = NULL;
	ret->rv_text = request_query(r, "resourceVersion");
	ret->rv_stated = ret->rv_text && *ret->rv_text;
	ret->bookmarks = is_true(request_query(r, "allowWatchBookmarks"));
	if (number_value(r, "limit", &ret->limit, err) < 0 ||
	    number_value(r, "timeoutSeconds", &ret->timeout_s, err) < 0 ||
	    initial_events_value(r, ret, watch, err) < 0 || match_value(r, ret, err) < 0)
		return -err->code;
	if (ret->limit < 0)
		ret->limit = 0;
	if (ret->continue_token && ret->rv_stated && !cstr_eq(ret->rv_text, "0"))
		return fail_code(r, E_BADREQUEST, err,
				 "specifying resource version is not allowed when using continue");
	if (rv_value(r, ret, watch, err) < 0)
		return -err->code;
	/* Any state will do: the real server answers from its cache, whole (golden G108). */
	if (ret->rv_stated && ret->rv == 0 && ret->match == MATCH_NONE)
		ret->limit = 0;
	return selectors_value(r, ret, err);
}

/* The digits of "1.5h", with one point at most; false: none. */
static bool skip_number(struct str s, size_t *at)
{
	size_t digits = 0, points = 0;
	for (; *at < s.len && (char_is_digit(s.ptr[*at]) || s.ptr[*at] == '.'); (*at)++) {
		if (s.ptr[*at] == '.' && points++ > 0)
			break;
		digits += s.ptr[*at] != '.';
	}
	return digits > 0;
}

/* As Go's time.ParseDuration says it, of the first pair of number and unit that is none. */
static const char *duration_fault(struct request *r, const char *text)
{
	static const char *const units[] = {"ns", "us", "µs", "μs", "ms", "s", "m", "h", NULL};
	struct str s = str_of(text);
	size_t i = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+') ? 1 : 0;
	while (i < s.len) {
		if (!skip_number(s, &i))
			break;
		size_t unit = i;
		while (i < s.len && s.ptr[i] != '.' && !char_is_digit(s.ptr[i]))
			i++;
		const char *name = arena_strndup(r->arena, s.ptr + unit, i - unit);
		if (!*name)
			return arena_fmt(r->arena, "time: missing unit in duration \"%s\"", text);
		if (!cstr_in(name, units))
			return arena_fmt(r->arena, "time: unknown unit \"%s\" in duration \"%s\"",
					 name, text);
	}
	return arena_fmt(r->arena, "time: invalid duration \"%s\"", text);
}

int options_timeout(struct request *r, struct error *err)
{
	const char *text = request_query(r, "timeout");
	struct error inner = ERROR_INIT;
	struct str s = str_of(text ? text : "");
	bool negative = str_has_prefix(s, STR("-"));
	int64_t ns = 0;
	if (!s.len || cstr_eq(r->verb, "watch"))
		return 0;
	/* days are no unit there; below zero is none at all */
	bool bad = str_find_char(s, 'd') >= 0 ||
		   duration_parse(negative ? str_skip(s, 1) : s, &ns, &inner) < 0;
	if (bad)
		return fail_code(r, E_BADREQUEST, err,
				 "invalid timeout specified in the request URL - %s",
				 duration_fault(r, text));
	r->timeout_ns = negative ? 0 : ns;
	return 0;
}
