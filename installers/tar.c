#include "installers/tar.h"

#include <string.h>

/* POSIX.1-1988 (ustar), the same offsets in GNU's form. */
#define NAME_BYTES   100
#define MODE_AT      100
#define UID_AT       108
#define GID_AT       116
#define SIZE_AT      124
#define SIZE_BYTES   12
#define MTIME_AT     136
#define SUM_AT       148
#define SUM_BYTES    8
#define TYPE_AT      156
#define MAGIC_AT     257
#define PREFIX_AT    345
#define PREFIX_BYTES 155

void tar_reader_init(struct tar_reader *t, struct gzip_reader *gzip)
{
	*t = (struct tar_reader){.gzip = gzip,
				 .name = STRBUF_INIT(TAR_META_BYTES),
				 .pax = STRBUF_INIT(TAR_META_BYTES)};
}

void tar_reader_release(struct tar_reader *t)
{
	strbuf_release(&t->name);
	strbuf_release(&t->pax);
}

/* ---- the stream ---- */

/* At most n bytes of it; none at its end. */
static int take(struct tar_reader *t, uint64_t n, struct str *ret, struct error *err)
{
	if (!t->piece.len && gzip_reader_next(t->gzip, &t->piece, err) < 0)
		return -err->code;
	size_t len = n < t->piece.len ? (size_t)n : t->piece.len;
	*ret = str_sub(t->piece, 0, len);
	t->piece = str_skip(t->piece, len);
	return 0;
}

static int fail_truncated(struct error *err)
{
	return error_set(err, E_INVALID, "tar is truncated");
}

/* 1: a block is in t->header; 0: the stream ends here. */
static int take_block(struct tar_reader *t, struct error *err)
{
	struct str part;
	for (size_t n = 0; n < TAR_BLOCK; n += part.len) {
		if (take(t, TAR_BLOCK - n, &part, err) < 0)
			return -err->code;
		if (!part.len)
			return n ? fail_truncated(err) : 0;
		memcpy(t->header + n, part.ptr, part.len);
	}
	return 1;
}

static int skip(struct tar_reader *t, uint64_t n, struct error *err)
{
	struct str part;
	for (; n; n -= part.len) {
		if (take(t, n, &part, err) < 0)
			return -err->code;
		if (!part.len)
			return fail_truncated(err);
	}
	return 0;
}

int tar_reader_body(struct tar_reader *t, struct strbuf *b, struct error *err)
{
	struct str part;
	for (; t->body && !b->over; t->body -= part.len) {
		if (take(t, t->body, &part, err) < 0)
			return -err->code;
		if (!part.len)
			return fail_truncated(err);
		strbuf_addstr(b, part);
	}
	return 0;
}

/* ---- headers ---- */

static bool is_zero(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i])
			return false;
	return true;
}

/* Octal digits between blanks, or 256-based when the first bit is set. */
static bool number(const char *field, size_t n, uint64_t *ret)
{
	const unsigned char *p = (const unsigned char *)field;
	uint64_t v = 0;
	size_t i = 0;
	if (p[0] & 0x80) {
		for (i = 1; i < n; i++) {
			if (v >> 55)
				return false;
			v = v << 8 | p[i];
		}
		*ret = v;
		return p[0] == 0x80; /* 0xff: negative */
	}
	while (i < n && p[i] == ' ')
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (unsigned)(p[i] - '0');
	for (; i < n; i++)
		if (p[i] != ' ' && p[i] != '\0')
			return false;
	*ret = v;
	return true;
}

/* The sum of all bytes, the field of the sum as blanks. */
static unsigned checksum(const char *header)
{
	unsigned sum = 0;
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : (unsigned char)header[i];
	return sum;
}

static struct str field(const char *p, size_t n)
{
	return str_n(p, strnlen(p, n));
}

static struct str header_name(struct tar_reader *t)
{
	struct str name = field(t->header, NAME_BYTES);
	struct str prefix = field(t->header + PREFIX_AT, PREFIX_BYTES);
	if (memcmp(t->header + MAGIC_AT, "ustar\0", 6) != 0 || !prefix.len)
		return name;
	memcpy(t->joined, prefix.ptr, prefix.len);
	t->joined[prefix.len] = '/';
	memcpy(t->joined + prefix.len + 1, name.ptr, name.len);
	return str_n(t->joined, prefix.len + 1 + name.len);
}

/* "LENGTH KEY=VALUE\n", the length of the whole line. */
static int pax_record(struct str *rest, struct str *ret_key, struct str *ret_value,
		      struct error *err)
{
	struct str digits, line;
	int64_t n;
	if (str_cut(*rest, ' ', &digits, &line) && digits.len < 10 && str_parse_i64(digits, &n) &&
	    n > (int64_t)digits.len + 2 && (uint64_t)n <= rest->len && rest->ptr[n - 1] == '\n') {
		line = str_sub(*rest, digits.len + 1, (size_t)n - digits.len - 2);
		*rest = str_skip(*rest, (size_t)n);
		if (str_cut(line, '=', ret_key, ret_value))
			return 0;
	}
	return error_set(err, E_INVALID, "pax header is malformed");
}

static int apply_pax(struct str pax, struct tar_entry *e, struct error *err)
{
	struct str key, value;
	while (pax.len) {
		int64_t size = 0;
		if (pax_record(&pax, &key, &value, err) < 0)
			return -err->code;
		if (str_has_prefix(key, STR("GNU.sparse.")))
			e->type = TAR_SPARSE;
		else if (str_is(key, "path"))
			e->name = value;
		else if (str_is(key, "size")) {
			if (!str_parse_i64(value, &size) || size < 0)
				return error_set(err, E_INVALID, "pax size is no number");
			e->size = (uint64_t)size;
		}
	}
	return 0;
}

static enum tar_type entry_type(char type, struct str name)
{
	switch (type) {
	case '\0': /* older than ustar */
	case '0':
	case '7': /* contiguous */
		return str_has_suffix(name, STR("/")) ? TAR_DIR : TAR_FILE;
	case '1':
		return TAR_HARD_LINK;
	case '2':
		return TAR_SYMLINK;
	case '5':
		return TAR_DIR;
	case 'S':
		return TAR_SPARSE;
	default:
		return TAR_OTHER;
	}
}

/* The body of an extended header, up to TAR_META_BYTES. */
static int read_meta(struct tar_reader *t, struct strbuf *b, struct error *err)
{
	strbuf_clear(b);
	if (t->body > TAR_META_BYTES)
		return error_set(err, E_INVALID, "extended header of %llu bytes, want at most %zu",
				 (unsigned long long)t->body, TAR_META_BYTES);
	return tar_reader_body(t, b, err);
}

/* A header that tells something of the next entry. 0: it is none. */
static int extended(struct tar_reader *t, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(TAR_META_BYTES);
	struct strbuf *to;
	switch (t->header[TYPE_AT]) {
	case 'L':
		to = &t->name;
		break;
	case 'x':
		to = &t->pax;
		break;
	case 'K': /* the target of a link, which is refused anyhow */
	case 'g': /* what git archive writes: a comment for all entries */
		to = &ignored;
		break;
	default:
		return 0;
	}
	return read_meta(t, to, err) < 0 ? -err->code : 1;
}

static int read_header(struct tar_reader *t, uint64_t *ret_size, struct error *err)
{
	uint64_t sum;
	if (!number(t->header + SUM_AT, SUM_BYTES, &sum) || sum != checksum(t->header))
		return error_set(err, E_INVALID, "not tar: a header has a wrong checksum");
	if (!number(t->header + SIZE_AT, SIZE_BYTES, ret_size))
		return error_set(err, E_INVALID, "not tar: a size is no number");
	return 0;
}

static void set_body(struct tar_reader *t, uint64_t size)
{
	t->body = size;
	t->padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

/* After the first block of zeros. */
static int check_tail(struct tar_reader *t, struct error *err)
{
	struct str part;
	do {
		if (take(t, UINT64_MAX, &part, err) < 0)
			return -err->code;
		if (!is_zero(part))
			return error_set(err, E_INVALID, "bytes after the end of the tar");
	} while (part.len);
	return 0;
}

static int make_entry(struct tar_reader *t, uint64_t size, struct tar_entry *ret, struct error *err)
{
	struct tar_entry e = {.name = header_name(t), .size = size};
	if (t->name.len)
		e.name = field(t->name.buf, t->name.len);
	e.type = entry_type(t->header[TYPE_AT], e.name);
	if (apply_pax(strbuf_str(&t->pax), &e, err) < 0)
		return -err->code;
	if (e.type == TAR_FILE && str_has_suffix(e.name, STR("/")))
		e.type = TAR_DIR;
	if (e.size > INT64_MAX || (e.type == TAR_DIR && e.size))
		return error_set(err, E_INVALID, "not tar: a size is wrong");
	set_body(t, e.size);
	*ret = e;
	return 1;
}

int tar_reader_next(struct tar_reader *t, struct tar_entry *ret, struct error *err)
{
	strbuf_clear(&t->name);
	strbuf_clear(&t->pax);
	for (;;) {
		uint64_t size;
		if (skip(t, t->body, err) < 0 || skip(t, t->padding, err) < 0)
			return -err->code;
		t->body = t->padding = 0;
		int r = take_block(t, err);
		if (r <= 0)
			return r;
		if (is_zero(str_n(t->header, TAR_BLOCK)))
			return check_tail(t, err);
		if (read_header(t, &size, err) < 0)
			return -err->code;
		set_body(t, size);
		r = extended(t, err);
		if (r <= 0)
			return r < 0 ? r : make_entry(t, size, ret, err);
	}
}

/* ---- writing ---- */

static void octal(char *at, size_t digits, uint64_t v)
{
	for (size_t i = digits; i-- > 0; v >>= 3)
		at[i] = (char)('0' + (v & 7));
}

static void write_header(struct strbuf *b, char type, struct str name, uint64_t size)
{
	char h[TAR_BLOCK] = {0};
	memcpy(h, name.ptr, name.len < NAME_BYTES ? name.len : NAME_BYTES);
	octal(h + MODE_AT, 7, 0644);
	octal(h + UID_AT, 7, 0);
	octal(h + GID_AT, 7, 0);
	octal(h + SIZE_AT, 11, size);
	octal(h + MTIME_AT, 11, 0);
	h[TYPE_AT] = type;
	memcpy(h + MAGIC_AT, "ustar  ", 7);
	octal(h + SUM_AT, 6, checksum(h));
	h[SUM_AT + 7] = ' ';
	strbuf_add(b, h, sizeof(h));
}

static void write_body(struct strbuf *b, struct str data, size_t extra)
{
	size_t n = data.len + extra;
	strbuf_addstr(b, data);
	strbuf_pad(b, '\0', extra + (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK);
}

void tar_write_file(struct strbuf *b, struct str name, struct str data)
{
	if (name.len >= NAME_BYTES) {
		write_header(b, 'L', STR("././@LongLink"), name.len + 1);
		write_body(b, name, 1);
	}
	write_header(b, '0', name, data.len);
	write_body(b, data, 0);
}

void tar_write_end(struct strbuf *b)
{
	strbuf_pad(b, '\0', (size_t)2 * TAR_BLOCK);
}
