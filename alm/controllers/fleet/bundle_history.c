#include "alm/controllers/fleet/bundle_history.h"

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"

static struct obj *entry(const struct obj *source, int64_t now_ns)
{
	static const char *const copied[] = {"commit", "author", "subject"};
	struct obj *o = obj_map();
	char now[CLOCK_TEXT_MAX];
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		if (obj_str(source, copied[i]))
			obj_set_str(o, copied[i], obj_str(source, copied[i]));
	clock_format(now_ns, CLOCK_SECONDS, now);
	obj_set_str(o, "since", now);
	return o;
}

void bundle_history_add(struct obj *status, const struct obj *source, int64_t now_ns)
{
	const struct obj *old = obj_get(status, "history");
	const char *commit = obj_str(source, "commit");
	const struct obj *newest = obj_at(old, 0);
	if (!commit || (cstr_eq(obj_str(newest, "commit"), commit) && !obj_has(newest, "left")))
		return;
	struct obj *list = obj_list();
	obj_append(list, entry(source, now_ns));
	for (size_t i = 0; i < obj_len(old) && i + 1 < BUNDLE_HISTORY_MAX; i++)
		obj_append(list, obj_ref(obj_at(old, i)));
	obj_set(status, "history", list);
}

/* The index of its newest entry; the length of the list: it has none. */
static size_t newest_of(const struct obj *list, const char *commit)
{
	size_t i = 0;
	while (i < obj_len(list) &&
	       !(commit && cstr_eq(obj_str(obj_at(list, i), "commit"), commit)))
		i++;
	return i;
}

/* How many of the newest are left by being held there. */
static size_t count_left(const struct obj *list, const char *pin)
{
	size_t i = newest_of(list, pin);
	return i < obj_len(list) && !obj_flag(obj_at(list, i), "left", false) ? i : 0;
}

void bundle_history_leave(struct obj *status, const char *pin)
{
	const struct obj *old = obj_get(status, "history");
	size_t n = count_left(old, pin);
	if (!n)
		return;
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(old); i++) {
		struct obj *o = obj_copy_map(obj_at(old, i));
		if (i < n)
			obj_set(o, "left", obj_bool(true));
		obj_append(list, o);
	}
	obj_set(status, "history", list);
}

const struct obj *bundle_history_before(const struct obj *bundle)
{
	const struct obj *list = obj_path(bundle, "status.history");
	const char *pin = obj_str(bundle, BUNDLE_PIN);
	const char *now = pin ? pin : obj_str(bundle, "status.commit");
	size_t at = newest_of(list, now), n_left = count_left(list, pin);
	/* one that failed is not in it */
	for (size_t i = at < obj_len(list) ? at + 1 : 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *commit =
			obj_str(o, "commit"); /* without one it was written by somebody else */
		if (!commit || !*commit || cstr_eq(commit, now))
			continue;
		size_t newest = newest_of(list, commit);
		if (newest >= n_left && !obj_flag(obj_at(list, newest), "left", false))
			return o;
	}
	return NULL;
}

static int none(const struct obj *list, const char *text, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *commit = obj_str(obj_at(list, i), "commit");
		if (commit && *commit)
			strbuf_addf(&b, "%s%.12s", b.len ? ", " : "", commit);
	}
	return error_set(err, E_NOTFOUND,
			 "%.64s is none of the revisions that were Synced: %s; any other commit of "
			 "the branch is taken by its whole name",
			 text, b.len ? b.buf : "there is none yet");
}

int bundle_history_find(const struct obj *bundle, const char *text, const struct obj **ret,
			struct error *err)
{
	const struct obj *list = obj_path(bundle, "status.history"), *found = NULL;
	struct str want = str_of(text);
	if (str_has_prefix(want, STR("git:")))
		want = str_skip(want, strlen("git:"));
	if (want.len < BUNDLE_COMMIT_SHORT)
		return error_set(err, E_INVALID, "want at least %d characters of a commit",
				 BUNDLE_COMMIT_SHORT);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *commit = obj_str(obj_at(list, i), "commit");
		if (!commit || !str_has_prefix(str_of(commit), want))
			continue;
		if (found && !cstr_eq(obj_str(found, "commit"), commit))
			return error_set(err, E_INVALID, "%.64s names several commits", text);
		found = found ? found : obj_at(list, i);
	}
	if (!found)
		return none(list, text, err);
	*ret = found;
	return 0;
}
