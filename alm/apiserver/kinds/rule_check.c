/* rule_check: see rule_check.h. To add a rule, a row. */
#include "alm/apiserver/kinds/rule_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/device_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/node_check.h"
#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/kinds/status_check.h"

enum rule {
	ONE_OF,        /* of the words, divided by blanks */
	ONE_OF_NEEDED, /* the same, and an empty one is missing */
	NEEDED,        /* the same, and it has to be there */
	SAID,          /* one of the words, of which nothing is none */
	COUNT,         /* at least zero */
	SUBDOMAIN,     /* a name of another object */
	NAMED,         /* the same, which is not empty if it is there */
	NODE,          /* the same, and it has to be there */
	ADDRESS,       /* words: an empty one is none */
	LABELS,
	SELECTOR,
	REQUIRED,
	TOLERATION,
	POSITIVE, /* the words say so */
	LABEL,    /* a name of one part */
	LABEL_VALUE,
	OS, /* its name */
};

/* clang-format off */
/* Of parts of a Pod (pod_check.c), each where the real server judges it. */
static const struct field_rule {
	const char *kind, *path; /* plural.group, or the part; "[]" after a list is each of its items */
	enum rule rule;
	const char *words;
} of_pods[] = {
	{"message", "terminationMessagePolicy", ONE_OF_NEEDED, "File FallbackToLogsOnError"},
	{"propagation", "mountPropagation", ONE_OF, "Bidirectional HostToContainer None"},
	{"read only", "recursiveReadOnly", ONE_OF, "Disabled Enabled IfPossible"},
	{"pull", "imagePullPolicy", ONE_OF, "Always IfNotPresent Never"},
	{"policies", "restartPolicy", ONE_OF, "Always OnFailure Never"},
	{"policies", "dnsPolicy", ONE_OF, "ClusterFirstWithHostNet ClusterFirst Default None"},
	{"dns", "dnsConfig.nameservers[]", ADDRESS, "needed"},
	{"node", "nodeName", SUBDOMAIN, NULL},
	{"names", "hostname", LABEL, NULL},
	{"names", "subdomain", LABEL, NULL},
	{"names", "tolerations[]", TOLERATION, NULL},
	{"tolerations", "tolerations[]", TOLERATION, NULL}, /* alone */
	{"last", "priorityClassName", SUBDOMAIN, NULL},
	{"last", "runtimeClassName", NAMED, NULL},
	{"last", "preemptionPolicy", ONE_OF_NEEDED, "PreemptLowerPriority Never"},
	{"system", "os", OS, NULL},
}, of_kinds[] = {
	{"ingresses.networking.k8s.io", "status.loadBalancer.ingress[].ip", ADDRESS, NULL},
	{"ingresses.networking.k8s.io", "status.loadBalancer.ingress[].hostname", SUBDOMAIN, "must be a DNS name, not an IP address"},
	{"daemonsets.apps", "spec.minReadySeconds", COUNT, NULL},
	{"daemonsets.apps", "spec.revisionHistoryLimit", COUNT, NULL},
	{"ingresses.networking.k8s.io", "spec.ingressClassName", NAMED, NULL},
	{"apiservices.apiregistration.k8s.io", "status.conditions[].status", SAID, "True False Unknown"},
	{"leases.coordination.k8s.io", "spec.leaseDurationSeconds", POSITIVE, "must be greater than 0"},
	{"leases.coordination.k8s.io", "spec.leaseTransitions", COUNT, NULL},
	{"poddisruptionbudgets.policy", "spec.unhealthyPodEvictionPolicy", ONE_OF, "AlwaysAllow IfHealthyBudget"},
	{"runtimeclasses.node.k8s.io", "scheduling.nodeSelector", LABELS, NULL},
	{"runtimeclasses.node.k8s.io", "scheduling.tolerations[]", TOLERATION, NULL},
	{"horizontalpodautoscalers.autoscaling", "status.currentReplicas", COUNT, NULL},
	{"horizontalpodautoscalers.autoscaling", "status.desiredReplicas", COUNT, NULL},
};

/* In the order in which they are told: the one at place `all` bounds the next `bounded`. */
static const struct {
	const char *kind;
	size_t all, bounded;
	const char *fields[9];
} counts[] = {
	{"daemonsets.apps", 0, 0, {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
		"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"}},
	{"deployments.apps", 1, 3, {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas",
		"terminatingReplicas", "collisionCount"}},
	{"poddisruptionbudgets.policy", 0, 0, {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}},
	{"replicasets.apps", 0, 3, {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"}},
	{"replicationcontrollers.", 0, 3, {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"}},
	{"statefulsets.apps", 0, 4, {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration",
		"collisionCount"}},
};
/* clang-format on */

/* --- single values --- */

static void check_word(struct field_errors *e, const char *path, const char *is, const char *words)
{
	const char *all[8] = {NULL};
	struct str rest = str_of(words), word;
	for (size_t i = 0; i + 1 < ARRAY_LEN(all) && str_next(&rest, ' ', &word); i++)
		all[i] = arena_strndup(e->arena, word.ptr, word.len);
	field_errors_one_of(e, path, is, all);
}

/* not_ip: why it is no address, if it may be none. */
static void check_subdomain(struct field_errors *e, const char *path, const char *text,
			    const char *not_ip)
{
	check_name_rule(e, path, NAME_DNS_SUBDOMAIN, text);
	if (not_ip && address_is_ip(text))
		check_invalid_text(e, path, text, not_ip);
}

static void check_toleration(struct field_errors *e, const char *path, const struct obj *t)
{
	const char *key = check_text(t, "key"), *operator= check_text(t, "operator");
	const char *value = check_text(t, "value"), *effect = check_text(t, "effect");
	bool exists = strcmp(operator, "Exists") == 0, equal = strcmp(operator, "Equal") == 0;
	const char *fault = name_fault(NAME_LABEL_VALUE, str_of(value));
	if (*key)
		check_qualified(e, check_below(e, path, "key"), key);
	else if (!exists)
		check_invalid_text(e, check_below(e, path, "operator"), operator,
				   "operator must be Exists when `key` is empty, which means "
				   "\"match all values and all keys\"");
	if (obj_has(t, "tolerationSeconds") && strcmp(effect, "NoExecute") != 0)
		check_invalid_text(e, check_below(e, path, "effect"), effect,
				   "effect must be 'NoExecute' when `tolerationSeconds` is set");
	if ((equal || !*operator) && fault)
		check_invalid_text(e, check_below(e, path, "operator"), value, fault); /* sic */
	else if (exists && *value)
		check_invalid_text(e, check_below(e, path, "operator"), value,
				   "value must be empty when `operator` is 'Exists'");
	else if (strcmp(operator, "Lt") == 0 || strcmp(operator, "Gt") == 0) /* known, and off */
		field_errors_add(e, FIELD_NOT_SUPPORTED, check_below(e, path, "operator"),
				 "Unsupported value: \"%s\": supported values: \"Equal\", "
				 "\"Exists\", \"Lt\", \"Gt\"",
				 operator);
	else if (!exists && !equal && *operator)
		check_word(e, check_below(e, path, "operator"), operator, "Equal Exists");
	if (*effect)
		check_word(e, check_below(e, path, "effect"), effect,
			   "NoSchedule PreferNoSchedule NoExecute");
}

static void check_choice(struct field_errors *e, const struct field_rule *f, const char *path,
			 const struct obj *v)
{
	const char *text = obj_as_string(v);
	bool empty = !text || !*text;
	if (empty && (f->rule == NEEDED || (v && f->rule == ONE_OF_NEEDED)))
		check_required(e, path, NULL);
	else if (f->rule == SAID)
		check_word(e, path, empty ? "" : text, f->words);
	else if (v)
		check_word(e, path, text, f->words);
}

static void check_address(struct field_errors *e, const struct field_rule *f, const char *path,
			  const char *text)
{
	if ((text && *text) || f->words)
		check_ip(e, path, text ? text : "", false);
}

/* v stands in path. */
static void judge(struct field_errors *e, const struct field_rule *f, const char *path,
		  const struct obj *v)
{
	const char *text = obj_as_string(v);
	int64_t n = 0;
	switch (f->rule) {
	case ONE_OF:
	case ONE_OF_NEEDED:
	case SAID:
	case NEEDED:
		check_choice(e, f, path, v);
		break;
	case COUNT:
		check_at_least(e, path, v, 0);
		break;
	case SUBDOMAIN:
		check_subdomain(e, path, text ? text : "", f->words);
		break;
	case NAMED:
		if (text)
			check_named(e, path, NAME_DNS_SUBDOMAIN, text);
		break;
	case NODE:
		check_named(e, path, NAME_DNS_SUBDOMAIN, text ? text : "");
		break;
	case ADDRESS:
		check_address(e, f, path, text);
		break;
	case LABELS:
		check_label_map(e, path, v);
		break;
	case SELECTOR:
		check_label_selector(e, path, v);
		break;
	case REQUIRED:
		if (!text || !*text)
			check_required(e, path, NULL);
		break;
	case TOLERATION:
		check_toleration(e, path, v);
		break;
	case POSITIVE:
		if (obj_as_i64(v, &n) && n <= 0)
			check_invalid(e, path, v, f->words);
		break;
	case LABEL:
		check_name_rule(e, path, NAME_DNS_LABEL, text ? text : "");
		break;
	case LABEL_VALUE:
		check_named(e, path, NAME_LABEL_VALUE, text ? text : "");
		break;
	case OS:
		if (v && check_is_empty(v, "name"))
			check_required(e, check_below(e, path, "name"), NULL);
		else if (v)
			check_word(e, path, check_text(v, "name"), "linux windows");
		break;
	}
}

static void check_value(struct field_errors *e, const struct field_rule *f, const char *path,
			const struct obj *v)
{
	size_t from = e->n;
	judge(e, f, path, v);
	check_said_since(e, from, v);
}

/* --- places --- */

/* What rest, of the rule's path, names in o; a list without "[]" is gone through, and its index not told. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the rule's path, which is in the table */
static void walk(struct field_errors *e, const struct field_rule *f, const char *path,
		 const char *rest, const struct obj *o)
{
	size_t n = strcspn(rest, ".[");
	const char *key = arena_strndup(e->arena, rest, n), *after = rest + n;
	const struct obj *v = obj_get(o, key);
	bool each = *after == '[';
	path = *path ? check_below(e, path, key) : key;
	after += each ? 2 : 0;
	after += *after == '.';
	if (!*after && !each) {
		check_value(e, f, path, v);
		return;
	}
	if (obj_type(v) != OBJ_LIST) {
		if (v && *after)
			walk(e, f, path, after, v);
		return;
	}
	for (size_t i = 0; i < obj_len(v); i++) {
		if (field_errors_full(e)) {
			e->omitted++; /* the others are not judged */
			return;
		}
		const char *at = each ? check_at(e, path, i) : path;
		if (*after)
			walk(e, f, at, after, obj_at(v, i));
		else
			check_value(e, f, at, obj_at(v, i));
	}
}

static void check_bound(struct field_errors *e, const struct obj *status, const char *field,
			const char *most, const char *why)
{
	int64_t n = obj_i64(status, field, 0);
	size_t from = e->n;
	CLEANUP(obj_unrefp) struct obj *v = obj_int(n);
	if (n > obj_i64(status, most, 0))
		check_invalid(e, check_below(e, "status", field), v, why);
	check_said_since(e, from, obj_get(status, field));
}

static void check_counts(struct field_errors *e, const char *kind, const struct obj *status)
{
	for (size_t k = 0; k < ARRAY_LEN(counts); k++) {
		const char *const *fields = counts[k].fields;
		if (strcmp(counts[k].kind, kind) != 0)
			continue;
		for (size_t i = 0; i < ARRAY_LEN(counts[k].fields) && fields[i]; i++) {
			size_t from = e->n;
			check_at_least(e, check_below(e, "status", fields[i]),
				       obj_get(status, fields[i]), 0);
			check_said_since(e, from, obj_get(status, fields[i]));
		}
		const char *const *all = fields + counts[k].all;
		for (size_t i = 1; i <= counts[k].bounded; i++)
			check_bound(e, status, all[i], all[0],
				    "cannot be greater than status.replicas");
		if (counts[k].bounded)
			check_bound(e, status, "availableReplicas", "readyReplicas",
				    strcmp(kind, "statefulsets.apps") == 0
					    ? "cannot be greater than status.readyReplicas"
					    : "cannot be greater than readyReplicas");
	}
}

/* Of a Namespace. */
static void check_phase(struct field_errors *e, const struct obj *o)
{
	bool going = obj_path(o, "metadata.deletionTimestamp");
	const char *phase = check_text(o, "status.phase");
	if (strcmp(phase, going ? "Terminating" : "Active") != 0)
		check_invalid_text(e, "status.Phase", phase,
				   going ? "may only be 'Terminating' if `deletionTimestamp` is "
					   "not empty"
					 : "may only be 'Active' if `deletionTimestamp` is empty");
}

/* Is a, said of an item of a list, to stand behind b, said of one before it? */
static bool is_behind(const char *a, const char *b)
{
	size_t n = strcspn(a, "["), digits;
	if (!a[n] || strncmp(a, b, n + 1) != 0)
		return false;
	a += n + 1;
	b += n + 1;
	digits = strcspn(a, "]");
	size_t others = strcspn(b, "]");
	return digits != others ? digits > others : strncmp(a, b, digits) > 0;
}

/* Rules come one by one, and items of a list are told one by one. */
static void order_by_item(struct field_errors *e, size_t from)
{
	for (size_t i = from + 1; i < e->n; i++)
		for (size_t k = i; k > from && is_behind(e->items[k - 1].path, e->items[k].path);
		     k--)
			field_errors_swap(e, k - 1, k, k + 1);
}

void rule_check(struct field_errors *e, const char *group, const char *plural, const struct obj *o,
		bool of_status)
{
	const char *kind = arena_fmt(e->arena, "%s.%s", plural, group);
	if (of_status)
		status_check(e, kind, o);
	if (of_status && strcmp(kind, "resourceclaims.resource.k8s.io") == 0)
		check_device_claim_status(e, o);
	if (of_status)
		check_counts(e, kind, obj_get(o, "status"));
	if (of_status && strcmp(kind, "namespaces.") == 0)
		check_phase(e, o);
	if (of_status && strcmp(kind, "resourcequotas.") == 0)
		quota_check_status(e, o);
	size_t from = e->n;
	for (size_t i = 0; i < ARRAY_LEN(of_kinds); i++)
		if (strcmp(of_kinds[i].kind, kind) == 0 &&
		    cstr_has_prefix(of_kinds[i].path, "status.") == of_status)
			walk(e, &of_kinds[i], "", of_kinds[i].path, o);
	order_by_item(e, from);
	if (!of_status && strcmp(kind, "runtimeclasses.node.k8s.io") == 0)
		check_tolerations_differ(e, obj_path(o, "scheduling.tolerations"));
}

void rule_check_part(struct field_errors *e, const char *part, const char *path,
		     const struct obj *o)
{
	for (size_t i = 0; i < ARRAY_LEN(of_pods); i++)
		if (strcmp(of_pods[i].kind, part) == 0)
			walk(e, &of_pods[i], path, of_pods[i].path, o);
}
