/* manager_internal: shared by manager.c (life), manager_watch.c (informers), manager_queue.c
 * (queues), manager_view.c (what passes see), manager_failing.c (reconciles that fail),
 * manager_catalogs.c (indexes and their folders), manager_fetch.c (archives) and manager_sweep.c
 * (whom a change of them concerns). */
#ifndef ALM_CONTROLLERS_MANAGER_INTERNAL_H
#define ALM_CONTROLLERS_MANAGER_INTERNAL_H

#include <sys/queue.h>

#include "alm/base/map.h"
#include "alm/client/informer.h"
#include "alm/client/queue.h"
#include "alm/client/trees.h"
#include "alm/controllers/app/claims.h"
#include "alm/controllers/manager.h"
#include "alm/controllers/unit/plan_cache.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/engine/settle.h"

#define CONTROLLERS_MAX 9

struct sweep; /* manager_sweep.c */

struct worker {
	struct manager *m;
	const struct controller *c;
	struct queue *queue;
};

/* One informer with what it stands for. */
struct source_watch {
	struct manager *m;
	unsigned kind;
	struct informer *informer;
	uint64_t n_changes; /* seen so far */
};

/* One Catalog: its last good revision and what is being read of it. */
struct catalog_slot {
	struct catalog_index *index;
	struct dir_watch *watch;
	struct manager *m;
	char *name, *dir;
	struct timer settle;
	int64_t noticed_ns; /* first of the notices that are being merged; 0: none */
	struct source_cache *cache;
	struct map *learned; /* archive digest -> what its CRDs serve, of versions only an index
				told of */
	struct sync_validators validators; /* of the last good revision */
	char *source;                      /* what it was read from: another one starts over */
	struct strbuf pending;             /* lines of the index that is about to be swapped in */
	struct sync_validators pending_validators;
	struct catalog_work *work; /* the sync that runs; NULL: none */
};

struct bundles; /* manager_bundles.c */
struct deadlines;
struct catalog_work; /* catalog_work.h: one sync or one fetch */
TAILQ_HEAD(catalog_works, catalog_work);

struct manager {
	struct manager_config c;
	struct discovery *discovery;
	struct executor *executor;
	struct stash *stash;
	struct source_watch fixed[WATCH_OWNED]; /* by enum watched */
	struct map *owned;                      /* "group/plural" -> struct source_watch */
	struct map *instances;                  /* "group/plural" -> struct source_watch */
	struct worker workers[CONTROLLERS_MAX];
	size_t n_workers;
	struct trees *trees, *live; /* manager_trees() */
	struct claims *claims;
	struct work_host work_host;
	struct plan_cache *plans;
	struct map *app_of;        /* strategy -> app it names */
	struct map *strategies_of; /* app -> map of names */
	struct map *crds;          /* name -> struct crd_brief */
	struct timer learnt, trim;
	int64_t resolving_ns; /* since when the search runs */
	struct map *waiting; /* "controller/key" of those without room to render, the first first */
	size_t n_woken;      /* of them, in their queues */
	struct map *failing; /* "controller/key" -> struct failing */
	struct deadlines *deadlines;
	struct map *catalogs; /* name -> struct catalog_slot */
	struct catalog_works works;
	const struct catalog_index **indexes;
	size_t n_indexes;
	struct sweep *sweep;
	struct bundles *bundles; /* NULL: not served */
	char *kube_version;
	struct client_call *version_call;
	struct timer retry;
	struct settle *settle;
	bool started, ready;
	struct map *unread; /* Catalogs not tried since the start; NULL: nobody waits for them */
	struct timer unread_over;
};

/* Where those of a kind are kept decoded: what an app has would push out what every
 * reconcile asks for. */
struct trees *manager_trees(const struct manager *m, unsigned kind);
/* Owned, and shared with others: not to be changed. NULL stays NULL. */
struct obj *manager_tree(const struct manager *m, unsigned kind, const struct informer_object *io);
/* The same, owned alone. */
struct obj *manager_read(const struct informer_object *io);
/* As view_ops.said. */
struct obj *manager_said(struct manager *m, const char *uid);
/* A definition without its schemas and managedFields; owned, NULL if there is none. */
struct obj *manager_crd(struct manager *m, const char *name);
struct map *manager_crds_new(void);
void manager_strategies_init(struct manager *m);
/* The object as the cache now has it, or, with gone, as it was last. */
void manager_strategies_update(struct manager *m, const struct obj *o, bool gone);
/* Those that name the app, in order of name, until fn returns false. */
void manager_strategies_each(struct manager *m, const char *app,
			     bool (*fn)(void *arg, const struct informer_object *io), void *arg);
/* "group/plural", the key of the on-demand informers. */
void manager_type_key(char out[512], const char *group, const char *plural);
void manager_view(struct manager *m, struct arena *a, void **pass, struct view *v);
/* trigger: the word of audit.md 2, constant. */
void manager_enqueue(struct manager *m, const char *controller, const char *key,
		     const char *trigger);
void manager_enqueue_strategies(struct manager *m, const char *app, const char *trigger);
void manager_enqueue_all(struct manager *m);
void manager_enqueue_units(struct manager *m);
/* The keys that a changed object concerns. */
void manager_apply_rules(struct manager *m, unsigned kind, const struct obj *o);
/* From here on controllers that read catalogs wait for the Catalogs there are. */
void manager_await_catalogs(struct manager *m);
void manager_queue_ready(void *arg); /* a worker's queue has keys */
void manager_enqueue_kind(struct manager *m, const char *controller, unsigned kind,
			  const char *trigger);

/* That an object of this kind changed. */
const char *manager_trigger_of(unsigned kind, const struct obj *o);

/* --- manager_watch.c --- */
void manager_learnt(void *arg); /* of the timer, once for what comes together */
void manager_open_watch(struct manager *m, struct source_watch *w, const struct resource *r,
			const char *selector, bool metadata_only);
void manager_watch_free(void *p);
/* When all that is watched from the start is read; nothing before that. */
void manager_start_working(struct manager *m);
struct executor_host manager_host(struct manager *m);

/* retry: the key comes back after a pause. */
typedef void (*manager_told)(struct manager *m, const char *controller, const char *key,
			     bool retry);
/* How a pass ended is counted. WAITING: its object is told of it first, in a run of its own, after
 * which done is called; until then the key is in work. *ret_again_ns is set where that it works
 * shall be seen once more, after that time. */
enum ensured manager_failing_pass(struct manager *m, const char *controller, const char *key,
				  bool changed, const struct error *err, manager_told done,
				  int64_t *ret_again_ns);
struct map *manager_failing_new(struct metrics *m);
void manager_failing_free(struct manager *m);

/* Enqueues, in the next turns, the apps of the packages that changed (NULL: none are looked at) and
 * the strategies that may wait for an archive. What changes meanwhile begins it again. */
struct sweep *manager_sweep_new(struct manager *m);
void manager_sweep_free(struct sweep *s);
void manager_sweep(struct sweep *s, const struct map *changed);

struct map *manager_catalogs_new(void);
void manager_catalogs_stop(struct manager *m); /* cancels what is under way */
void manager_sync(void *arg, const char *name, const struct obj *catalog, synced_fn done,
		  void *done_arg);
void manager_fetch(void *arg, const char *digest, fetched_fn done, void *done_arg);
/* What archives told of versions that the index alone speaks for, once more for a new index. */
void manager_learn_again(const struct catalog_slot *s, struct catalog_index *x);
void manager_swap_index(void *arg, const char *catalog, struct catalog_index *index);
const struct catalog_index *manager_index(void *arg, const char *catalog);

/* open: makes the manager of the units and starts it. */
struct bundles *manager_bundles_new(struct manager *m,
				    struct manager *(*open)(const struct manager_config *c));
void manager_bundles_free(struct bundles *b); /* after its units: manager_bundles.h */
void manager_forget_bundle(struct manager *m, const char *name);
/* What it says of what runs, it says to it (manager_bundle_steer.c). */
void manager_steer_bundle(struct manager *m, const struct obj *bundle);
void manager_read_bundle(void *arg, const struct obj *bundle, bundle_read_fn done, void *done_arg);
int manager_roll_bundle(void *arg, const struct obj *bundle, bool is_there, struct error *err);

#endif
