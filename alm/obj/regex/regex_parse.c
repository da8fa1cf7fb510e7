/* regex_parse: a pattern by RE2's grammar (Go's regexp/syntax, flags Perl) to a tree; what RE2
 * refuses is refused with Go's message. */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex_chars.h"
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
	struct regex_fault fault;
	unsigned flags;
	struct group groups[REGEX_DEPTH_MAX + 1];
	size_t depth;
	struct str last_repeat; /* from the start of the repeat before, if it came just before */
};

/* ---- errors ---- */
static bool fail_limit(struct reader *r, const char *what, size_t max, const char *unit)
{
	r->fault.code = -E_LIMIT;
	strbuf_addf(r->fault.msg, "a regular expression %s %zu %s", what, max, unit);
	return false;
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
			return regex_fail(&r->fault, "expression too large", r->whole);
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

/* ---- classes ---- */
static bool is_word(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!char_is_alnum(name.ptr[i]) && name.ptr[i] != '_')
			return false;
	return name.len > 0;
}

static bool read_class(struct reader *r)
{
	struct str whole = r->s, s = str_skip(r->s, 1);
	CLEANUP(regex_set_release) struct regex_set set;
	regex_set_init(&set, r->flags & FOLD);
	set.negated = str_has_prefix(s, STR("^"));
	s = str_skip(s, set.negated);
	if (!regex_read_set(&r->fault, &set, &s, whole))
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
			return regex_fail(&r->fault, "invalid UTF-8", r->s);
		return regex_fail(&r->fault, "invalid named capture", r->s);
	}
	struct str text = str_sub(r->s, 0, (size_t)end + 1);
	struct str name = str_skip(str_sub(text, 0, text.len - 1), name_at);
	if (!utf8_valid(name))
		return regex_fail(&r->fault, "invalid UTF-8", name);
	if (!is_word(name))
		return regex_fail(&r->fault, "invalid named capture", text);
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
		if (!regex_next_rune(&r->fault, &t, &c))
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
	return regex_fail(&r->fault, "invalid or unsupported Perl syntax", regex_up_to(from, t));
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
		return regex_fail(&r->fault, "unexpected )", r->whole);
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
		return regex_fail(&r->fault, "invalid nested repetition operator",
				  regex_up_to(r->last_repeat, after));
	if (g->last == 0)
		return regex_fail(&r->fault, "missing argument to repetition operator",
				  regex_up_to(from, after));
	if (from.ptr[0] == '{') {
		int m = max < 0 ? min : max;
		int weight = max == 0 ? 1 : (m > 1 ? m : 1) * g->last;
		if ((min >= 2 || max >= 2) && weight > REPEAT_MAX)
			return regex_fail(&r->fault, "invalid repeat count",
					  regex_up_to(from, after));
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
		return regex_fail(&r->fault, "invalid repeat count", regex_up_to(from, after));
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
		if (!regex_next_rune(&r->fault, &lit, &c) || !add_rune(r, c))
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
		return regex_fail(&r->fault, "invalid escape sequence", str_sub(r->s, 0, 2));
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
	if (!regex_read_unicode_class(&r->fault, &set, &r->s, &none))
		return false;
	if (!none || regex_read_perl_class(&set, &r->s))
		return add_class(r, &set);
	uint32_t rune = 0;
	return regex_read_escape(&r->fault, &r->s, &rune) && add_rune(r, rune);
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
		return regex_next_rune(&r->fault, &r->s, &c) && add_rune(r, c);
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
	return r->depth == 0 || regex_fail(&r->fault, "missing closing )", r->whole);
}

int regex_parse(struct str pattern, struct arena *a, struct regex_tree *ret, struct strbuf *msg)
{
	struct reader *r = ARENA_NEW(a, struct reader);
	*r = (struct reader){.whole = pattern, .s = pattern, .a = a, .tree = ret, .fault.msg = msg};
	if (pattern.len > REGEX_BYTES_MAX) {
		fail_limit(r, "is longer than", REGEX_BYTES_MAX, "bytes");
		return r->fault.code;
	}
	ret->class_index = map_new(NULL);
	r->groups[0] = (struct group){.alternatives = node_new(r, NODE_ALT, 0),
				      .sequence = node_new(r, NODE_CONCAT, 0),
				      .weight = 1};
	if (read_all(r))
		ret->root = body_of(&r->groups[0]);
	map_free(STEAL(ret->class_index));
	return r->fault.code;
}
