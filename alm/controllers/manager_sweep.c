/* manager_sweep: whom a catalog's change concerns. Each app and strategy is read for that, so a turn
 * looks at a few, and the next one goes on behind them. */
#include "alm/controllers/manager_internal.h"
#include "alm/obj/meta.h"

#define LOOKS_A_TURN 8 /* of up to PACK_TEXT_MAX bytes each */

struct sweep {
	struct manager *m;
	struct task step;
	struct map *changed; /* packages of which the apps are looked at */
	bool apps;           /* first they, then the strategies */
	char *after;         /* the last one that was looked at; NULL: none yet */
};

static void run(void *arg);

struct sweep *manager_sweep_new(struct manager *m)
{
	struct sweep *s = xcalloc(1, sizeof(*s));
	s->m = m;
	s->step = (struct task){.fn = run, .arg = s};
	s->changed = map_new(NULL);
	return s;
}

void manager_sweep_free(struct sweep *s)
{
	if (!s)
		return;
	loop_unpost(s->m->c.loop, &s->step);
	map_free(s->changed);
	xfree(s->after);
	xfree(s);
}

/* Does the package, in the revision that came, ask for resources of others? Then their changes are
 * its changes. */
static bool has_requirements(const struct manager *m, const char *package)
{
	for (size_t i = 0; i < m->n_indexes; i++) {
		size_t n;
		struct package_version *const *all = index_package(m->indexes[i], package, &n);
		for (size_t k = 0; k < n; k++)
			if (all[k]->n_requires || all[k]->n_conflicts)
				return true;
	}
	return false;
}

/* Only apps whose package changed are resolved again. */
static void look_at_app(struct sweep *s, const struct informer_object *io)
{
	CLEANUP(obj_unrefp) struct obj *o = manager_read(io);
	const char *package = obj_str(o, "status.source.package");
	if (package && !map_has(s->changed, package) && !has_requirements(s->m, package))
		return;
	manager_enqueue(s->m, "apptype", io->name, "Catalog");
	manager_enqueue_strategies(s->m, io->name, "Catalog");
}

/* A strategy that is not installed yet may wait for an archive of any package. */
static void look_at_strategy(struct sweep *s, const struct informer_object *io)
{
	CLEANUP(obj_unrefp) struct obj *o = manager_read(io);
	const char *phase = obj_str(o, "status.phase");
	if (!cstr_eq(phase, "Succeeded") && !cstr_eq(phase, "Superseded"))
		manager_enqueue(s->m, "strategy", io->name, "Catalog");
}

/* The next one of the kind; it may be new, and the last one gone. */
static const struct informer_object *next_of(const struct sweep *s)
{
	unsigned kind = s->apps ? WATCH_APPTYPE : WATCH_STRATEGY;
	return informer_after(s->m->fixed[kind].informer, "", s->after ? s->after : "");
}

static void run(void *arg)
{
	struct sweep *s = arg;
	for (int i = 0; i < LOOKS_A_TURN; i++) {
		const struct informer_object *io = next_of(s);
		xfree(s->after);
		s->after = io ? xstrdup(io->name) : NULL;
		if (!io && !s->apps)
			return;
		if (!io) {
			s->apps = false;
			map_clear(s->changed);
		} else if (s->apps) {
			look_at_app(s, io);
		} else {
			look_at_strategy(s, io);
		}
	}
	loop_post(s->m->c.loop, &s->step);
}

void manager_sweep(struct sweep *s, const struct map *changed)
{
	for (const struct map_entry *e = changed ? map_first(changed) : NULL; e; e = map_next(e))
		map_set(s->changed, e->key, NULL);
	s->apps = s->apps || changed;
	if (changed || !s->apps)
		xfree(STEAL(s->after));
	loop_post(s->m->c.loop, &s->step);
}
