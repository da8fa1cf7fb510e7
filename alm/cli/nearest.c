#include "alm/cli/nearest.h"

#include <string.h>

#include "alm/obj/meta.h"

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, one row at a time. */
static size_t distance(const char *x, const char *y)
{
	size_t row[NEAREST_BYTES_MAX + 1], n = strlen(y);
	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 0; x[i]; i++) {
		size_t diagonal = row[0];
		row[0] = i + 1;
		for (size_t k = 0; k < n; k++) {
			size_t change = diagonal + (x[i] != y[k]);
			diagonal = row[k + 1];
			row[k + 1] = least(change, least(row[k], row[k + 1]) + 1);
		}
	}
	return row[n];
}

const char *nearest_name(const char *word, const struct obj *names)
{
	const char *best = NULL, *beginning = NULL, *containing = NULL;
	size_t n = strlen(word), max = n / 3 + 1;
	for (size_t i = 0; n && n <= NEAREST_BYTES_MAX && i < obj_len(names); i++) {
		const char *name = obj_as_string(obj_at(names, i));
		if (!name || strlen(name) > NEAREST_BYTES_MAX)
			continue;
		size_t d = distance(word, name);
		if (d < max || (d == max && !best)) {
			best = name;
			max = d;
		}
		if (!beginning && cstr_has_prefix(name, word))
			beginning = name;
		if (!containing && strstr(name, word))
			containing = name;
	}
	if (beginning && max > 1) /* one letter wrong is nearer than the rest left out */
		return beginning;
	return best ? best : beginning ? beginning : containing;
}

const char *nearest_hint(const char *word, const struct obj *names, const char *prefix,
			 struct arena *a)
{
	const char *like = nearest_name(word, names);
	return like ? arena_fmt(a, " (did you mean %s%s?)", prefix, like) : "";
}

const char *nearest_object_hint(const char *word, const struct obj *list, struct arena *a)
{
	CLEANUP(obj_unrefp) struct obj *names = obj_list();
	const struct obj *items = obj_get(list, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		obj_append(names, obj_string(meta_name(obj_at(items, i))));
	return nearest_hint(word, names, "", a);
}
