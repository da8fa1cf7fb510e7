/* match: see match.h. */
#include "alm/apiserver/admission/match.h"

#include <string.h>

#include "alm/obj/query/selector.h"

/* Is the text, or "*", in the list? */
static bool has(const struct obj *list, const char *text)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *s = obj_as_string(obj_at(list, i));
		if (s && (strcmp(s, "*") == 0 || strcmp(s, text) == 0))
			return true;
	}
	return false;
}

static bool part_is(struct str part, const char *text)
{
	return str_is(part, "*") || str_is(part, text);
}

/* pods, pods/log, all of pods, scale of all, all without subresources, all: each side of the slash
 * may be an asterisk. */
static bool has_resource(const struct obj *list, const struct admission *w)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		struct str resource, sub;
		bool cut = str_cut(obj_as_str(obj_at(list, i)), '/', &resource, &sub);
		if (part_is(resource, w->resource) &&
		    (cut ? part_is(sub, w->subresource) : *w->subresource == '\0'))
			return true;
	}
	return false;
}

static bool has_name(const struct obj *names, const struct admission *w)
{
	for (size_t i = 0; i < obj_len(names); i++)
		if (cstr_eq(obj_as_string(obj_at(names, i)), w->name))
			return true;
	return obj_len(names) == 0;
}

static bool is_namespace(const struct admission *w)
{
	return *w->group == '\0' && strcmp(w->resource, "namespaces") == 0;
}

static bool fits_scope(const char *scope, const struct admission *w)
{
	bool namespaced = *w->ns && !is_namespace(w);
	if (!scope || strcmp(scope, "*") == 0)
		return true;
	return strcmp(scope, "Namespaced") == 0 ? namespaced : !namespaced;
}

static bool fits_rule(const struct obj *rule, const struct admission *w, const char *version)
{
	return has(obj_get(rule, "operations"), w->operation) &&
	       has(obj_get(rule, "apiGroups"), w->group) &&
	       has(obj_get(rule, "apiVersions"), version) &&
	       has_resource(obj_get(rule, "resources"), w) &&
	       fits_scope(obj_str(rule, "scope"), w) && has_name(obj_get(rule, "resourceNames"), w);
}

/* The version that the rule is about: the request's own goes first. */
static const char *rule_version(const struct obj *rule, bool equivalent, const struct admission *w)
{
	const struct obj *versions = obj_get(rule, "apiVersions");
	if (fits_rule(rule, w, w->version))
		return w->version;
	for (size_t i = 0; equivalent && i < obj_len(versions); i++) {
		const char *v = obj_as_string(obj_at(versions, i));
		if (v && strcmp(v, w->version) != 0 && w->serves(w->arg, v) &&
		    fits_rule(rule, w, v))
			return v;
	}
	return NULL;
}

static const char *fits(const struct obj *rules, bool equivalent, const struct admission *w)
{
	const char *other = NULL;
	for (size_t i = 0; i < obj_len(rules); i++) {
		const char *v = rule_version(obj_at(rules, i), equivalent, w);
		if (v == w->version)
			return v;
		other = other ? other : v;
	}
	return other;
}

/* A selector that is none selects nothing; the check of its object refuses it. */
static bool selects(const struct selector *s, const struct obj *o)
{
	return selector_matches(s, obj_path(o, "metadata.labels"));
}

static bool selects_object(const struct obj *selector, const struct admission *w)
{
	CLEANUP(selector_freep) struct selector *s = NULL;
	struct error ignored;
	if (!selector)
		return true;
	if (selector_from_obj(selector, &s, &ignored) < 0)
		return false;
	return selector_is_empty(s) || (w->object && selects(s, w->object)) ||
	       (w->old && selects(s, w->old));
}

static bool selects_namespace(const struct obj *selector, const struct admission *w)
{
	CLEANUP(selector_freep) struct selector *s = NULL;
	struct error ignored;
	if (!selector)
		return true;
	if (selector_from_obj(selector, &s, &ignored) < 0)
		return false;
	if (selector_is_empty(s) || (*w->ns == '\0' && !is_namespace(w)))
		return true;
	return selects(s, w->space);
}

const char *admission_match(const struct obj *match, bool any_resource, const struct admission *w)
{
	const struct obj *rules = obj_get(match, "resourceRules");
	bool equivalent = !cstr_eq(obj_str(match, "matchPolicy"), "Exact");
	const char *version =
		any_resource && obj_len(rules) == 0 ? w->version : fits(rules, equivalent, w);
	/* Selectors are read anew for each write: most end at their rules. */
	if (!version || fits(obj_get(match, "excludeResourceRules"), equivalent, w) ||
	    !selects_namespace(obj_get(match, "namespaceSelector"), w) ||
	    !selects_object(obj_get(match, "objectSelector"), w))
		return NULL;
	return version;
}
