/*
 * list: see list.h. A page of an older revision is the present heads with what changed since taken
 * back, out of the watch window; beyond the window the token is expired.
 */
#include "alm/apiserver/list.h"

#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/converting.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/components.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/virtual.h"
#include "alm/apiserver/status.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"

#define TOKEN_BYTES_MAX 4096

/* {"v":"meta.k8s.io/v1","rv":226,"start":"/ns/name\u0000"}; start is left behind. */
struct token {
	int64_t rv; /* -1: the latest state */
	const char *ns, *name;
};

static const char *token_print(struct request *r, const struct token *t)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	CLEANUP(strbuf_release) struct strbuf start = STRBUF_INIT(TOKEN_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TOKEN_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2 * TOKEN_BYTES_MAX);
	strbuf_addf(&start, "%s/%s", t->ns, t->name);
	strbuf_addc(&start, '\0');
	obj_set_str(o, "v", "meta.k8s.io/v1");
	obj_set_int(o, "rv", t->rv);
	obj_set(o, "start", obj_stringn(strbuf_str(&start)));
	json_print(o, &json);
	base64url_encode(strbuf_str(&json), &text);
	return arena_strndup(r->arena, text.buf, text.len);
}

static int token_fault(struct request *r, struct str json, struct error *err)
{
	char rune[4];
	size_t n = utf8_encode(json.len ? (unsigned char)json.ptr[0] : ' ', rune);
	return fail_code(
		r, E_BADREQUEST, err,
		"invalid continue token: continue key is not valid: invalid character '%.*s' "
		"looking for beginning of value",
		(int)n, rune);
}

/* What Go's lenient decoder makes of the first two letters, to say the same of them. */
static char token_first_byte(const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(8);
	char four[5] = {text[0], text[0] ? text[1] : '\0', 'A', 'A', '\0'};
	return base64url_decode(str_of(four), &b) && b.len ? b.buf[0] : ' ';
}

static int token_parse(struct request *r, const char *text, struct token *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TOKEN_BYTES_MAX);
	struct obj *o = NULL;
	struct error inner = ERROR_INIT;
	if (strlen(text) > TOKEN_BYTES_MAX || !base64url_decode(str_of(text), &json))
		return token_fault(r, str_n((char[]){token_first_byte(text)}, 1), err);
	if (json_parse(strbuf_str(&json), &o, &inner) < 0)
		return token_fault(r, strbuf_str(&json), err);
	obj_keep(r->arena, o);
	ret->rv = obj_i64(o, "rv", 0);
	struct str start = obj_as_str(obj_get(o, "start")), ns, name;
	if (!cstr_eq(obj_str(o, "v"), "meta.k8s.io/v1") || ret->rv == 0 || start.len < 2 ||
	    start.ptr[start.len - 1] != '\0' ||
	    !str_cut(str_sub(start, 0, start.len - 1), '/', &ns, &name))
		return fail_code(
			r, E_BADREQUEST, err,
			"invalid continue token: continue key is not valid: incorrect encoded "
			"start resourceVersion (version meta.k8s.io/v1)");
	ret->ns = arena_strndup(r->arena, ns.ptr, ns.len);
	ret->name = arena_strndup(r->arena, name.ptr, name.len);
	return 0;
}

static int expired(struct request *r, const struct token *t, struct error *err)
{
	struct token latest = *t;
	latest.rv = -1;
	int rc = fail_code(
		r, E_EXPIRED, err,
		"The provided continue parameter is too old to display a consistent list "
		"result. You can start a new list without the continue parameter, or use the "
		"continue token in this response to retrieve the remainder of the results. "
		"Continuing with the provided token results in an inconsistent list - objects "
		"that were created, modified, or deleted between the time the first chunk was "
		"returned and now may show up in the list.");
	r->failure.continue_token = token_print(r, &latest);
	return rc;
}

static int item_cmp(const void *a, const void *b)
{
	const struct list_item *x = a, *y = b;
	int c = strcmp(x->ns, y->ns);
	return c ? c : strcmp(x->name, y->name);
}

/* First state of each name that changed after rv, as it was at rv (NULL: absent). */
static struct map *changed_since(struct store *s, const struct store_table *res, int64_t rv)
{
	struct map *m = NULL;
	if (res->rv <= rv && store_rv(s) == store_committed_rv(s))
		return NULL;
	const struct change *c;
	for (size_t i = store_change_after(s, rv); (c = store_change_at(s, i)) != NULL; i++) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(1024);
		if (c->resource != res)
			continue;
		strbuf_addf(&key, "%s/%s", c->ns, c->name);
		if (!m)
			m = map_new(NULL);
		if (!map_has(m, key.buf))
			map_set(m, key.buf, mem_unconst(c));
	}
	return m;
}

struct items {
	struct list_item *items;
	size_t n, cap;
};

static void items_add(struct items *v, const char *ns, const char *name, struct text *t)
{
	ARRAY_GROW(v->items, v->cap, v->n + 1);
	v->items[v->n++] = (struct list_item){ns, name, t};
}

static bool in_namespace(const struct request *r, const char *ns)
{
	return *r->ns == '\0' || strcmp(r->ns, ns) == 0;
}

/* Everything of the namespace at revision rv. */
static void items_at(struct request *r, const struct store_table *res, int64_t rv, struct items *v)
{
	struct store *s = request_store(r);
	CLEANUP(map_freep) struct map *since = changed_since(s, res, rv);
	for (size_t i = resource_lower_bound(res, r->ns, ""); i < res->n_heads; i++) {
		struct head *h = res->heads[i];
		if (!in_namespace(r, h->ns))
			break;
		if (since) {
			CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(1024);
			strbuf_addf(&key, "%s/%s", h->ns, h->name);
			if (map_has(since, key.buf))
				continue;
		}
		items_add(v, h->ns, h->name, h->text);
	}
	if (!since)
		return;
	for (struct map_entry *e = map_first(since); e; e = map_next(e)) {
		const struct change *c = e->value;
		if (c->before && in_namespace(r, c->ns))
			items_add(v, c->ns, c->name, c->before);
	}
	qsort(v->items, v->n, sizeof(*v->items), item_cmp);
}

/* Do its labels? They are read out of the text, or not even that. */
static bool labels_match(const struct list_options *l, struct text *t)
{
	uint64_t bits = (uint64_t)t->labels[1] << 32 | t->labels[0];
	if (bits && selector_excludes(l->labels, bits))
		return false;
	CLEANUP(obj_unrefp) struct obj *labels = NULL;
	struct error ignored = ERROR_INIT;
	struct str json = text_labels(text_str(t));
	if (json.len)
		(void)json_parse(json, &labels, &ignored);
	if (!bits) {
		bits = selector_bits(labels);
		t->labels[0] = (uint32_t)bits;
		t->labels[1] = (uint32_t)(bits >> 32);
	}
	return selector_matches(l->labels, labels);
}

void list_reads_clear(struct list_reads *reads)
{
	arena_free(reads->a);
	*reads = (struct list_reads){0};
}

static const struct obj *read_once(struct list_reads *reads, const struct kind *k, struct text *t)
{
	for (size_t i = 0; i < reads->n; i++)
		if (reads->items[i].of == t && reads->items[i].kind == k)
			return reads->items[i].o;
	if (reads->n == LIST_READS_MAX)
		list_reads_clear(reads);
	if (!reads->a)
		reads->a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *o = convert_read(k, t, reads->a);
	reads->items[reads->n++] = (struct list_read){k, t, o};
	return o;
}

bool list_matches(struct request *r, const struct list_options *l, struct text *t,
		  struct list_reads *reads)
{
	if (!l || !l->selective)
		return true;
	if (!labels_match(l, t))
		return false;
	if (!l->by_fields)
		return true;
	struct list_reads here = {.n = 0};
	const struct obj *o = read_once(reads ? reads : &here, r->kind, t);
	bool matches = o && options_match(l, o);
	list_reads_clear(&here);
	return matches;
}

/* Keeps what matches filter and lies after the token, up to the limit. */
static void page(struct request *r, const struct list_options *l, const struct list_options *filter,
		 const struct token *after, const struct items *v, struct listing *ret)
{
	const char *exact = field_selector_exact(l->fields, "metadata.name");
	struct list_item from = {after ? after->ns : "", after ? after->name : "", NULL};
	ret->items = NULL;
	ret->n = 0;
	struct items out = {NULL, 0, 0};
	for (size_t i = 0; i < v->n; i++) {
		if (after && item_cmp(&v->items[i], &from) <= 0)
			continue;
		if ((exact && strcmp(exact, v->items[i].name) != 0) ||
		    !list_matches(r, filter, v->items[i].text, NULL))
			continue;
		if (l->limit && out.n == (size_t)l->limit) {
			struct token next = {ret->rv, out.items[out.n - 1].ns,
					     out.items[out.n - 1].name};
			ret->continue_token = token_print(r, &next);
			ret->remaining = l->selective ? -1 : (int64_t)(v->n - i);
			break;
		}
		items_add(&out, v->items[i].ns, v->items[i].name, text_ref(v->items[i].text));
	}
	ret->items = out.items;
	ret->n = out.n;
}

static int too_large(struct request *r, int64_t rv, struct error *err)
{
	static const struct status_cause cause = {"ResourceVersionTooLarge",
						  "Too large resource version", NULL};
	int rc = fail_code(r, E_TIMEOUT, err,
			   "Timeout: Too large resource version: %lld, current: %lld",
			   (long long)rv, (long long)store_rv(request_store(r)));
	r->failure.details = true;
	r->failure.extra = &cause;
	r->failure.n_extra = 1;
	r->failure.retry_after_s = 1;
	return rc;
}

static int revision_of(struct request *r, const struct list_options *l, struct token *t,
		       int64_t *ret, struct error *err)
{
	struct store *s = request_store(r);
	*ret = store_rv(s);
	if (l->rv > store_rv(s))
		return too_large(r, l->rv, err);
	if (l->match == MATCH_EXACT)
		*ret = l->rv;
	if (t && t->rv > 0) {
		if (t->rv > store_rv(s))
			return fail_code(r, E_BADREQUEST, err,
					 "invalid continue token: unknown "
					 "resourceVersion");
		*ret = t->rv;
	}
	if (*ret >= store_window_start(s))
		return 0;
	if (t)
		return expired(r, t, err);
	return fail_code(r, E_EXPIRED, err,
			 "The resourceVersion for the provided list is too old.");
}

/* Selectors are about what is shown. */
static int show_all(struct request *r, struct items *v, struct error *err)
{
	struct listing all = {.items = v->items, .n = v->n};
	for (size_t i = 0; i < v->n; i++)
		text_ref(v->items[i].text);
	listing_keep(&all, r->arena);
	return converting_items(r, v->items, v->n, err);
}

static int choose(struct request *r, const struct list_options *l,
		  const struct list_options *filter, struct listing *ret, struct error *err)
{
	struct token token, *after = NULL;
	struct items v = {NULL, 0, 0};
	int64_t rv;
	if (components_are(r->kind)) {
		components_select(r, l, ret);
		return 0;
	}
	if (r->kind->flags & KIND_VIRTUAL)
		return virtual_select(r->server->virtuals, r, l, ret, err);
	if (l->continue_token) {
		if (token_parse(r, l->continue_token, &token, err) < 0)
			return -err->code;
		after = &token;
	}
	int code = revision_of(r, l, after, &rv, err);
	if (code < 0)
		return code;
	*ret = (struct listing){.rv = rv, .continue_token = "", .remaining = -1};
	items_at(r, server_resource(r->server, r->kind), rv, &v);
	bool shown = filter && filter->selective && converting_is_needed(r->kind);
	if (shown && show_all(r, &v, err) < 0)
		return -err->code;
	page(r, l, filter, after, &v, ret);
	if (!shown)
		xfree(v.items);
	listing_keep(ret, r->arena);
	return converting_items(r, ret->items, ret->n, err);
}

int list_select(struct request *r, const struct list_options *l, struct listing *ret,
		struct error *err)
{
	return choose(r, l, l, ret, err);
}

int list_candidates(struct request *r, const struct list_options *l, struct listing *ret,
		    struct error *err)
{
	bool later = l->selective && !l->limit && !(r->kind->flags & KIND_VIRTUAL);
	if (choose(r, l, later ? NULL : l, ret, err) < 0)
		return -err->code;
	ret->filter = later ? l : NULL;
	return 0;
}
