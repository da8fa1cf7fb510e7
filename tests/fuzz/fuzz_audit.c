/* fuzz_audit: any text as an archive of the log; what is read is verified and queried. */
#include <stddef.h>
#include <stdint.h>

#include "alm/audit/checkpoint.h"
#include "alm/audit/export.h"
#include "alm/audit/query.h"
#include "alm/audit/row_text.h"
#include "alm/audit/verify.h"
#include "tests/fuzz/fuzz.h"

static int print(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	(void)depth;
	(void)err;
	row_head(row, true, arg);
	row_subject(row, arg);
	row_detail(row, NULL, NULL, arg);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	struct db_config c = {.path = ":memory:"};
	struct verify_options o = {.is_archive = true};
	struct query_selector all = {0};
	struct checkpoint note;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct str text = str_n((const char *)data, size);
	(void)checkpoint_verify(
		text, "alm.example/prod",
		"alm.example/prod+a009253a+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4", &note,
		&err);
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	if (db_open(&c, &d, &err) >= 0 && export_read(d, text, &err) >= 0) {
		(void)verify_log(d, &o, rep, &err);
		verify_print(rep, &b);
		(void)query_rows(d, &all, print, &b, &err);
		(void)query_state(d, &all, 100, print, &b, &err);
		(void)query_forward(d, 1, print, &b, &err);
	}
	fuzz_note(strbuf_str(&b));
	fuzz_note_text(err.msg);
	db_close(d);
	xfree(rep);
	return 0;
}
