#include "alm/engine/plan.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

void plan_init(struct plan *p, struct arena *a)
{
	*p = (struct plan){.a = a};
	p->tail = &p->head;
	secrets_init(&p->secrets, a);
}

void plan_hide(struct plan *p, const struct obj *doc)
{
	secrets_add_plan(&p->secrets, doc);
}

/* Objects carry values in spec.values, or in a part of their spec. */
static const struct secrets *secrets_of(struct plan *p, const struct obj *subject)
{
	if (p->known != subject) {
		const struct obj *spec = obj_get(subject, "spec");
		secrets_add_values(&p->secrets, obj_get(spec, "values"));
		OBJ_EACH (it, spec)
			secrets_add_values(&p->secrets, obj_get(it.value, "values"));
		p->known = subject;
	}
	return &p->secrets;
}

static struct obj *hide(const struct secrets *s, struct obj *o, bool all)
{
	if (!s->n)
		return o;
	struct obj *hidden = secrets_hide_texts(s, o, all);
	obj_unref(o);
	return hidden;
}

struct obj *plan_hide_messages(struct plan *p, const struct obj *live, struct obj *status)
{
	return hide(secrets_of(p, live), status, false);
}

struct action *plan_add(struct plan *p, enum act_type type)
{
	struct action *x = ARENA_NEW(p->a, struct action);
	x->type = type;
	x->id = "";
	x->step = p->step;
	*p->tail = x;
	p->tail = &x->next;
	p->n++;
	return x;
}

static void name_object(struct plan *p, struct action *x, const struct obj *o)
{
	struct gvk g = {"", "", ""};
	gvk_of(o, p->a, &g);
	x->resource = (struct resource){.group = g.group, .version = g.version, .kind = g.kind};
	const char *ns = meta_namespace(o), *name = meta_name(o);
	x->ns = ns ? arena_strdup(p->a, ns) : NULL;
	x->name = name ? arena_strdup(p->a, name) : "";
}

/* Nobody writes an app's objects as ALM: a step that forgot to ask for the account stops here. */
static struct action *add_for_app(struct plan *p, enum act_type type)
{
	assert(p->as || p->as_caller);
	struct action *x = plan_add(p, type);
	x->as = p->as;
	x->manager = p->manager;
	return x;
}

static void set_body(struct plan *p, struct action *x, struct obj *o)
{
	x->body = obj_keep(p->a, o);
	name_object(p, x, o);
}

static void set_patch(struct plan *p, struct action *x, const struct obj *live, struct obj *patch)
{
	name_object(p, x, live);
	obj_set_path(patch, "metadata.resourceVersion", obj_string(meta_resource_version(live)));
	x->body = obj_keep(p->a, patch);
}

static void set_doomed(struct plan *p, struct action *x, const struct obj *live,
		       const char *propagation)
{
	name_object(p, x, live);
	x->uid = arena_strdup(p->a, meta_uid(live));
	x->resource_version = arena_strdup(p->a, meta_resource_version(live));
	x->propagation = propagation;
}

struct action *plan_apply(struct plan *p, struct obj *o, int stage, bool force)
{
	struct action *x = add_for_app(p, ACT_APPLY);
	x->stage = stage;
	x->force = force;
	set_body(p, x, o);
	return x;
}

void plan_over(struct plan *p, struct action *x, const struct obj *live)
{
	x->uid = arena_strdup(p->a, meta_uid(live));
	x->resource_version = arena_strdup(p->a, meta_resource_version(live));
}

void plan_create(struct plan *p, struct obj *o)
{
	set_body(p, add_for_app(p, ACT_CREATE), o);
}

struct action *plan_patch(struct plan *p, const struct obj *live, struct obj *patch)
{
	struct action *x = add_for_app(p, ACT_PATCH);
	set_patch(p, x, live, patch);
	return x;
}

struct action *plan_delete(struct plan *p, const struct obj *live, const char *propagation)
{
	struct action *x = add_for_app(p, ACT_DELETE);
	set_doomed(p, x, live, propagation);
	return x;
}

void plan_own_apply(struct plan *p, struct obj *o)
{
	struct action *x = plan_add(p, ACT_APPLY);
	x->force = true;
	set_body(p, x, o);
}

struct action *plan_own_create(struct plan *p, struct obj *o)
{
	struct action *x = plan_add(p, ACT_CREATE);
	set_body(p, x, o);
	return x;
}

struct action *plan_own_patch(struct plan *p, const struct obj *live, struct obj *patch)
{
	struct action *x = plan_add(p, ACT_PATCH);
	set_patch(p, x, live, patch);
	return x;
}

void plan_own_delete(struct plan *p, const struct obj *live)
{
	set_doomed(p, plan_add(p, ACT_DELETE), live, "Background");
}

struct action *plan_work(struct plan *p, const struct work_kind *kind, const char *id)
{
	struct action *x = plan_add(p, ACT_WORK);
	x->work = kind;
	x->id = id;
	return x;
}

struct action *plan_app_work(struct plan *p, const struct work_kind *kind, const char *id)
{
	struct action *x = add_for_app(p, ACT_WORK);
	x->work = kind;
	x->id = id;
	return x;
}

void plan_watch(struct plan *p, const struct resource *r, const char *selector, bool metadata_only)
{
	struct action *x = plan_add(p, ACT_WATCH);
	x->resource = resource_copy(r, p->a);
	x->selector = selector;
	x->metadata_only = metadata_only;
}

void plan_record(struct plan *p, const char *key, const struct obj *record)
{
	struct action *x = ARENA_NEW(p->a, struct action);
	*x = (struct action){.type = ACT_RECORD, .id = key, .body = record, .step = p->step};
	x->next = p->head;
	p->head = x;
	if (!x->next)
		p->tail = &x->next;
	p->n++;
}

void plan_requeue_after(struct plan *p, int64_t ns)
{
	if (ns < 1)
		ns = 1;
	if (!p->requeue_after_ns || ns < p->requeue_after_ns)
		p->requeue_after_ns = ns;
}

enum ensured plan_await(struct plan *p, int64_t left_ns)
{
	if (left_ns > 0)
		plan_requeue_after(p, left_ns);
	return left_ns > 0 ? WAITING : DONE;
}

void plan_take(struct plan *p, const struct plan *from)
{
	if (from->n) {
		*p->tail = from->head;
		p->tail = from->tail;
	}
	p->n += from->n;
	secrets_take(&p->secrets, &from->secrets);
	if (from->requeue_after_ns)
		plan_requeue_after(p, from->requeue_after_ns);
}

struct action *plan_row(struct plan *p, const char *type, const struct obj *subject,
			const char *reason, const char *key, struct obj *body)
{
	struct action *x = plan_add(p, ACT_ROW);
	x->row_type = type;
	x->reason = reason;
	x->key = key;
	x->subject = subject;
	x->body = obj_keep(p->a, hide(secrets_of(p, subject), body, true));
	x->advances = true;
	name_object(p, x, subject);
	return x;
}

struct action *plan_told(struct plan *p, const struct obj *subject, struct obj *status,
			 const char *reason, const char *message)
{
	struct action *x = plan_row(p, "Transition", subject, reason, NULL, status);
	x->message = message;
	return x;
}

struct action *plan_status(struct plan *p, const struct obj *live, struct obj *status,
			   const char *reason, const char *message)
{
	struct action *x = plan_add(p, ACT_STATUS);
	x->row_type = "Transition";
	x->reason = reason;
	/* copied: it may be an outcome's, which can go before the row is written */
	x->message = message ? arena_strdup(p->a, secrets_hide(secrets_of(p, live), message)) : "";
	x->subject = live;
	x->body = obj_keep(p->a, status);
	name_object(p, x, live);
	return x;
}

static const char *text(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

static const struct obj *share(struct arena *a, const struct obj *o)
{
	return o ? obj_keep(a, obj_ref(o)) : NULL;
}

static struct action *move(const struct action *from, struct arena *a)
{
	struct action *x = arena_memdup(a, from, sizeof(*from));
	const char **const texts[] = {
		&x->resource.group,
		&x->resource.version,
		&x->resource.plural,
		&x->resource.kind,
		&x->as,
		&x->manager,
		&x->id,
		&x->ns,
		&x->name,
		&x->uid,
		&x->resource_version,
		&x->propagation,
		&x->row_type,
		&x->reason,
		&x->message,
		&x->key,
		&x->chain,
		&x->touches,
		&x->event_type,
		&x->actor,
		&x->actor_via,
		&x->also_chain,
		&x->subresource,
		&x->selector,
		&x->expect,
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = text(a, *texts[i]);
	x->body = share(a, from->body);
	x->inputs = share(a, from->inputs);
	x->subject = share(a, from->subject);
	x->event_of = share(a, from->event_of);
	x->next = NULL;
	return x;
}

void plan_move(struct plan *to, const struct plan *from, struct arena *a)
{
	plan_init(to, a);
	for (const struct action *x = from->head; x; x = x->next) {
		*to->tail = move(x, a);
		to->tail = &(*to->tail)->next;
		to->n++;
	}
	to->requeue_after_ns = from->requeue_after_ns;
	to->as = text(a, from->as);
	to->trigger = from->trigger;
	to->chain = text(a, from->chain);
	secrets_copy(&to->secrets, &from->secrets);
}

void plan_cut(struct plan *p, size_t n)
{
	struct action **at = &p->head;
	size_t kept = 0;
	bool cut = false;
	while (*at) {
		struct action *x = *at;
		bool said = x->type == ACT_ROW || x->type == ACT_STATUS;
		if (!said && (cut || kept == n)) {
			cut = true;
			*at = x->next;
			p->n--;
			continue;
		}
		kept += !said;
		at = &x->next;
	}
	p->tail = at;
	if (cut)
		plan_requeue_after(p, 1);
}

bool plan_has_writes(const struct plan *p)
{
	for (const struct action *x = p->head; x; x = x->next)
		if (x->type <= ACT_DELETE)
			return true;
	return false;
}
