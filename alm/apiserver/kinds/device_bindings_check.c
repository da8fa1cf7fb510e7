/* device_bindings_check: see device_bindings_check.h. */
#include "alm/apiserver/kinds/device_bindings_check.h"

#include "alm/apiserver/kinds/field_check.h"

#define BINDINGS_MAX 4

void check_device_bindings(struct field_errors *e, const char *path, const struct obj *d)
{
	static const char *const fields[] = {"bindingConditions", "bindingFailureConditions"};
	CLEANUP(map_freep) struct map *others = map_new(NULL);
	for (size_t f = 0; f < ARRAY_LEN(fields); f++) {
		const struct obj *list = obj_get(d, fields[f]);
		const char *at = check_below(e, path, fields[f]);
		CLEANUP(map_freep) struct map *seen = map_new(NULL);
		size_t from = e->n;
		(void)check_length(e, at, list, BINDINGS_MAX);
		for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
			const char *s = obj_as_string(obj_at(list, i)), *name = s ? s : "";
			const char *here = check_at(e, at, i);
			check_qualified(e, here, name);
			if (check_again(seen, name))
				field_errors_add_text(e, FIELD_DUPLICATE, here, name);
			if (f == 0)
				(void)check_again(others, name);
			else if (map_has(others, name))
				check_invalid_text(e, here, name,
						   "bindingFailureConditions must not overlap with "
						   "bindingConditions");
		}
		check_said_since(e, from, list);
	}
	for (size_t f = 0; f < ARRAY_LEN(fields); f++)
		if (!obj_len(obj_get(d, fields[f])) && obj_len(obj_get(d, fields[1 - f]))) {
			check_invalid(e, check_below(e, path, fields[f]), NULL,
				      arena_fmt(e->arena, "%s are required to use %s", fields[f],
						fields[1 - f]));
			check_said_of(e, obj_get(d, fields[1 - f]));
		}
}
