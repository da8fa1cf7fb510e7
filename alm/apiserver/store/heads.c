/* heads: the newest revision of every object, by name, uid, owner and key. It knows no database. */
#include <assert.h>
#include <string.h>

#include "alm/apiserver/store/store_internal.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define RESOURCES_MAX 100000

void resource_free(void *p)
{
	struct store_table *r = p;
	multimap_free(r->by_key);
	xfree(r->heads);
	xfree(r); /* group and plural are in the same allocation */
}

struct store_table *store_resource(struct store *s, const char *group, const char *plural)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_BYTES_MAX);
	strbuf_addf(&key, "%s/%s", group, plural);
	struct store_table *r = map_get(s->resources, key.buf);
	if (r)
		return r;
	assert(s->n_order < RESOURCES_MAX);
	size_t g = strlen(group) + 1, p = strlen(plural) + 1;
	r = xcalloc(1, sizeof(*r) + g + p);
	char *names = (char *)(r + 1);
	memcpy(names, group, g);
	memcpy(names + g, plural, p);
	r->group = names;
	r->plural = names + g;
	map_set(s->resources, key.buf, r);
	ARRAY_GROW(s->order, s->cap_order, s->n_order + 1);
	s->order[s->n_order++] = r;
	return r;
}

size_t store_n_resources(const struct store *s)
{
	return s->n_order;
}

struct store_table *store_resource_at(const struct store *s, size_t i)
{
	return s->order[i];
}

size_t resource_lower_bound(const struct store_table *r, const char *ns, const char *name)
{
	size_t lo = 0, hi = r->n_heads;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct head *h = r->heads[mid];
		int c = strcmp(h->ns, ns);
		if (c < 0 || (c == 0 && strcmp(h->name, name) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct head *resource_find(const struct store_table *r, const char *ns, const char *name)
{
	size_t i = resource_lower_bound(r, ns, name);
	if (i == r->n_heads || strcmp(r->heads[i]->name, name) != 0 ||
	    strcmp(r->heads[i]->ns, ns) != 0)
		return NULL;
	return r->heads[i];
}

struct head *store_find(struct store *s, const char *group, const char *plural, const char *ns,
			const char *name)
{
	return resource_find(store_resource(s, group, plural), ns, name);
}

struct head *store_by_uid(const struct store *s, const char *uid)
{
	return map_get(s->by_uid, uid);
}

void *const *store_dependents(const struct store *s, const char *uid, size_t *ret_n)
{
	return multimap_get(s->dependents, uid, ret_n);
}

void *const *resource_by_key(const struct store_table *r, const char *key, size_t *ret_n)
{
	return multimap_get(r->by_key, key, ret_n);
}

static void keys_forget(struct multimap *m, struct head_keys *k, const struct head *h)
{
	for (size_t i = 0; i < k->n; i++) {
		multimap_remove(m, k->items[i], h);
		xfree(k->items[i]);
	}
	xfree(k->items);
	*k = (struct head_keys){0};
}

static void keys_enter(struct multimap *m, const struct head_keys *k, struct head *h)
{
	for (size_t i = 0; i < k->n; i++)
		multimap_add(m, k->items[i], h);
}

void resource_index(struct store_table *r,
		    void (*keys_of)(const struct obj *o, struct head_keys *ret))
{
	assert(!r->keys_of);
	r->keys_of = keys_of;
	r->by_key = multimap_new();
	for (size_t i = 0; i < r->n_heads; i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		struct head *h = r->heads[i];
		struct error err = ERROR_INIT;
		if (json_parse(text_str(h->text), &o, &err) == 0)
			keys_of(o, &h->keys);
		keys_enter(r->by_key, &h->keys, h);
	}
}

void head_keys_add(struct head_keys *k, char *key)
{
	ARRAY_GROW(k->items, k->cap, k->n + 1);
	k->items[k->n++] = key;
}

/* The indexes of the head's text: uid, owners and keys. o is NULL when only the text is at hand. */
static void head_index(struct store *s, struct head *h, const struct obj *o)
{
	struct obj *parsed = NULL;
	struct error err = ERROR_INIT;
	void (*keys_of)(const struct obj *, struct head_keys *) = h->resource->keys_of;
	if (!o && (keys_of || strstr(h->text->bytes, "\"ownerReferences\":")) &&
	    json_parse(text_str(h->text), &parsed, &err) == 0)
		o = parsed;
	if (!text_uid(text_str(h->text), h->uid))
		h->uid[0] = '\0';
	map_set(s->by_uid, h->uid, h);
	for (size_t i = 0, n = meta_owner_count(o); i < n; i++) {
		struct owner_ref ref;
		if (meta_owner(o, i, &ref) && ref.uid)
			head_keys_add(&h->owners, xstrdup(ref.uid));
	}
	keys_enter(s->dependents, &h->owners, h);
	if (keys_of && o)
		keys_of(o, &h->keys);
	if (keys_of)
		keys_enter(h->resource->by_key, &h->keys, h);
	obj_unref(parsed);
}

static void head_unindex(struct store *s, struct head *h)
{
	if (map_get(s->by_uid, h->uid) == h)
		map_del(s->by_uid, h->uid);
	keys_forget(s->dependents, &h->owners, h);
	keys_forget(h->resource->by_key, &h->keys, h);
	obj_unref(h->parsed);
	h->parsed = NULL;
}

void head_free(struct store *s, struct head *h)
{
	head_unindex(s, h);
	text_unref(h->text);
	xfree(h);
}

static void tell_head(const struct store *s, const struct head *h, const struct text *before,
		      const struct text *after)
{
	if (s->on_head)
		s->on_head(s->on_head_arg, h->resource, h->ns, before, after);
}

struct head *head_put(struct store *s, struct store_table *r, const char *ns, const char *name,
		      struct text *text, int64_t rv, int64_t create_rv, const struct obj *o)
{
	size_t i = resource_lower_bound(r, ns, name);
	struct head *h = i < r->n_heads ? r->heads[i] : NULL;
	struct text *before = NULL;
	if (h && strcmp(h->ns, ns) == 0 && strcmp(h->name, name) == 0) {
		head_unindex(s, h);
		before = h->text;
	} else {
		size_t a = strlen(ns) + 1, b = strlen(name) + 1;
		h = xcalloc(1, sizeof(*h) + a + b);
		char *names = (char *)(h + 1);
		memcpy(names, ns, a);
		memcpy(names + a, name, b);
		h->ns = names;
		h->name = names + a;
		h->resource = r;
		ARRAY_GROW(r->heads, r->cap, r->n_heads + 1);
		memmove(r->heads + i + 1, r->heads + i, (r->n_heads - i) * sizeof(*r->heads));
		r->heads[i] = h;
		r->n_heads++;
	}
	h->text = text_ref(text);
	h->rv = rv;
	h->create_rv = create_rv;
	h->seen_ns = loop_mono(s->loop);
	head_index(s, h, o);
	tell_head(s, h, before, text);
	text_unref(before);
	return h;
}

void head_drop(struct store *s, struct store_table *r, const char *ns, const char *name)
{
	size_t i = resource_lower_bound(r, ns, name);
	assert(i < r->n_heads);
	struct head *h = r->heads[i];
	memmove(r->heads + i, r->heads + i + 1, (r->n_heads - i - 1) * sizeof(*r->heads));
	r->n_heads--;
	tell_head(s, h, h->text, NULL);
	head_free(s, h);
}

void store_set_aside(struct store *s, struct head *h)
{
	head_drop(s, h->resource, h->ns, h->name);
}

const struct obj *head_obj(struct head *h, struct arena *a)
{
	if (h->parsed)
		return h->parsed;
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(text_str(h->text), &o, &err) < 0)
		return NULL;
	return obj_keep(a, o);
}

const struct obj *head_obj_hot(struct head *h)
{
	struct error err = ERROR_INIT;
	if (!h->parsed && json_parse(text_str(h->text), &h->parsed, &err) < 0)
		return NULL;
	return h->parsed;
}
