/* An inventory that one ConfigMap does not take: which of them has a line. */
#include <stdlib.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/unit/inventory.h"

#define UID_BYTES    36 /* a line is to have them once it is known */
#define DIGEST_BYTES 64

struct piece {
	size_t bytes;  /* of its lines as they are */
	size_t bounds; /* as they may be */
};

struct placing {
	struct inventory_pieces *now;
	struct piece pieces[INVENTORY_PIECES_MAX + 1];
	size_t bytes_max;
	struct arena *a;
};

bool inventory_count(const char *text, size_t *ret)
{
	uint64_t n;
	if (!str_parse_u64(str_of(text), &n) || !n || n > INVENTORY_PIECES_MAX)
		return false;
	*ret = (size_t)n;
	return true;
}

struct inventory inventory_join(const struct inventory *pieces, size_t n, struct arena *a)
{
	struct inventory all = {0};
	size_t lines = 0;
	if (n == 1)
		return pieces[0];
	for (size_t i = 0; i < n; i++)
		lines += pieces[i].n;
	all.lines = ARENA_ARRAY(a, struct inventory_line, lines + 1);
	CLEANUP(map_freep) struct map *ids = map_new(NULL);
	for (size_t i = n; i-- > 0;)
		for (size_t k = 0; k < pieces[i].n; k++) {
			const char *id = inventory_id(&pieces[i].lines[k], a);
			if (map_has(ids, id))
				continue;
			map_set(ids, id, NULL);
			all.lines[all.n++] = pieces[i].lines[k];
		}
	return all;
}

/* --- sizes --- */

static size_t at_least(const char *s, size_t least)
{
	size_t n = s ? strlen(s) : 1;
	return n > least ? n : least;
}

static size_t line_bytes(const struct inventory_line *l, size_t uid, size_t digest)
{
	return strlen(l->api_version) + strlen(l->kind) + at_least(l->ns, 0) + strlen(l->name) +
	       at_least(l->uid, uid) + at_least(l->digest, digest) + strlen(l->key) +
	       sizeof("      \n") - 1;
}

static void put(struct placing *p, struct inventory_line *l, size_t piece)
{
	l->piece = piece;
	p->pieces[piece].bytes += line_bytes(l, 0, 0);
	p->pieces[piece].bounds += line_bytes(l, UID_BYTES, DIGEST_BYTES);
	if (p->now->n < piece)
		p->now->n = piece;
}

/* New lines leave a third of a piece to those that grow. */
static bool has_room(const struct placing *p, size_t piece, const struct inventory_line *l)
{
	const struct piece *x = &p->pieces[piece];
	size_t bounds = line_bytes(l, UID_BYTES, DIGEST_BYTES);
	return x->bytes ? x->bounds + bounds <= p->bytes_max / 3 * 2 : bounds <= p->bytes_max;
}

/* --- where --- */

static struct map *places_of(const struct inventory *i, struct arena *a)
{
	struct map *places = map_new(NULL);
	for (size_t k = 0; k < i->n; k++)
		map_set_number(places, inventory_id(&i->lines[k], a), i->lines[k].piece);
	return places;
}

/* What was late is wanted again, or the other way round: its piece has it either way. *after: of each
 * line the piece that it has grown out of, or 0. */
static void put_known(struct placing *p, struct inventory *i, const struct map *first,
		      const struct map *then, size_t *after)
{
	for (size_t k = 0; k < i->n; k++) {
		struct inventory_line *l = &i->lines[k];
		const char *id = inventory_id(l, p->a);
		size_t at = map_number(first, id);
		at = at ? at : map_number(then, id);
		l->piece = 0;
		if (at && p->pieces[at].bytes + line_bytes(l, 0, 0) <= p->bytes_max)
			put(p, l, at);
		else
			after[k] = at;
	}
}

static bool put_other(struct placing *p, struct inventory *i, const size_t *after)
{
	size_t first = 1; /* that may have room */
	for (size_t k = 0; k < i->n; k++) {
		struct inventory_line *l = &i->lines[k];
		if (l->piece)
			continue;
		size_t to = after[k] ? after[k] + 1 : first;
		while (to <= INVENTORY_PIECES_MAX && !has_room(p, to, l))
			to++;
		if (to > INVENTORY_PIECES_MAX)
			return false;
		put(p, l, to);
		first = after[k] ? first : to;
		p->now->moves |= after[k] > 0;
	}
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	const struct inventory_line *x = a, *y = b;
	int c = strcmp(x->api_version, y->api_version);
	c = c ? c : strcmp(x->kind, y->kind);
	c = c ? c : strcmp(x->ns ? x->ns : "-", y->ns ? y->ns : "-");
	return c ? c : strcmp(x->name, y->name);
}

static void sort(struct inventory *i)
{
	if (i->n)
		qsort(i->lines, i->n, sizeof(*i->lines), by_bytes);
}

/* One piece that takes all of it needs no search. */
static bool fit_one(const struct placing *p, struct inventory *i, size_t *bytes)
{
	for (size_t k = 0; k < i->n; k++) {
		*bytes += line_bytes(&i->lines[k], UID_BYTES, DIGEST_BYTES);
		i->lines[k].piece = 1;
	}
	return *bytes <= p->bytes_max / 3 * 2;
}

int inventory_place(struct inventory_pieces *now, const struct inventory_pieces *was,
		    size_t bytes_max, struct arena *a, struct error *err)
{
	struct placing p = {.now = now, .bytes_max = bytes_max, .a = a};
	size_t bytes = 0;
	now->n = was->n > 1 ? was->n : 1;
	now->moves = false;
	sort(&now->lines);
	sort(&now->late);
	if (now->n == 1 && fit_one(&p, &now->lines, &bytes) && fit_one(&p, &now->late, &bytes))
		return 0;
	CLEANUP(map_freep) struct map *lines = places_of(&was->lines, a);
	CLEANUP(map_freep) struct map *late = places_of(&was->late, a);
	size_t *after = ARENA_ARRAY(a, size_t, now->lines.n + 1);
	size_t *late_after = ARENA_ARRAY(a, size_t, now->late.n + 1);
	put_known(&p, &now->lines, lines, late, after);
	put_known(&p, &now->late, late, lines, late_after);
	if (!put_other(&p, &now->lines, after) || !put_other(&p, &now->late, late_after))
		return error_set(err, E_LIMIT,
				 "the inventory of %zu objects does not fit into %d ConfigMaps of "
				 "%zu bytes: make several units of it",
				 now->lines.n, INVENTORY_PIECES_MAX, bytes_max);
	return 0;
}

void inventory_print(const struct inventory *i, size_t piece, struct strbuf *b)
{
	for (size_t k = 0; k < i->n; k++) {
		const struct inventory_line *l = &i->lines[k];
		if (l->piece != piece)
			continue;
		strbuf_addf(b, "%s %s %s %s %s %s ", l->api_version, l->kind, l->ns ? l->ns : "-",
			    l->name, l->uid ? l->uid : "-", l->digest);
		for (const char *c = l->key; *c; c++)
			strbuf_addc(b, *c == '\n' ? ' ' : *c);
		strbuf_addc(b, '\n');
	}
}
