/* What nodes mean: the resolver of Go's yaml.v2 and the way through JSON of sigs.k8s.io/yaml. */
#include "installers/format/yaml_go.h"

#include <math.h>
#include <string.h>

#include "installers/format/yaml_node.h"
#include "installers/format/yaml_plain.h"
#include "installers/format/yaml_tag.h"
#include "installers/value/msg.h"

struct decoder {
	struct arena *a;
	struct strbuf *msg;
	bool keep_ints;
	bool head_only, skim;   /* skim: what is read is checked and not kept */
	const struct vmap *top; /* the map of the document */
	size_t decoded, aliased, alias_depth;
	/* Errors of the way through JSON, which Go meets after decoding. */
	struct str key_error, value_error;
};

/* ---- Go's %#v, for keys that are refused ---- */

static void go_syntax(struct decoder *d, const struct yaml_node *n, struct strbuf *b);

static void go_syntax_scalar(struct decoder *d, const struct yaml_node *n, bool inside,
			     struct strbuf *b)
{
	struct yaml_plain v;
	CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(STRBUF_SMALL);
	yaml_tag_resolve(d->a, n, &v, &ignored);
	if (v.type == YAML_PLAIN_NULL)
		strbuf_adds(b, inside ? "interface {}(nil)" : "<nil>");
	else if (v.type == YAML_PLAIN_BOOL)
		strbuf_adds(b, v.b ? "true" : "false");
	else if (v.type == YAML_PLAIN_INT && v.is_unsigned)
		strbuf_addf(b, "0x%llx", (unsigned long long)v.u);
	else if (v.type == YAML_PLAIN_INT)
		strbuf_addf(b, "%lld", (long long)v.i);
	else if (v.type == YAML_PLAIN_FLOAT)
		value_float_text(b, v.f, 'g', 64);
	else
		value_quote(b, v.s);
}

/* NOLINTBEGIN(misc-no-recursion): yaml_node.c and enter_alias() bound the depth by
 * YAML_NODE_DEPTH_MAX */
static void go_syntax(struct decoder *d, const struct yaml_node *n, struct strbuf *b)
{
	if (n->kind == YAML_NODE_ALIAS) {
		strbuf_addf(b, "*%s", n->name);
		return;
	}
	if (n->kind == YAML_NODE_SCALAR) {
		go_syntax_scalar(d, n, true, b);
		return;
	}
	bool is_map = n->kind == YAML_NODE_MAP;
	strbuf_adds(b, is_map ? "map[interface {}]interface {}{" : "[]interface {}{");
	for (size_t i = 0; i < n->n; i++) {
		if (i)
			strbuf_adds(b, is_map && i % 2 ? ":" : ", ");
		go_syntax(d, n->items[i], b);
	}
	strbuf_addc(b, '}');
}
/* NOLINTEND(misc-no-recursion) */

static struct str text_of(struct decoder *d, const struct strbuf *b)
{
	return str_n(arena_text(d->a, b->buf, b->len), b->len);
}

/* ---- decoding ---- */

static double alias_ratio(size_t decoded)
{
	const double low = 400000, high = 4000000;
	double n = (double)decoded;
	if (n <= low)
		return 0.99;
	return n >= high ? 0.10 : 0.99 - 0.89 * ((n - low) / (high - low));
}

static int count(struct decoder *d)
{
	d->decoded++;
	d->aliased += d->alias_depth > 0;
	if (d->decoded > YAML_NODES_MAX) {
		strbuf_addf(d->msg, "nodes over %d", YAML_NODES_MAX);
		return -E_LIMIT;
	}
	if (d->aliased > 100 && d->decoded > 1000 &&
	    (double)d->aliased / (double)d->decoded > alias_ratio(d->decoded))
		return msg_fail(d->msg, "document contains excessive aliasing");
	return 0;
}

static int decode(struct decoder *d, struct yaml_node *n, struct value *ret);
static int decode_map_into(struct decoder *d, struct yaml_node *n, struct vmap *m);

static int enter_alias(struct decoder *d, struct yaml_node *n)
{
	if (n->target->visiting || d->alias_depth >= YAML_NODE_DEPTH_MAX) {
		strbuf_addf(d->msg, "anchor '%s' value contains itself", n->name);
		return -E_INVALID;
	}
	n->target->visiting = true;
	d->alias_depth++;
	return 0;
}

static void leave_alias(struct decoder *d, struct yaml_node *n)
{
	n->target->visiting = false;
	d->alias_depth--;
}

/* Nodes go when the document is read, values stay. */
static struct str keep(struct decoder *d, struct str s)
{
	if (d->skim)
		return s;
	return str_n(arena_text(d->a, s.ptr ? s.ptr : "", s.len), s.len);
}

static int decode_scalar(struct decoder *d, const struct yaml_node *n, struct value *ret)
{
	struct yaml_plain v;
	int rc = yaml_tag_resolve(d->a, n, &v, d->msg);
	if (rc < 0)
		return rc;
	if (v.type == YAML_PLAIN_NULL)
		*ret = VALUE_NONE;
	else if (v.type == YAML_PLAIN_BOOL)
		*ret = value_bool(v.b);
	else if (v.type == YAML_PLAIN_INT && d->keep_ints)
		*ret = v.is_unsigned ? (struct value){.type = VALUE_UINT64, .u = v.u}
				     : value_int64(v.i);
	else if (v.type == YAML_PLAIN_INT || v.type == YAML_PLAIN_FLOAT)
		*ret = value_float(yaml_plain_double(&v));
	else
		*ret = value_str(keep(d, v.s));
	if (v.type == YAML_PLAIN_FLOAT && !isfinite(v.f) && !d->value_error.ptr)
		d->value_error = isnan(v.f) ? STR("json: unsupported value: NaN")
				 : v.f > 0  ? STR("json: unsupported value: +Inf")
					    : STR("json: unsupported value: -Inf");
	return 0;
}

static const struct yaml_node *target_of(const struct yaml_node *n)
{
	for (int i = 0; n->kind == YAML_NODE_ALIAS && i < YAML_NODE_DEPTH_MAX; i++)
		n = n->target;
	return n;
}

static void note_null_key(struct decoder *d, const struct yaml_node *value)
{
	if (d->key_error.ptr)
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "unsupported map key of type: %!s(<nil>), key: <nil>, value: ");
	if (value->kind == YAML_NODE_SCALAR)
		go_syntax_scalar(d, value, false, &b);
	else
		go_syntax(d, value, &b);
	d->key_error = text_of(d, &b);
}

/* What is neither written as Go writes it, whichever number it was: 1e39 too. */
static struct str special_key(struct str text)
{
	if (str_is(text, "NaN"))
		return STR(".nan");
	return str_is(text, "+Inf") ? STR(".inf") : str_is(text, "-Inf") ? STR("-.inf") : STR_NONE;
}

/* *ret has no ptr for a null key, which fails later. */
static int decode_key(struct decoder *d, const struct yaml_node *key, const struct yaml_node *value,
		      struct str *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct yaml_plain v;
	key = target_of(key);
	if (key->kind != YAML_NODE_SCALAR) {
		strbuf_adds(d->msg, "invalid map key: ");
		go_syntax(d, key, d->msg);
		return -E_INVALID;
	}
	int rc = yaml_tag_resolve(d->a, key, &v, d->msg);
	if (rc < 0)
		return rc;
	if (v.type == YAML_PLAIN_NULL) {
		note_null_key(d, value);
		*ret = STR_NONE;
	} else if (v.type == YAML_PLAIN_BOOL) {
		*ret = v.b ? STR("true") : STR("false");
	} else if (v.type == YAML_PLAIN_INT) {
		strbuf_addf(&b, "%lld", (long long)v.i);
		*ret = text_of(d, &b);
	} else if (v.type == YAML_PLAIN_FLOAT) {
		value_float_text(&b, v.f, 'g', 32);
		*ret = special_key(strbuf_str(&b));
		if (!ret->ptr)
			*ret = text_of(d, &b);
	} else {
		*ret = keep(d, v.s);
	}
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): yaml_node.c and enter_alias() bound the depth by
 * YAML_NODE_DEPTH_MAX */
static int merge_one(struct decoder *d, struct yaml_node *n, struct vmap *m)
{
	if (target_of(n)->kind != YAML_NODE_MAP)
		return msg_fail(d->msg, "map merge requires map or sequence of maps as the value");
	return decode_map_into(d, n, m);
}

/* The first map of a list wins, so the last is applied first. */
static int merge(struct decoder *d, struct yaml_node *n, struct vmap *m)
{
	if (n->kind != YAML_NODE_LIST)
		return merge_one(d, n, m);
	for (size_t i = n->n; i > 0; i--) {
		int rc = merge_one(d, n->items[i - 1], m);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_merge(const struct yaml_node *n)
{
	return n->kind == YAML_NODE_SCALAR && str_is(n->text, "<<") &&
	       (n->implicit || n->is_forced || cstr_eq(n->tag, YAML_TAG_PREFIX "merge"));
}

static bool is_head(struct str name)
{
	return str_is_nocase(name, "apiVersion") || str_is_nocase(name, "kind") ||
	       str_is_nocase(name, "metadata");
}

static int decode_member(struct decoder *d, struct yaml_node *key, struct yaml_node *value,
			 struct vmap *m)
{
	struct str name = STR_NONE;
	struct value v;
	if (is_merge(key))
		return merge(d, value, m);
	int rc = count(d);
	if (rc == 0)
		rc = decode_key(d, key, value, &name);
	bool outer = d->skim;
	d->skim |= d->head_only && m == d->top && name.ptr && !is_head(name);
	if (rc == 0)
		rc = decode(d, value, &v);
	if (rc == 0 && name.ptr && !d->skim)
		vmap_append(m, name, v);
	d->skim = outer;
	return rc;
}

static int decode_map_into(struct decoder *d, struct yaml_node *n, struct vmap *m)
{
	int rc = count(d);
	if (rc < 0)
		return rc;
	if (n->kind == YAML_NODE_ALIAS) {
		rc = enter_alias(d, n);
		if (rc == 0) {
			rc = decode_map_into(d, n->target, m);
			leave_alias(d, n);
		}
		return rc;
	}
	bool outer = n->visiting;
	n->visiting = true;
	for (size_t i = 0; rc == 0 && i + 1 < n->n; i += 2)
		rc = decode_member(d, n->items[i], n->items[i + 1], m);
	n->visiting = outer;
	return rc;
}

static int decode_list(struct decoder *d, struct yaml_node *n, struct value *ret)
{
	struct value skipped;
	*ret = value_list(d->a, VALUE_LIST, d->skim ? 0 : n->n);
	int rc = 0;
	bool outer = n->visiting;
	n->visiting = true;
	for (size_t i = 0; rc == 0 && i < n->n; i++)
		rc = decode(d, n->items[i], d->skim ? &skipped : &ret->items[i]);
	n->visiting = outer;
	return rc;
}

static int decode(struct decoder *d, struct yaml_node *n, struct value *ret)
{
	if (n->kind == YAML_NODE_MAP) {
		struct vmap *m = d->skim ? NULL : vmap_new_sized(d->a, n->n / 2);
		*ret = value_map(m);
		d->top = d->top ? d->top : m;
		int rc = decode_map_into(d, n, m);
		if (m)
			vmap_settle(m);
		return rc;
	}
	int rc = count(d);
	if (rc < 0)
		return rc;
	if (n->kind == YAML_NODE_SCALAR)
		return decode_scalar(d, n, ret);
	if (n->kind == YAML_NODE_LIST)
		return decode_list(d, n, ret);
	rc = enter_alias(d, n);
	if (rc == 0) {
		rc = decode(d, n->target, ret);
		leave_alias(d, n);
	}
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

/* ---- entry points ---- */

static int finish(struct decoder *d, struct yaml_node *root, struct value *ret)
{
	struct str late;
	strbuf_adds(d->msg, "yaml: ");
	size_t mark = d->msg->len;
	int rc = root ? decode(d, root, ret) : 0;
	if (rc < 0)
		return rc;
	strbuf_truncate(d->msg, mark - strlen("yaml: "));
	late = d->key_error.ptr ? d->key_error : d->value_error;
	if (!late.ptr)
		return 0;
	strbuf_addstr(d->msg, late);
	return -E_INVALID;
}

static uint32_t unit_of(struct str s, size_t i, bool big)
{
	uint32_t first = (unsigned char)s.ptr[i], second = (unsigned char)s.ptr[i + 1];
	return big ? first << 8 | second : second << 8 | first;
}

/* UTF-16 as its mark says, to UTF-8. NULL, or why it cannot be. */
static const char *from_utf16(struct str s, bool big, struct strbuf *b)
{
	for (size_t i = 2; i < s.len; i += 2) {
		if (i + 1 == s.len)
			return "incomplete UTF-16 character";
		uint32_t rune = unit_of(s, i, big);
		if (rune >= 0xdc00 && rune < 0xe000)
			return "unexpected low surrogate area";
		if (rune >= 0xd800 && rune < 0xdc00) {
			i += 2;
			if (i + 1 >= s.len)
				return "incomplete UTF-16 surrogate pair";
			uint32_t low = unit_of(s, i, big);
			if (low < 0xdc00 || low >= 0xe000)
				return "expected low surrogate area";
			rune = 0x10000 + ((rune & 0x3ff) << 10) + (low & 0x3ff);
		}
		strbuf_addrune(b, rune);
	}
	return NULL;
}

/* The text as UTF-8; in the arena of the values, which may borrow from it. *ret_fault: why it is
 * cut short. It is only told if the parser comes that far: the document may end before, or have
 * another fault. */
static struct str settle_encoding(struct decoder *d, struct str text, const char **ret_fault)
{
	bool big = str_has_prefix(text, STR("\xfe\xff"));
	*ret_fault = NULL;
	if (!big && !str_has_prefix(text, STR("\xff\xfe")))
		return text;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * YAML_GO_BYTES_MAX);
	*ret_fault = from_utf16(text, big, &b);
	if (*ret_fault)
		strbuf_adds(&b, YAML_NODE_CUT);
	return str_n(arena_text(d->a, b.buf, b.len), b.len);
}

static int read_nodes(struct decoder *d, struct str text, struct arena *nodes,
		      struct yaml_node **ret)
{
	static const char unread[] = "invalid leading UTF-8 octet";
	const char *fault;
	int rc = yaml_node_read(nodes, settle_encoding(d, text, &fault), ret, d->msg);
	if (rc < 0 && fault && str_has_suffix(strbuf_str(d->msg), STR(unread))) {
		strbuf_truncate(d->msg, d->msg->len - strlen(unread));
		strbuf_adds(d->msg, fault);
	}
	return rc;
}

static int parse(struct decoder d, struct str text, struct value *ret)
{
	struct strbuf *msg = d.msg;
	struct yaml_node *root = NULL;
	struct value v = VALUE_NONE;
	size_t mark = msg->len;
	if (text.len > YAML_GO_BYTES_MAX) {
		strbuf_addf(msg, "YAML is larger than %zu bytes", YAML_GO_BYTES_MAX);
		return -E_LIMIT;
	}
	strbuf_adds(msg, "error converting YAML to JSON: yaml: ");
	CLEANUP(arena_freep) struct arena *nodes = arena_new(YAML_GO_NODE_BYTES_MAX);
	int rc = read_nodes(&d, text, nodes, &root);
	if (rc < 0)
		return rc;
	strbuf_truncate(msg, msg->len - strlen("yaml: "));
	rc = finish(&d, root, &v);
	if (rc < 0)
		return rc;
	strbuf_truncate(msg, mark);
	*ret = v;
	return 0;
}

int yaml_go_parse(struct arena *a, struct str text, struct value *ret, struct strbuf *msg)
{
	return parse((struct decoder){.a = a, .msg = msg}, text, ret);
}

int yaml_go_parse_ints(struct arena *a, struct str text, struct value *ret, struct strbuf *msg)
{
	return parse((struct decoder){.a = a, .msg = msg, .keep_ints = true}, text, ret);
}

int yaml_go_parse_head(struct arena *a, struct str text, struct value *ret, struct strbuf *msg)
{
	return parse((struct decoder){.a = a, .msg = msg, .keep_ints = true, .head_only = true},
		     text, ret);
}

const char *yaml_go_json_type(struct value v)
{
	if (v.type == VALUE_NIL)
		return "null";
	if (v.type == VALUE_BOOL)
		return "bool";
	if (v.type == VALUE_STRING)
		return "string";
	if (value_is_list(v))
		return "array";
	return value_is_map(v) ? "object" : "number";
}

static int wrong_type(struct value v, const char *want, struct strbuf *msg)
{
	strbuf_addf(msg,
		    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into "
		    "Go value of type %s",
		    yaml_go_json_type(v), want);
	return -E_INVALID;
}

int yaml_go_parse_map(struct arena *a, struct str text, struct vmap **ret, struct strbuf *msg)
{
	struct value v;
	int rc = yaml_go_parse(a, text, &v, msg);
	if (rc < 0)
		return rc;
	if (v.type != VALUE_NIL && v.type != VALUE_MAP)
		return wrong_type(v, "map[string]interface {}", msg);
	*ret = v.type == VALUE_MAP ? v.map : vmap_new(a);
	return 0;
}

int yaml_go_parse_list(struct arena *a, struct str text, struct value *ret, struct strbuf *msg)
{
	struct value v;
	int rc = yaml_go_parse(a, text, &v, msg);
	if (rc < 0)
		return rc;
	if (v.type != VALUE_NIL && v.type != VALUE_LIST)
		return wrong_type(v, "[]interface {}", msg);
	*ret = v.type == VALUE_LIST ? v : value_list(a, VALUE_LIST, 0);
	return 0;
}
