/* limit_range: see limit_range.h. */
#include "alm/apiserver/kinds/limit_range.h"

#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/kinds/pod_amount.h"
#include "alm/base/strbuf.h"
#include "alm/obj/meta.h"
#include "alm/obj/quantity.h"

#define ANNOTATION "kubernetes.io/limit-ranger"
#define FAULTS_MAX 32 /* the rest is not told */
#define NAMES_MAX  16

/* --- defaults --- */

static void fill(struct obj *item, const char *field, const struct obj *from)
{
	OBJ_EACH (it, from) {
		if (!obj_get(item, field))
			obj_set(item, field, obj_map());
		if (!obj_has(obj_get(item, field), it.key))
			obj_set(obj_get_mut(item, field), it.key, obj_ref(it.value));
	}
}

void limit_range_default(struct obj *range)
{
	if (obj_type(obj_path(range, "spec.limits")) != OBJ_LIST)
		return;
	struct obj *list = obj_get_mut(obj_get_mut(range, "spec"), "limits");
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *item = obj_at_mut(list, i);
		if (!cstr_eq(obj_str(item, "type"), "Container"))
			continue;
		fill(item, "default", obj_get(item, "max"));
		fill(item, "defaultRequest", obj_get(item, "default"));
		fill(item, "defaultRequest", obj_get(item, "min"));
	}
}

/* One list of one container, and a note for the annotation of what was set. */
static void apply_list(struct obj *container, const char *list, const struct obj *values,
		       const char *label, struct strbuf *note)
{
	const char *names[NAMES_MAX];
	size_t n = 0;
	OBJ_EACH (it, values) {
		if (n == NAMES_MAX ||
		    obj_has(obj_get(obj_get(container, "resources"), list), it.key))
			continue;
		if (obj_type(obj_get(container, "resources")) != OBJ_MAP)
			obj_set(container, "resources", obj_map());
		struct obj *resources = obj_get_mut(container, "resources");
		if (obj_type(obj_get(resources, list)) != OBJ_MAP)
			obj_set(resources, list, obj_map());
		obj_set(obj_get_mut(resources, list), it.key, obj_ref(it.value));
		names[n++] = it.key;
	}
	if (!n)
		return;
	qsort(names, n, sizeof(*names), cstr_cmpp);
	strbuf_adds(note, note->len ? "; " : "LimitRanger plugin set: ");
	for (size_t i = 0; i < n; i++)
		strbuf_addf(note, "%s%s", i ? ", " : "", names[i]);
	const char *name = obj_str(container, "name");
	strbuf_addf(note, " %s for %s %s", strcmp(list, "limits") == 0 ? "limit" : "request", label,
		    name ? name : "");
}

static void apply_containers(struct obj *spec, const char *field, const char *label,
			     const struct obj *limits, const struct obj *requests,
			     struct strbuf *note)
{
	struct obj *list =
		obj_type(obj_get(spec, field)) == OBJ_LIST ? obj_get_mut(spec, field) : NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *container = obj_at_mut(list, i);
		if (obj_type(container) != OBJ_MAP)
			continue;
		apply_list(container, "requests", requests, label, note);
		apply_list(container, "limits", limits, label, note);
	}
}

void limit_range_apply(const struct obj *range, struct obj *pod)
{
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(STRBUF_SMALL * 64);
	CLEANUP(obj_unrefp) struct obj *limits = obj_map(), *requests = obj_map();
	const struct obj *items = obj_path(range, "spec.limits");
	if (obj_type(obj_get(pod, "spec")) != OBJ_MAP)
		return;
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *item = obj_at(items, i);
		if (!cstr_eq(obj_str(item, "type"), "Container"))
			continue;
		OBJ_EACH (it, obj_get(item, "default"))
			obj_set(limits, it.key, obj_ref(it.value));
		OBJ_EACH (it, obj_get(item, "defaultRequest"))
			obj_set(requests, it.key, obj_ref(it.value));
	}
	struct obj *spec = obj_get_mut(pod, "spec");
	apply_containers(spec, "containers", "container", limits, requests, &note);
	apply_containers(spec, "initContainers", "init container", limits, requests, &note);
	if (note.len && !note.over)
		meta_set_annotation(pod, ANNOTATION, note.buf);
}

/* --- limits --- */

struct faults {
	struct arena *a;
	const char *items[FAULTS_MAX];
	size_t n;
};

static void fault_add(struct faults *f, const char *text)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->items[i], text) == 0)
			return;
	if (f->n < FAULTS_MAX)
		f->items[f->n++] = text;
}

static const char *fault_text(const struct faults *f)
{
	if (f->n < 2)
		return f->n ? f->items[0] : NULL;
	const char *list = f->items[0];
	for (size_t i = 1; i < f->n; i++)
		list = arena_fmt(f->a, "%s, %s", list, f->items[i]);
	return arena_fmt(f->a, "[%s]", list);
}

/* One bound of one resource, and what is held against it. */
struct bound {
	const char *type, *name, *text;
	struct quantity q;
	struct amount request, limit;
};

static void exceeds(struct faults *f, const struct bound *b, const char *what, const char *which,
		    const struct amount *found)
{
	char text[QUANTITY_TEXT_MAX];
	quantity_print(&found->q, text);
	fault_add(f, arena_fmt(f->a, "%s %s usage per %s is %s, but %s is %s", what, b->name,
			       b->type, b->text, which, text));
}

static void missing(struct faults *f, const struct bound *b, const char *what, const char *which)
{
	fault_add(f, arena_fmt(f->a, "%s %s usage per %s is %s.  No %s is specified", what, b->name,
			       b->type, b->text, which));
}

static void check_min(struct faults *f, const struct bound *b)
{
	if (!b->request.is_there)
		missing(f, b, "minimum", "request");
	else if (b->request.q.nanos < b->q.nanos)
		exceeds(f, b, "minimum", "request", &b->request);
	else if (b->limit.is_there && b->limit.q.nanos < b->q.nanos)
		exceeds(f, b, "minimum", "limit", &b->limit);
}

static void check_max(struct faults *f, const struct bound *b)
{
	if (!b->limit.is_there)
		missing(f, b, "maximum", "limit");
	else if (b->limit.q.nanos > b->q.nanos)
		exceeds(f, b, "maximum", "limit", &b->limit);
	else if (b->request.is_there && b->request.q.nanos > b->q.nanos)
		exceeds(f, b, "maximum", "request", &b->request);
}

/* A claim has no limits. */
static void check_max_request(struct faults *f, const struct bound *b)
{
	if (!b->request.is_there)
		missing(f, b, "maximum", "request");
	else if (b->request.q.nanos > b->q.nanos)
		exceeds(f, b, "maximum", "request", &b->request);
}

static void check_ratio(struct faults *f, const struct bound *b)
{
	const struct amount *empty = !b->request.is_there || b->request.q.nanos == 0 ? &b->request
				     : !b->limit.is_there || b->limit.q.nanos == 0   ? &b->limit
										     : NULL;
	const char *why;
	if (empty) {
		const char *which = empty == &b->request ? "request" : "limit";
		why = arena_fmt(f->a, "no %s is specified or %s is 0", which, which);
	} else {
		double ratio = (double)b->limit.q.nanos / (double)b->request.q.nanos;
		if (ratio <= (double)b->q.nanos / 1e9)
			return;
		why = arena_fmt(f->a, "provided ratio is %f", ratio);
	}
	fault_add(f, arena_fmt(f->a, "%s max limit to request ratio per %s is %s, but %s", b->name,
			       b->type, b->text, why));
}

struct subject {
	const struct obj *resources; /* NULL: of the whole pod */
	const struct obj *pod;
};

static void check_each(struct faults *f, const struct obj *item, const char *field,
		       const struct subject *s,
		       void (*check)(struct faults *, const struct bound *))
{
	OBJ_EACH (it, obj_get(item, field)) {
		struct bound b = {.type = obj_str(item, "type"),
				  .name = it.key,
				  .text = obj_as_string(it.value)};
		if (!b.text || !quantity_read(str_of(b.text), &b.q))
			continue;
		b.request = s->pod ? amount_of_pod(s->pod, "requests", it.key)
				   : amount_in(s->resources, "requests", it.key);
		b.limit = s->pod ? amount_of_pod(s->pod, "limits", it.key)
				 : amount_in(s->resources, "limits", it.key);
		check(f, &b);
	}
}

static void check_all(struct faults *f, const struct obj *item, const struct subject *s)
{
	check_each(f, item, "min", s, check_min);
	check_each(f, item, "max", s, check_max);
	check_each(f, item, "maxLimitRequestRatio", s, check_ratio);
}

const char *limit_range_fault(const struct obj *range, const struct obj *pod, struct arena *a)
{
	static const char *const fields[] = {"spec.containers", "spec.initContainers"};
	struct faults f = {.a = a};
	const struct obj *items = obj_path(range, "spec.limits");
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *item = obj_at(items, i);
		bool single = cstr_eq(obj_str(item, "type"), "Container");
		for (size_t k = 0; single && k < ARRAY_LEN(fields); k++) {
			const struct obj *list = obj_path(pod, fields[k]);
			for (size_t j = 0; j < obj_len(list); j++)
				check_all(&f, item,
					  &(struct subject){.resources = obj_get(obj_at(list, j),
										 "resources")});
		}
		if (cstr_eq(obj_str(item, "type"), "Pod"))
			check_all(&f, item, &(struct subject){.pod = pod});
	}
	return fault_text(&f);
}

const char *limit_range_claim_fault(const struct obj *range, const struct obj *claim,
				    struct arena *a)
{
	struct faults f = {.a = a};
	const struct subject s = {.resources = obj_path(claim, "spec.resources")};
	const struct obj *items = obj_path(range, "spec.limits");
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *item = obj_at(items, i);
		if (!cstr_eq(obj_str(item, "type"), "PersistentVolumeClaim"))
			continue;
		check_each(&f, item, "min", &s, check_min);
		check_each(&f, item, "max", &s, check_max_request);
	}
	return fault_text(&f);
}
