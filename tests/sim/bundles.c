#include "tests/sim/bundles.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "tests/sim/writes.h"

#define ARENA_MAX ((size_t)64 << 20)

/* --- what is deleted --- */

/* A file says so by its name. */
static bool has(const struct git_table_commit *c, const char *name, struct arena *a)
{
	const char *file = arena_fmt(a, "%s.yaml", name);
	for (size_t i = 0; c->files[i]; i += 2)
		if (!strcmp(c->files[i], file))
			return true;
	return false;
}

/* From what is applied, as far as the Bundle knows, to the head: any of them may be what is read by now. */
static bool may_go(const struct world *w, const struct obj *bundle, const char *name,
		   struct arena *a)
{
	const struct git_table_commit *c = w->scenario->commits;
	size_t from = git_sim_find(w, obj_str(bundle, "status.commit"));
	for (size_t n = from ? from : 1; n <= git_sim_pushed(w); n++)
		if (!has(&c[n - 1], name, a))
			return true;
	return meta_is_deleting(bundle);
}

/* One that comes late, or twice, names a version that is no more, and deletes nothing. */
static bool strikes(const struct http_request *r, const struct obj *live, struct arena *a)
{
	return live && str_contains(r->body, str_of(arena_fmt(a, "\"%s\"", meta_uid(live)))) &&
	       str_contains(r->body, str_of(arena_fmt(a, "\"%s\"", meta_resource_version(live))));
}

void bundles_observe(struct world *w, const struct http_request *r, bool faulty)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	runner_observe(w, r, faulty);
	if (!faulty || strcmp(r->method, "DELETE") != 0 || !cstr_has_prefix(r->path, MAPS "/"))
		return;
	const char *name = r->path + strlen(MAPS "/");
	const struct obj *live = world_stored(w, arena_fmt(a, "/configmaps/default/%s", name), a);
	const struct obj *bundle = world_stored(w, "app.coreos.com/bundles//" RUN_BUNDLE, a);
	if (strikes(r, live, a) && bundle && !may_go(w, bundle, name, a))
		world_fail(w, "DELETE %s, which every commit has", r->path);
}

/* --- what is left --- */

/* The rows of each commit, first ones only, come in the order of the branch. Where the history could not be read the
 * log says that, and not what was in it. */
static int are_recorded(struct world *w, struct error *err)
{
	static const char unknown[] =
		"SELECT 1 FROM audit WHERE type = 'Observe' AND reason = 'HistoryUnknown' LIMIT 1";
	static const char first[] =
		"SELECT min(seq) FROM audit WHERE type = 'Observe' AND reason IN"
		" ('RevisionRead', 'Superseded') AND"
		" json_extract(body, '$.source.commit') = ?";
	struct stmt *s;
	struct db *log = program_log(w);
	int64_t last = 0;
	if (!log || db_prepare(log, unknown, &s, err) < 0)
		return error_wrap(err, "commits");
	bool is_told = stmt_step(s, err) > 0;
	stmt_reset(s);
	if (is_told)
		return 0;
	if (db_prepare(log, first, &s, err) < 0)
		return error_wrap(err, "commits");
	for (size_t n = 1; n <= git_sim_pushed(w); n++) {
		char oid[GIT_TABLE_OID];
		git_table_oid(n, oid);
		stmt_bind_cstr(s, 1, oid);
		int64_t seq = stmt_step(s, err) > 0 ? stmt_int(s, 0) : 0;
		stmt_reset(s);
		if (!seq)
			return error_set(err, E_ALTERED, "commit %zu is in no entry of the log", n);
		if (seq < last)
			return error_set(err, E_ALTERED,
					 "commit %zu is told before the one before it", n);
		last = seq;
	}
	return 0;
}

/* The state of an Install under that of its Bundle, at rest; NULL: nothing is said of its run. */
static const char *state_under(const char *bundle)
{
	static const char *const rows[][2] = {
		{"Synced", "Succeeded"}, {"Degraded", "Succeeded"},
		{"Stopped", "Failed"},   {"RolledBack", "RolledBack"},
		{"Blocked", "Blocked"},  {"AwaitingApproval", "Blocked"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (cstr_eq(rows[i][0], bundle))
			return rows[i][1];
	return NULL;
}

/* Of the newest revision the Install says what the Bundle says; of three more it says how they ended; with the
 * Bundle all go. */
static int installs_agree(struct world *w, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *bundle = NULL;
	CLEANUP(obj_unrefp) struct obj *list = NULL;
	bool there = world_get(w, WEB, &bundle, err) == 200, told = false;
	if (world_get(w, "/apis/store.app.coreos.com/v1/installs", &list, err) != 200)
		return error_set(err, E_INTERNAL, "no list of Installs");
	size_t n = obj_len(obj_get(list, "items"));
	const char *want = state_under(there ? obj_str(bundle, "status.state") : NULL);
	if (n > (there ? 4 : 0))
		return error_set(err, E_INTERNAL, "there are %zu Installs", n);
	for (size_t i = 0; i < n && want; i++) {
		const struct obj *o = obj_at(obj_get(list, "items"), i);
		bool newest = cstr_eq(obj_str(o, "spec.payload.digest"),
				      obj_str(bundle, "status.revisionDigest"));
		const char *phase = obj_str(o, "status.phase"), *is = obj_str(o, "status.state");
		told = told || newest;
		if (newest ? !cstr_eq(is, want)
			   : !cstr_eq(phase, "completed") && !cstr_eq(phase, "failed"))
			return error_set(err, E_INTERNAL,
					 "Install %s is %s under a Bundle that is %s", meta_name(o),
					 is ? is : "(nothing)", obj_str(bundle, "status.state"));
	}
	return !want || told ? 0 : error_set(err, E_INTERNAL, "no Install is of what is there");
}

int bundles_converged(struct world *w, const struct bundles_want *list, struct error *err)
{
	if (are_recorded(w, err) < 0 || runner_at_rest(w, err) < 0 || installs_agree(w, err) < 0)
		return -err->code;
	for (; list->name; list++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		strbuf_addf(&b, MAPS "/%s", list->name);
		const char *v = world_get(w, b.buf, &o, err) == 200 ? obj_str(o, "data.v") : NULL;
		if (!cstr_eq(v, list->v) && (v || list->v))
			return error_set(err, E_INTERNAL, "%s is %s, want %s", list->name,
					 v ? v : "(absent)", list->v ? list->v : "(absent)");
	}
	return 0;
}
