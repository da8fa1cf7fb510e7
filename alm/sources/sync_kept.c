/*
 * What a folder's files told last, for those that could not be looked at now: a child that dies says
 * nothing of its file, on a machine short of memory least of all. A version that was unlisted for it
 * would begin its soak anew, and one that catalog.yaml withdraws would be installed.
 */
#include <string.h>

#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/sources/sync_internal.h"
#include "catalog/index/entry.h"

struct kept {
	struct map *wanted; /* name of a file -> why it could not be looked at */
	struct strbuf lines;
	struct str rest; /* of them */
	bool has_notices;
};

void kept_free(struct kept *k)
{
	if (!k)
		return;
	map_free(k->wanted);
	strbuf_release(&k->lines);
	xfree(k);
}

void kept_want(struct sync *s, const char *name, const char *why)
{
	if (!s->kept) {
		s->kept = xcalloc(1, sizeof(*s->kept));
		s->kept->wanted = map_new(NULL);
		strbuf_init(&s->kept->lines, HELM_LINES_BYTES_MAX);
	}
	map_set(s->kept->wanted, name, mem_unconst(why)); /* arena of the sync */
}

static void take_line(struct sync *s, struct str line)
{
	struct error ignored;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (json_parse(line, &o, &ignored) < 0)
		return;
	bool is_notices = obj_str(o, "catalogYaml") != NULL;
	const char *name = is_notices ? SOURCE_NOTICES : obj_str(o, "where");
	const char *why = name ? map_get(s->kept->wanted, name) : NULL;
	if (!why || obj_str(o, "error"))
		return;
	if (obj_str(o, "locator"))
		obj_set(o, "unusable", obj_stringf("its archive cannot be used: %s", why));
	else if (!strcmp(name, SOURCE_NOTICES))
		s->kept->has_notices = true;
	entry_print(o, &s->lines);
}

static void finish(struct sync *s)
{
	struct error err;
	const char *why = map_get(s->kept->wanted, SOURCE_NOTICES);
	if (why && !s->kept->has_notices) {
		error_set(&err, E_UNAVAILABLE, "%s: " SOURCE_NOTICES ": %s", s->url, why);
		sync_fail(s, &err);
		return;
	}
	sync_build(s);
}

static void take_some(struct sync *s)
{
	struct str line;
	int64_t until = loop_mono(s->host.loop) + SYNC_SLICE_NS;
	while (str_next_line(&s->kept->rest, &line)) {
		take_line(s, line);
		if (loop_mono(s->host.loop) >= until) {
			sync_next(s, take_some);
			return;
		}
	}
	finish(s);
}

void kept_take(struct sync *s)
{
	struct error ignored;
	if (!s->kept) {
		sync_build(s);
		return;
	}
	if (s->last && s->last(s->last_arg, &s->kept->lines, &ignored) < 0)
		strbuf_clear(&s->kept->lines);
	s->kept->rest = strbuf_str(&s->kept->lines);
	take_some(s);
}
