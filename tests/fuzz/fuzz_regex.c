/*
 * fuzz_regex: the first line is a pattern, the rest a text. What compiles ends within its steps,
 * whatever the text; a match lies in the text and is found again from its start.
 */
#include <assert.h>
#include <string.h>

#include "alm/obj/regex/regex.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct str pattern, text;
	CLEANUP(regex_freep) struct regex *re = NULL;
	uint64_t steps = REGEX_STEPS_MAX, again = REGEX_STEPS_MAX;
	if (size > INPUT_BYTES_MAX)
		return 0;
	str_cut(str_n((const char *)data, size), '\n', &pattern, &text);
	int r = fuzz_noted(regex_new(pattern, &re, &err), &err);
	assert(r == 0 || ((r == -E_INVALID || r == -E_LIMIT) && *err.msg));
	if (r < 0)
		return 0;
	size_t n = regex_groups(re);
	assert(n <= REGEX_GROUPS_MAX);
	CLEANUP(xfreep) size_t *at = xcalloc(2 * (n + 1), sizeof(*at));
	enum regex_result hit = regex_match(re, text, 0, at, &steps);
	fuzz_note_number(hit);
	fuzz_note_number((int64_t)steps);
	for (size_t i = 0; hit == REGEX_YES && i < 2 * (n + 1); i++)
		fuzz_note_number((int64_t)at[i]);
	if (hit == REGEX_LIMIT)
		return 0;
	enum regex_result without = regex_match(re, text, 0, NULL, &again);
	assert(without == hit || without == REGEX_LIMIT);
	for (size_t i = 0; hit == REGEX_YES && i <= n; i++) {
		assert((at[2 * i] == REGEX_UNSET) == (at[2 * i + 1] == REGEX_UNSET));
		assert(at[2 * i] == REGEX_UNSET ||
		       (at[2 * i] <= at[2 * i + 1] && at[2 * i + 1] <= text.len));
	}
	size_t start = at[0], end = at[1];
	if (hit == REGEX_YES && regex_match(re, text, start, at, &steps) != REGEX_LIMIT)
		assert(at[0] == start && at[1] == end);
	return 0;
}
