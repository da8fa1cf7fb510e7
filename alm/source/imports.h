/*
 * imports: what a Jsonnet file imports, and where that is looked for (fleet.md 3.5). Pure.
 *
 * The file in an import is always a literal, so all files that a program can read are known before
 * it runs: they are read outside of the sandbox, as far as its rules allow, and given to it. What
 * is found this way may be more than is evaluated, never less. The scanner knows strings, text
 * blocks and comments of Jsonnet and nothing else of it.
 *
 * A path is relative to the folder of the file that imports; else it is looked for in the library
 * folders, the last one first, as `jsonnet -J` does.
 */
#ifndef ALM_SOURCE_IMPORTS_H
#define ALM_SOURCE_IMPORTS_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/str.h"

#define IMPORTS_MAX      2000
#define IMPORT_PATH_MAX  1024
#define IMPORT_JPATH_MAX 32

enum import_kind { IMPORT_CODE, IMPORT_STR, IMPORT_BIN };

struct import_ref {
	const char *path; /* as written, escapes resolved */
	enum import_kind kind;
	int line;
};

struct import_refs {
	struct import_ref *items;
	size_t n, cap;
};

/* What text imports. What is malformed ends the list: the evaluation tells. E_LIMIT for more than
 * IMPORTS_MAX, E_INVALID for a path that is too long or has a NUL. */
int imports_scan(struct arena *a, struct str text, struct import_refs *ret, struct error *err);

/* "" if it is none of ours. What generic-operator/config, locutus-runtime/x and alm-runtime/x mean:
 * "config", "x". */
const char *import_runtime(const char *path);

/* Where program and libraries are. */
struct import_roots {
	const char *tree;         /* folder of the program, "" for the working one */
	const char *const *jpath; /* folders, beside the tree or in it */
	size_t n_jpath;
};

/* Without "." and "..": "web/../a//b" is "a/b", "../a" stays. */
char *import_normal(struct arena *a, const char *path);
/* Is a normal path in one of the roots? Gives the root; NULL: it is in none. */
const char *import_root(const struct import_roots *r, struct arena *a, const char *path);
/* The i-th place to look at for path as imported from folder base ("" or ending in /); normal.
 * NULL: there are no more. */
char *import_place(const struct import_roots *r, struct arena *a, const char *base,
		   const char *path, size_t i);
/* The folder of a file, "" or ending in /. */
char *import_base(struct arena *a, const char *file);

#endif
