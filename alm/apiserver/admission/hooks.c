/* hooks: see hooks.h. */
#include "alm/apiserver/admission/hooks_internal.h"

#include <string.h>

#include "alm/apiserver/admission/hook_line.h"
#include "alm/apiserver/admission/policies.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/waiting.h"
#include "alm/obj/meta.h"

#define NOTES_MAX       64 /* of one answer, for the log; further ones are dropped */
#define JUDGE_BYTES_MAX ((size_t)32 << 20)

static const char *const stages[HOOK_STAGES] = {"mutating", "validating"};

static const char *text(const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s ? s : "";
}

/* --- one webhook, one write --- */

int hook_internal_error(struct request *r, const char *why, struct error *err)
{
	struct status_cause *cause = ARENA_NEW(r->arena, struct status_cause);
	cause->message = arena_strdup(r->arena, why);
	int rc = fail_code(r, E_INTERNAL, err, "Internal error occurred: %s", cause->message);
	r->failure.details = true;
	r->failure.extra = cause;
	r->failure.n_extra = 1;
	return rc;
}

/* It could not be asked, or gave no answer. */
static int failed(struct consult *c, const char *why, struct error *err)
{
	struct request *r = c->asked->r;
	const struct admission_hook *h = c->hook;
	if (!h->ignores)
		return hook_internal_error(
			r, arena_fmt(r->arena, "failed calling webhook \"%s\": %s", h->name, why),
			err);
	request_annotate(r,
			 arena_fmt(r->arena,
				   "failed-open.%s.webhook.admission.k8s.io/round_%d_index_%zu",
				   stages[c->stage], c->round, c->index),
			 str_of(h->name));
	return CONSULT_NONE;
}

/* The Status of a refusal is what the webhook says, made one of a failure. */
static int denied(struct consult *c, struct error *err)
{
	struct request *r = c->asked->r;
	const struct obj *said = c->answer.status;
	const char *reason = text(said, "reason"), *message = text(said, "message");
	int64_t code = obj_i64(said, "code", 0);
	struct obj *o = obj_keep(r->arena, obj_map());
	const char *by =
		arena_fmt(r->arena, "admission webhook \"%s\" denied the request", c->hook->name);
	if (code < 400 || code > 599)
		code = 400;
	if (*message || *reason)
		message = arena_fmt(r->arena, "%s: %s", by, *message ? message : reason);
	else
		message = arena_fmt(r->arena, "%s without explanation", by);
	obj_set_str(o, "message", message);
	obj_set_str(o, "reason", *reason ? reason : NULL);
	if (obj_type(obj_get(said, "details")) == OBJ_MAP)
		obj_set(o, "details", obj_ref(obj_get(said, "details")));
	obj_set_int(o, "code", code);
	int rc = fail_code(r, error_from_http((int)code, reason), err, "%s", message);
	r->failure.status = o;
	r->failure.http = (int)code;
	return rc;
}

static void note(struct consult *c)
{
	struct request *r = c->asked->r;
	const struct obj *warnings = c->answer.warnings;
	for (size_t i = 0; i < obj_len(warnings); i++) {
		const char *w = obj_as_string(obj_at(warnings, i));
		if (w && *w)
			request_warn(r, "%s", w);
	}
	size_t n = 0;
	OBJ_EACH (it, c->answer.annotations)
		if (obj_type(it.value) == OBJ_STRING && n++ < NOTES_MAX)
			request_annotate(r, arena_fmt(r->arena, "%s/%.253s", c->hook->name, it.key),
					 str_sub(obj_as_str(it.value), 0, POLICY_ANNOTATION_MAX));
}

/* 1: it is about the write; 0: it is not; else it cannot be told. */
static int applies(struct consult *c, struct error *err)
{
	struct asked *asked = c->asked;
	const char *version = admission_match(c->hook->match, false, &asked->w), *why = NULL;
	if (!version)
		return 0;
	c->as = asked_in(asked, version);
	if (c->as->wrong.code)
		return error_copy(err, &c->as->wrong);
	if (!c->hook->conditions)
		return 1;
	CLEANUP(arena_freep) struct arena *a = arena_new(JUDGE_BYTES_MAX);
	struct policy_input in = c->as->in;
	in.space = NULL; /* conditions of webhooks have no namespaceObject */
	if (policy_applies(c->hook->conditions, &in, a, &why))
		return 1;
	return why ? fail_forbidden(asked->r, asked->w.name, err, "%s", why) : 0;
}

static int ask(struct consult *c, const struct hook_target *target,
	       const struct waiting_answer **ret, struct error *err)
{
	struct request *r = c->asked->r;
	const struct admission *w = &c->asked->w;
	const struct admission_hook *h = c->hook;
	const char *uid = meta_uid(w->old ? w->old : w->object); /* many are deleted without name */
	const struct review review = {.version = h->version,
				      .request = c->as->in.request,
				      .object = c->as->in.object,
				      .old = c->as->in.old};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(REVIEW_BYTES_MAX);
	review_print_request(&review, &b);
	const struct question q = {
		.about = arena_fmt(r->arena, "%s %s %zu %d %s %s/%s", stages[c->stage], h->uid,
				   h->index, c->round, w->operation, w->name, uid ? uid : ""),
		.target = target,
		.version = h->version,
		.request = strbuf_str(&b),
		.print = review_print,
		.timeout_ns = h->timeout_s * NS_PER_S,
	};
	return waiting_ask(r, &q, ret, err);
}

static int check_dry_run(const struct consult *c, struct error *err)
{
	if (!c->asked->dry_run || !c->hook->has_effects)
		return 0;
	return fail_code(c->asked->r, E_BADREQUEST, err,
			 "admission webhook \"%s\" does not support dry run", c->hook->name);
}

int hook_consult(struct consult *c, struct error *err)
{
	struct request *r = c->asked->r;
	struct hook_target target;
	const struct waiting_answer *a = NULL;
	struct error why = ERROR_INIT;
	int rc = applies(c, err);
	if (rc < 0)
		return waiting_is_wanted(r) ? CONSULT_OPEN : rc;
	if (rc == 0)
		return CONSULT_NONE;
	if (check_dry_run(c, err) < 0)
		return -err->code;
	rc = hook_target_find(r->server, c->hook->client, c->hook->timeout_s, r->arena, &target,
			      &why);
	if (rc < 0)
		return failed(c, arena_fmt(r->arena, "failed to call webhook: %s", why.msg), err);
	if (rc == HOOK_SIMULATED) {
		request_warn(r,
			     "webhook \"%s\" was not asked: the Pods behind its Service are "
			     "simulated",
			     c->hook->name);
		return CONSULT_NONE;
	}
	rc = ask(c, &target, &a, err);
	if (rc != WAITING_DONE)
		return rc < 0 ? rc : CONSULT_OPEN;
	if (a->failed)
		return failed(c, arena_fmt(r->arena, "failed to call webhook: %s", a->failed), err);
	bool mutating = c->stage == HOOKS_MUTATING;
	if (review_read(c->hook->version, a->uid, a->status, a->body, mutating, r->arena,
			&c->answer, &why) < 0)
		return failed(c, why.msg, err);
	note(c);
	return c->answer.allowed ? CONSULT_SAID : denied(c, err);
}

/* --- all of them --- */

/* Validating ones: all are asked at once, and the first that refuses, in their order, is told. */
static int validate_all(struct asked *asked, struct error *err)
{
	struct hook_list list;
	struct error first = ERROR_INIT;
	struct failure told = {0};
	bool open = false;
	hooks_list(asked->r, HOOKS_VALIDATING, &list);
	for (size_t i = 0; i < list.n; i++) {
		struct error one = ERROR_INIT;
		struct consult c = {.hook = list.items[i],
				    .asked = asked,
				    .stage = HOOKS_VALIDATING,
				    .index = i};
		int rc = hook_consult(&c, &one);
		open |= rc == CONSULT_OPEN;
		if (rc >= 0 || first.code)
			continue;
		first = one;
		told = asked->r->failure;
	}
	if (open)
		return waiting_for(asked->r, err);
	if (!first.code)
		return 0;
	asked->r->failure = told;
	return error_copy(err, &first);
}

/* Mutating ones about what they cannot change. */
static int mutate_nothing(struct asked *asked, struct error *err)
{
	struct hook_list list;
	hooks_list(asked->r, HOOKS_MUTATING, &list);
	for (size_t i = 0; i < list.n; i++) {
		struct consult c = {
			.hook = list.items[i], .asked = asked, .stage = HOOKS_MUTATING, .index = i};
		int rc = hook_consult(&c, err);
		if (rc < 0)
			return rc;
		if (rc == CONSULT_OPEN)
			return waiting_for(asked->r, err);
		if (rc == CONSULT_SAID && c.answer.patch)
			return hook_internal_error(
				asked->r,
				arena_fmt(
					asked->r->arena,
					"admission webhook \"%s\" attempted to modify the object, "
					"which is not supported for this operation",
					c.hook->name),
				err);
	}
	return 0;
}

int hooks_validate(struct mutation *m, struct error *err)
{
	struct asked asked;
	if (!hooks_any(m->r, HOOKS_VALIDATING) || !asked_write(&asked, m))
		return 0;
	return validate_all(&asked, err);
}

int hooks_delete(struct mutation *m, enum hook_stage stage, struct error *err)
{
	struct asked asked;
	if (!hooks_any(m->r, stage) || !asked_delete(&asked, m))
		return 0;
	return stage == HOOKS_MUTATING ? mutate_nothing(&asked, err) : validate_all(&asked, err);
}

void hooks_ask_delete(struct mutation *m)
{
	struct request *r = m->r, scratch = *r; /* what it finds is said later */
	struct request_told untold = *r->told;
	struct error ignored = ERROR_INIT;
	scratch.told = &untold;
	m->r = &scratch;
	if (hooks_delete(m, HOOKS_MUTATING, &ignored) == 0)
		(void)hooks_delete(m, HOOKS_VALIDATING, &ignored);
	m->r = r;
	r->waiting = scratch.waiting;
}

/* A body that is no object of the store, as what it is. */
struct posted {
	const struct obj *body;
	const char *group, *version, *kind;
	bool dry_run;
	bool hooks_alone; /* no policy is asked */
};

static int check_posted(struct request *r, const struct posted *p, struct error *err)
{
	struct asked asked;
	bool mutating = hooks_any(r, HOOKS_MUTATING), validating = hooks_any(r, HOOKS_VALIDATING);
	if (p->hooks_alone && !mutating && !validating)
		return 0;
	asked_body(&asked, r, p->body, p->group, p->version, p->kind, p->dry_run);
	if (mutating && mutate_nothing(&asked, err) < 0)
		return -err->code;
	if (!p->hooks_alone &&
	    policies_check_body(r, p->body, p->group, p->version, p->kind, p->dry_run, err) < 0)
		return -err->code;
	return validating ? validate_all(&asked, err) : 0;
}

int hooks_check_body(struct request *r, const struct obj *body, const char *group,
		     const char *version, const char *kind, bool dry_run, struct error *err)
{
	const struct posted p = {body, group, version, kind, dry_run, false};
	return check_posted(r, &p, err);
}

int hooks_check_review(struct request *r, const struct obj *body, struct error *err)
{
	const struct kind *k = r->kind;
	bool dry_run = cstr_eq(request_query(r, "dryRun"), "All");
	const struct posted p = {body, k->group, k->version, k->kind, dry_run, true};
	return check_posted(r, &p, err);
}
