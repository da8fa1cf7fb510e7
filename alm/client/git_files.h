/*
 * git_files: the manifests of a folder of a commit, or all files of it, as the program git has them: their bytes are
 * those of the commit, no filter (LFS, end of lines) has touched them, and nothing is checked out.
 * What is taken and what is refused is said in files.h.
 */
#ifndef ALM_CLIENT_GIT_FILES_H
#define ALM_CLIENT_GIT_FILES_H

#include "alm/client/git_run.h"
#include "alm/source/files.h"

struct git_files;
typedef void (*git_files_fn)(void *arg, const struct error *err);

/* Adds them to ret, whose list of flaws and refused count, and sorts it; all is borrowed until the end, which
 * is told once, in a later turn, unless it was cancelled. SourceEmpty: the commit has no such
 * folder. path "": all of the commit. */
struct git_files *git_files_start(const struct git_place *p, const char *commit, const char *path,
				  struct files *ret, git_files_fn done, void *arg);
void git_files_cancel(struct git_files *g);

#endif
