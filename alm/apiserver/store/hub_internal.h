/* hub_internal: a watch, for hub*.c alone. */
#ifndef ALM_APISERVER_STORE_HUB_INTERNAL_H
#define ALM_APISERVER_STORE_HUB_INTERNAL_H

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
	size_t next_item; /* of first */
	struct task go_on;
};

/* A text of the change as a kind shows it that has a converter. */
struct hub_form {
	const struct kind *kind;
	const struct text *of;
	struct text *shown; /* owned; NULL: that is not known */
};

#define HUB_FORMS_MAX 16

struct hub {
	struct apiserver *server;
	size_t n_watchers;
	bool publishing;
	/* Of the change that is being published. */
	struct hub_lines lines;
	struct hub_form forms[HUB_FORMS_MAX];
	size_t n_forms;
	struct list_reads reads;
};

/* --- hub_watcher.c --- */
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

/* --- hub_change.c --- */
extern const char hub_added[];
/* What the watcher is told of a change, if anything. */
void hub_send_change(struct watcher *w, const struct change *c);
/* The next one is another. */
void hub_end_change(struct hub *h);
/* store_on_change(): all watchers of its resource are. arg: the hub. */
void hub_show_change(void *arg, const struct change *c);

#endif
