#include "alm/unit/pod_log.h"

#include <string.h>

#include "alm/base/visible.h"
#include "alm/obj/meta.h"

/* --- whose --- */

static bool has_failed(const struct obj *state)
{
	return obj_i64(obj_get(state, "terminated"), "exitCode", 0) != 0;
}

static bool find_in(const struct obj *statuses, struct pod_log_source *ret)
{
	for (size_t i = 0; i < obj_len(statuses); i++) {
		const struct obj *c = obj_at(statuses, i);
		bool now = has_failed(obj_get(c, "state"));
		if ((!now && !has_failed(obj_get(c, "lastState"))) || !obj_str(c, "name"))
			continue;
		ret->container = obj_str(c, "name");
		ret->previous = !now;
		ret->reason = obj_str(
			obj_path(c, now ? "state.terminated" : "lastState.terminated"), "reason");
		return true;
	}
	return false;
}

static bool find_ended(const struct obj *statuses, struct pod_log_source *ret)
{
	for (size_t i = 0; i < obj_len(statuses); i++) {
		const struct obj *c = obj_at(statuses, i), *end = obj_path(c, "state.terminated");
		if (!end || obj_i64(end, "exitCode", 0) || !obj_str(c, "name"))
			continue;
		ret->container = obj_str(c, "name");
		ret->reason = obj_str(end, "reason");
		return true;
	}
	return false;
}

static bool find(const struct obj *pod, bool well, struct pod_log_source *ret)
{
	const struct obj *main = obj_path(pod, "status.containerStatuses");
	if (well)
		return find_ended(main, ret);
	return find_in(obj_path(pod, "status.initContainerStatuses"), ret) || find_in(main, ret);
}

/* Of two that were made in the same second the name decides. */
static bool is_newer(const struct obj *pod, const struct obj *than)
{
	const char *a = obj_str(pod, "metadata.creationTimestamp"),
		   *b = obj_str(than, "metadata.creationTimestamp");
	int c = strcmp(a ? a : "", b ? b : "");
	return c ? c > 0 : strcmp(meta_name(pod), meta_name(than)) > 0;
}

bool pod_log_find(const struct obj *pods, bool well, struct pod_log_source *ret)
{
	const struct obj *best = NULL;
	for (size_t i = 0; i < obj_len(pods); i++) {
		const struct obj *pod = obj_at(pods, i);
		struct pod_log_source found = {.pod = meta_name(pod)};
		if (!found.pod || (best && !is_newer(pod, best)))
			continue;
		if (!find(pod, well, &found))
			continue;
		*ret = found;
		best = pod;
	}
	return best != NULL;
}

/* --- what --- */

/* Where the last lines begin; what is too long loses its beginning. */
static struct str end_of(struct str text)
{
	size_t at = text.len;
	for (size_t n = 0; at && n < POD_LOG_LINES && text.len - at < POD_LOG_BYTES; n++) {
		ptrdiff_t before = str_rfind_char(str_clip(text, at ? at - 1 : 0), '\n');
		at = before < 0 ? 0 : (size_t)before + 1;
	}
	return text.len - at > POD_LOG_BYTES ? str_skip(text, text.len - POD_LOG_BYTES)
					     : str_skip(text, at);
}

void pod_log_print(struct str text, struct strbuf *b)
{
	while (text.len && strchr("\r\n", text.ptr[text.len - 1]))
		text.len--;
	text = end_of(text);
	while (text.len) {
		struct str line;
		(void)str_cut(text, '\n', &line, &text);
		if (str_has_suffix(line, STR("\r")))
			line = str_clip(line, line.len - 1);
		if (!line.len)
			continue;
		strbuf_adds(b, b->len ? " | " : "");
		visible_add(b, line);
	}
}
