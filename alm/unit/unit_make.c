#include "alm/unit/unit_make.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/str.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/switches.h"
#include "installers/order.h"

#define HUB_CHARS 8 /* of the identity of a cluster */

#define NAMES_TOLD_MAX 5

struct making {
	const struct rollout *rollout; /* NULL: none */
	const struct obj *rows;        /* of the document */
	size_t n;
	struct arena *a;
	bool *named;   /* by a step */
	size_t *taken; /* by the step that is being made */
	struct unit *unit;
	bool stored; /* it was taken as it is */
};

static const char *key_of(const struct making *m, size_t row)
{
	return obj_str(obj_at(m->rows, row), "key");
}

/* --- the steps that somebody wrote --- */

static int no_object(const struct making *m, const struct rollout_step *s, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < m->n && i < NAMES_TOLD_MAX; i++)
		strbuf_addf(&b, "%s%s", i ? ", " : "", key_of(m, i));
	if (m->n > NAMES_TOLD_MAX)
		strbuf_addf(&b, " and %zu more", m->n - NAMES_TOLD_MAX);
	return error_set(
		err, E_INVALID,
		"%s%s%s.object: UnknownObject: nothing that was rendered is \"%s\"; there %s: %s",
		m->rollout->file ? m->rollout->file : "", m->rollout->file ? ": " : "", s->field,
		s->object, m->n == 1 ? "is" : "are", m->n ? b.buf : "no objects");
}

static bool runs(const struct making *m, size_t row)
{
	const char *kind = obj_str(obj_at(m->rows, row), "object.kind");
	return cstr_eq(kind, "Job") || cstr_eq(kind, "Pod");
}

/* What else a Job needs may be in its step, too. */
static int check_job(const struct making *m, const struct unit_step *s, struct error *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (runs(m, s->rows[i]))
			return 0;
	return error_set(
		err, E_INVALID,
		"%s%s%s.action: Job: \"%s\" is neither a Job nor a Pod: nothing of it runs; "
		"CreateOrUpdate applies it",
		m->rollout->file ? m->rollout->file : "", m->rollout->file ? ": " : "",
		s->rule->field, key_of(m, s->rows[0]));
}

static int make_step(struct making *m, const struct rollout_step *rule, struct unit_step *ret,
		     struct error *err)
{
	*ret = (struct unit_step){.name = rule->name, .rule = rule, .action = rule->action};
	for (size_t row = 0; row < m->n; row++) {
		if (!rollout_step_takes(rule, key_of(m, row)))
			continue;
		m->named[row] = true;
		m->taken[ret->n++] = row;
	}
	ret->rows = arena_memdup(m->a, m->taken, (ret->n + 1) * sizeof(*ret->rows));
	if (!ret->n)
		return no_object(m, rule, err);
	return rule->action == ACTION_JOB && !m->stored ? check_job(m, ret, err) : 0;
}

static int make_group(struct making *m, const struct rollout_group *rule, struct unit_group *ret,
		      struct error *err)
{
	*ret = (struct unit_group){.name = rule->name, .parallel = rule->parallel};
	ret->steps = ARENA_ARRAY(m->a, struct unit_step, rule->n + 1);
	for (size_t i = 0; i < rule->n; i++)
		if (make_step(m, &rule->steps[i], &ret->steps[ret->n++], err) < 0)
			return -err->code;
	return 0;
}

static int make_rollout(struct making *m, struct error *err)
{
	const struct rollout *r = m->rollout;
	struct unit_part *part = &m->unit->parts[UNIT_ROLLOUT];
	if (!r)
		return 0;
	part->parallel = r->parallel;
	part->groups = ARENA_ARRAY(m->a, struct unit_group, r->n + 1);
	for (size_t i = 0; i < r->n; i++)
		if (make_group(m, &r->groups[i], &part->groups[part->n++], err) < 0)
			return -err->code;
	return 0;
}

/* --- the other objects --- */

static const char *group_name(const struct making *m, size_t row, const char *kind)
{
	const char *instance = obj_str(obj_at(m->rows, row), "instance");
	return instance ? arena_fmt(m->a, "%s/%s", instance, kind) : kind;
}

/* A group a kind, of each instance, with one step that has all of them. */
static void make_rest(struct making *m, enum rollout_rest rest)
{
	struct unit_part *part = &m->unit->parts[rest == REST_BEFORE ? UNIT_BEFORE : UNIT_AFTER];
	const char *last = NULL;
	size_t *all = ARENA_ARRAY(m->a, size_t, m->n + 1), n = 0;
	part->groups = ARENA_ARRAY(m->a, struct unit_group, m->n + 1);
	for (size_t row = 0; row < m->n; row++) {
		const char *kind = obj_str(obj_at(m->rows, row), "object.kind");
		const char *name = group_name(m, row, kind);
		if (m->named[row])
			continue;
		if (!cstr_eq(name, last)) {
			struct unit_group *g = &part->groups[part->n++];
			*g = (struct unit_group){
				.name = name, .steps = ARENA_NEW(m->a, struct unit_step), .n = 1};
			*g->steps = (struct unit_step){.name = kind};
			g->steps->rows = &all[n];
		}
		struct unit_step *step = part->groups[part->n - 1].steps;
		step->rows[step->n++] = row;
		n++;
		last = name;
	}
}

/* Groups and steps of the unit, whose document is there. */
static int lay_out(struct unit *u, const struct rollout *rollout, bool stored, struct arena *a,
		   struct error *err)
{
	struct making m = {.rollout = rollout, .a = a, .unit = u, .stored = stored};
	m.rows = obj_get(u->doc, "objects");
	m.n = obj_len(m.rows);
	m.named = ARENA_ARRAY(a, bool, m.n + 1);
	m.taken = ARENA_ARRAY(a, size_t, m.n + 1);
	u->goes_back = !rollout || rollout->rollback == ROLLBACK_PREVIOUS;
	if (make_rollout(&m, err) < 0)
		return -err->code;
	enum rollout_rest rest = rollout ? rollout->rest : REST_AFTER;
	if (rest != REST_IGNORE)
		make_rest(&m, rest);
	return 0;
}

int unit_lay_out(struct unit *u, const struct rollout *rollout, struct arena *a, struct error *err)
{
	return lay_out(u, rollout, false, a, err);
}

/* --- the document --- */

struct ordered {
	const struct flat_object *object;
	size_t at, rank; /* rank: of its instance; 0: of none */
	struct str kind;
};

/* CRDs first: what else there is may be of their kinds. What judges writes last: it may need what the others
 * bring, and would refuse them until then. */
static int place_of(struct str kind)
{
	static const char *const judges[] = {
		"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
		"MutatingAdmissionPolicy",      "MutatingAdmissionPolicyBinding",
		"ValidatingAdmissionPolicy",    "ValidatingAdmissionPolicyBinding"};
	for (size_t i = 0; i < ARRAY_LEN(judges); i++)
		if (str_is(kind, judges[i]))
			return 2;
	return str_is(kind, "CustomResourceDefinition") ? 0 : 1;
}

/* One instance after the other. */
static int by_install_order(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->object->instance != y->object->instance)
		return x->object->instance < y->object->instance ? -1 : 1;
	int px = place_of(x->kind), py = place_of(y->kind);
	if (px != py)
		return px < py ? -1 : 1;
	int c = order_install_cmp(x->kind, y->kind, TMPL_PROFILE_4_2);
	return c ? c : x->at < y->at ? -1 : 1;
}

/* As a server stores it: what it is compared with later. */
static const struct obj *stored_form(const struct obj *o, struct arena *a)
{
	const struct obj *texts = obj_get(o, "stringData");
	if (!cstr_eq(meta_kind(o), "Secret") || obj_type(texts) != OBJ_MAP)
		return o;
	struct obj *copy = obj_keep(a, obj_copy(o));
	struct obj *data = obj_copy_map(obj_get(o, "data"));
	OBJ_EACH (it, texts) {
		CLEANUP(strbuf_release) struct strbuf b64 = STRBUF_INIT(UINT32_MAX);
		base64_encode(obj_as_str(it.value), &b64);
		obj_set(data, it.key, obj_stringn(strbuf_str(&b64)));
	}
	obj_del(copy, "stringData");
	obj_set(copy, "data", data);
	return copy;
}

/* What is applied is the object under its rule: without it, or under another one, it is not yet. */
static void digest_of(const struct obj *object, struct obj *ignore, const struct unit_options *o,
		      char hex[SHA256_HEX])
{
	o->digest.fn(o->digest.arg, object, hex);
	if (!ignore)
		return;
	CLEANUP(obj_unrefp) struct obj *both = obj_map();
	obj_set_str(both, "digest", hex);
	obj_set(both, "ignore", obj_ref(ignore));
	json_digest(both, hex);
}

static struct obj *make_objects(const struct flat *flat, const struct unit_options *o)
{
	struct obj *list = obj_list();
	struct ordered *order = ARENA_ARRAY(flat->a, struct ordered, flat->n + 1);
	for (size_t i = 0; i < flat->n; i++) {
		const struct flat_object *x = &flat->objects[i];
		const struct flat_instance *whose = flat_instance_of(flat, x);
		order[i] = (struct ordered){x, i, whose ? whose->rank : 0,
					    str_of(meta_kind(x->object))};
	}
	qsort(order, flat->n, sizeof(*order), by_install_order);
	for (size_t i = 0; i < flat->n; i++) {
		char hex[SHA256_HEX];
		struct obj *row = obj_map();
		const struct obj *object = stored_form(order[i].object->object, flat->a);
		digest_of(object, order[i].object->ignore, o, hex);
		obj_set_str(row, "key", order[i].object->key);
		obj_set_str(row, "file", order[i].object->file);
		obj_set_str(row, "digest", hex);
		if (order[i].object->instance)
			obj_set_str(row, "instance", flat_instance_of(flat, order[i].object)->name);
		if (order[i].object->ignore)
			obj_set(row, "ignore", obj_ref(order[i].object->ignore));
		obj_set(row, "object", obj_ref(object));
		obj_append(list, row);
	}
	return list;
}

static const struct obj *make_doc(const struct flat *flat, const struct unit_options *o)
{
	struct obj *doc = obj_keep(flat->a, obj_map()), *owner = obj_map();
	obj_set_int(doc, "format", UNIT_FORMAT);
	obj_set_str(owner, "hub", o->hub);
	obj_set_str(owner, "bundle", o->bundle);
	obj_set_str(owner, "instance", o->instance);
	obj_set(doc, "owner", owner);
	obj_set_str(doc, "namespace", o->ns);
	obj_set(doc, "objects", make_objects(flat, o));
	if (o->rollout_text)
		obj_set(doc, "rollout", obj_ref(o->rollout_text));
	if (obj_len(o->hidden))
		obj_set(doc, "hidden", obj_ref(o->hidden));
	return doc;
}

/* Values of Secrets are in the digest by the keyed hashes of their objects alone. */
static void make_digest(struct unit *u)
{
	CLEANUP(obj_unrefp) struct obj *d = obj_copy_map(u->doc);
	struct obj *rows = obj_list();
	const struct obj *objects = obj_get(u->doc, "objects");
	for (size_t i = 0; i < obj_len(objects); i++) {
		struct obj *row = obj_map();
		obj_set_str(row, "key", obj_str(obj_at(objects, i), "key"));
		obj_set_str(row, "digest", obj_str(obj_at(objects, i), "digest"));
		obj_append(rows, row);
	}
	obj_set(d, "objects", rows);
	obj_del(d, "hidden");
	json_digest(d, u->digest);
}

const char *unit_hub(const char *identity, struct arena *a)
{
	return arena_fmt(a, "%.*s", HUB_CHARS, identity);
}

const char *unit_owner_id(const char *hub, const char *bundle, const char *instance,
			  struct arena *a)
{
	return arena_fmt(a, "%s.%s.%s", hub, bundle, instance);
}

const char *unit_manager(const char *hub, const char *bundle, struct arena *a)
{
	return arena_fmt(a, "alm:%s:%s", hub, bundle);
}

/* What its document says of it. */
static struct unit *of_doc(const struct obj *doc, struct arena *a)
{
	struct unit *u = ARENA_NEW(a, struct unit);
	u->doc = doc;
	u->hub = arena_strdup(a, obj_str(doc, "owner.hub"));
	u->bundle = arena_strdup(a, obj_str(doc, "owner.bundle"));
	u->instance = arena_strdup(a, obj_str(doc, "owner.instance"));
	u->ns = arena_strdup(a, obj_str(doc, "namespace"));
	u->owner_id = unit_owner_id(u->hub, u->bundle, u->instance, a);
	make_digest(u);
	return u;
}

static int check_switches(const struct flat *flat, struct error *err)
{
	for (size_t i = 0; i < flat->n; i++)
		if (switches_check(flat->objects[i].object, err) < 0)
			return error_wrap(err, "%s", flat->objects[i].key);
	return 0;
}

int unit_make(const struct flat *flat, const struct unit_options *o, struct unit **ret,
	      struct error *err)
{
	if (check_switches(flat, err) < 0)
		return -err->code;
	struct unit *u = of_doc(make_doc(flat, o), flat->a);
	if (unit_lay_out(u, o->rollout, flat->a, err) < 0)
		return -err->code;
	*ret = u;
	return 0;
}

int unit_load(const struct obj *doc, struct arena *a, struct unit **ret, struct error *err)
{
	const struct obj *text = obj_get(doc, "rollout"), *objects = obj_get(doc, "objects");
	struct rollout *rollout = NULL;
	if (obj_i64(doc, "format", 0) != UNIT_FORMAT || !obj_str(doc, "owner.hub") ||
	    !obj_str(doc, "owner.bundle") || !obj_str(doc, "owner.instance") ||
	    !obj_str(doc, "namespace"))
		return error_set(err, E_CORRUPT, "the stored unit is none of format %d",
				 UNIT_FORMAT);
	for (size_t i = 0; i < obj_len(objects); i++) {
		const struct obj *row = obj_at(objects, i), *o = obj_get(row, "object");
		if (!obj_str(row, "key") || !obj_str(row, "digest") || !meta_kind(o) ||
		    !meta_api_version(o) || !meta_name(o))
			return error_set(err, E_CORRUPT, "object %zu of the stored unit is none",
					 i);
	}
	const struct rollout_options options = {.file = "the stored unit", .any_plugin = true};
	if (text && rollout_parse(text, &options, a, &rollout, err) < 0)
		return -err->code;
	struct unit *u = of_doc(doc, a);
	if (lay_out(u, rollout, true, a, err) < 0)
		return -err->code;
	*ret = u;
	return 0;
}
