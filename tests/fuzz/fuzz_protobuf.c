/* fuzz_protobuf: any bytes as a body of kubectl; what decodes must print and read back equal. */
#include <assert.h>

#include "alm/apiserver/wire/protobuf.h"
#include "alm/obj/json.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL, *again = NULL;
	if (fuzz_noted(protobuf_decode(str_n((const char *)data, size), &o, &err), &err) < 0)
		return 0;
	CLEANUP(xfreep) char *text = json_text(o);
	fuzz_note_text(text);
	assert(json_parse(str_of(text), &again, &err) == 0);
	assert(obj_equal(o, again));
	return 0;
}
