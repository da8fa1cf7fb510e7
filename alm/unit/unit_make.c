#include "alm/unit/unit_make.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/str.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "installers/order.h"

#define NAMES_TOLD_MAX 5

struct making {
	const struct flat *flat;
	const struct unit_options *o;
	struct arena *a;
	size_t *row_of; /* of each object of the map */
	bool *named;    /* by a step */
	size_t *taken;  /* by the step that is being made */
	struct unit *unit;
};

/* --- the steps that somebody wrote --- */

static int no_object(const struct making *m, const struct rollout_step *s, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < m->flat->n && i < NAMES_TOLD_MAX; i++)
		strbuf_addf(&b, "%s%s", i ? ", " : "", m->flat->objects[i].key);
	if (m->flat->n > NAMES_TOLD_MAX)
		strbuf_addf(&b, " and %zu more", m->flat->n - NAMES_TOLD_MAX);
	return error_set(
		err, E_INVALID,
		"%s.object: UnknownObject: nothing that was rendered is \"%s\"; there %s: %s",
		s->field, s->object, m->flat->n == 1 ? "is" : "are",
		m->flat->n ? b.buf : "no objects");
}

static int make_step(struct making *m, const struct rollout_step *rule, struct unit_step *ret,
		     struct error *err)
{
	*ret = (struct unit_step){.name = rule->name, .rule = rule, .action = rule->action};
	for (size_t i = 0; i < m->flat->n; i++) {
		if (!rollout_step_takes(rule, m->flat->objects[i].key))
			continue;
		m->named[i] = true;
		m->taken[ret->n++] = m->row_of[i];
	}
	ret->rows = arena_memdup(m->a, m->taken, (ret->n + 1) * sizeof(*ret->rows));
	return ret->n ? 0 : no_object(m, rule, err);
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
	const struct rollout *r = m->o->rollout;
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

/* A group a kind, with one step that has all of them. */
static void make_rest(struct making *m, enum rollout_rest rest)
{
	struct unit_part *part = &m->unit->parts[rest == REST_BEFORE ? UNIT_BEFORE : UNIT_AFTER];
	const struct obj *rows = obj_get(m->unit->doc, "objects");
	const char *last = NULL;
	size_t *all = ARENA_ARRAY(m->a, size_t, m->flat->n + 1), n = 0;
	part->groups = ARENA_ARRAY(m->a, struct unit_group, m->flat->n + 1);
	bool *rest_of = ARENA_ARRAY(m->a, bool, m->flat->n + 1);
	for (size_t i = 0; i < m->flat->n; i++)
		rest_of[m->row_of[i]] = !m->named[i];
	for (size_t row = 0; row < m->flat->n; row++) {
		const char *kind = obj_str(obj_at(rows, row), "object.kind");
		if (!rest_of[row])
			continue;
		if (!cstr_eq(kind, last)) {
			struct unit_group *g = &part->groups[part->n++];
			*g = (struct unit_group){
				.name = kind, .steps = ARENA_NEW(m->a, struct unit_step), .n = 1};
			*g->steps = (struct unit_step){.name = kind};
			g->steps->rows = &all[n];
		}
		struct unit_step *step = part->groups[part->n - 1].steps;
		step->rows[step->n++] = row;
		n++;
		last = kind;
	}
}

/* --- the document --- */

struct ordered {
	const struct flat_object *object;
	size_t at;
	struct str kind;
};

/* CRDs first: what else there is may be of their kinds. */
static int by_install_order(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	bool xc = str_is(x->kind, "CustomResourceDefinition"),
	     yc = str_is(y->kind, "CustomResourceDefinition");
	if (xc != yc)
		return xc ? -1 : 1;
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

static struct obj *make_objects(struct making *m)
{
	struct obj *list = obj_list();
	struct ordered *order = ARENA_ARRAY(m->a, struct ordered, m->flat->n + 1);
	for (size_t i = 0; i < m->flat->n; i++)
		order[i] = (struct ordered){&m->flat->objects[i], i,
					    str_of(meta_kind(m->flat->objects[i].object))};
	qsort(order, m->flat->n, sizeof(*order), by_install_order);
	for (size_t i = 0; i < m->flat->n; i++) {
		char hex[SHA256_HEX];
		struct obj *row = obj_map();
		const struct obj *object = stored_form(order[i].object->object, m->a);
		m->o->digest.fn(m->o->digest.arg, object, hex);
		obj_set_str(row, "key", order[i].object->key);
		obj_set_str(row, "file", order[i].object->file);
		obj_set_str(row, "digest", hex);
		obj_set(row, "object", obj_ref(object));
		obj_append(list, row);
		m->row_of[order[i].at] = i;
	}
	return list;
}

static const struct obj *make_doc(struct making *m)
{
	struct obj *doc = obj_keep(m->a, obj_map()), *owner = obj_map();
	obj_set_int(doc, "format", UNIT_FORMAT);
	obj_set_str(owner, "hub", m->o->hub);
	obj_set_str(owner, "bundle", m->o->bundle);
	obj_set_str(owner, "instance", m->o->instance);
	obj_set(doc, "owner", owner);
	obj_set_str(doc, "namespace", m->o->ns);
	obj_set(doc, "objects", make_objects(m));
	if (m->o->rollout_text)
		obj_set(doc, "rollout", obj_ref(m->o->rollout_text));
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
	json_digest(d, u->digest);
}

int unit_make(const struct flat *flat, const struct unit_options *o, struct unit **ret,
	      struct error *err)
{
	struct making m = {.flat = flat, .o = o, .a = flat->a};
	m.row_of = ARENA_ARRAY(m.a, size_t, flat->n + 1);
	m.named = ARENA_ARRAY(m.a, bool, flat->n + 1);
	m.taken = ARENA_ARRAY(m.a, size_t, flat->n + 1);
	struct unit *u = m.unit = ARENA_NEW(m.a, struct unit);
	u->hub = arena_strdup(m.a, o->hub);
	u->bundle = arena_strdup(m.a, o->bundle);
	u->instance = arena_strdup(m.a, o->instance);
	u->ns = arena_strdup(m.a, o->ns);
	u->owner_id = arena_fmt(m.a, "%s.%s.%s", o->hub, o->bundle, o->instance);
	u->doc = make_doc(&m);
	make_digest(u);
	if (make_rollout(&m, err) < 0)
		return -err->code;
	enum rollout_rest rest = o->rollout ? o->rollout->rest : REST_AFTER;
	if (rest != REST_IGNORE)
		make_rest(&m, rest);
	*ret = u;
	return 0;
}
