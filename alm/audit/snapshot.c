/* snapshot: see snapshot.h. It must not know what the entries are good for. */
#include "alm/audit/snapshot.h"

#include <string.h>

#include "alm/audit/log.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"

#define SNAPSHOT_BYTES_MAX ((size_t)64 << 20) /* 64 blobs of 1 MiB: AUDIT_BLOBS_PER_ROW_MAX */

struct snapshot {
	int64_t seq;
	struct strbuf text;
	struct map *lines; /* uid -> number: offset of its line + 1 */
};

static struct str line_at(const struct snapshot *s, size_t at)
{
	struct str rest = str_skip(strbuf_str(&s->text), at), line;
	return str_next_line(&rest, &line) ? line : STR_NONE;
}

static int index_lines(struct snapshot *s, struct error *err)
{
	struct str rest = strbuf_str(&s->text), line;
	while (str_next_line(&rest, &line)) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		int r = json_parse(line, &o, err);
		if (r < 0)
			return error_wrap(err, "snapshot of audit row %lld", (long long)s->seq);
		if (obj_str(o, "uid"))
			map_set_number(s->lines, obj_str(o, "uid"),
				       (size_t)(line.ptr - s->text.buf) + 1);
	}
	return 0;
}

static int read_blobs(struct db *d, const struct obj *row, struct snapshot *s, struct error *err)
{
	const struct obj *list = obj_path(row, "body.snapshot");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *text = obj_as_string(obj_at(list, i));
		if (!text || !cstr_has_prefix(text, "sha256:"))
			continue;
		int r = log_blob(d, text + strlen("sha256:"), &s->text, err);
		if (r < 0)
			return r;
	}
	return strbuf_check(&s->text, "snapshot", err);
}

static int newest_row(struct db *d, struct obj **ret, struct error *err)
{
	static const char sql[] =
		"SELECT " LOG_COLUMNS " FROM audit WHERE kind = 'Log' AND type = 'System' AND"
		" instr(body, '\"snapshot\":[') > 0 ORDER BY seq DESC LIMIT 1";
	struct stmt *s;
	struct record rec;
	int r = db_prepare(d, sql, &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r <= 0)
		return r;
	log_record(s, &rec);
	r = log_object(&rec, ret, err);
	stmt_reset(s);
	return r;
}

int snapshot_load(struct db *d, struct snapshot **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	*ret = NULL;
	int r = newest_row(d, &row, err);
	if (r < 0 || !row)
		return r;
	CLEANUP(snapshot_freep) struct snapshot *s = xcalloc(1, sizeof(*s));
	s->seq = obj_i64(row, "seq", 0);
	s->lines = map_new(NULL);
	strbuf_init(&s->text, SNAPSHOT_BYTES_MAX);
	r = read_blobs(d, row, s, err);
	if (r >= 0)
		r = index_lines(s, err);
	if (r < 0)
		return r;
	*ret = STEAL(s);
	return 0;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	map_free(s->lines);
	strbuf_release(&s->text);
	xfree(s);
}

int64_t snapshot_seq(const struct snapshot *s)
{
	return s ? s->seq : 0;
}

struct obj *snapshot_find(const struct snapshot *s, const char *uid)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	size_t at = s && uid ? map_number(s->lines, uid) : 0;
	return at && json_parse(line_at(s, at - 1), &o, &err) == 0 ? o : NULL;
}

int snapshot_each(const struct snapshot *s,
		  int (*fn)(void *arg, const struct obj *entry, struct error *err), void *arg,
		  struct error *err)
{
	int r = 0;
	for (struct map_entry *e = s ? map_first(s->lines) : NULL; e && r >= 0; e = map_next(e)) {
		CLEANUP(obj_unrefp) struct obj *o = snapshot_find(s, e->key);
		if (o)
			r = fn(arg, o, err);
	}
	return r;
}

void snapshot_begin(struct snapshot_writer *w, struct audit *a)
{
	*w = (struct snapshot_writer){.audit = a, .digests = obj_list()};
	strbuf_init(&w->lines, AUDIT_BLOB_BYTES_MAX);
}

static int flush(struct snapshot_writer *w, struct error *err)
{
	char digest[SHA256_HEX];
	if (!w->lines.len)
		return 0;
	int r = audit_blob_put(w->audit, strbuf_str(&w->lines), digest, err);
	if (r < 0)
		return r;
	obj_append(w->digests, obj_stringf("sha256:%s", digest));
	strbuf_clear(&w->lines);
	return 0;
}

int snapshot_put(struct snapshot_writer *w, const struct obj *entry, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(AUDIT_BLOB_BYTES_MAX);
	json_print_canonical(entry, &line);
	strbuf_addc(&line, '\n');
	int r = strbuf_check(&line, "an entry of a snapshot", err);
	if (r >= 0 && w->lines.len + line.len > AUDIT_BLOB_BYTES_MAX)
		r = flush(w, err);
	if (r < 0)
		return r;
	strbuf_addstr(&w->lines, strbuf_str(&line));
	w->n++;
	return 0;
}

int snapshot_end(struct snapshot_writer *w, struct obj *body, struct error *err)
{
	int r = flush(w, err);
	if (r < 0)
		return r;
	obj_set(body, "snapshot", obj_ref(w->digests));
	obj_set_int(body, "objects", w->n);
	return 0;
}

void snapshot_release(struct snapshot_writer *w)
{
	obj_unref(w->digests);
	strbuf_release(&w->lines);
}
