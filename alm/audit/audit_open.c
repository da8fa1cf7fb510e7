/* audit_open: the life of a log: its keys, its first rows, and what it is checked for before it is
 * written to. */
#include "alm/audit/audit.h"

#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/log.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify.h"
#include "alm/base/file.h"

#define TAIL_ROWS  10000
#define LOG_FORMAT 1

#define GENERATION_DIGITS 4

int audit_read_key(const char *dir, const char *name, unsigned char key[AUDIT_KEY_BYTES],
		   struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
	strbuf_addf(&path, "%s/%s", dir, name);
	int r = file_read(path.buf, &text, err);
	if (r < 0)
		return r;
	if (!hex_decode(str_trim(strbuf_str(&text)), key, AUDIT_KEY_BYTES))
		return error_set(err, E_CORRUPT, "%s does not hold 64 hex digits", path.buf);
	return 0;
}

/* 32 bytes as hex in DIR/NAME, 0600, made once; without a folder they live in memory only. */
static int load_key(struct audit *a, const char *dir, const char *name,
		    unsigned char key[AUDIT_KEY_BYTES], struct error *err)
{
	char hex[2 * AUDIT_KEY_BYTES + 1];
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
	if (dir) {
		strbuf_addf(&path, "%s/%s", dir, name);
		if (file_exists(path.buf))
			return audit_read_key(dir, name, key, err);
	}
	loop_random(a->loop, key, AUDIT_KEY_BYTES);
	hex_encode(key, AUDIT_KEY_BYTES, hex);
	strbuf_addf(&text, "%s\n", hex);
	/* Whole or not at all: half a key would be one that nobody can read. */
	return dir ? file_write_atomic(path.buf, strbuf_str(&text), 0600, err) : 0;
}

int audit_open_keys(struct audit *a, const char *origin, struct error *err)
{
	char hex[SHA256_HEX];
	unsigned char seed[SIGNER_SEED_BYTES];
	const char *dir = a->key_dir;
	sha256_hex(str_of(origin), hex);
	memcpy(a->tag, hex, 8);
	int r = load_key(a, dir, AUDIT_REDACT_KEY, a->redact_key, err);
	if (r >= 0)
		r = load_key(a, dir, AUDIT_SIGNING_KEY, seed, err);
	if (r >= 0)
		r = signer_new(origin, seed, &a->signer, err);
	memset(seed, 0, sizeof(seed));
	return r;
}

/* A key that the log does not know yet signs from the next row on. */
int audit_register_key(struct audit *a, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT vkey FROM audit_key ORDER BY size DESC LIMIT 1", &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	bool known = r > 0 && str_is(stmt_text(s, 0), signer_vkey(a->signer));
	bool first = r == 0;
	stmt_reset(s);
	if (known)
		return 0;
	if (!first) {
		int64_t seq;
		CLEANUP(obj_unrefp) struct obj *body = obj_map();
		obj_set_str(body, "what", "key");
		obj_set_str(body, "details", signer_vkey(a->signer));
		struct audit_row row = {.type = "System",
					.reason = "KeyRotated",
					.subject = {.kind = "Log", .name = a->origin},
					.body = body};
		r = audit_append(a, &row, &seq, err);
		if (r < 0)
			return r;
	}
	r = db_prepare(a->db, "INSERT INTO audit_key (size, vkey) VALUES (?, ?)", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, first ? 0 : a->last_seq);
	stmt_bind_cstr(s, 2, signer_vkey(a->signer));
	return stmt_step(s, err);
}

int audit_begin_log(struct audit *a, struct obj *body,
		    int (*put_first)(void *arg, struct error *err), void *arg, struct error *err)
{
	int64_t seq;
	struct audit_row row = {.type = "System",
				.reason = "LogOpened",
				.subject = {.kind = "Log", .name = a->origin},
				.body = body};
	obj_set_int(body, "format", LOG_FORMAT);
	obj_set_str(body, "version", ALM_VERSION);
	audit_set_digests(a, body);
	int r = tables_create(a->db, true, err);
	if (r >= 0)
		r = audit_load_end(a, err);
	if (r >= 0 && put_first)
		r = put_first(arg, err);
	return r < 0 ? r : audit_append(a, &row, &seq, err);
}

static void choose_origin(struct audit *a, const char *wanted, const char *family)
{
	unsigned char random[8];
	char hex[17];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (wanted) {
		a->origin = xstrdup(wanted);
		return;
	}
	loop_random(a->loop, random, sizeof(random));
	hex_encode(random, sizeof(random), hex);
	strbuf_addf(&b, "%s/%s", family ? family : "alm.local", hex);
	a->origin = strbuf_detach(&b);
}

static int last_checkpoint(struct audit *a, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT max(size) FROM audit_checkpoint", &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	a->checkpoint_seq = r ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	return 0;
}

/* A log that was damaged is still there to be read. */
static int load(struct audit *a, struct error *err)
{
	struct error inner = ERROR_INIT;
	int r = verify_tail(a->db, a->origin, TAIL_ROWS, &inner);
	if (r == -E_ALTERED)
		audit_set_read_only(a, inner.msg);
	else if (r < 0)
		return error_copy(err, &inner);
	r = audit_load_end(a, err);
	if (r < 0)
		return r;
	r = log_load_tree(a->db, a->last_seq, &a->tree, &inner);
	if (r == -E_ALTERED)
		audit_set_read_only(a, inner.msg);
	else if (r < 0)
		return error_copy(err, &inner);
	return 0;
}

struct str audit_base_origin(const char *origin, int64_t *ret_generation)
{
	struct str name, number;
	*ret_generation = 1;
	if (str_rcut(str_of(origin), '/', &name, &number) && number.len <= GENERATION_DIGITS &&
	    str_parse_i64(number, ret_generation) && *ret_generation > 1)
		return name;
	*ret_generation = 1;
	return str_of(origin);
}

static bool is_same_log(const char *wanted, const char *origin)
{
	int64_t n;
	return str_eq(audit_base_origin(wanted, &n), audit_base_origin(origin, &n));
}

/* Of a log whose first record is gone: as the head remembers it. */
static int origin_of_head(struct audit *a, struct error *err)
{
	struct str origin;
	struct checkpoint c;
	struct error inner = ERROR_INIT;
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	int r = a->key_dir ? head_read(a->key_dir, h, &inner) : -1;
	if (r >= 0 && checkpoint_read(str_of(h->note), &origin, &c, &inner) >= 0) {
		a->origin = str_dup(origin);
		audit_set_read_only(a, err->msg);
		r = 0;
	}
	xfree(h);
	return r < 0 ? -err->code : 0;
}

/* Without a name of its own, too: its next generation is FAMILY/2. */
bool audit_is_of_runs(const char *origin)
{
	struct str family, rest;
	(void)str_cut(str_of(origin), '/', &family, &rest);
	return str_is(family, AUDIT_FAMILY_RUN);
}

/* It is the name of a signed note, and a line of it (C2SP signed-note). */
int audit_check_origin(const char *origin, const char *family, struct error *err)
{
	size_t n = 0;
	while (origin[n] > ' ' && origin[n] < 0x7f && origin[n] != '+')
		n++;
	if (audit_is_of_runs(origin) && !cstr_eq(family, AUDIT_FAMILY_RUN))
		return error_set(err, E_INVALID,
				 "origins that begin with " AUDIT_FAMILY_RUN " are of logs of `alm "
				 "run`, which has no statuses that are compared with the log");
	if (n && !origin[n] && n <= AUDIT_ORIGIN_MAX)
		return 0;
	return error_set(err, E_INVALID,
			 "the origin of an audit log is a name such as example.com/prod: 1 to %d "
			 "printable ASCII characters without space and +",
			 AUDIT_ORIGIN_MAX);
}

static int find_origin(struct audit *a, const struct audit_config *c, bool is_new,
		       struct error *err)
{
	const char *wanted = c->origin;
	if (is_new && wanted && audit_check_origin(wanted, c->family, err) < 0)
		return -err->code;
	if (is_new) {
		choose_origin(a, wanted, c->family);
		return 0;
	}
	int r = log_origin(a->db, &a->origin, err);
	if (r == -E_NOTFOUND)
		r = origin_of_head(a, err);
	if (r < 0)
		return r;
	if (wanted && !is_same_log(wanted, a->origin))
		return error_set(err, E_INVALID, "the audit log is %s, not %s", a->origin, wanted);
	return 0;
}

/* Inside the opening transaction. */
static int open_log(struct audit *a, const struct audit_config *c, struct error *err)
{
	int r = tables_exist(a->db, err);
	if (r < 0)
		return r;
	bool is_new = r == 0;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	r = find_origin(a, c, is_new, err);
	if (r >= 0)
		r = audit_open_keys(a, a->origin, err);
	if (r < 0)
		return r;
	r = is_new ? audit_begin_log(a, body, NULL, NULL, err) : load(a, err);
	if (r >= 0)
		r = audit_check_outside(a, c, is_new, err);
	if (r >= 0 && !a->read_only)
		r = audit_register_key(a, err);
	return r < 0 ? r : last_checkpoint(a, err);
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	signer_free(a->signer);
	snapshot_free(a->pruned);
	audit_drop_pending(a, 0);
	strbuf_release(&a->body);
	strbuf_release(&a->scratch);
	memset(a->redact_key, 0, sizeof(a->redact_key));
	xfree(a->key_dir);
	xfree(a->read_only);
	xfree(a->origin);
	xfree(a);
}

struct audit *audit_alloc(const struct audit_config *c)
{
	struct audit *a = xcalloc(1, sizeof(*a));
	a->db = c->db;
	a->loop = c->loop;
	a->key_dir = c->key_dir ? xstrdup(c->key_dir) : NULL;
	a->tells_end = c->tells_end;
	a->epoch = -1;
	a->timer.fn = audit_sign_due;
	a->timer.arg = a;
	a->checkpoint_mono_ns = loop_mono(c->loop) - AUDIT_SIGN_EVERY_NS;
	a->clock_ns = loop_now(c->loop) - loop_mono(c->loop);
	strbuf_init(&a->body, 4 * (size_t)AUDIT_BODY_BYTES_MAX);
	strbuf_init(&a->scratch, RECORD_BYTES_MAX);
	tree_init(&a->tree);
	return a;
}

int audit_open(const struct audit_config *c, struct audit **ret, struct error *err)
{
	struct audit *a = audit_alloc(c);
	int r = db_begin(a->db, err);
	if (r >= 0) {
		r = open_log(a, c, err);
		if (r >= 0)
			r = db_commit(a->db, err);
		else
			db_rollback(a->db);
	}
	if (r < 0) {
		audit_free(a);
		return error_wrap(err, "audit log");
	}
	a->committed_seq = a->last_seq;
	r = audit_load_pruned(a, err);
	if (r >= 0)
		r = audit_sign_now(a, false, err);
	if (r < 0) {
		audit_free(a);
		return error_wrap(err, "audit log");
	}
	*ret = a;
	return 0;
}

/* The last checkpoint: anchors hear of it, and nothing may come after it. */
static void seal(struct audit *a)
{
	struct error err = ERROR_INIT;
	char note[CHECKPOINT_BYTES_MAX + 1];
	if (db_in_transaction(a->db) || db_is_broken(a->db) || a->read_only ||
	    audit_sign_now(a, true, &err) < 0 || a->checkpoint_seq != a->committed_seq)
		return;
	if (a->on_checkpoint && audit_newest_note(a, note, &err) >= 0 && note[0])
		a->on_checkpoint(a->on_checkpoint_arg, a->checkpoint_seq, str_of(note), true);
	(void)audit_write_head(a, true, false, &err);
}

void audit_trim(struct audit *a)
{
	if (a)
		db_trim(a->db);
}

/* Whoever opens a log and closes it again without a word of his own leaves it as it was; of a new
 * one, too, it is to be seen that its objects were not recorded yet (audit_objects_unknown). */
static bool is_closed(struct audit *a)
{
	struct error err;
	CLEANUP(obj_unrefp) struct obj *last = NULL;
	return a->last_seq <= 1 || (audit_row_get(a, a->last_seq, &last, &err) >= 0 &&
				    cstr_eq(obj_str(last, "reason"), "LogClosed"));
}

static void tell_end(struct audit *a)
{
	struct error err;
	int64_t seq;
	a->on_row = NULL; /* who heard of rows is gone, perhaps */
	a->on_commit = NULL;
	if (!a->tells_end || a->read_only || db_in_transaction(a->db) || db_is_broken(a->db) ||
	    is_closed(a))
		return;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "what", "log");
	obj_set_str(body, "details", "stopped in good order");
	const struct audit_row row = {.type = "System",
				      .reason = "LogClosed",
				      .subject = {.kind = "Log", .name = a->origin},
				      .body = body};
	(void)audit_append_now(a, &row, &seq, &err);
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	tell_end(a);
	loop_disarm(a->loop, &a->timer);
	seal(a);
	audit_free(a);
}
