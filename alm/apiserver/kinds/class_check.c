/* class_check: see class_check.h. */
#include "alm/apiserver/kinds/class_check.h"

#include <string.h>

#include "alm/apiserver/kinds/pod_check.h"
#include "alm/base/strbuf.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"

#define SHOWN_MAX ((size_t)64 << 10)

static void invalid(struct field_errors *e, const char *path, const struct obj *v, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	if (v)
		json_print_canonical(v, &b);
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s", v ? b.buf : "null", why);
}

static void invalid_text(struct field_errors *e, const char *path, const char *text,
			 const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	json_quote(str_of(text), &b);
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s", b.buf, why);
}

static const char *text(const struct obj *o, const char *path)
{
	const char *s = obj_str(o, path);
	return s ? s : "";
}

/* A text that is missing is shown empty, as Go has it. One that was missing before had its default, and
 * may get it now. */
static void keep_text(struct field_errors *e, const char *path, const struct obj *o,
		      const struct obj *before)
{
	if (*text(before, path) && strcmp(text(o, path), text(before, path)) != 0)
		invalid_text(e, path, text(o, path), "field is immutable");
}

static void keep(struct field_errors *e, const char *path, const struct obj *o,
		 const struct obj *before)
{
	const struct obj *is = obj_path(o, path), *was = obj_path(before, path);
	if (!is != !was || (is && !obj_equal(is, was)))
		invalid(e, path, is, "field is immutable");
}

/* --- ingresses --- */

static bool is_domain_path(const char *s)
{
	struct str domain, path;
	return str_cut(str_of(s), '/', &domain, &path) && name_is_dns_subdomain(domain) &&
	       path.len > 0;
}

static void check_segment(struct field_errors *e, const char *path, const char *s)
{
	if (strchr(s, '/'))
		invalid_text(e, path, s, "may not contain '/'");
	if (strchr(s, '%'))
		invalid_text(e, path, s, "may not contain '%'");
}

static void check_parameters(struct field_errors *e, const struct obj *o)
{
	static const char *const scopes[] = {"Cluster", "Namespace", NULL};
	const struct obj *p = obj_path(o, "spec.parameters");
	const char *group = text(p, "apiGroup"), *scope = text(p, "scope");
	const char *fault = *group ? name_fault(NAME_DNS_SUBDOMAIN, str_of(group)) : NULL;
	if (!p)
		return;
	if (fault)
		invalid_text(e, "spec.parameters.apiGroup", group, fault);
	if (*text(p, "kind"))
		check_segment(e, "spec.parameters.kind", text(p, "kind"));
	else
		check_required(e, "spec.parameters.kind", "kind is required");
	if (*text(p, "name"))
		check_segment(e, "spec.parameters.name", text(p, "name"));
	else
		check_required(e, "spec.parameters.name", "name is required");
	field_errors_one_of(e, "spec.parameters.scope", scope, scopes);
	if (strcmp(scope, "Cluster") == 0 && obj_has(p, "namespace"))
		field_errors_add(e, FIELD_FORBIDDEN, "spec.parameters.namespace",
				 "Forbidden: `parameters.scope` is set to 'Cluster'");
}

void check_ingress_class(struct field_errors *e, const struct obj *o)
{
	const char *controller = text(o, "spec.controller");
	if (!*controller)
		check_required(e, "spec.controller", NULL);
	else if (!is_domain_path(controller))
		invalid_text(e, "spec.controller", controller,
			     "must be a domain-prefixed path (such as \"acme.io/foo\")");
	check_parameters(e, o);
}

void ingress_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	keep_text(e, "spec.controller", o, before);
}

/* --- storage --- */

void check_storage_class(struct field_errors *e, const struct obj *o)
{
	static const char *const reclaims[] = {"Delete", "Retain", NULL};
	static const char *const binds[] = {"Immediate", "WaitForFirstConsumer", NULL};
	const char *provisioner = text(o, "provisioner");
	char *lower = arena_strdup(e->arena, provisioner);
	for (char *p = lower; *p; p++)
		*p = char_lower(*p);
	const char *fault = *lower ? name_fault(NAME_QUALIFIED, str_of(lower)) : NULL;
	if (!*provisioner)
		check_required(e, "provisioner", NULL);
	if (fault)
		invalid_text(e, "provisioner", provisioner, fault);
	OBJ_EACH (it, obj_get(o, "parameters"))
		if (!*it.key)
			field_errors_add(e, FIELD_INVALID, "parameters",
					 "Invalid value: \"\": field can not be empty.");
	field_errors_one_of(e, "reclaimPolicy", text(o, "reclaimPolicy"), reclaims);
	field_errors_one_of(e, "volumeBindingMode", text(o, "volumeBindingMode"), binds);
}

void storage_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	keep(e, "parameters", o, before);
	keep_text(e, "provisioner", o, before);
	keep_text(e, "reclaimPolicy", o, before);
	keep_text(e, "volumeBindingMode", o, before);
}

/* --- priority, revisions, bindings --- */

void role_ref_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_get(o, "roleRef");
	if (!obj_equal(is, obj_get(before, "roleRef")))
		field_errors_add(
			e, FIELD_INVALID, "roleRef",
			"Invalid value: {\"APIGroup\":\"%s\",\"Kind\":\"%s\",\"Name\":\"%s\"}: "
			"cannot change roleRef",
			text(is, "apiGroup"), text(is, "kind"), text(is, "name"));
}

void check_priority_class(struct field_errors *e, const struct obj *o)
{
	static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
	field_errors_one_of(e, "preemptionPolicy", text(o, "preemptionPolicy"), policies);
}

void priority_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	if (obj_i64(o, "value", 0) != obj_i64(before, "value", 0))
		field_errors_add(e, FIELD_FORBIDDEN, "value",
				 "Forbidden: may not be changed in an update.");
	keep_text(e, "preemptionPolicy", o, before);
}

/* Of an update only its change is told. */
void check_revision(struct field_errors *e, const struct obj *o)
{
	const struct obj *data = obj_get(o, "data");
	if (e->n && cstr_eq(e->items[e->n - 1].path, "data"))
		return;
	if (obj_type(data) <= OBJ_NULL)
		check_required(e, "data", "data is mandatory");
	else if (obj_type(data) != OBJ_MAP)
		check_required(e, "data", "data must be a valid JSON object");
}

void revision_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	keep(e, "data", o, before);
}

/* --- keys --- */

static const char *key_fault(const char *key)
{
	static const char letters[] =
		"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
		"'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
		"'[-._a-zA-Z0-9]+')";
	bool good = *key;
	for (const char *p = key; *p; p++)
		good &= char_is_alnum(*p) || strchr("-._", *p);
	if (strlen(key) > GVK_NAME_MAX)
		return "must be no more than 253 characters";
	if (!good)
		return letters;
	if (strcmp(key, ".") == 0 || strcmp(key, "..") == 0)
		return key[1] ? "must not be '..'" : "must not be '.'";
	return cstr_has_prefix(key, "..") ? "must not start with '..'" : NULL;
}

static void check_keys(struct field_errors *e, const char *field, const struct obj *map)
{
	OBJ_EACH (it, map) {
		const char *fault = key_fault(it.key);
		if (fault)
			invalid_text(e, arena_fmt(e->arena, "%s[%s]", field, it.key), it.key,
				     fault);
	}
}

void check_config_keys(struct field_errors *e, const struct obj *o)
{
	const struct obj *data = obj_get(o, "data"), *binary = obj_get(o, "binaryData");
	check_keys(e, "data", data);
	OBJ_EACH (it, data)
		if (obj_has(binary, it.key))
			invalid_text(e, arena_fmt(e->arena, "data[%s]", it.key), it.key,
				     "duplicate of key present in binaryData");
	check_keys(e, "binaryData", binary);
}
