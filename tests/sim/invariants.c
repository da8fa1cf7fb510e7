#include "tests/sim/invariants.h"

#include <string.h>

#include "alm/audit/verify.h"
#include "tests/sim/world.h"

static int no_idle_writes(struct world *w, struct error *err)
{
	uint64_t n = net_stats(w->net)->idle_writes;
	if (n)
		return error_set(err, E_INTERNAL, "%llu writes in an idle hour",
				 (unsigned long long)n);
	if (w->scenario->program && w->scenario->program->idle &&
	    !w->scenario->program->idle(w->program))
		return error_set(err, E_INTERNAL, "the program does not come to rest");
	return 0;
}

static int log_is_whole(struct world *w, struct error *err)
{
	struct verify_options o = {.skip_file_check = false};
	CLEANUP(xfreep) struct verify_report *r = xcalloc(1, sizeof(*r));
	if (verify_log(w->db, &o, r, err) < 0)
		return error_wrap(err, "verify");
	if (r->n_findings)
		return error_set(err, E_ALTERED, "log: row %lld: %s", (long long)r->findings[0].seq,
				 r->findings[0].text);
	return 0;
}

/* The queries name what must not be; each gives one text column. */
static const struct {
	const char *what, *sql;
} laws[] = {
	{"object revision without its row",
	 /* lifecycle and audit.md 1: object and row in one transaction. A status that carries a
	  * transitionSeq has its Transition row instead. */
	 "SELECT o.id || ' ' || o.name FROM objects o WHERE o.deleted = 0"
	 " AND (o.name LIKE '%configmaps%' OR o.name LIKE '%app.coreos.com%'"
	 "      OR o.name LIKE '%opinstaller%')"
	 " AND o.name NOT LIKE '%kube-root-ca.crt%'"
	 " AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.type = 'Write'"
	 "                 AND json_extract(a.body, '$.rvAfter') = CAST(o.id AS TEXT))"
	 " AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.type = 'Transition'"
	 "                 AND a.tseq = json_extract(CAST(o.value AS TEXT), "
	 "'$.status.transitionSeq')"
	 "                 AND a.uid = json_extract(CAST(o.value AS TEXT), '$.metadata.uid'))"
	 " LIMIT 1"},
	{"two rows of one revision",
	 "SELECT json_extract(a.body, '$.rvAfter') FROM audit a WHERE a.type = 'Write'"
	 " AND json_extract(a.body, '$.rvAfter') IS NOT NULL GROUP BY 1 HAVING count(*) > 1 LIMIT "
	 "1"},
	/* Older revisions may be compacted. */
	{"newest row of an object whose revision is not there",
	 "SELECT a.seq || ' ' || a.name FROM audit a WHERE a.type = 'Write'"
	 " AND a.reason <> 'Deleted' AND json_extract(a.body, '$.outcome') = 'Applied'"
	 " AND NOT EXISTS (SELECT 1 FROM audit b WHERE b.uid = a.uid AND b.seq > a.seq"
	 "                 AND b.type IN ('Write', 'Transition'))"
	 " AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.id ="
	 "                 CAST(json_extract(a.body, '$.rvAfter') AS INTEGER)) LIMIT 1"},
	{"visible transition without its row",
	 "SELECT o.name FROM objects o WHERE o.deleted = 0"
	 " AND json_extract(CAST(o.value AS TEXT), '$.status.transitionSeq') IS NOT NULL"
	 " AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.type = 'Transition'"
	 "                 AND a.tseq = json_extract(CAST(o.value AS TEXT), "
	 "'$.status.transitionSeq')"
	 "                 AND a.uid = json_extract(CAST(o.value AS TEXT), '$.metadata.uid')) "
	 "LIMIT 1"},
	{"gap in the transitions of an object",
	 "SELECT uid FROM audit WHERE type = 'Transition' GROUP BY uid"
	 " HAVING count(*) <> max(tseq) OR min(tseq) <> 1 LIMIT 1"},
};

static int laws_hold(struct world *w, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(laws); i++) {
		struct stmt *s;
		if (db_prepare(w->db, laws[i].sql, &s, err) < 0)
			return error_wrap(err, "%s", laws[i].what);
		int r = stmt_step(s, err);
		if (r > 0) {
			r = error_set(err, E_ALTERED, "%s: %.*s", laws[i].what,
				      STR_ARG(stmt_text(s, 0)));
			stmt_reset(s);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int invariants_check(struct world *w, struct error *err)
{
	static int (*const checks[])(struct world *w, struct error *err) = {
		no_idle_writes,
		log_is_whole,
		laws_hold,
	};
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		int r = checks[i](w, err);
		if (r < 0)
			return r;
	}
	return w->scenario->converged ? w->scenario->converged(w, err) : 0;
}
