/* What the log says of objects, against a model that goes through all of it: what was written last, the newest transition and
 * the status that it announced. */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alm/audit/log.h"
#include "alm/audit/objects.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

#define ENTRIES 160
#define N_UIDS  4

static const char *const kinds[] = {"AppType", "Catalog"};
static const char *const spaces[] = {"", "a"};
static const char *const names[] = {"one", "two"};
static const char *const clusters[] = {"", "", "", "far"};
static const char *const types[] = {"Write", "Write", "Observe", "Transition"};
static const char *const reasons[] = {"Created", "Updated", "Deleted", "Refused"};
static const char *const uids[N_UIDS] = {"u-0", "u-1", "u-2", "u-3"};

struct entry {
	struct audit_subject subject;
	const char *type, *reason;
	int64_t seq, tseq;
};

static struct audit_log l;
static struct entry entries[ENTRIES];
static uint64_t random_state;

static size_t below(size_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)((random_state >> 33) % n);
}

static void append(struct entry *e)
{
	static int64_t last[N_UIDS];
	struct error err = ERROR_INIT;
	size_t uid = below(N_UIDS);
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	if (e == entries)
		memset(last, 0, sizeof(last));
	*e = (struct entry){.subject = {.cluster = clusters[below(4)],
					.kind = kinds[below(2)],
					.ns = spaces[below(2)],
					.name = names[below(2)],
					.uid = uids[uid]},
			    .type = types[below(4)],
			    .reason = reasons[below(4)]};
	if (!strcmp(e->type, "Transition")) {
		e->tseq = ++last[uid];
		obj_set(body, "status",
			obj_stringf("{\"at\":%" PRId64 ",\"of\":\"%s\"}", e->tseq, uids[uid]));
	}
	const struct audit_row row = {.type = e->type,
				      .reason = e->reason,
				      .subject = e->subject,
				      .transition_seq = e->tseq,
				      .body = body};
	assert_ok(audit_append_now(l.audit, &row, &e->seq, &err), &err);
}

static void setup(uint64_t seed)
{
	random_state = seed;
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ENTRIES; i++)
		append(&entries[i]);
}

static bool is_at(const struct entry *e, const char *kind, const char *ns, const char *name)
{
	return !strcmp(e->subject.kind, kind) && !strcmp(e->subject.ns, ns) &&
	       !strcmp(e->subject.name, name);
}

/* The newest record that changed the object of this cluster; NULL: there is none, or it says that it is gone. */
static const struct entry *written(const char *kind, const char *ns, const char *name)
{
	const struct entry *found = NULL;
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *e = &entries[i];
		if (is_at(e, kind, ns, name) && !*e->subject.cluster && !strcmp(e->type, "Write") &&
		    strcmp(e->reason, "Refused") != 0)
			found = e;
	}
	return found && strcmp(found->reason, "Deleted") != 0 ? found : NULL;
}

static bool is_known(const char *kind, const char *ns, const char *name)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (is_at(&entries[i], kind, ns, name))
			return true;
	return false;
}

static void check_written(const struct objects_log *log)
{
	struct error err = ERROR_INIT;
	struct objects_cursor c = {0};
	for (size_t i = 0; i < 8; i++) { /* in order of the three */
		const char *kind = kinds[i >> 2], *ns = spaces[i >> 1 & 1], *name = names[i & 1];
		const struct entry *e = written(kind, ns, name);
		if (!is_known(kind, ns, name))
			continue;
		do /* the log has rows of itself */
			assert_int_equal(objects_next_written(log, &c, &err), 1);
		while (!strcmp(c.kind, "Log"));
		assert_string_equal(c.kind, kind);
		assert_string_equal(c.ns, ns);
		assert_string_equal(c.name, name);
		assert_int_equal(c.uid != NULL, e != NULL);
		if (e)
			assert_string_equal(c.uid, e->subject.uid);
		assert_int_equal(c.seq, e ? e->seq : 0);
	}
	int r = 1;
	while (r > 0) {
		r = objects_next_written(log, &c, &err);
		if (r > 0)
			assert_string_equal(c.kind, "Log");
	}
	assert_int_equal(r, 0);
	objects_cursor_release(&c);
}

static void check_transitions(const struct objects_log *log, const char *uid)
{
	struct error err = ERROR_INIT;
	int64_t want = 0, is = -1;
	for (size_t i = 0; i < ENTRIES; i++) {
		if (entries[i].tseq && !strcmp(entries[i].subject.uid, uid))
			want = entries[i].tseq;
		assert_ok(objects_transition(log, uid, entries[i].seq, &is, &err), &err);
		assert_int_equal(is, want);
	}
	for (int64_t tseq = 0; tseq <= want + 1; tseq++) {
		CLEANUP(obj_unrefp) struct obj *status = NULL;
		assert_ok(objects_status(log, uid, tseq, &status, &err), &err);
		assert_int_equal(status != NULL, tseq >= 1 && tseq <= want);
		assert_int_equal(obj_i64(status, "at", 0), status ? tseq : 0);
		if (status)
			assert_string_equal(obj_str(status, "of"), uid);
	}
}

static void test_objects__the_log_says_what_a_model_says(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		setup(seed);
		const struct objects_log log = {.db = l.db};
		check_written(&log);
		for (size_t i = 0; i < N_UIDS; i++)
			check_transitions(&log, uids[i]);
		check_transitions(&log, "u-none");
		audit_log_close(&l);
	}
}

/* A row that is damaged is an error, never no row. */
static void test_objects__a_record_that_is_no_json(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	const struct record rec = {.seq = 7,
				   .type = STR("Write"),
				   .reason = STR("Created"),
				   .kind = STR("AppType"),
				   .name = STR("one"),
				   .body = STR("{\"a\":")};
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_int_equal(log_object(&rec, &o, &err), -E_CORRUPT);
	assert_string_equal(err.msg, "audit entry 7 is no JSON");
	assert_null(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects__the_log_says_what_a_model_says),
		cmocka_unit_test(test_objects__a_record_that_is_no_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
