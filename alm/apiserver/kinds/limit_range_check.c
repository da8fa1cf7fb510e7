/* limit_range_check: is a LimitRange one? In the words of the real server, its slips included (which value is told). */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/limit_range.h"
#include "alm/apiserver/kinds/pod_amount.h"
#include "alm/obj/quantity.h"

enum value { MIN, MAX, DEFAULT, REQUEST, RATIO, VALUES };

static const char *const fields[VALUES] = {"min", "max", "default", "defaultRequest",
					   "maxLimitRequestRatio"};

/* One resource of one item. */
struct limit {
	struct field_errors *e;
	const char *path, *name;
	struct quantity q[VALUES];
	const char *text[VALUES]; /* NULL: not given */
};

static void read_limit(struct limit *l, const struct obj *item)
{
	bool is_pod = cstr_eq(obj_str(item, "type"), "Pod"); /* has no defaults to compare */
	for (int i = 0; i < VALUES; i++) {
		if (is_pod && (i == DEFAULT || i == REQUEST))
			continue;
		l->text[i] = obj_as_string(obj_get(obj_get(item, fields[i]), l->name));
		if (l->text[i] && !quantity_read(str_of(l->text[i]), &l->q[i]))
			l->text[i] = NULL;
	}
}

/* a and b are given, and a is more than b: told at a field, with the value of another. */
static void no_more(const struct limit *l, enum value a, enum value b, enum value at,
		    enum value told, const char *a_is, const char *b_is)
{
	if (!l->text[a] || !l->text[b] || l->q[a].nanos <= l->q[b].nanos)
		return;
	field_errors_add(l->e, FIELD_INVALID,
			 arena_fmt(l->e->arena, "%s.%s[%s]", l->path, fields[at], l->name),
			 "Invalid value: \"%s\": %s value %s is greater than %s value %s",
			 l->text[told], a_is, l->text[a], b_is, l->text[b]);
}

static void check_ratio(const struct limit *l)
{
	const char *path = arena_fmt(l->e->arena, "%s.%s[%s]", l->path, fields[RATIO], l->name);
	if (!l->text[RATIO])
		return;
	double ratio = (double)l->q[RATIO].nanos / 1e9;
	if (ratio < 1)
		field_errors_add(l->e, FIELD_INVALID, path,
				 "Invalid value: \"%s\": ratio %s is less than 1", l->text[RATIO],
				 l->text[RATIO]);
	if (!l->text[MAX] || l->q[MIN].nanos <= 0) /* 0: none is given */
		return;
	double most = (double)l->q[MAX].nanos / (double)l->q[MIN].nanos;
	if (ratio > most)
		field_errors_add(l->e, FIELD_INVALID, path,
				 "Invalid value: \"%s\": ratio %s is greater than max/min = %f",
				 l->text[RATIO], l->text[RATIO], most);
}

static void check_limit(struct limit *l, const struct obj *item)
{
	read_limit(l, item);
	no_more(l, MIN, MAX, MIN, MIN, "min", "max");
	no_more(l, MIN, REQUEST, REQUEST, REQUEST, "min", "default request");
	no_more(l, REQUEST, MAX, REQUEST, REQUEST, "default request", "max");
	no_more(l, REQUEST, DEFAULT, REQUEST, REQUEST, "default request", "default limit");
	no_more(l, MIN, DEFAULT, DEFAULT, MIN, "min", "default");
	no_more(l, DEFAULT, MAX, DEFAULT, MAX, "default", "max");
	check_ratio(l);
	if (!resource_is_shared(l->name) && l->text[DEFAULT] && l->text[REQUEST] &&
	    l->q[DEFAULT].nanos != l->q[REQUEST].nanos)
		field_errors_add(
			l->e, FIELD_INVALID,
			arena_fmt(l->e->arena, "%s.%s[%s]", l->path, fields[REQUEST], l->name),
			"Invalid value: \"%s\": default value %s must equal to "
			"defaultRequest value %s in %s",
			l->text[REQUEST], l->text[DEFAULT], l->text[REQUEST], l->name);
}

/* Has one of the fields before this one the resource, too? */
static bool is_seen(const struct obj *item, int field, const char *name)
{
	for (int i = 0; i < field; i++)
		if (obj_has(obj_get(item, fields[i]), name))
			return true;
	return false;
}

static void check_type(struct field_errors *e, const char *type, const char *path)
{
	static const char *const known[] = {"Pod", "Container", "PersistentVolumeClaim", NULL};
	if (name_fault(NAME_QUALIFIED, str_of(type)))
		check_qualified(e, path, type);
	else if (!strchr(type, '/') && !cstr_in(type, known))
		check_invalid_text(e, path, type,
				   "must be a standard limit type or fully qualified");
}

/* Which resources a field names. */
static void check_names(struct field_errors *e, const struct obj *item, const char *path,
			enum value field)
{
	static const char *const of_containers[] = {"Pod", "Container", NULL};
	bool narrow = cstr_in(check_text(item, "type"), of_containers);
	bool is_default = field == DEFAULT || field == REQUEST;
	if (is_default && cstr_eq(obj_str(item, "type"), "Pod")) {
		if (obj_len(obj_get(item, fields[field])))
			check_forbidden(e, check_below(e, path, fields[field]),
					"may not be specified when `type` is 'Pod'");
		return;
	}
	OBJ_EACH (it, obj_get(item, fields[field])) {
		const char *at = arena_fmt(e->arena, "%s.%s[%s]", path, fields[field], it.key);
		if (narrow)
			check_container_resource(e, at, it.key);
		else
			check_resource_name(e, at, it.key);
	}
}

static void check_all_names(struct field_errors *e, const struct obj *item, const char *path)
{
	static const enum value order[] = {MAX, MIN, DEFAULT, REQUEST};
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		check_names(e, item, path, order[i]);
	if (cstr_eq(obj_str(item, "type"), "PersistentVolumeClaim") &&
	    !obj_has(obj_get(item, "min"), "storage") && !obj_has(obj_get(item, "max"), "storage"))
		check_required(e, check_below(e, path, "limits"),
			       "either minimum or maximum storage value is required, but neither "
			       "was provided");
	check_names(e, item, path, RATIO);
}

void limit_range_check(struct field_errors *e, const struct obj *range)
{
	const struct obj *items = obj_path(range, "spec.limits");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *item = obj_at(items, i);
		const char *path = arena_fmt(e->arena, "spec.limits[%zu]", i);
		const char *type = check_text(item, "type");
		check_type(e, type, check_below(e, path, "type"));
		if (check_again(seen, type))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, path, "type"),
					      type);
		check_all_names(e, item, path);
		for (int f = 0; f < VALUES; f++)
			OBJ_EACH (it, obj_get(item, fields[f])) {
				struct limit l = {.e = e, .path = path, .name = it.key};
				if (!is_seen(item, f, it.key))
					check_limit(&l, item);
			}
	}
}
