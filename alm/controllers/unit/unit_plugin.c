#include "alm/controllers/unit/unit_plugin.h"

#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/plugin.h"
#include "crds/marks.h"

#define CALL_MIN_NS (2 * NS_PER_S) /* has even one that is asked at the end of its step */

/* --- one call --- */

static void set_or_null(struct obj *o, const char *key, const struct obj *value)
{
	obj_set(o, key, value ? obj_ref(value) : obj_null());
}

struct asking {
	enum plugin_kind kind;
	const char *name, *step, *id; /* id: of this question among those of the attempt */
	const struct obj *object, *live, *config;
	struct obj *state; /* "n", "nextNs", "record" of the record */
	int64_t until_ns;  /* the step or the check is over then */
};

static void ask(struct unit_pass *s, const struct asking *q, const char *id)
{
	struct obj *body = obj_keep(s->v->a, obj_map()), *request = obj_map();
	obj_set_str(request, "step", q->step);
	set_or_null(request, "object", q->object);
	set_or_null(request, "live", q->live);
	set_or_null(request, "config", q->config);
	set_or_null(request, "record", obj_get(q->state, "record"));
	obj_set_int(body, "kind", (int64_t)q->kind);
	obj_set_str(body, "name", q->name);
	int64_t left = q->until_ns - s->v->now_ns;
	obj_set_int(body, "wallNs", left < CALL_MIN_NS ? CALL_MIN_NS : left);
	obj_set(body, "request", request);
	plan_work(s->plan, &plugin_work, id)->body = body;
}

/* The answer to the question that the record has come to; NULL: it is asked, or not due yet. ret_why:
 * what is wrong with it. */
static const struct obj *answer(struct unit_pass *s, const struct asking *q,
				struct plugin_answer *ret, const char **ret_why)
{
	int64_t n = obj_i64(q->state, "n", 0), next = obj_i64(q->state, "nextNs", 0);
	const char *id = unit_id(s, arena_fmt(s->v->a, "%s:%lld", q->id, (long long)n));
	struct error err = ERROR_INIT;
	if (plan_await(s->plan, next - s->v->now_ns) != DONE)
		return NULL;
	const struct outcome *o = view_outcome(s->v, id);
	if (!o) {
		ask(s, q, id);
		return NULL;
	}
	if (o->code) {
		*ret_why = o->msg;
		return NULL;
	}
	if (plugin_answer_read(o->value, q->kind, s->v->a, ret, &err) < 0) {
		*ret_why = arena_fmt(s->v->a, "PluginFailed: %s-%s: %s", plugin_kind_text(q->kind),
				     q->name, err.msg);
		return NULL;
	}
	return o->value;
}

/* What the next question tells, and when it is due. */
static void move_on(const struct unit_pass *s, const struct asking *q,
		    const struct plugin_answer *a, int64_t poll_ns)
{
	obj_set_int(q->state, "n", obj_i64(q->state, "n", 0) + 1);
	obj_set_int(q->state, "nextNs", s->v->now_ns + (a->poll_ns ? a->poll_ns : poll_ns));
	set_or_null(q->state, "record", a->record);
}

/* --- an action --- */

static const char *wrong(const struct plugin_turn *t, const char *what)
{
	return arena_fmt(t->s->v->a, "PluginFailed: action-%s: %s", t->step->rule->action_name,
			 what);
}

/* NULL: it is the object of the row, whatever version of its kind it names. */
static const char *not_of_step(const struct plugin_turn *t, const struct unit_entry *e,
			       const struct obj *o, size_t i)
{
	struct arena *a = t->s->v->a;
	struct gvk is = {"", "", ""}, want = {"", "", ""};
	const char *ns = meta_namespace(o);
	bool known = gvk_of(o, a, &is) && gvk_of(e->object, a, &want);
	if (known && cstr_eq(is.group, want.group) && cstr_eq(is.kind, want.kind) &&
	    cstr_eq(meta_name(o), e->name) && (!ns || cstr_eq(ns, e->ns)))
		return NULL;
	return wrong(t, arena_fmt(a,
				  "writes[%zu]: %s %s%s%s is not the object of this step, %s; what "
				  "else is to be there is rendered, and has a step of its own",
				  i, known ? is.kind : "an object", ns ? ns : "", ns ? "/" : "",
				  meta_name(o) ? meta_name(o) : "without a name",
				  unit_entry_text(e, a)));
}

/* Of a Secret the names alone, and which call it is of: its values show nowhere. */
static const char *digest_of(const struct plugin_turn *t, const struct obj *o, int64_t n)
{
	char hex[SHA256_HEX];
	if (!cstr_eq(meta_kind(o), "Secret")) {
		json_digest(o, hex);
		return arena_strdup(t->s->v->a, hex);
	}
	sha256_hex(str_of(arena_fmt(t->s->v->a, "%s/%s/%lld", obj_str(t->s->record, "run"), t->id,
				    (long long)n)),
		   hex);
	return arena_strdup(t->s->v->a, hex);
}

/* DONE once it is as the plugin wants it. */
static enum ensured apply(const struct plugin_turn *t, const struct unit_entry *e,
			  const struct obj *wanted, int64_t n)
{
	struct unit_pass *s = t->s;
	struct obj *o = obj_keep(s->v->a, obj_copy(wanted));
	if (e->ns)
		obj_set_path(o, "metadata.namespace", obj_string(e->ns));
	const char *digest = digest_of(t, o, n);
	const struct obj *live = unit_found(s, t->row);
	if (e->live && unit_owns(s->unit, e->live) &&
	    cstr_eq(meta_annotation(e->live, ANNOTATION_APPLIED), digest) &&
	    (cstr_eq(e->kind, "Secret") || unit_holds_object(e->live, o) ||
	     unit_is_as_left(s->v, e)))
		return DONE;
	if (e->unknown || (live && meta_is_deleting(live)))
		return WAITING;
	struct action *x =
		plan_apply(s->plan, unit_decorate(s, o, digest, t->row), t->stage, live != NULL);
	if (live)
		plan_over(s->plan, x, live);
	return WAITING;
}

static enum ensured remove_object(const struct plugin_turn *t, const struct unit_entry *e)
{
	const struct obj *live = unit_found(t->s, t->row);
	if (!live && !e->unknown)
		return DONE;
	if (live && !meta_is_deleting(live))
		plan_delete(t->s->plan, live, "Foreground");
	return WAITING;
}

static enum ensured write_all(const struct plugin_turn *t, const struct obj *writes, int64_t n,
			      const char **ret_why)
{
	const struct unit_entry *e = &t->s->entries[t->row];
	const char *no = unit_refusal(t->s, e, t->record);
	enum ensured all = DONE;
	for (size_t i = 0; i < obj_len(writes); i++) {
		const struct obj *wanted = obj_get(obj_at(writes, i), "apply");
		*ret_why = wanted ? not_of_step(t, e, wanted, i) : NULL;
		if (*ret_why)
			return ENDED;
		enum ensured one = wanted ? apply(t, e, wanted, n) : remove_object(t, e);
		if (one == WAITING)
			all = WAITING;
	}
	if (all == WAITING && no) {
		*ret_why = no;
		return ENDED;
	}
	if (all == WAITING)
		*ret_why = arena_fmt(t->s->v->a, "what action-%s wants is being written",
				     t->step->rule->action_name);
	return all;
}

/* The answer stays in the record until all of it is written. */
static enum ensured act_on(const struct plugin_turn *t, const struct asking *q,
			   const struct obj *said, const char **ret_why)
{
	struct unit_pass *s = t->s;
	struct plugin_answer a;
	struct error err = ERROR_INIT;
	if (plugin_answer_read(said, PLUGIN_ACTION, s->v->a, &a, &err) < 0) {
		*ret_why = wrong(t, err.msg);
		return ENDED;
	}
	enum ensured written = write_all(t, a.writes, obj_i64(q->state, "n", 0), ret_why);
	if (written != DONE)
		return written;
	const char *message = a.message ? a.message : "it has failed, and does not say why";
	if (a.state == PLUGIN_FAILED) {
		*ret_why = wrong(t, message);
		return ENDED;
	}
	if (a.state == PLUGIN_FINISHED)
		return DONE;
	*ret_why = arena_fmt(s->v->a, "action-%s: %s", t->step->rule->action_name,
			     a.message ? a.message : "in progress");
	const char *kept = arena_strdup(s->v->a, *ret_why);
	obj_set_str(q->state, "message", kept);
	move_on(s, q, &a, PLUGIN_POLL_NS);
	obj_del(q->state, "answer");
	plan_requeue_after(s->plan, obj_i64(q->state, "nextNs", 0) - s->v->now_ns);
	return WAITING;
}

enum ensured unit_plugin(const struct plugin_turn *t, const char **ret_why)
{
	struct unit_pass *s = t->s;
	const struct unit_entry *e = &s->entries[t->row];
	struct obj *state =
		obj_need_map(obj_need_map(t->record, "plugins"), arena_fmt(s->v->a, "%zu", t->row));
	const struct asking q = {.kind = PLUGIN_ACTION,
				 .name = t->step->rule->action_name,
				 .step = t->step->name,
				 .id = arena_fmt(s->v->a, "plugin:%s:%zu", t->id, t->row),
				 .object = e->object,
				 .live = unit_found(s, t->row),
				 .config = t->step->rule->config,
				 .state = state,
				 .until_ns = obj_i64(t->record, "sinceNs", 0) +
					     t->step->rule->timeout_ns};
	struct plugin_answer a;
	const char *why = NULL;
	const struct obj *said = obj_get(state, "answer");
	if (!said) {
		said = answer(s, &q, &a, &why);
		*ret_why = why ? why
			   : obj_str(state, "message")
				   ? obj_str(state, "message")
				   : arena_fmt(s->v->a, "action-%s is asked", q.name);
		if (!said)
			return why ? ENDED : WAITING;
		obj_set(state, "answer", obj_copy(said));
	}
	return act_on(t, &q, said, ret_why);
}

/* --- checks --- */

static void look(struct unit_pass *s, const struct asking *q, const struct rollout_check *check)
{
	static const char *const states[] = {[PLUGIN_IN_PROGRESS] = "InProgress",
					     [PLUGIN_FINISHED] = "Finished",
					     [PLUGIN_FAILED] = "Failed"};
	struct plugin_answer a = {.state = PLUGIN_FAILED};
	const char *why = NULL;
	if (!answer(s, q, &a, &why) && !why)
		return;
	obj_set_str(q->state, "state", states[a.state]);
	obj_set_str(q->state, "message", why ? why : a.message);
	move_on(s, q, &a, check->poll_ns);
}

const struct obj *unit_plugin_checks(struct unit_pass *s, const struct unit_step *step, size_t row,
				     const struct obj *live, struct obj *record)
{
	struct obj *all = NULL;
	for (size_t i = 0; step->rule && i < step->rule->n_success; i++) {
		const struct rollout_check *check = &step->rule->success[i];
		if (check->type != CHECK_PLUGIN)
			continue;
		const char *key = arena_fmt(s->v->a, "%zu/%zu", row, i);
		const struct asking q = {.kind = PLUGIN_CHECK,
					 .name = check->plugin,
					 .step = step->name,
					 .id = arena_fmt(s->v->a, "check:%s:%s", check->field, key),
					 .object = s->entries[row].object,
					 .live = live,
					 .config = check->config,
					 .state = obj_need_map(obj_need_map(record, "asked"), key),
					 .until_ns =
						 obj_i64(record, "sinceNs", 0) + check->timeout_ns};
		look(s, &q, check);
		all = all ? all : obj_keep(s->v->a, obj_map());
		obj_set(all, arena_fmt(s->v->a, "%zu", i), obj_copy(q.state));
	}
	return all;
}
