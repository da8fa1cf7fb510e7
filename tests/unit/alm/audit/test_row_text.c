/* A row for people: every part that it may have, there and not there. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "alm/audit/row_text.h"
#include "alm/obj/json.h"

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (text)
		assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

/* clang-format off */
#define D64 "91aa03c4d2e1f0b791aa03c4d2e1f0b791aa03c4d2e1f0b791aa03c4d2e1f0b7"
static const struct row {
	const char *row;         /* what is behind its type */
	const char *plan, *cause;
	const char *said, *beside; /* beside NULL: the same */
} rows[] = {
	/* transitions: how long it took, of how many objects, which plan, and the message if it is news */
	{"'Transition','reason':'Failed','body':{}", NULL, NULL, "", NULL},
	{"'Transition','reason':'Failed','time':2000000,'body':{'message':'m'}", NULL, "{'time':1000001}", "m", NULL},
	{"'Transition','reason':'Failed','time':2000000,'body':{'message':'m'}", NULL, "{'time':1000000}", "1 s, m", NULL},
	{"'Transition','reason':'Failed','time':9000000,'body':{'message':'m'}", NULL, NULL, "m", NULL},
	{"'Transition','reason':'Failed','body':{'message':'1.2','version':{'to':'1.2'}}", NULL, NULL, "", NULL},
	{"'Transition','reason':'Failed','body':{'message':'1.3','version':{'to':'1.2'}}", NULL, NULL, "1.3", NULL},
	{"'Transition','reason':'Installing','body':{'message':'m','plan':'sha256:" D64 "'}", NULL, NULL, "plan 91aa03c4", NULL},
	{"'Transition','reason':'Succeeded','body':{'message':'m','plan':'sha256:" D64 "'}", NULL, NULL, "plan 91aa03c4", NULL},
	{"'Transition','reason':'Installing','body':{'message':'m'}", NULL, NULL, "m", NULL},
	{"'Transition','reason':'Failed','body':{'message':'m','plan':'sha256:" D64 "'}", NULL, NULL, "plan 91aa03c4, m", NULL},
	{"'Transition','reason':'Failed','body':{'plan':'abc'}", NULL, NULL, "plan abc", NULL},
	{"'Transition','reason':'Failed','body':{}", "{'body':{'plan':'sha256:0123456789','counts':{'create':2,'update':3}}}", NULL, "5 objects, plan 01234567", NULL},
	{"'Transition','reason':'Failed','body':{'plan':'sha256:aaaaaaaaaa'}", "{'body':{'plan':'sha256:0123456789','counts':{'create':1}}}", NULL, "1 object, plan aaaaaaaa", NULL},
	{"'Transition','reason':'Failed','body':{}", "{'body':{'actions':[1,2,3]}}", NULL, "3 objects", NULL},
	{"'Transition','reason':'Failed','body':{}", "{'body':{'actions':[1,2,3],'counts':{'create':1,'odd':'x'}}}", NULL, "1 object", NULL},
	{"'Transition','reason':'Failed','body':{}", "{'body':{'status':'{\\\"plan\\\":{\\\"objects\\\":4}}'}}", NULL, "4 objects", NULL},
	{"'Transition','reason':'Failed','body':{}", "{'body':{'status':'{\\\"plan\\\":{\\\"objects\\\":[1,2]}}'}}", NULL, "2 objects", NULL},
	{"'Transition','reason':'Failed','body':{}", "{'body':{'status':'{','counts':{'create':2}}}", NULL, "2 objects", NULL},
	{"'Transition','reason':'Failed','body':{}", "{'body':{}}", NULL, "", NULL},
	/* digests of 64 digits in a message are cut, others stay */
	{"'Transition','reason':'Failed','body':{'message':'of sha256:" D64 " and sha256:0123456789ab, sha256:'}", NULL, NULL,
	 "of sha256:91aa03c4 and sha256:0123456789ab, sha256:", NULL},
	/* approvals: who, why, what */
	{"'Approval','body':{}", NULL, NULL, "ALM", NULL},
	{"'Approval','actor':'ann','body':{'justification':'why','approves':'sha256:0123456789','message':'m'}", NULL, NULL, "ann \"why\", plan 01234567, m", NULL},
	{"'Approval','actor':'ann','body':{'approves':'sha256:0123456789','version':{'to':'2'}}", NULL, NULL, "ann, plan 01234567", NULL},
	{"'Approval','actor':'ann','body':{'version':{'from':'1','to':'2'}}", NULL, NULL, "ann, 1 -> 2", NULL},
	{"'Approval','actor':'ann','body':{'version':{'to':'2'}}", NULL, NULL, "ann, 2", NULL},
	{"'Approval','actor':'ann','body':{'version':{'from':'1'}}", NULL, NULL, "ann", NULL},
	{"'Approval','actor':'ann','body':{'message':'m','version':{'to':'2'}}", NULL, NULL, "ann, m", NULL},
	{"'Approval','actor':'ann','body':{'waiver':{'rule':'R','resource':'as.x.io/v1','path':'spec.a'}}", NULL, NULL, "ann, R of as.x.io/v1 spec.a", NULL},
	{"'Approval','actor':'ann','body':{'waiver':{'rule':'R','resource':'as.x.io/v1'}}", NULL, NULL, "ann, R of as.x.io/v1", NULL},
	{"'Approval','actor':'ann','body':{'waiver':{}}", NULL, NULL, "ann,  of ", NULL},
	/* decisions: the verdict and the message, or what did not allow */
	{"'Decision','body':{'verdict':'deny','message':'of sha256:" D64 "'}", NULL, NULL, "deny: of sha256:91aa03c4", NULL},
	{"'Decision','body':{'message':'m','rules':[{'id':'A'}]}", NULL, NULL, "m", NULL},
	{"'Decision','body':{'verdict':'deny','rules':[{'id':'A','verdict':'allow'},{'id':'B','verdict':'deny','detail':'d'},{'id':'C'},{'detail':'e'}]}", NULL, NULL,
	 "deny: B  d; C;   e", NULL},
	/* what was seen: of a catalog, what, the message, the generation, else the object */
	{"'Observe','body':{'catalog':{'name':'c','from':'sha256:0123456789','to':'sha256:9876543210'},'what':'w'}", NULL, NULL, "c 0123 -> 9876", NULL},
	{"'Observe','body':{'catalog':{'name':'c'}}", NULL, NULL, "c none -> none", NULL},
	{"'Observe','reason':'R','body':{'what':'w'}", NULL, NULL, "w", NULL},
	{"'Observe','reason':'R','body':{'what':'w','message':'m'}", NULL, NULL, "w", NULL},
	{"'Observe','reason':'R','body':{'what':'R','message':'m'}", NULL, NULL, "m", NULL},
	{"'Observe','reason':'R','body':{'what':'R'}", NULL, NULL, "R", NULL},
	{"'Observe','reason':'R','body':{'generation':3,'message':'m'}", NULL, NULL, "m", NULL},
	{"'Observe','reason':'R','body':{'generation':3}", NULL, NULL, "generation 3", NULL},
	{"'Observe','subject':{'kind':'K','name':'n'},'body':{}", NULL, NULL, "K/n", ""},
	{"'Observe','actor':'ann','subject':{'kind':'K','name':'n'},'body':{'changed':['a']}", NULL, NULL, "K/n a by ann", " a by ann"},
	{"'Observe','body':{'generation':1,'changed':['a','b','c','d']}", NULL, NULL, "generation 1 a, b, c, d", NULL},
	{"'Observe','body':{'generation':1,'changed':['a','b','c','d','e','f']}", NULL, NULL, "generation 1 a, b, c, d and 2 more", NULL},
	/* writes: what with which object, how it ended, who, what of it, how often */
	{"'Write','subject':{'kind':'K','name':'n'},'body':{}", NULL, NULL, "write K/n", "write"},
	{"'Write','reason':'Updated','subject':{'kind':'K','name':'n'},'body':{'verb':'patch','outcome':'Applied','code':200}", NULL, NULL, "patch K/n Applied", "patch Applied"},
	{"'Write','reason':'Denied','subject':{'kind':'K','name':'n'},'body':{'verb':'patch','outcome':'Denied','code':403}", NULL, NULL, "patch K/n (403)", "patch (403)"},
	{"'Write','subject':{'kind':'K','name':'n'},'body':{'outcome':'Failed','code':399}", NULL, NULL, "write K/n Failed", "write Failed"},
	{"'Write','subject':{'kind':'K','name':'n'},'body':{'code':400}", NULL, NULL, "write K/n (400)", "write (400)"},
	{"'Write','actor':'ann','subject':{'kind':'K','name':'n'},'body':{'changed':['a','b'],'message':'m','suppressed':1}", NULL, NULL,
	 "write K/n by ann: a, b: m, and 1 more like it", "write by ann: a, b: m, and 1 more like it"},
	{"'Write','subject':{'kind':'K','name':'n'},'body':{'changed':[],'suppressed':0}", NULL, NULL, "write K/n", "write"},
	/* plans */
	{"'Plan','body':{'counts':{'create':1,'update':2},'count':7,'plan':'sha256:0123456789'}", NULL, NULL, "1 to create, 2 to update, plan 01234567", NULL},
	{"'Plan','body':{'count':1,'plan':'sha256:0123456789'}", NULL, NULL, "1 write, plan 01234567", NULL},
	{"'Plan','body':{'count':7}", NULL, NULL, "7 writes", NULL},
	{"'Plan','body':{}", NULL, NULL, "", NULL},
	/* any other */
	{"'System','body':{'message':'m','what':'w'}", NULL, NULL, "m", NULL},
	{"'System','body':{'what':'w'}", NULL, NULL, "w", NULL},
	{"'System','body':{}", NULL, NULL, "", NULL},
};
/* clang-format on */

/* JSON with ' for " */
static struct obj *of_quotes(const char *text)
{
	CLEANUP(xfreep) char *copy = text ? xstrdup(text) : NULL;
	for (char *p = copy; p && *p; p++)
		if (*p == '\'')
			*p = '"';
	return parsed(copy);
}

static struct obj *row_of(const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "{'type':%s}", text);
	return of_quotes(b.buf);
}

static void test_row_text__every_part_of_a_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		CLEANUP(obj_unrefp) struct obj *row = row_of(r->row), *plan = of_quotes(r->plan);
		CLEANUP(obj_unrefp) struct obj *cause = of_quotes(r->cause);
		for (int beside = 0; beside < 2; beside++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			const char *want = beside && r->beside ? r->beside : r->said;
			if (beside)
				row_detail_beside(row, plan, cause, &b);
			else
				row_detail(row, plan, cause, &b);
			if (!str_is(strbuf_str(&b), want))
				fail_msg("%s: \"%s\", want \"%s\"", r->row, b.buf ? b.buf : "",
					 want);
		}
	}
}

static void test_row_text__a_row_without_a_type_says_nothing(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *row = parsed("{\"body\":{\"message\":\"m\"}}");
	row_detail(row, NULL, NULL, &b);
	assert_int_equal(b.len, 0);
}

/* --- who --- */

static const struct who {
	const char *row, *said;
} whos[] = {
	{"", "ALM"},
	{"'actor':'ann'", "ann"},
	{"'actor':'ann','body':{'who':{'via':'kubectl'}}", "ann"},
	{"'actor':'ann','body':{'who':{'trust':'managedFields','via':'m'}}",
	 "ann (claimed by manager m)"},
	{"'actor':'ann','body':{'who':{'trust':'managedFields'}}",
	 "ann (claimed by manager unknown)"},
	{"'actor':'ann','body':{'who':{'trust':'git'}}", "ann (claimed by a commit of git)"},
	{"'actor':'ann','body':{'who':{'trust':'git','committer':'bob'}}",
	 "ann (claimed by a commit of git, committed by bob)"},
	{"'actor':'ann','body':{'who':{'trust':'git','signer':'key'}}", "ann (git, signed by key)"},
	{"'actor':'ann','body':{'who':{'trust':'git','committer':'bob','signer':'key'}}",
	 "ann (git, committed by bob, signed by key)"},
	{"'actor':'ann','body':{'who':{'trust':'admission'}}", "ann (admission)"},
	{"'actor':'ann','body':{'who':{'trust':'admission','via':'kubectl/v1.30 (linux)'}}",
	 "ann (admission, kubectl)"},
	{"'actor':'ann','body':{'who':{'trust':'admission','via':'my tool'}}",
	 "ann (admission, my)"},
	{"'actor':'ann','body':{'who':{'trust':'t','address':'10.0.0.7:5000'}}",
	 "ann (t, 10.0.0.7)"},
	{"'actor':'ann','body':{'who':{'trust':'t','address':'10.0.0.7'}}", "ann (t, 10.0.0.7)"},
	{"'actor':'ann','body':{'who':{'trust':'t','via':'k','address':'10.0.0.7:5000'}}",
	 "ann (t, k 10.0.0.7)"},
	{"'actor':'ann','body':{'who':{'trust':'t','address':'127.0.0.1:5000'}}", "ann (t)"},
	{"'actor':'ann','body':{'who':{'trust':'t','address':'[::1]:5000'}}", "ann (t)"},
	{"'actor':'ann','body':{'who':{'trust':'t','address':'[fe80::1]:5000'}}",
	 "ann (t, [fe80::1]:5000)"},
};

static void test_row_text__who_did_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(whos); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&text, "{%s}", whos[i].row);
		CLEANUP(obj_unrefp) struct obj *row = of_quotes(text.buf);
		row_who(row, &b);
		if (!str_is(strbuf_str(&b), whos[i].said))
			fail_msg("%s: %s", whos[i].row, b.buf);
	}
}

/* --- heads, subjects, spans --- */

static const struct {
	const char *row, *with_date, *without;
} heads[] = {
	{"'System','seq':7,'time':1893571267000000", "#7 2030-01-02T08:01:07Z System ",
	 "#7 08:01:07 System "},
	{"'Transition','seq':8,'reason':'Installed','time':0,'body':{'version':{'to':'1.2'}}",
	 "#8 1970-01-01T00:00:00Z Transition Installed 1.2",
	 "#8 00:00:00 Transition Installed 1.2"},
	{"'Decision','seq':9,'reason':'Resolved','time':0,'body':{'version':{'to':'1.2'}}",
	 "#9 1970-01-01T00:00:00Z Decision Resolved", "#9 00:00:00 Decision Resolved"},
};

static void test_row_text__its_head(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		CLEANUP(obj_unrefp) struct obj *row = row_of(heads[i].row);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		row_head(row, true, &b);
		assert_string_equal(b.buf, heads[i].with_date);
		strbuf_clear(&b);
		row_head(row, false, &b);
		assert_string_equal(b.buf, heads[i].without);
	}
	CLEANUP(obj_unrefp) struct obj *row = parsed("{\"time\":1893571267000042}");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	row_time(row, true, &b);
	strbuf_addc(&b, ' ');
	row_time(row, false, &b);
	assert_string_equal(b.buf, "2030-01-02T08:01:07.000042Z 2030-01-02T08:01:07Z");
}

/* Every subset of its parts, and those that are empty. */
static void test_row_text__its_subject(void **state)
{
	static const char *const keys[] = {"cluster", "namespace", "kind", "name"};
	(void)state;
	for (unsigned k = 0; k < 81; k++) {
		CLEANUP(strbuf_release) struct strbuf is = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(obj_unrefp) struct obj *row = obj_map();
		struct obj *subject = obj_map();
		const char *part[4];
		unsigned rest = k;
		for (size_t i = 0; i < 4; i++, rest /= 3) { /* absent, empty, there */
			part[i] = rest % 3 == 2 ? keys[i] : "";
			if (rest % 3)
				obj_set_str(subject, keys[i], part[i]);
		}
		obj_set(row, "subject", subject);
		strbuf_addf(&want, "%s%s%s/%s%s%s", part[0], *part[0] ? ":" : "", part[2], part[1],
			    *part[1] ? "/" : "", part[3]);
		row_subject(row, &is);
		assert_string_equal(is.buf, want.buf);
	}
}

static void test_row_text__how_long(void **state)
{
	static const struct {
		int64_t us;
		const char *said;
	} spans[] = {
		{0, "0 ms"},
		{999999, "999 ms"},
		{1000000, "1 s"},
		{59999999, "59 s"},
		{60000000, "1 min 0 s"},
		{INT64_C(3599999999), "59 min 59 s"},
		{INT64_C(3600000000), "1 h 0 min"},
		{INT64_C(172799000000), "47 h 59 min"},
		{INT64_C(172800000000), "2 d 0 h"},
		{INT64_C(270000000000), "3 d 3 h"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		row_span(spans[i].us, &b);
		assert_string_equal(b.buf, spans[i].said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_text__every_part_of_a_row),
		cmocka_unit_test(test_row_text__a_row_without_a_type_says_nothing),
		cmocka_unit_test(test_row_text__who_did_it),
		cmocka_unit_test(test_row_text__its_head),
		cmocka_unit_test(test_row_text__its_subject),
		cmocka_unit_test(test_row_text__how_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
