/* test_unit_back.c: under which name a unit is stored, so that what succeeded before stays until the next one has. */
#include "tests/lib/test.h"

#include "alm/base/hash.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/unit/unit_store.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/unit_fixture.h"
#include "tests/lib/view_fake.h"

#define OBJECT(kind, value)                                                          \
	"{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"o\"," \
	"\"namespace\":\"n\"},\"data\":{\"k\":\"" value "\"}}"

static void test_unit_back__has_two_slots_that_take_turns(void **state)
{
	static const struct {
		const char *kind, *live; /* of its object; live NULL: it is not there */
		bool goes_back, back;
		const char *current, *succeeded, *want; /* of unit "new", in run "r7" */
	} rows[] = {
		/* the first one, and the next ones */
		{"ConfigMap", NULL, true, false, NULL, NULL, "new.0"},
		{"ConfigMap", NULL, true, false, "old.0", "old.0", "new.1"},
		{"ConfigMap", NULL, true, false, "old.1", "old.1", "new.0"},
		{"ConfigMap", NULL, true, false, "other.1", "old.0", "new.1"},
		/* once more what has succeeded, with nothing since, or with another between */
		{"ConfigMap", NULL, true, false, "new.0", "new.0", "new.0"},
		{"ConfigMap", NULL, true, false, "new.1", "new.1", "new.1"},
		{"ConfigMap", NULL, true, false, "other.1", "new.0", "new.1"},
		/* it is not to be found again */
		{"ConfigMap", NULL, false, false, NULL, NULL, "new.-"},
		{"ConfigMap", NULL, false, false, "old.0", "old.0", "new.-"},
		{"ConfigMap", NULL, false, false, "new.-", "new.-", "new.-"},
		{"Secret", NULL, false, false, "new.0", "new.0", "new.0"},
		/* the way back is to what succeeded */
		{"ConfigMap", NULL, true, true, "new.1", "old.0", "old.0"},
		{"Secret", NULL, true, true, "new.1.r7", "old.0.r3", "old.0.r3"},
		/* of Secrets the digest says nothing: other values are another unit, this run's */
		{"Secret", NULL, true, false, "new.0", "new.0", "new.1.r7"},
		{"Secret", OBJECT("Secret", "b"), true, false, "new.0", "new.0", "new.1.r7"},
		{"Secret", OBJECT("Secret", "a"), true, false, "new.0", "new.0", "new.0"},
		{"ConfigMap", OBJECT("ConfigMap", "b"), true, false, "new.0", "new.0", "new.0"},
		{"Secret", NULL, true, false, "old.1", "old.1", "new.0"},
		{"Secret", NULL, true, false, "new.1.r7", "new.0", "new.1.r7"}, /* was begun */
		{"Secret", NULL, true, false, "new.1.r6", "new.0", "new.1.r7"}, /* by another */
		{"Secret", NULL, true, false, "new.0.r5", "new.0.r5", "new.1.r7"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		struct unit unit = {.digest = "new", .goes_back = rows[i].goes_back};
		bool is_secret = cstr_eq(rows[i].kind, "Secret");
		struct unit_entry e = {
			.kind = rows[i].kind,
			.object = view_fake_obj(&f, is_secret ? OBJECT("Secret", "a")
							      : OBJECT("ConfigMap", "a")),
			.live = rows[i].live ? view_fake_obj(&f, rows[i].live) : NULL};
		struct unit_pass s = {.v = &f.view,
				      .unit = &unit,
				      .back = rows[i].back,
				      .entries = &e,
				      .n = 1,
				      .record = view_fake_obj(&f, "{\"run\":\"r7\"}")};
		s.current = unit_stored_parse(rows[i].current, f.a);
		s.succeeded = unit_stored_parse(rows[i].succeeded, f.a);
		const char *is = unit_stored_as(&s);
		if (!cstr_eq(is, rows[i].want))
			fail_msg("row %zu: %s", i, is);
		view_fake_release(&f);
	}
}

static void test_unit_back__a_name_has_three_parts(void **state)
{
	static const struct {
		const char *text, *digest, *slot, *run;
	} rows[] = {
		{NULL, NULL, NULL, NULL},     {"d.0", "d", "0", NULL}, {"d.1.r", "d", "1", "r"},
		{"d.-", "d", "-", NULL},      {"d", "d", "-", NULL},   {"d.", "d", "-", NULL},
		{"d.1.a.b", "d", "1", "a.b"},
	};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct unit_stored s = unit_stored_parse(rows[i].text, a);
		assert_true(cstr_eq(s.digest, rows[i].digest) || s.digest == rows[i].digest);
		assert_true(cstr_eq(s.slot, rows[i].slot) || s.slot == rows[i].slot);
		assert_true(cstr_eq(s.run, rows[i].run) || s.run == rows[i].run);
		assert_true(cstr_eq(s.text, rows[i].text) || s.text == rows[i].text);
	}
}

/* The one Secret that the unit is stored in; NULL: there is none. */
static struct obj *stored_unit(struct unit_fixture *x)
{
	for (struct map_entry *e = map_first(x->f.live); e; e = map_next(e)) {
		struct obj *o = e->value ? view_fake_obj(&x->f, e->value) : NULL;
		if (cstr_eq(obj_str(o, "type"), STORE_TYPE))
			return o;
	}
	return NULL;
}

/* The same text in n Secrets, which say that they are so many. */
static void store_in(struct unit_fixture *x, size_t n, const char *so_many)
{
	const struct obj *o = stored_unit(x);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STORE_CHUNK_BYTES);
	assert_non_null(o);
	assert_true(base64_decode(str_of(obj_str(o, "data.plan")), &text));
	size_t size = text.len / n + 1, n_prefix = strlen(meta_name(o)) - strlen(".0");
	struct str rest = strbuf_str(&text);
	for (size_t i = 0; i < n; i++, rest = str_skip(rest, size)) {
		CLEANUP(strbuf_release) struct strbuf b64 = STRBUF_INIT(STORE_CHUNK_BYTES);
		CLEANUP(obj_unrefp) struct obj *piece = obj_copy(o);
		base64_encode(str_sub(rest, 0, size), &b64);
		obj_set_path(piece, "metadata.name",
			     obj_stringf("%.*s.%zu", (int)n_prefix, meta_name(o), i));
		obj_set_path(piece, "data.plan", obj_stringn(strbuf_str(&b64)));
		meta_set_annotation(piece, ANNOTATION_CHUNKS, so_many);
		view_fake_live_obj(&x->f, piece);
	}
}

/* Another unit, whose second object the server refuses. */
static const char *fail_next(struct unit_fixture *x)
{
	struct error err = ERROR_INIT;
	x->job.unit = unit_fixture_unit(x, 2);
	x->job.attempt++;
	x->job.record = NULL;
	error_set(&err, E_INVALID, "no more of them");
	for (int i = 0; i < 20 && !view_fake_action(&x->f, ACT_APPLY, "ConfigMap", "c1"); i++) {
		unit_fixture_pass(x);
		view_fake_survey(&x->f);
		for (struct action *w = x->f.plan.head; w; w = w->next)
			if (w->type == ACT_APPLY && cstr_eq(w->name, "c1"))
				w->type = ACT_FORGET;
		view_fake_perform(&x->f);
	}
	stash_put(x->f.stash, refusal_id("", "ConfigMap", "default", "c1", x->a), &err, STR_NONE,
		  NULL, x->f.view.now_ns);
	return unit_fixture_settle(x);
}

static void test_unit_back__reads_what_is_stored_in_many(void **state)
{
	static const struct {
		size_t n;
		const char *so_many, *want;
	} rows[] = {
		{1, "1", "RolledBack"},
		{2, "2", "RolledBack"},
		{STORE_CHUNKS_MAX - 1, "63", "RolledBack"},
		{STORE_CHUNKS_MAX, "64", "RolledBack"},
		/* so many were never written */
		{STORE_CHUNKS_MAX + 1, "65", "Failed"},
		{2, "100000000", "Failed"},
		{2, "3", "Failed"},
		{1, "0", "Failed"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		unit_fixture_init(&x, 1);
		assert_string_equal(unit_fixture_settle(&x), "Succeeded");
		store_in(&x, rows[i].n, rows[i].so_many);
		const char *is = fail_next(&x);
		if (!cstr_eq(is, rows[i].want))
			fail_msg("row %zu: %s, %s", i, is, obj_str(x.job.record, "message"));
		unit_fixture_release(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_back__has_two_slots_that_take_turns),
		cmocka_unit_test(test_unit_back__a_name_has_three_parts),
		cmocka_unit_test(test_unit_back__reads_what_is_stored_in_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
