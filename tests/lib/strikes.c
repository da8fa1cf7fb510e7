#include "tests/lib/strikes.h"

#include <string.h>

#include "alm/controllers/app/controllers.h"
#include "tests/lib/golden_text.h"
#include "tests/lib/test.h"

#define TEXT_MAX ((size_t)8 << 20)
#define MEND_NS  (12 * NS_PER_MIN)

static void tell_log(struct manager_fixture *f, struct strbuf *b)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(apifake_db(f->server),
			     "SELECT type || '/' || reason || ' ' || count(*) FROM audit"
			     " GROUP BY type, reason ORDER BY 1",
			     &s, &err),
		  &err);
	strbuf_adds(b, "\tlog:");
	while (stmt_step(s, &err) > 0)
		strbuf_addf(b, " %.*s,", STR_ARG(stmt_text(s, 0)));
	stmt_reset(s);
	strbuf_adds(b, "\n");
}

/* Events by their reason, in the order of their first. */
static void tell_events(struct manager_fixture *f, struct strbuf *b)
{
	struct map *counts = map_new(NULL);
	struct answer a = manager_fixture_do(f, "GET", "/api/v1/events", NULL, 200);
	const struct obj *items = obj_get(a.json, "items");
	for (size_t i = 0; i < obj_len(items); i++) {
		const char *reason = obj_str(obj_at(items, i), "reason");
		uintptr_t n = (uintptr_t)map_get(counts, reason ? reason : "");
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): a map of small numbers */
		map_set(counts, reason ? reason : "", (void *)(n + 1));
	}
	strbuf_adds(b, "\tevents:");
	for (const struct map_entry *e = map_first(counts); e; e = map_next(e))
		strbuf_addf(b, " %s %zu,", e->key, (size_t)(uintptr_t)e->value);
	strbuf_adds(b, "\n");
	map_free(counts);
}

/* Reconciles that failed, and keys that fail again and again, by controller; those alone that are not 0. */
static void tell_metrics(struct manager_fixture *f, const char *name, struct strbuf *b)
{
	for (const struct controller *const *c = all_controllers; *c; c++) {
		const char *series = arena_fmt(f->a, "%s{controller=\"%s\"}", name, (*c)->name);
		const char *value = manager_fixture_metric(f, series);
		if (*value && strcmp(value, "0") != 0)
			strbuf_addf(b, " %s %s %s,", (*c)->name, name, value);
	}
}

static void play(const struct story *s, struct manager_fixture *f, struct strbuf *b)
{
	for (size_t n = 0; n < s->n_phases; n++) {
		if (n == s->struck) {
			manager_fixture_forget(f);
			f->n_strikes = f->strikes[0].path != NULL;
		}
		s->phase(f, n);
		manager_fixture_run(f, s->phase_ns);
		strbuf_adds(b, "\t");
		s->tell(f, b);
		strbuf_adds(b, "\n");
	}
}

/* How it ends, once nothing fails. */
static void finish(const struct story *s, struct manager_fixture *f, struct strbuf *b)
{
	f->n_strikes = 0;
	manager_fixture_run(f, MEND_NS);
	s->tell(f, b);
	tell_metrics(f, "alm_reconcile_keys_failing", b);
}

static void begin(const struct story *s, struct manager_fixture *f)
{
	manager_fixture_init(f, &(struct manager_fixture_config){.commits = s->commits});
	manager_fixture_forget(f);
}

/* The requests of the story, each once, as "METHOD PATH". */
static struct map *requests_of(const struct manager_fixture *f)
{
	struct map *m = map_new(NULL);
	struct str rest = strbuf_str(&f->sent), line, method, target;
	while (str_next_line(&rest, &line)) {
		str_cut(line, ' ', &method, &target);
		size_t n = strcspn(target.ptr, "? ");
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(1 << 12);
		strbuf_addf(&key, "%.*s %.*s", STR_ARG(method), (int)n, target.ptr);
		map_set(m, key.buf, NULL);
	}
	return m;
}

static void strike(const struct story *s, const char *request, int status, const char *end,
		   struct strbuf *b)
{
	struct str method, path;
	struct manager_fixture f;
	CLEANUP(strbuf_release) struct strbuf own = STRBUF_INIT(TEXT_MAX);
	begin(s, &f);
	str_cut(str_of(request), ' ', &method, &path);
	CLEANUP(xfreep) char *verb = str_dup(method);
	struct manager_strike *x =
		manager_fixture_strike(&f, verb, path.ptr, status, FIXTURE_FOREVER);
	f.n_strikes = 0;
	strbuf_addf(b, "%s %d\n", request, status);
	play(s, &f, b);
	strbuf_addf(b, "\tfailed %u times\n", x->hit);
	strbuf_adds(b, "\t");
	tell_metrics(&f, "alm_reconcile_errors_total", b);
	tell_metrics(&f, "alm_reconcile_keys_failing", b);
	strbuf_adds(b, "\n");
	tell_events(&f, b);
	tell_log(&f, b);
	finish(s, &f, &own);
	if (strcmp(own.buf, end) != 0)
		strbuf_addf(b, "\tENDS AS %s\n", own.buf);
	manager_fixture_release(&f);
}

static bool fails(const struct story *s, const char *request)
{
	for (size_t i = 0; s->only && s->only[i]; i++)
		if (strstr(request, s->only[i]))
			return true;
	return !s->only;
}

void strikes_hold(const struct story *s)
{
	struct manager_fixture f;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_MAX);
	CLEANUP(strbuf_release) struct strbuf end = STRBUF_INIT(TEXT_MAX);
	begin(s, &f);
	play(s, &f, &b);
	tell_log(&f, &b);
	struct map *requests = requests_of(&f);
	finish(s, &f, &end);
	strbuf_addf(&b, "ends as %s\n", end.buf);
	manager_fixture_release(&f);
	for (const struct map_entry *e = map_first(requests); e; e = map_next(e)) {
		if (!fails(s, e->key))
			continue;
		strike(s, e->key, 403, end.buf, &b);
		strike(s, e->key, 500, end.buf, &b);
	}
	map_free(requests);
	golden_text_hold(s->golden, strbuf_str(&b));
}
