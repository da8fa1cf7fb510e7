/* status_check: see status_check.h. To add a kind, a row. */
#include "alm/apiserver/kinds/status_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/job_check.h"
#include "alm/apiserver/kinds/node_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/obj/condition.h"
#include "alm/obj/quantity.h"

#define REASON_MAX   1024
#define MESSAGE_MAX  32768
#define NANOS_IN_ONE 1000000000

/* --- conditions --- */

/* A letter, then letters, digits and "_,:", but neither of the last two at the end. */
static bool is_reason(const char *text)
{
	char last = 0;
	if (!char_is_alpha(*text))
		return false;
	for (const char *p = text; *p; p++) {
		if (!char_is_alnum(*p) && !strchr("_,:", *p))
			return false;
		last = *p;
	}
	return last != ',' && last != ':';
}

static void check_reason(struct field_errors *e, const char *path, const char *text)
{
	if (!*text)
		check_required(e, path, NULL);
	else if (!is_reason(text))
		check_invalid_text(
			e, path, text,
			"a condition reason must start with alphabetic character, optionally "
			"followed by a string of alphanumeric characters or '_,:', and must end "
			"with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
			"'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for "
			"validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
	if (strlen(text) > REASON_MAX)
		check_too_long(e, path, REASON_MAX);
}

static void check_one_condition(struct field_errors *e, const char *path, const struct obj *c)
{
	static const char *const all[] = {"False", "True", "Unknown", NULL};
	const struct obj *seen = obj_get(c, "observedGeneration");
	int64_t n = 0;
	check_qualified(e, check_below(e, path, "type"), check_text(c, "type"));
	field_errors_one_of(e, check_below(e, path, "status"), check_text(c, "status"), all);
	if (obj_as_i64(seen, &n) && n < 0)
		check_invalid(e, check_below(e, path, "observedGeneration"), seen,
			      "must be greater than or equal to zero");
	if (check_is_empty(c, "lastTransitionTime"))
		check_required(e, check_below(e, path, "lastTransitionTime"), NULL);
	check_reason(e, check_below(e, path, "reason"), check_text(c, "reason"));
	if (strlen(check_text(c, "message")) > MESSAGE_MAX)
		field_errors_add(e, FIELD_TOO_LONG, check_below(e, path, "message"),
				 "Too long: may not be more than %d bytes", MESSAGE_MAX);
}

void check_conditions(struct field_errors *e, const char *path, const struct obj *list)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *c = obj_at(list, i);
		const char *at = check_at(e, path, i), *type = check_text(c, "type");
		size_t from = e->n;
		if (check_again(seen, type))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "type"), type);
		check_one_condition(e, at, c);
		check_said_since(e, from, c);
	}
}

static void check_all(struct field_errors *e, const struct obj *o)
{
	check_conditions(e, "status.conditions", obj_path(o, "status.conditions"));
}

/* Of conditions of which only the type is looked at. */
static void check_types(struct field_errors *e, const struct obj *o)
{
	static const char path[] = "status.conditions";
	const struct obj *list = obj_path(o, path);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_below(e, check_at(e, path, i), "type");
		const char *type = check_text(obj_at(list, i), "type");
		size_t from = e->n;
		if (check_again(seen, type))
			field_errors_add_text(e, FIELD_DUPLICATE, at, type);
		if (!*type)
			check_required(e, at, NULL);
		check_said_since(e, from, obj_at(list, i));
	}
}

/* Behind what is in brackets or quotes; NULL: it does not end. */
static const char *quoted_end(const char *p, const char **ret_fault)
{
	const char *end = strchr(p + 1, *p == '[' ? ']' : *p);
	*ret_fault = *p == '[' ? "unterminated array" : "unterminated quoted string";
	return end ? end + 1 : NULL;
}

static const char *number_end(const char *p, struct arena *a, const char **ret_fault)
{
	const char *end = p + (*p == '+' || *p == '-');
	double n;
	while (*end == '.' || char_is_digit(*end))
		end++;
	char *text = arena_strndup(a, p, (size_t)(end - p));
	*ret_fault = arena_fmt(a, "cannot parse number %s", text);
	return str_parse_double(str_of(text + (*text == '+')), &n) ? end : NULL;
}

/* Behind the step at p, as Go's parser of JSONPath sees it; NULL: there is none, and why. */
static const char *step_end(const char *p, struct arena *a, const char **ret_fault)
{
	uint32_t rune;
	if (strchr("[\"'", *p))
		return quoted_end(p, ret_fault);
	if (strchr("+-", *p) || char_is_digit(*p))
		return number_end(p, a, ret_fault);
	if (char_is_alnum(*p) || strchr("_.", *p) || (*p & 0x80))
		return p + 1 + strcspn(p + 1, " \t\r\n.,[]$@{}");
	if (strchr(" @$", *p))
		return p + 1;
	if (*p == '}')
		return p + strlen(p); /* what follows is text */
	utf8_decode(str_of(p), &rune);
	*ret_fault =
		strchr("\r\n", *p)
			? "unclosed action"
			: arena_fmt(a, "unrecognized character in action: U+%04X '%c'", rune, *p);
	return NULL;
}

static const char *path_fault(const char *p, struct arena *a)
{
	const char *fault = NULL;
	while (p && *p)
		p = step_end(p, a, &fault);
	return p ? NULL : fault;
}

static void check_field_ref(struct field_errors *e, const char *path, const char *ref)
{
	struct str trimmed = str_trim(str_of(ref));
	const char *text = arena_text(e->arena, trimmed.ptr, trimmed.len);
	const char *fault = path_fault(text, e->arena);
	if (!*text)
		check_required(e, path, NULL);
	else if (fault)
		check_invalid_text(e, path, text,
				   arena_fmt(e->arena, "invalid JSONPath: %s", fault));
}

static void check_attachment(struct field_errors *e, const struct obj *o)
{
	static const char *const paths[] = {"status.attachError.errorCode",
					    "status.detachError.errorCode"};
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (obj_i64(o, paths[i], 0) < 0)
			check_invalid(e, paths[i], obj_path(o, paths[i]),
				      "must be between 0 and 2147483647, inclusive");
}

static void check_policy(struct field_errors *e, const struct obj *o)
{
	static const char path[] = "status.typeChecking.expressionWarnings";
	const struct obj *list = obj_path(o, path);
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, path, i);
		if (check_is_empty(obj_at(list, i), "warning"))
			check_required(e, check_below(e, at, "warning"), NULL);
		check_field_ref(e, check_below(e, at, "fieldRef"),
				check_text(obj_at(list, i), "fieldRef"));
	}
	check_said_since(e, from, list);
	check_all(e, o);
}

/* --- Pods --- */

static bool is_v6(const struct obj *address)
{
	return strchr(check_text(address, "ip"), ':');
}

/* At most one of each family. */
static void check_addresses(struct field_errors *e, const char *path, const struct obj *list)
{
	CLEANUP(obj_unrefp) struct obj *shown = obj_list(); /* as Go has them */
	size_t from = e->n, n = obj_len(list), bad = n;
	for (size_t i = 0; i < n && !field_errors_full(e); i++) {
		const char *ip = check_text(obj_at(list, i), "ip");
		struct obj *one = obj_map();
		obj_set_str(one, "IP", ip);
		obj_append(shown, one);
		check_ip(e, check_at(e, path, i), ip, false);
		if (bad == n && e->n > from)
			bad = i;
	}
	if (n < 2)
		return;
	if (bad < n)
		field_errors_add(
			e, FIELD_INTERNAL, path,
			"Internal error: failed to check for dual stack with "
			"error:invalid IP[%zu]: %.*s",
			bad, STR_ARG(str_clip(str_of(check_text(obj_at(list, bad), "ip")), 253)));
	if (bad < n || n > 2 || is_v6(obj_at(list, 0)) == is_v6(obj_at(list, 1)))
		check_invalid(e, path, shown, "may specify no more than one IP for each IP family");
}

static void check_pod(struct field_errors *e, const struct obj *o)
{
	const struct obj *status = obj_get(o, "status"), *list = obj_get(status, "conditions");
	const struct obj *claims = obj_get(status, "resourceClaimStatuses");
	CLEANUP(map_freep) struct map *known = map_new(NULL);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *c = obj_at(list, i);
		const char *at = check_at(e, "status.conditions", i);
		size_t from = e->n;
		if (obj_i64(c, "observedGeneration", 0) < 0)
			check_invalid(e, check_below(e, at, "observedGeneration"),
				      obj_get(c, "observedGeneration"),
				      "must be a non-negative integer");
		check_qualified(e, check_below(e, at, "Type"), check_text(c, "type")); /* sic */
		check_said_since(e, from, c);
	}
	size_t from = e->n;
	check_name_rule(e, "status.nominatedNodeName", NAME_DNS_SUBDOMAIN,
			check_text(status, "nominatedNodeName"));
	if (!check_is_empty(status, "nominatedNodeName") && !check_is_empty(o, "spec.nodeName"))
		check_forbidden(e, "status.nominatedNodeName",
				"may not be set on pods that are already bound to a node");
	check_said_since(e, from, obj_get(status, "nominatedNodeName"));
	if (obj_i64(status, "observedGeneration", 0) < 0)
		check_invalid(e, "status.observedGeneration", obj_get(status, "observedGeneration"),
			      "must be a non-negative integer");
	list = obj_path(o, "spec.resourceClaims");
	for (size_t i = 0; i < obj_len(list); i++)
		(void)check_again(known, check_text(obj_at(list, i), "name"));
	for (size_t i = 0; i < obj_len(claims) && !field_errors_full(e); i++) {
		const char *at = check_at(e, "status.resourceClaimStatuses", i);
		const char *name = check_text(obj_at(claims, i), "name");
		if (!map_has(known, name))
			check_invalid_text(e, check_below(e, at, "name"), name,
					   "must match the name of an entry in "
					   "`spec.resourceClaims`");
		if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "name"), name);
		check_name_rule(e, check_below(e, at, "resourceClaimName"), NAME_DNS_SUBDOMAIN,
				check_text(obj_at(claims, i), "resourceClaimName"));
	}
	pod_check_extended_claim(e, o);
	from = e->n;
	list = obj_get(status, "podIPs");
	check_addresses(e, "status.podIPs", list);
	check_said_since(e, from, list);
	from = e->n;
	list = obj_get(status, "hostIPs");
	if (obj_len(list) &&
	    strcmp(check_text(status, "hostIP"), check_text(obj_at(list, 0), "ip")) != 0)
		check_invalid_text(e, "status.hostIPs[0].ip", check_text(obj_at(list, 0), "ip"),
				   "must be equal to `hostIP`");
	check_addresses(e, "status.hostIPs", list);
	check_said_since(e, from, list);
	pod_check_status(e, o);
}

/* --- claims --- */

/* Only the storage of a claim changes, and what others have named. false: it is none of it. */
static bool check_claim_key(struct field_errors *e, const char *path, const char *key)
{
	bool native = !strchr(key, '/') || cstr_has_prefix(key, "kubernetes.io/");
	size_t from = e->n;
	if (name_fault(NAME_QUALIFIED, str_of(key)))
		check_qualified(e, path, key);
	else if (native && strcmp(key, "storage") != 0)
		field_errors_add(e, FIELD_NOT_SUPPORTED, path,
				 "Unsupported value: \"%s\": supported values: \"storage\"", key);
	return e->n == from && !e->omitted;
}

/* None below zero. It is told as the whole number that is farther away from there. */
static void check_basic(struct field_errors *e, const char *path, const struct obj *amount)
{
	struct quantity q;
	struct str text = obj_as_str(amount);
	if (text.ptr && quantity_read(text, &q) && q.nanos < 0)
		field_errors_add(e, FIELD_INVALID, path,
				 "Invalid value: %lld: must be a valid resource quantity",
				 (long long)((q.nanos - (NANOS_IN_ONE - 1)) / NANOS_IN_ONE));
}

static void check_claim_status(struct field_errors *e, const struct obj *o)
{
	static const char path[] = "status.allocatedResourceStatuses";
	static const char *const states[] = {
		"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",
		"NodeResizeInfeasible",       "NodeResizePending",          NULL};
	const struct obj *all = obj_path(o, path),
			 *amounts = obj_path(o, "status.allocatedResources");
	const struct obj *capacity = obj_path(o, "status.capacity");
	size_t from = e->n;
	OBJ_EACH (it, capacity)
		check_basic(e, arena_fmt(e->arena, "status.capacity[%s]", it.key), it.value);
	check_said_since(e, from, capacity);
	from = e->n;
	OBJ_EACH (it, all) {
		(void)check_claim_key(e, path, it.key);
		if (!cstr_in(obj_as_string(it.value), states))
			field_errors_one_of(e, path, it.key, states); /* sic */
	}
	check_said_since(e, from, all);
	from = e->n;
	OBJ_EACH (it, amounts)
		if (check_claim_key(e, "status.allocatedResources", it.key))
			check_basic(e, arena_fmt(e->arena, "status.allocatedResources[%s]", it.key),
				    it.value);
	check_said_since(e, from, amounts);
}

/* --- all of them --- */

/* Where a balancer is reached. */
static void check_ingress(struct field_errors *e, const char *path, const struct obj *in)
{
	static const char *const all[] = {"Proxy", "VIP", NULL};
	const char *ip = check_text(in, "ip"), *host = check_text(in, "hostname");
	const char *mode_at = check_below(e, path, "ipMode");
	const char *host_at = check_below(e, path, "hostname");
	size_t from = e->n;
	if (*ip)
		check_ip(e, check_below(e, path, "ip"), ip, false);
	if (obj_has(in, "ipMode") && !*ip)
		check_forbidden(e, mode_at, "may not be specified when `ip` is not set");
	else if (obj_has(in, "ipMode"))
		field_errors_one_of(e, mode_at, check_text(in, "ipMode"), all);
	check_name_rule(e, host_at, NAME_DNS_SUBDOMAIN, host);
	if (*host && address_is_ip(host))
		check_invalid_text(e, host_at, host, "must be a DNS name, not an IP address");
	check_said_since(e, from, in);
}

static void check_service(struct field_errors *e, const struct obj *o)
{
	static const char path[] = "status.loadBalancer.ingress";
	const struct obj *list = obj_path(o, path);
	if (obj_len(list) && strcmp(check_text(o, "spec.type"), "LoadBalancer") != 0) {
		check_forbidden(e, path, "may only be used when `spec.type` is 'LoadBalancer'");
		check_said_of(e, list);
		return;
	}
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_ingress(e, check_at(e, path, i), obj_at(list, i));
}

static const struct {
	const char *kind;
	void (*check)(struct field_errors *e, const struct obj *o);
} kinds[] = {
	{"flowschemas.flowcontrol.apiserver.k8s.io", check_types},
	{"jobs.batch", check_job_status},
	{"nodes.", check_node_status},
	{"persistentvolumeclaims.", check_claim_status},
	{"poddisruptionbudgets.policy", check_all},
	{"pods.", check_pod},
	{"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", check_types},
	{"services.", check_service},
	{"validatingadmissionpolicies.admissionregistration.k8s.io", check_policy},
	{"volumeattachments.storage.k8s.io", check_attachment},
};

void status_check(struct field_errors *e, const char *kind, const struct obj *o)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			kinds[i].check(e, o);
}
