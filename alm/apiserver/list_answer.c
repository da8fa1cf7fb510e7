/* list_answer: a listing -> the answer, whole or in portions. It must not select. */
#include "alm/apiserver/core.h"
#include "alm/apiserver/docs/table.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/list.h"
#include "alm/apiserver/status.h"

#define PIECE_BYTES_MAX ((size_t)64 << 20) /* of a portion: an item and its head at most */

/* Printing */

static void print_meta(const struct listing *l, struct strbuf *b)
{
	if (l->rv < 0) {
		strbuf_adds(b, "\"metadata\":{}");
		return;
	}
	strbuf_addf(b, "\"metadata\":{\"resourceVersion\":\"%lld\"", (long long)l->rv);
	if (*l->continue_token) {
		strbuf_addf(b, ",\"continue\":\"%s\"", l->continue_token);
		if (l->remaining >= 0)
			strbuf_addf(b, ",\"remainingItemCount\":%lld", (long long)l->remaining);
	}
	strbuf_addc(b, '}');
}

static void print_begin(struct request *r, const struct listing *l, struct strbuf *b)
{
	if (r->accept.as == AS_TABLE) {
		struct list_meta m = {
			.resource_version =
				l->rv < 0 ? "" : arena_fmt(r->arena, "%lld", (long long)l->rv),
			.continue_token = l->continue_token,
			.remaining = *l->continue_token ? l->remaining : -1,
		};
		table_begin(b, r->kind, &r->accept, &m, true);
		return;
	}
	bool meta = r->accept.as == AS_METADATA;
	const char *list_kind = meta ? "PartialObjectMetadataList" : r->kind->list_kind;
	const char *api = meta ? arena_fmt(r->arena, "meta.k8s.io/%s", r->accept.as_version)
			       : kind_api_version(r->kind, r->arena);
	strbuf_addf(b, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", list_kind, api);
	print_meta(l, b);
	strbuf_adds(b, ",\"items\":[");
}

static void print_item(struct request *r, struct text *t, bool first, struct strbuf *b)
{
	if (r->accept.as == AS_OBJECT) {
		if (!first)
			strbuf_addc(b, ',');
		convert_print(r->kind, t, true, b);
		return;
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *o = convert_read(r->kind, t, a);
	if (r->accept.as == AS_TABLE) {
		table_row(b, r->kind, &r->accept, o, request_now(r), first);
	} else if (o) {
		if (!first)
			strbuf_addc(b, ',');
		table_metadata(b, &r->accept, o);
	}
}

static void print_end(const struct request *r, struct strbuf *b)
{
	if (r->accept.as == AS_TABLE)
		table_end(b);
	else
		strbuf_adds(b, "]}\n");
}

/* A list that is being written. On the heap: the client may go before it begins. */
struct list_stream {
	struct loop *loop;
	struct request *request; /* NULL once the client is gone before the commit */
	struct listing listing;  /* its items are the arena's */
	uint32_t stamp;          /* of the kind */
	size_t next;
	bool begun, printed_one;
	struct task go_on;
};

/* The next items, of so many bytes of texts, until b has SERVER_QUEUE_HIGH: true if there are more.
 */
static bool print_some(struct list_stream *s, struct strbuf *b)
{
	const struct listing *l = &s->listing;
	size_t read = 0;
	for (; s->next < l->n && read < LIST_WORK_BYTES && b->len < SERVER_QUEUE_HIGH; s->next++) {
		struct text *t = l->items[s->next].text;
		read += t->len;
		if (list_matches(s->request, l->filter, t, NULL)) {
			print_item(s->request, t, !s->printed_one, b);
			s->printed_one = true;
		}
		listing_drop(&s->listing, s->next);
	}
	return s->next < l->n;
}

/* Knows no server: that may be gone before the client. */
static void stream_free(struct list_stream *s)
{
	loop_unpost(s->loop, &s->go_on);
	xfree(s);
}

static void stream_gone(void *arg)
{
	struct list_stream *s = arg;
	if (s->begun) {
		stream_free(s);
		return;
	}
	s->request = NULL; /* freed by the commit */
}

/* The definition may have changed since the last portion, and its kind be gone. */
static bool has_its_kind(const struct list_stream *s)
{
	struct request *r = s->request;
	return request_find_kind(r) && r->kind->stamp == s->stamp;
}

static void stream_end(struct list_stream *s, bool clean)
{
	struct exchange *x = s->request->exchange;
	x->on_close = NULL;
	x->on_writable = NULL;
	stream_free(s);
	if (clean)
		exchange_end(x);
	else
		exchange_cut(x);
}

/* Writes what the reader has room for; goes on when he has taken it, or in the next turn. */
static void stream_write(void *arg)
{
	struct list_stream *s = arg;
	struct exchange *x = s->request->exchange;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PIECE_BYTES_MAX);
	if (!has_its_kind(s)) {
		stream_end(s, false);
		return;
	}
	if (s->next == 0 && !s->begun)
		print_begin(s->request, &s->listing, &b);
	s->begun = true;
	bool more = print_some(s, &b);
	if (!more)
		print_end(s->request, &b);
	size_t queued = exchange_write(x, strbuf_str(&b));
	if (!more)
		stream_end(s, !b.over);
	else if (queued < SERVER_QUEUE_HIGH)
		loop_post(s->loop, &s->go_on);
}

static void stream_begin(void *arg, const struct error *err)
{
	struct list_stream *s = arg;
	struct request *r = s->request;
	if (!r) {
		xfree(s);
		return;
	}
	struct exchange *x = r->exchange;
	if (err || !has_its_kind(s)) {
		stream_free(s);
		if (err)
			request_reply_error(r, err);
		else
			request_reply_no_page(r);
		return;
	}
	x->on_writable = stream_write;
	x->on_writable_arg = s;
	request_begin(r, 200, "application/json");
	stream_write(s);
}

static void stream_start(struct request *r, const struct listing *l)
{
	struct list_stream *s = xcalloc(1, sizeof(*s));
	s->loop = r->server->loop;
	s->request = r;
	s->listing = *l;
	s->stamp = r->kind->stamp;
	s->go_on = (struct task){.fn = stream_write, .arg = s};
	r->exchange->on_close = stream_gone;
	r->exchange->on_close_arg = s;
	store_after_commit(r->server->store, stream_begin, s);
}

static size_t bytes_of(const struct listing *l)
{
	size_t bytes = 0;
	for (size_t i = 0; i < l->n; i++)
		bytes += l->items[i].text->len;
	return bytes;
}

static void answer_whole(struct request *r, const struct listing *l)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PIECE_BYTES_MAX);
	size_t n = 0;
	print_begin(r, l, &b);
	for (size_t i = 0; i < l->n; i++)
		if (list_matches(r, l->filter, l->items[i].text, NULL))
			print_item(r, l->items[i].text, n++ == 0, &b);
	print_end(r, &b);
	request_reply_json(r, 200, strbuf_str(&b));
}

int list_charge(struct request *r, const struct listing *l, struct error *err)
{
	size_t bytes = bytes_of(l);
	if (!r->exchange || bytes <= LIST_WHOLE_BYTES)
		return 0;
	if (r->accept.form != FORM_JSON && bytes > REQUEST_TREE_BYTES_MAX)
		return fail_code(r, E_TOOLARGE, err, REQUEST_TREE_MESSAGE);
	exchange_discharge(r->exchange, QUOTA_ANSWER_BYTES); /* while it was converted */
	if (exchange_charge(r->exchange, QUOTA_ANSWER_BYTES, bytes) == QUOTA_OK)
		return 0;
	return fail_code(r, E_TOOMANY, err,
			 "too many answers are being read, please try again later or use limit");
}

void list_answer(struct request *r, const struct listing *l)
{
	if (!r->exchange)
		return;
	if (r->accept.form != FORM_JSON || bytes_of(l) <= LIST_WHOLE_BYTES)
		answer_whole(r, l);
	else
		stream_start(r, l);
}

int list_handle(struct request *r, struct error *err)
{
	struct list_options *l = ARENA_NEW(r->arena, struct list_options);
	struct listing listing;
	if (options_list(r, l, err) < 0 || list_candidates(r, l, &listing, err) < 0 ||
	    list_charge(r, &listing, err) < 0)
		return -err->code;
	list_answer(r, &listing);
	return 0;
}
