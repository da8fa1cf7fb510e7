/* The configuration of a trigger on resources, and a key through each of its resources: the last
 * line of the input. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "alm/source/keymap.h"

#define ARENA_MAX ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct keymap *k;
	struct str text = str_n((const char *)data, size), head, last = STR_NONE;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	if (!str_rcut(text, '\n', &head, &last))
		head = text;
	const char *key = arena_strndup(a, last.ptr ? last.ptr : "", last.len), *to;
	if (fuzz_noted(keymap_read(head, "t.yaml", a, &k, &err), &err) < 0)
		return 0;
	assert(k->n && k->main);
	for (size_t i = 0; i < k->n; i++)
		if (fuzz_noted(keymap_key(k, &k->resources[i], key, a, &to, &err), &err) == 0 &&
		    to) {
			fuzz_note_text(to);
			assert(&k->resources[i] != k->main || cstr_eq(to, key));
		}
	return 0;
}
