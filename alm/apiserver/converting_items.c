/* converting_items: what is read, a review a turn; see converting.h. */
#include "alm/apiserver/converting_internal.h"

#include <stdio.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/waiting.h"
#include "alm/base/map.h"

static void text_free(void *p)
{
	text_unref(p);
}

static void free_map(void *p)
{
	map_free(p);
}

/* Both are held, so that the first is none but itself. */
struct pair {
	struct text *from, *made;
};

static void pair_free(void *p)
{
	struct pair *one = p;
	text_unref(one->from);
	text_unref(one->made);
	xfree(one);
}

/* What the request had converted in an earlier turn: of the exchange. */
static struct map *done_before(struct request *r)
{
	if (!r->fixed.converted) {
		r->fixed.converted = map_new(pair_free);
		arena_defer(r->exchange->arena, free_map, r->fixed.converted);
	}
	return r->fixed.converted;
}

#define DONE_KEY 48

static void done_key(const struct kind *k, const struct text *t, char out[DONE_KEY])
{
	(void)snprintf(out, DONE_KEY, "%p %u", (const void *)t, k->stamp);
}

void converting_forget(struct request *r)
{
	if (r->fixed.converted)
		map_clear(r->fixed.converted);
	waiting_forget(r);
}

static int keep_done(struct request *r, struct text *from, struct text *made, struct error *err)
{
	char key[DONE_KEY];
	if (exchange_charge(r->exchange, QUOTA_ANSWER_BYTES, made->len) != QUOTA_OK)
		return fail_code(
			r, E_TOOMANY, err,
			"too many answers are being converted, please try again later or use "
			"limit");
	struct pair *one = xcalloc(1, sizeof(*one));
	done_key(r->kind, from, key);
	*one = (struct pair){text_ref(from), text_ref(made)};
	map_set(done_before(r), key, one);
	return 0;
}

/* Canonical: apiVersion is first. */
static bool is_text_in_form(const struct kind *k, const struct text *t)
{
	char begin[3 * GVK_NAME_MAX];
	int n = snprintf(begin, sizeof(begin), "{\"apiVersion\":\"%s/%s\"", k->group, k->version);
	return t->stamp == k->stamp || str_has_prefix(text_str(t), str_n(begin, (size_t)n));
}

/* The next ones, from *at on, as many as a review has; *ret_first is the index of the first. */
static size_t next_pieces(struct request *r, struct list_item *items, size_t n, size_t *at,
			  struct piece *p, size_t *ret_first)
{
	size_t n_pieces = 0, bytes = 0;
	for (; *at < n && n_pieces < CONVERTING_OBJECTS && bytes < CONVERTING_BYTES; (*at)++) {
		struct text **t = &items[*at].text;
		char key[DONE_KEY];
		if (is_text_in_form(r->kind, *t))
			continue;
		done_key(r->kind, *t, key);
		const struct pair *done = map_get(done_before(r), key);
		const struct obj *o = done ? NULL : converting_as_stored(r, *t);
		if (done) {
			text_ref(done->made);
			text_unref(*t);
			*t = done->made;
		} else if (o) {
			if (!n_pieces)
				*ret_first = *at;
			bytes += (*t)->len;
			p[n_pieces++] = (struct piece){.from = o, .text = t};
		}
	}
	return n_pieces;
}

/* A turn reads one review and asks the next. */
int converting_items(struct request *r, struct list_item *items, size_t n, struct error *err)
{
	struct piece p[CONVERTING_OBJECTS];
	size_t at = 0, n_pieces, first = 0;
	if (!r->exchange || !converting_is_needed(r->kind))
		return 0;
	while ((n_pieces = next_pieces(r, items, n, &at, p, &first)) > 0) {
		int rc = converting_ask(r, r->kind, p, n_pieces, first, err);
		if (rc != WAITING_DONE)
			return rc < 0 ? rc : waiting_for(r, err);
		for (size_t i = 0; i < n_pieces; i++) {
			struct text *made = converting_text_of(r->kind, p[i].made);
			converting_keep(r->server->converting, r->kind, &p[i]);
			rc = keep_done(r, *p[i].text, made, err);
			text_unref(*p[i].text);
			*p[i].text = made;
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int converting_text(struct request *r, struct text **t, struct error *err)
{
	struct list_item one = {.text = text_ref(*t)};
	int rc = converting_items(r, &one, 1, err);
	if (rc == 0 && one.text != *t)
		converting_keep_text(r, *t, one.text);
	arena_defer(r->arena, text_free, one.text);
	*t = one.text;
	return rc;
}
