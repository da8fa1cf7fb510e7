/*
 * run_live: what a renderer needs besides its files: the layers of --config-from, and the live lists
 * and the queries of --source.database.file that a Jsonnet program imports (`alm-runtime/NAME/list`,
 * `alm-runtime/NAME`), one after the other, anew for each run.
 *
 * It reads as whoever the kubeconfig says. A NAME is one of the trigger's resources, with its namespace
 * and selector, else what a user types for a kind ("secrets", "deployments.apps"): all of its objects.
 * Nothing that is missing, and nothing that may not be read, counts as empty: it is an error.
 */
#ifndef ALM_CLI_RUN_RUN_LIVE_H
#define ALM_CLI_RUN_RUN_LIVE_H

#include "alm/io/loop.h"
#include "alm/source/config_from.h"
#include "alm/source/databases.h"

struct client;
struct keymap;
struct run_live;
struct run_live_read;
struct sandbox;

#define RUN_LIVE_BYTES ((size_t)16 << 20) /* of all that one run reads */

struct run_live_wants {
	const struct config_sources *from; /* NULL: none */
	const char *const *lists;          /* "NAME/list" */
	const struct database_query *const *queries;
	size_t n_lists, n_queries;
	const char *ns; /* of objects that name none */
};

struct run_live_found {
	struct config_layer *layers; /* one a source, in their order */
	size_t n;
	const struct obj *lists; /* {"NAME/list": [OBJECT], "QUERY": [ROW]} */
};

typedef void (*run_live_fn)(void *arg, const struct run_live_found *found, const struct error *err);

/* Of what a program imports from alm-runtime (tree_read.h) the lists and the queries; of all else its
 * evaluation tells. */
void run_live_imports(struct run_live_wants *w, const char *const *names, size_t n,
		      const struct database_queries *queries, struct arena *a);
/* Does it take a cluster? */
bool run_live_asks(const struct run_live_wants *w);
struct run_live *run_live_new(struct loop *loop, struct sandbox *sandbox); /* borrows both */
/* Before the first read that asks; map NULL: the trigger names no resources. Borrows both. */
void run_live_connect(struct run_live *l, struct client *client, const struct keymap *map);
bool run_live_is_connected(const struct run_live *l);
void run_live_free(struct run_live *l); /* nothing may be under way */
DEFINE_FREEP(run_live)
/* fn is called once, in a later turn; what it gets lives in the arena. Borrows w until then. */
struct run_live_read *run_live_start(struct run_live *l, const struct run_live_wants *w,
				     struct arena *a, run_live_fn fn, void *arg);
void run_live_cancel(struct run_live_read *r);

#endif
