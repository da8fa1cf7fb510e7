#include "installers/manifest.h"

#include "installers/format/yaml_go.h"
#include "installers/value/unicode.h"

/* ---- splitting ---- */

static struct str trim_left(struct str s)
{
	uint32_t r;
	for (size_t n = rune_next(s, &r); n && rune_is_space(r); n = rune_next(s, &r))
		s = str_skip(s, n);
	return s;
}

struct str text_trim(struct str s)
{
	uint32_t r;
	s = trim_left(s);
	for (size_t n = rune_last(s, &r); n && rune_is_space(r); n = rune_last(s, &r))
		s.len -= n;
	return s;
}

/* RE2's \s */
static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* (?:^|\s*\n)---\s* : where the separator begins and ends; false if there is none. */
static bool find_separator(struct str s, bool at_start, size_t *ret_from, size_t *ret_to)
{
	size_t dashes = 0;
	if (at_start && str_has_prefix(s, STR("---"))) {
		*ret_from = 0;
	} else {
		ptrdiff_t lf = str_find(s, STR("\n---"));
		if (lf < 0)
			return false;
		size_t from = (size_t)lf;
		while (from > 0 && is_space(s.ptr[from - 1]))
			from--;
		*ret_from = from;
		dashes = (size_t)lf + 1;
	}
	size_t to = dashes + 3;
	while (to < s.len && is_space(s.ptr[to]))
		to++;
	*ret_to = to;
	return true;
}

/* (?m)^---[ \t]* of profile 4.2. */
static bool find_separator_42(struct str s, bool at_start, size_t *ret_from, size_t *ret_to)
{
	ptrdiff_t lf = str_find(s, STR("\n---"));
	if (at_start && str_has_prefix(s, STR("---")))
		*ret_from = 0;
	else if (lf >= 0)
		*ret_from = (size_t)lf + 1;
	else
		return false;
	size_t to = *ret_from + 3;
	while (to < s.len && (s.ptr[to] == ' ' || s.ptr[to] == '\t'))
		to++;
	*ret_to = to;
	return true;
}

struct manifest_split manifest_split(struct str file, enum tmpl_profile profile)
{
	struct str text = profile == TMPL_PROFILE_4_2 ? trim_left(file) : text_trim(file);
	return (struct manifest_split){.rest = text, .at_start = true, .profile = profile};
}

bool manifest_next(struct manifest_split *s, struct str *ret_piece)
{
	bool v42 = s->profile == TMPL_PROFILE_4_2;
	while (s->rest.len) {
		size_t from = s->rest.len, to = s->rest.len;
		if (v42)
			find_separator_42(s->rest, s->at_start, &from, &to);
		else
			find_separator(s->rest, s->at_start, &from, &to);
		struct str piece = str_sub(s->rest, 0, from);
		s->rest = str_skip(s->rest, to);
		s->at_start = false;
		if (v42 ? !text_trim(piece).len : !piece.len)
			continue;
		*ret_piece = v42 ? trim_left(piece) : text_trim(piece);
		return true;
	}
	return false;
}

/* ---- heads ---- */

struct head_reader {
	struct arena *a;
	bool failed;
	struct strbuf *msg;
};

#define METADATA_TYPE                                                                \
	"struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string " \
	"\"json:\\\"annotations\\\"\" }"

static void wrong_type(struct head_reader *r, struct value v, const char *field, const char *want)
{
	if (r->failed)
		return;
	r->failed = true;
	strbuf_addf(
		r->msg,
		"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go "
		"%s of type %s",
		yaml_go_json_type(v), field, want);
}

/* A key in any case, an exact one first. */
static const struct value *member(const struct vmap *m, const char *name)
{
	const struct value *v = vmap_getc(m, name);
	for (size_t i = 0; !v && i < vmap_count(m); i++) {
		struct str key = m->entries[i].key;
		if (str_is_nocase(key, name))
			v = &m->entries[i].value;
	}
	return v;
}

static struct str keep(struct arena *a, struct str s)
{
	return str_n(arena_text(a, s.ptr ? s.ptr : "", s.len), s.len);
}

static struct str read_text(struct head_reader *r, const struct value *v, const char *field)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!v || v->type == VALUE_NIL)
		return STR("");
	if (v->type == VALUE_STRING)
		return keep(r->a, value_text(*v));
	if (v->type == VALUE_BOOL)
		strbuf_adds(&b, v->b ? "true" : "false");
	else if (v->type == VALUE_INT64)
		strbuf_addf(&b, "%lld", (long long)v->i);
	else if (v->type == VALUE_UINT64)
		strbuf_addf(&b, "%llu", (unsigned long long)v->u);
	else if (v->type == VALUE_FLOAT)
		value_float_text(&b, v->f, 'g', 32);
	else
		wrong_type(r, *v, field, "string");
	return str_n(arena_text(r->a, b.buf, b.len), b.len);
}

static void read_annotations(struct head_reader *r, const struct value *v,
			     struct manifest_head *head)
{
	if (!v || v->type == VALUE_NIL)
		return;
	if (v->type != VALUE_MAP) {
		wrong_type(r, *v, "struct field .metadata.annotations", "map[string]string");
		return;
	}
	head->annotations = vmap_new_sized(r->a, v->map->n);
	for (size_t i = 0; i < v->map->n; i++)
		vmap_set(head->annotations, keep(r->a, v->map->entries[i].key),
			 value_str(read_text(r, &v->map->entries[i].value,
					     "struct field .metadata.annotations")));
}

static void read_metadata(struct head_reader *r, const struct value *v, struct manifest_head *head)
{
	if (!v || v->type == VALUE_NIL)
		return;
	if (v->type != VALUE_MAP) {
		wrong_type(r, *v, "struct field SimpleHead.metadata", METADATA_TYPE);
		return;
	}
	const struct value *ns = vmap_getc(v->map, "namespace");
	head->name = read_text(r, member(v->map, "name"), "struct field .metadata.name");
	head->ns = ns && ns->type == VALUE_STRING ? keep(r->a, value_text(*ns)) : STR("");
	read_annotations(r, member(v->map, "annotations"), head);
}

int manifest_head(struct arena *a, struct str piece, struct manifest_head *ret, struct strbuf *msg)
{
	/* The document is read whole to find its faults, and forgotten. */
	CLEANUP(arena_freep) struct arena *document = arena_new(YAML_GO_NODE_BYTES_MAX);
	struct head_reader r = {.a = a, .msg = msg};
	struct value v;
	*ret = (struct manifest_head){.name = STR(""), .ns = STR("")};
	int rc = yaml_go_parse_head(document, piece, &v, msg);
	if (rc < 0)
		return rc;
	if (v.type == VALUE_NIL) {
		ret->api_version = ret->kind = STR("");
		return 0;
	}
	if (v.type != VALUE_MAP) {
		wrong_type(&r, v, "value", "util.SimpleHead");
		return -E_INVALID;
	}
	ret->api_version =
		read_text(&r, member(v.map, "apiVersion"), "struct field SimpleHead.apiVersion");
	ret->kind = read_text(&r, member(v.map, "kind"), "struct field SimpleHead.kind");
	read_metadata(&r, member(v.map, "metadata"), ret);
	return r.failed ? -E_INVALID : 0;
}
