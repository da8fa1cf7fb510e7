/* What the account may, asked before anything is written, impersonated, so that the server answers
 * as it will judge the write. A SelfSubjectRulesReview tells the rules that the account has: what
 * one of them allows is allowed. What none does, and all when the server says that it does not know
 * them all, is asked by a SelfSubjectAccessReview a question: so nothing counts as missing but by
 * such a one. Neighbours that ask the same are asked once, and for a name only when not every name
 * is allowed. */
#include <string.h>

#include "alm/client/access_review.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/query/rbac_rule.h"

#define AT_ONCE         CLIENT_WRITES_MAX
#define WORTH_RULES     3      /* questions of one namespace; fewer are asked one by one */
#define COMPARISONS_MAX 200000 /* of rules with questions, in one turn */

/* The name of no namespace, which no RoleBinding can be in: its rules are those of every namespace
 * and of what is in none. ("" is refused.) */
#define NO_NAMESPACE "-"

static const struct resource rules_reviews = {.group = "authorization.k8s.io",
					      .version = "v1",
					      .plural = "selfsubjectrulesreviews",
					      .kind = "SelfSubjectRulesReview"};

enum verdict {
	NOT_ASKED, /* the rules of its namespace may tell it */
	OPEN,      /* they do not */
	ALLOWED,
	DENIED,
};

/* Asks a run of neighbours, [at, end), one after the other. */
struct lane {
	struct work *w;
	size_t at, end;
	struct client_call *call;
};

struct reviewing {
	enum verdict *verdict; /* one a question */
	size_t n, next;        /* next: no lane has it or what follows */
	const char *ns;        /* whose rules are asked for; NULL: those of all */
	struct lane lanes[AT_ONCE];
	size_t n_busy;
};

static void rules_next(struct work *w);

static struct reviewing *reviewing_of(struct work *w)
{
	return *(struct reviewing **)w->state;
}

static const struct obj *question(const struct work *w, size_t i)
{
	return obj_at(w->action->body, i);
}

static const char *text_of(const struct obj *q, const char *key)
{
	const char *text = obj_str(q, key);
	return text ? text : "";
}

static bool is_about(const struct obj *q, const struct obj *other)
{
	static const char *const keys[] = {"verb",        "path",      "group", "resource",
					   "subresource", "namespace", NULL};
	bool same = !*text_of(other, "name") || cstr_eq(text_of(q, "name"), text_of(other, "name"));
	for (const char *const *k = keys; same && *k; k++)
		same = cstr_eq(obj_str(q, *k), obj_str(other, *k));
	return same;
}

static void end(struct work *w, const struct error *err)
{
	struct obj *value = obj_map();
	if (w->found)
		obj_set(value, "denied", STEAL(w->found));
	obj_set_int(value, "rightsVersion", (int64_t)w->action->rights_version);
	obj_set_int(value, "rightsSince", w->action->rights_since_ns);
	work_put(w, err, STR_NONE, value);
	work_done(w);
}

static void conclude(struct work *w)
{
	const struct reviewing *r = reviewing_of(w);
	struct error denied;
	w->found = obj_list();
	for (size_t i = 0; i < r->n; i++)
		if (r->verdict[i] == DENIED)
			obj_append(w->found, obj_int((int64_t)i));
	error_set(&denied, E_FORBIDDEN, "%zu of %zu rights are missing", obj_len(w->found), r->n);
	end(w, obj_len(w->found) ? &denied : NULL);
}

/* --- one by one --- */

static void reviewed(void *arg, const struct client_reply *reply);

/* The first that is open of those that no lane has, with all that are about the same. */
static void take_run(struct lane *l, struct reviewing *r)
{
	while (r->next < r->n && r->verdict[r->next] != OPEN)
		r->next++;
	l->at = r->next;
	while (r->next < r->n && is_about(question(l->w, r->next), question(l->w, l->at)))
		r->next++;
	l->end = r->next;
}

static void lane_next(struct lane *l)
{
	struct work *w = l->w;
	struct reviewing *r = reviewing_of(w);
	const struct client_options as = {.as = w->action->as, .asks = true};
	while (l->at < l->end && r->verdict[l->at] != OPEN)
		l->at++;
	if (l->at == l->end)
		take_run(l, r);
	if (l->at == r->n) {
		if (--r->n_busy == 0)
			conclude(w);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *o = access_review(question(w, l->at));
	l->call = client_create(w->client, &access_reviews, NULL, o, &as, reviewed, l);
}

static void answer(struct lane *l, bool allowed)
{
	struct reviewing *r = reviewing_of(l->w);
	const struct obj *q = question(l->w, l->at);
	r->verdict[l->at] = allowed ? ALLOWED : DENIED;
	for (size_t i = l->at + 1; allowed && i < l->end && is_about(question(l->w, i), q); i++)
		r->verdict[i] = ALLOWED;
	lane_next(l);
}

/* --- a binding that the server would take --- */

static void tried(void *arg, const struct client_reply *reply)
{
	struct lane *l = arg;
	int code = reply->err ? reply->err->code : 0;
	l->call = NULL;
	if (code && code != E_FORBIDDEN && error_retry(code) != RETRY_NEVER)
		work_fail(l->w, reply->err);
	else
		answer(l, !code);
}

static bool try_binding(struct lane *l)
{
	struct work *w = l->w;
	const struct obj *o = obj_get(question(w, l->at), "proof");
	struct gvk g = {"", "", ""};
	if (!o || !gvk_of(o, w->a, &g))
		return false;
	const struct resource *found = discovery_kind(w->discovery, g.group, g.version, g.kind);
	if (!found)
		return false;
	struct resource *own = ARENA_NEW(w->a, struct resource);
	*own = resource_copy(found, w->a);
	const struct client_options dry = {
		.as = w->action->as, .force = true, .dry_run = true, .asks = true};
	l->call = client_apply(w->client, own, own->namespaced ? meta_namespace(o) : NULL,
			       meta_name(o), o, &dry, tried, l);
	return true;
}

static void reviewed(void *arg, const struct client_reply *reply)
{
	struct lane *l = arg;
	l->call = NULL;
	if (reply->err && reply->err->code == E_FORBIDDEN) /* ALM may not impersonate */
		end(l->w, reply->err);
	else if (reply->err)
		work_fail(l->w, reply->err);
	else if (obj_flag(reply->body, "status.allowed", false))
		answer(l, true);
	else if (!try_binding(l))
		answer(l, false);
}

static void ask_one_by_one(struct work *w)
{
	struct reviewing *r = reviewing_of(w);
	r->n_busy = ARRAY_LEN(r->lanes);
	for (size_t i = 0; i < ARRAY_LEN(r->lanes); i++)
		r->lanes[i].w = w;
	for (size_t i = ARRAY_LEN(r->lanes); i-- > 0;) /* the last that has nothing ends it */
		lane_next(&r->lanes[i]);
}

/* --- by rules --- */

static bool is_allowed(const struct obj *status, const struct obj *q)
{
	const char *path = obj_str(q, "path");
	const struct rbac_attributes at = {.verb = text_of(q, "verb"),
					   .is_resource = !path,
					   .group = text_of(q, "group"),
					   .resource = text_of(q, "resource"),
					   .subresource = text_of(q, "subresource"),
					   .name = text_of(q, "name"),
					   .path = path ? path : ""};
	const struct obj *rules = obj_get(status, path ? "nonResourceRules" : "resourceRules");
	bool allowed = false;
	for (size_t i = 0; i < obj_len(rules) && !allowed; i++)
		allowed = rbac_rule_allows(obj_at(rules, i), &at);
	return allowed;
}

static void judge_by_rules(struct work *w, const struct obj *status)
{
	struct reviewing *r = reviewing_of(w);
	for (size_t i = 0; i < r->n; i++) {
		const struct obj *q = question(w, i);
		bool is_of_it = cstr_eq(text_of(q, "namespace"), r->ns ? r->ns : "");
		if (r->verdict[i] != NOT_ASKED || (r->ns && !is_of_it))
			continue;
		if (is_allowed(status, q))
			r->verdict[i] = ALLOWED;
		else if (is_of_it)
			r->verdict[i] = OPEN;
	}
}

static void leave_open(struct reviewing *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->verdict[i] == NOT_ASKED)
			r->verdict[i] = OPEN;
}

static bool is_usable(const struct obj *status, size_t n_questions)
{
	size_t n = obj_len(obj_get(status, "resourceRules")) +
		   obj_len(obj_get(status, "nonResourceRules"));
	return !obj_flag(status, "incomplete", true) && n <= COMPARISONS_MAX / (n_questions + 1);
}

static void ruled(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	struct reviewing *r = reviewing_of(w);
	const struct obj *status = obj_get(reply->body, "status");
	w->call = NULL;
	if (reply->err && reply->err->code != E_FORBIDDEN &&
	    error_retry(reply->err->code) != RETRY_NEVER) {
		work_fail(w, reply->err);
		return;
	}
	if (!reply->err && is_usable(status, r->n))
		judge_by_rules(w, status);
	else
		leave_open(r);
	rules_next(w);
}

static void ask_rules(struct work *w, const char *ns)
{
	const struct client_options as = {.as = w->action->as, .asks = true};
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	reviewing_of(w)->ns = ns;
	obj_set_str(o, "apiVersion", "authorization.k8s.io/v1");
	obj_set_str(o, "kind", "SelfSubjectRulesReview");
	obj_set_path(o, "spec.namespace", obj_string(ns ? ns : NO_NAMESPACE));
	w->call = client_create(w->client, &rules_reviews, NULL, o, &as, ruled, w);
}

/* Those of the namespace that the rules of all do not allow, if they are worth a request. */
static bool is_worth(struct work *w, const char *ns)
{
	const struct reviewing *r = reviewing_of(w);
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		n += r->verdict[i] == NOT_ASKED &&
		     cstr_eq(text_of(question(w, i), "namespace"), ns);
	return n >= WORTH_RULES;
}

static void rules_next(struct work *w)
{
	struct reviewing *r = reviewing_of(w);
	for (size_t i = 0; i < r->n; i++) {
		const char *ns = text_of(question(w, i), "namespace");
		if (r->verdict[i] != NOT_ASKED)
			continue;
		if (is_worth(w, ns)) {
			ask_rules(w, ns);
			return;
		}
		r->verdict[i] = OPEN;
	}
	ask_one_by_one(w);
}

/* All questions are of it, and its rules have those of all in them, too: one request instead of
 * two. */
static const char *only_namespace(struct work *w)
{
	const char *ns = text_of(question(w, 0), "namespace");
	for (size_t i = 1; i < reviewing_of(w)->n; i++)
		if (!cstr_eq(text_of(question(w, i), "namespace"), ns))
			return NULL;
	return *ns ? ns : NULL;
}

static void start(struct work *w)
{
	struct reviewing *r = ARENA_NEW(w->a, struct reviewing);
	*(struct reviewing **)w->state = r;
	r->n = obj_len(w->action->body);
	r->verdict = ARENA_ARRAY(w->a, enum verdict, r->n + 1);
	if (r->n >= WORTH_RULES)
		ask_rules(w, only_namespace(w));
	else
		rules_next(w);
}

static void cancel(struct work *w)
{
	struct reviewing *r = reviewing_of(w);
	for (size_t i = 0; i < ARRAY_LEN(r->lanes); i++)
		if (r->lanes[i].call)
			client_cancel(w->client, r->lanes[i].call);
}

const struct work_kind review_work = {.name = "review", .start = start, .cancel = cancel};
