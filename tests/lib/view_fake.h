/*
 * view_fake: a view made of plain tables, so that a step of a controller runs without a server:
 *
 *	struct view_fake f;
 *	view_fake_init(&f);
 *	view_fake_put(&f, WATCH_APPTYPE, "{\"kind\": \"AppType\", ...}");
 *	view_fake_live(&f, "{\"kind\": \"Job\", ...}");
 *	step(&f.view, "key", view_fake_plan(&f), &err);
 *	view_fake_action(&f, ACT_CREATE, "Job", "migrate");
 *	view_fake_release(&f);
 *
 * Kinds of the table in view_fake.c are served; of these every object is known: absent or there.
 */
#ifndef TESTS_LIB_VIEW_FAKE_H
#define TESTS_LIB_VIEW_FAKE_H

#include "alm/base/map.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/plan.h"
#include "alm/engine/view.h"

#define VIEW_FAKE_ACCOUNT "system:serviceaccount:alm-system:app-etcd" /* plans are made for it */

struct view_fake {
	struct view view;
	struct shared shared; /* view has a pointer to it */
	struct view_settings settings;
	struct plan plan;
	struct arena *a;
	struct stash *stash;
	struct map *watched[WATCHED_MAX]; /* name -> JSON */
	struct map *live;                 /* "kind/ns/name" -> JSON */
	void *pass;
	unsigned long long writes; /* performed */
	bool blind;                /* no informer knows anything */
	bool settled;              /* no write of a process before this one can come any more */
};

void view_fake_init(struct view_fake *f);
void view_fake_release(struct view_fake *f);
struct obj *view_fake_obj(struct view_fake *f, const char *json); /* in the arena */
void view_fake_put(struct view_fake *f, unsigned kind, const char *json);
void view_fake_live(struct view_fake *f, const char *json);
void view_fake_live_obj(struct view_fake *f, const struct obj *object);
void view_fake_gone(struct view_fake *f, const char *kind, const char *ns, const char *name);
void view_fake_outcome(struct view_fake *f, const char *id, const char *json);
/* An empty plan for the next pass. */
struct plan *view_fake_plan(struct view_fake *f);
/* kind and name NULL: any. NULL: there is none. */
struct action *view_fake_action(struct view_fake *f, enum act_type type, const char *kind,
				const char *name);
/* The first work of a kind, NULL: there is none; and how many. */
struct action *view_fake_work(struct view_fake *f, const struct work_kind *kind);
size_t view_fake_works(struct view_fake *f, const struct work_kind *kind);
size_t view_fake_count(struct view_fake *f, enum act_type type);
/* The outcomes of the plan's surveys: what of their rows is live. */
void view_fake_survey(struct view_fake *f);
/* Does to the tables what the plan's creates, applies, patches and deletes do on a server. */
void view_fake_perform(struct view_fake *f);

#endif
