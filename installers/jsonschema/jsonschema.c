#include "installers/jsonschema/jsonschema.h"

#include "installers/format/json_go.h"
#include "installers/jsonschema/jsonschema_apply.h"
#include "installers/jsonschema/jsonschema_assert.h"
#include "installers/jsonschema/jsonschema_tree.h"

static enum draft draft_of(struct value schema)
{
	static const struct {
		const char *part;
		enum draft draft;
	} known[] = {{"draft-04", DRAFT_4},
		     {"draft-06", DRAFT_6},
		     {"draft-07", DRAFT_7},
		     {"2019-09", DRAFT_2019}};
	const struct value *url = schema_keyword(schema, "$schema");
	for (size_t i = 0; url && url->type == VALUE_STRING && i < ARRAY_LEN(known); i++)
		if (str_contains(value_text(*url), str_of(known[i].part)))
			return known[i].draft;
	return DRAFT_2020;
}

static const char *draft_url(enum draft d)
{
	switch (d) {
	case DRAFT_4:
		return "http://json-schema.org/draft-04/schema#";
	case DRAFT_6:
		return "http://json-schema.org/draft-06/schema#";
	case DRAFT_7:
		return "http://json-schema.org/draft-07/schema#";
	case DRAFT_2019:
		return "https://json-schema.org/draft/2019-09/schema#";
	case DRAFT_2020:
		break;
	}
	return "https://json-schema.org/draft/2020-12/schema#";
}

static int check_well_formed(struct schema_run *r)
{
	struct violation top = {0};
	schema_check_meta(r, r->root, NULL, &top);
	if (r->broken)
		return -E_INVALID;
	if (!top.n)
		return 0;
	strbuf_addf(r->msg,
		    "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema "
		    "validation failed with '%s'\n",
		    draft_url(r->draft));
	violation_print(&top, r->msg);
	strbuf_truncate(r->msg, r->msg->len - 1);
	return -E_INVALID;
}

int jsonschema_check(struct arena *a, struct str schema, struct value v, struct warnings *w,
		     struct strbuf *msg)
{
	struct schema_run r = {.a = a, .w = w, .first_warning = w ? w->n : 0, .msg = msg};
	struct violation top = {0};
	size_t mark = msg->len;
	if (!str_trim(schema).len) {
		strbuf_adds(msg, "EOF");
		return -E_INVALID;
	}
	if (json_go_decode_exact(a, schema, &r.root, msg) < 0) {
		if (str_is(str_skip(strbuf_str(msg), mark), "unexpected end of JSON input")) {
			strbuf_truncate(msg, mark);
			strbuf_adds(msg, "unexpected EOF");
		} else if (str_has_suffix(strbuf_str(msg), STR("after top-level value"))) {
			strbuf_truncate(msg, mark);
			strbuf_adds(msg, "invalid character after top-level value");
		}
		return -E_INVALID;
	}
	r.draft = draft_of(r.root);
	if (check_well_formed(&r) < 0)
		return -E_INVALID;
	schema_apply(&r, r.root, v, NULL, &top, NULL);
	if (r.broken)
		return -E_INVALID;
	if (!top.n)
		return 0;
	violation_print_sorted(&top, msg);
	return -E_INVALID;
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the chart was read */
static bool check_charts(const struct chart *c, struct vmap *values, struct warnings *w,
			 struct strbuf *msg)
{
	bool good = true;
	if (c->schema.ptr) {
		CLEANUP(arena_freep) struct arena *a = arena_new(JSONSCHEMA_BYTES_MAX);
		size_t mark = msg->len;
		strbuf_addf(msg, "%.*s:\n", STR_ARG(c->meta.name));
		good = jsonschema_check(a, c->schema, value_map(values), w, msg) == 0;
		if (good)
			strbuf_truncate(msg, mark);
	}
	for (size_t i = 0; i < c->n_charts; i++) {
		struct vmap *own = values_table(values, c->charts[i]->meta.name);
		if (own && !check_charts(c->charts[i], own, w, msg))
			good = false;
	}
	return good;
}
/* NOLINTEND(misc-no-recursion) */

int jsonschema_check_chart(const struct chart *c, struct vmap *values, struct warnings *w,
			   struct strbuf *msg)
{
	size_t mark = msg->len;
	strbuf_adds(msg, "values don't meet the specifications of the schema(s) in the following "
			 "chart(s):\n");
	if (!check_charts(c, values, w, msg))
		return -E_INVALID;
	strbuf_truncate(msg, mark);
	return 0;
}
