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
 *
 * A program may import any file, and does not import all: for it every file is taken, and what is refused
 * of one is kept beside them (refused), to be told if it is imported.
 */
#ifndef ALM_SOURCE_FILES_H
#define ALM_SOURCE_FILES_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/flaws.h"
#include "alm/base/hash.h"
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
	struct obj *refused; /* of a program: {PATH: why}; NULL: manifests alone */
	char tree
		[SHA256_HEX]; /* equal: so are all names, modes and bytes of the tree; "": nobody says */
};

/* Is the entry part of the tree? 1: read it, or what is below it; 0: it is skipped. rules is the
 * text of .almignore; path has no "." or "..". */
int files_take(struct str rules, const char *path, enum files_kind kind, struct error *err);
bool files_is_manifest(const char *path);
/* What is wrong with that entry, as files_take() or files_check_size() said it: into refused, of a program
 * (else NULL), or flaws_take(). */
int files_refuse(struct obj *refused, struct flaws *flaws, const char *path, struct error *err);
int files_check_size(const char *path, uint64_t bytes, struct error *err); /* E_LIMIT */
/* Of Git LFS, and not the file itself: E_INVALID. */
int files_check_pointer(const char *path, struct str text, struct error *err);

/* Copies both. */
int files_add(struct files *f, const char *path, struct str text, struct error *err);
/* In byte order of the paths, which files_flat() and files_get() want. */
void files_sort(struct files *f);
const struct files_entry *files_get(const struct files *f, const char *path); /* NULL: none */

/* Adds the manifests to *ret, whose list of flaws counts, and sorts it; objects without a namespace count as of ns.
 * An instance whose folder is a chart is E_INVALID. */
int files_flat(const struct files *f, const char *ns, struct flat *ret, struct error *err);

#endif
