/* cel_bound.c: how large values of a schema can be, in an object of at most CEL_REQUEST_BYTES. */
#include <string.h>

#include "alm/obj/cel/cel_cost.h"
#include "alm/obj/schema/schema_node.h"

#define TIME_BYTES_MAX 32 /* of a duration or a time, with quotation marks */
#define DATE_BYTES     12

/* NOLINTBEGIN(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
bool cel_is_exposed(const struct schema *s)
{
	if (!s)
		return false;
	if (s->int_or_string)
		return true;
	if (s->type == SCHEMA_ARRAY)
		return cel_is_exposed(s->items);
	if (s->type == SCHEMA_OBJECT && s->additional)
		return cel_is_exposed(s->additional);
	return s->type == SCHEMA_OBJECT || s->type == SCHEMA_STRING || s->type == SCHEMA_BOOLEAN ||
	       s->type == SCHEMA_NUMBER || s->type == SCHEMA_INTEGER;
}

/* {} and the members that each object has; what has a default need not be sent. */
static int64_t object_bytes(const struct schema *s)
{
	int64_t n = 2;
	for (size_t i = 0; i < s->n_required; i++) {
		const struct schema *p = schema_property(s, s->required[i]);
		if (cel_is_exposed(p) && !p->default_value && n < CEL_REQUEST_BYTES)
			n += (int64_t)strlen(s->required[i]) + p->least_bytes + 4;
	}
	return n;
}

static int64_t bytes_of(const struct schema *s)
{
	if (s->int_or_string)
		return 1;
	if (s->type == SCHEMA_BOOLEAN)
		return 4;
	if (s->type == SCHEMA_NUMBER || s->type == SCHEMA_INTEGER)
		return 1;
	if (s->type == SCHEMA_OBJECT && !s->additional)
		return object_bytes(s);
	if (s->type != SCHEMA_STRING || !s->format)
		return 2;
	return strcmp(s->format, "duration") == 0    ? 3
	       : strcmp(s->format, "date") == 0      ? DATE_BYTES
	       : strcmp(s->format, "date-time") == 0 ? 21
						     : 2;
}

void cel_measure(struct schema *s)
{
	if (s->items)
		cel_measure(s->items);
	if (s->additional)
		cel_measure(s->additional);
	for (size_t i = 0; i < s->n_properties; i++)
		cel_measure(s->properties[i].schema);
	s->least_bytes = bytes_of(s);
}
/* NOLINTEND(misc-no-recursion) */

uint64_t cel_cardinality(const struct schema *s)
{
	return (uint64_t)(CEL_REQUEST_BYTES / (s->least_bytes + 1));
}

static int64_t enum_bytes(const struct schema *s)
{
	size_t most = 0;
	for (size_t i = 0; i < obj_len(s->enum_values); i++) {
		struct str text = obj_as_str(obj_at(s->enum_values, i));
		most = text.len > most ? text.len : most;
	}
	return (int64_t)most;
}

/* Bytes; a character of a text may have four. */
static int64_t text_max(const struct schema *s)
{
	const char *format = s->format ? s->format : "";
	bool is_bytes = strcmp(format, "byte") == 0;
	if (!s->int_or_string && strcmp(format, "date") == 0)
		return DATE_BYTES;
	if (!s->int_or_string &&
	    (strcmp(format, "duration") == 0 || strcmp(format, "date-time") == 0))
		return TIME_BYTES_MAX;
	if (s->max_length >= CEL_REQUEST_BYTES)
		return is_bytes ? s->max_length : INT64_MAX / 8;
	if (s->max_length != SCHEMA_UNSET)
		return s->max_length * (is_bytes ? 1 : 4);
	if (!s->int_or_string && !is_bytes && obj_len(s->enum_values))
		return enum_bytes(s);
	return CEL_REQUEST_BYTES - 2;
}

uint64_t cel_elements_max(const struct schema *s)
{
	if (s->int_or_string || s->type == SCHEMA_STRING)
		return (uint64_t)text_max(s);
	if (s->type == SCHEMA_ARRAY && s->max_items != SCHEMA_UNSET)
		return (uint64_t)s->max_items;
	if (s->type == SCHEMA_ARRAY)
		return (uint64_t)((CEL_REQUEST_BYTES - 2) / (s->items->least_bytes + 1));
	if (s->type != SCHEMA_OBJECT || !s->additional)
		return 0;
	if (s->max_properties != SCHEMA_UNSET)
		return (uint64_t)s->max_properties;
	return (uint64_t)((CEL_REQUEST_BYTES - 2) / (s->additional->least_bytes + 6));
}
