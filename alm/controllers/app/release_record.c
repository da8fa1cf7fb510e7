#include "alm/controllers/app/release_record.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "installers/release.h"

static const struct resource secrets = {
	.group = "", .version = "v1", .plural = "secrets", .kind = "Secret", .namespaced = true};

/* 1, 0, -1 as view_live; asks for the informer. */
static int record_at(const struct view *v, struct plan *plan, const struct obj *doc,
		     int64_t revision, const struct obj **ret)
{
	int found = view_live(v, &secrets, obj_str(doc, "namespace"),
			      release_secret_name(v->a, obj_str(doc, "release"), revision), ret);
	if (found < 0)
		plan_watch(plan, &secrets, LABEL_APP, false);
	return found;
}

static const char *describe(const struct release_record *r)
{
	const char *release = obj_str(r->doc, "release");
	bool upgrade = obj_flag(r->doc, "isUpgrade", false);
	if (r->description)
		return r->description;
	if (!strcmp(r->status, "deployed"))
		return upgrade ? "Upgrade complete" : "Install complete";
	if (!strcmp(r->status, "failed"))
		return upgrade ? arena_fmt(r->v->a, "Upgrade \"%s\" failed", release)
			       : arena_fmt(r->v->a, "Release \"%s\" failed", release);
	if (!strcmp(r->status, "uninstalling"))
		return "Deletion in progress (or silently failed)";
	return upgrade ? "Preparing upgrade" : "Initial install underway";
}

static const char *own_time(const struct obj *run, const char *key)
{
	const char *t = obj_str(run, key);
	return t ? t : "";
}

/* The hooks of the plan in Helm's form, each with how it ended last. */
static struct obj *hooks_of(const struct release_record *r)
{
	const struct obj *hooks = obj_get(r->doc, "hooks");
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(hooks); i++) {
		const struct obj *h = obj_at(hooks, i), *o = obj_get(h, "object");
		if (!obj_has(h, "record"))
			continue;
		struct obj *row = obj_copy(obj_get(h, "record"));
		for (size_t k = 0; k < obj_len(r->runs); k++) {
			const struct obj *run = obj_at(r->runs, k);
			if (!cstr_eq(obj_str(run, "kind"), meta_kind(o)) ||
			    !cstr_eq(obj_str(run, "name"), meta_name(o)))
				continue;
			struct obj *last = obj_map();
			obj_set_str(last, "started_at", own_time(run, "startedAt"));
			obj_set_str(last, "completed_at", own_time(run, "completedAt"));
			obj_set_str(last, "phase", own_time(run, "phase"));
			obj_set(row, "last_run", last);
		}
		obj_append(list, row);
	}
	return list;
}

/* When the release first came to be, as its newest earlier record tells. */
static int64_t first_deployed(const struct release_record *r)
{
	struct error ignored;
	for (int64_t n = r->revision - 1; n > 0 && n >= r->revision - RELEASE_HISTORY; n--) {
		const struct obj *live = NULL;
		struct release old;
		if (record_at(r->v, r->plan, r->doc, n, &live) == 1 &&
		    release_from_secret(live, r->v->a, &old, &ignored) == 0 &&
		    old.first_deployed_ns)
			return old.first_deployed_ns;
	}
	return r->v->now_ns;
}

static struct release record_of(const struct release_record *r)
{
	const struct obj *chart = obj_get(r->doc, "chart");
	return (struct release){
		.name = obj_str(r->doc, "release"),
		.ns = obj_str(r->doc, "namespace"),
		.revision = r->revision,
		.status = r->status,
		.description = describe(r),
		.notes = obj_str(r->doc, "notes"),
		.first_deployed_ns = r->v->now_ns,
		.last_deployed_ns = r->v->now_ns,
		.metadata = obj_get(chart, "metadata"),
		.chart_values = obj_get(chart, "values"),
		.config = obj_get(r->doc, "config"),
		.hooks = obj_keep(r->v->a, hooks_of(r)),
		.manifest = obj_str(r->doc, "manifest"),
	};
}

const char *release_record_too_large(const struct view *v, const struct obj *doc)
{
	struct error err;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct release_record r = {.v = v, .doc = doc, .revision = 1, .status = "pending-upgrade"};
	struct release rel = record_of(&r);
	return release_to_secret(&rel, v->now_ns, &o, &err) < 0 ? arena_strdup(v->a, err.msg)
								: NULL;
}

/* Creating the next revision is the lock: whoever was faster, helm or ALM, has it. One that is too
 * large for a Secret is not made: the release goes without; the plan in its chunks has all. */
static enum ensured create(const struct release_record *r)
{
	struct error err;
	struct obj *o = NULL;
	if (obj_has(r->doc, "unrecorded"))
		return DONE;
	struct release rel = record_of(r);
	rel.first_deployed_ns = first_deployed(r);
	struct owner_ref owner = {.api_version = meta_api_version(r->app->o),
				  .kind = meta_kind(r->app->o),
				  .name = r->app->name,
				  .uid = meta_uid(r->app->o)};
	if (release_to_secret(&rel, r->v->now_ns, &o, &err) < 0)
		return DONE;
	meta_set_label(o, LABEL_APP, r->app->name);
	meta_add_owner(o, &owner);
	plan_create(r->plan, o);
	return WAITING;
}

static void change(const struct release_record *r, const struct obj *live, const char *status,
		   const char *description, const struct obj *hooks)
{
	struct error err;
	struct obj *patch = NULL;
	struct release_change c = {.status = status,
				   .description = description,
				   .hooks = hooks,
				   .now_ns = r->v->now_ns};
	if (release_change(live, &c, &patch, &err) < 0) {
		patch = obj_map(); /* unreadable: the label at least, which lists go by */
		obj_set_path(patch, "metadata.labels.status", obj_string(status));
	}
	plan_patch(r->plan, live, patch);
}

/* Only the newest may say deployed, and only so many are kept. */
static enum ensured settle_others(const struct release_record *r)
{
	enum ensured state = DONE;
	for (int64_t n = r->revision - 1; n > 0 && n > r->revision - 100; n--) {
		const struct obj *live = NULL;
		if (record_at(r->v, r->plan, r->doc, n, &live) != 1 || meta_is_deleting(live))
			continue;
		if (n <= r->revision - RELEASE_HISTORY)
			plan_delete(r->plan, live, "Background");
		else if (cstr_eq(meta_label(live, "status"), "deployed"))
			change(r, live, "superseded", NULL, NULL);
		else if (release_is_pending(meta_label(live, "status")))
			change(r, live, "failed", "given up for a newer revision", NULL);
		else
			continue;
		state = WAITING;
	}
	return state;
}

enum ensured release_record_ensure(const struct release_record *r)
{
	const struct obj *live = NULL;
	int found = record_at(r->v, r->plan, r->doc, r->revision, &live);
	bool deployed = !strcmp(r->status, "deployed");
	if (found < 0)
		return WAITING;
	bool pending =
		release_is_pending(r->status); /* one that is there has gone further already */
	if (!found && (pending || deployed) && create(r) == WAITING)
		return WAITING;
	if (found && !pending && !cstr_eq(meta_label(live, "status"), r->status)) {
		CLEANUP(obj_unrefp) struct obj *hooks = hooks_of(r);
		change(r, live, r->status, describe(r), hooks);
		if (deployed)
			(void)settle_others(r); /* behind it: its failure ends the run */
		return WAITING;
	}
	return deployed ? settle_others(r) : DONE;
}

bool release_record_is_ours(const struct obj *record)
{
	struct owner_ref owner;
	return meta_owner(record, 0, &owner) && cstr_eq(owner.kind, "AppType");
}

static int64_t label_number(const struct obj *o, const char *key)
{
	int64_t n = 0;
	const char *text = meta_label(o, key);
	return text && str_parse_i64(str_of(text), &n) && n > 0 ? n : 0;
}

int64_t release_record_revision(const struct obj *record)
{
	return label_number(record, "version");
}

int64_t release_record_changed(const struct obj *record)
{
	int64_t s = label_number(record, "modifiedAt");
	if (!s)
		s = label_number(record, "createdAt");
	return s < INT64_MAX / NS_PER_S ? s * NS_PER_S : 0;
}

enum ensured release_record_ensure_free(const struct view *v, struct plan *plan,
					const struct obj *doc)
{
	const struct obj *live = NULL;
	int found = record_at(v, plan, doc, obj_i64(doc, "revision", 1), &live);
	return found == 1 && !release_record_is_ours(live) ? ENDED : DONE;
}

/* The newest record within a hundred of highest; NULL: none. */
static const struct obj *newest_record(const struct view *v, struct plan *plan,
				       const struct obj *doc, int64_t highest)
{
	const struct obj *live = NULL, *next = NULL;
	int64_t n = highest;
	while (n > 0 && n > highest - 100 && record_at(v, plan, doc, n, &live) != 1)
		n--;
	for (n = highest + 1; n <= highest + 100 && record_at(v, plan, doc, n, &next) == 1; n++)
		live = next;
	return live;
}

enum record_state release_record_state(const struct view *v, struct plan *plan,
				       const struct obj *doc, int64_t highest,
				       const struct obj **ret_newest)
{
	const struct obj *live = NULL;
	*ret_newest = NULL;
	if (record_at(v, plan, doc, highest, &live) < 0)
		return RECORD_UNKNOWN;
	*ret_newest = live = newest_record(v, plan, doc, highest);
	if (!live)
		return RECORD_LOST;
	const char *status = meta_label(live, "status");
	bool ours = release_record_is_ours(live), going = cstr_eq(status, "uninstalling");
	int64_t left = release_record_changed(live) + RECORD_BUSY_NS - v->now_ns;
	if ((going || (release_is_pending(status) && !ours)) && left > 0) {
		plan_requeue_after(plan, left);
		return RECORD_BUSY;
	}
	if (going || cstr_eq(status, "uninstalled"))
		return RECORD_LOST;
	return ours ? RECORD_OURS : RECORD_NEWER;
}

enum ensured release_record_remove(const struct view *v, struct plan *plan, const struct obj *doc,
				   int64_t highest)
{
	enum ensured state = DONE;
	for (int64_t n = highest; n > 0 && n > highest - 100; n--) {
		const struct obj *live = NULL;
		int found = record_at(v, plan, doc, n, &live);
		if (found == 0)
			continue;
		state = WAITING;
		if (found == 1 && !meta_is_deleting(live))
			plan_delete(plan, live, "Background");
	}
	return state;
}
