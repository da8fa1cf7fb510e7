/* Hostile and odd archives (charts.md 2): what is accepted, what is refused and why. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "installers/chart/archive.h"
#include "installers/chart/chart.h"
#include "installers/chart/gzip.h"

#define BLOCK 512

/* ---- a tar writer that writes what it is told ---- */

static void entry_mode(struct strbuf *tar, const char *name, char type, const char *link,
		       struct str data, size_t claimed, unsigned mode)
{
	char h[BLOCK] = {0};
	unsigned sum = 0;
	size_t n = strlen(name);
	memcpy(h, name, n < 100 ? n : 100);
	snprintf(h + 100, 8, "%07o", mode);
	snprintf(h + 108, 8, "%07o", 0);
	snprintf(h + 116, 8, "%07o", 0);
	snprintf(h + 124, 12, "%011zo", claimed);
	snprintf(h + 136, 12, "%011o", 0);
	h[156] = type;
	snprintf(h + 157, 100, "%s", link);
	memcpy(h + 257, "ustar\00000", 8);
	memset(h + 148, ' ', 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
	strbuf_add(tar, h, BLOCK);
	strbuf_addstr(tar, data);
	strbuf_pad(tar, '\0', (BLOCK - data.len % BLOCK) % BLOCK);
}

static void entry(struct strbuf *tar, const char *name, char type, const char *link,
		  struct str data, size_t claimed)
{
	entry_mode(tar, name, type, link, data, claimed, 0644);
}

static void file(struct strbuf *tar, const char *name, const char *text)
{
	entry(tar, name, '0', "", str_of(text), strlen(text));
}

static void end(struct strbuf *tar)
{
	strbuf_pad(tar, '\0', (size_t)2 * BLOCK);
}

static void chart_file(struct strbuf *tar)
{
	file(tar, "c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
}

static int read_packed(struct str packed, const struct chart_limits *limits, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)512 << 20);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(limits);
	struct archive_files files;
	return archive_read(a, packed, &budget, &files, err);
}

static int read_tar(const struct strbuf *tar, const struct chart_limits *limits, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT((size_t)64 << 20);
	assert_ok(gzip_pack(strbuf_str(tar), &packed, err), err);
	return read_packed(strbuf_str(&packed), limits, err);
}

static void assert_refused(int rc, const struct error *err, int code, const char *part)
{
	if (rc != -code || !strstr(err->msg, part))
		fail_msg("got %d \"%s\", want %d \"%s\"", rc, err->msg, -code, part);
}

/* ---- names and types: one entry beside Chart.yaml ---- */

static const struct {
	const char *name;
	char type;
	const char *link, *want; /* want NULL: accepted */
} one_entry[] = {
	{"c/templates/a.yaml", '0', "", NULL},
	{"./c/x", '0', "", NULL},
	{"c//x", '0', "", NULL},
	{"c/./x", '0', "", NULL},
	{"c\\templates\\a.yaml", '0', "", NULL},
	{"c/d/", '5', "", NULL},
	{"c/\xc3\xa9", '0', "", NULL},
	{"c/link", '2', "/etc/passwd", "symbolic link"},
	{"c/link", '2', "Chart.yaml", "symbolic link"},
	{"c/hard", '1', "c/Chart.yaml", "hard link"},
	{"c/null", '3', "", "neither a file nor a folder"},
	{"c/disk", '4', "", "neither a file nor a folder"},
	{"c/pipe", '6', "", "neither a file nor a folder"},
	{"/etc/passwd", '0', "", "absolute path"},
	{"\\etc\\passwd", '0', "", "absolute path"},
	{"c/../x", '0', "", "leaves the archive"},
	{"../x", '0', "", "leaves the archive"},
	{"c\\..\\..\\x", '0', "", "leaves the archive"},
	{"C:/x", '0', "", "drive letter"},
	{"c/a\nb", '0', "", "control character"},
	{"c/a\x1b[2Jb", '0', "", "control character"},
	{"c/a\x7f", '0', "", "control character"},
	{"c/\xff", '0', "", "not UTF-8"},
	{"d/x", '0', "", "outside of folder"},
	{"x", '0', "", "beside the chart folder"},
	{"c/Chart.yaml", '0', "", "twice"},
	{"c/./Chart.yaml", '0', "", "twice"},
	{"c/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3", '0', "",
	 "more than 32 components"},
};

static void test_archive__names_and_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(one_entry); i++) {
		CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
		struct error err = ERROR_INIT;
		chart_file(&tar);
		bool is_file = one_entry[i].type == '0';
		entry(&tar, one_entry[i].name, one_entry[i].type, one_entry[i].link,
		      is_file ? STR("x") : STR(""), is_file);
		end(&tar);
		int rc = read_tar(&tar, &chart_limits_default, &err);
		if (one_entry[i].want)
			assert_refused(rc, &err, E_INVALID, one_entry[i].want);
		else
			assert_ok(rc, &err);
	}
}

static void check_text(const struct archive_files *files, const char *path, const char *want)
{
	const struct archive_file *f = archive_find(files, path);
	if (!f || !str_is(f->data, want))
		fail_msg("%s is %s, want %s", path, f ? f->data.ptr : "not there", want);
}

/* Names that some file systems take for one (other case, other normal form of Unicode) stay two,
 * as nothing is ever unpacked to one; set-user-ID bits go no further than the reader. */
static void test_archive__twins_are_not_merged_and_modes_are_dropped(void **state)
{
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(1 << 20);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(1 << 20);
	CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(1 << 20);
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(1 << 20);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files;
	(void)state;
	file(&tar, "c/Chart.yaml", "1");
	file(&tar, "c/CHART.YAML", "2");
	file(&tar, "c/\xc3\xa9", "3");
	file(&tar, "c/e\xcc\x81", "4");
	entry_mode(&tar, "c/suid", '0', "", STR("5"), 1, 06755);
	end(&tar);
	assert_ok(gzip_pack(strbuf_str(&tar), &packed, &err), &err);
	assert_ok(archive_read(a, strbuf_str(&packed), &budget, &files, &err), &err);
	assert_int_equal(files.n, 5);
	check_text(&files, "Chart.yaml", "1");
	check_text(&files, "CHART.YAML", "2");
	check_text(&files, "\xc3\xa9", "3");
	check_text(&files, "e\xcc\x81", "4");
	check_text(&files, "suid", "5");
	assert_ok(archive_write(&files, "c", &again, &err), &err);
	CLEANUP(gzip_reader_freep) struct gzip_reader *r =
		gzip_reader_new(strbuf_str(&again), 1 << 20, 1000);
	struct str piece;
	do {
		assert_ok(gzip_reader_next(r, &piece, &err), &err);
		strbuf_addstr(&plain, piece);
	} while (piece.len);
	for (size_t i = 0; i < 5; i++) /* a header and a block each */
		assert_memory_equal(plain.buf + i * 2 * BLOCK + 100, "0000644", 8);
}

static void test_archive__long_name_is_refused(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)state;
	strbuf_adds(&name, "c/");
	strbuf_pad(&name, 'a', 600);
	strbuf_addc(&name, '\0');
	chart_file(&tar);
	entry(&tar, "././@LongLink", 'L', "", strbuf_str(&name), name.len);
	file(&tar, "c/aaa", "x");
	end(&tar);
	assert_refused(read_tar(&tar, &chart_limits_default, &err), &err, E_INVALID, "longer than");
}

static void test_archive__gnu_long_name_is_read(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files;
	struct error err = ERROR_INIT;
	(void)state;
	strbuf_adds(&name, "c/");
	strbuf_pad(&name, 'a', 200);
	strbuf_addc(&name, '\0');
	entry(&tar, "././@LongLink", 'L', "", strbuf_str(&name), name.len);
	file(&tar, "c/aaa", "x");
	end(&tar);
	assert_ok(gzip_pack(strbuf_str(&tar), &packed, &err), &err);
	assert_ok(archive_read(a, strbuf_str(&packed), &budget, &files, &err), &err);
	assert_int_equal(files.n, 1);
	assert_string_equal(files.items[0].path, name.buf + 2);
}

/* ---- limits ---- */

static void test_archive__limits_name_themselves(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	struct chart_limits l = chart_limits_default;
	(void)state;
	chart_file(&tar);
	file(&tar, "c/a", "0123456789");
	file(&tar, "c/b", "0123456789");
	end(&tar);
	l.entries = 2;
	assert_refused(read_tar(&tar, &l, &err), &err, E_LIMIT, "more than 2 entries");
	l = chart_limits_default;
	l.file_bytes = 20;
	assert_refused(read_tar(&tar, &l, &err), &err, E_LIMIT, "larger than 20 bytes");
	l = chart_limits_default;
	l.unpacked_bytes = 50;
	assert_refused(read_tar(&tar, &l, &err), &err, E_LIMIT, "over 50 bytes");
	l = chart_limits_default;
	l.packed_bytes = 10;
	assert_refused(read_tar(&tar, &l, &err), &err, E_LIMIT, "packed size is over 10 bytes");
}

static int count_bytes(void *arg, const char *path, struct str data, struct error *err)
{
	size_t *n = arg;
	*n += data.len;
	return strcmp(path, "bad") == 0 ? error_set(err, E_CONFLICT, "bad") : 0;
}

/* One file after the other: the same limits, and an error of who takes them ends it. */
static void test_archive__one_after_the_other_has_the_same_limits(void **state)
{
	static const struct {
		size_t entries, file_bytes, unpacked_bytes;
		const char *third;
		int code;
		const char *part;
		size_t packed_less; /* the limit than what is packed */
	} rows[] = {
		{10, 1000, 1000, "c/c", E_LIMIT, "packed size is over ", 1},
		{10, 1000, 1000, "c/c", 0, "", 0},
		{10, 10, 1000, "c/c", 0, "", 0},
		{10, 9, 1000, "c/c", E_LIMIT, "larger than 9 bytes", 0},
		{10, 1000, 30, "c/c", 0, "", 0},
		{10, 1000, 29, "c/c", E_LIMIT, "unpacked size is over ", 0},
		{2, 1000, 100000, "c/c", E_LIMIT, "more than 2 entries", 0},
		{10, 1000, 1000, "c/bad", E_CONFLICT, "bad", 0},
		{10, 1000, 1000, "d/c", E_INVALID, "is outside of folder c", 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
		struct chart_limits l = chart_limits_default;
		struct error err = ERROR_INIT;
		size_t n = 0;
		file(&tar, "c/a", "0123456789");
		file(&tar, "c/b", "0123456789");
		file(&tar, rows[i].third, "0123456789");
		end(&tar);
		assert_ok(gzip_pack(strbuf_str(&tar), &packed, &err), &err);
		l.packed_bytes = packed.len - rows[i].packed_less;
		l.entries = rows[i].entries;
		l.file_bytes = rows[i].file_bytes;
		l.unpacked_bytes = rows[i].unpacked_bytes;
		struct archive_budget budget = ARCHIVE_BUDGET_INIT(&l);
		int rc = archive_each(strbuf_str(&packed), &budget, count_bytes, &n, &err);
		if (rc != -rows[i].code || !strstr(err.msg, rows[i].part))
			fail_msg("%zu: %d %s", i, rc, err.msg);
		if (rc == 0)
			assert_int_equal(n, 30);
	}
}

/* As a chart in a folder is read. */
static void test_archive__one_more_file_has_the_same_rules(void **state)
{
	static const struct {
		const char *path, *why; /* NULL: it is taken */
		int code;
	} cases[] = {
		{"a", NULL, 0},
		{"../a", "", -E_INVALID},
		{"b", "over 8 bytes", -E_LIMIT},
		{"c", "more than 3 entries", -E_LIMIT},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct chart_limits l = chart_limits_default;
	struct archive_files files = {0};
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&l);
	(void)state;
	l.entries = 3;
	l.unpacked_bytes = 8;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		int rc = archive_files_add(a, &files, cases[i].path, STR("12345"), &budget, &err);
		if (cases[i].why)
			assert_refused(rc, &err, -cases[i].code, cases[i].why);
		else
			assert_int_equal(rc, 0);
		assert_int_equal(files.n, 1);
	}
}

static void test_archive__bomb_is_stopped_by_its_ratio(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf zeros = STRBUF_INIT((size_t)64 << 20);
	struct error err = ERROR_INIT;
	(void)state;
	chart_file(&tar);
	strbuf_pad(&zeros, 'a', (size_t)20 << 20);
	entry(&tar, "c/bomb", '0', "", strbuf_str(&zeros), zeros.len);
	end(&tar);
	assert_refused(read_tar(&tar, &chart_limits_default, &err), &err, E_LIMIT,
		       "over 200 times the packed size");
}

static void test_archive__claimed_size_is_not_believed(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)state;
	chart_file(&tar);
	entry(&tar, "c/huge", '0', "", STR("x"), 077777777777);
	end(&tar);
	assert_true(read_tar(&tar, &chart_limits_default, &err) < 0);
}

/* ---- the stream ---- */

static void pack(const struct strbuf *tar, struct strbuf *packed)
{
	struct error err = ERROR_INIT;
	assert_ok(gzip_pack(strbuf_str(tar), packed, &err), &err);
}

static void test_archive__stream_faults(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf twice = STRBUF_INIT(STRBUF_SMALL);
	const struct chart_limits *l = &chart_limits_default;
	struct error err = ERROR_INIT;
	struct str s;
	(void)state;
	chart_file(&tar);
	end(&tar);
	pack(&tar, &packed);
	s = strbuf_str(&packed);
	assert_ok(read_packed(s, l, &err), &err);
	assert_refused(read_packed(STR(""), l, &err), &err, E_INVALID, "not gzip");
	assert_refused(read_packed(STR("PK\3\4"), l, &err), &err, E_INVALID, "not gzip");
	assert_refused(read_packed(strbuf_str(&tar), l, &err), &err, E_INVALID, "not gzip");
	assert_refused(read_packed(str_sub(s, 0, s.len - 4), l, &err), &err, E_INVALID,
		       "truncated");
	assert_refused(read_packed(str_sub(s, 0, s.len / 2), l, &err), &err, E_INVALID,
		       "truncated");
	strbuf_addstr(&twice, s);
	strbuf_addstr(&twice, s);
	assert_refused(read_packed(strbuf_str(&twice), l, &err), &err, E_INVALID,
		       "after the end of the gzip stream");
	packed.buf[packed.len - 6] ^= 1; /* the checksum */
	assert_refused(read_packed(s, l, &err), &err, E_INVALID, "damaged");
}

static void test_archive__double_gzip_is_not_unwrapped(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf once = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)state;
	chart_file(&tar);
	end(&tar);
	pack(&tar, &once);
	assert_true(read_tar(&once, &chart_limits_default, &err) < 0);
}

static void test_archive__tar_faults(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)state;
	end(&tar);
	assert_refused(read_tar(&tar, &chart_limits_default, &err), &err, E_INVALID, "no files");
	strbuf_clear(&tar);
	chart_file(&tar);
	end(&tar);
	strbuf_pad(&tar, '\0', 4096);
	assert_ok(read_tar(&tar, &chart_limits_default, &err), &err); /* zeros may follow */
	strbuf_adds(&tar, "evil");
	assert_refused(read_tar(&tar, &chart_limits_default, &err), &err, E_INVALID,
		       "bytes after the end of the tar");
}

static void test_archive__sparse_is_refused(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)state;
	static const char pax[] = "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
				  "26 GNU.sparse.name=c/spars\n30 GNU.sparse.realsize=1048576\n";
	chart_file(&tar);
	entry(&tar, "c/PaxHeaders/x", 'x', "", str_of(pax), strlen(pax));
	file(&tar, "c/x", "1\n0\n1\nx");
	end(&tar);
	assert_true(read_tar(&tar, &chart_limits_default, &err) < 0);
}

/* ---- forms of tar ---- */

/* The path of the only file, or the error. */
static int read_path(struct strbuf *tar, struct strbuf *ret_path, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files;
	end(tar);
	assert_ok(gzip_pack(strbuf_str(tar), &packed, err), err);
	int rc = archive_read(a, strbuf_str(&packed), &budget, &files, err);
	strbuf_clear(ret_path);
	if (rc == 0)
		strbuf_addf(ret_path, "%s=%.*s", files.items[0].path, STR_ARG(files.items[0].data));
	return rc;
}

static void pax(struct strbuf *tar, char type, const char *records)
{
	entry(tar, "PaxHeaders/x", type, "", str_of(records), strlen(records));
}

/* clang-format off */
static const struct {
	char type;
	const char *records, *want; /* want: PATH=DATA, or of the error; "!": refused */
} pax_cases[] = {
	{'x', "14 path=c/new\n", "new=xyz"},
	{'x', "30 mtime=1350244992.023960108\n" "14 path=c/\xc3\xa9x\n", "\xc3\xa9x=xyz"},
	{'x', "10 size=2\n", "old=xy"},
	{'x', "10 size=a\n", "!"},
	{'x', "11 size=-1\n", "!"},
	/* malformed records are left out */
	{'x', "15 path=c/new\n", "old=xyz"},
	{'x', "14 path=c/new", "old=xyz"},
	{'x', "99999999999999999999 path=c\n", "old=xyz"},
	{'x', "9 pathxc\n", "old=xyz"},
	{'x', "", "old=xyz"},
	{'x', "28 GNU.sparse.realsize=1000\n", "old=xyz"},
	{'g', "20 comment=0123456789\n", "old=xyz"}, /* of git archive */
	{'g', "14 path=c/new\n", "old=xyz"},	      /* not of the next entry */
	{'K', "somewhere", "old=xyz"},
	{'L', "c/long", "long=xyz"},
	{'M', "", "neither a file nor a folder"},
};
/* clang-format on */

static void test_archive__extended_headers(void **state)
{
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(STRBUF_SMALL);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pax_cases); i++) {
		CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
		struct error err = ERROR_INIT;
		pax(&tar, pax_cases[i].type, pax_cases[i].records);
		file(&tar, "c/old", "xyz");
		if (read_path(&tar, &got, &err) < 0)
			strbuf_addf(&got, "! %s", err.msg);
		if (!strstr(got.buf, pax_cases[i].want))
			fail_msg("%zu: got %s, want %s", i, got.buf, pax_cases[i].want);
	}
}

static void fix_sum(char *h)
{
	unsigned sum = 0;
	memset(h + 148, ' ', 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
}

/* A byte of the only header changed, the checksum made right again. */
static void changed(size_t at, const char *bytes, size_t n, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	file(&tar, "c/old", "xyz");
	memcpy(tar.buf + at, bytes, n);
	fix_sum(tar.buf);
	if (read_path(&tar, &got, &err) < 0)
		strbuf_addf(&got, "! %s", err.msg);
	if (!strstr(got.buf, want))
		fail_msg("at %zu: got %s, want %s", at, got.buf, want);
}

static void test_archive__header_forms(void **state)
{
	(void)state;
	changed(345, "c/d", 3, "d/c/old=xyz");                     /* the prefix of ustar */
	changed(257, "ustar  \0", 8, "old=xyz");                   /* GNU */
	changed(257, "\0\0\0\0\0\0\0\0", 8, "old=xyz");            /* V7 */
	changed(156, "\0", 1, "old=xyz");                          /* a file of V7 */
	changed(156, "7", 1, "old=xyz");                           /* contiguous */
	changed(124, "\x80\0\0\0\0\0\0\0\0\0\0\3", 12, "old=xyz"); /* 256-based */
	changed(124, "          3 ", 12, "old=xyz");
	changed(124, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, "!");
	changed(124, "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, "!");
	changed(124, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12, "!");
	changed(124, "0000000000x", 11, "!");
	changed(156, "5", 1, "!"); /* a folder with a body */
	changed(0, "c/\0\0\0", 5, "!");
}

static void test_archive__checksum_and_end_are_checked(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)state;
	chart_file(&tar);
	assert_ok(read_tar(&tar, &chart_limits_default, &err), &err); /* no zeros at the end */
	tar.buf[3] ^= 1;
	assert_refused(read_tar(&tar, &chart_limits_default, &err), &err, E_INVALID, "not tar");
	tar.buf[3] ^= 1;
	tar.len -= 480; /* within the padding */
	assert_refused(read_tar(&tar, &chart_limits_default, &err), &err, E_INVALID, "");
	tar.len -= 100; /* within the header */
	assert_refused(read_tar(&tar, &chart_limits_default, &err), &err, E_INVALID, "");
}

/* ---- charts ---- */

static int open_chart(const struct strbuf *tar, const struct chart_limits *l, struct strbuf *msg)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	struct chart *c;
	pack(tar, &packed);
	return chart_open(a, strbuf_str(&packed), l, TMPL_PROFILE_4_1, &c, msg);
}

static void test_archive__chart_yaml_is_needed(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	(void)state;
	file(&tar, "c/values.yaml", "a: 1\n");
	end(&tar);
	assert_int_equal(open_chart(&tar, &chart_limits_default, &msg), -E_INVALID);
	assert_string_equal(msg.buf, "Chart.yaml file is missing");
}

/* An archive that holds an archive that holds ... */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the caller says */
static void nest(struct strbuf *tar, int levels)
{
	CLEANUP(strbuf_release) struct strbuf inner = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	chart_file(tar);
	if (levels) {
		nest(&inner, levels - 1);
		pack(&inner, &packed);
		entry(tar, "c/charts/n.tgz", '0', "", strbuf_str(&packed), packed.len);
	}
	end(tar);
}

static void test_archive__nesting_is_bounded(void **state)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	(void)state;
	for (int levels = 7; levels <= 9; levels++) {
		CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
		nest(&tar, levels);
		strbuf_clear(&msg);
		int rc = open_chart(&tar, &chart_limits_default, &msg);
		assert_int_equal(rc, levels <= 8 ? 0 : -E_LIMIT);
	}
	assert_non_null(strstr(msg.buf, "nested more than 8 deep"));
}

static void test_archive__nested_archives_share_one_budget(void **state)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct chart_limits l = chart_limits_default;
	(void)state;
	nest(&tar, 3);
	l.entries = 6; /* 4 Chart.yaml and 3 archives */
	assert_int_equal(open_chart(&tar, &l, &msg), -E_LIMIT);
}

/* ---- writing ---- */

static void test_archive__writing_is_deterministic_and_reads_back(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf two = STRBUF_INIT(STRBUF_SMALL);
	struct archive_file items[] = {{"templates/b.yaml", STR("b\0b")},
				       {"Chart.yaml", STR("name: c\n")},
				       {"values.yaml", STR("")}};
	struct archive_file swapped[] = {items[2], items[0], items[1]};
	struct archive_files files = {items, 3, 3}, other = {swapped, 3, 3}, back;
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct error err = ERROR_INIT;
	(void)state;
	assert_ok(archive_write(&files, "c", &one, &err), &err);
	assert_ok(archive_write(&other, "c", &two, &err), &err);
	assert_true(str_eq(strbuf_str(&one), strbuf_str(&two)));
	assert_ok(archive_read(a, strbuf_str(&one), &budget, &back, &err), &err);
	assert_int_equal(back.n, 3);
	const struct archive_file *b = archive_find(&back, "templates/b.yaml");
	assert_non_null(b);
	assert_true(str_eq(b->data, STR("b\0b")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive__names_and_types),
		cmocka_unit_test(test_archive__twins_are_not_merged_and_modes_are_dropped),
		cmocka_unit_test(test_archive__long_name_is_refused),
		cmocka_unit_test(test_archive__gnu_long_name_is_read),
		cmocka_unit_test(test_archive__limits_name_themselves),
		cmocka_unit_test(test_archive__one_after_the_other_has_the_same_limits),
		cmocka_unit_test(test_archive__one_more_file_has_the_same_rules),
		cmocka_unit_test(test_archive__bomb_is_stopped_by_its_ratio),
		cmocka_unit_test(test_archive__claimed_size_is_not_believed),
		cmocka_unit_test(test_archive__stream_faults),
		cmocka_unit_test(test_archive__double_gzip_is_not_unwrapped),
		cmocka_unit_test(test_archive__tar_faults),
		cmocka_unit_test(test_archive__sparse_is_refused),
		cmocka_unit_test(test_archive__extended_headers),
		cmocka_unit_test(test_archive__header_forms),
		cmocka_unit_test(test_archive__checksum_and_end_are_checked),
		cmocka_unit_test(test_archive__chart_yaml_is_needed),
		cmocka_unit_test(test_archive__nesting_is_bounded),
		cmocka_unit_test(test_archive__nested_archives_share_one_budget),
		cmocka_unit_test(test_archive__writing_is_deterministic_and_reads_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
