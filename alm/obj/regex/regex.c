/* regex: see regex.h. */
#include "alm/obj/regex/regex.h"

#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/regex/regex_node.h"

#define PARSE_BYTES_MAX  ((size_t)64 << 20) /* 64 KiB of single characters take 8 MiB */
#define CACHE_ENTRIES    512
#define CACHE_INSTS      ((size_t)256 << 10)
#define STEPS_OF_A_BYTE  8 /* what making a program costs: measured, for each byte of its text */
#define STEPS_OF_AN_INST 2

static void tree_release(struct regex_tree *t)
{
	for (size_t i = 0; i < t->n_classes; i++)
		regex_class_free(t->classes[i]);
	xfree(t->classes);
}

int regex_new_msg(struct str pattern, struct regex **ret, struct strbuf *msg)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(PARSE_BYTES_MAX);
	struct regex_tree *tree = ARENA_NEW(a, struct regex_tree);
	int code = regex_parse(pattern, a, tree, msg);
	if (code < 0) {
		tree_release(tree);
		return code;
	}
	CLEANUP(regex_freep) struct regex *re = xcalloc(1, sizeof(*re));
	re->classes = tree->classes;
	re->n_classes = tree->n_classes;
	re->n_groups = tree->n_groups;
	re->names = xcalloc(re->n_groups, sizeof(*re->names));
	for (size_t i = 0; i < re->n_groups; i++)
		re->names[i] = str_dup(tree->names[i]);
	if (!regex_compile(tree, re)) {
		strbuf_adds(msg, "error parsing regexp: expression too large: `");
		strbuf_addstr(msg, pattern);
		strbuf_addc(msg, '`');
		return -E_INVALID;
	}
	*ret = STEAL(re);
	return 0;
}

int regex_new(struct str pattern, struct regex **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	int code = regex_new_msg(pattern, ret, &msg);
	return code < 0 ? error_set(err, -code, "%s", msg.buf) : 0;
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	for (size_t i = 0; i < re->n_classes; i++)
		regex_class_free(re->classes[i]);
	for (size_t i = 0; i < re->n_groups; i++)
		xfree(re->names[i]);
	xfree(re->classes);
	xfree(re->names);
	xfree(re->insts);
	xfree(re);
}

size_t regex_groups(const struct regex *re)
{
	return re->n_groups;
}

struct str regex_group_name(const struct regex *re, size_t i)
{
	return i < re->n_groups ? str_of(re->names[i]) : STR("");
}

/* Programs that were made before; one that is not there is made again. */
static struct {
	struct map *programs;
	size_t insts;
} cache;

static void free_program(void *p)
{
	regex_free(p);
}

/* A key holds no NUL, a pattern may: its hexadecimal digits stand for it, behind a control
 * character that tells them from a pattern. Owned. */
static char *key_of(struct str pattern)
{
	if (str_find_char(pattern, '\0') < 0)
		return str_dup(pattern);
	char *key = xmalloc(2 * pattern.len + 2);
	key[0] = '\001';
	hex_encode(pattern.ptr, pattern.len, key + 1);
	return key;
}

/* Borrowed until the next call. */
static int program_of(struct str pattern, struct regex **ret, uint64_t *steps, struct error *err)
{
	if (!cache.programs)
		cache.programs = map_new(free_program);
	CLEANUP(xfreep) char *key = key_of(pattern);
	struct regex *re = map_get(cache.programs, key);
	if (re) {
		*ret = re;
		return 0;
	}
	uint64_t cost = pattern.len * STEPS_OF_A_BYTE;
	if (regex_new(pattern, &re, err) < 0)
		return -err->code;
	cost += re->n * STEPS_OF_AN_INST;
	*steps -= cost < *steps ? cost : *steps;
	if (map_count(cache.programs) >= CACHE_ENTRIES || cache.insts + re->n > CACHE_INSTS) {
		map_clear(cache.programs);
		cache.insts = 0;
	}
	map_set(cache.programs, key, re);
	cache.insts += re->n;
	*ret = re;
	return 0;
}

int regex_matches(struct str pattern, struct str text, uint64_t *steps, struct error *err)
{
	struct regex *re = NULL;
	if (program_of(pattern, &re, steps, err) < 0)
		return -err->code;
	return (int)regex_match(re, text, 0, NULL, steps);
}
