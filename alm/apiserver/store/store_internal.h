/* store_internal: shared by store.c (commit, rows, life), heads.c (heads and their indexes) and window.c
 * (the watch window and compaction). */
#ifndef ALM_APISERVER_STORE_STORE_INTERNAL_H
#define ALM_APISERVER_STORE_STORE_INTERNAL_H

#include "alm/apiserver/store/store.h"
#include "alm/base/map.h"
#include "alm/base/multimap.h"
#include "alm/base/strbuf.h"

#define KEY_BYTES_MAX       4096
#define STORE_LISTENERS_MAX 8

struct waiter {
	void (*fn)(void *arg, const struct error *err);
	void *arg;
};

struct store {
	struct db *db;
	struct loop *loop;
	struct audit *audit;
	int64_t rv, window_start, last_row;
	struct map *resources; /* "group/plural" -> struct store_table */
	struct store_table **order;
	size_t n_order, cap_order;
	struct map *by_uid;          /* -> struct head, borrowed */
	struct multimap *dependents; /* owner uid -> struct head */

	bool batch_open, failing;
	int64_t batch_rv; /* revision before the batch */
	struct task commit;
	struct change **batch;
	size_t n_batch, cap_batch;
	struct waiter *waiters;
	size_t n_waiters, cap_waiters;
	struct {
		void (*fn)(void *arg, const struct change *c);
		void *arg;
	} listeners[STORE_LISTENERS_MAX];
	size_t n_listeners;
	void (*on_head)(void *arg, const struct store_table *t, const char *ns,
			const struct text *before, const struct text *after);
	void *on_head_arg;

	struct change **window;
	size_t window_first, window_n, window_cap, window_bytes;
	int64_t *garbage; /* from first_garbage on */
	size_t first_garbage, n_garbage, cap_garbage;
	int64_t compacted; /* bytes since the last checkpoint */
	struct timer compact, checkpoint;
};

/* heads.c */

/* Sets (ns, name) to this text; o may be NULL. Takes its own reference of the text. */
struct head *head_put(struct store *s, struct store_table *r, const char *ns, const char *name,
		      struct text *text, int64_t rv, int64_t create_rv, const struct obj *o);
void head_drop(struct store *s, struct store_table *r, const char *ns, const char *name);
void head_free(struct store *s, struct head *h);
void resource_free(void *p);

/* window.c */

void window_push(struct store *s, struct change *c);
void change_free(struct change *c);
void garbage_add(struct store *s, int64_t id);
void compact_due(void *arg); /* the store's timer */

#endif
