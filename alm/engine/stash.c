#include "alm/engine/stash.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"

struct item {
	struct outcome o;
	TAILQ_ENTRY(item) link;
	size_t cost;
	bool unread;
	char id[];
};

struct stash {
	struct map *items;
	TAILQ_HEAD(, item) by_use; /* the least recently used first */
	size_t bytes;
};

static void item_free(void *p)
{
	struct item *i = p;
	xfree(i->o.msg);
	xfree(mem_unconst(i->o.bytes.ptr));
	xfree(mem_unconst(i->o.text.ptr));
	xfree(i);
}

struct stash *stash_new(void)
{
	struct stash *s = xcalloc(1, sizeof(*s));
	s->items = map_new(item_free);
	TAILQ_INIT(&s->by_use);
	return s;
}

void stash_free(struct stash *s)
{
	if (!s)
		return;
	map_free(s->items);
	xfree(s);
}

size_t stash_count(const struct stash *s)
{
	return map_count(s->items);
}

size_t stash_bytes(const struct stash *s)
{
	return s->bytes;
}

const struct outcome *stash_get(struct stash *s, const char *id)
{
	struct item *i = map_get(s->items, id);
	if (!i)
		return NULL;
	i->unread = false;
	TAILQ_REMOVE(&s->by_use, i, link);
	TAILQ_INSERT_TAIL(&s->by_use, i, link);
	return &i->o;
}

static void drop(struct stash *s, struct item *i)
{
	TAILQ_REMOVE(&s->by_use, i, link);
	s->bytes -= i->cost;
	map_del(s->items, i->id);
}

void stash_drop(struct stash *s, const char *id)
{
	struct item *i = map_get(s->items, id);
	if (i)
		drop(s, i);
}

static bool is_awaited(const struct item *i, int64_t now_ns)
{
	int64_t age = now_ns - i->o.at_ns;
	return i->unread && age >= 0 && age < STASH_UNREAD_NS;
}

/* The one that was just put stays in any case. */
static void evict(struct stash *s, const struct item *newest, int64_t now_ns)
{
	struct item *i, *next;
	for (i = TAILQ_FIRST(&s->by_use); i && s->bytes > STASH_BYTES_MAX; i = next) {
		next = TAILQ_NEXT(i, link);
		if (i != newest && !is_awaited(i, now_ns))
			drop(s, i);
	}
}

int64_t outcome_retry_in(const struct outcome *o, int64_t now_ns)
{
	int64_t wait = NS_PER_HOUR, age = now_ns - o->at_ns;
	if (o->failures && o->failures <= 6)
		wait = NS_PER_MIN << (o->failures - 1);
	return age < 0 || age >= wait ? 0 : wait - age;
}

void stash_put(struct stash *s, const char *id, const struct error *err, struct str bytes,
	       struct obj *value, int64_t now_ns)
{
	const struct item *old = map_get(s->items, id);
	unsigned failures = !err ? 0 : old ? old->o.failures + 1 : 1;
	size_t n = strlen(id) + 1;
	struct item *i = xcalloc(1, sizeof(*i) + n);
	memcpy(i->id, id, n);
	i->o = (struct outcome){.code = err ? err->code : 0,
				.reason = err ? err->reason : REASON_NONE,
				.msg = xstrdup(err ? err->msg : ""),
				.bytes = bytes,
				.text = value ? str_of(json_text(value)) : STR_NONE,
				.at_ns = now_ns,
				.failures = failures};
	obj_unref(value);
	i->cost = sizeof(*i) + 2 * n + strlen(i->o.msg) + bytes.len + i->o.text.len;
	i->unread = i->o.text.ptr || i->o.code;
	stash_drop(s, id);
	map_set(s->items, id, i);
	TAILQ_INSERT_TAIL(&s->by_use, i, link);
	s->bytes += i->cost;
	evict(s, i, now_ns);
}
