/*
 * bundle_revision: the files of a folder as a revision of git has them: what is pushed, and not what
 * lies on this disk. Read by the program git with the user's own configuration, but without network,
 * hooks and monitors; nothing is checked out and nothing is written.
 */
#ifndef ALM_CLI_BUNDLE_BUNDLE_REVISION_H
#define ALM_CLI_BUNDLE_BUNDLE_REVISION_H

#include "alm/source/files.h"

struct bundle_revision {
	const char *commit;   /* NULL: the folder is in no repository of git; nothing was read */
	const char *why;      /* NULL, or what else than that it is: there is no git */
	const char *unjudged; /* "a.yaml, b.yaml and 3 more": on disk otherwise; NULL: none */
};

/* dir: a folder of a clone, or a bare repository; path below it, "" is dir itself. rev NULL: HEAD,
 * and then what the work tree has besides is looked for. Adds the manifests to files, whose list of
 * flaws counts; all lives in their arena. E_NOTFOUND: no such folder, or revision. */
int bundle_revision_read(const char *dir, const char *path, const char *rev, struct files *files,
			 struct bundle_revision *ret, struct error *err);

#endif
