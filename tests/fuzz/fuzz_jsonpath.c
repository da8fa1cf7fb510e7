/* fuzz_jsonpath: any text as a path; the first value is the first of all values. */
#include <assert.h>

#include "alm/obj/json.h"
#include "alm/obj/query/jsonpath.h"
#include "tests/fuzz/fuzz.h"

static const char document[] =
	"{\"spec\":{\"size\":4,\"names\":[\"a\",\"b\"],\"a.b\":1.5,\"ports\":[{\"name\":\"x\","
	"\"port\":80},{\"name\":\"y\",\"deep\":{\"name\":[1,[2]]}}]},\"status\":{\"conditions\":[{"
	"\"type\":\"Ready\",\"status\":\"True\"}],\"none\":null}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	CLEANUP(jsonpath_freep) struct jsonpath *p = NULL;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(jsonpath_values_release) struct jsonpath_values v = {0};
	if (size > 4096 ||
	    fuzz_noted(jsonpath_parse(str_n((const char *)data, size), &p, &err), &err) < 0)
		return 0;
	assert(json_parse(STR(document), &o, &err) == 0);
	jsonpath_eval(p, o, &v);
	for (size_t i = 0; i < v.n; i++)
		fuzz_note_obj(v.items[i]);
	assert(jsonpath_first(p, o) == (v.n ? v.items[0] : NULL));
	return 0;
}
