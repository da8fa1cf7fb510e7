#include "alm/engine/stash.h"

#include <assert.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/base/keytable.h"
#include "alm/base/map.h"
#include "alm/base/pool.h"
#include "alm/obj/json.h"

struct item {
	struct outcome o;
	TAILQ_ENTRY(item) link;
	const char *id; /* the key in the map */
	size_t cost;
	uint32_t size;
	bool unread;
	char few[]; /* o.bytes, if they are a digest: there are many of them */
};

#define FEW_BYTES_MAX ((size_t)64)

struct applied {
	int64_t at_ns, first_ns;
	uint64_t digest; /* hash_key() of it, which stands for it */
};

struct stash {
	struct map *items;
	struct keytable *applied;  /* by UID */
	TAILQ_HEAD(, item) by_use; /* the least recently used first */
	size_t bytes;
};

static void item_free(void *p)
{
	struct item *i = p;
	if (i->o.code)
		xfree(mem_unconst(i->o.msg));
	if (i->o.bytes.ptr != i->few)
		xfree(mem_unconst(i->o.bytes.ptr));
	if (i->o.text.ptr)
		pool_free(mem_unconst(i->o.text.ptr), i->o.text.len + 1);
	pool_free(i, i->size);
}

struct stash *stash_new(void)
{
	struct stash *s = xcalloc(1, sizeof(*s));
	s->items = map_new(item_free);
	s->applied = keytable_new(sizeof(struct applied));
	TAILQ_INIT(&s->by_use);
	return s;
}

void stash_free(struct stash *s)
{
	if (!s)
		return;
	map_free(s->items);
	keytable_free(s->applied);
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

bool outcome_is_younger(const struct outcome *o, int64_t now_ns, int64_t age_ns)
{
	int64_t age = now_ns - o->at_ns;
	return age >= 0 && age < age_ns;
}

int64_t outcome_retry_in(const struct outcome *o, int64_t now_ns)
{
	int64_t wait = NS_PER_HOUR, age = now_ns - o->at_ns;
	if (o->failures && o->failures <= 6)
		wait = NS_PER_MIN << (o->failures - 1);
	int64_t left = age < 0 ? 0 : wait - age;
	return left > 0 ? left : 0;
}

/* What stays is no piece of malloc's, which would hold what goes around it (pool.h). */
static struct str text_of(const struct obj *value)
{
	CLEANUP(xfreep) char *text = value ? json_text(value) : NULL;
	if (!text)
		return STR_NONE;
	size_t n = strlen(text);
	return str_n(memcpy(pool_keep(n + 1), text, n + 1), n);
}

void stash_put(struct stash *s, const char *id, const struct error *err, struct str bytes,
	       struct obj *value, int64_t now_ns)
{
	const struct item *old = map_get(s->items, id);
	unsigned failures = !err ? 0 : old ? old->o.failures + 1 : 1;
	bool is_few = bytes.ptr && bytes.len <= FEW_BYTES_MAX;
	size_t size = sizeof(struct item) + (is_few ? bytes.len : 0);
	struct item *i = pool_keep(size);
	*i = (struct item){.o = {.code = err ? err->code : 0,
				 .reason = err ? err->reason : REASON_NONE,
				 .msg = err && err->code ? xstrdup(err->msg) : "",
				 .bytes = bytes,
				 .text = text_of(value),
				 .at_ns = now_ns,
				 .failures = failures},
			   .size = (uint32_t)size};
	if (is_few) {
		i->o.bytes.ptr = memcpy(i->few, bytes.ptr, bytes.len);
		xfree(mem_unconst(bytes.ptr));
	}
	obj_unref(value);
	i->cost = size + strlen(id) + strlen(i->o.msg) + i->o.bytes.len + i->o.text.len;
	i->unread = i->o.text.ptr || i->o.code;
	stash_drop(s, id);
	i->id = map_set(s->items, id, i);
	TAILQ_INSERT_TAIL(&s->by_use, i, link);
	s->bytes += i->cost;
	evict(s, i, now_ns);
}

/* --- what was applied --- */

static struct applied applied_of(const char digest[SHA256_HEX], int64_t now_ns)
{
	return (struct applied){.at_ns = now_ns,
				.first_ns = now_ns,
				.digest = hash_key(str_n(digest, SHA256_HEX - 1))};
}

static bool every_second(void *n, const void *value)
{
	(void)value;
	return ++*(size_t *)n % 2;
}

void stash_set_applied(struct stash *s, const char *uid, const char digest[SHA256_HEX],
		       int64_t now_ns)
{
	size_t n = 0;
	struct applied a = applied_of(digest, now_ns), old;
	if (keytable_get(s->applied, uid, &old))
		a.first_ns = old.first_ns;
	if (keytable_count(s->applied) >= APPLIED_MAX)
		keytable_filter(s->applied, every_second, &n);
	keytable_set(s->applied, uid, &a);
}

void stash_drop_applied(struct stash *s, const char *uid)
{
	keytable_del(s->applied, uid);
}

bool stash_is_applied(const struct stash *s, const char *uid, const char digest[SHA256_HEX])
{
	struct applied a;
	return keytable_get(s->applied, uid, &a) && a.digest == applied_of(digest, 0).digest;
}

int64_t stash_applied_ns(const struct stash *s, const char *uid)
{
	struct applied a;
	return keytable_get(s->applied, uid, &a) ? a.at_ns : 0;
}

int64_t stash_first_applied_ns(const struct stash *s, const char *uid)
{
	struct applied a;
	return keytable_get(s->applied, uid, &a) ? a.first_ns : 0;
}
