/* cmd_edit: an object as YAML in the user's editor; what is saved is sent, unless it is as before. */
#include <inttypes.h>
#include <stdlib.h>

#include "alm/base/file.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/targets.h"
#include "alm/cli/kube/write.h"
#include "alm/cli/term.h"
#include "alm/io/editor.h"
#include "alm/io/loop.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define OBJECT_BYTES_MAX ((size_t)4 << 20)

static const struct cmd_option options[] = {
	{"output", "FORMAT", "name, json or yaml instead of a line", 'o'},
	{"field-manager", "NAME", "owner of the fields (default alm-edit)", 0},
	{0},
};

static const char *editor(void)
{
	static const char *const names[] = {"KUBE_EDITOR", "EDITOR"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *own = getenv(names[i]);
		if (own && *own)
			return own;
	}
	return "vi";
}

static const char *new_path(const struct cli *c, struct session *s)
{
	const char *dir = getenv("TMPDIR");
	uint64_t n = 0;
	loop_random(session_loop(s), &n, sizeof(n));
	return arena_fmt(c->arena, "%s/alm-edit-%016" PRIx64 ".yaml", dir && *dir ? dir : "/tmp",
			 n);
}

/* *ret NULL: it is as before. */
static int let_edit(const struct cli *c, const char *path, const struct obj *o,
		    const struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(OBJECT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf after = STRBUF_INIT(OBJECT_BYTES_MAX);
	struct obj *edited = NULL;
	yaml_print(o, &text);
	*ret = NULL;
	if (strbuf_check(&text, "the object", err) < 0 ||
	    file_write_new(path, strbuf_str(&text), 0600, err) < 0 ||
	    editor_run(editor(), path, err) < 0 || file_read(path, &after, err) < 0)
		return -err->code;
	if (str_eq(strbuf_str(&text), strbuf_str(&after)) || !str_trim(strbuf_str(&after)).len)
		return 0;
	if (yaml_parse_one(strbuf_str(&after), &edited, err) < 0)
		return -err->code;
	*ret = obj_keep(c->arena, edited);
	return 0;
}

/* With the resourceVersion that was read: what somebody else wrote meanwhile is not overwritten. */
static int edit(struct cli *c, struct session *s, const struct target *t, const char *path,
		struct error *err)
{
	const char *target = session_target(s, &t->resource, t->ns, t->name, NULL);
	const struct obj *live = NULL, *edited = NULL;
	struct session_reply reply;
	if (session_get(s, target, &live, err) < 0)
		return -err->code;
	struct obj *shown = obj_keep(c->arena, obj_copy(live));
	obj_del_path(shown, "metadata.managedFields");
	if (let_edit(c, path, shown, &edited, err) < 0)
		return -err->code;
	if (!edited) {
		term_print("Edit cancelled, no changes made.\n");
		return 0;
	}
	struct session_request q = {.method = "PUT",
				    .target = session_target(s, &t->resource, t->ns, t->name,
							     write_query(c, "alm-edit", "")),
				    .body = edited};
	if (session_send(s, &q, &reply, err) < 0)
		return -err->code;
	return write_print(c, reply.body, "edited", err);
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct targets *all = ARENA_NEW(c->arena, struct targets);
	struct error ignored = ERROR_INIT;
	if (session_open(c, &s, err) < 0 || targets_of_args(s, c, false, all, err) < 0)
		return -err->code;
	for (size_t i = 0; i < all->n; i++) {
		const char *path = new_path(c, s);
		if (!all->items[i].name)
			return error_set(err, E_USAGE, "want TYPE NAME");
		if (edit(c, s, &all->items[i], path, err) < 0) {
			if (file_exists(path))
				error_wrap(err, "your text is kept in %s", path);
			return -err->code;
		}
		(void)file_remove(path, &ignored);
	}
	return 0;
}

const struct cmd cmd_edit = {
	.name = "edit",
	.usage = "alm edit (TYPE NAME | TYPE/NAME)",
	.summary = "change an object in an editor",
	.description = "In KUBE_EDITOR, EDITOR or vi. What is refused, or was changed by somebody "
		       "else meanwhile,\nis kept in a file that the error names.",
	.examples = "alm edit apptype etcd",
	.options = options,
	.args = {1, 2},
	.run = run,
};
