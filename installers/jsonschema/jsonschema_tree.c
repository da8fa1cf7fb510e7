#include "installers/jsonschema/jsonschema_tree.h"

#include <stdlib.h>
#include <string.h>

struct str place_text(struct arena *a, const struct place *at)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct place *chain[VALUE_DEPTH_MAX];
	size_t n = 0;
	for (; at && n < VALUE_DEPTH_MAX; at = at->up)
		chain[n++] = at;
	while (n-- > 0) {
		strbuf_addc(&b, '/');
		if (!chain[n]->key.ptr)
			strbuf_addf(&b, "%zu", chain[n]->index);
		for (size_t i = 0; chain[n]->key.ptr && i < chain[n]->key.len; i++) {
			char c = chain[n]->key.ptr[i];
			if (c == '~' || c == '/')
				strbuf_adds(&b, c == '~' ? "~0" : "~1");
			else
				strbuf_addc(&b, c);
		}
	}
	return str_n(arena_text(a, b.buf, b.len), b.len);
}

struct violation *violation_new(struct schema_run *r, const struct place *at, const char *fmt, ...)
{
	struct violation *x = ARENA_NEW(r->a, struct violation);
	va_list args;
	va_start(args, fmt);
	x->text = arena_vfmt(r->a, fmt, args);
	va_end(args);
	x->at = place_text(r->a, at);
	return x;
}

void violation_add(struct schema_run *r, struct violation *to, struct violation *kid)
{
	ARENA_GROW(r->a, to->kids, to->cap, to->n, 4);
	to->kids[to->n++] = kid;
}

void schema_broken(struct schema_run *r, const char *fmt, ...)
{
	if (r->broken)
		return;
	r->broken = true;
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(r->msg, fmt, args);
	va_end(args);
}

struct str schema_quote(struct arena *a, struct str s)
{
	CLEANUP(strbuf_release) struct strbuf q = STRBUF_INIT(s.len * 8 + 64);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(s.len * 8 + 64);
	value_quote(&q, s);
	strbuf_addc(&b, '\'');
	/* The last mark counts, too: of a text that ends with a backslash helm shows one less. */
	for (size_t i = 1; i + 1 < q.len; i++) {
		if (q.buf[i] == '\\' && q.buf[i + 1] == '"')
			continue;
		if (q.buf[i] == '\'')
			strbuf_addc(&b, '\\');
		strbuf_addc(&b, q.buf[i]);
	}
	strbuf_addc(&b, '\'');
	return str_n(arena_text(a, b.buf, b.len), b.len);
}

struct violation *violation_group(struct schema_run *r, const struct place *at, const char *text,
				  const struct violation *of)
{
	struct violation *group = violation_new(r, at, "%s", text);
	group->kids = of->kids;
	group->n = of->n;
	return group;
}

void violation_add_found(struct schema_run *r, const struct place *at,
			 const struct violation *found, struct violation *out)
{
	if (found->n == 1)
		violation_add(r, out, found->kids[0]);
	if (found->n <= 1)
		return;
	struct violation *group = violation_group(r, at, "validation failed", found);
	group->group = true;
	violation_add(r, out, group);
}

/* Those of a list are numbers, and come first: qsort() wants one order of all three of "9", "10" and "1a". */
static int cmp_steps(struct str a, struct str b)
{
	uint64_t i, j;
	bool first = str_parse_u64(a, &i), second = str_parse_u64(b, &j);
	if (first != second)
		return first ? -1 : 1;
	if (first && i != j)
		return i < j ? -1 : 1;
	return str_cmp(a, b);
}

/* By the first step in which they differ. */
static int cmp_places(struct str a, struct str b)
{
	struct str x, y, rest = a, other = b;
	while (rest.len && other.len) {
		str_cut(rest, '/', &x, &rest);
		str_cut(other, '/', &y, &other);
		if (!str_eq(x, y))
			return cmp_steps(x, y);
	}
	return str_cmp(a, b);
}

static int by_place(const void *a, const void *b)
{
	const struct violation *const *x = a, *const *y = b;
	int c = cmp_places((*x)->at, (*y)->at);
	return c ? c : strcmp((*x)->text, (*y)->text);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the checks that made it */
static void print(const struct violation *x, size_t depth, struct strbuf *b)
{
	strbuf_pad(b, ' ', depth * 2);
	strbuf_addf(b, "- at '%.*s': %s\n", STR_ARG(x->at), x->text);
	for (size_t i = 0; i < x->n; i++)
		print(x->kids[i], depth + 1, b);
}
void violation_flatten(struct violation *x)
{
	if (x->n != 1 || !x->kids[0]->group)
		return;
	x->n = x->kids[0]->n;
	x->kids = x->kids[0]->kids;
}

void violation_print(const struct violation *top, struct strbuf *b)
{
	for (size_t i = 0; i < top->n; i++)
		print(top->kids[i], 0, b);
}

void violation_print_sorted(struct violation *top, struct strbuf *b)
{
	violation_flatten(top);
	qsort((void *)top->kids, top->n, sizeof(*top->kids), by_place);
	violation_print(top, b);
}
