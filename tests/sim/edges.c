#include "tests/sim/edges.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "alm/controllers/app/phases.h"
#include "tests/sim/world.h"

#define LINES_BYTES_MAX ((size_t)1 << 20)

static int file = -1;

bool edges_open(const char *path)
{
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return file >= 0;
}

static int add_lines(struct db *db, struct strbuf *b, struct error *err)
{
	static const char sql[] =
		"SELECT DISTINCT kind, coalesce(json_extract(body, '$.from'), ''),"
		" json_extract(body, '$.to') AS state FROM audit WHERE type = 'Transition'"
		" AND kind IN ('InstallStrategy', 'AppType') AND state IS NOT NULL";
	struct stmt *s;
	int r;
	if (!db)
		return 0;
	if (db_prepare(db, sql, &s, err) < 0)
		return error_wrap(err, "edges");
	while ((r = stmt_step(s, err)) > 0)
		strbuf_addf(b, "%.*s %.*s %.*s\n", STR_ARG(stmt_text(s, 0)),
			    STR_ARG(stmt_text(s, 1)), STR_ARG(stmt_text(s, 2)));
	return r;
}

int edges_note(struct world *w, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LINES_BYTES_MAX);
	const struct program *p = w->scenario->program;
	if (file < 0)
		return 0;
	if (add_lines(w->db, &b, err) < 0 ||
	    add_lines(p && p->db && w->program ? p->db(w->program) : NULL, &b, err) < 0)
		return -err->code;
	if (b.len && write(file, b.buf, b.len) != (ssize_t)b.len)
		return error_set(err, E_IO, "edges: not written");
	return 0;
}

void edges_print(void)
{
	const struct phase_edge *p;
	const struct state_edge *t;
	for (size_t i = 0; (p = phase_edge_at(i)); i++)
		printf("InstallStrategy %s %s\n", phase_name(p->from), phase_name(p->to));
	for (size_t i = 0; (t = state_edge_at(i)); i++)
		printf("AppType %s %s\n", t->from, t->to);
}
