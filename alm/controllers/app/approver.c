#include "alm/controllers/app/approver.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define ADMISSION "admissionregistration.k8s.io"

extern const char deploy_approver_yaml[]; /* made by the Makefile */

static const char *const kinds[] = {"ValidatingAdmissionPolicy",
				    "ValidatingAdmissionPolicyBinding"};

/* One answer for one approval: it is asked after the approval was seen. */
static const char *ask_id(const struct view *v, const struct obj *strategy)
{
	return arena_fmt(v->a, "approver:%s:%lld", meta_uid(strategy),
			 (long long)meta_generation(strategy));
}

void approver_ask(const struct view *v, const struct obj *strategy, struct plan *plan)
{
	struct obj *rows = obj_list();
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct obj *row = obj_map();
		obj_set_str(row, "key", kinds[i]);
		obj_set_str(row, "group", ADMISSION);
		obj_set_str(row, "version", "v1");
		obj_set_str(row, "kind", kinds[i]);
		obj_set_str(row, "name", APPROVER_POLICY);
		obj_append(rows, row);
	}
	struct action *x = plan_work(plan, &survey_work, ask_id(v, strategy));
	x->body = obj_keep(v->a, rows);
}

/* When its spec was last written; INT64_MAX: not known. */
static int64_t written_at(const struct obj *o)
{
	int64_t made, written;
	const char *created = obj_str(o, "metadata.creationTimestamp");
	const char *time = obj_str(meta_last_entry(o, NULL), "time");
	if (!created || !time || !clock_parse(str_of(created), &made) ||
	    !clock_parse(str_of(time), &written))
		return INT64_MAX;
	return made > written ? made : written;
}

static bool is_in_force(const struct obj *live, const struct obj *want, int64_t at_ns)
{
	int64_t written = written_at(live);
	return live && !meta_is_deleting(live) &&
	       obj_equal(obj_get(live, "spec"), obj_get(want, "spec")) &&
	       written < at_ns - APPROVER_SETTLE_NS;
}

static bool policy_holds(const struct obj *found, int64_t at_ns)
{
	struct error err = ERROR_INIT;
	struct yaml_documents docs = {0};
	bool holds = yaml_parse(str_of(deploy_approver_yaml), &docs, &err) >= 0;
	for (size_t i = 0; i < ARRAY_LEN(kinds) && holds; i++)
		holds = i < docs.n &&
			is_in_force(obj_get(found, kinds[i]), docs.items[i].value, at_ns);
	yaml_documents_release(&docs);
	return holds;
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
	return !out->code && policy_holds(out->value, at_ns) ? APPROVER_KNOWN : APPROVER_CLAIMED;
}
