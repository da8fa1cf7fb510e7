/* A tree of manifests: a file begins with a line "=== PATH", the text before the first is
 * .almignore. What is read survives its way out of a sandbox. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "alm/obj/json.h"
#include "alm/source/files.h"

#define ARENA_MAX ((size_t)512 << 20)
#define MARK      "=== "

static void add(struct files *f, struct str rules, struct str path, struct str text)
{
	struct error err = ERROR_INIT;
	const char *p = arena_strndup(f->a, path.ptr ? path.ptr : "", path.len);
	if (files_take(rules, p, FILES_FILE, &err) == 1)
		(void)files_add(f, p, text, &err);
}

static void split(struct files *f, struct str all)
{
	struct str rules = all, path = STR_NONE, line, rest = all;
	while (str_next_line(&rest, &line)) {
		if (!str_has_prefix(line, STR(MARK)))
			continue;
		size_t at = (size_t)(line.ptr - all.ptr);
		if (path.ptr)
			add(f, rules, path, str_sub(all, 0, at));
		else
			rules = str_sub(all, 0, at);
		all = rest;
		path = str_skip(line, sizeof(MARK) - 1);
	}
	if (path.ptr)
		add(f, rules, path, all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct flat flat, back;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct files f = {.a = a};
	flat_init(&flat, a);
	flat_init(&back, a);
	split(&f, str_n((const char *)data, size));
	files_sort(&f);
	if (fuzz_noted(files_flat(&f, "default", &flat, &err), &err) < 0)
		return 0;
	CLEANUP(obj_unrefp) struct obj *list = flat_encode(&flat);
	fuzz_note_obj(list);
	assert(flat_decode(list, "default", &back, &err) == 0);
	assert(back.n == flat.n);
	for (size_t i = 0; i < flat.n; i++)
		assert(flat_get(&back, flat.objects[i].key));
	return 0;
}
