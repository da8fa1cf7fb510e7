/* hook_check: see hook_check.h. */
#include "alm/apiserver/admission/hook_check.h"

#include <string.h>

#include "alm/apiserver/admission/policy_check.h"
#include "alm/apiserver/admission/policy_expr.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"

#define CHECK_BYTES_MAX ((size_t)32 << 20)
#define URL_FORM        "; desired format: https://host[/path]"

static void invalid(struct field_errors *e, const char *path, struct str value, const char *why)
{
	check_invalid_text(e, path, arena_text(e->arena, value.ptr, value.len), why);
}

/* --- defaults --- */

static void set_text(struct obj *o, const char *key, const char *value)
{
	if (!obj_is_set(obj_get(o, key)))
		obj_set_str(o, key, value);
}

static void set_map(struct obj *o, const char *key)
{
	if (!obj_is_set(obj_get(o, key)))
		obj_set(o, key, obj_map());
}

static void default_hook(struct obj *o, bool mutating)
{
	struct obj *rules = obj_get_mut(o, "rules");
	struct obj *client = obj_get_mut(o, "clientConfig");
	struct obj *service = obj_type(client) == OBJ_MAP ? obj_get_mut(client, "service") : NULL;
	set_text(o, "failurePolicy", "Fail");
	set_text(o, "matchPolicy", "Equivalent");
	set_map(o, "namespaceSelector");
	set_map(o, "objectSelector");
	if (!obj_is_set(obj_get(o, "timeoutSeconds")))
		obj_set_int(o, "timeoutSeconds", 10);
	if (mutating)
		set_text(o, "reinvocationPolicy", "Never");
	if (obj_type(service) == OBJ_MAP && !obj_is_set(obj_get(service, "port")))
		obj_set_int(service, "port", 443);
	for (size_t i = 0; i < obj_len(rules); i++)
		if (obj_type(obj_at(rules, i)) == OBJ_MAP)
			set_text(obj_at_mut(rules, i), "scope", "*");
}

void hook_default(struct obj *configuration, bool mutating)
{
	struct obj *list = obj_get_mut(configuration, "webhooks");
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_type(obj_at(list, i)) == OBJ_MAP)
			default_hook(obj_at_mut(list, i), mutating);
}

/* --- where it is --- */

/* As Go's url.Parse() takes it apart, as far as it is looked at. */
struct url {
	struct str scheme, user, host, query, fragment;
	bool has_user;
	const char *fault; /* or why it does not */
};

/* Takes a scheme from the front of *rest. Of "1:" there is none, of ":" it is missing. */
static bool take_scheme(struct str *rest, struct str *ret)
{
	struct str head, tail;
	if (!str_cut(*rest, ':', &head, &tail))
		return true;
	for (size_t i = 0; i < head.len; i++)
		if (!char_is_alpha(head.ptr[i]) &&
		    (i == 0 || (!char_is_digit(head.ptr[i]) && !strchr("+-.", head.ptr[i]))))
			return true;
	*ret = head;
	*rest = tail;
	return head.len > 0;
}

static const char *escape_fault(struct str path, struct arena *a)
{
	for (size_t i = 0; i < path.len; i++)
		if (path.ptr[i] == '%' && (i + 2 >= path.len || !char_is_hex(path.ptr[i + 1]) ||
					   !char_is_hex(path.ptr[i + 2])))
			return arena_fmt(a, "invalid URL escape \"%.*s\"",
					 STR_ARG(str_clip(str_skip(path, i), 3)));
	return NULL;
}

static void take_authority(struct str rest, struct url *u, struct arena *a)
{
	struct str path, head, tail;
	(void)str_cut(rest, '/', &u->host, &path);
	if (str_cut(u->host, '@', &head, &tail)) {
		u->has_user = true;
		u->user = head;
		u->host = tail;
	}
	if (str_has_prefix(u->host, STR("[")) && str_find_char(u->host, ']') < 0)
		u->fault = "missing ']' in host";
	else
		u->fault = escape_fault(path, a);
}

static void take_url(struct str rest, struct url *u, struct arena *a)
{
	struct str head, tail;
	for (size_t i = 0; i < rest.len; i++)
		if ((unsigned char)rest.ptr[i] < ' ' || rest.ptr[i] == 0x7f) {
			u->fault = "net/url: invalid control character in URL";
			return;
		}
	if (!take_scheme(&rest, &u->scheme)) {
		u->fault = "missing protocol scheme";
		return;
	}
	if (str_cut(rest, '?', &head, &u->query))
		rest = head;
	if (str_has_prefix(rest, STR("//")))
		take_authority(str_skip(rest, 2), u, a);
	else if (u->scheme.len && !str_has_prefix(rest, STR("/")))
		return; /* opaque */
	else if (str_cut(rest, ':', &head, &tail) && str_find_char(head, '/') < 0)
		u->fault = "first path segment in URL cannot contain colon";
	else
		u->fault = escape_fault(rest, a);
}

static void check_url(const char *text, const char *path, struct field_errors *e)
{
	struct url u = {STR(""), STR(""), STR(""), STR(""), STR(""), false, NULL};
	struct str rest = str_of(text), head;
	if (str_cut(rest, '#', &head, &u.fragment))
		rest = head;
	take_url(rest, &u, e->arena);
	if (u.fault) {
		const char *shown = check_quoted(e, arena_text(e->arena, rest.ptr, rest.len));
		check_required(e, path,
			       arena_fmt(e->arena, "url must be a valid URL: parse %s: %s" URL_FORM,
					 shown, u.fault));
		return;
	}
	if (!str_is(u.scheme, "https"))
		invalid(e, path, u.scheme, "'https' is the only allowed URL scheme" URL_FORM);
	if (!u.host.len)
		invalid(e, path, u.host, "host must be specified" URL_FORM);
	if (u.has_user)
		invalid(e, path, u.user, "user information is not permitted in the URL");
	if (u.fragment.len)
		invalid(e, path, u.fragment, "fragments are not permitted in the URL");
	if (u.query.len)
		invalid(e, path, u.query, "query parameters are not permitted in the URL");
}

static void check_service_path(const char *value, const char *path, struct field_errors *e)
{
	struct str whole = str_of(value), rest = whole, step;
	if (!*value || strcmp(value, "/") == 0)
		return;
	if (strcmp(value, "//") == 0) {
		invalid(e, path, whole, "segment[0] may not be empty");
		return;
	}
	if (*value != '/')
		invalid(e, path, whole, "must start with a '/'");
	rest = str_sub(rest, 1, rest.len);
	if (rest.len && rest.ptr[rest.len - 1] == '/')
		rest.len--;
	for (size_t i = 0; str_next(&rest, '/', &step); i++) {
		const char *fault = step.len ? name_fault(NAME_DNS_SUBDOMAIN, step) : NULL;
		if (!step.len)
			invalid(e, path, whole,
				arena_fmt(e->arena, "segment[%zu] may not be empty", i));
		else if (fault)
			invalid(e, path, whole, arena_fmt(e->arena, "segment[%zu]: %s", i, fault));
	}
}

/* There the two names are mixed up: whose name is missing is told that its namespace is. */
static void check_service(const struct obj *o, const char *path, struct field_errors *e)
{
	int64_t port = obj_i64(o, "port", 443);
	if (!*check_text(o, "namespace"))
		check_required(e, check_below(e, path, "name"), NULL);
	if (!*check_text(o, "name"))
		check_required(e, check_below(e, path, "namespace"), NULL);
	if (port < 1 || port > 65535)
		field_errors_add(e, FIELD_INVALID, check_below(e, path, "port"),
				 "Invalid value: %lld: port is not valid: must be between 1 and "
				 "65535, inclusive",
				 (long long)port);
	check_service_path(check_text(o, "path"), check_below(e, path, "path"), e);
}

void hook_check_client(const struct obj *o, const char *path, struct field_errors *e)
{
	bool has_url = obj_is_set(obj_get(o, "url")),
	     has_service = obj_is_set(obj_get(o, "service"));
	if (has_url == has_service)
		check_required(e, path, "exactly one of url or service is required");
	else if (has_url)
		check_url(check_text(o, "url"), check_below(e, path, "url"), e);
	else
		check_service(obj_get(o, "service"), check_below(e, path, "service"), e);
}

/* --- the rest --- */

static void check_name(const char *name, const char *path, struct field_errors *e)
{
	size_t dots = 0;
	const char *fault = name_fault(NAME_DNS_SUBDOMAIN, str_of(name));
	for (const char *p = name; *p; p++)
		dots += *p == '.';
	if (!*name)
		check_required(e, path, NULL);
	else if (fault)
		invalid(e, path, str_of(name), fault);
	else if (dots < 2)
		invalid(e, path, str_of(name),
			"should be a domain with at least three segments separated by dots");
}

void hook_check_versions(const struct obj *list, const char *path, struct field_errors *e)
{
	static const char *const known[] = {"v1", "v1beta1", NULL};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	bool any = false;
	if (!obj_len(list))
		check_required(e, path, "must specify one of v1, v1beta1");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *v = obj_as_string(obj_at(list, i));
		const char *at = arena_fmt(e->arena, "%s[%zu]", path, i);
		const char *fault = name_fault(NAME_DNS1035_LABEL, str_of(v ? v : ""));
		any |= v && cstr_in(v, known);
		if (check_again(seen, v ? v : ""))
			invalid(e, at, str_of(v ? v : ""), "duplicate version");
		if (fault)
			invalid(e, at, str_of(v ? v : ""), fault);
	}
	if (obj_len(list) && !any)
		check_invalid(e, path, list, "must include at least one of v1, v1beta1");
}

static void check_word(const struct obj *o, const char *key, const char *path,
		       const char *const *words, struct field_errors *e)
{
	if (obj_is_set(obj_get(o, key)))
		field_errors_one_of(e, check_below(e, path, key), check_text(o, key), words);
}

static void check_hook(const struct obj *o, bool mutating, const char *path,
		       const struct policy_scope *scope, struct field_errors *e)
{
	static const char *const failures[] = {"Fail", "Ignore", NULL};
	static const char *const matches[] = {"Equivalent", "Exact", NULL};
	static const char *const effects[] = {"None", "NoneOnDryRun", NULL};
	static const char *const again[] = {"IfNeeded", "Never", NULL};
	const struct obj *rules = obj_get(o, "rules");
	int64_t timeout = obj_i64(o, "timeoutSeconds", 10);
	check_name(check_text(o, "name"), check_below(e, path, "name"), e);
	for (size_t i = 0; i < obj_len(rules) && !field_errors_full(e); i++)
		match_check_rule(obj_at(rules, i), arena_fmt(e->arena, "%s.rules[%zu]", path, i),
				 e);
	check_word(o, "failurePolicy", path, failures, e);
	check_word(o, "matchPolicy", path, matches, e);
	if (obj_is_set(obj_get(o, "sideEffects")))
		check_word(o, "sideEffects", path, effects, e);
	else
		check_required(e, check_below(e, path, "sideEffects"),
			       "must specify one of None, NoneOnDryRun");
	if (timeout < 1 || timeout > 30)
		field_errors_add(e, FIELD_INVALID, check_below(e, path, "timeoutSeconds"),
				 "Invalid value: %lld: the timeout value must be between 1 and 30 "
				 "seconds",
				 (long long)timeout);
	check_label_selector(e, check_below(e, path, "namespaceSelector"),
			     obj_get(o, "namespaceSelector"));
	check_label_selector(e, check_below(e, path, "objectSelector"),
			     obj_get(o, "objectSelector"));
	if (mutating)
		check_word(o, "reinvocationPolicy", path, again, e);
	hook_check_client(obj_get(o, "clientConfig"), check_below(e, path, "clientConfig"), e);
	conditions_check(obj_get(o, "matchConditions"), check_below(e, path, "matchConditions"),
			 scope, e);
}

void hook_check(const struct obj *configuration, bool mutating, struct field_errors *e)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(CHECK_BYTES_MAX);
	struct policy_scope *scope = ARENA_NEW(a, struct policy_scope);
	const struct obj *list = obj_get(configuration, "webhooks");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	policy_scope_init(scope, NULL, a);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *path = arena_fmt(e->arena, "webhooks[%zu]", i);
		const char *name = check_text(obj_at(list, i), "name");
		check_hook(obj_at(list, i), mutating, path, scope, e);
		hook_check_versions(obj_get(obj_at(list, i), "admissionReviewVersions"),
				    check_below(e, path, "admissionReviewVersions"), e);
		if (*name && check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, path, "name"),
					      name);
	}
}
