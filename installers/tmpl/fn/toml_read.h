/*
 * toml_read: the characters of a TOML text and what is said of the one at hand, for toml_decode.c (keys and
 * tables), toml_string.c (texts) and toml_scalar.c (numbers, dates).
 *
 * The text ends where its first character stands that no TOML file may hold; `bad` says so then,
 * and whoever runs into the end fails with it instead of with his own words.
 */
#ifndef INSTALLERS_TMPL_FN_TOML_READ_H
#define INSTALLERS_TMPL_FN_TOML_READ_H

#include "alm/base/map.h"
#include "installers/tmpl/fn/toml_go.h"

/* A table that is being filled. */
struct toml_table {
	const struct toml_table *up; /* NULL: in the root */
	struct str path;             /* a."b c", for messages and as its name in reader.keys */
	struct vmap *map;            /* NULL: the key holds something else */
};

struct toml_reader {
	struct arena *a;
	struct str s;
	size_t at;
	int line, key_line, depth; /* key_line: of the last key that began */
	const char *bad;           /* NULL: the text is read to its end */
	struct vmap *root;
	const struct toml_table *table; /* NULL: the root */
	struct str key;                 /* whose value is read; empty: none */
	bool in_header;
	struct map *keys; /* path -> enum toml_key_flags */
	struct strbuf *msg;
};

char toml_peek(const struct toml_reader *r); /* 0 at the end */
bool toml_at_end(const struct toml_reader *r);
bool toml_take(struct toml_reader *r, const char *text);
void toml_skip_blanks(struct toml_reader *r);
void toml_skip_comment(struct toml_reader *r);
void toml_skip_lines(struct toml_reader *r); /* blanks, comments and line feeds */
/* Cuts the text before the first character that may not be in a file. */
void toml_find_bad(struct toml_reader *r);
/* The character at hand as it is; "end of file". */
const char *toml_plain_char(struct toml_reader *r);
/* up.name or up."na me"; the name as it is if raw. */
struct str toml_path(struct toml_reader *r, const struct toml_table *up, struct str name, bool raw);
/* As Go's %q writes it. */
const char *toml_quoted(struct toml_reader *r, struct str s);
/* The character at hand as Go's %q writes it; '\x00' at the end. */
const char *toml_quoted_char(struct toml_reader *r);

/* A lexical error here, or the bad character that stands here. -E_INVALID. */
int toml_fail(struct toml_reader *r, const char *text);
/* The same around the character at hand, which is read then: a line feed counts. */
int toml_fail_char(struct toml_reader *r, const char *before, const char *after);
/* The same, told of the line before. */
int toml_fail_before(struct toml_reader *r, const char *text);
/* An error of what was read, in the given line. */
int toml_fail_in(struct toml_reader *r, int line, const char *text);

/* toml_string.c: at a quote. is_key: no text of several lines. */
int toml_read_string(struct toml_reader *r, bool is_key, struct str *ret);
/* toml_scalar.c: a number, date, time or boolean. */
int toml_read_scalar(struct toml_reader *r, struct value *ret);

#endif
