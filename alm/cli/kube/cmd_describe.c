/* cmd_describe: one object with its events, for reading. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/kube/targets.h"
#include "alm/cli/term.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define OUTPUT_MAX ((size_t)64 << 20)

static void pairs(const char *title, const struct obj *map, struct strbuf *b)
{
	bool first = true;
	OBJ_EACH (it, map) {
		const char *v = obj_as_string(it.value);
		visible_addf(b, "%-14s%s=%s\n", first ? title : "", it.key, v ? v : "");
		first = false;
	}
	if (first)
		visible_addf(b, "%-14s<none>\n", title);
}

/* "lastTransitionTime" -> "Last Transition Time" */
static void title(const char *key, struct strbuf *b)
{
	for (const char *p = key; *p; p++) {
		if (p > key && char_is_upper(*p) && char_is_lower(p[-1]))
			strbuf_addc(b, ' ');
		strbuf_addc(b, p == key ? char_upper(*p) : *p);
	}
}

/* The rest of the object as indented YAML under a title. */
static void section(const char *key, const struct obj *value, struct strbuf *b)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(OUTPUT_MAX);
	title(key, b);
	if (obj_type(value) != OBJ_MAP && obj_type(value) != OBJ_LIST) {
		yaml_print(value, &text);
		visible_adds(b, ":  ");
		visible_add_lines(b, strbuf_str(&text));
		return;
	}
	visible_addf(b, ":\n");
	yaml_print(value, &text);
	struct str rest = strbuf_str(&text), line;
	while (str_next_line(&rest, &line))
		if (line.len)
			visible_addf(b, "  %.*s\n", STR_ARG(line));
}

static const char *age(struct cli *c, struct session *s, const struct obj *event)
{
	char text[CLOCK_TEXT_MAX];
	int64_t then;
	const char *at = obj_str(event, "lastTimestamp");
	if (!at)
		at = obj_str(event, "eventTime");
	if (!at)
		at = obj_str(event, "metadata.creationTimestamp");
	if (!at || !clock_parse(str_of(at), &then))
		return "<unknown>";
	duration_human(loop_now(session_loop(s)) - then, text);
	return arena_strdup(c->arena, text);
}

static int events(struct cli *c, struct session *s, const struct obj *o, struct strbuf *b,
		  struct error *err)
{
	static const struct resource event = {"", "v1", "events", "Event", true};
	const char *uid = meta_uid(o);
	const struct obj *list = NULL;
	struct grid g;
	if (!uid)
		return 0;
	const char *query = arena_fmt(
		c->arena, "fieldSelector=%s",
		url_encode(str_of(arena_fmt(c->arena, "involvedObject.uid=%s", uid)), c->arena));
	int r = session_get(s, session_target(s, &event, meta_namespace(o), NULL, query), &list,
			    err);
	if (r < 0)
		return r;
	const struct obj *items = obj_get(list, "items");
	if (!obj_len(items)) {
		visible_addf(b, "Events:       <none>\n");
		return 0;
	}
	visible_addf(b, "Events:\n");
	grid_init(&g, c->arena);
	grid_column(&g, "  Type");
	grid_column(&g, "Reason");
	grid_column(&g, "Age");
	grid_column(&g, "From");
	grid_column(&g, "Message");
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *e = obj_at(items, i);
		const char *type = obj_str(e, "type"), *from = obj_str(e, "source.component");
		const char *cells[] = {arena_fmt(c->arena, "  %s", type ? type : ""),
				       obj_str(e, "reason"), age(c, s, e),
				       from ? from : obj_str(e, "reportingComponent"),
				       obj_str(e, "message")};
		grid_row(&g, cells);
	}
	grid_print(&g, true, b);
	return 0;
}

static int describe(struct cli *c, struct session *s, const struct target *t, const char *name,
		    struct strbuf *b, struct error *err)
{
	const struct obj *o = NULL;
	int r = session_get(s, session_target(s, &t->resource, t->ns, name, NULL), &o, err);
	if (r < 0)
		return r;
	const char *ns = meta_namespace(o);
	visible_addf(b, "Name:         %s\n", name);
	if (ns)
		visible_addf(b, "Namespace:    %s\n", ns);
	pairs("Labels:", obj_path(o, "metadata.labels"), b);
	pairs("Annotations:", obj_path(o, "metadata.annotations"), b);
	visible_addf(b, "API Version:  %s\nKind:         %s\n", meta_api_version(o), meta_kind(o));
	CLEANUP(obj_unrefp) struct obj *meta = obj_copy(obj_get(o, "metadata"));
	static const char *const hidden[] = {"name", "namespace", "labels", "annotations",
					     "managedFields"};
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		obj_del(meta, hidden[i]);
	section("metadata", meta, b);
	OBJ_EACH (it, o)
		if (strcmp(it.key, "apiVersion") != 0 && strcmp(it.key, "kind") != 0 &&
		    strcmp(it.key, "metadata") != 0)
			section(it.key, it.value, b);
	return events(c, s, o, b, err);
}

/* Without a name: every object of the type. */
static int describe_all(struct cli *c, struct session *s, const struct target *t, struct strbuf *b,
			struct error *err)
{
	const struct obj *list = NULL;
	int r = session_get(s, session_target(s, &t->resource, t->ns, NULL, targets_query(c)),
			    &list, err);
	const struct obj *items = obj_get(list, "items");
	for (size_t i = 0; r >= 0 && i < obj_len(items); i++) {
		struct target one = *t;
		const char *ns = meta_namespace(obj_at(items, i));
		one.ns = ns;
		if (i)
			visible_addf(b, "\n\n");
		r = describe(c, s, &one, meta_name(obj_at(items, i)), b, err);
	}
	return r;
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUTPUT_MAX);
	struct targets *t = ARENA_NEW(c->arena, struct targets);
	int r = session_open(c, &s, err);
	if (r >= 0)
		r = targets_of_args(s, c, cli_flag(c, "all-namespaces"), t, err);
	for (size_t i = 0; r >= 0 && i < t->n; i++) {
		if (i)
			visible_addf(&b, "\n\n");
		r = t->items[i].name ? describe(c, s, &t->items[i], t->items[i].name, &b, err)
				     : describe_all(c, s, &t->items[i], &b, err);
	}
	term_table(strbuf_str(&b));
	return r;
}

static const struct cmd_option options[] = {
	{"selector", "QUERY", "label selector", 'l'},
	{"all-namespaces", NULL, "objects of every namespace", 'A'},
	{0},
};

const struct cmd cmd_describe = {
	.name = "describe",
	.usage = "alm describe (TYPE [NAME...] | TYPE/NAME...)",
	.examples = "alm describe apptype etcd",
	.summary = "print one object in full, with its events",
	.options = options,
	.args = {1, CLI_ARGS_MAX},
	.run = run,
};
