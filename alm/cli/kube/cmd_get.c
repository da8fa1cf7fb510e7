/* cmd_get: objects, as tables the server makes or in another format. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/get_watch.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/kube/targets.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

#define OUTPUT_MAX ((size_t)512 << 20)

static const struct cmd_option options[] = {
	{"output", "FORMAT",
	 "table, wide, json, yaml, name, jsonpath=TEMPLATE, custom-columns=SPEC", 'o'},
	{"selector", "QUERY", "label selector", 'l'},
	{"field-selector", "QUERY", "field selector", 0},
	{"all-namespaces", NULL, "objects of every namespace", 'A'},
	{"no-headers", NULL, "no line of headers", 0},
	{"show-managed-fields", NULL, "in json and yaml, too: who set which field", 0},
	{"watch", NULL, "after the list what changes, until it is stopped", 'w'},
	{"watch-only", NULL, "what changes, without the list", 0},
	{"output-watch-events", NULL, "with -w: each with its type, ADDED, MODIFIED or DELETED", 0},
	{"ignore-not-found", NULL, "an absent object is no error", 0},
	{0},
};

struct get {
	struct cli *c;
	struct session *s;
	struct printer printer;
	struct targets targets;
	bool all, prefix;
	struct strbuf out;
	const struct obj *list; /* the last answer */
};

/* D23: what there is, when nobody said what is wanted. */
static int list_types(struct get *g, struct error *err)
{
	size_t n;
	struct grid grid;
	const struct discovery *d = session_discovery(g->s, err);
	if (!d)
		return -err->code;
	const struct resource *const *all = discovery_all(d, &n);
	grid_init(&grid, g->c->arena);
	grid_column(&grid, "NAME");
	grid_column(&grid, "SHORTNAMES");
	grid_column(&grid, "APIVERSION");
	grid_column(&grid, "KIND");
	for (size_t i = 0; i < n; i++) {
		const char *version = *all[i]->group ? arena_fmt(g->c->arena, "%s/%s",
								 all[i]->group, all[i]->version)
						     : all[i]->version;
		const char *cells[] = {all[i]->plural, discovery_short_names(d, all[i]), version,
				       all[i]->kind};
		grid_row(&grid, cells);
	}
	grid_print(&grid, true, &g->out);
	term_error("alm: say which type to get; the server has\n");
	g->c->exit_code = 1;
	return 0;
}

/* As kubectl does: they are long, and no manifest to apply may have them. */
static void hide_managed_fields(struct get *g, struct obj *o)
{
	bool shown = cli_flag(g->c, "show-managed-fields");
	if (shown || (g->printer.format != PRINT_JSON && g->printer.format != PRINT_YAML))
		return;
	struct obj *items = obj_get_mut(o, "items");
	obj_del_path(o, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(items); i++)
		obj_del_path(obj_at_mut(items, i), "metadata.managedFields");
}

/* Of several names one that is absent is told, and the others are printed, as kubectl does. *ret NULL: there is none. */
static int fetch(struct get *g, const struct target *t, const struct obj **ret, struct error *err)
{
	struct session_request q = {
		.method = "GET",
		.target = session_target(g->s, &t->resource, t->ns, t->name,
					 t->name ? NULL : targets_query(g->c)),
		.accept = printer_is_table(&g->printer) ? ACCEPT_TABLE : ACCEPT_JSON,
		.timeout_ns = 60 * NS_PER_S,
	};
	struct session_reply reply = {0};
	int r = session_send(g->s, &q, &reply, err);
	bool ignored = cli_flag(g->c, "ignore-not-found");
	if (r == -E_NOTFOUND && t->name && (ignored || g->targets.n > 1)) {
		if (!ignored) {
			term_error("alm: %s\n", err->msg);
			g->c->exit_code = error_exit(err->code);
		}
		*err = ERROR_INIT;
		*ret = NULL;
		return 0;
	}
	if (r >= 0)
		*ret = g->list = reply.body;
	return r;
}

static const char *prefix_of(struct get *g, const struct resource *r)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!g->prefix)
		return NULL;
	for (const char *p = r->kind; *p; p++)
		strbuf_addc(&b, char_lower(*p));
	return *r->group ? arena_fmt(g->c->arena, "%s.%s/", b.buf, r->group)
			 : arena_fmt(g->c->arena, "%s/", b.buf);
}

static bool same_type(const struct target *a, const struct target *b)
{
	return !strcmp(a->resource.plural, b->resource.plural) &&
	       !strcmp(a->resource.group, b->resource.group);
}

/* The rows of the targets from *i that are of one type, as one table; moves *i behind them. */
static int get_table(struct get *g, size_t *i, struct obj **ret, struct error *err)
{
	struct obj *merged = NULL;
	size_t first = *i;
	for (; *i < g->targets.n && same_type(&g->targets.items[first], &g->targets.items[*i]);
	     (*i)++) {
		const struct obj *table = NULL;
		int r = fetch(g, &g->targets.items[*i], &table, err);
		if (r < 0)
			return r;
		const struct obj *rows = obj_get(table, "rows");
		if (!merged && table)
			merged = obj_keep(g->c->arena, obj_copy(table));
		else
			for (size_t k = 0; k < obj_len(rows); k++)
				obj_append(obj_get_mut(merged, "rows"), obj_ref(obj_at(rows, k)));
	}
	*ret = merged;
	return 0;
}

/* Rows of one type that follow each other are one table. */
static int get_tables(struct get *g, struct error *err)
{
	size_t shown = 0;
	for (size_t i = 0; i < g->targets.n;) {
		struct obj *merged;
		size_t first = i;
		int r = get_table(g, &i, &merged, err);
		if (r < 0)
			return r;
		if (!merged || !obj_len(obj_get(merged, "rows")))
			continue;
		if (shown++)
			strbuf_addc(&g->out, '\n');
		r = printer_table(merged, g->printer.format == PRINT_WIDE,
				  prefix_of(g, &g->targets.items[first].resource),
				  g->all && g->targets.items[first].resource.namespaced,
				  !cli_flag(g->c, "no-headers"), &g->out, err);
		if (r < 0)
			return r;
	}
	if (!shown && !g->c->exit_code && !cli_flag(g->c, "ignore-not-found")) {
		bool in_ns = !g->all && g->targets.n && g->targets.items[0].ns;
		term_error("No resources found%s%s%s\n", in_ns ? " in " : "",
			   in_ns ? session_namespace(g->s) : "", in_ns ? " namespace." : "");
	}
	return 0;
}

/* Items of a list carry neither apiVersion nor kind on some servers: they get those of the list. */
static void add_items(struct obj *items, const struct obj *list, const struct resource *r,
		      struct arena *a)
{
	const struct obj *from = obj_get(list, "items");
	const char *version = *r->group ? arena_fmt(a, "%s/%s", r->group, r->version) : r->version;
	for (size_t i = 0; i < obj_len(from); i++) {
		const struct obj *o = obj_at(from, i);
		if (meta_kind(o)) {
			obj_append(items, obj_ref(o));
			continue;
		}
		struct obj *full = obj_map();
		obj_set_str(full, "apiVersion", version);
		obj_set_str(full, "kind", r->kind);
		OBJ_EACH (it, o)
			obj_set(full, it.key, obj_ref(it.value));
		obj_append(items, full);
	}
}

static int get_objects(struct get *g, struct error *err)
{
	struct obj *list = obj_keep(g->c->arena, obj_map()), *items = obj_list();
	obj_set_str(list, "apiVersion", "v1");
	obj_set(list, "items", items);
	obj_set_str(list, "kind", "List");
	obj_set_path(list, "metadata.resourceVersion", obj_string(""));
	const struct obj *o = NULL;
	for (size_t i = 0; i < g->targets.n; i++) {
		const struct target *t = &g->targets.items[i];
		int r = fetch(g, t, &o, err);
		if (r < 0)
			return r;
		if (!o)
			continue;
		struct obj *shown = obj_keep(g->c->arena, obj_copy(o));
		hide_managed_fields(g, shown);
		o = shown;
		if (t->name)
			obj_append(items, obj_ref(o));
		else
			add_items(items, o, &t->resource, g->c->arena);
	}
	if (g->targets.n == 1 && g->targets.items[0].name)
		return o ? printer_object(&g->printer, o, &g->out, err) : 0;
	return printer_object(&g->printer, list, &g->out, err);
}

static int watch(struct get *g, struct error *err)
{
	bool only = cli_flag(g->c, "watch-only"), table = printer_is_table(&g->printer);
	const struct obj *columns = obj_get(g->list, "columnDefinitions");
	struct get_watch w = {.c = g->c,
			      .s = g->s,
			      .printer = &g->printer,
			      .target = &g->targets.items[0],
			      .version = obj_str(g->list, "metadata.resourceVersion"),
			      .columns = columns ? obj_keep(g->c->arena, obj_copy(columns)) : NULL,
			      .headers = !cli_flag(g->c, "no-headers") &&
					 (only || (table && !obj_len(obj_get(g->list, "rows")))),
			      .all = g->all,
			      .events = cli_flag(g->c, "output-watch-events")};
	if (!only)
		printer_write(&g->printer, strbuf_str(&g->out));
	strbuf_clear(&g->out);
	(void)term_flush();
	return get_watch_run(&w, err);
}

static int check_watch(const struct get *g, struct error *err)
{
	return g->targets.n == 1
		       ? 0
		       : error_set(err, E_USAGE, "-w watches one type, or one object of it");
}

static int run(struct cli *c, struct error *err)
{
	bool watches = cli_flag(c, "watch") || cli_flag(c, "watch-only");
	struct get *g = ARENA_NEW(c->arena, struct get);
	g->c = c;
	g->all = cli_flag(c, "all-namespaces");
	strbuf_init(&g->out, OUTPUT_MAX);
	int r = printer_parse(cli_value(c, "output"), &g->printer, err);
	g->printer.no_headers = cli_flag(c, "no-headers");
	if (r >= 0)
		r = session_open(c, &g->s, err);
	if (r >= 0 && c->n_args == 0)
		r = list_types(g, err);
	else if (r >= 0) {
		r = targets_of_args(g->s, c, g->all, &g->targets, err);
		for (size_t i = 1; i < g->targets.n; i++)
			g->prefix =
				g->prefix || !same_type(&g->targets.items[0], &g->targets.items[i]);
		g->prefix = g->prefix || strchr(c->args[0], ',');
		if (r >= 0 && watches)
			r = check_watch(g, err);
		if (r >= 0)
			r = printer_is_table(&g->printer) ? get_tables(g, err)
							  : get_objects(g, err);
	}
	if (r >= 0 && watches && c->n_args)
		r = watch(g, err);
	printer_write(&g->printer, strbuf_str(&g->out));
	strbuf_release(&g->out);
	session_free(g->s);
	return r;
}

const struct cmd cmd_get = {
	.name = "get",
	.usage = "alm get (TYPE[,TYPE] [NAME...] | TYPE/NAME...) [-o FORMAT] [-l QUERY] [-A] [-w]",
	.summary = "print objects",
	.examples = "alm get apps\nalm get ist -o wide\nalm get apps -w\n"
		    "alm get apps -o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'",
	.options = options,
	.args = {0, CLI_ARGS_MAX},
	.run = run,
};
