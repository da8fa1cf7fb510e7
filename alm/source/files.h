/*
 * files: a tree of files as they were read (a folder, a commit), and the flat map that they are
 * (fleet.md 3.2). Pure: who walks a tree asks files_take() about each entry and gives the bytes of
 * those that are taken to files_add().
 *
 * Manifests are the files whose name ends in .yaml, .yml or .json, bytewise by path; names that
 * begin with a dot are skipped, and so is what .almignore of the tree's root names (the syntax of
 * .helmignore). A symbolic link, a submodule, a device, a name that is not UTF-8 and a pointer of
 * Git LFS are refused by name: to leave out what somebody meant to deploy would delete it.
 *
 * Errors begin with the path, those of a parser have the line: E_INVALID, E_LIMIT. With a list of
 * flaws what is refused is put there, and what is read goes on behind it.
 */
#ifndef ALM_SOURCE_FILES_H
#define ALM_SOURCE_FILES_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/flaws.h"
#include "alm/base/str.h"
#include "alm/unit/flat.h"

#define FILES_MAX       20000
#define FILES_BYTES_MAX ((size_t)64 << 20)
#define FILE_BYTES_MAX  ((size_t)4 << 20)
#define FILES_DEPTH_MAX 32
#define FILES_IGNORE    ".almignore"

enum files_kind { FILES_FILE, FILES_DIR, FILES_LINK, FILES_SUBMODULE, FILES_OTHER };

struct files_entry {
	const char *path; /* from the root of the tree, "web/a.yaml" */
	struct str text;
};

struct files {
	struct arena *a; /* texts and paths live here */
	struct files_entry *items;
	size_t n, cap, bytes;
	struct flaws *flaws; /* NULL: the first one ends it */
};

/* Is the entry part of the tree? 1: read it, or what is below it; 0: it is skipped. rules is the
 * text of .almignore; path has no "." or "..". */
int files_take(struct str rules, const char *path, enum files_kind kind, struct error *err);
bool files_is_manifest(const char *path);

/* Copies both. */
int files_add(struct files *f, const char *path, struct str text, struct error *err);
/* In byte order of the paths, which files_flat() and files_get() want. */
void files_sort(struct files *f);
const struct files_entry *files_get(const struct files *f, const char *path); /* NULL: none */

/* Adds the manifests to *ret, whose list of flaws counts, and sorts it; objects without a namespace count as of ns. */
int files_flat(const struct files *f, const char *ns, struct flat *ret, struct error *err);

#endif
