/* catalog.yaml, ours and OLM's, over an index of three versions: nothing but its own entries
 * appears, nothing of the three goes, and the same text gives the same revision. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/base/hash.h"
#include "catalog/index/entry.h"
#include "catalog/index/fbc.h"
#include "catalog/lint/lint.h"

#define INPUT_BYTES_MAX 65536

static struct catalog_index *build(struct str text)
{
	static const char *const versions[] = {"0.9.4", "0.9.5", "1.0.0"};
	CLEANUP(index_freep) struct catalog_index *x = index_new("fuzz", 0);
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT((size_t)4 << 20);
	struct error err = ERROR_INIT;
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		char digest[SHA256_HEX];
		sha256_hex(str_of(versions[i]), digest);
		struct package_source s = {
			.chart_yaml = str_of(
				arena_fmt(x->arena, "{name: etcd, version: %s}", versions[i])),
			.digest = digest,
			.locator = versions[i]};
		index_add(x, &s);
	}
	int r = fuzz_noted(fbc_lines(text, "catalog.yaml", &lines, &n, &err), &err);
	struct str rest = strbuf_str(&lines);
	while (r == 0 && entry_read_lines(x, &rest, 64, &err) > 0)
		;
	err = ERROR_INIT;
	if (fuzz_noted(index_finish(x, n ? STR_NONE : text, &err), &err) < 0)
		return NULL;
	return STEAL(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_n((const char *)data, size);
	if (size > INPUT_BYTES_MAX)
		return 0;
	CLEANUP(index_freep) struct catalog_index *x = build(text);
	CLEANUP(index_freep) struct catalog_index *y = build(text);
	assert(!x == !y);
	if (!x)
		return 0;
	assert(!strcmp(x->revision, y->revision));
	fuzz_note_text(x->revision);
	size_t n;
	index_package(x, "etcd", &n);
	assert(n >= 3);
	for (size_t i = 0; i < x->n; i++)
		assert(!x->versions[i]->listed_only || x->versions[i]->withdrawn ||
		       x->versions[i]->ambiguous);
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct lint l = lint_new(a);
	lint_index(&l, x);
	lint_reject(x);
	fuzz_note_number((int64_t)x->n);
	return 0;
}
