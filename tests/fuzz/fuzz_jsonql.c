/* fuzz_jsonql: any text as an expression, evaluated over one document. */
#include <stddef.h>
#include <stdint.h>

#include "alm/obj/json.h"
#include "alm/obj/query/jsonql.h"
#include "tests/fuzz/fuzz.h"

static const char document[] =
	"{\"n\":3,\"f\":2.5,\"s\":\"Done1\",\"num\":\"35\",\"b\":true,\"z\":null,\"list\":[1,\"b\","
	"{\"k\":1}],"
	"\"status\":{\"phase\":\"Done\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]},"
	"\"metadata\":{\"creationTimestamp\":\"2030-01-02T08:00:00Z\"},\"big\":"
	"12345678901234567890}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct obj *doc;
	struct error err = ERROR_INIT;
	struct jsonql *q = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(JSONQL_NOTES_MAX);
	if (!doc && json_parse(STR(document), &doc, &err) < 0)
		return 0;
	if (fuzz_noted(jsonql_parse(str_n((const char *)data, size), &q, &err), &err) < 0)
		return 0;
	fuzz_note_number(jsonql_eval(q, doc, INT64_C(1893571200000000000), &b));
	fuzz_note(strbuf_str(&b));
	strbuf_clear(&b);
	jsonql_values(q, doc, &b);
	fuzz_note(strbuf_str(&b));
	jsonql_free(q);
	return 0;
}
