/*
 * git_tree: what the program git prints of a commit: its tree, the bytes of its files, its history.
 * Pure. All of it was written by whoever may push: names, sizes and authors are hostile.
 *
 *	git ls-tree -r -z -l COMMIT:PATH     git_tree_ignore(), git_tree_read()
 *	git cat-file --batch                 git_tree_files(): in the order of the blobs, which were
 *	                                     its input, one a line
 *	git log --format=GIT_LOG_FORMAT      git_log_read()
 *
 * Which entries are taken, and what is refused by name, is said in files.h: nothing is checked out,
 * so a symbolic link or a submodule is an entry of the listing and no more.
 *
 * Errors: E_INVALID and E_LIMIT as of files.h; E_CORRUPT for what git does not print.
 */
#ifndef ALM_SOURCE_GIT_TREE_H
#define ALM_SOURCE_GIT_TREE_H

#include "alm/source/files.h"

#define GIT_LOG_FORMAT    "tformat:%H%x00%an%x00%cn%x00%s%x00"
#define GIT_COMMITS_MAX   1000 /* of one reading of the history */
#define GIT_TEXT_MAX      200  /* bytes of an author or a subject; the rest is cut */
#define GIT_LISTING_BYTES ((size_t)32 << 20)

struct git_blob {
	const char *path; /* below PATH */
	const char *oid;
	size_t size;
};

struct git_tree {
	struct git_blob *blobs; /* of what is taken, in byte order of the paths */
	size_t n, cap, bytes;
	struct flaws *flaws; /* of git_tree_read(); NULL: the first one ends it */
	struct obj *refused; /* as of files */
};

struct git_commit {
	const char *commit, *author, *committer, *subject;
};

/* 40 or 64 lower hexadecimal digits. */
bool git_is_oid(struct str s);
/* Of the file .almignore at the root of the listing. NULL: there is none. */
const char *git_tree_ignore(struct str listing, struct arena *a);
/* rules: the text of .almignore. ret is empty, but for its list of flaws and refused. */
int git_tree_read(struct str listing, struct str rules, struct arena *a, struct git_tree *ret,
		  struct error *err);
/* Adds them to the files, and sorts these. */
int git_tree_files(const struct git_tree *t, struct str batch, struct files *ret,
		   struct error *err);
/* Newest first. */
int git_log_read(struct str text, struct arena *a, struct git_commit **ret, size_t *ret_n,
		 struct error *err);

#endif
