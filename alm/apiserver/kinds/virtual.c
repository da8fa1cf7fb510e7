/* virtual: see virtual.h. */
#include "alm/apiserver/kinds/virtual.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/audit/row_text.h"
#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

struct virtuals {
	struct apiserver *server;
	struct store_table *records;
	void (*on_change)(void *arg, const struct change *c);
	void *on_change_arg;
};

void virtual_on_change(struct virtuals *v, void (*fn)(void *arg, const struct change *c), void *arg)
{
	v->on_change = fn;
	v->on_change_arg = arg;
}

int64_t virtual_rv(const struct virtuals *v)
{
	return v->server->audit ? audit_last_seq(v->server->audit) : 0;
}

int64_t virtual_first(const struct virtuals *v)
{
	return v->server->audit ? audit_first_seq(v->server->audit) : 1;
}

/* {apiVersion, kind, metadata, then the fields of the row}. */
static int record_text(struct virtuals *v, int64_t seq, struct text **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	char when[CLOCK_TEXT_MAX];
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	if (audit_row_get(v->server->audit, seq, &row, err) < 0)
		return -err->code;
	const char *number = arena_fmt(a, "%lld", (long long)seq);
	CLEANUP(obj_unrefp) struct obj *o =
		meta_skeleton(VIRTUAL_GROUP "/v1alpha1", "AuditRecord", NULL, number);
	clock_format(row_time_us(row) * NS_PER_US, CLOCK_SECONDS, when);
	obj_set_path(o, "metadata.resourceVersion", obj_string(number));
	obj_set_path(o, "metadata.creationTimestamp", obj_string(when));
	OBJ_EACH (it, row)
		obj_set(o, it.key, obj_ref(it.value));
	json_print(o, &b);
	if (strbuf_check(&b, "the record", err) < 0)
		return -err->code;
	*ret = text_new(strbuf_str(&b));
	return 0;
}

static void free_text(void *p)
{
	text_unref(p);
}

int virtual_get(struct virtuals *v, struct request *r, struct text **ret, struct error *err)
{
	int64_t seq = 0;
	struct error inner = ERROR_INIT;
	bool is_number = v->server->audit && str_parse_i64(str_of(r->name), &seq);
	if (is_number && seq > 0 && seq < virtual_first(v))
		return fail_code(r, E_EXPIRED, err,
				 "record %lld was pruned: the log begins at %lld", (long long)seq,
				 (long long)virtual_first(v));
	if (!is_number || record_text(v, seq, ret, &inner) < 0)
		return fail_not_found(r, r->group, r->resource, r->name, err);
	arena_defer(r->arena, free_text, *ret);
	return 0;
}

/* "seq" in base64url: the last record of the page before. */
static int token_seq(struct request *r, const char *token, int64_t *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(64);
	if (base64url_decode(str_of(token), &b) && str_parse_i64(strbuf_str(&b), ret))
		return 0;
	return fail_code(r, E_BADREQUEST, err, "invalid continue token: continue key is not valid");
}

static const char *seq_token(struct request *r, int64_t seq)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(64);
	base64url_encode(str_of(arena_fmt(r->arena, "%lld", (long long)seq)), &b);
	return arena_strndup(r->arena, b.buf, b.len);
}

static bool wanted(const struct list_options *l, struct text *t)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (!l->selective)
		return true;
	bool yes = json_parse(text_str(t), &o, &err) == 0 && options_match(l, o);
	obj_unref(o);
	return yes;
}

int virtual_select(struct virtuals *v, struct request *r, const struct list_options *l,
		   struct listing *ret, struct error *err)
{
	int64_t last = virtual_rv(v), seq = 0, scanned = 0;
	size_t cap = 0, max = l->limit ? (size_t)l->limit : VIRTUAL_PAGE_MAX;
	const char *exact = field_selector_exact(l->fields, "metadata.name");
	struct listing out = {.rv = last, .continue_token = "", .remaining = -1};
	if (l->continue_token && token_seq(r, l->continue_token, &seq, err) < 0)
		return -err->code;
	if (l->continue_token && seq < virtual_first(v) - 1)
		return fail_code(r, E_EXPIRED, err,
				 "The provided continue parameter is too old: the log begins at "
				 "%lld",
				 (long long)virtual_first(v));
	if (cstr_eq(r->verb, "watch") && l->rv_stated && l->rv > seq)
		seq = l->rv;
	if (exact && str_parse_i64(str_of(exact), &last) && last - 1 > seq)
		seq = last - 1;
	if (last > out.rv)
		last = out.rv;
	if (seq < virtual_first(v) - 1)
		seq = virtual_first(v) - 1;
	while (seq < last && scanned++ < VIRTUAL_SCAN_MAX) {
		struct text *t = NULL;
		struct error inner = ERROR_INIT;
		if (out.n == max) {
			out.continue_token = seq_token(r, seq);
			break;
		}
		if (record_text(v, ++seq, &t, &inner) < 0)
			continue; /* pruned */
		if (!wanted(l, t)) {
			text_unref(t);
			continue;
		}
		ARRAY_GROW(out.items, cap, out.n + 1);
		out.items[out.n++] =
			(struct list_item){"", arena_fmt(r->arena, "%lld", (long long)seq), t};
	}
	if (scanned > VIRTUAL_SCAN_MAX)
		out.continue_token = seq_token(r, seq);
	listing_keep(&out, r->arena);
	*ret = out;
	return 0;
}

static void appended(void *arg, int64_t from, int64_t to)
{
	struct virtuals *v = arg;
	if (!v->records->watchers || !v->on_change)
		return;
	for (int64_t seq = from; seq <= to; seq++) {
		struct error err = ERROR_INIT;
		struct text *t = NULL;
		if (record_text(v, seq, &t, &err) < 0)
			continue;
		CLEANUP(arena_freep) struct arena *a = arena_new(4096);
		struct change c = {.resource = v->records,
				   .ns = "",
				   .name = arena_fmt(a, "%lld", (long long)seq),
				   .rv = seq,
				   .after = t};
		v->on_change(v->on_change_arg, &c);
		text_unref(t);
	}
}

struct virtuals *virtual_new(struct apiserver *s)
{
	struct virtuals *v = xcalloc(1, sizeof(*v));
	v->server = s;
	v->records = store_resource(s->store, VIRTUAL_GROUP, "auditrecords");
	if (s->audit)
		audit_on_commit(s->audit, appended, v);
	return v;
}

void virtual_free(struct virtuals *v)
{
	if (v && v->server->audit)
		audit_on_commit(v->server->audit, NULL, NULL);
	xfree(v);
}
