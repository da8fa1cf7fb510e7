/* regex_node: a pattern as a tree and as a program. Private to regex*.c. */
#ifndef ALM_OBJ_REGEX_REGEX_NODE_H
#define ALM_OBJ_REGEX_REGEX_NODE_H

#include <stdbool.h>

#include "alm/base/arena.h"
#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex.h"

#define REGEX_RUNE_ERROR 0xFFFDu
#define REGEX_RUNE_MAX   0x10FFFFu

struct regex_range {
	uint32_t lo, hi;
};

/* A set of characters. Most are ranges; \p{...} and the case folding of what is not ASCII are asked
 * of PCRE2, one character at a time. */
struct regex_class {
	uint64_t ascii[2];
	struct regex_range *ranges; /* sorted, disjoint, with the negation done; not with code */
	size_t n;
	void *code;    /* pcre2_code, or NULL */
	bool negated;  /* what code says */
	uint32_t cost; /* steps of one question beyond ASCII */
};

enum regex_assert {
	ASSERT_LINE_START,
	ASSERT_LINE_END,
	ASSERT_TEXT_START,
	ASSERT_TEXT_END,
	ASSERT_WORD,
	ASSERT_NO_WORD,
};

enum regex_op {
	NODE_RUNE,
	NODE_CLASS,
	NODE_ASSERT,
	NODE_GROUP,
	NODE_REPEAT,
	NODE_CONCAT,
	NODE_ALT
};

struct regex_node {
	enum regex_op op;
	bool lazy;                       /* REPEAT */
	int min, max;                    /* REPEAT; max -1: no end */
	uint32_t value;                  /* the rune, class, assertion; of a GROUP its number */
	struct regex_node *first, *last; /* below it */
	struct regex_node *next;         /* beside it */
};

struct regex_tree {
	struct regex_node *root;
	struct str names[REGEX_GROUPS_MAX]; /* of group 1 and on */
	size_t n_groups;
	struct regex_class **classes;
	size_t n_classes, cap_classes;
	struct map *class_index; /* by regex_set_key(); of regex_parse() */
};

/* The tree lives in a; its classes belong to the caller, also after a failure, which returns the
 * negative code with the message in msg. */
int regex_parse(struct str pattern, struct arena *a, struct regex_tree *ret, struct strbuf *msg);

struct regex_ranges {
	struct regex_range *items; /* any order */
	size_t n, cap;
};

/* What stands between brackets. */
struct regex_set {
	struct regex_ranges ranges; /* as written */
	struct regex_ranges named;  /* of \d, [:alpha:] and the like, folded already */
	struct strbuf properties;   /* of PCRE2: \p{...} and \P{...} */
	bool negated, fold;
};
void regex_set_init(struct regex_set *s, bool fold);
void regex_set_release(struct regex_set *s);
void regex_set_add(struct regex_set *s, uint32_t lo, uint32_t hi);
/* The ranges of a named class: pairs of first and last characters, with_nul from U+0000 on. */
void regex_set_add_named(struct regex_set *s, const char *pairs, bool with_nul, bool negated);
/* False if there is no Unicode class of that name, in Go's spelling: "L", "Lu", "Greek", "Any". */
bool regex_set_add_property(struct regex_set *s, struct str name, bool negated);
void regex_set_key(const struct regex_set *s, struct strbuf *b); /* equal for equal sets */
struct regex_class *regex_class_new(const struct regex_set *s);  /* NULL: too large */
void regex_class_free(struct regex_class *c);
bool regex_class_has(const struct regex_class *c, uint32_t rune);

enum inst_op { INST_RUNE, INST_CLASS, INST_ASSERT, INST_SAVE, INST_JUMP, INST_SPLIT, INST_MATCH };

struct regex_inst {
	enum inst_op op;
	uint32_t x, y; /* rune, class, assertion, slot; JUMP: to x; SPLIT: x is tried first */
};

struct regex {
	struct regex_inst *insts;
	size_t n, cap;
	struct regex_class **classes;
	size_t n_classes;
	size_t n_groups;
	char **names;  /* of groups; owned */
	bool anchored; /* begins with \A */
};

/* False if it has more than REGEX_INSTS_MAX instructions. */
bool regex_compile(const struct regex_tree *tree, struct regex *re);

/* The next character: bytes, 0 at the end; an invalid byte is U+FFFD of one. */
static inline size_t regex_rune(struct str s, size_t at, uint32_t *ret)
{
	if (at >= s.len)
		return 0;
	unsigned char c = (unsigned char)s.ptr[at];
	*ret = c;
	if (c < 0x80)
		return 1;
	size_t n = utf8_decode(str_skip(s, at), ret);
	if (n)
		return n;
	*ret = REGEX_RUNE_ERROR;
	return 1;
}

#endif
