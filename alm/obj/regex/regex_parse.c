/* regex_parse: a pattern by RE2's grammar (Go's regexp/syntax, flags Perl) to a tree; what RE2
 * refuses is refused with Go's message. */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex_node.h"

#define REPEAT_MAX 1000

enum flag { FOLD = 1, MULTI_LINE = 2, DOT_NL = 4, UNGREEDY = 8 };

/* An open group, from the innermost on; the outermost is the whole pattern. */
struct group {
	struct regex_node *alternatives; /* ALT of what came before a | */
	struct regex_node *sequence;     /* CONCAT that is being read */
	struct regex_node *node;         /* the GROUP it is put into; NULL: it does not capture */
	unsigned flags;                  /* of the group around it */
	int weight;                      /* largest product of nested counts inside */
	int last;                        /* of what came last; 0: nothing that can be repeated */
};

struct reader {
	struct str whole, s; /* s: what is left */
	struct arena *a;
	struct regex_tree *tree;
	struct strbuf *msg;
	int code; /* of what went wrong */
	unsigned flags;
	struct group groups[REGEX_DEPTH_MAX + 1];
	size_t depth;
	struct str last_repeat; /* from the start of the repeat before, if it came just before */
};

/* ---- errors ---- */
static bool fail(struct reader *r, const char *what, struct str expr)
{
	r->code = -E_INVALID;
	strbuf_addf(r->msg, "error parsing regexp: %s: `", what);
	strbuf_addstr(r->msg, expr);
	strbuf_addc(r->msg, '`');
	return false;
}

static bool fail_limit(struct reader *r, const char *what, size_t max, const char *unit)
{
	r->code = -E_LIMIT;
	strbuf_addf(r->msg, "a regular expression %s %zu %s", what, max, unit);
	return false;
}

static struct str up_to(struct str from, struct str rest)
{
	return str_sub(from, 0, from.len - rest.len);
}

static bool next_rune(struct reader *r, struct str *s, uint32_t *ret)
{
	size_t n = utf8_decode(*s, ret);
	if (n == 0)
		return fail(r, "invalid UTF-8", *s);
	*s = str_skip(*s, n);
	return true;
}

/* ---- the tree ---- */
static struct regex_node *node_new(struct reader *r, enum regex_op op, uint32_t value)
{
	struct regex_node *n = ARENA_NEW(r->a, struct regex_node);
	n->op = op;
	n->value = value;
	return n;
}

static void add_below(struct regex_node *parent, struct regex_node *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

static struct group *group(struct reader *r)
{
	return &r->groups[r->depth];
}

static void add_item(struct reader *r, struct regex_node *n, int weight)
{
	struct group *g = group(r);
	add_below(g->sequence, n);
	g->last = weight;
	if (weight > g->weight)
		g->weight = weight;
}

static bool add_class(struct reader *r, const struct regex_set *set)
{
	struct regex_tree *t = r->tree;
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(32 * REGEX_BYTES_MAX);
	regex_set_key(set, &key);
	size_t number = map_number(t->class_index, key.buf);
	if (!number) {
		struct regex_class *c = regex_class_new(set);
		if (!c)
			return fail(r, "expression too large", r->whole);
		ARRAY_GROW(t->classes, t->cap_classes, t->n_classes + 1);
		t->classes[t->n_classes++] = c;
		number = t->n_classes;
		map_set_number(t->class_index, key.buf, number);
	}
	add_item(r, node_new(r, NODE_CLASS, (uint32_t)number - 1), 1);
	return true;
}

static bool add_rune(struct reader *r, uint32_t c)
{
	bool folds = (r->flags & FOLD) && (c >= 0x80 || char_is_alpha((char)c));
	if (!folds) {
		add_item(r, node_new(r, NODE_RUNE, c), 1);
		return true;
	}
	CLEANUP(regex_set_release) struct regex_set set;
	regex_set_init(&set, true);
	regex_set_add(&set, c, c);
	return add_class(r, &set);
}

static void add_assert(struct reader *r, enum regex_assert kind)
{
	add_item(r, node_new(r, NODE_ASSERT, kind), 1);
}

static bool add_any(struct reader *r)
{
	CLEANUP(regex_set_release) struct regex_set set;
	regex_set_init(&set, false);
	if (r->flags & DOT_NL) {
		regex_set_add(&set, 0, REGEX_RUNE_MAX);
	} else {
		regex_set_add(&set, 0, '\n' - 1);
		regex_set_add(&set, '\n' + 1, REGEX_RUNE_MAX);
	}
	return add_class(r, &set);
}

/* ---- escapes ---- */
static int unhex(uint32_t c)
{
	if (c >= '0' && c <= '9')
		return (int)c - '0';
	if (c >= 'a' && c <= 'f')
		return (int)c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? (int)c - 'A' + 10 : -1;
}

static bool bad_escape(struct reader *r, struct str from, struct str rest)
{
	return fail(r, "invalid escape sequence", up_to(from, rest));
}

/* After \x{. */
static bool braced_hex(struct reader *r, struct str from, struct str *t, uint32_t *ret)
{
	uint32_t c, value = 0;
	for (int digits = 0;; digits++) {
		if (t->len == 0)
			return bad_escape(r, from, *t);
		if (!next_rune(r, t, &c))
			return false;
		if (c == '}' && digits)
			break;
		if (unhex(c) < 0)
			return bad_escape(r, from, *t);
		value = value * 16 + (uint32_t)unhex(c);
		if (value > REGEX_RUNE_MAX)
			return bad_escape(r, from, *t);
	}
	*ret = value;
	return true;
}

/* After \x. */
static bool hex_escape(struct reader *r, struct str from, struct str t, struct str *ret_rest,
		       uint32_t *ret)
{
	uint32_t c, value = 0;
	if (t.len == 0)
		return bad_escape(r, from, t);
	if (!next_rune(r, &t, &c))
		return false;
	if (c == '{') {
		if (!braced_hex(r, from, &t, &value))
			return false;
	} else {
		int hi = unhex(c);
		if (t.len == 0)
			return bad_escape(r, from, t);
		if (!next_rune(r, &t, &c))
			return false;
		if (hi < 0 || unhex(c) < 0)
			return bad_escape(r, from, t);
		value = (uint32_t)(hi * 16 + unhex(c));
	}
	*ret = value;
	*ret_rest = t;
	return true;
}

static bool is_octal(struct str t)
{
	return t.len && t.ptr[0] >= '0' && t.ptr[0] <= '7';
}

/* A single character after a backslash, at s. */
static bool read_escape(struct reader *r, struct str *s, uint32_t *ret)
{
	static const char names[] = "afnrtv", codes[] = "\a\f\n\r\t\v";
	struct str from = *s, t = str_skip(*s, 1);
	uint32_t c;
	if (t.len == 0)
		return fail(r, "trailing backslash at end of expression", STR(""));
	if (!next_rune(r, &t, &c))
		return false;
	const char *p = c && c < 0x80 ? strchr(names, (int)c) : NULL;
	if (c == 'x')
		return hex_escape(r, from, t, s, ret);
	if (c == '0' || (c >= '1' && c <= '7' && is_octal(t))) {
		uint32_t v = c - '0';
		for (int i = 1; i < 3 && is_octal(t); i++) {
			v = v * 8 + (uint32_t)(t.ptr[0] - '0');
			t = str_skip(t, 1);
		}
		c = v;
	} else if (p) {
		c = (unsigned char)codes[p - names];
	} else if (c >= 0x80 || char_is_alnum((char)c)) {
		return bad_escape(r, from, t);
	}
	*ret = c;
	*s = t;
	return true;
}

/* ---- classes ---- */
/* Pairs of first and last characters, in order. */
static const struct named_class {
	const char *name, *pairs;
	bool with_nul; /* the first pair starts at U+0000 */
} named_classes[] = {
	{"d", "09", false},           {"s", "\t\n\f\r  ", false},
	{"w", "09AZ__az", false},     {"alnum", "09AZaz", false},
	{"alpha", "AZaz", false},     {"ascii", "\001\177", true},
	{"blank", "\t\t  ", false},   {"cntrl", "\001\037\177\177", true},
	{"digit", "09", false},       {"graph", "!~", false},
	{"lower", "az", false},       {"print", " ~", false},
	{"punct", "!/:@[`{~", false}, {"space", "\t\r  ", false},
	{"upper", "AZ", false},       {"word", "09AZ__az", false},
	{"xdigit", "09AFaf", false},
};

#define PERL_CLASSES 3 /* the first of them are \d, \s, \w */

/* \d \s \w and their opposites. */
static bool perl_class(struct regex_set *set, struct str *s)
{
	if (s->len < 2 || s->ptr[0] != '\\')
		return false;
	for (size_t i = 0; i < PERL_CLASSES; i++) {
		char name = named_classes[i].name[0];
		if (s->ptr[1] != name && s->ptr[1] != char_upper(name))
			continue;
		regex_set_add_named(set, named_classes[i].pairs, false, s->ptr[1] != name);
		*s = str_skip(*s, 2);
		return true;
	}
	return false;
}

static bool is_word(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!char_is_alnum(name.ptr[i]) && name.ptr[i] != '_')
			return false;
	return name.len > 0;
}

static bool is_property_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!char_is_alnum(name.ptr[i]) && !memchr("_- ", name.ptr[i], 3))
			return false;
	return name.len > 0;
}

/* \pL, \p{Greek}, \P{^L}: *ret_none if there is none here. */
static bool unicode_class(struct reader *r, struct regex_set *set, struct str *s, bool *ret_none)
{
	*ret_none = s->len < 2 || s->ptr[0] != '\\' || (s->ptr[1] != 'p' && s->ptr[1] != 'P');
	if (*ret_none)
		return true;
	bool negative = s->ptr[1] == 'P';
	struct str t = str_skip(*s, 2), name, seq;
	uint32_t c;
	if (t.len == 0)
		return fail(r, "invalid character class range", *s);
	if (!next_rune(r, &t, &c))
		return false;
	if (c != '{') {
		seq = up_to(*s, t);
		name = str_skip(seq, 2);
	} else {
		ptrdiff_t end = str_find_char(*s, '}');
		if (end < 0)
			return fail(r, "invalid character class range", *s);
		seq = str_sub(*s, 0, (size_t)end + 1);
		t = str_skip(*s, (size_t)end + 1);
		name = str_sub(*s, 3, (size_t)end - 3);
	}
	if (str_has_prefix(name, STR("^"))) {
		negative = !negative;
		name = str_skip(name, 1);
	}
	if (!is_property_name(name) || !regex_set_add_property(set, name, negative))
		return fail(r, "invalid character class range", seq);
	*s = t;
	return true;
}

/* [:alpha:] inside brackets. */
static bool posix_class(struct reader *r, struct regex_set *set, struct str *s, bool *ret_none)
{
	*ret_none = true;
	if (s->len <= 2 || s->ptr[0] != '[' || s->ptr[1] != ':')
		return true;
	ptrdiff_t end = str_find(str_skip(*s, 2), STR(":]"));
	if (end < 0)
		return true;
	struct str text = str_sub(*s, 0, (size_t)end + 4), name = str_sub(*s, 2, (size_t)end);
	bool negated = str_has_prefix(name, STR("^"));
	name = str_skip(name, negated);
	for (size_t i = PERL_CLASSES; i < ARRAY_LEN(named_classes); i++) {
		const struct named_class *c = &named_classes[i];
		if (!str_is(name, c->name))
			continue;
		*ret_none = false;
		regex_set_add_named(set, c->pairs, c->with_nul, negated);
		*s = str_skip(*s, text.len);
		return true;
	}
	return fail(r, "invalid character class range", text);
}

static bool class_char(struct reader *r, struct str *s, struct str whole, uint32_t *ret)
{
	if (s->len == 0)
		return fail(r, "missing closing ]", whole);
	return s->ptr[0] == '\\' ? read_escape(r, s, ret) : next_rune(r, s, ret);
}

static bool class_range(struct reader *r, struct regex_set *set, struct str *s, struct str whole)
{
	struct str from = *s;
	uint32_t lo = 0, hi;
	if (!class_char(r, s, whole, &lo))
		return false;
	hi = lo;
	if (s->len >= 2 && s->ptr[0] == '-' && s->ptr[1] != ']') {
		*s = str_skip(*s, 1);
		if (!class_char(r, s, whole, &hi))
			return false;
		if (hi < lo)
			return fail(r, "invalid character class range", up_to(from, *s));
	}
	regex_set_add(set, lo, hi);
	return true;
}

static bool class_items(struct reader *r, struct regex_set *set, struct str *s, struct str whole)
{
	for (bool first = true; first || !s->len || s->ptr[0] != ']'; first = false) {
		bool none;
		if (!posix_class(r, set, s, &none))
			return false;
		if (none && !unicode_class(r, set, s, &none))
			return false;
		if (none && !perl_class(set, s) && !class_range(r, set, s, whole))
			return false;
	}
	return true;
}

static bool read_class(struct reader *r)
{
	struct str whole = r->s, s = str_skip(r->s, 1);
	CLEANUP(regex_set_release) struct regex_set set;
	regex_set_init(&set, r->flags & FOLD);
	set.negated = str_has_prefix(s, STR("^"));
	s = str_skip(s, set.negated);
	if (!class_items(r, &set, &s, whole))
		return false;
	r->s = str_skip(s, 1);
	return add_class(r, &set);
}

/* ---- groups ---- */
static bool open_group(struct reader *r, struct regex_node *node, unsigned flags)
{
	if (r->depth >= REGEX_DEPTH_MAX)
		return fail_limit(r, "nests deeper than", REGEX_DEPTH_MAX, "groups");
	r->groups[++r->depth] = (struct group){.alternatives = node_new(r, NODE_ALT, 0),
					       .sequence = node_new(r, NODE_CONCAT, 0),
					       .node = node,
					       .flags = r->flags,
					       .weight = 1};
	r->flags = flags;
	return true;
}

static bool capture(struct reader *r, struct str name)
{
	struct regex_tree *t = r->tree;
	if (t->n_groups >= REGEX_GROUPS_MAX)
		return fail_limit(r, "has more than", REGEX_GROUPS_MAX, "groups");
	t->names[t->n_groups++] = name;
	return open_group(r, node_new(r, NODE_GROUP, (uint32_t)t->n_groups), r->flags);
}

static bool named_group(struct reader *r, size_t name_at)
{
	ptrdiff_t end = str_find_char(r->s, '>');
	if (end < 0) {
		if (!utf8_valid(r->s))
			return fail(r, "invalid UTF-8", r->s);
		return fail(r, "invalid named capture", r->s);
	}
	struct str text = str_sub(r->s, 0, (size_t)end + 1);
	struct str name = str_skip(str_sub(text, 0, text.len - 1), name_at);
	if (!utf8_valid(name))
		return fail(r, "invalid UTF-8", name);
	if (!is_word(name))
		return fail(r, "invalid named capture", text);
	r->s = str_skip(r->s, text.len);
	return capture(r, name);
}

static unsigned flag_of(uint32_t c)
{
	return c == 'i'   ? FOLD
	       : c == 'm' ? MULTI_LINE
	       : c == 's' ? DOT_NL
	       : c == 'U' ? UNGREEDY
			  : 0;
}

/* (?i) (?i-s:...) (?P<n>...) */
static bool perl_group(struct reader *r)
{
	struct str from = r->s, t = str_skip(r->s, 2);
	if (from.len > 4 && str_has_prefix(t, STR("P<")))
		return named_group(r, 4);
	if (from.len > 3 && t.ptr[0] == '<')
		return named_group(r, 3);
	bool minus = false, some = false;
	unsigned flags = r->flags;
	uint32_t c = 0;
	while (t.len) {
		if (!next_rune(r, &t, &c))
			return false;
		unsigned flag = flag_of(c);
		if (flag) {
			some = true;
			flags = minus ? flags & ~flag : flags | flag;
		} else if (c == '-' && !minus) {
			minus = true;
			some = false;
		} else if ((c == ':' || c == ')') && (!minus || some)) {
			r->s = t;
			if (c == ':')
				return open_group(r, NULL, flags);
			r->flags = flags;
			return true;
		} else {
			break;
		}
	}
	return fail(r, "invalid or unsupported Perl syntax", up_to(from, t));
}

/* What a group holds, as one node. */
static struct regex_node *body_of(struct group *g)
{
	if (!g->alternatives->first)
		return g->sequence;
	add_below(g->alternatives, g->sequence);
	return g->alternatives;
}

static bool close_group(struct reader *r)
{
	if (r->depth == 0)
		return fail(r, "unexpected )", r->whole);
	struct group *g = group(r);
	struct regex_node *body = body_of(g);
	if (g->node)
		add_below(g->node, body);
	r->depth--;
	r->flags = g->flags;
	add_item(r, g->node ? g->node : body, g->weight);
	r->s = str_skip(r->s, 1);
	return true;
}

static void next_alternative(struct reader *r)
{
	struct group *g = group(r);
	add_below(g->alternatives, g->sequence);
	g->sequence = node_new(r, NODE_CONCAT, 0);
	g->last = 0;
	r->s = str_skip(r->s, 1);
}

/* ---- repeats ---- */
static bool read_int(struct str *s, int *ret)
{
	struct str t = *s;
	int n = 0;
	if (!t.len || !char_is_digit(t.ptr[0]))
		return false;
	if (t.len >= 2 && t.ptr[0] == '0' && char_is_digit(t.ptr[1]))
		return false;
	for (; t.len && char_is_digit(t.ptr[0]); t = str_skip(t, 1))
		if (n >= 0)
			n = n >= 100000000 ? -1 : n * 10 + (t.ptr[0] - '0');
	*s = t;
	*ret = n;
	return true;
}

/* {n} {n,} {n,m}; false: the brace is a literal. */
static bool read_counts(struct str s, int *ret_min, int *ret_max, struct str *ret_rest)
{
	s = str_skip(s, 1);
	if (!read_int(&s, ret_min) || !s.len)
		return false;
	*ret_max = *ret_min;
	if (s.ptr[0] == ',') {
		s = str_skip(s, 1);
		if (!s.len)
			return false;
		if (s.ptr[0] == '}')
			*ret_max = -1;
		else if (!read_int(&s, ret_max))
			return false;
		else if (*ret_max < 0)
			*ret_min = -1;
	}
	if (!s.len || s.ptr[0] != '}')
		return false;
	*ret_rest = str_skip(s, 1);
	return true;
}

/* The last item becomes a repeat of itself. */
static void wrap_last(struct reader *r, int min, int max, bool lazy)
{
	struct regex_node *last = group(r)->sequence->last;
	struct regex_node *inner = arena_memdup(r->a, last, sizeof(*last));
	*last = (struct regex_node){.op = NODE_REPEAT,
				    .lazy = lazy != !!(r->flags & UNGREEDY),
				    .min = min,
				    .max = max,
				    .first = inner,
				    .last = inner};
}

/* The repeat at from, its text without a following ?. */
static bool repeat(struct reader *r, struct str from, struct str after, int min, int max)
{
	struct group *g = group(r);
	bool lazy = after.len && after.ptr[0] == '?';
	after = str_skip(after, lazy);
	if (r->last_repeat.ptr)
		return fail(r, "invalid nested repetition operator", up_to(r->last_repeat, after));
	if (g->last == 0)
		return fail(r, "missing argument to repetition operator", up_to(from, after));
	if (from.ptr[0] == '{') {
		int m = max < 0 ? min : max;
		int weight = max == 0 ? 1 : (m > 1 ? m : 1) * g->last;
		if ((min >= 2 || max >= 2) && weight > REPEAT_MAX)
			return fail(r, "invalid repeat count", up_to(from, after));
		g->last = weight;
		if (weight > g->weight)
			g->weight = weight;
	}
	wrap_last(r, min, max, lazy);
	r->last_repeat = from;
	r->s = after;
	return true;
}

static bool read_repeat(struct reader *r)
{
	struct str from = r->s, after;
	int min, max;
	char c = from.ptr[0];
	if (c != '{')
		return repeat(r, from, str_skip(from, 1), c == '+', c == '?' ? 1 : -1);
	if (!read_counts(from, &min, &max, &after)) {
		r->last_repeat = STR_NONE;
		r->s = str_skip(from, 1);
		return add_rune(r, '{');
	}
	if (min < 0 || min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && min > max))
		return fail(r, "invalid repeat count", up_to(from, after));
	return repeat(r, from, after, min, max);
}

/* ---- the whole ---- */
static bool quoted_text(struct reader *r)
{
	struct str lit = str_skip(r->s, 2);
	ptrdiff_t end = str_find(lit, STR("\\E"));
	r->s = end < 0 ? STR("") : str_skip(lit, (size_t)end + 2);
	if (end >= 0)
		lit.len = (size_t)end;
	while (lit.len) {
		uint32_t c;
		if (!next_rune(r, &lit, &c) || !add_rune(r, c))
			return false;
	}
	return true;
}

static bool read_backslash(struct reader *r)
{
	static const char names[] = "AzbB";
	static const enum regex_assert kinds[] = {ASSERT_TEXT_START, ASSERT_TEXT_END, ASSERT_WORD,
						  ASSERT_NO_WORD};
	char c = r->s.len > 1 ? r->s.ptr[1] : '\0';
	const char *at = c ? strchr(names, c) : NULL;
	if (c == 'C')
		return fail(r, "invalid escape sequence", str_sub(r->s, 0, 2));
	if (c == 'Q')
		return quoted_text(r);
	if (at) {
		add_assert(r, kinds[at - names]);
		r->s = str_skip(r->s, 2);
		return true;
	}
	CLEANUP(regex_set_release) struct regex_set set;
	bool none;
	regex_set_init(&set, r->flags & FOLD);
	if (!unicode_class(r, &set, &r->s, &none))
		return false;
	if (!none || perl_class(&set, &r->s))
		return add_class(r, &set);
	uint32_t rune = 0;
	return read_escape(r, &r->s, &rune) && add_rune(r, rune);
}

static bool read_one(struct reader *r)
{
	uint32_t c;
	bool lines = r->flags & MULTI_LINE;
	switch (r->s.ptr[0]) {
	case '(':
		if (r->s.len >= 2 && r->s.ptr[1] == '?')
			return perl_group(r);
		r->s = str_skip(r->s, 1);
		return capture(r, STR(""));
	case '|':
		next_alternative(r);
		return true;
	case ')':
		return close_group(r);
	case '^':
		add_assert(r, lines ? ASSERT_LINE_START : ASSERT_TEXT_START);
		break;
	case '$':
		add_assert(r, lines ? ASSERT_LINE_END : ASSERT_TEXT_END);
		break;
	case '.':
		r->s = str_skip(r->s, 1);
		return add_any(r);
	case '[':
		return read_class(r);
	case '\\':
		return read_backslash(r);
	default:
		return next_rune(r, &r->s, &c) && add_rune(r, c);
	}
	r->s = str_skip(r->s, 1);
	return true;
}

static bool read_all(struct reader *r)
{
	while (r->s.len) {
		char c = r->s.ptr[0];
		if (c == '*' || c == '+' || c == '?' || c == '{') {
			if (!read_repeat(r))
				return false;
			continue;
		}
		r->last_repeat = STR_NONE;
		if (!read_one(r))
			return false;
	}
	return r->depth == 0 || fail(r, "missing closing )", r->whole);
}

int regex_parse(struct str pattern, struct arena *a, struct regex_tree *ret, struct strbuf *msg)
{
	struct reader *r = ARENA_NEW(a, struct reader);
	*r = (struct reader){.whole = pattern, .s = pattern, .a = a, .tree = ret, .msg = msg};
	if (pattern.len > REGEX_BYTES_MAX) {
		fail_limit(r, "is longer than", REGEX_BYTES_MAX, "bytes");
		return r->code;
	}
	ret->class_index = map_new(NULL);
	r->groups[0] = (struct group){.alternatives = node_new(r, NODE_ALT, 0),
				      .sequence = node_new(r, NODE_CONCAT, 0),
				      .weight = 1};
	if (read_all(r))
		ret->root = body_of(&r->groups[0]);
	map_free(STEAL(ret->class_index));
	return r->code;
}
