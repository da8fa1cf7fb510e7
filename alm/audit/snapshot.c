/* snapshot: see snapshot.h. It must not know what the entries are good for. */
#include "alm/audit/snapshot.h"

#include <string.h>

#include "alm/audit/log.h"
#include "alm/audit/pruned.h"
#include "alm/base/arena.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"

#define SNAPSHOT_BYTES_MAX ((size_t)64 << 20) /* 64 blobs of 1 MiB: AUDIT_BLOBS_PER_ROW_MAX */
#define LINE_KEY_MAX       ((size_t)64 << 10) /* of a kind, a namespace and a name */

struct snapshot {
	int64_t seq;
	bool is_pruned;
	struct strbuf text;
	struct map *lines;       /* uid -> number: offset of its line + 1 */
	struct map *standing;    /* "TYPE KIND NS/NAME" -> the same, of the first of its lines */
	struct snapshot *pruned; /* of the entries that are gone, if this one is newer; or NULL */
};

static struct str line_at(const struct snapshot *s, size_t at)
{
	struct str rest = str_skip(strbuf_str(&s->text), at), line;
	return str_next_line(&rest, &line) ? line : STR_NONE;
}

/* Which entries a question for one may mean; of the arena. */
static const char *standing_key(struct arena *a, const char *type, const char *kind, const char *ns,
				const char *name)
{
	return arena_fmt(a, "%s %s %s/%s", type ? type : "", kind ? kind : "", ns ? ns : "",
			 name ? name : "");
}

static const char *row_key(struct arena *a, const struct obj *row)
{
	return standing_key(a, obj_str(row, "type"), obj_str(row, "subject.kind"),
			    obj_str(row, "subject.namespace"), obj_str(row, "subject.name"));
}

static int index_line(struct snapshot *s, struct str line, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(LINE_KEY_MAX);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	size_t at = (size_t)(line.ptr - s->text.buf) + 1;
	int r = json_parse(line, &o, err);
	if (r < 0)
		return error_wrap(err, "snapshot of audit entry %lld", (long long)s->seq);
	if (obj_str(o, "uid"))
		map_set_number(s->lines, obj_str(o, "uid"), at);
	const char *key = obj_has(o, "standing") ? row_key(a, obj_get(o, "standing")) : NULL;
	if (key && !map_has(s->standing, key))
		map_set_number(s->standing, key, at);
	return 0;
}

static int index_lines(struct snapshot *s, struct error *err)
{
	struct str rest = strbuf_str(&s->text), line;
	int r = 0;
	while (r >= 0 && str_next_line(&rest, &line))
		r = index_line(s, line, err);
	return r;
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

/* Of the entries that are kept: a snapshot that is not of what was pruned. */
static int newest_row(struct db *d, int64_t below, struct obj **ret, struct error *err)
{
	static const char sql[] =
		"SELECT " LOG_COLUMNS " FROM audit WHERE kind = 'Log' AND type = 'System' AND"
		" reason <> 'Pruned' AND seq >= ? AND instr(body, '\"snapshot\":[') > 0"
		" ORDER BY seq DESC LIMIT 1";
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, below);
	return log_entry(s, ret, err);
}

static int row_at(struct db *d, int64_t seq, struct obj **ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT " LOG_COLUMNS " FROM audit WHERE seq = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	return log_entry(s, ret, err);
}

int snapshot_of_row(struct db *d, const struct obj *row, int64_t seq, struct snapshot **ret,
		    struct error *err)
{
	CLEANUP(snapshot_freep) struct snapshot *s = xcalloc(1, sizeof(*s));
	s->seq = seq;
	s->lines = map_new(NULL);
	s->standing = map_new(NULL);
	strbuf_init(&s->text, SNAPSHOT_BYTES_MAX);
	int r = read_blobs(d, row, s, err);
	if (r >= 0)
		r = index_lines(s, err);
	if (r < 0)
		return r;
	*ret = STEAL(s);
	return 0;
}

int snapshot_load_pruned(struct db *d, struct snapshot **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct pruned p;
	*ret = NULL;
	int r = pruned_load(d, &p, err);
	if (r >= 0 && p.below)
		r = row_at(d, p.seq, &row, err);
	if (r >= 0 && row)
		r = snapshot_of_row(d, row, p.below - 1, ret, err);
	if (*ret)
		(*ret)->is_pruned = true;
	return r;
}

int snapshot_load(struct db *d, struct snapshot **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(snapshot_freep) struct snapshot *pruned = NULL;
	*ret = NULL;
	int r = snapshot_load_pruned(d, &pruned, err);
	if (r >= 0)
		r = newest_row(d, snapshot_seq(pruned) + 1, &row, err);
	if (r < 0)
		return r;
	if (!row) {
		*ret = STEAL(pruned);
		return 0;
	}
	r = snapshot_of_row(d, row, obj_i64(row, "seq", 0), ret, err);
	if (r >= 0)
		(*ret)->pruned = STEAL(pruned);
	return r;
}

static void free_one(struct snapshot *s)
{
	if (!s)
		return;
	map_free(s->lines);
	map_free(s->standing);
	strbuf_release(&s->text);
	xfree(s);
}

void snapshot_free(struct snapshot *s)
{
	if (s)
		free_one(s->pruned); /* which has none of its own */
	free_one(s);
}

int64_t snapshot_seq(const struct snapshot *s)
{
	return s ? s->seq : 0;
}

bool snapshot_is_pruned(const struct snapshot *s)
{
	return s && s->is_pruned;
}

static struct obj *line_of(const struct snapshot *s, const char *uid)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	size_t at = s && uid ? map_number(s->lines, uid) : 0;
	return at && json_parse(line_at(s, at - 1), &o, &err) == 0 ? o : NULL;
}

struct obj *snapshot_find(const struct snapshot *s, const char *uid)
{
	struct obj *o = line_of(s, uid);
	CLEANUP(obj_unrefp) struct obj *before = s ? line_of(s->pruned, uid) : NULL;
	if (!before || obj_has(o, "transitionSeq") || !obj_has(before, "transitionSeq"))
		return o;
	/* Objects are those of the newer one, transitions those that it leaves out. */
	struct obj *both = o ? obj_copy_map(o) : obj_map();
	OBJ_EACH (it, before)
		if (strcmp(it.key, "after") != 0 && strcmp(it.key, "afterMain") != 0)
			obj_set(both, it.key, obj_ref(it.value));
	obj_unref(o);
	return both;
}

/* The entry at this line, if it is of the key; NULL ends them. Owned. */
static struct obj *standing_at(const struct snapshot *s, size_t at, const char *key)
{
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(LINE_KEY_MAX);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (at >= s->text.len || json_parse(line_at(s, at), &o, &err) < 0)
		return NULL;
	const struct obj *row = obj_get(o, "standing");
	return row && !strcmp(row_key(a, row), key) ? obj_ref(row) : NULL;
}

struct obj *snapshot_standing(const struct snapshot *s, const char *type, const char *kind,
			      const char *ns, const char *name,
			      bool (*fits)(const void *arg, const struct obj *row), const void *arg)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(LINE_KEY_MAX);
	const struct snapshot *of = s && s->pruned ? s->pruned : s;
	const char *key = standing_key(a, type, kind, ns, name);
	size_t at = of ? map_number(of->standing, key) : 0;
	struct obj *found = NULL, *row;
	for (; at && (row = standing_at(of, at - 1, key)); at += line_at(of, at - 1).len + 1) {
		bool newer = obj_i64(row, "seq", 0) > obj_i64(found, "seq", 0);
		if (newer && (!fits || fits(arg, row))) {
			obj_unref(found);
			found = obj_ref(row);
		}
		obj_unref(row);
	}
	return found;
}

int snapshot_each_standing(const struct snapshot *s,
			   int (*fn)(void *arg, const struct obj *row, struct error *err),
			   void *arg, struct error *err)
{
	const struct snapshot *of = s && s->pruned ? s->pruned : s;
	struct str rest = of ? strbuf_str(&of->text) : STR(""), line;
	int r = 0;
	while (r >= 0 && str_next_line(&rest, &line)) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		if (str_has_prefix(line, STR("{\"standing\":")) && json_parse(line, &o, err) >= 0)
			r = fn(arg, obj_get(o, "standing"), err);
	}
	return r;
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
