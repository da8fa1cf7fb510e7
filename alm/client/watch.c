/* watch: see watch.h. */
#include "alm/client/watch.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"

#define BUFFER_KEPT ((size_t)64 << 10)

struct watch {
	struct transport *transport;
	struct call *call; /* NULL once it ended */
	struct watch_handlers handlers;
	struct strbuf buf; /* an incomplete line, or the body of a refusal */
	int status;
	struct error failed; /* what the server said */
	int64_t retry_after;
	bool busy, freed; /* freed by a handler: the frame loop frees */
};

static void destroy(struct watch *w)
{
	if (w->call)
		transport_cancel(w->transport, w->call);
	strbuf_release(&w->buf);
	xfree(w);
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	w->freed = true;
	if (!w->busy)
		destroy(w);
}

static void end(struct watch *w)
{
	w->call = NULL;
	w->busy = true;
	w->handlers.ended(w->handlers.arg, w->failed.code ? &w->failed : NULL, w->retry_after);
	w->busy = false;
	if (w->freed)
		destroy(w);
}

static bool event_type(const char *text, enum watch_event *ret)
{
	static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (cstr_eq(names[i], text)) {
			*ret = (enum watch_event)i;
			return true;
		}
	}
	return false;
}

/* False ends the watch with failed. */
static bool on_frame(struct watch *w, struct str line)
{
	CLEANUP(obj_unrefp) struct obj *frame = NULL;
	enum watch_event event;
	if (json_parse(line, &frame, &w->failed) < 0) {
		error_wrap(&w->failed, "watch event");
		return false;
	}
	const struct obj *o = obj_get(frame, "object");
	const char *type = obj_str(frame, "type");
	if (cstr_eq(type, "ERROR")) {
		client_status_error(o, 0, &w->failed, &w->retry_after);
		return false;
	}
	if (!event_type(type, &event) || obj_type(o) != OBJ_MAP) {
		error_set(&w->failed, E_INTERNAL, "watch event of unknown type %.32s",
			  type ? type : "");
		return false;
	}
	w->handlers.event(w->handlers.arg, event, o);
	return true;
}

/* Complete lines; what is left waits for the rest. */
static void take_frames(struct watch *w)
{
	size_t used = 0;
	bool ok = true;
	w->busy = true;
	while (ok && !w->freed) {
		struct str rest = str_skip(strbuf_str(&w->buf), used);
		ptrdiff_t lf = str_find_char(rest, '\n');
		if (lf < 0)
			break;
		struct str line = str_trim(str_sub(rest, 0, (size_t)lf));
		used += (size_t)lf + 1;
		if (line.len)
			ok = on_frame(w, line);
	}
	w->busy = false;
	if (w->freed) {
		destroy(w);
	} else if (!ok) {
		transport_cancel(w->transport, w->call);
		end(w);
	} else {
		strbuf_remove(&w->buf, 0, used);
		/* a watch is for hours: it does not keep the room of its largest event */
		if (!w->buf.len && w->buf.cap > BUFFER_KEPT)
			strbuf_release(&w->buf);
	}
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct watch *w = arg;
	int64_t after;
	const char *text = http_header(h, "Retry-After");
	w->status = status;
	if (text && str_parse_i64(str_of(text), &after) && after > 0 && after <= 600)
		w->retry_after = after * INT64_C(1000000000);
}

static void on_data(void *arg, struct str chunk)
{
	struct watch *w = arg;
	strbuf_addstr(&w->buf, chunk);
	if (w->buf.over) {
		strbuf_check(&w->buf, "a watch event", &w->failed);
		transport_cancel(w->transport, w->call);
		end(w);
	} else if (w->status == 200) {
		take_frames(w);
	}
}

static void on_done(void *arg, const struct error *err)
{
	struct watch *w = arg;
	struct error unreadable = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *status = NULL;
	if (err) {
		error_copy(&w->failed, err);
	} else if (w->status != 200) {
		json_parse(strbuf_str(&w->buf), &status, &unreadable);
		client_status_error(status, w->status, &w->failed, &w->retry_after);
	}
	end(w);
}

struct watch *watch_start(struct client *c, const char *target, const char *accept, int64_t idle_ns,
			  const struct watch_handlers *h)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct watch *w = xcalloc(1, sizeof(*w));
	struct transport_request r = {.method = "GET", .target = target, .idle_ns = idle_ns};
	http_header_add(&r.headers, "Accept", accept ? accept : "application/json");
	w->transport = client_transport(c);
	w->handlers = *h;
	strbuf_init(&w->buf, WATCH_FRAME_MAX);
	w->call = transport_start(w->transport, &r, &events, w);
	return w;
}
