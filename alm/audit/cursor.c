#include "alm/audit/cursor.h"

int cursor_move(struct cursor *c, int64_t seq, struct error *err)
{
	struct stmt *s;
	c->seq = seq;
	if (db_prepare(c->db,
		       "INSERT INTO webhook_cursor(name, seq) VALUES (?, ?) ON CONFLICT (name) DO "
		       "UPDATE SET seq = excluded.seq",
		       &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, c->name);
	stmt_bind_int(s, 2, c->seq);
	return stmt_step(s, err);
}

int cursor_init(struct cursor *c, struct audit *a, struct db *d, const char *name,
		struct error *err)
{
	struct stmt *s;
	c->db = d;
	sha256_hex(str_of(name), c->name);
	if (db_exec(d,
		    "CREATE TABLE IF NOT EXISTS webhook_cursor(name TEXT PRIMARY KEY, seq INTEGER "
		    "NOT NULL)",
		    err) < 0 ||
	    db_prepare(d, "SELECT seq FROM webhook_cursor WHERE name = ?", &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, c->name);
	int r = stmt_step(s, err);
	c->seq = r > 0 ? stmt_int(s, 0) : audit_last_seq(a);
	stmt_reset(s);
	return r < 0 ? r : cursor_move(c, c->seq, err);
}
