/* cel_extent.c: where in an object a value is from, and how large it can be. */
#include "alm/obj/cel/cel_cost_node.h"

#include <math.h>
#include <string.h>

#include "alm/obj/schema/schema_node.h"

uint64_t cel_cost_plus(uint64_t a, uint64_t b)
{
	uint64_t r;
	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

uint64_t cel_cost_times(uint64_t a, uint64_t b)
{
	uint64_t r;
	return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}

uint64_t cel_cost_share(uint64_t n, double factor)
{
	double r = ceil((double)n * factor);
	return r >= 0x1p64 ? UINT64_MAX : (uint64_t)r;
}

struct cel_place cel_place_of(const struct schema *s)
{
	return (struct cel_place){.how = s ? PLACE_SCHEMA : PLACE_LOST, .s = s};
}

static const struct cel_place lost = {.how = PLACE_LOST}, text = {.how = PLACE_TEXT},
			      metadata = {.how = PLACE_METADATA};

struct cel_place cel_place_member(const struct cel_coster *c, struct cel_place p, const char *name)
{
	const struct schema *s;
	if (p.how == PLACE_NONE)
		return cel_place_of(c->root);
	if (p.how == PLACE_METADATA)
		return strcmp(name, "name") == 0 || strcmp(name, "generateName") == 0 ? text : lost;
	if (p.how != PLACE_SCHEMA || p.s->type != SCHEMA_OBJECT || p.s->additional)
		return lost;
	bool is_resource = (p.s == c->root && c->is_root) || p.s->embedded;
	if (is_resource && (strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0))
		return text;
	if (is_resource && strcmp(name, "metadata") == 0)
		return metadata;
	CLEANUP(arena_freep) struct arena *a = arena_new(CEL_TEXT_MAX);
	s = schema_property(p.s, cel_unescape(name, a)); /* self.__namespace__ */
	return cel_place_of(cel_is_exposed(s) ? s : NULL);
}

struct cel_place cel_place_items(const struct cel_coster *c, struct cel_place p)
{
	if (p.how == PLACE_NONE)
		return cel_place_of(c->root);
	if (p.how != PLACE_SCHEMA)
		return lost;
	return cel_place_of(p.s->type == SCHEMA_ARRAY ? p.s->items : p.s->additional);
}

/* What a variable is that stands for the keys, of a list for the numbers of its items. */
struct cel_place cel_place_keys(const struct cel_coster *c, struct cel_place p)
{
	if (p.how == PLACE_NONE)
		return cel_place_of(c->root);
	if (p.how == PLACE_SCHEMA && p.s->type == SCHEMA_OBJECT && p.s->additional)
		return (struct cel_place){.how = PLACE_KEY};
	return lost;
}

bool cel_place_extent(struct cel_place p, struct cel_extent *ret)
{
	*ret = (struct cel_extent){0};
	if (p.how == PLACE_NONE || p.how == PLACE_LOST)
		return false;
	if (p.how == PLACE_SCHEMA)
		ret->max = cel_elements_max(p.s);
	else if (p.how == PLACE_TEXT)
		ret->max = (uint64_t)CEL_REQUEST_BYTES - 2;
	return true;
}

static bool is_unbounded(enum cel_kind kind)
{
	return kind == CEL_STRING || kind == CEL_BYTES || kind == CEL_LIST || kind == CEL_MAP ||
	       kind == CEL_OBJECT || kind == CEL_IP || kind == CEL_CIDR || kind == CEL_QUANTITY ||
	       kind == CEL_SEMVER || kind == CEL_FORMAT || kind == CEL_URL;
}

struct cel_extent cel_extent_of(const struct cel_estimate *e)
{
	struct cel_extent r;
	if (e->sized)
		return e->size;
	if (cel_place_extent(e->place, &r))
		return r;
	bool optional = e->type.kind == CEL_OPTIONAL && e->type.inner;
	if (e->type.kind == CEL_OPTIONAL && !e->type.inner) /* of none() */
		return (struct cel_extent){0, UINT64_MAX};
	if (is_unbounded(optional ? e->type.inner->kind : e->type.kind))
		return (struct cel_extent){0, UINT64_MAX};
	return (struct cel_extent){1, 1};
}

struct cel_extent cel_extent_of_items(const struct cel_coster *c, const struct cel_estimate *list)
{
	struct cel_extent r;
	bool known = list->place.how != PLACE_NONE &&
		     cel_place_extent(cel_place_items(c, list->place), &r);
	return known ? r : (struct cel_extent){0, UINT64_MAX};
}
