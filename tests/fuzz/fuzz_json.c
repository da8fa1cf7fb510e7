/* Reads JSON; what it accepts prints to text that reads back equal, and patches lead where they
 * say. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/patch/patch.h"

static const char *merge_key(const void *arg, const char *path)
{
	(void)arg;
	if (strchr(path, 'c'))
		return "n";
	return strchr(path, 'f') ? "" : NULL;
}

/* o by its address: which argument is read first is not said. */
static void drop(int result, struct obj **o, const struct error *err)
{
	if (fuzz_noted(result, err) >= 0) {
		fuzz_note_obj(*o);
		obj_unref(*o);
	}
}

/* Has it a pointer that patch_json() may refuse? */
static bool is_long(const struct obj *operations)
{
	for (size_t i = 0; i < obj_len(operations); i++)
		if (strlen(obj_str(obj_at(operations, i), "path")) > PATCH_TOKEN_MAX)
			return true;
	return obj_len(operations) > PATCH_OPERATIONS_MAX;
}

/* x is a document, y a patch of any kind, or another document. */
static void patch(const struct obj *x, const struct obj *y)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	drop(patch_merge(x, y, &o, &err), &o, &err);
	drop(patch_json(x, y, &o, &err), &o, &err);
	drop(patch_strategic(x, y, merge_key, NULL, &o, &err), &o, &err);
	struct obj *way = patch_json_diff(x, y);
	int r = patch_json(x, way, &o, &err);
	assert(r == 0 || is_long(way));
	assert(r < 0 || obj_equal(o, y));
	fuzz_note_obj(way);
	drop(r, &o, &err);
	obj_unref(way);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct obj *o, *back = NULL;
	if (fuzz_noted(json_parse(str_n((const char *)data, size), &o, &err), &err) < 0)
		return 0;
	char *text = json_text(o);
	fuzz_note_text(text);
	int r = json_parse(str_of(text), &back, &err);
	assert(r == 0 && obj_equal(o, back));
	if (obj_type(o) == OBJ_LIST && obj_len(o) >= 2)
		patch(obj_at(o, 0), obj_at(o, 1));
	xfree(text);
	obj_unref(back);
	obj_unref(o);
	return 0;
}
