#include "alm/controllers/app/approver.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/carried.h"
#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define ADMISSION "admissionregistration.k8s.io"

/* Made by the Makefile. */
extern const struct carried_text deploy_approver_yaml, deploy_approval_webhook_yaml;

static const char *const policy_kinds[] = {"ValidatingAdmissionPolicy",
					   "ValidatingAdmissionPolicyBinding"};
static const char *const webhook_kinds[] = {"ValidatingWebhookConfiguration"};

/* What ties an approval: each is looked at for itself. */
struct tie {
	const char *id, *name;
	const struct carried_text *yaml;
	const char *const *kinds;
	size_t n;
	const char *member; /* its content */
	const char *plurals, *role;
	bool (*is_same)(const struct obj *live, const struct obj *want, const char *ca);
};

/* As they are to be with this CA; the port is where on the way to us they are. */
static struct obj *with_ca(const struct obj *webhooks, const char *ca)
{
	struct obj *list = obj_copy(webhooks);
	for (size_t i = 0; i < obj_len(list); i++) {
		if (ca)
			obj_set_path(obj_at_mut(list, i), "clientConfig.caBundle", obj_string(ca));
		obj_del_path(obj_at_mut(list, i), "clientConfig.service.port");
	}
	return list;
}

static bool is_same_policy(const struct obj *live, const struct obj *want, const char *ca UNUSED)
{
	return obj_equal(obj_get(live, "spec"), obj_get(want, "spec"));
}

static bool is_same_webhook(const struct obj *live, const struct obj *want, const char *ca)
{
	if (!obj_get(live, "webhooks"))
		return false;
	CLEANUP(obj_unrefp) struct obj *is = with_ca(obj_get(live, "webhooks"), NULL);
	CLEANUP(obj_unrefp) struct obj *should = with_ca(obj_get(want, "webhooks"), ca);
	return obj_equal(is, should);
}

static const struct tie ties[] = {
	{"approver", APPROVER_POLICY, &deploy_approver_yaml, policy_kinds, ARRAY_LEN(policy_kinds),
	 "spec", "validatingadmissionpolicies and validatingadmissionpolicybindings",
	 "alm-controller", is_same_policy},
	{"approver-webhook", APPROVER_WEBHOOK, &deploy_approval_webhook_yaml, webhook_kinds,
	 ARRAY_LEN(webhook_kinds), "webhooks", "validatingwebhookconfigurations",
	 "alm-controller-webhook", is_same_webhook},
};

/* The webhook only where we serve it. */
static size_t tie_count(const struct view *v)
{
	return v->settings->approval_ca ? ARRAY_LEN(ties) : 1;
}

/* --- looks --- */

/* One answer for one approval: it is asked after the approval was seen. */
static const char *ask_id(const struct view *v, const struct tie *t, const struct obj *strategy)
{
	return arena_fmt(v->a, "%s:%s:%lld", t->id, meta_uid(strategy),
			 (long long)meta_generation(strategy));
}

static const char *look_id(const struct view *v, const struct tie *t, const struct obj *strategy)
{
	return arena_fmt(v->a, "%s:%s:before", t->id, meta_uid(strategy));
}

static void ask(const struct view *v, const struct tie *t, const char *id, struct plan *plan)
{
	struct obj *rows = obj_list();
	for (size_t i = 0; i < t->n; i++) {
		struct obj *row = obj_map();
		obj_set_str(row, "key", t->kinds[i]);
		obj_set_str(row, "group", ADMISSION);
		obj_set_str(row, "version", "v1");
		obj_set_str(row, "kind", t->kinds[i]);
		obj_set_str(row, "name", t->name);
		obj_append(rows, row);
	}
	plan_work(plan, &survey_work, id)->body = obj_keep(v->a, rows);
}

void approver_ask(const struct view *v, const struct obj *strategy, struct plan *plan)
{
	for (size_t i = 0; i < tie_count(v); i++)
		if (!view_outcome(v, ask_id(v, &ties[i], strategy)))
			ask(v, &ties[i], ask_id(v, &ties[i], strategy), plan);
}

/* The server has to tell it at all. */
static bool is_asked_for(const struct view *v)
{
	return !v->settings->approver_is_requester && v->settings->foreign &&
	       !(v->settings->kube_version && strstr(v->settings->kube_version, "+alm"));
}

void approver_look(const struct view *v, const struct obj *strategy, struct plan *plan)
{
	for (size_t i = 0; is_asked_for(v) && i < tie_count(v); i++) {
		const char *id = look_id(v, &ties[i], strategy);
		const struct outcome *out = view_outcome(v, id);
		if (!out || !outcome_is_younger(out, v->now_ns, APPROVER_LOOK_NS))
			ask(v, &ties[i], id, plan);
	}
}

/* --- judgement --- */

/* When its content, the member of this name, was last written; INT64_MAX: not known. */
static int64_t written_at(const struct obj *o, const char *member)
{
	const struct obj *entries = obj_path(o, "metadata.managedFields");
	char field[32];
	int64_t made, written, last = INT64_MIN;
	(void)snprintf(field, sizeof(field), "f:%s", member);
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const char *time = obj_str(e, "time");
		if (!obj_get(obj_get(e, "fieldsV1"), field))
			continue;
		if (!time || !clock_parse(str_of(time), &written))
			return INT64_MAX;
		if (written > last)
			last = written;
	}
	const char *created = obj_str(o, "metadata.creationTimestamp");
	if (last == INT64_MIN || !created || !clock_parse(str_of(created), &made))
		return INT64_MAX;
	return made > last ? made : last;
}

static bool is_settled(const struct obj *live, const char *member, int64_t at_ns)
{
	int64_t written = written_at(live, member);
	return live && !meta_is_deleting(live) && written < at_ns - APPROVER_SETTLE_NS;
}

/* As it was made, or as a look before the approval has found it. */
static bool is_untouched(const struct obj *live, const struct obj *before)
{
	if (!before)
		return meta_generation(live) <= 1;
	return cstr_eq(meta_uid(live), meta_uid(before)) &&
	       meta_generation(live) == meta_generation(before);
}

/* found, before (NULL: nobody has looked): what is there of the kinds. */
static bool holds(const struct tie *t, const struct yaml_documents *want, const struct obj *found,
		  const struct obj *before, int64_t at_ns, const char *ca)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obj *live = obj_get(found, t->kinds[i]);
		if (i >= want->n || !is_settled(live, t->member, at_ns) ||
		    !t->is_same(live, want->items[i].value, ca) ||
		    !is_untouched(live, obj_get(before, t->kinds[i])))
			return false;
	}
	return true;
}

/* What was found before the approval; NULL: nothing. The server's time of it has whole seconds. */
static const struct obj *found_before(const struct view *v, const struct tie *t,
				      const struct obj *strategy, int64_t at_ns)
{
	const struct outcome *look = view_outcome(v, look_id(v, t, strategy));
	return look && !look->code && look->at_ns <= at_ns ? look->value : NULL;
}

static bool is_tied(const struct view *v, const struct tie *t, const struct obj *strategy,
		    const struct outcome *out, int64_t at_ns)
{
	struct error err = ERROR_INIT;
	struct yaml_documents docs = {0};
	CLEANUP(xfreep) char *text = carried_read(t->yaml);
	const char *const *ca = v->settings->approval_ca;
	bool r = yaml_parse(str_of(text), &docs, &err) >= 0 &&
		 holds(t, &docs, out->value, found_before(v, t, strategy, at_ns), at_ns,
		       ca ? *ca : NULL);
	yaml_documents_release(&docs);
	return r;
}

enum approver_answer approver_is_known(const struct view *v, const struct obj *strategy)
{
	int64_t at_ns;
	bool asks = false;
	const char *at = obj_str(meta_last_entry(strategy, "approvedBy"), "time");
	if (v->settings->approver_is_requester)
		return APPROVER_KNOWN;
	if (!v->settings->foreign || !at || !clock_parse(str_of(at), &at_ns))
		return APPROVER_CLAIMED;
	if (!is_asked_for(v))
		return APPROVER_KNOWN; /* alm server ties it by itself */
	for (size_t i = 0; i < tie_count(v); i++) {
		const struct outcome *out = view_outcome(v, ask_id(v, &ties[i], strategy));
		if (out && !out->code && is_tied(v, &ties[i], strategy, out, at_ns))
			return APPROVER_KNOWN;
		asks = asks || !out;
	}
	return asks ? APPROVER_ASKED : APPROVER_CLAIMED;
}

const char *approver_trouble(const struct view *v, const struct obj *strategy)
{
	for (size_t i = 0; is_asked_for(v) && i < tie_count(v); i++) {
		const struct tie *t = &ties[i];
		const struct outcome *out = view_outcome(v, ask_id(v, t, strategy));
		const char *remedy = arena_fmt(
			v->a, "; rule \"get\" on it is in ClusterRole %s of deploy/manifests",
			t->role);
		if (out && out->code)
			return arena_fmt(v->a,
					 "nobody knows whether spec.approvedBy is who approved, as "
					 "%s %s cannot be read: %s%s",
					 t->plurals, t->name, out->msg,
					 out->code == E_FORBIDDEN ? remedy : "");
	}
	return NULL;
}
