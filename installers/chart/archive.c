/* Chart archives: tar through libarchive's reader, fed piece by piece from gzip.h. */
#include "installers/chart/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

#include "installers/chart/gzip.h"
#include "installers/chart/tar_write.h"

#define TAR_BYTES_MAX ((size_t)256 << 20)

const struct chart_limits chart_limits_default = {
	.packed_bytes = (size_t)32 << 20,
	.unpacked_bytes = (size_t)100 << 20,
	.file_bytes = (size_t)32 << 20,
	.entries = 10000,
	.ratio = 200,
	.depth = 8,
	.path_bytes = 512,
	.path_components = 32,
};

/* The stream below libarchive. last_byte is the offset after the last byte that is not zero:
 * nothing but zeros may follow the end of the tar. */
struct source {
	struct gzip_reader *gzip;
	size_t offset, last_byte;
	struct error err;
};

static void note_bytes(struct source *s, struct str piece)
{
	size_t n = piece.len;
	while (n && !piece.ptr[n - 1])
		n--;
	if (n)
		s->last_byte = s->offset + n;
	s->offset += piece.len;
}

static la_ssize_t source_read(struct archive *tar, void *arg, const void **ret)
{
	struct source *s = arg;
	struct str piece;
	(void)tar;
	if (gzip_reader_next(s->gzip, &piece, &s->err) < 0)
		return ARCHIVE_FATAL;
	note_bytes(s, piece);
	*ret = piece.ptr;
	return (la_ssize_t)piece.len;
}

/* ---- names ---- */

static int check_component(struct str c, const char *name, size_t at, struct error *err)
{
	if (str_is(c, ".."))
		return error_set(err, E_INVALID, "entry %s leaves the archive", name);
	if (!at && c.len >= 2 && c.ptr[1] == ':' && char_is_alpha(c.ptr[0]))
		return error_set(err, E_INVALID, "entry %s has a drive letter", name);
	return 0;
}

static int check_bytes(struct str name, struct error *err)
{
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.ptr[i];
		if (c < 0x20 || c == 0x7f)
			return error_set(err, E_INVALID,
					 "entry name has a control character 0x%02x", c);
	}
	if (!utf8_valid(name))
		return error_set(err, E_INVALID, "entry name is not UTF-8");
	return 0;
}

/* Cleans "./a//b" to "a/b". The C1 controls are encoded in two bytes and are left to printing. */
static int clean_name(struct arena *a, struct str raw, const struct chart_limits *l,
		      char **ret_name, struct error *err)
{
	if (raw.len > l->path_bytes)
		return error_set(err, E_INVALID, "entry name of %zu bytes is longer than %zu",
				 raw.len, l->path_bytes);
	int r = check_bytes(raw, err);
	if (r < 0)
		return r;
	char *name = arena_text(a, raw.ptr ? raw.ptr : "", raw.len);
	for (char *p = name; *p; p++)
		if (*p == '\\')
			*p = '/';
	if (*name == '/')
		return error_set(err, E_INVALID, "entry %s is an absolute path", name);
	char *out = arena_alloc(a, raw.len + 1);
	size_t len = 0, n = 0;
	struct str rest = str_of(name), c;
	while (str_next(&rest, '/', &c)) {
		if (!c.len || str_is(c, "."))
			continue;
		r = check_component(c, name, n, err);
		if (r < 0)
			return r;
		if (++n > l->path_components)
			return error_set(err, E_INVALID, "entry %s has more than %zu components",
					 name, l->path_components);
		if (len)
			out[len++] = '/';
		memcpy(out + len, c.ptr, c.len);
		len += c.len;
	}
	out[len] = 0;
	*ret_name = out;
	return 0;
}

/* ---- the list ---- */

static struct str without_mark(struct str data)
{
	return str_has_prefix(data, STR("\xef\xbb\xbf")) ? str_skip(data, 3) : data;
}

static void push(struct arena *a, struct archive_files *files, const char *path, struct str data)
{
	ARENA_GROW(a, files->items, files->cap, files->n, 32);
	files->items[files->n++] = (struct archive_file){path, without_mark(data)};
}

static int draw(struct archive_budget *b, const char *name, size_t bytes, struct error *err)
{
	const struct chart_limits *l = b->limits;
	if (bytes > l->file_bytes)
		return error_set(err, E_LIMIT, "%s is larger than %zu bytes", name, l->file_bytes);
	b->unpacked += bytes;
	if (b->unpacked > l->unpacked_bytes)
		return error_set(err, E_LIMIT, "%s: unpacked size is over %zu bytes", name,
				 l->unpacked_bytes);
	return 0;
}

static int draw_entry(struct archive_budget *b, struct error *err)
{
	if (++b->entries > b->limits->entries)
		return error_set(err, E_LIMIT, "more than %zu entries", b->limits->entries);
	return 0;
}

int archive_files_add(struct arena *a, struct archive_files *files, const char *path,
		      struct str data, struct archive_budget *budget, struct error *err)
{
	char *name = NULL;
	if (draw_entry(budget, err) < 0 ||
	    clean_name(a, str_of(path), budget->limits, &name, err) < 0 ||
	    draw(budget, name, data.len, err) < 0)
		return -err->code;
	push(a, files, name, str_n(arena_text(a, data.ptr ? data.ptr : "", data.len), data.len));
	return 0;
}

static int cmp_path(const void *a, const void *b)
{
	const struct archive_file *const *x = a, *const *y = b;
	return strcmp((*x)->path, (*y)->path);
}

static const struct archive_file **sorted(const struct archive_files *files)
{
	const struct archive_file **s = xcalloc(files->n + 1, sizeof(const struct archive_file *));
	for (size_t i = 0; i < files->n; i++)
		s[i] = &files->items[i];
	qsort((void *)s, files->n, sizeof(*s), cmp_path);
	return s;
}

/* A path twice, or a file where another path has a folder. */
static int archive_files_check(const struct archive_files *files, struct error *err)
{
	CLEANUP(xfreep) const struct archive_file **s = sorted(files);
	for (size_t i = 1; i < files->n; i++)
		if (!strcmp(s[i - 1]->path, s[i]->path))
			return error_set(err, E_INVALID, "entry %s is there twice", s[i]->path);
	return 0;
}

const struct archive_file *archive_find(const struct archive_files *files, const char *path)
{
	for (size_t i = 0; i < files->n; i++)
		if (!strcmp(files->items[i].path, path))
			return &files->items[i];
	return NULL;
}

/* ---- reading ---- */

static int check_type(struct archive_entry *e, const char *name, struct error *err)
{
	if (archive_entry_hardlink(e) || archive_entry_hardlink_utf8(e))
		return error_set(err, E_INVALID, "entry %s is a hard link", name);
	if (archive_entry_symlink(e) || archive_entry_symlink_utf8(e))
		return error_set(err, E_INVALID, "entry %s is a symbolic link", name);
	if (archive_entry_sparse_count(e) > 0)
		return error_set(err, E_INVALID, "entry %s is a sparse file", name);
	mode_t type = archive_entry_filetype(e);
	if (type != AE_IFREG && type != AE_IFDIR)
		return error_set(err, E_INVALID, "entry %s is neither a file nor a folder", name);
	return 0;
}

/* Never allocates what a header claims: the data grows as it arrives. */
static int read_data(struct arena *a, struct archive *tar, const struct source *src,
		     const char *name, size_t limit, struct str *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit + 1);
	char chunk[16384];
	la_ssize_t n;
	for (n = archive_read_data(tar, chunk, sizeof(chunk)); n > 0 && !b.over;
	     n = archive_read_data(tar, chunk, sizeof(chunk)))
		strbuf_add(&b, chunk, (size_t)n);
	if (src->err.code)
		return error_copy(err, &src->err);
	if (n < 0)
		return error_set(err, E_INVALID, "entry %s: %s", name, archive_error_string(tar));
	if (b.over)
		return error_set(err, E_LIMIT, "%s is larger than %zu bytes", name, limit);
	*ret = str_n(arena_text(a, b.buf, b.len), b.len);
	return 0;
}

/* The folder that all entries share; *ret_path is what follows it, "" for the folder itself. */
static int drop_first(struct arena *a, char *name, bool is_dir, const char **first,
		      const char **ret_path, struct error *err)
{
	struct str head, rest;
	bool inside = str_cut(str_of(name), '/', &head, &rest);
	if (!inside && !is_dir)
		return error_set(err, E_INVALID, "file %s lies beside the chart folder", name);
	if (!*first)
		*first = arena_text(a, head.ptr, head.len);
	else if (!str_is(head, *first))
		return error_set(err, E_INVALID, "entry %s is outside of folder %s", name, *first);
	*ret_path = inside ? rest.ptr : "";
	return 0;
}

/* One archive: where names and data go. each NULL: data stays in the arena of the names. */
struct reading {
	struct arena *a;
	struct archive *tar;
	struct source src;
	struct archive_budget *budget;
	const char *first;
	struct archive_files files;
	archive_file_fn each;
	void *arg;
};

static int hand_out(struct reading *r, const char *path, const char *name, struct error *err)
{
	size_t limit = r->budget->limits->file_bytes;
	struct str data;
	CLEANUP(arena_freep) struct arena *a = arena_new(limit + STRBUF_SMALL);
	if (read_data(a, r->tar, &r->src, name, limit, &data, err) < 0 ||
	    draw(r->budget, name, data.len, err) < 0)
		return -err->code;
	push(r->a, &r->files, path, STR_NONE);
	return r->each(r->arg, path, without_mark(data), err);
}

static int read_entry(struct reading *r, struct archive_entry *e, struct error *err)
{
	const char *raw = archive_entry_pathname(e);
	if (!raw)
		raw = archive_entry_pathname_utf8(e);
	char *name = NULL;
	const char *path = "";
	if (!raw)
		return error_set(err, E_INVALID, "entry name is not UTF-8");
	if (draw_entry(r->budget, err) < 0 ||
	    clean_name(r->a, str_of(raw), r->budget->limits, &name, err) < 0 ||
	    check_type(e, name, err) < 0)
		return -err->code;
	bool is_dir = archive_entry_filetype(e) == AE_IFDIR;
	if (!*name) /* "./" */
		return is_dir ? 0 : error_set(err, E_INVALID, "an entry has no name");
	if (drop_first(r->a, name, is_dir, &r->first, &path, err) < 0)
		return -err->code;
	if (is_dir)
		return 0;
	if (r->each)
		return hand_out(r, path, name, err);
	struct str data;
	if (read_data(r->a, r->tar, &r->src, name, r->budget->limits->file_bytes, &data, err) < 0 ||
	    draw(r->budget, name, data.len, err) < 0)
		return -err->code;
	push(r->a, &r->files, path, data);
	return 0;
}

static int check_tail(struct reading *r, struct error *err)
{
	size_t end = (size_t)archive_filter_bytes(r->tar, 0);
	struct str piece;
	do {
		if (gzip_reader_next(r->src.gzip, &piece, err) < 0)
			return -err->code;
		note_bytes(&r->src, piece);
	} while (piece.len);
	if (r->src.last_byte > end)
		return error_set(err, E_INVALID, "bytes after the end of the tar");
	return 0;
}

static int read_tar(struct reading *r, struct error *err)
{
	struct archive_entry *e;
	for (;;) {
		int rc = archive_read_next_header(r->tar, &e);
		const char *problem = archive_error_string(r->tar);
		if (r->src.err.code)
			return error_copy(err, &r->src.err);
		if (rc == ARCHIVE_EOF)
			break;
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return error_set(err, E_INVALID, "not tar: %s",
					 problem ? problem : "damaged");
		if (read_entry(r, e, err) < 0)
			return -err->code;
	}
	if (check_tail(r, err) < 0)
		return -err->code;
	if (!r->files.n)
		return error_set(err, E_INVALID, "no files");
	return archive_files_check(&r->files, err);
}

static void archive_freep(struct archive **tar)
{
	archive_free(*tar);
}

static int read_packed(struct reading *r, struct str packed, struct error *err)
{
	const struct archive_budget *budget = r->budget;
	const struct chart_limits *l = budget->limits;
	if (packed.len > l->packed_bytes)
		return error_set(err, E_LIMIT, "packed size is over %zu bytes", l->packed_bytes);
	if (budget->depth > l->depth)
		return error_set(err, E_LIMIT, "archives are nested more than %u deep", l->depth);
	/* tar itself adds up to 1.5 KiB an entry */
	size_t room = l->unpacked_bytes - budget->unpacked + l->entries * 1536;
	CLEANUP(gzip_reader_freep) struct gzip_reader *gzip =
		gzip_reader_new(packed, room, l->ratio);
	CLEANUP(archive_freep) struct archive *tar = archive_read_new();
	r->src = (struct source){.gzip = gzip};
	r->tar = tar;
	if (archive_read_support_format_tar(tar) != ARCHIVE_OK)
		return error_set(err, E_INTERNAL, "libarchive without tar");
	if (archive_read_open(tar, &r->src, NULL, source_read, NULL) != ARCHIVE_OK) {
		if (r->src.err.code)
			return error_copy(err, &r->src.err);
		return error_set(err, E_INVALID, "not tar: %s", archive_error_string(tar));
	}
	return read_tar(r, err);
}

int archive_read(struct arena *a, struct str packed, struct archive_budget *budget,
		 struct archive_files *ret, struct error *err)
{
	struct reading r = {.a = a, .budget = budget};
	if (read_packed(&r, packed, err) < 0)
		return -err->code;
	*ret = r.files;
	return 0;
}

int archive_each(struct str packed, struct archive_budget *budget, archive_file_fn fn, void *arg,
		 struct error *err)
{
	/* names, each copied twice, and the list of them */
	const struct chart_limits *l = budget->limits;
	CLEANUP(arena_freep) struct arena *a = arena_new(l->entries * (2 * l->path_bytes + 128));
	struct reading r = {.a = a, .budget = budget, .each = fn, .arg = arg};
	return read_packed(&r, packed, err);
}

/* ---- writing ---- */

int archive_write(const struct archive_files *files, const char *name, struct strbuf *b,
		  struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(TAR_BYTES_MAX);
	CLEANUP(xfreep) const struct archive_file **s = sorted(files);
	for (size_t i = 0; i < files->n; i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&path, "%s/%s", name, s[i]->path);
		tar_write_file(&bytes, strbuf_str(&path), s[i]->data);
	}
	tar_write_end(&bytes);
	if (strbuf_check(&bytes, "archive", err) < 0)
		return -err->code;
	return gzip_pack(strbuf_str(&bytes), b, err);
}
