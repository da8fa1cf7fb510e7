#include "alm/controllers/app/approver.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define ADMISSION "admissionregistration.k8s.io"

/* Made by the Makefile. */
extern const char deploy_approver_yaml[], deploy_approval_webhook_yaml[];

static const char *const kinds[] = {"ValidatingAdmissionPolicy",
				    "ValidatingAdmissionPolicyBinding"};
static const char webhook_kind[] = "ValidatingWebhookConfiguration";

/* One answer for one approval: it is asked after the approval was seen. */
static const char *ask_id(const struct view *v, const struct obj *strategy)
{
	return arena_fmt(v->a, "approver:%s:%lld", meta_uid(strategy),
			 (long long)meta_generation(strategy));
}

static void ask(struct obj *rows, const char *kind, const char *name)
{
	struct obj *row = obj_map();
	obj_set_str(row, "key", kind);
	obj_set_str(row, "group", ADMISSION);
	obj_set_str(row, "version", "v1");
	obj_set_str(row, "kind", kind);
	obj_set_str(row, "name", name);
	obj_append(rows, row);
}

void approver_ask(const struct view *v, const struct obj *strategy, struct plan *plan)
{
	struct obj *rows = obj_list();
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		ask(rows, kinds[i], APPROVER_POLICY);
	if (v->settings->approval_ca)
		ask(rows, webhook_kind, APPROVER_WEBHOOK);
	struct action *x = plan_work(plan, &survey_work, ask_id(v, strategy));
	x->body = obj_keep(v->a, rows);
}

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

static bool policy_holds(const struct obj *found, const struct yaml_documents *want, int64_t at_ns,
			 const char *ca UNUSED)
{
	bool holds = true;
	for (size_t i = 0; i < ARRAY_LEN(kinds) && holds; i++) {
		const struct obj *live = obj_get(found, kinds[i]);
		holds = i < want->n && is_settled(live, "spec", at_ns) &&
			obj_equal(obj_get(live, "spec"), obj_get(want->items[i].value, "spec"));
	}
	return holds;
}

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

static bool webhook_holds(const struct obj *found, const struct yaml_documents *want, int64_t at_ns,
			  const char *ca)
{
	const struct obj *live = obj_get(found, webhook_kind);
	if (!want->n || !is_settled(live, "webhooks", at_ns) || !obj_get(live, "webhooks"))
		return false;
	CLEANUP(obj_unrefp) struct obj *is = with_ca(obj_get(live, "webhooks"), NULL);
	CLEANUP(obj_unrefp) struct obj *should =
		with_ca(obj_get(want->items[0].value, "webhooks"), ca);
	return obj_equal(is, should);
}

static bool holds(const char *yaml,
		  bool (*in_force)(const struct obj *, const struct yaml_documents *, int64_t,
				   const char *),
		  const struct obj *found, int64_t at_ns, const char *ca)
{
	struct error err = ERROR_INIT;
	struct yaml_documents docs = {0};
	bool r = yaml_parse(str_of(yaml), &docs, &err) >= 0 && in_force(found, &docs, at_ns, ca);
	yaml_documents_release(&docs);
	return r;
}

/* found is of this approval, and has the webhook only where we serve it. */
static bool is_tied(const struct obj *found, int64_t at_ns, const char *const *ca)
{
	return holds(deploy_approver_yaml, policy_holds, found, at_ns, NULL) ||
	       (ca && holds(deploy_approval_webhook_yaml, webhook_holds, found, at_ns, *ca));
}

enum approver_answer approver_is_known(const struct view *v, const struct obj *strategy)
{
	int64_t at_ns;
	const char *at = obj_str(meta_last_entry(strategy, "approvedBy"), "time");
	if (v->settings->approver_is_requester)
		return APPROVER_KNOWN;
	if (!v->settings->foreign || !at || !clock_parse(str_of(at), &at_ns))
		return APPROVER_CLAIMED;
	if (v->settings->kube_version && strstr(v->settings->kube_version, "+alm"))
		return APPROVER_KNOWN; /* alm server ties it by itself */
	const struct outcome *out = view_outcome(v, ask_id(v, strategy));
	if (!out)
		return APPROVER_ASKED;
	return !out->code && is_tied(out->value, at_ns, v->settings->approval_ca)
		       ? APPROVER_KNOWN
		       : APPROVER_CLAIMED;
}
