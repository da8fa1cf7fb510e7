/* Reads versions and a range: lines of versions after the first line, which is the range. What
 * parses keeps the laws of the order and prints as something that parses to the same. */
#include "tests/fuzz/fuzz.h"

#include "catalog/semver.h"

#define VERSIONS_MAX 16

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static int sign(int r)
{
	return (r > 0) - (r < 0);
}

static void check_print(const struct version *v)
{
	struct error err = ERROR_INIT;
	struct version again;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	version_print(v, &b);
	must(version_parse(strbuf_str(&b), VERSION_LOOSE, &again, &err) == 0);
	must(version_cmp(v, &again) == 0);
	fuzz_note(strbuf_str(&b));
}

static void check_order(const struct version *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			int ik = sign(version_cmp(&all[i], &all[k]));
			int bare = sign(version_precedence(&all[i], &all[k]));
			fuzz_note_number(ik * 3 + bare);
			must(ik == -sign(version_cmp(&all[k], &all[i])));
			must(bare == 0 || bare == ik);
			for (size_t m = 0; m < n; m++)
				must(ik < 0 || sign(version_cmp(&all[k], &all[m])) < 0 ||
				     version_cmp(&all[i], &all[m]) >= 0);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct str rest = str_n((const char *)data, size), range_text = STR_NONE, line;
	struct version all[VERSIONS_MAX];
	size_t n = 0;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct range *range = ARENA_NEW(a, struct range);
	str_next_line(&rest, &range_text);
	bool has_range = fuzz_noted(range_parse(range_text, a, range, &err), &err) >= 0;
	while (n < VERSIONS_MAX && str_next_line(&rest, &line)) {
		struct version strict;
		if (fuzz_noted(version_parse(line, VERSION_LOOSE, &all[n], &err), &err) < 0) {
			must(version_parse(line, VERSION_STRICT, &strict, &err) < 0);
			continue;
		}
		check_print(&all[n]);
		fuzz_note_number(version_parse(line, VERSION_STRICT, &strict, &err));
		if (has_range)
			fuzz_note_number(range_matches(range, &all[n]));
		if (has_range && range_matches(range, &all[n]) && version_is_prerelease(&all[n]))
			must(range_names_prerelease(range));
		n++;
	}
	check_order(all, n);
	return 0;
}
