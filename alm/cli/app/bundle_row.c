#include "alm/cli/app/bundle_row.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/fleet/bundle_history.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/ready.h"

#define CLUSTER      "default" /* the one that the Bundle is on */
#define COMMIT_SHOWN 7

static const char *ref_text(const char *kind, const char *ns, const char *name, struct arena *a)
{
	return arena_fmt(a, "%s/%s%s%s", kind, ns ? ns : "", ns ? "/" : "", name);
}

static struct obj *row_new(const char *object, const char *state, const char *why)
{
	struct obj *row = obj_map();
	obj_set_str(row, "object", object);
	obj_set_str(row, "cluster", CLUSTER);
	obj_set_str(row, "state", state);
	obj_set_str(row, "why", why ? why : "");
	return row;
}

/* --- when it was changed, and by which revision --- */

/* "alm:HUB:BUNDLE", whatever the hub. */
static bool is_of_bundle(const char *manager, const char *bundle)
{
	struct str hub, rest;
	return manager && cstr_has_prefix(manager, "alm:") &&
	       str_cut(str_of(manager + strlen("alm:")), ':', &hub, &rest) && str_is(rest, bundle);
}

const char *bundle_row_manager(const struct obj *live, const char *bundle)
{
	const struct obj *entries = obj_path(live, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(entries); i++)
		if (is_of_bundle(obj_str(obj_at(entries, i), "manager"), bundle))
			return obj_str(obj_at(entries, i), "manager");
	return NULL;
}

/* NULL: the Bundle has written nothing of it. */
static const char *written_at(const struct obj *live, const char *bundle)
{
	const struct obj *entries = obj_path(live, "metadata.managedFields");
	const char *last = NULL;
	for (size_t i = 0; i < obj_len(entries); i++) {
		const char *time = obj_str(obj_at(entries, i), "time");
		if (time && is_of_bundle(obj_str(obj_at(entries, i), "manager"), bundle) &&
		    (!last || strcmp(time, last) > 0))
			last = time;
	}
	return last;
}

/* The revision that was rolled out at that time; NULL: it is too long ago. Times of RFC 3339 in UTC and
 * whole seconds compare as texts. */
static const struct obj *revision_at(const struct obj *bundle, const char *time)
{
	const struct obj *status = obj_get(bundle, "status"), *list = obj_get(status, "history");
	/* of the newest nothing is there: it was taken back, or is not begun */
	static const char *const without[] = {"RolledBack",   "Blocked", "AwaitingApproval",
					      "SourceFailed", "Invalid", NULL};
	const char *state = obj_str(status, "state");
	bool is_before = state && cstr_in(state, without) && obj_len(list);
	const struct obj *found = is_before ? obj_at(list, 0) : status;
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *since = obj_str(obj_at(list, i), "since");
		if (!since || strcmp(since, time) < 0)
			return found;
		found = obj_at(list, i);
	}
	return obj_len(list) < BUNDLE_HISTORY_MAX ? found : NULL;
}

static void set_change(struct obj *row, const struct obj *revision, const char *since)
{
	static const char *const copied[] = {"commit", "author", "subject"};
	if (since)
		obj_set_str(row, "since", since);
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		if (obj_str(revision, copied[i]))
			obj_set_str(row, copied[i], obj_str(revision, copied[i]));
}

const char *bundle_row_change(const struct obj *row, int64_t now_ns, struct arena *a)
{
	const char *since = obj_str(row, "since"), *commit = obj_str(row, "commit");
	const char *author = obj_str(row, "author"), *subject = obj_str(row, "subject");
	const char *when = "";
	char age[CLOCK_TEXT_MAX];
	int64_t at;
	if (since && clock_parse(str_of(since), &at)) {
		duration_human(at < now_ns ? now_ns - at : 0, age);
		when = arena_fmt(a, "%s ago", age);
	}
	if (!commit)
		return *when ? when : "-";
	bool goes = cstr_eq(obj_str(row, "state"), "Deleting") && subject;
	return arena_fmt(a, "%s%s(%.*s%s%s%s%s%s)", when, *when ? " " : "", COMMIT_SHOWN, commit,
			 author ? " " : "", author ? author : "", goes ? " \"" : "",
			 goes ? subject : "", goes ? "\"" : "");
}

/* --- why --- */

bool bundle_row_is_ready(const struct obj *live, struct arena *a)
{
	const char *why;
	return ready_check(live, false, a, &why) == READY;
}

/* "3/3"; NULL: it has none to count. */
static const char *replicas(const struct obj *live, struct arena *a)
{
	if (obj_has(obj_get(live, "status"), "desiredNumberScheduled"))
		return arena_fmt(a, "%lld/%lld", (long long)obj_i64(live, "status.numberReady", 0),
				 (long long)obj_i64(live, "status.desiredNumberScheduled", 0));
	if (!obj_has(obj_get(live, "spec"), "replicas"))
		return NULL;
	return arena_fmt(a, "%lld/%lld", (long long)obj_i64(live, "status.readyReplicas", 0),
			 (long long)obj_i64(live, "spec.replicas", 0));
}

/* What its Pods suffer from, as far as they were read. */
static const char *suffers(const struct bundle_row_input *in, struct arena *a)
{
	struct failure_found found = {0};
	struct failure_facts facts = in->around;
	size_t n;
	const struct failure_check *checks = failure_checks(&n);
	facts.live = in->live;
	facts.now_ns = in->now_ns;
	(void)failure_look(checks, n, &facts, NULL, a, &found);
	return found.text;
}

static const char *holders(const struct obj *live, struct arena *a)
{
	const struct obj *list = obj_path(live, "metadata.finalizers");
	const char *text = "";
	for (size_t i = 0; i < obj_len(list); i++)
		text = arena_fmt(a, "%s%s%s", text, i ? ", " : "; finalizer ",
				 obj_as_string(obj_at(list, i)));
	return text;
}

static struct obj *deleting_row(const struct bundle_row_input *in, const char *object,
				struct arena *a)
{
	const struct inventory_line *l = in->line;
	bool left = inventory_doubt(l) || meta_is_deleting(in->bundle);
	const char *what = meta_is_deleting(in->bundle) ? "the Bundle is deleted"
			   : left                       ? "removed from git"
							: "not by this Bundle: it is made again";
	struct obj *row =
		row_new(object, "Deleting", arena_fmt(a, "%s%s", what, holders(in->live, a)));
	set_change(row, left ? obj_get(in->bundle, "status") : NULL,
		   obj_str(in->live, "metadata.deletionTimestamp"));
	return row;
}

/* --- what is left as it is --- */

/* What a text of the Bundle's status says of that object, behind "NAME" and this; NULL: it is of another. */
static const char *said_of(const char *text, const char *name, const char *then)
{
	if (!text || !cstr_has_prefix(text, name) || !cstr_has_prefix(text + strlen(name), then))
		return NULL;
	return text + strlen(name) + strlen(then);
}

/* It has left the tree, and stays. NULL: not so. */
static const char *why_kept(const struct obj *bundle, const char *name, struct arena *a)
{
	const struct obj *list = obj_path(bundle, "status.kept");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *why =
			said_of(obj_as_string(obj_at(list, i)), name, " is not deleted: ");
		if (why)
			return arena_fmt(a, "removed from git, and not deleted: %s", why);
	}
	return NULL;
}

/* "NAME: WHY; and 2 more: NAME, NAME", as unit_health.c has it. NULL: it is as declared, as far as is told. */
static const char *why_drifted(const struct obj *bundle, const char *name, struct arena *a)
{
	struct condition c;
	struct str part, rest;
	if (!condition_get(bundle, "Drifted", &c) || !cstr_eq(c.status, "True"))
		return NULL;
	const char *why = said_of(c.message, name, ": "), *end = NULL, *at = c.message;
	while ((at = strstr(at, "; and ")))
		end = at++;
	if (why)
		return end ? arena_strndup(a, why, (size_t)(end - why)) : why;
	if (!end || !str_cut(str_of(end), ':', &part, &rest))
		return NULL;
	while (str_next(&rest, ',', &part))
		if (str_is(str_trim(part), name))
			return "it is not as declared, and not put back";
	return NULL;
}

static struct obj *live_row(const struct bundle_row_input *in, const char *object, struct arena *a)
{
	static const char *const states[] = {[READY] = "Current", [NOT_READY] = "InProgress"};
	const struct inventory_line *l = in->line;
	const char *why = NULL;
	enum readiness r = ready_check(in->live, false, a, &why);
	const char *name =
		arena_fmt(a, "%s %s%s%s", l->kind, l->ns ? l->ns : "", l->ns ? "/" : "", l->name);
	const char *kept = why_kept(in->bundle, name, a);
	if (kept)
		return row_new(object, "Kept", kept);
	const char *drifted = r == READY ? why_drifted(in->bundle, name, a) : NULL;
	if (drifted)
		return row_new(object, "Drifted", drifted);
	const char *text = r == READY ? replicas(in->live, a) : suffers(in, a);
	return row_new(object, r == READY || r == NOT_READY ? states[r] : "Failed",
		       text ? text : why);
}

struct obj *bundle_row(const struct bundle_row_input *in, struct arena *a)
{
	const struct inventory_line *l = in->line;
	const char *object = ref_text(l->kind, l->ns, l->name, a);
	struct obj *row;
	if (in->unreadable) {
		row = row_new(object, "Unknown", in->unreadable);
	} else if (!in->live) {
		row = inventory_doubt(l) ? row_new(object, "Deleted", "removed from git")
					 : row_new(object, "Missing", "it was there, and is gone");
	} else if (meta_is_deleting(in->live)) {
		row = deleting_row(in, object, a);
	} else {
		row = live_row(in, object, a);
		const char *at = written_at(in->live, meta_name(in->bundle));
		if (at)
			set_change(row, revision_at(in->bundle, at), at);
	}
	obj_set_str(row, "file", l->key);
	return row;
}

/* --- what nobody declared --- */

const char *bundle_orphan_text(const struct obj *orphan, int64_t now_ns, struct arena *a)
{
	const char *at = obj_str(orphan, "deleteAt"), *why = obj_str(orphan, "message");
	char left[CLOCK_TEXT_MAX];
	int64_t at_ns = 0;
	if (!at || why || !clock_parse(str_of(at), &at_ns))
		return why ? why : "it is held";
	duration_human(at_ns > now_ns ? at_ns - now_ns : 0, left);
	return arena_fmt(a, "deleted in %s", left);
}

struct obj *bundle_row_orphan(const struct obj *orphan, int64_t now_ns, struct arena *a)
{
	const char *object = ref_text(obj_str(orphan, "kind"), obj_str(orphan, "namespace"),
				      obj_str(orphan, "name"), a);
	struct obj *row =
		row_new(object, "Orphan",
			arena_fmt(a, "not declared; %s", bundle_orphan_text(orphan, now_ns, a)));
	if (obj_str(orphan, "since"))
		obj_set_str(row, "since", obj_str(orphan, "since"));
	obj_set_str(row, "file", "");
	return row;
}
