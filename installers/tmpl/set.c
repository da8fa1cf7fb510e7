/* set: parsed templates by name, functions by name. */
#include <string.h>

#include "installers/tmpl/run.h"

#define SET_BYTES_MAX ((size_t)512 << 20)

static const struct tmpl_func *const tables[] = {
	tmpl_fn_core, tmpl_fn_text, tmpl_fn_list,   tmpl_fn_dict,   tmpl_fn_math,
	tmpl_fn_date, tmpl_fn_misc, tmpl_fn_encode, tmpl_fn_crypto, tmpl_fn_regex,
};

static bool in_profile(const struct tmpl_func *f, enum tmpl_profile profile)
{
	if (f->flags & TMPL_FN_FROM_41)
		return profile != TMPL_PROFILE_3;
	return !(f->flags & TMPL_FN_FROM_42) || profile == TMPL_PROFILE_4_2;
}

struct tmpl_set *tmpl_set_new(enum tmpl_profile profile, bool strict)
{
	struct arena *a = arena_new(SET_BYTES_MAX);
	struct tmpl_set *set = ARENA_NEW(a, struct tmpl_set);
	set->arena = a;
	set->profile = profile;
	set->strict = strict;
	table_init(&set->trees, a);
	table_init(&set->functions, a);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		for (const struct tmpl_func *f = tables[i]; f->name; f++) {
			if (in_profile(f, profile))
				table_set(&set->functions, str_of(f->name),
					  arena_memdup(a, f, sizeof(*f)));
		}
	}
	return set;
}

void tmpl_set_free(struct tmpl_set *set)
{
	if (set)
		arena_free(set->arena);
}

const struct tmpl_func *set_function(const void *set, struct str name)
{
	const struct tmpl_set *s = set;
	return table_get(&s->functions, name);
}

const struct tmpl_func *tmpl_function_at(size_t i)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		for (const struct tmpl_func *f = tables[t]; f->name; f++) {
			if (i-- == 0)
				return f;
		}
	}
	return NULL;
}

/* An empty body never replaces another template. */
static void join(struct tmpl_set *set, struct tree *tree)
{
	if (node_is_empty(tree->root) && table_get(&set->trees, tree->name))
		return;
	table_set(&set->trees, tree->name, tree);
}

int tmpl_set_add(struct tmpl_set *set, struct str name, struct str text, struct strbuf *msg)
{
	struct arena *a = set->arena;
	name = value_text(value_strcpy(a, name));
	text = value_text(value_strcpy(a, text));
	CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(STRBUF_SMALL);
	struct parsed *parsed;
	int r = parse_template(a, name, text, set_function, set, &parsed, &raw);
	if (r < 0) {
		failure_print_parse(name, strbuf_str(&raw), msg);
		return r;
	}
	for (size_t i = 0; i < parsed->n; i++)
		join(set, parsed->trees[i]);
	return 0;
}

static size_t slashes(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++)
		n += s.ptr[i] == '/';
	return n;
}

int tmpl_order_cmp(struct str a, struct str b)
{
	size_t x = slashes(a), y = slashes(b);
	return x != y ? (x < y) - (x > y) : str_cmp(b, a);
}

bool tmpl_set_has(const struct tmpl_set *set, struct str name)
{
	return table_get(&set->trees, name) != NULL;
}
