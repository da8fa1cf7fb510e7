/*
 * YAML text to nodes through libyaml's events. Where its scanner disagrees with the Go port of an
 * older libyaml (charts.md 8) the text is patched and read again, or the event is refused.
 */
#include "installers/format/yaml_node.h"

#include <string.h>
#include <yaml.h>

#include "alm/base/error.h"
#include "alm/base/map.h"
#include "alm/base/mem.h"

#define PATCHES_MAX 64 /* each one reads the text again */

/* The raw buffers of libyaml and of its port. */
#define LIBYAML_ROOM ((size_t)16384)
#define GO_ROOM      ((size_t)512)

struct reader {
	struct arena *a;
	struct str text;
	yaml_parser_t parser;
	yaml_event_t event;
	bool have_event, flow_map;
	bool ascii;          /* marks are offsets */
	struct map *anchors; /* name -> struct yaml_node */
	size_t nodes, depth, flow;
	size_t seen_index, seen_offset;
	size_t given; /* bytes that the scanner has */
	struct strbuf *msg;
};

static int read_node(struct reader *r, struct yaml_node **ret);

/* Go's parser.fail(): the problem's line from 0, one more for errors of the scanner. */
static int fail_at(struct reader *r, size_t line, const char *problem)
{
	if (line)
		strbuf_addf(r->msg, "line %zu: ", line);
	strbuf_adds(r->msg, problem && *problem ? problem : "unknown problem parsing YAML content");
	return -E_INVALID;
}

static size_t offset_of(struct reader *r, size_t index);

/* An empty flow collection where a key or an item must stand: the older scanner forgets that it may
 * be a key and tells the parser's error. NULL: something else. */
static const char *empty_key_problem(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	if (!p->problem || strcmp(p->problem, "could not find expected ':'") != 0)
		return NULL;
	struct str rest = str_skip(r->text, offset_of(r, p->context_mark.index));
	char open = rest.len ? rest.ptr[0] : 0;
	rest = str_trim(str_skip(rest, 1));
	if ((open != '[' && open != '{') || !rest.len || rest.ptr[0] != (open == '[' ? ']' : '}'))
		return NULL;
	if (p->state == YAML_PARSE_BLOCK_MAPPING_KEY_STATE ||
	    p->state == YAML_PARSE_INDENTLESS_SEQUENCE_ENTRY_STATE)
		return "did not find expected key";
	return p->state == YAML_PARSE_BLOCK_SEQUENCE_ENTRY_STATE
		       ? "did not find expected '-' indicator"
		       : NULL;
}

static int fail_parser(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	size_t line = p->problem_mark.line;
	const char *instead = empty_key_problem(r);
	if (instead)
		return fail_at(r, p->context_mark.line, instead);
	if (line && p->error == YAML_SCANNER_ERROR)
		line++;
	if (!line)
		line = p->context_mark.line;
	if (p->error == YAML_READER_ERROR)
		line = 0;
	return fail_at(r, line, p->problem);
}

static int next_event(struct reader *r)
{
	if (r->have_event)
		yaml_event_delete(&r->event);
	r->have_event = false;
	if (!yaml_parser_parse(&r->parser, &r->event))
		return fail_parser(r);
	r->have_event = true;
	return 0;
}

/* Marks count characters, not bytes; they only grow, so one pass over the text serves all. */
static size_t offset_of(struct reader *r, size_t index)
{
	if (r->ascii)
		return index < r->text.len ? index : r->text.len;
	if (index < r->seen_index) {
		r->seen_index = 0;
		r->seen_offset = 0;
	}
	for (; r->seen_index < index && r->seen_offset < r->text.len; r->seen_index++) {
		uint32_t rune;
		size_t n = utf8_decode(str_skip(r->text, r->seen_offset), &rune);
		r->seen_offset += n ? n : 1;
	}
	return r->seen_offset;
}

static struct yaml_node *new_node(struct reader *r, enum yaml_node_kind kind)
{
	struct yaml_node *n = ARENA_NEW(r->a, struct yaml_node);
	n->kind = (uint8_t)kind;
	n->line = (int)r->event.start_mark.line + 1;
	r->nodes++;
	return n;
}

static void set_anchor(struct reader *r, struct yaml_node *n, const yaml_char_t *anchor)
{
	if (!anchor)
		return;
	n->name = arena_strdup(r->a, (const char *)anchor);
	map_set(r->anchors, n->name, n);
}

static void push(struct reader *r, struct yaml_node *n, struct yaml_node *item)
{
	ARENA_GROW(r->a, n->items, n->cap, n->n, 2);
	n->items[n->n++] = item;
}

/* What the newer scanner accepts and the older one does not. */
static int check_scalar(struct reader *r, struct str raw)
{
	yaml_scalar_style_t style = r->event.data.scalar.style;
	size_t line = r->event.start_mark.line;
	if (style == YAML_DOUBLE_QUOTED_SCALAR_STYLE) {
		for (size_t i = 0; i + 1 < raw.len; i++) {
			if (raw.ptr[i] == '\n')
				line++;
			if (raw.ptr[i] != '\\')
				continue;
			if (raw.ptr[++i] == '/')
				return fail_at(r, line ? line + 1 : 0,
					       "found unknown escape character");
			if (raw.ptr[i] == '\n')
				line++;
		}
	}
	if (style == YAML_PLAIN_SCALAR_STYLE && r->flow && str_find_char(raw, '?') >= 0)
		return fail_at(r, line,
			       r->flow_map ? "did not find expected ',' or '}'"
					   : "did not find expected ',' or ']'");
	return 0;
}

static int read_scalar(struct reader *r, struct yaml_node **ret)
{
	const yaml_event_t *e = &r->event;
	struct yaml_node *n = new_node(r, YAML_NODE_SCALAR);
	size_t from = offset_of(r, e->start_mark.index), to = offset_of(r, e->end_mark.index);
	struct str raw = str_sub(r->text, from, to - from);
	if (check_scalar(r, raw) < 0)
		return -E_INVALID;
	struct str text = str_n((const char *)e->data.scalar.value, e->data.scalar.length);
	n->text = str_eq(raw, text) ? raw : str_n(arena_text(r->a, text.ptr, text.len), text.len);
	/* A lone "!" is lost in the event, but it makes a string. */
	n->is_forced = e->data.scalar.plain_implicit && str_has_prefix(raw, STR("!"));
	n->implicit = e->data.scalar.plain_implicit && !n->is_forced;
	if (e->data.scalar.tag)
		n->tag = arena_strdup(r->a, (const char *)e->data.scalar.tag);
	set_anchor(r, n, e->data.scalar.anchor);
	*ret = n;
	return next_event(r);
}

static int read_alias(struct reader *r, struct yaml_node **ret)
{
	struct yaml_node *n = new_node(r, YAML_NODE_ALIAS);
	n->name = arena_strdup(r->a, (const char *)r->event.data.alias.anchor);
	n->target = map_get(r->anchors, n->name);
	if (!n->target) {
		strbuf_addf(r->msg, "unknown anchor '%s' referenced", n->name);
		return -E_INVALID;
	}
	*ret = n;
	return next_event(r);
}

static int over(struct reader *r, const char *what, size_t limit)
{
	strbuf_addf(r->msg, "%s over %zu", what, limit);
	return -E_LIMIT;
}

/* NOLINTBEGIN(misc-no-recursion): read_collection() bounds the depth by YAML_NODE_DEPTH_MAX */
static int read_items(struct reader *r, struct yaml_node *n, yaml_event_type_t end)
{
	while (r->event.type != end) {
		struct yaml_node *item;
		int rc = read_node(r, &item);
		if (rc < 0)
			return rc;
		push(r, n, item);
	}
	return next_event(r);
}

static int read_collection(struct reader *r, struct yaml_node **ret)
{
	bool is_map = r->event.type == YAML_MAPPING_START_EVENT;
	bool is_flow = is_map ? r->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
			      : r->event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
	struct yaml_node *n = new_node(r, is_map ? YAML_NODE_MAP : YAML_NODE_LIST);
	set_anchor(r, n,
		   is_map ? r->event.data.mapping_start.anchor
			  : r->event.data.sequence_start.anchor);
	if (++r->depth > YAML_NODE_DEPTH_MAX)
		return over(r, "depth", YAML_NODE_DEPTH_MAX);
	if (is_flow && ++r->flow > YAML_NODE_FLOW_MAX)
		return over(r, "flow depth", YAML_NODE_FLOW_MAX);
	bool outer = r->flow_map;
	r->flow_map = is_map;
	int rc = next_event(r);
	if (rc == 0)
		rc = read_items(r, n, is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
	r->flow_map = outer;
	r->depth--;
	if (is_flow)
		r->flow--;
	*ret = n;
	return rc;
}

/* Recursion is bounded by YAML_NODE_DEPTH_MAX. */
static int read_node(struct reader *r, struct yaml_node **ret)
{
	if (r->nodes >= YAML_NODES_MAX)
		return over(r, "nodes", YAML_NODES_MAX);
	if (r->event.type == YAML_SCALAR_EVENT)
		return read_scalar(r, ret);
	if (r->event.type == YAML_ALIAS_EVENT)
		return read_alias(r, ret);
	return read_collection(r, ret);
}
/* NOLINTEND(misc-no-recursion) */

static int read_document(struct reader *r, struct yaml_node **ret)
{
	*ret = NULL;
	if (next_event(r) < 0) /* the start of the stream */
		return -E_INVALID;
	if (next_event(r) < 0) /* the start of a document, or the end */
		return -E_INVALID;
	if (r->event.type == YAML_STREAM_END_EVENT)
		return 0;
	const yaml_version_directive_t *v = r->event.data.document_start.version_directive;
	if (v && (v->major != 1 || v->minor != 1))
		return fail_at(r, r->event.start_mark.line, "found incompatible YAML document");
	if (next_event(r) < 0)
		return -E_INVALID;
	return read_node(r, ret);
}

/* ---- patches ---- */

/* \' is an escape of the older scanner: \x27 says the same. */
static bool patch_escape(struct reader *r, struct strbuf *b)
{
	size_t at = offset_of(r, r->parser.problem_mark.index);
	if (!str_has_prefix(str_skip(r->text, at), STR("\\'")))
		return false;
	strbuf_addstr(b, str_sub(r->text, 0, at));
	strbuf_adds(b, "\\x27");
	strbuf_addstr(b, str_skip(r->text, at + 2));
	return true;
}

/* {b:} has the scalar "b:" for the older scanner; quoted it is the same for both. */
static bool patch_colon(struct reader *r, struct strbuf *b)
{
	size_t from = offset_of(r, r->parser.context_mark.index);
	size_t at = offset_of(r, r->parser.problem_mark.index);
	if (!str_has_prefix(str_skip(r->text, at), STR(":")))
		return false;
	strbuf_addstr(b, str_sub(r->text, 0, from));
	strbuf_addc(b, '\'');
	for (size_t i = from; i <= at; i++) {
		if (r->text.ptr[i] == '\'')
			strbuf_addc(b, '\'');
		strbuf_addc(b, r->text.ptr[i]);
	}
	strbuf_addc(b, '\'');
	strbuf_addstr(b, str_skip(r->text, at + 1));
	return true;
}

static bool patch(struct reader *r, struct strbuf *b)
{
	if (r->parser.error != YAML_SCANNER_ERROR || !r->parser.problem)
		return false;
	if (!strcmp(r->parser.problem, "found unknown escape character"))
		return patch_escape(r, b);
	if (!strcmp(r->parser.problem, "found unexpected ':'"))
		return patch_colon(r, b);
	return false;
}

/* As many bytes as the older scanner asks for: it fails for a character that is not allowed only
 * when it has come near to it, so an error before it is reported first. */
static int give_bytes(void *data, unsigned char *buffer, size_t room, size_t *ret_n)
{
	struct reader *r = data;
	size_t kept = room < LIBYAML_ROOM ? LIBYAML_ROOM - room : 0; /* of a character cut in two */
	size_t n = kept < 4 ? GO_ROOM - kept : GO_ROOM;
	size_t left = r->text.len - r->given;
	if (n > left)
		n = left;
	if (n > room)
		n = room;
	if (n > 2 && n == left && str_has_suffix(r->text, STR(YAML_NODE_CUT)))
		n -= 2;
	memcpy(buffer, r->text.ptr + r->given, n);
	r->given += n;
	*ret_n = n;
	return 1;
}

static int read_once(struct reader *r, struct yaml_node **ret)
{
	CLEANUP(map_freep) struct map *anchors = map_new(NULL);
	r->anchors = anchors;
	if (!yaml_parser_initialize(&r->parser)) {
		strbuf_adds(r->msg, "libyaml does not start");
		return -E_INTERNAL;
	}
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input(&r->parser, give_bytes, r);
	int rc = read_document(r, ret);
	if (r->have_event)
		yaml_event_delete(&r->event);
	r->have_event = false;
	return rc;
}

static bool is_ascii(struct str s)
{
	unsigned char all = 0;
	for (size_t i = 0; i < s.len; i++)
		all |= (unsigned char)s.ptr[i];
	return all < 0x80;
}

int yaml_node_read(struct arena *a, struct str text, struct yaml_node **ret, struct strbuf *msg)
{
	size_t mark = msg->len;
	if (str_has_prefix(text, STR("\xef\xbb\xbf")))
		text = str_skip(text, 3);
	for (int i = 0;; i++) {
		struct reader r = {.a = a, .text = text, .ascii = is_ascii(text), .msg = msg};
		int rc = read_once(&r, ret);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(text.len + 4096);
		bool again = rc == -E_INVALID && i < PATCHES_MAX && patch(&r, &b) && !b.over;
		yaml_parser_delete(&r.parser);
		if (!again)
			return rc;
		strbuf_truncate(msg, mark);
		text = str_n(arena_text(a, b.buf, b.len), b.len);
	}
}
