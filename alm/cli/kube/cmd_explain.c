/* cmd_explain: what the fields of a type are for, from the server's OpenAPI v3 documents. */
#include <string.h>

#include "alm/base/visible.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/explain_pipeline.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

#define OUTPUT_MAX  ((size_t)4 << 20)
#define REF_PREFIX  "#/components/schemas/"
#define DEPTH_MAX   32
#define TEXT_WIDTH  80
#define TEXT_INDENT 5

struct explain {
	struct cli *c;
	const struct obj *schemas;
	struct strbuf out;
	bool recursive;
};

/* What $ref and a single allOf stand for; a description beside them counts. */
static const struct obj *resolved(const struct explain *x, const struct obj *schema)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const char *ref = obj_str(schema, "$ref");
		const struct obj *all = obj_get(schema, "allOf");
		if (ref && cstr_has_prefix(ref, REF_PREFIX))
			schema = obj_get(x->schemas, ref + strlen(REF_PREFIX));
		else if (obj_len(all) == 1)
			schema = obj_at(all, 0);
		else
			return schema;
	}
	return NULL;
}

/* Of a list or a map what is in it. */
static const struct obj *element(const struct explain *x, const struct obj *schema)
{
	schema = resolved(x, schema);
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct obj *in = obj_get(schema, "items");
		if (!in && !obj_get(schema, "properties"))
			in = obj_get(schema, "additionalProperties");
		if (obj_type(in) != OBJ_MAP)
			return schema;
		schema = resolved(x, in);
	}
	return schema;
}

static const char *type_text(const struct explain *x, const struct obj *schema)
{
	const struct obj *s = resolved(x, schema);
	const char *type = obj_str(s, "type");
	if (obj_get(s, "items"))
		return arena_fmt(x->c->arena, "[]%s",
				 obj_str(resolved(x, obj_get(s, "items")), "type")
					 ? obj_str(resolved(x, obj_get(s, "items")), "type")
					 : "object");
	return type ? type : obj_get(s, "properties") ? "object" : "any";
}

static const char *text_of(const struct explain *x, const struct obj *schema)
{
	const char *own = obj_str(schema, "description"),
		   *general = obj_str(resolved(x, schema), "description");
	return own ? own : general;
}

static void add_wrapped(struct strbuf *b, const char *text, size_t indent)
{
	struct str rest = str_of(text), line, word;
	while (str_next_line(&rest, &line)) {
		size_t col = 0;
		while (str_next(&line, ' ', &word)) {
			if (!word.len)
				continue;
			if (col && col + 1 + word.len > TEXT_WIDTH) {
				strbuf_addc(b, '\n');
				col = 0;
			}
			if (!col)
				strbuf_pad(b, ' ', indent);
			else
				strbuf_addc(b, ' ');
			visible_add(b, word);
			col = col ? col + 1 + word.len : indent + word.len;
		}
		strbuf_addc(b, '\n');
	}
}

static bool is_required(const struct obj *schema, const char *name)
{
	const struct obj *list = obj_get(schema, "required");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), name))
			return true;
	return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void add_fields(struct explain *x, const struct obj *schema, unsigned depth)
{
	const struct obj *in = element(x, schema);
	size_t indent = 2 + 2 * (size_t)depth;
	OBJ_EACH (it, obj_get(in, "properties")) {
		const char *text = text_of(x, it.value);
		strbuf_pad(&x->out, ' ', indent);
		visible_addf(&x->out, "%s\t<%s>%s\n", it.key, type_text(x, it.value),
			     is_required(in, it.key) ? " -required-" : "");
		if (x->recursive && depth < DEPTH_MAX)
			add_fields(x, it.value, depth + 1);
		else if (!x->recursive && text)
			add_wrapped(&x->out, text, indent + 2);
	}
}

static const struct obj *of_kind(const struct explain *x, const struct resource *r)
{
	OBJ_EACH (it, x->schemas) {
		const struct obj *list = obj_get(it.value, "x-kubernetes-group-version-kind");
		for (size_t i = 0; i < obj_len(list); i++)
			if (cstr_eq(obj_str(obj_at(list, i), "kind"), r->kind) &&
			    cstr_eq(obj_str(obj_at(list, i), "version"), r->version) &&
			    cstr_eq(obj_str(obj_at(list, i), "group"), r->group))
				return it.value;
	}
	return NULL;
}

static int walk(struct explain *x, const struct resource *r, struct str path, struct error *err)
{
	const struct obj *schema = of_kind(x, r);
	struct str step, whole = path;
	if (!schema)
		return error_set(err, E_NOTFOUND, "the server describes no fields of %s", r->kind);
	while (str_next(&path, '.', &step)) {
		const char *name = arena_strndup(x->c->arena, step.ptr, step.len);
		schema = obj_get(obj_get(element(x, schema), "properties"), name);
		if (!schema)
			return error_set(err, E_NOTFOUND, "field \"%.*s\" does not exist in %s",
					 STR_ARG(whole), r->kind);
	}
	if (*r->group)
		visible_addf(&x->out, "GROUP:      %s\n", r->group);
	visible_addf(&x->out, "KIND:       %s\nVERSION:    %s\n\n", r->kind, r->version);
	if (whole.len)
		visible_addf(&x->out, "FIELD: %.*s <%s>\n\n", STR_ARG(whole), type_text(x, schema));
	visible_addf(&x->out, "DESCRIPTION:\n");
	const char *text = text_of(x, schema);
	add_wrapped(&x->out, text ? text : "<empty>", TEXT_INDENT);
	if (obj_len(obj_get(element(x, schema), "properties"))) {
		visible_addf(&x->out, "\nFIELDS:\n");
		add_fields(x, schema, 0);
	}
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct explain x = {.c = c, .recursive = cli_flag(c, "recursive")};
	struct str type, path = STR_NONE;
	struct resource r;
	const struct obj *doc = NULL;
	if (!strcmp(c->args[0], "pipeline")) {
		explain_pipeline();
		return 0;
	}
	(void)str_cut(str_of(c->args[0]), '.', &type, &path);
	if (session_open(c, &s, err) < 0 ||
	    session_resource(s, arena_strndup(c->arena, type.ptr, type.len), &r, err) < 0 ||
	    session_get(s,
			*r.group ? arena_fmt(c->arena, "/openapi/v3/apis/%s/%s", r.group, r.version)
				 : arena_fmt(c->arena, "/openapi/v3/api/%s", r.version),
			&doc, err) < 0)
		return -err->code;
	x.schemas = obj_path(doc, "components.schemas");
	strbuf_init(&x.out, OUTPUT_MAX);
	int rc = walk(&x, &r, path, err);
	if (rc >= 0)
		rc = strbuf_check(&x.out, "the answer", err);
	if (rc >= 0)
		term_lines(strbuf_str(&x.out));
	strbuf_release(&x.out);
	return rc;
}

static const struct cmd_option options[] = {
	{"recursive", NULL, "the fields of the fields, too, without their texts", 0},
	{0},
};

const struct cmd cmd_explain = {
	.name = "explain",
	.usage = "alm explain {TYPE[.FIELD...] | pipeline} [--recursive]",
	.summary = "tell what a type and its fields are for",
	.description =
		"pipeline is no type: it tells the five parts of alm run, and what a Rollout "
		"may say.",
	.examples = "alm explain apps\nalm explain apps.spec.upgrade.mode\n"
		    "alm explain ist.spec --recursive",
	.options = options,
	.args = {1, 1},
	.run = run,
};
