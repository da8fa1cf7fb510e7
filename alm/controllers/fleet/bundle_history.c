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
	if (!commit || cstr_eq(obj_str(obj_at(old, 0), "commit"), commit))
		return;
	struct obj *list = obj_list();
	obj_append(list, entry(source, now_ns));
	for (size_t i = 0; i < obj_len(old) && i + 1 < BUNDLE_HISTORY_MAX; i++)
		obj_append(list, obj_ref(obj_at(old, i)));
	obj_set(status, "history", list);
}

/* The newest of another commit than that; what names none was written by somebody else. NULL: none. */
static const struct obj *first_named(const struct obj *list, const char *but)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *commit = obj_str(obj_at(list, i), "commit");
		if (commit && *commit && !cstr_eq(commit, but))
			return obj_at(list, i);
	}
	return NULL;
}

const struct obj *bundle_history_before(const struct obj *bundle)
{
	const struct obj *list = obj_path(bundle, "status.history");
	const char *now = obj_str(bundle, "status.commit");
	const struct obj *newest = first_named(list, NULL);
	/* one that failed is not in it */
	return cstr_eq(obj_str(newest, "commit"), now) ? first_named(list, now) : newest;
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
