/* Patterns of values.schema.json: Go's, as the library has it that helm uses. */
#include "alm/obj/regex/regex.h"
#include "installers/jsonschema/jsonschema_tree.h"

/* 1, 0, or -1 with the reason. Running into a limit counts as no match, so the value is refused. */
int schema_match(struct arena *a, struct str pattern, struct str text, const char **ret_fault)
{
	struct error err = ERROR_INIT;
	uint64_t steps = REGEX_STEPS_MAX;
	int r = utf8_valid(text) ? regex_matches(pattern, text, &steps, &err) : REGEX_NO;
	if (r < 0)
		*ret_fault = arena_strdup(a, err.msg);
	return r < 0 ? -1 : r == REGEX_YES;
}
