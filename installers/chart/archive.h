/*
 * archive: chart archives (.tgz) to files in memory and back. Nothing is ever unpacked to disk.
 *
 * Everything that is accepted, refused and limited is in charts.md section 2: one gzip
 * stream, ustar, GNU or pax tar, regular files and directories only, names that stay inside, no
 * path twice. The first path component is dropped. Files are in the arena, in entry order.
 */
#ifndef INSTALLERS_CHART_ARCHIVE_H
#define INSTALLERS_CHART_ARCHIVE_H

#include <stddef.h>

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"

struct chart_limits {
	size_t packed_bytes, unpacked_bytes, file_bytes;
	size_t entries, ratio;
	unsigned depth; /* archives inside archives */
	size_t path_bytes, path_components;
};
extern const struct chart_limits chart_limits_default;

/* What all archives of one chart, nested ones included, have used. */
struct archive_budget {
	const struct chart_limits *limits;
	size_t unpacked, entries;
	unsigned depth;
};
#define ARCHIVE_BUDGET_INIT(l) {.limits = (l)}

struct archive_file {
	const char *path; /* inside the chart, cleaned: "templates/a.yaml" */
	struct str data;  /* without a leading UTF-8 byte order mark; NUL-terminated */
};

struct archive_files {
	struct archive_file *items;
	size_t n, cap; /* arena: grown by copying */
};

/* E_INVALID names the entry, E_LIMIT the limit. */
int archive_read(struct arena *a, struct str packed, struct archive_budget *budget,
		 struct archive_files *ret, struct error *err);
/* The same, one file after the other: data is borrowed until fn returns, so an archive of many
 * archives takes the room of one. A path that is there twice is an error at the end. */
typedef int (*archive_file_fn)(void *arg, const char *path, struct str data, struct error *err);
int archive_each(struct str packed, struct archive_budget *budget, archive_file_fn fn, void *arg,
		 struct error *err);
/* One more file for a chart that is read from a folder: checks the name, draws on the budget. */
int archive_files_add(struct arena *a, struct archive_files *files, const char *path,
		      struct str data, struct archive_budget *budget, struct error *err);
/* NULL if there is none. */
const struct archive_file *archive_find(const struct archive_files *files, const char *path);

/* Files sorted by path below folder NAME, no owner, no time: same input, same bytes. */
int archive_write(const struct archive_files *files, const char *name, struct strbuf *b,
		  struct error *err);

#endif
