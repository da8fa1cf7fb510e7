/*
 * anchors: --audit-anchor and --audit-retain of the commands that keep an audit log: what they may
 * name, and what is made of it (alm/audit/anchor.h, alm/audit/prune.h).
 */
#ifndef ALM_MAIN_ANCHORS_H
#define ALM_MAIN_ANCHORS_H

#include "alm/audit/anchor.h"
#include "alm/audit/prune.h"
#include "alm/cli/cli.h"
#include "alm/client/client.h"

#define ANCHOR_OPTION                                                                             \
	{"audit-anchor", "PLACE",                                                                 \
	 "what remembers how long the audit log is, so that a cut-off end or an older copy "      \
	 "shows: file:PATH (best on another volume), log (a line on standard output), "           \
	 "configmap (alm controller), witness:URL#VKEY (a C2SP witness); may be given again",     \
	 0},                                                                                      \
		{"audit-origin", "NAME",                                                          \
		 "name of a new audit log (default alm.local/ and 16 random digits)", 0},         \
		{"audit-retain", "DURATION",                                                      \
		 "entries of the audit log that are older go into an archive beside it, once an " \
		 "anchor knows of it (400d; under 365d needs --force; default: for ever)",        \
		 0},                                                                              \
		{"force", NULL, "take an --audit-retain under 365d", 0},                          \
		{"audit-policy", "FILE",                                                          \
		 "refused: writes of Leases and Events have no entries, all others have them", 0}

struct anchor_setup {
	const char *specs[ANCHORS_MAX];
	size_t n;
	const char *files[ANCHORS_MAX + 1]; /* paths of those that are files, NULL-ended */
	const char *dir;                    /* of the log */
	int64_t retain_ns;                  /* 0: for ever */
};

/* fallback: what is used where the flag is absent. E_USAGE. Strings are of the command's arena. */
int anchor_setup_parse(struct cli *c, const char *dir, const char *fallback, bool is_embedded,
		       struct anchor_setup *ret, struct error *err);
/* What parse() cannot see by the text alone, before the folder is made: nobody is asked and nothing
 * is written. E_USAGE, E_INVALID. */
int anchor_setup_check(const struct anchor_setup *s, struct loop *l, struct error *err);
/* Of a server in dir: a file beside the log, unless the flag names something better. */
int anchor_setup_embedded(struct cli *c, const char *dir, struct anchor_setup *ret,
			  struct error *err);
/* client: of the target cluster, for configmap. */
int anchor_setup_start(const struct anchor_setup *s, struct audit *a, struct db *d, struct loop *l,
		       struct client *client, struct anchors **ret, struct error *err);
/* --audit-retain, after the anchors; NULL without it. */
struct pruner *anchor_setup_prune(const struct anchor_setup *s, struct audit *a, struct db *d,
				  struct loop *l, struct anchors *anchors);

#endif
