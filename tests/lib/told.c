#include "tests/lib/told.h"

#include "alm/obj/json.h"
#include "tests/lib/test.h"

struct obj *told_read(const char *json)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return o;
}

void assert_told(const struct field_errors *e, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	field_errors_text(e, &b);
	assert_string_equal(b.buf ? b.buf : "", want);
}
