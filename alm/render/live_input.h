/*
 * live_input: what a renderer needs besides its files: the layers of --config-from, and the live lists
 * and the queries of --source.database.file that a Jsonnet program imports (`alm-runtime/NAME/list`,
 * `alm-runtime/NAME`), one after the other, anew for each run.
 *
 * It reads as whoever the kubeconfig says, or as somebody else. A NAME is one of the trigger's resources, with its namespace
 * and selector, else what a user types for a kind ("secrets", "deployments.apps"): all of its objects.
 * Nothing that is missing, and nothing that may not be read, counts as empty: it is an error.
 */
#ifndef ALM_RENDER_LIVE_INPUT_H
#define ALM_RENDER_LIVE_INPUT_H

#include "alm/io/loop.h"
#include "alm/source/config_from.h"
#include "alm/source/databases.h"

struct client;
struct discovery;
struct keymap;
struct live_input;
struct live_input_read;
struct sandbox;

#define LIVE_INPUT_BYTES ((size_t)16 << 20) /* of all that one run reads */

struct live_input_wants {
	const struct config_sources *from; /* NULL: none */
	const char *const *lists;          /* "NAME/list" */
	const struct database_query *const *queries;
	size_t n_lists, n_queries;
	const char *ns; /* of objects that name none */
	const char *
		option; /* "--config-from": what the sources are called where a message names all else */
	const char *as; /* a user to impersonate; NULL: nobody */
};

struct live_input_found {
	struct config_layer *layers; /* one a source, in their order */
	size_t n;
	const struct obj *lists; /* {"NAME/list": [OBJECT], "QUERY": [ROW]} */
};

typedef void (*live_input_fn)(void *arg, const struct live_input_found *found,
			      const struct error *err);

/* Of what a program imports from alm-runtime (tree_read.h) the lists and the queries; of all else its
 * evaluation tells. */
void live_input_imports(struct live_input_wants *w, const char *const *names, size_t n,
			const struct database_queries *queries, struct arena *a);
/* Does it take a cluster? */
bool live_input_asks(const struct live_input_wants *w);
struct live_input *live_input_new(struct loop *loop, struct sandbox *sandbox); /* borrows both */
/* Before the first read that asks; map NULL: the trigger names no resources. Borrows both. */
void live_input_connect(struct live_input *l, struct client *client, const struct keymap *map);
/* The same, with a discovery of that client, which is borrowed. */
void live_input_lend(struct live_input *l, struct client *client, struct discovery *discovery);
bool live_input_is_connected(const struct live_input *l);
void live_input_free(struct live_input *l); /* nothing may be under way */
DEFINE_FREEP(live_input)
/* fn is called once, in a later turn; what it gets lives in the arena. Borrows w until then. */
struct live_input_read *live_input_start(struct live_input *l, const struct live_input_wants *w,
					 struct arena *a, live_input_fn fn, void *arg);
void live_input_cancel(struct live_input_read *r);

#endif
