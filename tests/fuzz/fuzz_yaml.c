/* Reads YAML; what it accepts, written as YAML and as JSON, reads back equal. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)

static void check_yaml(const struct obj *o)
{
	struct error err = ERROR_INIT;
	struct obj *back = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	yaml_print(o, &b);
	fuzz_note(strbuf_str(&b));
	int r = yaml_parse_one(strbuf_str(&b), &back, &err);
	/* a document of null alone is none */
	assert(r == 0 || strstr(err.msg, "wanted 1"));
	assert(r < 0 || obj_equal(o, back));
	obj_unref(back);
}

static void check_json(const struct obj *o)
{
	struct error err = ERROR_INIT;
	struct obj *back = NULL;
	char *text = json_text(o);
	fuzz_note_text(text);
	int r = json_parse(str_of(text), &back, &err);
	assert(r == 0 && obj_equal(o, back));
	obj_unref(back);
	xfree(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct yaml_documents d;
	if (fuzz_noted(yaml_parse(str_n((const char *)data, size), &d, &err), &err) < 0)
		return 0;
	for (size_t i = 0; i < d.n; i++) {
		check_yaml(d.items[i].value);
		check_json(d.items[i].value);
	}
	yaml_documents_release(&d);
	return 0;
}
