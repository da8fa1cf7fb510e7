/* index.yaml of a Helm repository: whatever it holds, its lines make an index, the same lines the
 * same revision, and lint comes to an end. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "catalog/index/entry.h"
#include "catalog/index/helm_index.h"
#include "catalog/lint/lint.h"

#define INPUT_BYTES_MAX 65536

static struct catalog_index *build(struct str lines)
{
	CLEANUP(index_freep) struct catalog_index *x = index_new("fuzz", 0);
	struct error err = ERROR_INIT;
	int more;
	do {
		more = entry_read_lines(x, &lines, 64, &err);
	} while (more > 0);
	assert(more == 0); /* what was written can be read */
	return index_finish(x, str_of(x->catalog_yaml), &err) == 0 ? STEAL(x) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(HELM_LINES_BYTES_MAX);
	struct error err = ERROR_INIT;
	struct weburl base;
	int r = weburl_parse(STR("https://h/r/index.yaml"), "https", a, &base, &err);
	assert(r == 0);
	r = size > INPUT_BYTES_MAX ? -1
				   : helm_index_read(str_n((const char *)data, size), &base,
						     size % 4, &lines, &err);
	if (fuzz_noted(r, &err) < 0)
		return 0;
	fuzz_note(strbuf_str(&lines));
	CLEANUP(index_freep) struct catalog_index *x = build(strbuf_str(&lines));
	CLEANUP(index_freep) struct catalog_index *y = build(strbuf_str(&lines));
	if (!x || !y)
		return 0;
	assert(!strcmp(x->revision, y->revision));
	for (size_t i = 0; i < x->n; i++)
		assert(strlen(x->versions[i]->digest) <= 64 && x->versions[i]->package);
	struct lint l = lint_new(a);
	fuzz_note_text(x->revision);
	lint_index(&l, x);
	lint_reject(x);
	fuzz_note_number((int64_t)x->n);
	assert(x->n <= y->n);
	return 0;
}
