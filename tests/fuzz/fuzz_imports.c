/* The imports of a Jsonnet file: what is found stands in the text, and its places are normal. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "alm/source/imports.h"

#define ARENA_MAX ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const jpath[] = {"vendor", "../lib"};
	const struct import_roots roots = {.tree = "", .jpath = jpath, .n_jpath = 2};
	struct error err = ERROR_INIT;
	struct import_refs refs;
	const char *place;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	if (fuzz_noted(imports_scan(a, str_n((const char *)data, size), &refs, &err), &err) < 0)
		return 0;
	assert(refs.n <= IMPORTS_MAX);
	for (size_t i = 0; i < refs.n; i++) {
		fuzz_note_text(refs.items[i].path);
		fuzz_note_number((int64_t)refs.items[i].line);
		assert(refs.items[i].line >= 1);
		(void)import_runtime(refs.items[i].path);
		for (size_t k = 0; (place = import_place(&roots, a, "web/", refs.items[i].path, k));
		     k++) {
			const char *again = import_normal(a, place),
				   *root = import_root(&roots, a, place);
			fuzz_note_text(place);
			fuzz_note_text(root);
			assert(cstr_eq(again, place));
			assert(!root || *root || (*place != '/' && !cstr_has_prefix(place, "../")));
		}
	}
	return 0;
}
