/* set: parsed templates by name, functions by name. */

#include "installers/tmpl/run.h"

#define SET_BYTES_MAX ((size_t)512 << 20)

static const struct tmpl_func *const tables[] = {
	tmpl_fn_core,   tmpl_fn_compare, tmpl_fn_text,  tmpl_fn_cut,  tmpl_fn_random,
	tmpl_fn_list,   tmpl_fn_dict,    tmpl_fn_math,  tmpl_fn_date, tmpl_fn_misc,
	tmpl_fn_encode, tmpl_fn_crypto,  tmpl_fn_regex,
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
	table_init(&set->later, a);
	set->end_later = &set->first_later;
	set->texts = a;
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		for (const struct tmpl_func *f = tables[i]; f->name; f++) {
			if (in_profile(f, profile))
				table_set(&set->functions, str_of(f->name),
					  arena_memdup(a, f, sizeof(*f)));
		}
	}
	return set;
}

void tmpl_set_lenient(struct tmpl_set *set)
{
	set->lenient = true;
}

void tmpl_set_free(struct tmpl_set *set)
{
	if (!set)
		return;
	arena_free(set->short_lived);
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

static int parse(const struct tmpl_set *set, struct arena *a, struct str name, struct str text,
		 struct parsed **ret, struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(STRBUF_SMALL);
	const struct parse_input in = {.name = name,
				       .text = text,
				       .arena = a,
				       .texts = set->texts,
				       .lookup = set_function,
				       .ctx = set};
	int r = parse_template(&in, ret, &raw);
	if (r < 0)
		failure_print_parse(name, strbuf_str(&raw), msg);
	return r;
}

/* Its turn has come, as there is another template of its name. It has no defines. */
static int add_known(struct tmpl_set *set, struct str name, struct strbuf *msg)
{
	struct later *l = table_get(&set->later, name);
	struct parsed *parsed;
	if (!l || l->is_known)
		return 0;
	l->is_known = true;
	int r = parse(set, set->arena, l->name, l->text, &parsed, msg);
	if (r == 0)
		table_set(&set->trees, l->name, parsed->main);
	return r;
}

/* An empty body never replaces another. */
static int join(struct tmpl_set *set, struct tmpl_tree *tree, struct strbuf *msg)
{
	int r = add_known(set, tree->name, msg);
	if (r < 0)
		return r;
	if (!node_is_empty(tree->root) || !table_get(&set->trees, tree->name))
		table_set(&set->trees, tree->name, tree);
	return 0;
}

static int add(struct tmpl_set *set, struct str name, struct str text, struct strbuf *msg)
{
	struct parsed *parsed;
	int r = parse(set, set->arena, name, text, &parsed, msg);
	for (size_t i = 0; r == 0 && i < parsed->n; i++)
		r = join(set, parsed->trees[i], msg);
	return r;
}

int tmpl_set_add(struct tmpl_set *set, struct str name, struct str text, struct strbuf *msg)
{
	return add(set, value_text(value_strcpy(set->arena, name)), text, msg);
}

/* Looks at the words behind each {{ only: "define" and "block" are what makes a template in one. */
static bool has_defines(struct str text)
{
	for (ptrdiff_t i; (i = str_find_char(text, '{')) >= 0;) {
		text = str_skip(text, (size_t)i + 1);
		if (!str_has_prefix(text, STR("{")))
			continue;
		struct str word = str_trim_left(str_skip(text, 1));
		if (str_has_prefix(word, STR("-")))
			word = str_trim_left(str_skip(word, 1));
		if (str_has_prefix(word, STR("define")) || str_has_prefix(word, STR("block")))
			return true;
	}
	return false;
}

static bool has_template(const struct tmpl_set *set, struct str name)
{
	return table_get(&set->trees, name) || table_get(&set->later, name);
}

int tmpl_set_add_later(struct tmpl_set *set, struct str name, struct str text, struct strbuf *msg)
{
	if (has_template(set, name) || has_defines(text))
		return tmpl_set_add(set, name, text, msg);
	struct later *l = ARENA_NEW(set->arena, struct later);
	l->name = value_text(value_strcpy(set->arena, name));
	l->text = text;
	*set->end_later = l;
	set->end_later = &l->next;
	table_set(&set->later, l->name, l);
	return 0;
}

const struct tmpl_tree *set_tree(struct tmpl_set *set, struct str name)
{
	const struct tmpl_tree *known = table_get(&set->trees, name);
	struct later *l = known ? NULL : table_get(&set->later, name);
	if (!l)
		return known;
	if (l->tree)
		return l->tree;
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct parsed *parsed;
	if (!set->short_lived)
		set->short_lived = arena_new(SET_BYTES_MAX);
	if (parse(set, set->short_lived, l->name, l->text, &parsed, &msg) < 0)
		return NULL; /* tmpl_set_check() will tell */
	l->tree = parsed->main;
	l->next_loaded = set->loaded;
	set->loaded = l;
	return l->tree;
}

void set_forget(struct tmpl_set *set)
{
	if (!set->short_lived)
		return;
	for (; set->loaded; set->loaded = set->loaded->next_loaded)
		set->loaded->tree = NULL;
	arena_free(set->short_lived);
	set->short_lived = NULL;
}

int tmpl_set_check(struct tmpl_set *set, struct strbuf *msg)
{
	for (struct later *l = set->first_later; l; l = l->next) {
		CLEANUP(arena_freep) struct arena *a = arena_new(SET_BYTES_MAX);
		struct parsed *parsed;
		int r = l->is_known ? 0 : parse(set, a, l->name, l->text, &parsed, msg);
		if (r < 0)
			return r;
	}
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
