/* hub_internal: a watch, for hub*.c alone. */
#ifndef ALM_APISERVER_STORE_HUB_INTERNAL_H
#define ALM_APISERVER_STORE_HUB_INTERNAL_H

#include <sys/queue.h>

#include "alm/apiserver/store/hub.h"
#include "alm/apiserver/store/hub_line.h"

struct watcher {
	struct watcher *next;
	struct hub *hub;
	struct store_table *resource;
	struct request *request; /* its arena lives as long as the exchange */
	struct list_options options;
	const char *exact_name; /* of the field selector, or NULL */
	int64_t floor;          /* events up to this revision are known to the client */
	struct timer end, bookmark;
	int64_t end_mono;
	bool begun, columns_sent, dead;
	/* What it begins with goes out as it is taken; changes wait in the store's window. */
	bool behind, first_sent, first_marked;
	struct listing first;
	size_t next_item;  /* of first */
	size_t kept_bytes; /* beyond it, its request holds more than it needs */
	bool waits;        /* for its turn */
	TAILQ_ENTRY(watcher) link;
};

/* A text of the change as a kind shows it that has a converter. */
struct hub_form {
	const struct kind *kind;
	const struct text *of;
	struct text *shown; /* owned; NULL: that is not known */
};

#define HUB_FORMS_MAX 16

/* What watchers are sent in one turn of the loop, after which other requests come: in bytes, of which a send costs as many as
 * HUB_SEND_BYTES beyond its own. A watcher that this leaves out is behind, and goes on in a later turn. */
#define HUB_TURN_BYTES ((size_t)2 << 20)
#define HUB_SEND_BYTES ((size_t)4 << 10)

struct hub {
	struct apiserver *server;
	size_t n_watchers;
	bool publishing;
	TAILQ_HEAD(, watcher) late; /* they wait for their turn, in order */
	struct task turn;           /* posted while some do, and once spent is large */
	size_t spent;               /* since it ran */
	/* Of the change that is being published. */
	int64_t change_rv; /* 0: none is */
	struct hub_lines lines;
	struct hub_form forms[HUB_FORMS_MAX];
	size_t n_forms;
	struct list_reads reads;
};

/* --- hub_watcher.c --- */
/* That is what it watches by, from here on. */
void watcher_take(struct watcher *w, struct request *r, const struct list_options *l);
/* It has been sent everything: what it will not need again of its request is given back. */
void watcher_rest(struct watcher *w);
void watcher_unlink(struct watcher *w);
/* It is told nothing more, and goes; while h->publishing with hub_sweep(). */
void watcher_drop(struct watcher *w);
/* The same, and its answer ends. */
void watcher_finish(struct watcher *w, bool clean);
void hub_sweep(struct store_table *res);
void hub_send(struct watcher *w, struct str line);
/* Whether the next line states the columns of a Table; the first does. */
bool hub_takes_columns(struct watcher *w);
/* The client must list again, and why: that ends it. */
void hub_send_expired(struct watcher *w, const char *why);

/* --- hub_turn.c --- */
void hub_turn_begin(struct hub *h);
/* Who is to go on in this turn, first come first; NULL: nobody, the others have another. */
struct watcher *hub_turn_next(struct hub *h);
/* Counts what is sent. */
void hub_spend(struct hub *h, size_t bytes);
bool hub_is_spent(const struct hub *h);
/* It goes on behind those that wait already. */
void hub_wait(struct watcher *w);
void hub_wait_no_more(struct watcher *w);

/* --- hub_change.c --- */
extern const char hub_added[];
/* What the watcher is told of a change, if anything. */
void hub_send_change(struct watcher *w, const struct change *c);
/* No more is told of the change, or of one from before that of rv. */
void hub_end_change(struct hub *h);
void hub_begin_change(struct hub *h, int64_t rv);
/* store_on_change(): all watchers of its resource are. arg: the hub. */
void hub_show_change(void *arg, const struct change *c);

#endif
