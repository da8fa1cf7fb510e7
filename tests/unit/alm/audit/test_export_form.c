/* A row in the forms of others: each a whole line of its format, whatever the row says. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/export.h"
#include "alm/audit/export_form.h"
#include "alm/audit/query.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

static const char write_row[] =
	"{\"actor\":\"alice\",\"body\":{\"apiVersion\":\"networking.k8s.io/"
	"v1\",\"changed\":[\"spec\"],"
	"\"code\":200,\"outcome\":\"Applied\",\"rvAfter\":\"7\",\"verb\":\"patch\",\"who\":{"
	"\"address\":"
	"\"10.0.0.7:4711\",\"groups\":[\"ops\"],\"trust\":\"authenticated\",\"via\":\"kubectl/"
	"v1.36\"}},"
	"\"op\":\"113-3-1\",\"reason\":\"Updated\",\"seq\":112,\"subject\":{\"cluster\":\"\","
	"\"kind\":"
	"\"NetworkPolicy\",\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u1\"},"
	"\"time\":1893571200000113,\"type\":\"Write\"}";

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void form(const char *name, const struct obj *row, struct strbuf *b)
{
	const struct export_form *f = export_form_find(name);
	assert_non_null(f);
	strbuf_clear(b);
	f->row(row, "alm.example/prod", b);
	assert_false(b->over);
	assert_int_equal(b->buf[b->len - 1], '\n');
}

/* The line as JSON, one line only. */
static struct obj *json_form(const char *name, const struct obj *row)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	form(name, row, &b);
	assert_ptr_equal(strchr(b.buf, '\n'), b.buf + b.len - 1);
	return parsed(b.buf);
}

#define SAYS(o, path, want) assert_string_equal(obj_str(o, path), want)

static void test_export_form__kubernetes_audit_event(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *row = parsed(write_row);
	CLEANUP(obj_unrefp) struct obj *o = json_form("k8s", row);
	SAYS(o, "apiVersion", "audit.k8s.io/v1");
	SAYS(o, "kind", "Event");
	SAYS(o, "level", "Metadata");
	SAYS(o, "stage", "ResponseComplete");
	SAYS(o, "auditID", "113-3-1");
	SAYS(o, "verb", "patch");
	SAYS(o, "requestURI", "/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies/web");
	SAYS(o, "user.username", "alice");
	SAYS(o, "sourceIPs[0]", "10.0.0.7");
	SAYS(o, "objectRef.resource", "networkpolicies");
	SAYS(o, "objectRef.apiGroup", "networking.k8s.io");
	assert_int_equal(obj_i64(o, "responseStatus.code", 0), 200);
	SAYS(o, "requestReceivedTimestamp", "2030-01-02T08:00:00.000113Z");
	SAYS(obj_get(o, "annotations"), "['audit.app.coreos.com/seq']", "112");
}

static void test_export_form__a_decision_has_no_request(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *row = parsed(
		"{\"body\":{\"verdict\":\"wait\"},\"reason\":\"Resolved\",\"seq\":3,\"subject\":{"
		"\"kind\":\"AppType\",\"name\":\"etcd\"},\"time\":1,\"type\":\"Decision\"}");
	CLEANUP(obj_unrefp) struct obj *o = json_form("k8s", row);
	SAYS(o, "auditID", "alm.example/prod-3");
	SAYS(o, "requestURI", "");
	SAYS(o, "verb", "decision");
	SAYS(o, "user.username", "alm");
	SAYS(o, "objectRef.resource", "apps"); /* of our own kinds the real plural */
	assert_false(obj_has(o, "responseStatus"));
	CLEANUP(obj_unrefp) struct obj *e = json_form("ocsf", row);
	assert_int_equal(obj_i64(e, "class_uid", 0), 3004);
	assert_int_equal(obj_i64(e, "type_uid", 0), 300499);
	SAYS(e, "activity_name", "Resolved");
}

static void test_export_form__cloudevents(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *row = parsed(write_row);
	CLEANUP(obj_unrefp) struct obj *o = json_form("cloudevents", row);
	SAYS(o, "specversion", "1.0");
	SAYS(o, "id", "112");
	SAYS(o, "source", "/alm/alm.example/prod");
	SAYS(o, "type", "com.coreos.app.audit.Write");
	SAYS(o, "subject", "NetworkPolicy/shop/web");
	assert_true(obj_equal(obj_get(o, "data"), row));
}

static void test_export_form__ocsf(void **state)
{
	(void)state;
	static const struct {
		const char *type, *body;
		int64_t type_uid;
	} rows[] = {
		{"Write", "{\"verb\":\"create\",\"code\":201}", 600301},
		{"Write", "{\"verb\":\"apply\",\"code\":201}", 600301},
		{"Write", "{\"verb\":\"apply\",\"code\":200}", 600303},
		{"Write", "{\"verb\":\"deletecollection\",\"code\":200}", 600304},
		{"Write", "{\"verb\":\"create\",\"code\":399}", 600301},
		{"Write", "{\"verb\":\"create\",\"code\":400}", 600301},
		{"Observe", "{}", 600303},
		{"Approval", "{}", 300499},
		{"Transition", "{}", 300403},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *row = parsed(write_row);
		obj_set_str(row, "type", rows[i].type);
		obj_set(row, "body", parsed(rows[i].body));
		CLEANUP(obj_unrefp) struct obj *o = json_form("ocsf", row);
		int64_t type = obj_i64(o, "type_uid", 0), class = obj_i64(o, "class_uid", 0);
		assert_int_equal(type, rows[i].type_uid);
		assert_int_equal(type, class * 100 + obj_i64(o, "activity_id", 0));
		assert_int_equal(obj_i64(o, "category_uid", 0), class / 1000);
		assert_int_equal(obj_i64(o, "time", 0), 1893571200000);
		SAYS(o, "metadata.uid", "112");
		int64_t failed = strstr(rows[i].body, "\"code\":4") != NULL;
		assert_int_equal(obj_i64(o, "severity_id", 0), 1 + failed);
		assert_int_equal(obj_i64(o, "status_id", 0), 1 + failed);
		assert_true(obj_has(o, class == 6003 ? "src_endpoint" : "entity"));
	}
}

/* Cells that a spreadsheet would run, quotes, lines; RFC 4180. */
static void test_export_form__csv_cells(void **state)
{
	(void)state;
	static const struct {
		const char *name, *cell;
	} cells[] = {
		{"plain", ",plain,"},
		{"=1+1", ",\"'=1+1\","},
		{"+1", ",\"'+1\","},
		{"-1", ",\"'-1\","},
		{"@SUM(A1)", ",\"'@SUM(A1)\","},
		{"\tx", ",\"'\tx\","},
		{"\rx", ",\"'\rx\","},
		{"a,b", ",\"a,b\","},
		{"a\"b", ",\"a\"\"b\","},
		{"a\nb", ",\"a\nb\","},
	};
	for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		CLEANUP(obj_unrefp) struct obj *row = parsed(write_row);
		obj_set_path(row, "subject.name", obj_string(cells[i].name));
		form("csv", row, &b);
		assert_non_null(strstr(b.buf, cells[i].cell));
	}
}

static size_t n_commas(const char *line)
{
	size_t n = 0;
	bool quoted = false;
	for (; *line; line++) {
		quoted ^= *line == '"';
		n += *line == ',' && !quoted;
	}
	return n;
}

static void test_export_form__csv_header_has_every_column(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	CLEANUP(obj_unrefp) struct obj *row = parsed(write_row);
	form("csv", row, &b);
	assert_int_equal(n_commas(b.buf), n_commas(export_form_find("csv")->header));
}

/* A row that says nothing, or the wrong things. */
static void test_export_form__any_row(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"{}",
		"{\"type\":7,\"body\":[],\"subject\":\"x\",\"seq\":\"y\"}",
		"{\"type\":\"Write\",\"body\":{\"verb\":7,\"who\":{\"address\":\"[::1]:7\"}}}",
		"{\"type\":\"Write\",\"body\":{\"who\":{\"address\":\"fe80::1\"}},\"actor\":\"\"}",
		"{\"type\":\"Write\",\"time\":9223372036854775807,\"seq\":9223372036854775807}",
	};
	static const char *const names[] = {"k8s", "cloudevents", "ocsf"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(obj_unrefp) struct obj *row = parsed(texts[i]);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			CLEANUP(obj_unrefp) struct obj *o = json_form(names[k], row);
			assert_int_equal(obj_type(o), OBJ_MAP);
		}
		form("csv", row, &b);
	}
	assert_null(export_form_find("xml"));
	assert_null(export_form_find(NULL));
}

static int keep(void *arg, struct str line, struct error *err)
{
	(void)err;
	strbuf_addstr(arg, line);
	return 0;
}

/* More rows than a page; two archives that follow each other are one. */
static void test_export_form__parts_make_a_whole(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	int64_t last = 0;
	struct query_selector sel = {0};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(64 << 20);
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 1100, 50);
	assert_ok(export_rows(l.db, export_form_find("cloudevents"), &sel, keep, &b, &last, &err),
		  &err);
	size_t lines = 0;
	for (size_t i = 0; i < b.len; i++)
		lines += b.buf[i] == '\n';
	assert_int_equal(lines, audit_last_seq(l.audit));
	assert_int_equal(last, audit_last_seq(l.audit));

	strbuf_clear(&b);
	assert_ok(export_write(l.db, 1, keep, &b, &last, &err), &err);
	audit_log_fill(&l, 300, 50);
	assert_ok(export_write(l.db, last + 1, keep, &b, &last, &err), &err);
	struct db_config c = {.path = ":memory:"};
	struct db *d = NULL;
	struct verify_report rep;
	struct verify_options o = {.is_archive = true};
	assert_ok(db_open(&c, &d, &err), &err);
	assert_ok(export_read(d, strbuf_str(&b), &err), &err);
	assert_ok(verify_log(d, &o, &rep, &err), &err);
	assert_int_equal(rep.rows, audit_last_seq(l.audit));
	assert_int_equal(rep.n_findings, 0);
	db_close(d);

	/* what overlaps is told */
	assert_ok(export_write(l.db, last, keep, &b, &last, &err), &err);
	assert_ok(db_open(&c, &d, &err), &err);
	assert_int_equal(export_read(d, strbuf_str(&b), &err), -E_CORRUPT);
	assert_non_null(strstr(err.msg, "is there already"));
	db_close(d);
	audit_log_close(&l);
}

/* Who took the log away, and what of it. */
static void test_export_form__an_export_has_its_entry(void **state)
{
	static const struct {
		int64_t from;
		const char *actor, *message;
		int64_t said;
	} rows[] = {{0, "alice", "as csv, from entry 1 on", 1},
		    {1, NULL, "as csv, from entry 1 on", 1},
		    {2, "alice", "as csv, from entry 2 on", 2}};
	struct audit_log l;
	struct error err = ERROR_INIT;
	(void)state;
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(export_note(l.audit, "csv", rows[i].from, rows[i].actor, &err), &err);
		assert_ok(audit_row_get(l.audit, audit_last_seq(l.audit), &row, &err), &err);
		assert_string_equal(obj_str(row, "type"), "System");
		assert_string_equal(obj_str(row, "reason"), "Exported");
		assert_string_equal(obj_str(row, "subject.kind"), "Log");
		assert_string_equal(obj_str(row, "subject.name"), audit_origin(l.audit));
		assert_string_equal(obj_str(row, "body.what"), "Exported");
		assert_string_equal(obj_str(row, "body.format"), "csv");
		assert_int_equal(obj_i64(row, "body.fromSeq", 0), rows[i].said);
		assert_string_equal(obj_str(row, "body.message"), rows[i].message);
		assert_true(cstr_eq(obj_str(row, "actor"), rows[i].actor));
		assert_true(cstr_eq(obj_str(row, "body.who.trust"),
				    rows[i].actor ? "authenticated" : NULL));
	}
	audit_log_close(&l);
}

/* By who has the files: a folder without a log gets none by being asked. */
static void test_export_form__a_folder_without_a_log_has_no_export(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	int64_t n = -1;
	audit_log_open(&l, ":memory:", NULL);
	audit_close(STEAL(l.audit));
	struct audit_config c = {.db = l.db, .loop = &l.loop.base};
	assert_ok(export_record(&c, "csv", 7, &err), &err);
	assert_ok(db_number(l.db,
			    "SELECT count(*) FROM audit WHERE reason = 'Exported' AND body LIKE"
			    " '%\"format\":\"csv\",\"fromSeq\":7,%'",
			    NULL, &n, &err),
		  &err);
	assert_int_equal(n, 1);
	db_close(l.db);
	struct db_config dc = {.path = ":memory:"};
	assert_ok(db_open(&dc, &l.db, &err), &err);
	c.db = l.db;
	assert_int_equal(export_record(&c, "csv", 1, &err), -E_NOTFOUND);
	assert_string_equal(err.msg, "the folder has no log");
	assert_ok(db_number(l.db, "SELECT count(*) FROM sqlite_schema", NULL, &n, &err), &err);
	assert_int_equal(n, 0);
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export_form__kubernetes_audit_event),
		cmocka_unit_test(test_export_form__a_decision_has_no_request),
		cmocka_unit_test(test_export_form__cloudevents),
		cmocka_unit_test(test_export_form__ocsf),
		cmocka_unit_test(test_export_form__csv_cells),
		cmocka_unit_test(test_export_form__csv_header_has_every_column),
		cmocka_unit_test(test_export_form__any_row),
		cmocka_unit_test(test_export_form__parts_make_a_whole),
		cmocka_unit_test(test_export_form__an_export_has_its_entry),
		cmocka_unit_test(test_export_form__a_folder_without_a_log_has_no_export),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
