#include "alm/audit/tiles.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/log.h"

#define LEVEL_MAX     63 /* of the specification; ours end at TREE_LEVELS */
#define INDEX_DIGITS  3
#define INDEX_PARTS   4 /* 10^12 tiles */
#define ENTRY_LEN_MAX 65535

struct place {
	bool is_entries;
	int64_t level, index;
	int64_t width; /* of a partial one; TREE_TILE: full */
};

/* "x001/x234/067": three digits a part, all but the last begin with x. */
static bool parse_index(struct str text, int64_t *ret)
{
	struct str part, rest = text;
	int64_t n, index = 0;
	for (size_t i = 0; i < INDEX_PARTS; i++) {
		bool more = str_cut(rest, '/', &part, &rest);
		if (more && !(part.len && part.ptr[0] == 'x'))
			return false;
		if (more)
			part = str_skip(part, 1);
		if (part.len != INDEX_DIGITS || !char_is_digit(part.ptr[0]) ||
		    !str_parse_i64(part, &n) || n < 0)
			return false;
		index = index * 1000 + n;
		if (!more) {
			*ret = index;
			return true;
		}
		if (i == 0 && n == 0)
			return false; /* one way to write each number */
	}
	return false;
}

static bool parse_place(struct str text, struct place *ret)
{
	struct str level, index, width;
	ret->width = TREE_TILE;
	if (!str_cut(text, '/', &level, &index))
		return false;
	ret->is_entries = str_is(level, "entries");
	ptrdiff_t at = str_find(index, STR(".p/"));
	if (at >= 0) {
		width = str_skip(index, (size_t)at + 3);
		index = str_sub(index, 0, (size_t)at);
		if (!str_parse_i64(width, &ret->width) || ret->width < 1 ||
		    ret->width >= TREE_TILE || width.ptr[0] == '0')
			return false;
	}
	ret->level = 0;
	if (!ret->is_entries && (level.len > 2 || !str_parse_i64(level, &ret->level) ||
				 ret->level < 0 || ret->level > LEVEL_MAX))
		return false;
	return parse_index(index, &ret->index);
}

static int no_tile(struct error *err)
{
	return error_set(err, E_NOTFOUND, "no such part of the audit log");
}

/* The newest checkpoint, or its size alone. */
static int newest(struct db *d, struct strbuf *note, int64_t *ret_size, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT size, note FROM audit_checkpoint ORDER BY size DESC LIMIT 1",
			   &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	if (r > 0) {
		*ret_size = stmt_int(s, 0);
		if (note)
			strbuf_addstr(note, stmt_text(s, 1));
		stmt_reset(s);
	}
	return r > 0 ? 0 : no_tile(err);
}

/* uint16 length and record, 256 times: each is the entry whose leaf the tile of level 0 has. */
static int add_entries(struct db *d, int64_t first, int64_t n, struct strbuf *b, struct error *err)
{
	struct stmt *s;
	struct record rec;
	int64_t found = 0;
	CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(RECORD_BYTES_MAX);
	int r = log_range(d, first, first + n, &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0 && one.len <= ENTRY_LEN_MAX) {
		log_record(s, &rec);
		strbuf_clear(&one);
		record_print(&rec, &one);
		const char len[2] = {(char)(one.len >> 8), (char)(one.len & 255)};
		strbuf_add(b, len, sizeof(len));
		strbuf_addstr(b, strbuf_str(&one));
		found++;
	}
	stmt_reset(s);
	if (r < 0)
		return r;
	if (one.len > ENTRY_LEN_MAX)
		return error_set(err, E_LIMIT, "a record is longer than an entry may be");
	return found == n ? 0 : no_tile(err); /* pruned */
}

static int add_tile(struct db *d, const struct place *p, struct strbuf *b, struct error *err)
{
	unsigned char(*hashes)[SHA256_BYTES] = xmalloc(TREE_TILE_BYTES);
	int r = log_tile(d, (unsigned)p->level, p->index, (unsigned)p->width, hashes, err);
	if (r >= 0)
		strbuf_addstr(b, str_n((const char *)hashes[0], (size_t)p->width * SHA256_BYTES));
	xfree(hashes);
	return r < 0 ? r : 0;
}

/* How many hashes the level has in a tree of this size. */
static int64_t width_of(int64_t size, int64_t level)
{
	for (; level > 0 && size > 0; level--)
		size /= TREE_TILE;
	return size;
}

int tiles_read(struct db *d, const char *path, struct strbuf *b, struct tiles_answer *ret,
	       struct error *err)
{
	struct place p;
	int64_t size = 0;
	bool is_checkpoint = !strcmp(path, "checkpoint");
	*ret = (struct tiles_answer){.content_type = is_checkpoint ? "text/plain; charset=utf-8"
								   : "application/octet-stream"};
	int r = newest(d, is_checkpoint ? b : NULL, &size, err);
	if (r < 0 || is_checkpoint)
		return r;
	if (!cstr_has_prefix(path, "tile/") || !parse_place(str_of(path + strlen("tile/")), &p) ||
	    p.level >= TREE_LEVELS || p.index * TREE_TILE + p.width > width_of(size, p.level))
		return no_tile(err);
	ret->is_fixed = true; /* what is signed never changes, partial or not */
	r = p.is_entries ? add_entries(d, p.index * TREE_TILE, p.width, b, err)
			 : add_tile(d, &p, b, err);
	return r < 0 ? r : strbuf_check(b, "tile", err);
}
