/* What a pruning keeps, against a model that knows no state: it looks for the last words on each object in the list
 * of what was said. Random entries on few objects, pruned in several steps, each of which goes on from what the one
 * before it kept. */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/audit/log.h"
#include "alm/audit/prune_delete.h"
#include "alm/audit/prune_facts.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

enum { UIDS = 6, NO_UID = UIDS, ROWS = 90, LOGS = 8, CASES = 20, PRUNINGS = 4, LINES_MAX = 400 };
enum type { TRANSITION, WRITE, APPROVAL, OBSERVE, DECISION, PLAN, KEPT, DIGESTS, SNAPSHOT };

static const char *const type_names[] = {"Transition", "Write",  "Approval", "Observe", "Decision",
					 "Plan",       "System", "System",   "System"};
static const char *const reasons[][4] = {
	[TRANSITION] = {"Installed", "Refreshed", "Deleted", "Failed"},
	[WRITE] = {"Created", "Updated", "Deleted", "Refused"},
	[APPROVAL] = {"Paused", "Approved", "Paused", "Resumed"},
	[OBSERVE] = {"Drifted", "Deleted", "Drifted", "Seen"},
	[DECISION] = {"Resolved", "Resolved", "Waits", "Resolved"},
	[PLAN] = {"Planned", "Planned", "Planned", "Planned"},
	[KEPT] = {"RevisionKept", "RevisionKept", "RevisionDropped", "RevisionKept"},
	[DIGESTS] = {"LogOpened", "InsecureOption", "KeyAdded", "InsecureOption"},
	[SNAPSHOT] = {"ObjectsRecorded", "ObjectsRecorded", "ObjectsRecorded", "ObjectsRecorded"},
};

/* One entry. */
struct said {
	enum type type;
	const char *reason;
	int uid;    /* of KEPT: which catalog */
	int number; /* in its digests and statuses; where one is left out it is so by this, too */
	int64_t tseq;
	unsigned members; /* SNAPSHOT: which objects it has */
};

struct lines {
	char *items[LINES_MAX];
	size_t n;
};

static struct audit_log l;
static struct said said[ROWS];
static int64_t first; /* seq of said[0] */
static uint64_t prng;

static unsigned below(unsigned n)
{
	prng ^= prng << 13;
	prng ^= prng >> 7;
	prng ^= prng << 17;
	return (unsigned)(prng % n);
}

/* Where no anchor need know of what is pruned. */
static void open_log(void)
{
	struct error err = ERROR_INIT;
	audit_log_open(&l, ":memory:", NULL);
	assert_ok(db_exec(l.db, "DROP TRIGGER audit_prune_gate", &err), &err);
}

/* --- what is said --- */

static struct obj *digest(const char *what, int number)
{
	return obj_stringf("sha256:%s%d", what, number);
}

static struct obj *status(int number)
{
	return obj_stringf("{\"phase\":\"p%d\"}", number);
}

static struct obj *body_of(const struct said *s)
{
	struct obj *b = obj_map();
	obj_set_int(b, "number", s->number);
	if (s->type == KEPT && s->number % 2) { /* which only the log says of itself */
		struct obj *list = obj_list();
		obj_append(list, obj_string("none"));
		obj_set(b, "snapshot", list);
		obj_set_str(b, "digests", "none");
	}
	if (s->type == TRANSITION) {
		obj_set(b, "status", status(s->number));
	} else if (s->type == WRITE && strcmp(s->reason, "Deleted") != 0) {
		obj_set(b, "after", digest("after", s->number));
		if (s->number % 2)
			obj_set(b, "afterMain", digest("main", s->number));
	} else if (s->type == KEPT) { /* of the one that is dropped, too */
		obj_set(b, "digest", digest("kept", s->number));
	} else if (s->type == DIGESTS && s->number % 3) {
		obj_set(b, "digests",
			s->number % 4 ? digest("rules", s->number) : obj_string("none"));
	} else {
		obj_set(b, "explain", obj_string("long, and not kept"));
	}
	return b;
}

static void put_members(const struct said *s, struct obj *body)
{
	struct error err = ERROR_INIT;
	struct snapshot_writer w;
	snapshot_begin(&w, l.audit);
	for (int i = 0; i < UIDS; i++) {
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		if (!(s->members & 1U << i))
			continue;
		obj_set(o, "uid", obj_stringf("u%d", i));
		obj_set(o, "after", digest("after", s->number));
		if (s->number % 2)
			obj_set(o, "afterMain", digest("main", s->number));
		assert_ok(snapshot_put(&w, o, &err), &err);
	}
	assert_ok(snapshot_end(&w, body, &err), &err);
	snapshot_release(&w);
}

static const char *name_of(int uid)
{
	static const char *const names[] = {"same", "same", "b", "c", "d", "e", "nobody"};
	return names[uid];
}

static void append(const struct said *s)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	char uid[16];
	CLEANUP(obj_unrefp) struct obj *body = body_of(s);
	(void)snprintf(uid, sizeof(uid), "u%d", s->uid);
	struct audit_row row = {.type = type_names[s->type],
				.reason = s->reason,
				.transition_seq = s->tseq,
				.body = body};
	if (s->type == SNAPSHOT)
		put_members(s, body);
	if (s->type >= DIGESTS)
		row.subject = (struct audit_subject){.kind = "Log", .name = "log"};
	else if (s->type == KEPT)
		row.subject = (struct audit_subject){.kind = "Catalog", .name = uid};
	else
		row.subject = (struct audit_subject){.kind = s->uid % 3 ? "Unit" : "AppType",
						     .ns = s->uid % 2 ? "ns" : NULL,
						     .name = name_of(s->uid),
						     .uid = s->uid == NO_UID ? NULL : uid};
	assert_ok(audit_append(l.audit, &row, &seq, &err), &err);
}

static void say_anything(void)
{
	static const enum type often[] = {TRANSITION, TRANSITION, TRANSITION, WRITE,    WRITE,
					  WRITE,      WRITE,      APPROVAL,   APPROVAL, OBSERVE,
					  OBSERVE,    DECISION,   PLAN,       KEPT,     DIGESTS};
	int64_t tseq[UIDS] = {0};
	first = audit_last_seq(l.audit) + 1;
	for (int i = 0; i < ROWS; i++) {
		struct said *s = &said[i];
		enum type type = below(40) ? often[below(ARRAY_LEN(often))] : SNAPSHOT;
		bool needs_uid = type == TRANSITION;
		*s = (struct said){.type = type,
				   .reason = reasons[type][below(4)],
				   .uid = (int)below(needs_uid ? UIDS : UIDS + 1),
				   .number = i,
				   .members = below(1U << UIDS)};
		if (type == TRANSITION)
			s->tseq = ++tseq[s->uid];
		append(s);
	}
	assert_int_equal(audit_last_seq(l.audit), first + ROWS - 1);
}

/* --- the model: of the first ends[k] entries at pruning k --- */

static bool is(const struct said *s, enum type type, int uid)
{
	return s->type == type && s->uid == uid;
}

static bool has_digests(const struct said *s)
{
	return !strcmp(s->reason, "Created") || !strcmp(s->reason, "Updated");
}

/* The last one in from..to-1 that says which object there is; -1: none does. */
static int last_word(int uid, int from, int to)
{
	for (int i = to - 1; i >= from; i--)
		if (said[i].type == SNAPSHOT ||
		    (is(&said[i], WRITE, uid) && strcmp(said[i].reason, "Refused") != 0))
			return i;
	return -1;
}

static bool stands(int uid, int word)
{
	if (word < 0)
		return false;
	return said[word].type == SNAPSHOT ? said[word].members & 1U << uid
					   : has_digests(&said[word]);
}

static int last_transition(int uid, int from, int to, bool that_changed)
{
	for (int i = to - 1; i >= from; i--)
		if (is(&said[i], TRANSITION, uid) &&
		    (!that_changed || strcmp(said[i].reason, "Refreshed") != 0))
			return i;
	return -1;
}

/* What was told as deleted once is no longer told: entries from here on count at pruning k. */
static int start_at(int uid, const int *ends, int k)
{
	int start = 0;
	for (int i = 0; i < k; i++) {
		int t = last_transition(uid, start, ends[i], false);
		if (t >= 0 && !strcmp(said[t].reason, "Deleted") &&
		    !stands(uid, last_word(uid, start, ends[i])))
			start = ends[i];
	}
	return start;
}

/* Whether anything was known of the object before entry at. */
static bool is_known(int uid, int at, const int *ends)
{
	int k = 0;
	while (k < PRUNINGS && ends[k] <= at)
		k++;
	for (int i = start_at(uid, ends, k); i < at; i++)
		if (last_transition(uid, i, at, false) >= 0)
			return true;
	int from = start_at(uid, ends, k), word = last_word(uid, from, at);
	if (stands(uid, word))
		return true;
	/* A snapshot without it leaves a name without digests, until a Write says that it is gone. */
	for (int i = word; i >= from; i--) {
		if (is(&said[i], WRITE, uid) && !strcmp(said[i].reason, "Deleted"))
			return false;
		if (stands(uid, i) && (said[i].type == SNAPSHOT || is(&said[i], WRITE, uid)))
			return true;
	}
	return false;
}

static bool ends_all(const struct said *s, int at, const int *ends)
{
	if (strcmp(s->reason, "Deleted") != 0)
		return false;
	return s->type != WRITE || is_known(s->uid, at, ends);
}

static void add(struct lines *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct lines *out, const char *format, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	va_list args;
	va_start(args, format);
	strbuf_vaddf(&b, format, args);
	va_end(args);
	assert_true(out->n < LINES_MAX);
	out->items[out->n++] = strbuf_detach(&b);
}

static void want_object(int uid, const int *ends, int k, struct lines *out)
{
	int start = start_at(uid, ends, k), word = last_word(uid, start, ends[k]);
	int t = last_transition(uid, start, ends[k], false);
	int row = last_transition(uid, start, ends[k], true);
	bool there = stands(uid, word);
	if (t < 0 && !there)
		return;
	add(out, "u%d %s after%d main%d tseq %" PRId64 " at %d phase p%d row %d", uid,
	    t >= 0 ? said[t].reason : "", there ? said[word].number : -1,
	    there && said[word].number % 2 ? said[word].number : -1, t >= 0 ? said[t].tseq : 0, t,
	    t >= 0 && strcmp(said[t].reason, "Deleted") != 0 ? said[t].number : -1, row);
}

static bool same_key(const struct said *a, const struct said *b)
{
	return a->type == b->type && a->uid == b->uid && !strcmp(a->reason, b->reason);
}

static void want_standing(int at, const int *ends, int end, struct lines *out)
{
	const struct said *s = &said[at];
	if (s->type != APPROVAL && s->type != OBSERVE && s->type != DECISION)
		return;
	for (int i = at + 1; i < end; i++) {
		bool of_it = s->uid != NO_UID && said[i].uid == s->uid && said[i].type <= OBSERVE &&
			     said[i].type != APPROVAL;
		if (same_key(s, &said[i]) || (of_it && ends_all(&said[i], i, ends)))
			return;
	}
	add(out, "%s %s u%d at %d", type_names[s->type], s->reason, s->uid, at);
}

static void want_rest(const int *ends, int k, struct lines *out)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *opened = NULL;
	assert_ok(audit_row_get(l.audit, 1, &opened, &err), &err);
	struct obj *digests = obj_ref(obj_path(opened, "body.digests"));
	for (int i = 0; i < ends[k]; i++)
		if (said[i].type == DIGESTS && said[i].number % 3) {
			obj_unref(digests);
			digests = said[i].number % 4 ? digest("rules", said[i].number)
						     : obj_string("none");
		}
	add(out, "digests %s", obj_as_string(digests));
	obj_unref(digests);
	for (int c = 0; c <= UIDS; c++) {
		int kept = -1;
		for (int i = k ? ends[k - 1] : 0; i < ends[k]; i++) {
			bool none = said[i].type == DIGESTS && said[i].number % 3 &&
				    said[i].number % 4 == 0;
			if (none || is(&said[i], KEPT, c))
				kept = !none && !strcmp(said[i].reason, "RevisionKept") ? i : -1;
		}
		if (kept >= 0)
			add(out, "kept u%d sha256:kept%d", c, kept);
	}
}

static void want_all(const int *ends, int k, struct lines *out)
{
	for (int uid = 0; uid < UIDS; uid++)
		want_object(uid, ends, k, out);
	for (int i = 0; i < ends[k]; i++)
		want_standing(i, ends, ends[k], out);
	want_rest(ends, k, out);
}

/* --- what is kept --- */

/* The first one in it, behind the algorithm of a digest; -1: none. */
static int number_in(const char *text)
{
	struct str rest = str_of(text ? text : "");
	int n = -1;
	if (str_has_prefix(rest, STR("sha256:")))
		rest = str_skip(rest, 7);
	for (size_t i = 0; i < rest.len && (n < 0 || char_is_digit(rest.ptr[i])); i++)
		if (char_is_digit(rest.ptr[i]))
			n = (n < 0 ? 0 : 10 * n) + rest.ptr[i] - '0';
	return n;
}

static int index_of(const struct obj *seq_of, const char *path)
{
	int64_t seq = obj_i64(seq_of, path, -1);
	return seq < 0 ? -1 : (int)(seq - first);
}

static int take_object(void *arg, const struct obj *o, struct error *err)
{
	(void)err;
	const char *reason = obj_str(o, "reason");
	if (!obj_has(o, "after") && !obj_has(o, "transitionSeq"))
		return 0;
	assert_false(obj_has(obj_path(o, "row.body"), "status"));
	add(arg, "%s %s after%d main%d tseq %" PRId64 " at %d phase p%d row %d", obj_str(o, "uid"),
	    reason ? reason : "", number_in(obj_str(o, "after")),
	    number_in(obj_str(o, "afterMain")), obj_i64(o, "transitionSeq", 0), index_of(o, "seq"),
	    number_in(obj_str(o, "status")), index_of(o, "row.seq"));
	return 0;
}

static int take_standing(void *arg, const struct obj *row, struct error *err)
{
	(void)err;
	int uid = number_in(obj_str(row, "subject.uid"));
	assert_false(obj_has(obj_get(row, "body"), "explain"));
	assert_true(obj_has(obj_get(row, "body"), "number"));
	add(arg, "%s %s u%d at %d", obj_str(row, "type"), obj_str(row, "reason"),
	    uid < 0 ? NO_UID : uid, index_of(row, "seq"));
	return 0;
}

static int take_kept(void *arg, const char *name, const char *is_digest, struct error *err)
{
	(void)err;
	add(arg, "kept %s %s", name, is_digest);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prints those that the other one has not. */
static size_t tell_missing(const struct lines *of, const struct lines *in, const char *what)
{
	size_t n = 0;
	for (size_t i = 0; i < of->n; i++) {
		char *const *found =
			bsearch(&of->items[i], in->items, in->n, sizeof(char *), by_text);
		if (found)
			continue;
		print_error("%s: %s\n", what, of->items[i]);
		n++;
	}
	return n;
}

static void lines_release(struct lines *x)
{
	for (size_t i = 0; i < x->n; i++)
		xfree(x->items[i]);
}

static void assert_same(struct lines *want, struct lines *have, const int *ends, int k)
{
	qsort(want->items, want->n, sizeof(char *), by_text);
	qsort(have->items, have->n, sizeof(char *), by_text);
	if (tell_missing(want, have, "not kept") + tell_missing(have, want, "kept") ||
	    want->n != have->n)
		fail_msg("pruning %d, at %d: %zu lines, not %zu", k, ends[k], have->n, want->n);
	lines_release(want);
	lines_release(have);
}

static void add_entries(struct prune_facts *f, int64_t after, int64_t to)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	struct record rec;
	assert_ok(log_range(l.db, after, to, &s, &err), &err);
	while (stmt_step(s, &err) > 0) {
		log_record(s, &rec);
		assert_ok(prune_facts_add(f, &rec, &err), &err);
	}
	stmt_reset(s);
}

static int64_t append_pruned(const struct obj *body)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	struct audit_row row = {.type = "System",
				.reason = "Pruned",
				.subject = {.kind = "Log", .name = "log"},
				.body = body};
	assert_ok(audit_append(l.audit, &row, &seq, &err), &err);
	return seq;
}

/* Pruning k: what it says goes into have. */
static void prune(const int *ends, int k, struct lines *have)
{
	struct error err = ERROR_INIT;
	CLEANUP(prune_facts_freep) struct prune_facts *f = NULL;
	CLEANUP(snapshot_freep) struct snapshot *s = NULL;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct snapshot_writer w;
	int64_t from = k ? first + ends[k - 1] : 1, to = first + ends[k] - 1;
	char chain[SHA256_HEX];
	sha256_hex(STR("any"), chain);
	assert_ok(prune_facts_new(l.db, &f, &err), &err);
	add_entries(f, from - 1, to);
	snapshot_begin(&w, l.audit);
	assert_ok(prune_facts_put(f, &w, to, body, &err), &err);
	snapshot_release(&w);
	assert_ok(prune_facts_each_kept(f, take_kept, have, &err), &err);
	add(have, "digests %s", obj_str(body, "digests"));
	/* A gap is told by the first entry, and then by each pruning. */
	assert_int_equal(obj_i64(body, "gap.size", 0), k && ends[0] % 2 ? ends[0] : 0);
	if (!k && ends[0] % 2)
		obj_set_path(body, "gap.size", obj_int(ends[0]));
	obj_set_str(body, "chain", chain);
	obj_set_int(body, "below", to + 1);
	assert_ok(prune_mark(l.audit, from, to + 1, append_pruned(body), &err), &err);
	assert_ok(snapshot_load_pruned(l.db, &s, &err), &err);
	assert_int_equal(snapshot_seq(s), to);
	assert_ok(snapshot_each(s, take_object, have, &err), &err);
	assert_ok(snapshot_each_standing(s, take_standing, have, &err), &err);
}

/* The head of what is gone goes with the pruning behind the one that told it. */
static void assert_heads(const int *ends, int k)
{
	for (int uid = 0; uid < UIDS; uid++) {
		struct error err = ERROR_INIT;
		int64_t tseq, seq;
		char name[16];
		int newest = last_transition(uid, 0, ROWS, false);
		bool gone = newest >= 0 && start_at(uid, ends, k) > newest;
		(void)snprintf(name, sizeof(name), "u%d", uid);
		assert_ok(audit_head(l.audit, name, &tseq, &seq, &err), &err);
		assert_int_equal(tseq, newest < 0 || gone ? 0 : said[newest].tseq);
	}
}

static void run_case(void)
{
	struct error err = ERROR_INIT;
	int ends[PRUNINGS], end = 0;
	for (int k = 0; k < PRUNINGS; k++) {
		end += 1 + (int)below((unsigned)(ROWS - end - (PRUNINGS - k - 1)));
		ends[k] = end;
	}
	assert_ok(db_begin(l.db, &err), &err);
	for (int k = 0; k < PRUNINGS; k++) {
		struct lines want = {.n = 0}, have = {.n = 0};
		want_all(ends, k, &want);
		prune(ends, k, &have);
		assert_same(&want, &have, ends, k);
		assert_heads(ends, k);
	}
	db_rollback(l.db);
	audit_rolled_back(l.audit);
}

static void test_prune_facts__the_last_words_on_each_object(void **state)
{
	(void)state;
	for (uint64_t log = 1; log <= LOGS; log++) {
		struct error err = ERROR_INIT;
		prng = log * 0x9E3779B97F4A7C15U;
		open_log();
		assert_ok(db_begin(l.db, &err), &err);
		say_anything();
		assert_ok(db_commit(l.db, &err), &err);
		for (int i = 0; i < CASES; i++)
			run_case();
		audit_log_close(&l);
	}
}

/* Without the words of the last pruning nothing is known: no other one is prepared. */
static void test_prune_facts__a_pruning_that_no_entry_tells_of_is_an_error(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct prune_facts *f = NULL;
	open_log();
	assert_ok(db_exec(l.db, "INSERT INTO audit_prune (below, seq, archive) VALUES (2, 1, '')",
			  &err),
		  &err);
	assert_int_equal(prune_facts_new(l.db, &f, &err), -E_ALTERED);
	assert_null(f);
	audit_log_close(&l);
}

static int object_of(void *arg, const struct obj *row, struct error *err)
{
	(void)err;
	const char *text = obj_str(row, "body.object");
	add(arg, "%s", text ? text : "none");
	return 0;
}

/* An object that stood in blobs, which go, is kept as its text; one whose blobs are gone is left out. */
static void test_prune_facts__an_object_is_kept_as_text(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct lines have = {.n = 0};
	CLEANUP(prune_facts_freep) struct prune_facts *f = NULL;
	CLEANUP(snapshot_freep) struct snapshot *s = NULL;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct snapshot_writer w;
	static const char *const texts[] = {"{\"in\":\"the row\"}", "{\"in\":\"a blob\"}",
					    "{\"in\":\"no blob\"}"};
	open_log();
	assert_ok(db_begin(l.db, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		int64_t seq;
		char name[2] = {(char)('a' + i), '\0'};
		struct obj *ref = obj_string(i ? "sha256:none" : texts[i]);
		CLEANUP(obj_unrefp) struct obj *b = obj_map();
		if (i == 1) {
			obj_unref(ref);
			assert_ok(audit_text_put(l.audit, str_of(texts[i]), &ref, &err), &err);
		}
		obj_set(b, "object", ref);
		struct audit_row row = {.type = "Observe",
					.reason = "Seen",
					.subject = {.kind = "Unit", .name = name, .uid = name},
					.body = b};
		assert_ok(audit_append(l.audit, &row, &seq, &err), &err);
	}
	assert_ok(prune_facts_new(l.db, &f, &err), &err);
	add_entries(f, 0, audit_last_seq(l.audit));
	snapshot_begin(&w, l.audit);
	assert_ok(prune_facts_put(f, &w, audit_last_seq(l.audit), body, &err), &err);
	snapshot_release(&w);
	CLEANUP(obj_unrefp) struct obj *pruned = obj_map();
	obj_set(pruned, "body", obj_ref(body));
	assert_ok(snapshot_of_row(l.db, pruned, 1, &s, &err), &err);
	assert_ok(snapshot_each_standing(s, object_of, &have, &err), &err);
	assert_int_equal(have.n, 3);
	assert_string_equal(have.items[0], texts[0]);
	assert_string_equal(have.items[1], texts[1]);
	assert_string_equal(have.items[2], "none");
	lines_release(&have);
	db_rollback(l.db);
	audit_log_close(&l);
}

/* Two that fit alone and not together are two blobs; one that fits in none is refused. */
static void test_prune_facts__a_snapshot_of_many_blobs(void **state)
{
	(void)state;
	static char text[AUDIT_BLOB_BYTES_MAX + 1];
	open_log();
	for (int i = 0; i < 2; i++) {
		struct error err = ERROR_INIT;
		struct snapshot_writer w;
		CLEANUP(obj_unrefp) struct obj *o = obj_map(), *body = obj_map();
		CLEANUP(snapshot_freep) struct snapshot *s = NULL;
		memset(text, 'x', sizeof(text) - 1);
		text[i ? sizeof(text) - 1 : sizeof(text) / 2] = '\0';
		assert_ok(db_begin(l.db, &err), &err);
		snapshot_begin(&w, l.audit);
		obj_set_str(o, "status", text);
		int n = 0;
		for (int r = 0; n < 3 && r >= 0; n += r >= 0) {
			obj_set(o, "uid", obj_stringf("u%d", n));
			r = snapshot_put(&w, o, &err);
			assert_int_equal(r, i ? -E_LIMIT : 0);
		}
		assert_int_equal(n, i ? 0 : 3);
		struct error none = ERROR_INIT;
		assert_ok(snapshot_end(&w, body, &none), &none);
		snapshot_release(&w);
		CLEANUP(obj_unrefp) struct obj *row = obj_map();
		obj_set(row, "body", obj_ref(body));
		assert_int_equal(obj_len(obj_get(body, "snapshot")), n);
		assert_ok(snapshot_of_row(l.db, row, 1, &s, &none), &none);
		for (int k = 0; k < 3; k++) {
			CLEANUP(obj_unrefp) struct obj *uid = obj_stringf("u%d", k);
			CLEANUP(obj_unrefp) struct obj *e = snapshot_find(s, obj_as_string(uid));
			assert_int_equal(e != NULL, !i);
		}
		db_rollback(l.db);
		audit_rolled_back(l.audit);
	}
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prune_facts__the_last_words_on_each_object),
		cmocka_unit_test(test_prune_facts__a_pruning_that_no_entry_tells_of_is_an_error),
		cmocka_unit_test(test_prune_facts__an_object_is_kept_as_text),
		cmocka_unit_test(test_prune_facts__a_snapshot_of_many_blobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
