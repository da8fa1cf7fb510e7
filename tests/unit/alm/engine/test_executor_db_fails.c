/* A call of the database that fails costs no entry: whatever call of a reconcile fails, once, in the end the log and the
 * server have what they have without that, in the same order, and nothing was written before its entry. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/audit.h"
#include "alm/base/clock.h"
#include "alm/io/db.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/db_failing.h"
#include "tests/lib/work_fixture.h"

#define MAPS   "/api/v1/namespaces/n/configmaps"
#define STATUS MAPS "/c/status?fieldManager=alm"
#define EVENTS "/api/v1/namespaces/n/events?*"

enum { ANSWERS = 3, TEXT_MAX = 1 << 20, POINTS_MAX = 400, LARGE = 5000 };

struct fixture {
	struct work_fixture w;
	bool same;
	int64_t from;            /* the entries that count come after it */
	struct strbuf log;       /* of entries, without Plans */
	struct strbuf about;     /* whom they are about */
	struct strbuf calls;     /* what was written */
	struct strbuf write;     /* how the last one ended, where the server is another process */
	struct strbuf plan;      /* the last one */
	size_t n_plans, n_calls; /* calls: before it */
	bool early;              /* a write was begun before its entry */
};

/* The entries of the reconcile, but for the Plan, which is made anew for another try, and how a write ended, which
 * is looked at again when it is not known. */
static void read_log(struct fixture *f)
{
	strbuf_clear(&f->log);
	strbuf_clear(&f->about);
	f->n_plans = 0;
	for (int64_t seq = f->from + 1; seq <= audit_last_seq(f->w.audit); seq++) {
		struct error err;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f->w.audit, seq, &row, &err), &err);
		CLEANUP(xfreep) char *body = json_text(obj_get(row, "body"));
		const char *type = obj_str(row, "type");
		if (cstr_eq(type, "Plan")) {
			f->n_plans++;
			strbuf_clear(&f->plan);
			strbuf_addf(&f->plan, "%s/%s/%s %s", obj_str(row, "subject.kind"),
				    obj_str(row, "subject.namespace"), obj_str(row, "subject.name"),
				    body);
		}
		if (cstr_eq(type, "Write")) {
			strbuf_clear(&f->write);
			strbuf_addf(&f->write, "%s %s", obj_str(row, "reason"), body);
		}
		if (cstr_eq(type, "Plan") || cstr_eq(type, "Write"))
			continue;
		strbuf_addf(&f->about, "%s/%s/%s/%s ", obj_str(row, "subject.kind"),
			    obj_str(row, "subject.namespace") ? obj_str(row, "subject.namespace")
							      : "",
			    obj_str(row, "subject.name"), obj_str(row, "subject.uid"));
		strbuf_addf(&f->log, "%s %s %d %s %s\n", type, obj_str(row, "reason"),
			    (int)obj_i64(row, "transitionSeq", 0),
			    obj_str(row, "actor") ? obj_str(row, "actor") : "-", body);
	}
}

static void read_calls(struct fixture *f)
{
	strbuf_clear(&f->calls);
	for (size_t i = f->n_calls; i < fake_count(f->w.transport); i++)
		if (!cstr_has_prefix(fake_call(f->w.transport, i), "GET ") &&
		    !strstr(fake_call(f->w.transport, i), "/events?"))
			strbuf_addf(&f->calls, "%s\n", fake_call(f->w.transport, i));
}

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	(void)arg;
	(void)r;
	(void)o;
}

static struct obj *object(int64_t seq, const char *phase)
{
	struct obj *o = meta_skeleton("v1", "ConfigMap", "n", "c");
	obj_set_path(o, "metadata.uid", obj_string("u"));
	obj_set_path(o, "metadata.resourceVersion", obj_string("7"));
	if (seq) {
		obj_set_path(o, "status.phase", obj_string(phase));
		obj_set_path(o, "status.transitionSeq", obj_int(seq));
	}
	return o;
}

static void answer(struct fixture *f, const char *method, const char *target, struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *owned = o;
	CLEANUP(xfreep) char *text = json_text(owned);
	fake_answer(f->w.transport, method, target, 200, text);
}

/* --- what a reconcile may be --- */

static const struct obj *plan_phase(struct plan *p, struct obj *seen, const char *phase)
{
	struct obj *status = obj_map();
	obj_set_str(status, "phase", phase);
	plan_status(p, obj_keep(p->a, seen), status, "Moved", "m");
	return seen;
}

static void plan_next(struct plan *p)
{
	const struct obj *seen = plan_phase(p, object(1, "p1"), "p2");
	struct obj *body = obj_map(), *inputs = obj_map();
	obj_set_str(inputs, "of", "the decision");
	plan_row(p, "Decision", seen, "Resolved", "Resolved k", body)->inputs =
		obj_keep(p->a, inputs);
	plan_row(p, "Approval", seen, "Approved", "u", obj_map())->touches = "spec.approved";
	plan_create(p, meta_skeleton("v1", "ConfigMap", "n", "z"));
}

/* Too large for an entry. */
static const char *long_text(struct arena *a)
{
	char *text = arena_alloc(a, LARGE + 1);
	memset(text, 'x', LARGE);
	text[LARGE] = '\0';
	return text;
}

static void plan_large(struct plan *p)
{
	plan_phase(p, object(1, "p1"), long_text(p->a));
	plan_create(p, meta_skeleton("v1", "ConfigMap", "n", "z"));
}

static void plan_repeat(struct plan *p)
{
	plan_phase(p, object(0, NULL), "p2"); /* the log has p1 */
}

static void plan_edited(struct plan *p)
{
	plan_phase(p, object(1, "theirs"), "p2");
}

/* The status that is put back is too large for an entry; it is the one that is moved to. */
static void plan_edited_large(struct plan *p)
{
	plan_phase(p, object(2, "theirs"), "p2");
}

static void plan_ahead(struct plan *p)
{
	plan_phase(p, object(5, "px"), "p2");
}

static void plan_old_view(struct plan *p)
{
	plan_phase(p, object(1, "p1"), "p4");
}

static void plan_farewell(struct plan *p)
{
	struct obj *seen = object(1, "p1"), *status = obj_map();
	obj_set_str(status, "phase", "p1");
	struct action *x =
		plan_status(p, obj_keep(p->a, seen), status, "Deleted", ""); /* and no status */
	x->row_only = true;
	x->chain = "etcd";
}

static void plan_of_unit(struct plan *p)
{
	struct obj *about = obj_keep(p->a, meta_skeleton("v1", "Unit", NULL, "b/i"));
	struct obj *status = obj_map();
	obj_set_path(about, "metadata.uid", obj_string("unit"));
	obj_set_str(status, "state", "Running");
	plan_told(p, about, status, "Running", "first");
	plan_create(p, meta_skeleton("v1", "ConfigMap", "n", "z"));
}

/* Somebody approved it. */
static void plan_known(struct plan *p)
{
	plan_next(p);
	for (struct action *a = p->head; a; a = a->next)
		a->chain = a->type == ACT_ROW || a->type == ACT_STATUS ? "etcd" : NULL;
}

/* By whoever wrote last. */
static void plan_approval(struct plan *p)
{
	plan_row(p, "Approval", plan_phase(p, object(1, "p1"), "p2"), "Approved", "u", obj_map());
}

static void plan_wrote(struct plan *p)
{
	plan_create(p, meta_skeleton("v1", "ConfigMap", "n", "z"));
	p->chain = "etcd";
}

/* --- what the log has before it --- */

static void log_row(struct fixture *f, const struct audit_row *like, const char *body)
{
	struct error err;
	struct audit_row row = *like;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_ok(json_parse(str_of(body), &o, &err), &err);
	row.body = o;
	if (!row.subject.kind)
		row.subject = (struct audit_subject){.kind = "ConfigMap", .name = "c", .uid = "u"};
	assert_ok(audit_append_now(f->w.audit, &row, &seq, &err), &err);
}

static void log_known(struct fixture *f)
{
	const struct audit_row app = {.type = "Decision",
				      .reason = "Resolved",
				      .subject = {.kind = "AppType", .name = "etcd", .uid = "a"}},
			       made = {.type = "Decision",
				       .reason = "Resolved",
				       .subject = {.kind = "ConfigMap",
						   .ns = "n",
						   .name = "c",
						   .uid = "u"}},
			       write = {.type = "Write", .reason = "Updated", .actor = "alice"};
	log_row(f, &app, "{}");
	log_row(f, &made, "{\"key\":\"Resolved k\"}");
	log_row(f, &write, "{\"verb\":\"patch\",\"changed\":[\"spec.approved\"]}");
}

static void log_edit(struct fixture *f)
{
	const struct audit_row edit = {.type = "Write", .reason = "Updated", .actor = "mallory"};
	log_row(f, &edit, "{\"verb\":\"patch\",\"subresource\":\"status\"}");
}

static void log_deletion(struct fixture *f)
{
	const struct audit_row write = {.type = "Write", .reason = "Updated", .actor = "alice"};
	log_row(f, &write, "{\"verb\":\"delete\"}");
}

static void log_behind(struct fixture *f)
{
	const struct audit_row told = {
		.type = "Observe",
		.reason = "LogBehindStatus",
		.subject = {.kind = "ConfigMap", .ns = "n", .name = "c", .uid = "u"}};
	log_row(f, &told, "{\"key\":\"LogBehindStatus 5\"}");
}

#define MOVED                                                                              \
	"Transition Moved 2 - {\"from\":\"p1\",\"generation\":0,\"message\":\"m\","        \
	"\"status\":\"{\\\"phase\\\":\\\"p2\\\",\\\"transitionSeq\\\":2}\",\"to\":\"p2\"," \
	"\"trigger\":\"Watch\"}\n"
#define RESTORED(reason, seq, cause, phase)                                                      \
	"Transition " reason " " seq " - {\"message\":\"the status of the log\",\"root\":" cause \
	",\"status\":\"{\\\"phase\\\":\\\"" phase "\\\",\\\"transitionSeq\\\":" seq "}\"}\n"
#define WRITTEN "Applied {\"code\":201,\"outcome\":\"Applied\",\"root\":"
#define PLANNED "\"controller\":\"strategy\",\"count\":1,\"key\":\"k\","

enum where { ANYWHERE, APART, BESIDE }; /* BESIDE: in the process of the server */

static const struct scene {
	const char *name;
	int n_moved; /* transitions before it */
	void (*plan)(struct plan *p);
	const char *calls; /* the methods of its writes */
	const char *log;   /* its last entries, in part */
	enum where where;
	void (*before)(struct fixture *f);
} scenes[] = {
	{"next", 1, plan_next, " PUT POST",
	 "\"key\":\"Resolved k\",\"trigger\":\"Watch\"}\n"
	 "Approval Approved 0 unknown {\"key\":\"u\",\"trigger\":\"Approval\",\"who\":{\"trust\":"
	 "\"managedFields\"}}\n" MOVED,
	 ANYWHERE, NULL},
	{"large", 1, plan_large, " PUT POST",
	 "Moved 2 - {\"blobs\":1,\"from\":\"p1\",\"generation\":0,\"message\":\"m\",\"status\":"
	 "\"sha256:",
	 ANYWHERE, NULL},
	{"repeat", 1, plan_repeat, " PUT", NULL, ANYWHERE, NULL},
	{"edited", 1, plan_edited, " PUT",
	 "Observe StatusEdited 0 - {\"changed\":[\"status.phase\"],\"message\":\"its status has "
	 "transition 1\",\"what\":\"StatusEdited\"}\n" RESTORED("StatusRestored", "2", "3", "p1"),
	 APART, NULL},
	{"edited, large", 2, plan_edited_large, " PUT",
	 "Transition StatusRestored 3 - {\"blobs\":1,\"message\":\"the status of the "
	 "log\",\"root\":"
	 "4,\"status\":\"sha256:",
	 APART, NULL},
	{"ahead", 1, plan_ahead, "",
	 "Observe LogBehindStatus 0 - {\"key\":\"LogBehindStatus 5\",\"message\":\"its status has "
	 "transition 5, the log 1: ",
	 APART, NULL},
	{"old view", 3, plan_old_view, " PUT",
	 "{\"changed\":[\"status.phase\",\"status.transitionSeq\"],\"message\":\"its status has "
	 "transition 1\",\"what\":\"StatusEdited\"}\n" RESTORED("StatusRegressed", "4", "5", "p3"),
	 APART, NULL},
	{"farewell", 1, plan_farewell, "",
	 "Deleted 2 - {\"from\":\"p1\",\"generation\":0,\"status\":\"{\\\"phase\\\":\\\"p1\\\","
	 "\\\"transitionSeq\\\":2}\",\"to\":\"p1\",\"trigger\":\"Watch\"}\n",
	 ANYWHERE, NULL},
	{"unit", 0, plan_of_unit, " POST",
	 "Running 1 - {\"message\":\"first\",\"status\":\"{\\\"state\\\":\\\"Running\\\","
	 "\\\"transitionSeq\\\":1}\",\"to\":\"Running\",\"trigger\":\"Watch\"}\n",
	 ANYWHERE, NULL},
	{"approved by somebody", 1, plan_known, " PUT POST",
	 "Approval Approved 0 alice {\"key\":\"u\",\"root\":3,\"trigger\":\"Approval\",\"who\":"
	 "{\"trust\":\"authenticated\"}}\nTransition Moved 2 - {\"from\":\"p1\",\"generation\":0,"
	 "\"message\":\"m\",\"root\":3,",
	 BESIDE, log_known},
	{"approved by whoever wrote last", 1, plan_approval, " PUT",
	 "Approval Approved 0 alice {\"key\":\"u\",", BESIDE, log_known},
	{"a Decision that was told", 1, plan_known, " PUT POST",
	 "Approval Approved 0 unknown {\"key\":\"u\",\"root\":3,", APART, log_known},
	{"a write alone", 0, plan_wrote, " POST", NULL, ANYWHERE, log_known},
	{"edited by somebody", 1, plan_edited, " PUT",
	 "Observe StatusEdited 0 mallory {\"changed\":[\"status.phase\"],\"message\":\"its status "
	 "has transition 1\",\"root\":3,\"what\":\"StatusEdited\"}\n" RESTORED("StatusRestored",
									       "2", "3", "p1"),
	 BESIDE, log_edit},
	{"deleted by somebody", 1, plan_farewell, "",
	 "\"root\":3,\"status\":\"{\\\"phase\\\":\\\"p1\\\",", BESIDE, log_deletion},
	{"ahead, and told", 1, plan_ahead, "", NULL, APART, log_behind},
};

/* --- one reconcile, with a call that fails --- */

static void write_before(struct fixture *f, int64_t seq, bool large)
{
	struct plan p;
	work_fixture_plan(&p);
	const char *was = arena_fmt(p.a, "p%d", (int)seq - 1),
		   *phase = arena_fmt(p.a, "p%d", (int)seq);
	phase = large ? long_text(p.a) : phase;
	answer(f, "PUT", STATUS, object(seq, phase));
	plan_phase(&p, object(seq - 1, was), phase);
	work_fixture_run(&f->w, &p);
	assert_int_equal(f->w.code, 0);
}

static void start(struct fixture *f, const struct scene *s, bool same)
{
	const struct executor_host host = {.observed = observed};
	*f = (struct fixture){.same = same};
	strbuf_init(&f->log, TEXT_MAX);
	strbuf_init(&f->calls, TEXT_MAX);
	strbuf_init(&f->about, TEXT_MAX);
	strbuf_init(&f->plan, TEXT_MAX);
	strbuf_init(&f->write, TEXT_MAX);
	work_fixture_init_as(&f->w, same, &host);
	work_fixture_discover(&f->w);
	for (int seq = 1; seq <= s->n_moved; seq++)
		write_before(f, seq, strstr(s->name, "large") && seq == 2);
	if (s->before)
		s->before(f);
	f->from = audit_last_seq(f->w.audit);
	f->n_calls = fake_count(f->w.transport);
	for (int i = 0; i < ANSWERS; i++) {
		answer(f, "PUT", STATUS, object(s->n_moved + 1, "px"));
		answer(f, "GET", MAPS "/c", object(1, "p1"));
		fake_answer(f->w.transport, "POST", MAPS "?*", 201, "{}");
		fake_answer(f->w.transport, "POST", EVENTS, 201, "{}");
	}
	db_failing_watch(f->w.db);
}

static void stop(struct fixture *f)
{
	strbuf_release(&f->log);
	strbuf_release(&f->calls);
	strbuf_release(&f->about);
	strbuf_release(&f->plan);
	strbuf_release(&f->write);
	work_fixture_drop(&f->w);
}

static void reconcile(struct fixture *f, const struct scene *s)
{
	struct plan p;
	work_fixture_plan(&p);
	p.trigger = "Watch";
	s->plan(&p);
	work_fixture_run(&f->w, &p);
}

/* What came to be at once, and then what it ends with. Returns how many calls there were. */
static int play(struct fixture *f, const struct scene *s, int at, bool prepares)
{
	db_failing_begin(f->w.db, at, prepares);
	reconcile(f, s);
	int n = db_failing_end();
	read_calls(f);
	if (db_is_broken(f->w.db)) {
		assert_string_equal(f->calls.buf, "");
		return n;
	}
	read_log(f);
	f->early = f->calls.len && !f->log.len && !f->n_plans && strcmp(s->name, "repeat") != 0;
	if (!f->w.n_done) /* nothing is begun while the log cannot be written */
		assert_string_equal(f->calls.buf, "");
	loop_fake_run(f->w.loop, 3 * NS_PER_S);
	assert_int_equal(f->w.n_done, 1);
	read_log(f);
	read_calls(f);
	if (f->w.code) /* the queue brings the key again */
		reconcile(f, s);
	assert_int_equal(f->w.code, 0);
	read_log(f);
	read_calls(f);
	return n;
}

static void check_scene(const struct scene *s, const struct fixture *f)
{
	if (s->log && !strstr(f->log.buf, s->log))
		fail_msg("%s: %s is not in %s", s->name, s->log, f->log.buf);
	const char *subject = s->n_moved ? "ConfigMap/n/c/u " : "Unit//b/i/unit ";
	size_t n = 0;
	for (const char *at = f->log.buf; f->log.len && (at = strchr(at, '\n')); at++)
		n++;
	assert_int_equal(f->about.len, n * strlen(subject));
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(f->about.buf + i * strlen(subject), subject, strlen(subject));
	if (f->n_plans && !strstr(f->plan.buf, PLANNED))
		fail_msg("%s: %s", s->name, f->plan.buf);
	/* about the object whose status it was decided by; without one, about the one that it writes */
	const char *about = s->n_moved ? "ConfigMap/n/c " : "ConfigMap/n/z ";
	if (f->n_plans && !cstr_has_prefix(f->plan.buf, about))
		fail_msg("%s: %s", s->name, f->plan.buf);
	if (f->n_plans && !f->same &&
	    (!strstr(f->write.buf, WRITTEN) || !strstr(f->write.buf, "\"verb\":\"create\"")))
		fail_msg("%s: %s", s->name, f->write.buf);
	CLEANUP(strbuf_release) struct strbuf methods = STRBUF_INIT(STRBUF_SMALL);
	struct str rest = strbuf_str(&f->calls), line, method;
	while (str_next_line(&rest, &line))
		if (str_next(&line, ' ', &method))
			strbuf_addf(&methods, " %.*s", STR_ARG(method));
	assert_string_equal(methods.len ? methods.buf : "", s->calls);
}

/* What is planned anew after entries of a first try has none of them as its cause. */
static bool is_as(const struct fixture *f, const struct fixture *whole)
{
	bool planned = whole->log.len ? (f->n_plans > 0) == (whole->n_plans > 0)
				      : !strcmp(f->plan.buf, whole->plan.buf);
	return planned && !f->early && !strcmp(f->log.buf, whole->log.buf) &&
	       f->about.len == whole->about.len && !strcmp(f->calls.buf, whole->calls.buf);
}

static size_t each_call(const struct scene *s, bool same, bool prepares)
{
	struct fixture whole;
	size_t n_bad = 0;
	start(&whole, s, same);
	int n = play(&whole, s, 0, prepares);
	check_scene(s, &whole);
	assert_in_range(n, 1, POINTS_MAX);
	for (int at = 1; at <= n; at++) {
		struct fixture f;
		start(&f, s, same);
		play(&f, s, at, prepares);
		if (!db_is_broken(f.w.db) && !is_as(&f, &whole)) {
			print_error("%s%s: %s %d of %d: %s\n-- has\n", s->name,
				    same ? ", beside the server" : "",
				    prepares ? "statement" : "call", at, n, db_failing_sql());
			print_error("%s%s%s\n", f.log.buf, f.calls.buf, f.plan.buf);
			print_error("-- wants\n%s%s%s\n", whole.log.buf, whole.calls.buf,
				    whole.plan.buf);
			n_bad++;
		}
		stop(&f);
	}
	stop(&whole);
	return n_bad;
}

static void test_executor_db_fails__no_entry_is_lost(void **state)
{
	(void)state;
	size_t n_bad = 0;
	for (size_t i = 0; i < ARRAY_LEN(scenes); i++)
		for (int way = 0; way < 4; way++)
			if (scenes[i].where != ((way & 1) ? APART : BESIDE))
				n_bad += each_call(&scenes[i], way & 1, way & 2);
	assert_int_equal(n_bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor_db_fails__no_entry_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
