/* Reads label and field selectors. */
#include "tests/fuzz/fuzz.h"

#include "alm/obj/query/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct str text = str_n((const char *)data, size);
	struct selector *labels;
	struct field_selector *fields;
	if (fuzz_noted(selector_parse(text, &labels, &err), &err) >= 0) {
		fuzz_note_number(selector_matches(labels, NULL));
		selector_free(labels);
	}
	if (fuzz_noted(field_selector_parse(text, NULL, NULL, &fields, &err), &err) >= 0)
		field_selector_free(fields);
	return 0;
}
