/*
 * run_render: the renderers of `alm run`: files of a folder, a Jsonnet program in the sandbox, or a
 * plugin renderer-NAME, with a configuration. Out comes a flat map with its rollout.
 */
#ifndef ALM_CLI_RUN_RUN_RENDER_H
#define ALM_CLI_RUN_RUN_RENDER_H

#include "alm/cli/cli.h"
#include "alm/io/loop.h"
#include "alm/unit/flat.h"
#include "alm/unit/rollout.h"

struct client;
struct databases;
struct keymap;
struct plugins;
struct sandbox;
struct run_renderer;

struct run_rendered {
	struct flat flat;
	const struct rollout *rollout;    /* NULL: none */
	const struct obj *rollout_object; /* it, as it was written; NULL: none */
};

typedef void (*run_rendered_fn)(void *arg, const struct run_rendered *r, const struct error *err);

/* Reads the options; the sandbox, where one is needed, is made now, so before anything secret is in
 * this process. E_USAGE for a renderer that there is none of. */
int run_renderer_new(const struct cli *c, struct loop *l, struct plugins *plugins,
		     const struct databases *databases, struct run_renderer **ret,
		     struct error *err);
/* Where what is live is read, and only if something is (live_input.h); map: of the trigger, NULL: none.
 * client() is called at most once, not in a callback of the loop before the first run. */
struct run_cluster {
	int (*client)(void *arg, struct client **ret, struct error *err);
	void *arg;
	const struct keymap *map;
};
void run_renderer_connect(struct run_renderer *r, const struct run_cluster *c);
/* Its jobs are those of renderers, and SQL_JOB. */
struct sandbox *run_renderer_sandbox(const struct run_renderer *r);
void run_renderer_free(struct run_renderer *r); /* what is under way is never told */
DEFINE_FREEP(run_renderer)

/* config: what the trigger gave, NULL: nothing; --config-file wins over it. fn is called once, now
 * or in a later turn; what it gets lives in the arena. Objects without a namespace are of ns. */
void run_renderer_start(struct run_renderer *r, const struct obj *config, const char *ns,
			struct arena *a, run_rendered_fn fn, void *arg);

#endif
