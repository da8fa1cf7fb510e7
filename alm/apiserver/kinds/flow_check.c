/* flow_check: see flow_check.h. */
#include "alm/apiserver/kinds/flow_check.h"

#include <math.h>
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"

#define PRECEDENCE_MAX 10000
#define QUEUES_MAX     10000000
#define HASH_BITS      60 /* that a hand of queues may take */
#define EXEMPT         "exempt"

/* A number with what is wrong with it; one that is missing is 0. */
static void refuse(struct field_errors *e, const char *path, int64_t n, const char *why)
{
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: %lld: %s", (long long)n, why);
}

static bool has_text(const struct obj *list, const char *text)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), text))
			return true;
	return false;
}

/* --- who --- */

static void check_account(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *name = check_text(o, "name"), *ns = check_text(o, "namespace");
	if (!*name)
		check_required(e, check_below(e, path, "name"), NULL);
	else if (strcmp(name, "*") != 0)
		check_name_rule(e, check_below(e, path, "name"), NAME_DNS_SUBDOMAIN, name);
	if (!*ns)
		check_required(e, check_below(e, path, "namespace"),
			       "must specify namespace for service account");
	check_name_rule(e, check_below(e, path, "namespace"), NAME_DNS_LABEL, ns);
}

static void check_subject(struct field_errors *e, const char *path, const struct obj *s)
{
	static const char *const kinds[] = {"Group", "ServiceAccount", "User", NULL};
	static const char *const fields[] = {"serviceAccount", "user", "group"};
	static const char *const of[] = {"ServiceAccount", "User", "Group"};
	const char *kind = check_text(s, "kind");
	field_errors_one_of(e, check_below(e, path, "kind"), kind, kinds);
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		const struct obj *o = obj_get(s, fields[i]);
		const char *at = check_below(e, path, fields[i]);
		if (strcmp(kind, of[i]) != 0)
			continue;
		if (!o)
			check_required(e, at,
				       arena_fmt(e->arena,
						 "%s is required when subject kind is '%s'",
						 fields[i], of[i]));
		else if (i == 0)
			check_account(e, at, o);
		else if (check_is_empty(o, "name"))
			check_required(e, check_below(e, at, "name"), NULL);
	}
	for (size_t i = 0; cstr_in(kind, kinds) && i < ARRAY_LEN(of); i++)
		if (strcmp(kind, of[i]) != 0 && obj_get(s, fields[i]))
			check_forbidden(e, check_below(e, path, fields[i]),
					arena_fmt(e->arena,
						  "%s is forbidden when subject kind is not '%s'",
						  fields[i], of[i]));
}

/* --- what --- */

/* A list that must not be empty, where "*" stands alone. false: it needs no closer look. */
static bool check_list(struct field_errors *e, const char *path, const struct obj *rule,
		       const char *field, const char *missing, const char *others)
{
	const struct obj *list = obj_get(rule, field);
	const char *at = check_below(e, path, field);
	bool any = has_text(list, "*");
	if (!obj_len(list))
		check_required(e, at, missing);
	else if (any && obj_len(list) > 1)
		check_invalid(e, at, list,
			      arena_fmt(e->arena, "if '*' is present, must not specify other %s",
					others));
	return obj_len(list) && !any;
}

static void check_verbs(struct field_errors *e, const char *path, const struct obj *rule)
{
	static const char *const verbs[] = {"create", "delete", "deletecollection", "get",   "list",
					    "patch",  "proxy",  "update",           "watch", NULL};
	const struct obj *list = obj_get(rule, "verbs");
	bool known = true;
	if (!check_list(e, path, rule, "verbs", "verbs must contain at least one value", "verbs"))
		return;
	for (size_t i = 0; i < obj_len(list); i++)
		known &= cstr_in(obj_as_string(obj_at(list, i)), verbs);
	if (known)
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL * 16);
	strbuf_adds(&b, "Unsupported value: ");
	json_print(list, &b);
	strbuf_adds(&b, ": supported values: ");
	for (size_t i = 0; verbs[i]; i++)
		strbuf_addf(&b, "%s\"%s\"", i ? ", " : "", verbs[i]);
	field_errors_add(e, FIELD_NOT_SUPPORTED, check_below(e, path, "verbs"), "%s", b.buf);
}

static void check_url(struct field_errors *e, const char *path, const char *s)
{
	const char *star = strchr(s, '*');
	const char *why = NULL;
	if (!*s)
		why = "must not be empty";
	else if (*s != '/')
		why = "must start with slash";
	else if (strchr(s, ' '))
		why = "must not contain white-space";
	else if (strstr(s, "//"))
		why = "must not contain double slash";
	else if (star && (star[1] || star[-1] != '/'))
		why = "wildcard can only do suffix matching";
	if (why)
		check_invalid_text(e, path, s, why);
}

static void check_url_rule(struct field_errors *e, const char *path, const struct obj *rule)
{
	const struct obj *list = obj_get(rule, "nonResourceURLs");
	const char *at = check_below(e, path, "nonResourceURLs");
	check_verbs(e, path, rule);
	if (!check_list(e, path, rule, "nonResourceURLs",
			"nonResourceURLs must contain at least one value", "non-resource URLs"))
		return;
	for (size_t i = 0; i < obj_len(list); i++)
		check_url(e, check_at(e, at, i), obj_as_string(obj_at(list, i)));
}

static void check_resource_rule(struct field_errors *e, const char *path, const struct obj *rule)
{
	static const char spaces[] = "resource rules that are not cluster scoped must supply at "
				     "least one namespace";
	const struct obj *list = obj_get(rule, "namespaces");
	check_verbs(e, path, rule);
	check_list(e, path, rule, "apiGroups", "resource rules must supply at least one api group",
		   "api groups");
	check_list(e, path, rule, "resources", "resource rules must supply at least one resource",
		   "resources");
	if (!obj_len(list) && obj_flag(rule, "clusterScope", false))
		return;
	if (!check_list(e, path, rule, "namespaces", spaces, "namespaces"))
		return;
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *ns = obj_as_string(obj_at(list, i));
		const char *fault = name_fault(NAME_DNS_LABEL, str_of(ns));
		if (fault)
			check_invalid_text(e, check_at(e, check_below(e, path, "namespaces"), i),
					   ns,
					   arena_fmt(e->arena,
						     "each member of this list must be '*' or a "
						     "DNS-1123 label; %s",
						     fault));
	}
}

static void check_rule(struct field_errors *e, const char *path, const struct obj *rule)
{
	const struct obj *subjects = obj_get(rule, "subjects");
	const struct obj *resources = obj_get(rule, "resourceRules");
	const struct obj *urls = obj_get(rule, "nonResourceRules");
	if (!obj_len(subjects))
		check_required(e, check_below(e, path, "subjects"),
			       "subjects must contain at least one value");
	for (size_t i = 0; i < obj_len(subjects); i++)
		check_subject(e, check_at(e, check_below(e, path, "subjects"), i),
			      obj_at(subjects, i));
	if (!obj_len(resources) && !obj_len(urls))
		check_required(e, path,
			       "at least one of resourceRules and nonResourceRules has to be "
			       "non-empty");
	for (size_t i = 0; i < obj_len(resources); i++)
		check_resource_rule(e, check_at(e, check_below(e, path, "resourceRules"), i),
				    obj_at(resources, i));
	for (size_t i = 0; i < obj_len(urls); i++)
		check_url_rule(e, check_at(e, check_below(e, path, "nonResourceRules"), i),
			       obj_at(urls, i));
}

/* --- conditions of both --- */

static void check_conditions(struct field_errors *e, const struct obj *o)
{
	const struct obj *list = obj_path(o, "status.conditions");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *type = check_text(obj_at(list, i), "type");
		const char *at = check_below(e, check_at(e, "status.conditions", i), "type");
		if (!*type)
			check_required(e, at, NULL);
	}
}

void check_flow_schema(struct field_errors *e, const struct obj *o)
{
	static const char *const methods[] = {"ByNamespace", "ByUser", NULL};
	static const char precedence[] = "spec.matchingPrecedence";
	static const char level[] = "spec.priorityLevelConfiguration.name";
	const struct obj *rules = obj_path(o, "spec.rules");
	const struct obj *method = obj_path(o, "spec.distinguisherMethod");
	int64_t n = obj_i64(o, precedence, 0);
	if (n <= 0)
		refuse(e, precedence, n, "must be a positive value");
	if (n > PRECEDENCE_MAX)
		refuse(e, precedence, n, "must not be greater than 10000");
	if (n == 1 && !cstr_eq(obj_str(o, "metadata.name"), EXEMPT))
		refuse(e, precedence, n,
		       "only the schema named 'exempt' may have matchingPrecedence 1");
	if (method && !cstr_in(check_text(method, "type"), methods))
		field_errors_add(e, FIELD_NOT_SUPPORTED, "spec.distinguisherMethod.type",
				 "Unsupported value: {\"Type\":\"%s\"}: supported values: "
				 "\"ByNamespace\", \"ByUser\"",
				 check_text(method, "type"));
	if (!*check_text(o, level))
		check_required(e, level, "must reference a priority level");
	check_name_rule(e, level, NAME_DNS_SUBDOMAIN, check_text(o, level));
	for (size_t i = 0; i < obj_len(rules); i++)
		check_rule(e, check_at(e, "spec.rules", i), obj_at(rules, i));
	check_conditions(e, o);
}

/* --- levels --- */

static void check_shares(struct field_errors *e, const char *path, const struct obj *o)
{
	int64_t shares = obj_i64(o, "nominalConcurrencyShares", 0);
	if (shares < 0)
		refuse(e, check_below(e, path, "nominalConcurrencyShares"), shares,
		       "must be a non-negative integer");
}

static void check_lending(struct field_errors *e, const char *path, const struct obj *o)
{
	int64_t lendable = obj_i64(o, "lendablePercent", 0);
	if (lendable < 0 || lendable > 100)
		refuse(e, check_below(e, path, "lendablePercent"), lendable,
		       "must be between 0 and 100, inclusive");
}

static void check_queuing(struct field_errors *e, const char *path, const struct obj *q)
{
	int64_t length = obj_i64(q, "queueLengthLimit", 0), queues = obj_i64(q, "queues", 0),
		hand = obj_i64(q, "handSize", 0);
	const char *at = check_below(e, path, "handSize");
	if (length <= 0)
		refuse(e, check_below(e, path, "queueLengthLimit"), length, "must be positive");
	if (queues <= 0)
		refuse(e, check_below(e, path, "queues"), queues, "must be positive");
	else if (queues > QUEUES_MAX)
		refuse(e, check_below(e, path, "queues"), queues,
		       "must not be greater than 10000000");
	if (hand <= 0)
		refuse(e, at, hand, "must be positive");
	else if (hand > queues)
		refuse(e, at, hand,
		       arena_fmt(e->arena, "should not be greater than queues (%lld)",
				 (long long)queues));
	else if (ceil(log2((double)queues) * (double)hand) > HASH_BITS)
		refuse(e, at, hand,
		       arena_fmt(e->arena,
				 "required entropy bits of deckSize %lld and handSize %lld should "
				 "not be greater than 60",
				 (long long)queues, (long long)hand));
}

static void check_response(struct field_errors *e, const char *path, const struct obj *r)
{
	static const char *const types[] = {"Queue", "Reject", NULL};
	const char *type = check_text(r, "type"), *at = check_below(e, path, "queuing");
	const struct obj *queuing = obj_get(r, "queuing");
	if (!*type)
		check_required(e, check_below(e, path, "type"), NULL);
	else
		field_errors_one_of(e, check_below(e, path, "type"), type, types);
	if (strcmp(type, "Reject") == 0 && queuing)
		check_forbidden(e, at, "must be nil if limited.limitResponse.type is not Limited");
	if (strcmp(type, "Queue") != 0)
		return;
	if (queuing)
		check_queuing(e, at, queuing);
	else
		check_required(e, at, "must not be empty if limited.limitResponse.type is Limited");
}

static void check_limited(struct field_errors *e, const struct obj *l)
{
	static const char path[] = "spec.limited";
	int64_t borrowing = obj_i64(l, "borrowingLimitPercent", 0);
	check_shares(e, path, l);
	check_response(e, check_below(e, path, "limitResponse"), obj_get(l, "limitResponse"));
	check_lending(e, path, l);
	if (borrowing < 0)
		refuse(e, check_below(e, path, "borrowingLimitPercent"), borrowing,
		       "if specified, must be a non-negative integer");
}

void check_priority_level(struct field_errors *e, const struct obj *o)
{
	static const char *const types[] = {"Exempt", "Limited", NULL};
	const char *type = check_text(o, "spec.type");
	const struct obj *limited = obj_path(o, "spec.limited"),
			 *exempt = obj_path(o, "spec.exempt");
	bool is_exempt = strcmp(type, "Exempt") == 0, is_limited = strcmp(type, "Limited") == 0;
	if (cstr_eq(obj_str(o, "metadata.name"), EXEMPT) != is_exempt)
		check_invalid_text(e, "spec.type", type,
				   "must be 'Exempt' if and only if `name` is 'exempt'");
	if (!*type)
		check_required(e, "spec.type", NULL);
	else
		field_errors_one_of(e, "spec.type", type, types);
	if (is_exempt && limited)
		check_forbidden(e, "spec.limited", "must be nil if the type is not Limited");
	if (is_exempt && exempt) {
		check_shares(e, "spec.exempt", exempt);
		check_lending(e, "spec.exempt", exempt);
	}
	if (is_limited && exempt)
		check_forbidden(e, "spec.exempt", "must be nil if the type is Limited");
	if (is_limited && limited)
		check_limited(e, limited);
	else if (is_limited)
		check_required(e, "spec.limited", "must not be empty when type is Limited");
	check_conditions(e, o);
}
