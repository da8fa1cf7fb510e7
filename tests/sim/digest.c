#include "tests/sim/digest.h"

#define TABLES_MAX     100
#define TEXT_BYTES_MAX ((size_t)64 << 20)

/* One row, one text: quote() tells NULL, numbers, texts and bytes apart. */
static const char queries[] =
	"SELECT t.name, 'SELECT ' || group_concat('quote(\"' || c.name || '\")', ' || '','' || ')"
	" || ' FROM \"' || t.name || '\"' FROM sqlite_master t, pragma_table_info(t.name) c"
	" WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' GROUP BY t.name ORDER BY "
	"t.name";

struct table {
	struct strbuf name, query;
};

static void digest_table(struct trace *t, const char *db_name, struct db *db,
			 const struct table *table)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	int r = db_prepare(db, table->query.buf, &s, &err);
	while (r >= 0 && (r = stmt_step(s, &err)) > 0)
		trace_event(t, TRACE_ENDS, db_name, "row", table->name.buf, stmt_text(s, 0));
	if (r < 0)
		trace_event(t, TRACE_ENDS, db_name, "failed", table->name.buf, str_of(err.msg));
}

void digest_db(struct trace *t, const char *name, struct db *db)
{
	CLEANUP(xfreep) struct table *tables = xcalloc(TABLES_MAX, sizeof(*tables));
	struct error err = ERROR_INIT;
	struct stmt *s;
	size_t n = 0;
	if (!db || db_prepare(db, queries, &s, &err) < 0)
		return;
	while (n < TABLES_MAX && stmt_step(s, &err) > 0) {
		struct table *table = &tables[n++];
		strbuf_init(&table->name, STRBUF_SMALL);
		strbuf_init(&table->query, STRBUF_SMALL);
		strbuf_addstr(&table->name, stmt_text(s, 0));
		strbuf_addstr(&table->query, stmt_text(s, 1));
	}
	stmt_reset(s);
	for (size_t i = 0; i < n; i++) {
		digest_table(t, name, db, &tables[i]);
		strbuf_release(&tables[i].name);
		strbuf_release(&tables[i].query);
	}
}

void digest_world(struct world *w)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_BYTES_MAX);
	const struct program *p = w->scenario->program;
	digest_db(&w->sim.trace, "server", w->db);
	if (p && p->digest && w->program)
		p->digest(w->program, &w->sim.trace);
	metrics_print(w->metrics, &text);
	trace_event(&w->sim.trace, TRACE_ENDS, "world", "metrics", "", strbuf_str(&text));
}
