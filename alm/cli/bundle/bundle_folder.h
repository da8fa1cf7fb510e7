/*
 * bundle_folder: what a Bundle would make of a folder, without a cluster: the same reading, sandbox,
 * flat map and rules as the controller's (bundle_make.h), and all that is wrong, and not only the
 * first thing. Of a clone it is a revision that is read, HEAD: what is pushed.
 */
#ifndef ALM_CLI_BUNDLE_BUNDLE_FOLDER_H
#define ALM_CLI_BUNDLE_BUNDLE_FOLDER_H

#include "alm/cli/bundle/bundle_revision.h"
#include "alm/cli/cli.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/unit/unit_make.h"

struct bundle_folder {
	const char *bundle;      /* its name; NULL: none was given */
	struct bundle_spec spec; /* what it says */
	const char *dir;         /* that was read: -f, and below it spec.source.git.path */
	struct bundle_revision revision;
	struct flat flat;      /* of what is right */
	struct unit *unit;     /* of it, as cli's; NULL while there are flaws */
	struct flaws flaws;    /* in the words of the controller */
	struct flaws warnings; /* what only a cluster knows */
};

#define BUNDLE_FOLDER_OPTIONS                                                                   \
	{"filename", "DIR", "the folder: a clone of the repository", 'f'},                      \
		{"rev", "REV", "the revision of git that is judged (HEAD)", 0},                 \
		{"worktree", NULL, "judge the files on disk, and no revision", 0},              \
		{"bundle", "FILE", "the Bundle that it is for: its path, namespaces and rules", \
		 0},                                                                            \
		{"config-file", "FILE",                                                         \
		 "what spec.config.from would bring, which no cluster is asked for", 0}

/* Of these options. Everything lives in c->arena. Each flaw begins with the place; what is only wrong
 * on a cluster (a kind that it does not serve) is not found. Fails where nothing could be read, and
 * at a limit; flaws that were found until then are in ret. */
int bundle_folder_read(const struct cli *c, struct bundle_folder *ret, struct error *err);

#endif
