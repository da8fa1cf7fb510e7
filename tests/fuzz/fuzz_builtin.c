/* fuzz_builtin: any JSON as an object of the kind it names, or of a Pod: what the table's decoder
 * lets pass, it lets pass again without a change. */
#include <assert.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_decode.h"
#include "tests/fuzz/fuzz.h"

static void refuse(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	assert(false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (json_parse(str_n((const char *)data, size), &o, &err) < 0 || obj_type(o) != OBJ_MAP)
		return 0;
	const struct api_type *t = api_type_of_kind(meta_api_version(o), meta_kind(o));
	if (!t)
		t = api_type_of_kind("v1", "Pod");
	if (fuzz_noted(api_decode(t, API_JSON_TEXT, o, NULL, NULL, &err), &err) < 0)
		return 0;
	fuzz_note_obj(o);
	CLEANUP(obj_unrefp) struct obj *again = obj_copy(o);
	assert(api_decode(t, API_JSON_TEXT, again, refuse, NULL, &err) == 0);
	assert(obj_equal(o, again));
	return 0;
}
