/* hub_change: what watchers are told of a change; see hub.h. */
#include "alm/apiserver/store/hub_internal.h"

#include <string.h>

#include "alm/apiserver/converting.h"

const char hub_added[] = "ADDED";
static const char modified[] = "MODIFIED", deleted[] = "DELETED";
/* It stopped matching: another line than that of an object that is gone. */
static const char left[] = "DELETED";

/* The line of this change for the watcher; rv: shown as of that revision. Borrowed. */
static struct str line_of(struct watcher *w, const char *type, struct text *t, int64_t rv)
{
	return hub_lines_get(&w->hub->lines, w->request, type, t, rv, hub_takes_columns(w));
}

static bool text_matches(struct watcher *w, struct text *t)
{
	return t && list_matches(w->request, &w->options, t, &w->hub->reads);
}

static void send_matching(struct watcher *w, const struct change *c)
{
	bool before = text_matches(w, c->before);
	bool after = c->deleted ? before : text_matches(w, c->after);
	if (c->deleted && before)
		hub_send(w, line_of(w, deleted, c->after, 0));
	else if (before && !after)
		hub_send(w, line_of(w, left, c->before, c->rv)); /* the last state that matched */
	else if (after)
		hub_send(w, line_of(w, before ? modified : hub_added, c->after, 0));
}

/* One for all watchers of the version. Borrowed, until the change is over; NULL: it is not known. */
static struct text *form_of(struct watcher *w, struct text *t)
{
	struct hub *h = w->hub;
	const struct kind *k = w->request->kind;
	for (size_t i = 0; i < h->n_forms; i++)
		if (h->forms[i].kind == k && h->forms[i].of == t)
			return h->forms[i].shown;
	struct text *shown = converting_known(h->server, k, t);
	h->forms[h->n_forms++] = (struct hub_form){k, t, shown};
	return shown;
}

static void forget_forms(struct hub *h)
{
	list_reads_clear(&h->reads); /* some were read of them */
	while (h->n_forms)
		text_unref(h->forms[--h->n_forms].shown);
}

void hub_end_change(struct hub *h)
{
	hub_lines_clear(&h->lines);
	forget_forms(h);
	h->change_rv = 0;
}

void hub_begin_change(struct hub *h, int64_t rv)
{
	if (h->change_rv != rv)
		hub_end_change(h);
	h->change_rv = rv;
}

/* As whoever wrote it had it converted. When that failed, or is long ago, the client comes back with a list. */
static void send_converted(struct watcher *w, const struct change *c)
{
	struct change shown = *c;
	bool selects = w->options.selective && c->before;
	if (w->hub->n_forms + 2 > HUB_FORMS_MAX)
		forget_forms(w->hub);
	shown.before = selects ? form_of(w, c->before) : c->before;
	shown.after = form_of(w, c->after);
	if (shown.after && (shown.before || !selects))
		send_matching(w, &shown);
	else
		hub_send_expired(w,
				 arena_fmt(w->request->arena,
					   "resource version %lld is not known in this version of "
					   "the resource",
					   (long long)c->rv));
}

static bool is_about(const struct watcher *w, const struct change *c)
{
	const struct request *r = w->request;
	return !w->dead && c->rv > w->floor && (!*r->ns || !strcmp(r->ns, c->ns)) &&
	       (!w->exact_name || !strcmp(w->exact_name, c->name));
}

void hub_send_change(struct watcher *w, const struct change *c)
{
	if (!is_about(w, c))
		return;
	w->floor = c->rv;
	if (converting_is_needed(w->request->kind))
		send_converted(w, c);
	else
		send_matching(w, c);
}

/* What came before the change, it has seen. */
static void put_off(struct watcher *w, const struct change *c)
{
	if (!is_about(w, c))
		return;
	w->floor = c->rv - 1;
	w->behind = true;
	hub_wait(w);
}

/* Shows a change to the watchers of its resource. */
void hub_show_change(void *arg, const struct change *c)
{
	struct hub *h = arg;
	if (!c->resource->watchers)
		return;
	h->publishing = true;
	for (struct watcher *w = c->resource->watchers; w; w = w->next)
		if (w->begun && !w->behind && hub_is_spent(h))
			put_off(w, c);
		else if (w->begun && !w->behind)
			hub_send_change(w, c);
	h->publishing = false;
	hub_end_change(h);
	hub_sweep(c->resource);
}
