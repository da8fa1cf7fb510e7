/* export_csv: see export_csv.h. Source: RFC 4180. */
#include "alm/audit/export_csv.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/row_text.h"
#include "alm/base/clock.h"
#include "alm/obj/json.h"

/* Where each is found; NULL: the time. */
static const char *const columns[] = {
	"seq",
	NULL,
	"type",
	"reason",
	"subject.cluster",
	"subject.kind",
	"subject.namespace",
	"subject.name",
	"subject.uid",
	"transitionSeq",
	"op",
	"cause",
	"actor",
	"body.who.trust",
	"body.who.via",
	"body.who.address",
	"body.verb",
	"body.outcome",
	"body.code",
	"body.from",
	"body.to",
	"body.version.from",
	"body.version.to",
	"body.plan",
	"body.approves",
	"body.justification",
	"body.message",
	"body.changed",
	"body",
};

/* A spreadsheet takes what begins like this for a formula (OWASP CSV Injection). */
static bool is_formula(struct str s)
{
	return s.len && strchr("=+-@\t\r", s.ptr[0]);
}

static void cell(struct str s, struct strbuf *b)
{
	bool quoted = is_formula(s);
	for (size_t i = 0; i < s.len && !quoted; i++)
		quoted = strchr("\",\r\n", s.ptr[i]) != NULL;
	if (!quoted) {
		strbuf_addstr(b, s);
		return;
	}
	strbuf_adds(b, is_formula(s) ? "\"'" : "\"");
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '"')
			strbuf_addc(b, '"');
		strbuf_addc(b, s.ptr[i]);
	}
	strbuf_addc(b, '"');
}

static void value_cell(const struct obj *v, struct strbuf *b)
{
	int64_t n;
	if (!v)
		return;
	if (obj_type(v) == OBJ_STRING) {
		cell(obj_as_str(v), b);
	} else if (obj_as_i64(v, &n)) {
		strbuf_addf(b, "%" PRId64, n);
	} else {
		CLEANUP(xfreep) char *json = json_text(v);
		cell(str_of(json), b);
	}
}

void export_csv_row(const struct obj *row, const char *origin, struct strbuf *b)
{
	char time[CLOCK_TEXT_MAX];
	(void)origin;
	clock_format(row_time_us(row) * NS_PER_US, CLOCK_MICROS, time);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		if (i)
			strbuf_addc(b, ',');
		if (columns[i])
			value_cell(obj_path(row, columns[i]), b);
		else
			strbuf_adds(b, time);
	}
	strbuf_adds(b, "\r\n");
}
