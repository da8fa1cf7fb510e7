/* `alm bundle graph`: in which order the objects of a folder are applied, as a drawing. */
#include "alm/base/visible.h"
#include "alm/cli/bundle/bundle_tell.h"
#include "alm/cli/bundle/cmd_bundle.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

struct graph {
	const struct cli *c;
	const struct bundle_folder *f;
	size_t n;         /* groups that were told */
	size_t last;      /* row of an object of the one before */
	struct strbuf *b; /* of dot; NULL: there is a list */
	struct obj *list;
};

/* A quoted text of dot: what is in the names was written by others. */
static const char *quoted(const struct graph *g, const char *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addc(&b, '\\');
		strbuf_addc(&b, (unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s);
	}
	return arena_fmt(g->c->arena, "%.*s", STR_ARG(strbuf_str(&b)));
}

static const struct obj *row_of(const struct graph *g, size_t row)
{
	return obj_at(obj_get(g->f->unit->doc, "objects"), row);
}

static const char *text_of(const struct graph *g, const struct obj *row)
{
	const struct obj *o = obj_get(row, "object");
	const char *ns = meta_namespace(o);
	return arena_fmt(g->c->arena, "%s %s%s%s", meta_kind(o), ns ? ns : "", ns ? "/" : "",
			 meta_name(o));
}

/* --- dot --- */

static void draw_step(const struct graph *g, const struct unit_step *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct obj *row = row_of(g, s->rows[i]);
		visible_addf(g->b, "\t\to%zu [label=\"%s", s->rows[i], quoted(g, text_of(g, row)));
		visible_addf(g->b, "\\n%s\"];\n", quoted(g, obj_str(row, "key")));
	}
}

static void draw_group(struct graph *g, const struct unit_group *group)
{
	size_t first = group->steps[0].rows[0];
	visible_addf(g->b, "\tsubgraph cluster_%zu {\n\t\tlabel=\"%zu. %s\";\n", g->n, g->n,
		     quoted(g, group->name));
	for (size_t i = 0; i < group->n; i++)
		draw_step(g, &group->steps[i]);
	visible_addf(g->b, "\t}\n");
	if (g->n > 1)
		visible_addf(g->b, "\to%zu -> o%zu [ltail=cluster_%zu, lhead=cluster_%zu];\n",
			     g->last, first, g->n - 1, g->n);
	g->last = first;
}

/* --- a list --- */

static void list_group(const struct graph *g, const struct unit_group *group)
{
	struct obj *o = obj_map(), *objects = obj_list();
	obj_set_str(o, "name", group->name);
	for (size_t i = 0; i < group->n; i++)
		for (size_t k = 0; k < group->steps[i].n; k++) {
			const struct obj *row = row_of(g, group->steps[i].rows[k]);
			struct obj *e = obj_map();
			obj_set_str(e, "object", text_of(g, row));
			obj_set_str(e, "key", obj_str(row, "key"));
			obj_append(objects, e);
		}
	obj_set(o, "objects", objects);
	obj_append(g->list, o);
}

static void tell(struct graph *g)
{
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t i = 0; i < g->f->unit->parts[p].n; i++) {
			const struct unit_group *group = &g->f->unit->parts[p].groups[i];
			g->n++;
			if (g->b)
				draw_group(g, group);
			else
				list_group(g, group);
		}
}

static int print_dot(const struct cli *c, const struct bundle_folder *f)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	struct graph g = {.c = c, .f = f, .b = &b};
	visible_addf(&b, "digraph \"%s\" {\n", quoted(&g, f->bundle ? f->bundle : "bundle"));
	visible_addf(&b, "\trankdir=LR; compound=true; node [shape=box];\n");
	tell(&g);
	visible_addf(&b, "}\n");
	return term_data(strbuf_str(&b));
}

static int print_list(const struct cli *c, const struct bundle_folder *f, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct graph g = {.c = c, .f = f, .list = obj_list()};
	if (f->bundle)
		obj_set_str(o, "bundle", f->bundle);
	if (f->revision.commit)
		obj_set_str(o, "commit", f->revision.commit);
	tell(&g);
	obj_set(o, "groups", g.list);
	return cli_print_data(c, o, err);
}

static int run_graph(struct cli *c, struct error *err)
{
	struct bundle_folder f;
	bool asked = false, dot = !cli_value(c, "output") || cstr_eq(cli_value(c, "output"), "dot");
	if (!dot && cli_output_data(c, &asked, err) < 0)
		return error_wrap(err, "-o dot, json or yaml");
	if (bundle_read_and_tell(c, &f, err) < 0)
		return -err->code;
	if (f.flaws.n)
		return bundle_tell_flaws(&f, err);
	return dot ? print_dot(c, &f) : print_list(c, &f, err);
}

static const struct cmd_option options[] = {
	BUNDLE_FOLDER_OPTIONS,
	{"output", "FORMAT",
	 "dot (default), of Graphviz; json or yaml: the groups and their objects", 'o'},
	{0}};

const struct cmd cmd_bundle_graph = {
	.name = "graph",
	.usage = "alm bundle graph -f DIR [--rev REV] [--bundle FILE] [-o dot|json|yaml]",
	.summary = "draw in which order the objects of a folder are applied",
	.description =
		"Each box is a group: its objects are applied at once, and waited for before the "
		"next group begins; what left the folder is deleted behind the last one. It "
		"needs no network and no cluster; what vet finds fails here, too.",
	.examples = "alm bundle graph -f clone/ | dot -Tsvg >bundle.svg",
	.options = options,
	.run = run_graph,
};
