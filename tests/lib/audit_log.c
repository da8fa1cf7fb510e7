#include "tests/lib/audit_log.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/log.h"
#include "alm/audit/prune_delete.h"
#include "alm/audit/prune_facts.h"
#include "alm/base/file.h"

static int64_t fixed_mono(struct loop *l)
{
	return ((struct fixed_loop *)(void *)l)->now_ns;
}

static int64_t fixed_now(struct loop *l)
{
	return fixed_mono(l) + ((struct fixed_loop *)(void *)l)->set_ns;
}

static void fixed_random(struct loop *l, void *buf, size_t n)
{
	struct fixed_loop *f = (struct fixed_loop *)(void *)l;
	for (size_t i = 0; i < n; i++)
		((unsigned char *)buf)[i] = f->counter++;
}

static void fixed_nothing(struct loop *l)
{
	(void)l;
}

static const struct loop_ops fixed_ops = {
	.now_ns = fixed_now,
	.mono_ns = fixed_mono,
	.random = fixed_random,
	.wake = fixed_nothing,
	.free = fixed_nothing,
};

void audit_log_open(struct audit_log *l, const char *path, const char *key_dir)
{
	struct error err = ERROR_INIT;
	*l = (struct audit_log){.loop = {.now_ns = INT64_C(1893571200000000000)}};
	loop_init(&l->loop.base, &fixed_ops);
	struct db_config dc = {.path = path};
	assert_ok(db_open(&dc, &l->db, &err), &err);
	struct audit_config ac = {.db = l->db, .loop = &l->loop.base, .key_dir = key_dir};
	assert_ok(audit_open(&ac, &l->audit, &err), &err);
}

void audit_log_close(struct audit_log *l)
{
	audit_close(l->audit);
	db_close(l->db);
	loop_release(&l->loop.base);
}

static void fill_one(struct audit_log *l, int64_t i)
{
	static const char *const types[] = {"Decision", "Write", "Transition", "Observe"};
	struct error err = ERROR_INIT;
	int64_t seq, last = audit_last_seq(l->audit), tseq, head;
	char op[32], uid[16], digest[SHA256_HEX], blob[64];
	struct audit_row row = {.type = types[i % 4], .reason = "Resolved"};
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	(void)snprintf(uid, sizeof(uid), "uid-%d", (int)(i % 3));
	row.subject = (struct audit_subject){.kind = "AppType", .name = "etcd", .uid = uid};
	row.cause = last > 1 ? last - 1 : 0;
	if (i % 4 == 0) {
		(void)snprintf(blob, sizeof(blob), "blob %d", (int)(last / 8));
		assert_ok(audit_blob_put(l->audit, str_of(blob), digest, &err), &err);
		obj_set_str(body, "explain", digest);
		row.actor = "alice";
	}
	if (i % 4 == 1) {
		(void)snprintf(op, sizeof(op), "%d-0-1", (int)last);
		row.op = op;
	}
	if (i % 4 == 2) {
		assert_ok(audit_head(l->audit, uid, &tseq, &head, &err), &err);
		row.transition_seq = tseq + 1;
	}
	obj_set_str(body, "message", "0.9.6, best of 3 candidates");
	row.body = body;
	assert_ok(audit_append(l->audit, &row, &seq, &err), &err);
}

static void commit(struct audit_log *l)
{
	struct error err = ERROR_INIT;
	assert_ok(db_commit(l->db, &err), &err);
	audit_committed(l->audit);
	loop_run_due(&l->loop.base);
}

void audit_log_fill(struct audit_log *l, int n, int per_commit)
{
	struct error err = ERROR_INIT;
	for (int i = 0; i < n; i++) {
		if (i % per_commit == 0)
			assert_ok(db_begin(l->db, &err), &err);
		fill_one(l, i);
		l->loop.now_ns += 1000000;
		if (i % per_commit == per_commit - 1 || i == n - 1)
			commit(l);
	}
}

/* The text of the trigger that lets nothing go of which no anchor knows; owned. */
static char *drop_gate(struct audit_log *l)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(l->db, "SELECT sql FROM sqlite_schema WHERE name = 'audit_prune_gate'",
			     &s, &err),
		  &err);
	assert_int_equal(stmt_step(s, &err), 1);
	char *ret = str_dup(stmt_text(s, 0));
	stmt_reset(s);
	assert_ok(db_exec(l->db, "DROP TRIGGER audit_prune_gate", &err), &err);
	return ret;
}

void audit_log_prune(struct audit_log *l, int64_t to)
{
	struct error err = ERROR_INIT;
	CLEANUP(prune_facts_freep) struct prune_facts *f = NULL;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct snapshot_writer w;
	struct stmt *s;
	struct record rec;
	int64_t seq;
	char chain[SHA256_HEX] = "";
	char *gate = drop_gate(l);
	assert_ok(db_begin(l->db, &err), &err);
	assert_ok(prune_facts_new(l->db, &f, &err), &err);
	assert_ok(log_range(l->db, 0, to, &s, &err), &err);
	while (stmt_step(s, &err) > 0) {
		log_record(s, &rec);
		hex_encode((const unsigned char *)stmt_blob(s, 14).ptr, SHA256_BYTES, chain);
		assert_ok(prune_facts_add(f, &rec, &err), &err);
	}
	snapshot_begin(&w, l->audit);
	assert_ok(prune_facts_put(f, &w, to, body, &err), &err);
	snapshot_release(&w);
	obj_set_str(body, "chain", chain);
	obj_set_int(body, "below", to + 1);
	struct audit_row row = {.type = "System",
				.reason = "Pruned",
				.subject = {.kind = "Log", .name = "log"},
				.body = body};
	assert_ok(audit_append(l->audit, &row, &seq, &err), &err);
	assert_ok(prune_mark(l->audit, 1, to + 1, seq, &err), &err);
	assert_ok(db_commit(l->db, &err), &err);
	audit_committed(l->audit);
	assert_ok(db_exec(l->db, gate, &err), &err);
	assert_ok(audit_load_pruned(l->audit, &err), &err);
	xfree(gate);
}

void audit_log_assert_intact(struct audit_log *l)
{
	struct error err = ERROR_INIT;
	struct verify_options o = {0};
	struct verify_report *r = xcalloc(1, sizeof(*r));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(verify_log(l->db, &o, r, &err), &err);
	verify_print(r, &b);
	if (r->n_findings)
		fail_msg("%s", b.buf);
	xfree(r);
}

void audit_log_remove(const char *dir)
{
	static const char *const names[] = {"alm.db",    "alm.db-wal", "alm.db-shm", "alm.db.lock",
					    "audit.key", "redact.key", "audit.head"};
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[256];
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)file_remove(path, &err);
	}
	(void)rmdir(dir);
}
