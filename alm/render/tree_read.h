/*
 * tree_read: the files that a renderer gets, from disk: a folder of manifests, or a Jsonnet program
 * and all that it can import (files.h, imports.h have the rules and limits). Who calls it names the
 * folders with rights of his own; what is in them was written by others: no link is followed, and
 * nothing outside of the folders is read.
 */
#ifndef ALM_RENDER_TREE_READ_H
#define ALM_RENDER_TREE_READ_H

#include "alm/source/files.h"
#include "alm/source/imports.h"

/* Sorted: manifests, or all files and what is refused of one (files.refused); E_NOTFOUND if there is no such folder. */
int tree_read_dir(const char *dir, struct files *ret, struct error *err);

struct tree_program {
	const char *entrypoint; /* normal: the key of it in the files */
	struct import_roots roots;
	const char *
		*live; /* what it may import from alm-runtime besides config, cluster and values,
			    * each once: "NAME/list", "NAME" */
	size_t n_live, live_cap;
};

/* The program in f->a. Its tree is the working folder, or that of the file itself if it lies
 * elsewhere (an absolute path, or one that begins with ".."). Imports that nothing is found for are
 * left to the evaluation, which tells of them with its stack. */
int tree_read_program(const char *entrypoint, const char *const *jpath, size_t n_jpath,
		      struct files *ret, struct tree_program *ret_program, struct error *err);

#endif
