/* pods: see pods.h. */
#include "alm/apiserver/pods.h"

#include <string.h>

#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/deletion.h"
#include "alm/apiserver/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

static int find_pod(struct request *r, struct mutation *m, struct error *err)
{
	if (mutation_init(m, r, r->ns, r->name, err) < 0)
		return -err->code;
	return m->head ? 0 : fail_not_found(r, r->group, r->resource, r->name, err);
}

static void reply_success(struct request *r)
{
	request_reply_json(r, 201,
			   STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
			       "\"status\":\"Success\",\"code\":201}\n"));
}

/* --- eviction --- */

struct budget {
	const struct obj *o;
	int64_t n_pods, n_healthy;
};

/* No controller of ours writes the budget's status: its pods are counted here. */
static void count_pods(struct request *r, struct budget *b, const struct selector *s)
{
	struct store_table *pods = server_resource(r->server, r->kind);
	for (size_t i = resource_lower_bound(pods, r->ns, "");
	     i < pods->n_heads && cstr_eq(pods->heads[i]->ns, r->ns); i++) {
		const struct obj *pod = head_obj(pods->heads[i], r->arena);
		if (!pod || !selector_matches(s, obj_path(pod, "metadata.labels")))
			continue;
		b->n_pods++;
		b->n_healthy += condition_is(pod, "Ready", "True") && !meta_is_deleting(pod);
	}
}

/* A number, or a part of all rounded up. */
static int64_t scaled(const struct obj *value, int64_t all)
{
	int64_t n = 0;
	struct str text = obj_as_str(value);
	if (obj_type(value) == OBJ_INT)
		obj_as_i64(value, &n);
	else if (text.len && text.ptr[text.len - 1] == '%' &&
		 str_parse_i64(str_sub(text, 0, text.len - 1), &n) && n >= 0 && n <= 100)
		return (all * n + 99) / 100;
	return n;
}

static int64_t wanted(const struct budget *b)
{
	const struct obj *min = obj_path(b->o, "spec.minAvailable");
	const struct obj *max = obj_path(b->o, "spec.maxUnavailable");
	if (min)
		return scaled(min, b->n_pods);
	int64_t n = b->n_pods - scaled(max, b->n_pods);
	return max && n > 0 ? n : 0;
}

static int refuse(struct request *r, const struct budget *b, struct error *err)
{
	struct status_cause *cause = ARENA_NEW(r->arena, struct status_cause);
	int rc = fail_code(r, E_TOOMANY, err,
			   "Cannot evict pod as it would violate the pod's disruption budget.");
	cause->reason = "DisruptionBudget";
	cause->message = arena_fmt(r->arena,
				   "The disruption budget %s needs %lld healthy pods and has %lld "
				   "currently",
				   meta_name(b->o), (long long)wanted(b), (long long)b->n_healthy);
	r->failure.details = true;
	r->failure.extra = cause;
	r->failure.n_extra = 1;
	return rc;
}

/* The budgets that select the pod; more than one are too many, as upstream. */
static int check_budgets(struct request *r, const struct obj *pod, struct error *err)
{
	struct store_table *all =
		store_resource(r->server->store, "policy", "poddisruptionbudgets");
	struct budget b = {NULL, 0, 0};
	for (size_t i = resource_lower_bound(all, r->ns, "");
	     i < all->n_heads && cstr_eq(all->heads[i]->ns, r->ns); i++) {
		const struct obj *o = head_obj(all->heads[i], r->arena);
		CLEANUP(selector_freep) struct selector *s = NULL;
		struct error ignored;
		if (!o || selector_from_obj(obj_path(o, "spec.selector"), &s, &ignored) < 0 ||
		    !selector_matches(s, obj_path(pod, "metadata.labels")))
			continue;
		if (b.o)
			return fail_code(
				r, E_INTERNAL, err,
				"This pod has more than one PodDisruptionBudget, which the "
				"eviction subresource does not support.");
		b.o = o;
		count_pods(r, &b, s);
	}
	bool leaves_enough =
		!b.o || !condition_is(pod, "Ready", "True") || b.n_healthy - 1 >= wanted(&b);
	return leaves_enough ? 0 : refuse(r, &b, err);
}

static bool is_over(const struct obj *pod)
{
	static const char *const phases[] = {"Succeeded", "Failed", "Pending", NULL};
	const char *phase = obj_str(pod, "status.phase");
	return meta_is_deleting(pod) || (phase && cstr_in(phase, phases));
}

int pods_evict(struct request *r, const struct obj *body, bool dry_run, struct error *err)
{
	struct mutation m;
	struct delete_options opt;
	if (find_pod(r, &m, err) < 0)
		return -err->code;
	if (!cstr_eq(meta_name(body), r->name))
		return fail_code(r, E_BADREQUEST, err,
				 "name in URL does not match name in Eviction object");
	if (options_delete(r, obj_get(body, "deleteOptions"), &opt, err) < 0)
		return -err->code;
	opt.dry_run = opt.dry_run || dry_run;
	if (hooks_check_body(r, body, "policy", "v1", "Eviction", opt.dry_run, err) < 0 ||
	    (!is_over(m.before) && check_budgets(r, m.before, err) < 0) ||
	    deletion_run(&m, &opt, err) < 0)
		return -err->code;
	reply_success(r);
	return 0;
}

/* --- binding --- */

static int cannot_bind(struct request *r, struct error *err, const char *why)
{
	int rc =
		fail_code(r, E_CONFLICT, err,
			  "Operation cannot be fulfilled on pods/binding \"%s\": %s", r->name, why);
	failure_details(r, r->name, "", "pods/binding");
	return rc;
}

/* It is told as what it is to the real server: an error that nobody thought of. */
static int check_target(struct request *r, const struct obj *body, struct error *err)
{
	const char *kind = obj_str(body, "target.kind"), *node = obj_str(body, "target.name");
	const char *other = NULL, *none = node && *node ? NULL : "target.name: Required value";
	if (!cstr_eq(meta_name(body), r->name))
		return fail_code(r, E_BADREQUEST, err,
				 "name in URL does not match name in Binding object");
	if (kind && *kind && strcmp(kind, "Node") != 0)
		other = arena_fmt(r->arena,
				  "target.kind: Unsupported value: \"%s\": supported values: "
				  "\"Node\", \"<empty>\"",
				  kind);
	if (!other && !none)
		return 0;
	int rc = fail_code(r, E_INTERNAL, err, "%s%s%s%s%s", other && none ? "[" : "",
			   other ? other : "", other && none ? ", " : "", none ? none : "",
			   other && none ? "]" : "");
	r->failure.no_reason = true;
	return rc;
}

/* The Pod that the scheduler has looked at, as it was then. */
static int check_stated(struct request *r, const struct obj *pod, const struct obj *body,
			bool by_uid, struct error *err)
{
	static const char *const fields[][2] = {{"metadata.uid", "UID"},
						{"metadata.resourceVersion", "ResourceVersion"}};
	for (size_t i = by_uid ? 0 : 1; i < ARRAY_LEN(fields); i++) {
		const char *want = obj_str(body, fields[i][0]), *is = obj_str(pod, fields[i][0]);
		if (!want || !*want || cstr_eq(want, is))
			continue;
		int rc = fail_code(
			r, E_CONFLICT, err,
			"Operation cannot be fulfilled on pods \"%s\": StorageError: invalid "
			"object, Code: 4, Key: /registry/pods/%s/%s, ResourceVersion: 0, "
			"AdditionalErrorMsg: Precondition failed: %s in precondition: %s, %s in "
			"object meta: %s",
			r->name, r->ns, r->name, fields[i][1], want, fields[i][1], is);
		failure_details(r, r->name, "", "pods");
		return rc;
	}
	return 0;
}

/* May it be placed at all? */
static int check_unbound(struct request *r, const struct obj *pod, struct error *err)
{
	const char *has = obj_str(pod, "spec.nodeName");
	if (meta_is_deleting(pod))
		return cannot_bind(
			r, err,
			arena_fmt(r->arena, "pod %s is being deleted, cannot be assigned to a host",
				  r->name));
	if (has && *has)
		return cannot_bind(r, err,
				   arena_fmt(r->arena, "pod %s is already assigned to node \"%s\"",
					     r->name, has));
	if (obj_len(obj_path(pod, "spec.schedulingGates")))
		return cannot_bind(
			r, err,
			arena_fmt(r->arena, "pod %s has non-empty .spec.schedulingGates", r->name));
	return 0;
}

/* What the scheduler says of it comes along. */
static void take_binding(struct mutation *m, const struct obj *body)
{
	static const struct condition placed = {"PodScheduled", "True", NULL, NULL, 0};
	static const char *const unsaid[] = {"reason", "message"};
	struct obj *status = obj_copy_map(obj_get(m->after, "status"));
	struct obj *list = obj_type(obj_get(status, "conditions")) == OBJ_LIST
				   ? obj_copy(obj_get(status, "conditions"))
				   : obj_list();
	obj_set_path(m->after, "spec.nodeName", obj_string(obj_str(body, "target.name")));
	OBJ_EACH (it, obj_path(body, "metadata.annotations"))
		meta_set_annotation(m->after, it.key, obj_as_string(it.value));
	OBJ_EACH (it, obj_path(body, "metadata.labels"))
		meta_set_label(m->after, it.key, obj_as_string(it.value));
	condition_set(list, &placed, request_now(m->r));
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *c = obj_at_mut(list, i);
		bool is_placed = cstr_eq(obj_str(c, "type"), placed.type);
		for (size_t k = 0; is_placed && k < ARRAY_LEN(unsaid); k++)
			obj_del(c, unsaid[k]);
		if (is_placed && !obj_has(c, "lastProbeTime"))
			obj_set(c, "lastProbeTime", obj_null());
	}
	obj_set(status, "conditions", list);
	obj_del(status, "nominatedNodeName");
	obj_set(m->after, "status", status);
}

static int bind_to(struct mutation *m, const struct obj *body, const struct write_options *opt,
		   struct error *err)
{
	m->opt = *opt;
	m->whole = true;
	m->after = obj_keep(m->r->arena, obj_copy(m->before));
	take_binding(m, body);
	if (mutation_update(m, err) < 0)
		return -err->code;
	reply_success(m->r);
	return 0;
}

int pods_bind(struct request *r, const struct obj *body, const struct write_options *opt,
	      struct error *err)
{
	struct mutation m;
	if (find_pod(r, &m, err) < 0 || check_target(r, body, err) < 0 ||
	    check_stated(r, m.before, body, true, err) < 0 || check_unbound(r, m.before, err) < 0 ||
	    hooks_check_body(r, body, "", "v1", "Binding", opt->dry_run, err) < 0)
		return -err->code;
	return bind_to(&m, body, opt, err);
}

int pods_bind_named(struct request *r, const struct obj *body, const struct write_options *opt,
		    struct error *err)
{
	struct mutation m;
	const char *name = meta_name(body);
	if (!name || !*name)
		return fail_code(r, E_BADREQUEST, err, "Name parameter required.");
	r->name = name;
	if (check_target(r, body, err) < 0 || hooks_check_review(r, body, err) < 0)
		return -err->code;
	r->kind = kinds_find(r->server->kinds, "", "v1", "pods"); /* whose it is from here on */
	r->resource = r->kind->plural;
	if (find_pod(r, &m, err) < 0 || check_stated(r, m.before, body, false, err) < 0 ||
	    check_unbound(r, m.before, err) < 0)
		return -err->code;
	return bind_to(&m, body, opt, err);
}

/* --- log --- */

static bool has_container(const struct obj *pod, const char *name)
{
	static const char *const lists[] = {"spec.containers", "spec.initContainers",
					    "spec.ephemeralContainers"};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct obj *list = obj_path(pod, lists[i]);
		for (size_t k = 0; k < obj_len(list); k++)
			if (cstr_eq(obj_str(obj_at(list, k), "name"), name))
				return true;
	}
	return false;
}

static const char *names_of(const struct obj *containers, struct arena *a)
{
	const char *text = "";
	for (size_t i = 0; i < obj_len(containers); i++)
		text = arena_fmt(a, "%s%s%s", text, i ? " " : "",
				 obj_str(obj_at(containers, i), "name"));
	return text;
}

int pods_log(struct request *r, struct error *err)
{
	struct mutation m;
	const char *name = request_query(r, "container");
	if (find_pod(r, &m, err) < 0)
		return -err->code;
	const struct obj *containers = obj_path(m.before, "spec.containers");
	if (!name || !*name) {
		if (obj_len(containers) != 1)
			return fail_code(r, E_BADREQUEST, err,
					 "a container name must be specified for pod %s, choose "
					 "one of: [%s]",
					 r->name, names_of(containers, r->arena));
		name = obj_str(obj_at(containers, 0), "name");
	}
	if (!has_container(m.before, name))
		return fail_code(r, E_BADREQUEST, err, "container %s is not valid for pod %s", name,
				 r->name);
	request_reply(r, 200, "text/plain",
		      str_of(arena_fmt(r->arena,
				       "pod %s, container %s: simulated, nothing runs here and "
				       "nothing is logged\n",
				       r->name, name)));
	return 0;
}
