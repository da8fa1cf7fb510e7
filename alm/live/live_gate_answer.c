#include "alm/live/live_gate_answer.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/live/live_gate.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/gate_report.h"
#include "catalog/gate/waivers.h"
#include "crds/marks.h"

static const char *const words[] = {"allow", "warn", "refuse"};

/* What a waiver of this rule and resource is about, had it named the path. */
static const char *path_missing(const struct live_gate_found *g, const struct obj *waiver)
{
	const char *path = obj_str(waiver, "path");
	for (size_t i = 0; (!path || !*path) && i < gate_count(g->gate); i++) {
		const struct gate_finding *f = gate_finding(g->gate, i);
		if (cstr_eq(f->rule, obj_str(waiver, "rule")) &&
		    cstr_eq(f->resource, obj_str(waiver, "resource")) &&
		    gate_waivable(g->gate, f) == WAIVE_PATH)
			return f->path;
	}
	return NULL;
}

/* "FieldRemoved etcds.etcd.coreos.com/v1 matches nothing" */
static struct obj *unused_waivers(const struct live_gate_found *g)
{
	const size_t *unused;
	struct obj *list = obj_list();
	size_t n = gate_unused_waivers(g->gate, &unused);
	const struct obj *waivers = obj_get(g->request, "waivers");
	const char *crd = meta_name(g->planned);
	for (size_t i = 0; i < n; i++) {
		const struct obj *w = obj_at(waivers, unused[i]);
		const char *rule = obj_str(w, "rule"), *resource = obj_str(w, "resource");
		const char *missing = path_missing(g, w);
		if (rule && resource && strncmp(resource, crd, strlen(crd)) == 0)
			obj_append(list, obj_stringf("%s %s %s%s", rule, resource,
						     missing ? "needs path: " : "matches nothing",
						     missing ? missing : ""));
	}
	return list;
}

static struct obj *finding_obj(const struct gate *gate, const struct gate_finding *f)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	struct obj *o = gate_finding_obj(gate, f);
	gate_finding_text(gate, f, &text);
	obj_set_str(o, "message", text.buf);
	return o;
}

static struct obj *findings_of(const struct gate *gate, size_t *ret_omitted)
{
	struct obj *list = obj_list();
	for (int outcome = FINDING_REFUSE; outcome >= FINDING_ALLOW; outcome--)
		for (size_t i = 0; i < gate_count(gate); i++)
			if ((int)gate_finding(gate, i)->outcome == outcome &&
			    obj_len(list) < LIVE_GATE_FINDINGS_MAX)
				obj_append(list, finding_obj(gate, gate_finding(gate, i)));
	*ret_omitted = gate_count(gate) - obj_len(list);
	return list;
}

/* What waivers.h asks for: all of them, where the list of findings has the first only. */
static struct obj *refusals_of(const struct gate *gate, size_t *ret_omitted)
{
	struct obj *list = obj_list();
	*ret_omitted = 0;
	for (size_t i = 0; i < gate_count(gate); i++) {
		const struct gate_finding *f = gate_finding(gate, i);
		enum gate_waivable by = gate_waivable(gate, f);
		if (f->outcome != FINDING_REFUSE)
			continue;
		if (obj_len(list) == WAIVERS_MAX) {
			++*ret_omitted;
			continue;
		}
		struct obj *o = obj_map();
		obj_set_str(o, "rule", f->rule);
		obj_set_str(o, "resource", f->resource);
		obj_set_str(o, "path", by == WAIVE_RESOURCE ? NULL : f->path);
		obj_set_int(o, "affected", (int64_t)f->n_affected);
		obj_set_int(o, "seen", (int64_t)gate_objects_seen(gate));
		obj_set_str(o, "remedy", *f->remedy ? f->remedy : NULL);
		obj_set_bool(o, "waivable", by != WAIVE_NEVER);
		obj_set_str(o, "command", f->command);
		obj_append(list, o);
	}
	return list;
}

/* It came to be since the plan was made, and is somebody else's. */
static bool is_taken(const struct live_gate_found *g)
{
	const char *owner = obj_str(g->request, "owner");
	const char *mark = meta_annotation(g->before, ANNOTATION_OWNER);
	return owner && g->before && !cstr_eq(mark, owner) && !cstr_eq(mark, OWNER_ANYBODY);
}

struct obj *live_gate_answer(const struct live_gate_found *g)
{
	size_t omitted, unlisted;
	struct obj *o = obj_map(), *findings = findings_of(g->gate, &omitted);
	struct obj *refusals = refusals_of(g->gate, &unlisted);
	obj_set_str(o, "crd", meta_name(g->planned));
	obj_set_str(o, "inputs", obj_str(g->request, "inputs"));
	obj_set_int(o, "objectsVersion", obj_i64(g->request, "objectsVersion", 0));
	obj_set_str(o, "outcome", words[gate_outcome(g->gate)]);
	if (gate_outcome(g->gate) == FINDING_REFUSE)
		obj_set_str(o, "text", obj_str(obj_at(findings, 0), "message"));
	obj_set(o, "findings", findings);
	obj_set_int(o, "omitted", (int64_t)omitted);
	obj_set(o, "refusals", refusals);
	obj_set_int(o, "refusalsOmitted", (int64_t)unlisted);
	obj_set(o, "unusedWaivers", unused_waivers(g));
	obj_set_int(o, "objects", (int64_t)gate_objects_seen(g->gate));
	obj_set_str(o, "resourceVersion", meta_resource_version(g->before));
	obj_set_str(o, "uid", meta_uid(g->before));
	if (is_taken(g))
		obj_set_bool(o, "taken", true);
	obj_set_int(o, "durationMs", g->took_ns / NS_PER_MS);
	return o;
}

struct obj *live_gate_unreadable(const struct live_gate_found *g, const struct error *err)
{
	struct obj *o = obj_map(), *list = obj_list(), *f = obj_map();
	const char *name = meta_name(g->planned);
	obj_set_str(f, "rule", "KeywordUnknown");
	obj_set_str(f, "resource", name);
	obj_set_str(f, "after", err->msg);
	obj_set_str(f, "outcome", "refuse");
	obj_set(f, "message", obj_stringf("KeywordUnknown %s: %s", name, err->msg));
	obj_set_str(o, "crd", name);
	obj_set_str(o, "inputs", obj_str(g->request, "inputs"));
	obj_set_int(o, "objectsVersion", obj_i64(g->request, "objectsVersion", 0));
	obj_set_str(o, "outcome", "refuse");
	obj_set_str(o, "text", obj_str(f, "message"));
	obj_append(list, f);
	obj_set(o, "findings", list);
	obj_set(o, "refusals", obj_copy(list)); /* no waiver covers what nobody can read */
	obj_set_str(o, "resourceVersion", meta_resource_version(g->before));
	return o;
}

const char *live_gate_key(const struct obj *findings, struct arena *a)
{
	static const char *const members[] = {"rule",   "resource", "path",
					      "before", "after",    "outcome"};
	char hex[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(findings); i++) {
		struct obj *o = obj_map();
		for (size_t k = 0; k < ARRAY_LEN(members); k++)
			obj_set_str(o, members[k], obj_str(obj_at(findings, i), members[k]));
		obj_append(list, o);
	}
	json_digest(list, hex);
	return arena_fmt(a, "%.16s", hex);
}
