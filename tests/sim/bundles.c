#include "tests/sim/bundles.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "tests/sim/writes.h"

#define ARENA_MAX ((size_t)64 << 20)

/* --- what is deleted --- */

/* A file says so by its name. */
static bool has(const struct git_sim_commit *c, const char *name, struct arena *a)
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
	const struct git_sim_commit *c = w->scenario->commits;
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
		char oid[GIT_SIM_OID];
		git_sim_oid(n, oid);
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

int bundles_converged(struct world *w, const struct bundles_want *list, struct error *err)
{
	if (are_recorded(w, err) < 0 || runner_at_rest(w, err) < 0)
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
