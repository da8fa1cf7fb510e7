/* workload_check: see workload_check.h. */
#include "alm/apiserver/kinds/workload_check.h"

#include <string.h>

#include "alm/apiserver/kinds/autoscale_forms.h"
#include "alm/apiserver/kinds/claim_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/obj/json.h"
#include "alm/obj/query/selector.h"
#include "alm/obj/schema/api_same.h"

static void at_least_zero(struct field_errors *e, const struct obj *o, const char *path)
{
	check_at_least(e, path, obj_path(o, path), 0);
}

/* --- amounts --- */

/* N of "N%"; false of what is none. */
static bool percent_of(const struct obj *v, int64_t *ret)
{
	const char *text = obj_as_string(v);
	size_t digits = text ? strspn(text, "0123456789") : 0;
	if (!digits || strcmp(text + digits, "%") != 0)
		return false;
	if (!str_parse_i64(str_n(text, digits), ret))
		*ret = INT64_MAX;
	return true;
}

void check_amount_or_percent(struct field_errors *e, const char *path, const struct obj *v)
{
	const char *text = obj_as_string(v);
	int64_t n;
	check_at_least(e, path, v, 0);
	if (text && !percent_of(v, &n))
		check_invalid_text(e, path, text,
				   "a valid percent string must be a numeric string followed by an "
				   "ending '%' (e.g. '1%',  or '93%', regex used for validation is "
				   "'[0-9]+%')");
}

void check_percent_most(struct field_errors *e, const char *path, const struct obj *v)
{
	int64_t n = 0;
	if (percent_of(v, &n) && n > 100)
		check_invalid_text(e, path, obj_as_string(v), "must not be greater than 100%");
}

/* A text that is no percentage is read as Go's Atoi() does it: 0 is what is no number. */
static bool is_zero(const struct obj *v)
{
	int64_t n = 0;
	struct str text = obj_as_str(v);
	if (percent_of(v, &n) || (!text.len && obj_as_i64(v, &n)))
		return n == 0;
	text = str_skip(text, text.len && memchr("+-", *text.ptr, 2) ? 1 : 0);
	for (size_t i = 0; i < text.len; i++) {
		if (!char_is_digit(text.ptr[i]))
			return true;
		n |= text.ptr[i] != '0';
	}
	return n == 0;
}

/* --- Deployments --- */

/* false: it cannot be read, and the template of most kinds is not judged. */
static bool check_selector(struct field_errors *e, const struct obj *o, const char *kind)
{
	const struct obj *selector = obj_path(o, "spec.selector");
	const struct obj *labels = obj_path(o, "spec.template.metadata.labels");
	CLEANUP(selector_freep) struct selector *s = NULL;
	bool is_empty = selector && !obj_len(obj_get(selector, "matchLabels")) &&
			!obj_len(obj_get(selector, "matchExpressions"));
	if (!selector && !cstr_eq(kind, "daemonset")) /* sic */
		check_required(e, "spec.selector", NULL);
	check_label_selector(e, "spec.selector", selector);
	if (is_empty) {
		field_errors_add(e, FIELD_INVALID, "spec.selector",
				 "Invalid value: {}: empty selector is invalid for %s", kind);
		return true;
	}
	if (!check_selector_reads(selector, &s)) {
		CLEANUP(obj_unrefp) struct obj *shown = autoscale_in_order(selector);
		CLEANUP(xfreep) char *text = json_text(shown);
		if (cstr_eq(kind, "statefulset")) /* sic: without a reason */
			field_errors_add(e, FIELD_INVALID, "spec.selector", "Invalid value: %s",
					 text);
		else if (!cstr_eq(kind, "daemonset"))
			check_invalid(e, "spec.selector", selector, "invalid label selector");
		return cstr_eq(kind, "daemonset");
	}
	if (!selector_matches(s, labels))
		check_invalid(e, "spec.template.metadata.labels", labels,
			      "`selector` does not match template `labels`");
	return true;
}

/* Its Pods run for ever. kind: as a refusal tells it. */
static void check_lasting(struct field_errors *e, const struct obj *o, const char *kind)
{
	static const char *const always[] = {"Always", NULL};
	const struct obj *spec = obj_path(o, "spec.template.spec");
	const char *policy = obj_str(spec, "restartPolicy");
	if (policy)
		field_errors_one_of(e, "spec.template.spec.restartPolicy", policy, always);
	if (obj_has(spec, "activeDeadlineSeconds")) {
		check_forbidden(
			e, "spec.template.spec.activeDeadlineSeconds",
			arena_fmt(e->arena, "activeDeadlineSeconds in %s is not Supported", kind));
		check_said_of(e, obj_get(spec, "activeDeadlineSeconds"));
	}
}

static void check_template(struct field_errors *e, const struct obj *o, const char *kind)
{
	check_pod_template(e, "spec.template", obj_path(o, "spec.template"),
			   obj_path(o, "spec.volumeClaimTemplates"));
	if (cstr_eq(kind, "StatefulSet")) /* sic: again */
		check_template_meta(e, "spec.template", obj_path(o, "spec.template"));
	check_lasting(e, o, kind);
}

/* Of a type that is none of its kinds. */
static void refuse_strategy(struct field_errors *e, const char *path, const struct obj *s,
			    const char *types)
{
	CLEANUP(xfreep) char *shown = json_text(s);
	field_errors_add(e, FIELD_NOT_SUPPORTED, path,
			 "Unsupported value: %s: supported values: %s", shown, types);
}

static void check_strategy(struct field_errors *e, const struct obj *s)
{
	static const char *const types[] = {"Recreate", "RollingUpdate", NULL};
	static const char *const fields[] = {"spec.strategy.rollingUpdate.maxUnavailable",
					     "spec.strategy.rollingUpdate.maxSurge"};
	const struct obj *rolling = obj_get(s, "rollingUpdate");
	const struct obj *away = obj_get(rolling, "maxUnavailable");
	const struct obj *more = obj_get(rolling, "maxSurge");
	const char *type = obj_str(s, "type");
	size_t from = e->n;
	if (type && !cstr_in(type, types))
		refuse_strategy(e, "spec.strategy", s, "\"Recreate\", \"RollingUpdate\"");
	if (rolling && cstr_eq(type, "Recreate"))
		check_forbidden(e, "spec.strategy.rollingUpdate",
				"may not be specified when strategy `type` is 'Recreate'");
	if (!rolling || !cstr_eq(type, "RollingUpdate"))
		return;
	check_amount_or_percent(e, fields[0], away);
	check_amount_or_percent(e, fields[1], more);
	if (is_zero(away) && is_zero(more))
		check_invalid(e, fields[0], away, "may not be 0 when `maxSurge` is 0");
	check_percent_most(e, fields[0], away);
	check_said_since(e, from, s);
}

static void check_deadline(struct field_errors *e, const struct obj *spec)
{
	static const char *const counts[] = {"minReadySeconds", "revisionHistoryLimit",
					     "progressDeadlineSeconds"};
	const struct obj *deadline = obj_get(spec, "progressDeadlineSeconds");
	int64_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		size_t from = e->n;
		check_at_least(e, check_below(e, "spec", counts[i]), obj_get(spec, counts[i]), 0);
		check_said_since(e, from, obj_get(spec, counts[i]));
	}
	if (!obj_as_i64(deadline, &n) || n > obj_i64(spec, "minReadySeconds", 0))
		return;
	check_invalid(e, "spec.progressDeadlineSeconds", deadline,
		      "must be greater than minReadySeconds");
	check_said_of(e, deadline);
}

void check_deployment(struct field_errors *e, const struct obj *o)
{
	at_least_zero(e, o, "spec.replicas");
	if (check_selector(e, o, "deployment"))
		check_template(e, o, "ReplicaSet");
	check_strategy(e, obj_path(o, "spec.strategy"));
	check_deadline(e, obj_get(o, "spec"));
}

void check_replica_set(struct field_errors *e, const struct obj *o)
{
	at_least_zero(e, o, "spec.replicas");
	size_t from = e->n;
	at_least_zero(e, o, "spec.minReadySeconds");
	check_said_since(e, from, obj_path(o, "spec.minReadySeconds"));
	if (check_selector(e, o, "deployment")) /* sic */
		check_template(e, o, "ReplicaSet");
}

void check_replication_controller(struct field_errors *e, const struct obj *o)
{
	const struct obj *selector = obj_path(o, "spec.selector");
	const struct obj *labels = obj_path(o, "spec.template.metadata.labels");
	bool matches = true;
	at_least_zero(e, o, "spec.minReadySeconds");
	if (!obj_len(selector))
		check_required(e, "spec.selector", NULL);
	at_least_zero(e, o, "spec.replicas");
	if (!obj_path(o, "spec.template")) {
		check_required(e, "spec.template", NULL);
		return;
	}
	OBJ_EACH (it, selector)
		matches = matches && obj_equal(it.value, obj_get(labels, it.key));
	if (!matches)
		check_invalid(e, "spec.template.metadata.labels", labels,
			      "`selector` does not match template `labels`");
	check_template(e, o, "ReplicationController");
}

/* --- DaemonSets --- */

static void check_rolling_daemons(struct field_errors *e, const struct obj *rolling)
{
	static const char *const fields[] = {"spec.updateStrategy.rollingUpdate.maxUnavailable",
					     "spec.updateStrategy.rollingUpdate.maxSurge"};
	const struct obj *away = obj_get(rolling, "maxUnavailable");
	const struct obj *more = obj_get(rolling, "maxSurge");
	check_amount_or_percent(e, fields[0], away);
	check_amount_or_percent(e, fields[1], more);
	check_percent_most(e, fields[0], away);
	check_percent_most(e, fields[1], more);
	if (!is_zero(away) && !is_zero(more))
		check_invalid(e, fields[1], more, "may not be set when maxUnavailable is non-zero");
	else if (is_zero(away) && is_zero(more))
		check_required(e, fields[0], "cannot be 0 when maxSurge is 0");
}

static void check_daemon_strategy(struct field_errors *e, const struct obj *s)
{
	const char *type = check_text(s, "type");
	const struct obj *rolling = obj_get(s, "rollingUpdate");
	size_t from = e->n;
	if (!s || strcmp(type, "OnDelete") == 0)
		return;
	if (strcmp(type, "RollingUpdate") != 0) {
		refuse_strategy(e, "spec.updateStrategy", s, "\"RollingUpdate\", \"OnDelete\"");
	} else if (rolling) {
		check_rolling_daemons(e, rolling);
	}
	check_said_since(e, from, s);
}

void check_daemon_set(struct field_errors *e, const struct obj *o)
{
	(void)check_selector(e, o, "daemonset");
	check_template(e, o, "DaemonSet");
	check_daemon_strategy(e, obj_path(o, "spec.updateStrategy"));
}

/* --- StatefulSets --- */

static void check_stateful_strategy(struct field_errors *e, const struct obj *s)
{
	const char *type = check_text(s, "type");
	const struct obj *rolling = obj_get(s, "rollingUpdate");
	bool on_delete = strcmp(type, "OnDelete") == 0;
	size_t from = e->n;
	if (!s)
		return;
	if (!on_delete && strcmp(type, "RollingUpdate") != 0)
		check_invalid(e, "spec.updateStrategy", s, "must be 'RollingUpdate' or 'OnDelete'");
	else if (on_delete && rolling)
		check_invalid(e, "spec.updateStrategy.rollingUpdate", rolling,
			      "only allowed for updateStrategy 'RollingUpdate'");
	else
		check_at_least(e, "spec.updateStrategy.rollingUpdate.partition",
			       obj_get(rolling, "partition"), 0);
	check_said_since(e, from, s);
}

/* What is about a StatefulSet alone. */
static void check_stateful(struct field_errors *e, const struct obj *spec)
{
	static const char *const whens[] = {"whenDeleted", "whenScaled"};
	static const char *const fates[] = {"Retain", "Delete", NULL};
	const char *policy = obj_str(spec, "podManagementPolicy");
	const struct obj *claims = obj_get(spec, "persistentVolumeClaimRetentionPolicy");
	if (policy && strcmp(policy, "OrderedReady") != 0 && strcmp(policy, "Parallel") != 0)
		check_invalid_text(e, "spec.podManagementPolicy", policy,
				   "must be 'OrderedReady' or 'Parallel'");
	check_stateful_strategy(e, obj_get(spec, "updateStrategy"));
	size_t from = e->n;
	for (size_t i = 0; i < ARRAY_LEN(whens); i++)
		if (obj_has(claims, whens[i]))
			field_errors_one_of(
				e,
				arena_fmt(e->arena, "spec.persistentVolumeClaimRetentionPolicy.%s",
					  whens[i]),
				check_text(claims, whens[i]), fates);
	check_said_since(e, from, claims);
}

void check_stateful_set(struct field_errors *e, const struct obj *o)
{
	const struct obj *claims = obj_path(o, "spec.volumeClaimTemplates");
	check_stateful(e, obj_get(o, "spec"));
	for (size_t i = 0; i < obj_len(claims); i++)
		check_claim_spec(e, arena_fmt(e->arena, "spec.volumeClaimTemplates[%zu].spec", i),
				 obj_get(obj_at(claims, i), "spec"));
	at_least_zero(e, o, "spec.replicas");
	size_t from = e->n;
	at_least_zero(e, o, "spec.minReadySeconds");
	check_said_since(e, from, obj_path(o, "spec.minReadySeconds"));
	from = e->n;
	at_least_zero(e, o, "spec.ordinals.start");
	check_said_since(e, from, obj_path(o, "spec.ordinals"));
	check_name_rule(e, "spec.serviceName", NAME_DNS_LABEL, check_text(o, "spec.serviceName"));
	bool is_read = check_selector(e, o, "statefulset");
	/* What its controller says is not judged. */
	struct obj *named = obj_keep(e->arena, obj_copy(o));
	obj_del_path(named, "spec.template.spec.hostname");
	obj_del_path(named, "spec.template.spec.subdomain");
	if (is_read)
		check_template(e, named, "StatefulSet");
	else
		check_lasting(e, o, "StatefulSet");
}

/* They may not change, so what they say is not judged again. */
static void drop_fixed(struct field_errors *e)
{
	size_t n = 0;
	for (size_t i = 0; i < e->n; i++)
		if (!cstr_has_prefix(e->items[i].path, "spec.volumeClaimTemplates[") &&
		    strcmp(e->items[i].path, "spec.serviceName") != 0)
			e->items[n++] = e->items[i];
	e->n = n;
}

void stateful_set_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	static const char *const may[] = {"replicas",
					  "ordinals",
					  "template",
					  "updateStrategy",
					  "revisionHistoryLimit",
					  "persistentVolumeClaimRetentionPolicy",
					  "minReadySeconds"};
	CLEANUP(obj_unrefp) struct obj *was = obj_copy_map(obj_get(before, "spec"));
	CLEANUP(obj_unrefp) struct obj *is = obj_copy_map(obj_get(o, "spec"));
	for (size_t i = 0; i < ARRAY_LEN(may); i++) {
		obj_del(was, may[i]);
		obj_del(is, may[i]);
	}
	drop_fixed(e);
	if (!api_same(api_type_named("apps.v1.StatefulSetSpec"), was, is))
		field_errors_add(
			e, FIELD_FORBIDDEN, "spec",
			"Forbidden: updates to statefulset spec for fields other than "
			"'replicas', 'ordinals', 'template', 'updateStrategy', "
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
			"'minReadySeconds' are forbidden");
}
