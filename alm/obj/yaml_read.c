/*
 * yaml_read: documents from the events of libyaml. Nesting, anchors and what aliases expand to are
 * bounded here, event by event: libyaml scans at most 1,024 characters ahead, so its cost (which
 * grows with the flow depth for every token) stays bounded by these limits too.
 */
#include "alm/obj/yaml_read.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "alm/base/map.h"
#include "alm/obj/yaml.h"
#include "alm/obj/yaml_value.h"

#define FLOW_DEPTH_MAX  100
#define ANCHORS_MAX     1000
#define EXPANDED_MAX    1000000 /* nodes made by aliases */
#define EXPANSION_RATIO 100     /* bytes made by aliases, by the size of the text */
#define DUPLICATES_MAX  64      /* listed per document */

/* An open map or list. */
struct frame {
	struct obj *node;  /* owned until closed */
	char *key;         /* of the value that comes next; NULL: a key comes next */
	char *anchor;      /* of the node itself */
	struct map *extra; /* keys that a merge brought: setting them again is no duplicate */
	bool is_map, is_flow, is_merge;
};

struct reader {
	yaml_parser_t yaml;
	struct str text;
	struct error *err;
	struct yaml_document *doc;
	struct map *anchors; /* name -> owned obj; NULL value while it is open */
	size_t n_anchors, expanded_nodes, expanded_bytes;
	size_t nodes, nodes_max; /* of the values kept so far */
	size_t depth, flow_depth;
	struct frame frames[OBJ_DEPTH_MAX];
	bool root_is_empty;             /* a document of only comments */
	const struct yaml_items *items; /* NULL: whole documents are kept */
};

static int fault_at(struct reader *r, size_t line, const char *what)
{
	return error_set(r->err, E_BADREQUEST, "yaml: line %zu: %s", line, what);
}

/* Go's library counts lines from 0, and adds one for the scanner's errors only; it leaves the first
 * line out, which here is named. */
static int fault_of_library(struct reader *r)
{
	const yaml_parser_t *y = &r->yaml;
	size_t line = y->problem_mark.line;
	if (y->error == YAML_READER_ERROR) {
		for (size_t i = 0; i < y->problem_offset && i < r->text.len; i++)
			line += r->text.ptr[i] == '\n';
		line++;
	} else if (line == 0) {
		line = y->context_mark.line;
	} else if (y->error == YAML_SCANNER_ERROR) {
		line++;
	}
	return fault_at(r, line ? line : 1, y->problem ? y->problem : "cannot be parsed");
}

static int fault_of(struct reader *r, const yaml_event_t *e, const char *what)
{
	return fault_at(r, e->start_mark.line + 1, what);
}

/* One more value. */
static int count_node(struct reader *r)
{
	if (++r->nodes <= r->nodes_max)
		return 0;
	return error_set(r->err, E_TOOLARGE, "yaml: more than %zu values", r->nodes_max);
}

static void note_duplicate(struct reader *r, const struct frame *f, size_t line)
{
	struct yaml_document *d = r->doc;
	if (!obj_has(f->node, f->key) || (f->extra && map_has(f->extra, f->key)))
		return;
	if (d->n_duplicates == DUPLICATES_MAX)
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "line %zu: key \"%s\" already set in map", line, f->key);
	d->duplicates = xreallocarray(d->duplicates, d->n_duplicates + 1, sizeof(char *));
	d->duplicates[d->n_duplicates++] = strbuf_detach(&b);
}

static void merge_one(struct frame *f, const struct obj *from)
{
	if (!f->extra)
		f->extra = map_new(NULL);
	OBJ_EACH (it, from) {
		obj_set(f->node, it.key, obj_copy(it.value));
		map_set(f->extra, it.key, NULL);
	}
}

/* << : *base, or a list of maps whose first wins; overwrites what stands before it. */
static int merge_into(struct reader *r, struct frame *f, const struct obj *v, size_t line)
{
	size_t n = obj_type(v) == OBJ_LIST ? obj_len(v) : 0;
	bool ok = obj_type(v) == OBJ_MAP || obj_type(v) == OBJ_LIST;
	for (size_t i = 0; i < n; i++)
		ok = ok && obj_type(obj_at(v, i)) == OBJ_MAP;
	if (!ok)
		return fault_at(r, line, "map merge requires map or sequence of maps as the value");
	for (size_t i = n; i > 0; i--)
		merge_one(f, obj_at(v, i - 1));
	if (obj_type(v) == OBJ_MAP)
		merge_one(f, v);
	return 0;
}

static void name_anchor(struct reader *r, const char *anchor, const struct obj *value)
{
	if (anchor)
		map_set(r->anchors, anchor, obj_ref(value));
}

/* An element of the list at top.NAME, the third frame. */
static bool is_item(const struct reader *r)
{
	const struct frame *f = r->frames;
	return r->items && r->items->top && r->depth == 3 && f[0].key && f[1].key && !f[2].is_map &&
	       strcmp(f[0].key, r->items->top) == 0;
}

/* A complete node takes its place; consumes value. */
static int place(struct reader *r, struct obj *value, size_t line)
{
	assert(r->doc);
	if (is_item(r))
		return r->items->item(r->items->arg, r->frames[1].key, value, (int)line, r->err);
	if (!r->depth) {
		r->doc->value = value;
		return 0;
	}
	struct frame *f = &r->frames[r->depth - 1];
	int result = 0;
	if (!f->is_map) {
		obj_append(f->node, value);
		return 0;
	}
	if (f->is_merge) {
		result = merge_into(r, f, value, line);
		obj_unref(value);
		f->is_merge = false;
		return result;
	}
	assert(f->key);
	obj_set(f->node, f->key, value);
	xfree(STEAL(f->key));
	return 0;
}

/* A map waits for a key, the node at hand is it. */
static bool wants_key(const struct reader *r)
{
	const struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;
	return f && f->is_map && !f->key && !f->is_merge;
}

static int set_key(struct reader *r, char *key, size_t line)
{
	struct frame *f = &r->frames[r->depth - 1];
	if (!key)
		return -r->err->code;
	f->key = key;
	note_duplicate(r, f, line);
	if (f->extra)
		map_del(f->extra, key);
	return 0;
}

static int check_anchor(struct reader *r, const yaml_event_t *e, const char *anchor)
{
	if (anchor && ++r->n_anchors > ANCHORS_MAX)
		return fault_of(r, e, "too many anchors");
	return 0;
}

static int on_scalar(struct reader *r, const yaml_event_t *e)
{
	const char *anchor = (const char *)e->data.scalar.anchor;
	const struct yaml_written w = {
		.tag = (const char *)e->data.scalar.tag,
		.text = str_n((const char *)e->data.scalar.value, e->data.scalar.length),
		.is_plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
		.line = e->start_mark.line + 1};
	if (check_anchor(r, e, anchor) < 0 || (!wants_key(r) && count_node(r) < 0))
		return -r->err->code;
	if (!r->depth && w.is_plain && !w.text.len && !anchor && !w.tag)
		r->root_is_empty = true;
	if (wants_key(r) && (!w.tag || yaml_tag_is(w.tag, "merge")) && w.is_plain &&
	    strcmp((const char *)e->data.scalar.value, "<<") == 0) {
		r->frames[r->depth - 1].is_merge = true;
		return 0;
	}
	struct obj *value = yaml_value(&w, r->err);
	if (!value)
		return -r->err->code;
	name_anchor(r, anchor, value);
	if (!wants_key(r))
		return place(r, value, w.line);
	obj_unref(value);
	return set_key(r, yaml_key_text(&w, r->err), w.line);
}

/* Counts what an alias brings; stops early once it is too much. */
/* NOLINTNEXTLINE(misc-no-recursion): depth <= OBJ_DEPTH_MAX */
static bool count_expansion(struct reader *r, const struct obj *o)
{
	r->expanded_nodes++;
	r->expanded_bytes += 1 + obj_as_str(o).len;
	if (r->expanded_nodes > EXPANDED_MAX || r->expanded_bytes / EXPANSION_RATIO > r->text.len)
		return false;
	OBJ_EACH (it, o) {
		r->expanded_bytes += strlen(it.key);
		if (!count_expansion(r, it.value))
			return false;
	}
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		if (!count_expansion(r, obj_at(o, i)))
			return false;
	return true;
}

static int on_alias(struct reader *r, const yaml_event_t *e)
{
	const char *name = (const char *)e->data.alias.anchor;
	const struct obj *o = map_get(r->anchors, name);
	size_t line = e->start_mark.line + 1;
	char what[160];
	if (r->items)
		return fault_at(r, line, "an alias; such a file has none");
	if (!o) {
		snprintf(what, sizeof(what),
			 map_has(r->anchors, name) ? "anchor '%.64s' value contains itself"
						   : "unknown anchor '%.64s' referenced",
			 name);
		return fault_at(r, line, what);
	}
	size_t before = r->expanded_nodes;
	if (!count_expansion(r, o))
		return fault_at(r, line, "document contains excessive aliasing");
	r->nodes += r->expanded_nodes - before;
	if (count_node(r) < 0)
		return -r->err->code;
	if (r->depth + obj_depth(o) > OBJ_DEPTH_MAX)
		return fault_at(r, line, "exceeded max depth");
	if (!wants_key(r))
		return place(r, obj_copy(o), line);
	struct str number = obj_number_text(o);
	if (obj_as_string(o) && !str_contains(obj_as_str(o), str_n("\0", 1)))
		return set_key(r, str_dup(obj_as_str(o)), line);
	if (number.ptr)
		return set_key(r, str_dup(number), line);
	if (obj_type(o) == OBJ_BOOL)
		return set_key(r, xstrdup(obj_is_true(o) ? "true" : "false"), line);
	return fault_at(r, line, "invalid map key");
}

static int open_node(struct reader *r, const yaml_event_t *e, bool is_map, bool is_flow,
		     const char *anchor)
{
	if (wants_key(r))
		return fault_of(r, e, "invalid map key");
	if (r->depth == OBJ_DEPTH_MAX || (is_flow && r->flow_depth == FLOW_DEPTH_MAX))
		return fault_of(r, e, "exceeded max depth");
	if (check_anchor(r, e, anchor) < 0 || count_node(r) < 0)
		return -r->err->code;
	if (anchor)
		map_set(r->anchors, anchor, NULL);
	r->flow_depth += is_flow;
	r->frames[r->depth++] = (struct frame){
		.node = is_map ? obj_map() : obj_list(),
		.anchor = anchor ? xstrdup(anchor) : NULL,
		.is_map = is_map,
		.is_flow = is_flow,
	};
	return 0;
}

static void frame_release(struct frame *f)
{
	obj_unref(f->node);
	xfree(f->key);
	xfree(f->anchor);
	map_free(f->extra);
}

static int close_node(struct reader *r, const yaml_event_t *e)
{
	struct frame *f = &r->frames[--r->depth];
	r->flow_depth -= f->is_flow;
	struct obj *value = STEAL(f->node);
	name_anchor(r, f->anchor, value);
	frame_release(f);
	return place(r, value, e->start_mark.line + 1);
}

static void unref_anchor(void *value)
{
	obj_unref(value);
}

static int start_document(struct reader *r, const yaml_event_t *e, struct yaml_documents *d)
{
	const yaml_version_directive_t *v = e->data.document_start.version_directive;
	if (v && (v->major != 1 || v->minor != 1))
		return fault_of(r, e, "found incompatible YAML document");
	if (d->n == YAML_DOCUMENTS_MAX)
		return fault_of(r, e, "too many documents");
	d->items = xreallocarray(d->items, d->n + 1, sizeof(*d->items));
	r->doc = &d->items[d->n++];
	*r->doc = (struct yaml_document){0};
	r->root_is_empty = false;
	map_free(r->anchors);
	r->anchors = map_new(unref_anchor);
	return 0;
}

static void document_release(struct yaml_document *d)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what ends has begun */
	obj_unref(d->value);
	for (size_t i = 0; i < d->n_duplicates; i++)
		xfree(d->duplicates[i]);
	xfree(d->duplicates);
}

static int end_document(struct reader *r, struct yaml_documents *d)
{
	struct yaml_document *doc = r->doc;
	r->doc = NULL;
	if (r->root_is_empty) {
		document_release(&d->items[--d->n]);
		return 0;
	}
	if (!r->items)
		return 0;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what ends has begun */
	if (doc->n_duplicates)
		return error_set(r->err, E_BADREQUEST, "yaml: %s", doc->duplicates[0]);
	if (r->items->top)
		return 0;
	struct obj *value = STEAL(doc->value);
	int line = doc->line;
	document_release(&d->items[--d->n]);
	return r->items->item(r->items->arg, "", value, line, r->err);
}

static int on_event(struct reader *r, const yaml_event_t *e, struct yaml_documents *d)
{
	if (r->doc && !r->doc->line && e->type != YAML_DOCUMENT_END_EVENT)
		r->doc->line = (int)e->start_mark.line + 1;
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		return start_document(r, e, d);
	case YAML_DOCUMENT_END_EVENT:
		return end_document(r, d);
	case YAML_ALIAS_EVENT:
		return on_alias(r, e);
	case YAML_SCALAR_EVENT:
		return on_scalar(r, e);
	case YAML_SEQUENCE_START_EVENT:
		return open_node(r, e, false,
				 e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
				 (const char *)e->data.sequence_start.anchor);
	case YAML_MAPPING_START_EVENT:
		return open_node(r, e, true, e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
				 (const char *)e->data.mapping_start.anchor);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_node(r, e);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	default:
		return 0;
	}
}

static int read_events(struct reader *r, struct yaml_documents *d)
{
	for (;;) {
		yaml_event_t e;
		if (!yaml_parser_parse(&r->yaml, &e))
			return fault_of_library(r);
		bool end = e.type == YAML_STREAM_END_EVENT;
		int result = on_event(r, &e, d);
		yaml_event_delete(&e);
		if (result < 0 || end)
			return result;
	}
}

int yaml_read(struct str text, const struct yaml_items *items, size_t nodes_max,
	      struct yaml_documents *ret, struct error *err)
{
	struct yaml_documents d = {0};
	struct reader *r = xcalloc(1, sizeof(*r));
	r->err = err;
	r->text = text;
	r->items = items;
	r->nodes_max = nodes_max;
	int ok = yaml_parser_initialize(&r->yaml);
	assert(ok); /* fails only when memory is short */
	yaml_parser_set_encoding(&r->yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->yaml, (const unsigned char *)(text.ptr ? text.ptr : ""),
				     text.len);
	int result = read_events(r, &d);
	yaml_parser_delete(&r->yaml);
	while (r->depth)
		frame_release(&r->frames[--r->depth]);
	map_free(r->anchors);
	xfree(r);
	if (result < 0) {
		yaml_documents_release(&d);
		return result;
	}
	*ret = d;
	return 0;
}

void yaml_documents_release(struct yaml_documents *d)
{
	for (size_t i = 0; i < d->n; i++)
		document_release(&d->items[i]);
	xfree(d->items);
	*d = (struct yaml_documents){0};
}
