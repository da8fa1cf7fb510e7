/* collection: see collection.h. */
#include "alm/apiserver/collection.h"

#include <sys/queue.h>

#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/auth/refusals.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/deletion.h"
#include "alm/apiserver/list.h"
#include "alm/apiserver/waiting.h"

/* One deletecollection; of the request's arena, on the heap what a commit tells. */
struct collection {
	TAILQ_ENTRY(collection) link; /* while it waits for its next turn */
	struct request *request;
	const struct delete_options *opt;
	struct list_options list;
	struct listing listing;
	size_t next;
	struct task go;
	struct committed *commit; /* is waited for; NULL: no */
	bool waits;
	struct arena *turn; /* of what is read and made in this turn; until the next one begins */
};

/* A commit is told whatever became of whoever waits. */
struct committed {
	struct collection *collection; /* NULL: it is gone */
};

struct collections {
	struct apiserver *server;
	TAILQ_HEAD(, collection) list;
};

struct collections *collections_new(struct apiserver *s)
{
	struct collections *c = xcalloc(1, sizeof(*c));
	c->server = s;
	TAILQ_INIT(&c->list);
	return c;
}

/* It waits for no turn and no commit any more. */
static void leave(struct collection *c)
{
	struct apiserver *s = c->request->server;
	if (c->commit)
		c->commit->collection = NULL;
	c->commit = NULL;
	loop_unpost(s->loop, &c->go);
	if (c->waits)
		TAILQ_REMOVE(&s->collections->list, c, link);
	c->waits = false;
	c->request->exchange->on_close = NULL;
}

static void gone(void *arg)
{
	leave(arg);
}

void collections_free(struct collections *c)
{
	while (c && !TAILQ_EMPTY(&c->list))
		leave(TAILQ_FIRST(&c->list));
	xfree(c);
}

static void fail(struct collection *c, struct error *err)
{
	struct request *r = c->request;
	if (waiting_park(r)) /* one has changed: what asked about it is asked anew */
		return;
	refusals_add(r->server->refusals, r, err);
	request_reply_error(r, err);
}

static void on_commit(void *arg, const struct error *err)
{
	struct committed *done = arg;
	struct collection *c = done->collection;
	struct error told;
	xfree(done);
	if (!c)
		return;
	c->commit = NULL;
	if (!err) {
		loop_post(c->request->server->loop, &c->go);
		return;
	}
	told = *err;
	leave(c);
	c->request->failure = (struct failure){.retry_after_s = 1};
	request_reply_error(c->request, &told);
}

/* The names of those to come are the store's, which may go. */
static void keep_names(struct collection *c)
{
	struct arena *a = c->request->arena;
	for (size_t i = c->next; i < c->listing.n; i++) {
		c->listing.items[i].ns = arena_strdup(a, c->listing.items[i].ns);
		c->listing.items[i].name = arena_strdup(a, c->listing.items[i].name);
	}
}

static void wait_for_turn(struct collection *c)
{
	struct request *r = c->request;
	struct committed *done = xcalloc(1, sizeof(*done));
	done->collection = c;
	c->commit = done;
	c->waits = true;
	TAILQ_INSERT_TAIL(&r->server->collections->list, c, link);
	r->exchange->on_close = gone;
	r->exchange->on_close_arg = c;
	store_after_commit(r->server->store, on_commit, done);
}

static int delete_one(struct collection *c, const struct list_item *item, struct error *err)
{
	struct request *r = c->request;
	struct mutation m;
	r->annotations = NULL; /* of the one before */
	if (mutation_init(&m, r, item->ns, item->name, err) < 0)
		return -err->code;
	if (m.head && deletion_run(&m, c->opt, err) < 0 && err->code != E_NOTFOUND)
		return -err->code;
	return 0;
}

static int delete_some(struct collection *c, struct error *err)
{
	struct loop *l = c->request->server->loop;
	int64_t until = loop_mono(l) + COLLECTION_TURN_NS;
	for (int n = 0; c->next < c->listing.n && n < COLLECTION_TURN; n++) {
		if (delete_one(c, &c->listing.items[c->next], err) < 0)
			return -err->code;
		c->next++;
		if (loop_mono(l) >= until)
			break;
	}
	return c->next < c->listing.n;
}

static void free_turn(void *arg)
{
	struct collection *c = arg;
	arena_free(c->turn);
}

/* What fits a turn, with memory of its own: objects of many turns together would be all that is there. What the answer tells is
 * the request's. 1: there is more. */
static int some(struct collection *c, struct error *err)
{
	struct request *r = c->request;
	struct arena *own = r->arena, *last = c->turn;
	size_t n_headers = r->told->headers.n, n_warnings = r->told->n_warnings;
	if (!last)
		arena_defer(own, free_turn, c);
	c->turn = arena_new(COLLECTION_TURN_BYTES);
	r->annotations = NULL;
	arena_free(last);
	r->arena = c->turn;
	int rc = delete_some(c, err);
	r->arena = own;
	for (size_t i = n_headers; i < r->told->headers.n; i++)
		r->told->headers.items[i].value =
			arena_strdup(own, r->told->headers.items[i].value);
	for (size_t i = n_warnings; i < r->told->n_warnings; i++)
		r->told->warnings[i] = arena_strdup(own, r->told->warnings[i]);
	return rc;
}

static void go(void *arg)
{
	struct collection *c = arg;
	struct error err = ERROR_INIT;
	leave(c);
	if (!request_find_kind(c->request)) {
		request_reply_no_page(c->request);
		return;
	}
	int rc = some(c, &err);
	if (rc < 0)
		fail(c, &err);
	else if (rc > 0)
		wait_for_turn(c);
	else
		list_answer(c->request, &c->listing);
}

/* Webhooks are asked about all of them before the first one goes, as nothing is taken back. */
static int ask_about_all(struct collection *c, struct error *err)
{
	struct request *r = c->request;
	const struct listing *l = &c->listing;
	if (!hooks_any(r, HOOKS_MUTATING) && !hooks_any(r, HOOKS_VALIDATING))
		return 0;
	for (size_t i = 0; i < l->n; i++) {
		struct mutation m;
		if (mutation_init(&m, r, l->items[i].ns, l->items[i].name, err) < 0)
			return -err->code;
		m.opt.dry_run = c->opt->dry_run;
		m.delete_options = c->opt->body;
		if (m.head)
			hooks_ask_delete(&m);
	}
	return waiting_is_wanted(r) ? waiting_for(r, err) : 0;
}

int collection_delete(struct request *r, const struct delete_options *opt, struct error *err)
{
	struct collection *c = ARENA_NEW(r->arena, struct collection);
	*c = (struct collection){.request = r, .opt = opt, .go = {.fn = go, .arg = c}};
	if (options_list(r, &c->list, err) < 0 || list_select(r, &c->list, &c->listing, err) < 0 ||
	    list_charge(r, &c->listing, err) < 0 || ask_about_all(c, err) < 0)
		return -err->code;
	int rc = some(c, err);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		list_answer(r, &c->listing);
		return 0;
	}
	keep_names(c);
	wait_for_turn(c);
	return 0;
}
