/*
 * store: the append-only table of object revisions, and every head of it in memory.
 *
 * One row a write: id = resourceVersion, name key, created, deleted, create_revision,
 * prev_revision, value; UNIQUE(name, prev_revision) is the optimistic lock. Revisions are dense,
 * rise by one and are never used twice, also after a restart (the newest row is never compacted).
 * Heads keep the JSON text of the object, canonical (apiVersion, kind, metadata first) and with its
 * resourceVersion in it; texts are immutable and shared by reference count.
 *
 * Group commit: the first write of a turn opens a transaction and posts the commit; every write has
 * a savepoint of its own. Heads change at once, so that the next request of the turn is judged
 * against them; replies and watch events wait in the batch until the commit. If it fails, heads go
 * back to what they were and every waiter learns it.
 */
#ifndef ALM_APISERVER_STORE_STORE_H
#define ALM_APISERVER_STORE_STORE_H

#include "alm/audit/audit.h"
#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/io/db.h"
#include "alm/io/loop.h"
#include "alm/obj/obj.h"

struct store;

#define STORE_VALUE_BYTES_MAX ((size_t)3 << 19) /* 1.5 MiB, as etcd */
#define STORE_UID_TEXT        37

/* Immutable, reference counted, NUL-terminated. stamp is kind.stamp of the schema under which the
 * text is known to be pruned and defaulted (convert.h). labels: selector_bits() of its labels in two
 * halves, set by the first selector that read it; 0 until then. */
struct text {
	unsigned refs, len;
	uint32_t stamp, labels[2];
	char bytes[];
};
struct text *text_new(struct str s);
struct text *text_ref(struct text *t);
void text_unref(struct text *t); /* NULL is fine */
struct str text_str(const struct text *t);

/* Owned texts under which a head is found. */
struct head_keys {
	char **items;
	size_t n, cap;
};
void head_keys_add(struct head_keys *k, char *key); /* consumes key */

/* All objects of one group and plural, in every version. */
struct store_table {
	const char *group, *plural;
	struct head **heads; /* by namespace, then name, bytewise */
	size_t n_heads, cap;
	int64_t rv;               /* of the last change; a key for caches over the resource */
	struct watcher *watchers; /* of hub.c */
	/* Set by resource_index(). */
	void (*keys_of)(const struct obj *o, struct head_keys *ret);
	struct multimap *by_key; /* -> struct head */
};

/* The newest revision of a living object. Borrowed until the next write. */
struct head {
	struct store_table *resource;
	const char *ns, *name; /* ns "" if cluster-scoped */
	char uid[STORE_UID_TEXT];
	int64_t rv, create_rv;
	int64_t seen_ns; /* monotonic time of the last write, or of the start */
	struct text *text;
	struct head_keys owners; /* uids of metadata.ownerReferences */
	struct head_keys keys;   /* of resource->keys_of */
	/* For the owner of the kind: parsed form of a hot object, dropped with the revision. */
	struct obj *parsed;
};

/* One committed change, kept in the watch window. */
struct change {
	struct store_table *resource;
	const char *ns, *name;
	int64_t rv, prev_rv, create_rv, at_ns;
	struct text *before; /* NULL: created */
	struct text *after;  /* of a deletion: the last state with the revision of the deletion */
	bool deleted;
	char names[]; /* ns and name */
};

struct store_config {
	struct db *db;
	struct loop *loop;
	struct audit *audit; /* or NULL: no entries */
};

int store_open(const struct store_config *c, struct store **ret, struct error *err);
void store_close(struct store *s);

/* Reading. */
int64_t store_rv(const struct store *s); /* newest revision given out */
int64_t store_committed_rv(const struct store *s);
struct store_table *store_resource(struct store *s, const char *group,
				   const char *plural); /* makes it */
struct head *store_find(struct store *s, const char *group, const char *plural, const char *ns,
			const char *name); /* NULL if absent */
struct head *resource_find(const struct store_table *r, const char *ns, const char *name);
/* Index of the first head that is not before (ns, name). */
size_t resource_lower_bound(const struct store_table *r, const char *ns, const char *name);
struct head *store_by_uid(const struct store *s, const char *uid);
/* Borrowed array of struct head that name uid as an owner. */
void *const *store_dependents(const struct store *s, const char *uid, size_t *ret_n);
/* From now on the objects of r are found by the keys that keys_of adds for each; once a resource.
 */
void resource_index(struct store_table *r,
		    void (*keys_of)(const struct obj *o, struct head_keys *ret));
/* Borrowed array of struct head, until the next write. */
void *const *resource_by_key(const struct store_table *r, const char *key, size_t *ret_n);
/* The object, parsed; borrowed, kept with the head until its next revision when hot is set, else
 * tied to a. NULL only for damaged text. */
const struct obj *head_obj(struct head *h, struct arena *a);
const struct obj *head_obj_hot(struct head *h);

/* The resources in order of first use. */
size_t store_n_resources(const struct store *s);
struct store_table *store_resource_at(const struct store *s, size_t i);

/* Writing. */
struct write {
	struct store_table *resource;
	const char *ns, *name;
	struct head *head; /* the living object that was read; NULL: create */
	/* The new state, canonical, or the last state of what is removed. Under construction: its
	 * metadata.resourceVersion is set here. */
	struct obj *after;
	bool remove;
	uint32_t stamp;                   /* of the text */
	const struct audit_row *row;      /* NULL: none (policy, or it is there already) */
	const struct audit_row *deletion; /* a second entry, caused by the first; NULL: none */
};

/* The revision the next store_write() will give. */
int64_t store_next_rv(const struct store *s);
/* *ret_text is borrowed: from the new head or, for a removal, until the batch is committed.
 * E_CONFLICT for a head that is no longer the newest, E_TOOLARGE for the object, E_UNAVAILABLE when
 * the disk or the audit log refuses. A failed write leaves no trace. */
int store_write(struct store *s, const struct write *w, struct text **ret_text, struct error *err);
/* E_TOOLARGE in its words, for who finds out before. */
int store_too_large(struct error *err);

/* An entry of the log without an object: a write that was refused. E_UNAVAILABLE. */
int store_append_row(struct store *s, const struct audit_row *row, struct error *err);
/* The last write or commit failed at the disk or the log: not ready until one succeeds. */
bool store_is_failing(const struct store *s);
/* The entry of the last write; 0 if it had none. */
int64_t store_last_row(const struct store *s);

/* Takes a head that no request may reach out of memory, at start; its rows stay in the database. */
void store_set_aside(struct store *s, struct head *h);

/* Called once after the commit of the open batch (err NULL), or when it failed; at once if none is
 * open. */
void store_after_commit(struct store *s, void (*fn)(void *arg, const struct error *err), void *arg);
bool store_batch_is_open(const struct store *s);
void store_flush(struct store *s);
/* Called for every change of a head, before its commit, and when a batch that failed takes it back. before NULL: there
 * was none; after NULL: there is none any more. One
 * listener; fn NULL: none again. */
void store_on_head(struct store *s,
		   void (*fn)(void *arg, const struct store_table *t, const char *ns,
			      const struct text *before, const struct text *after),
		   void *arg);
/* Called for every change after its commit, in order. */
void store_on_change(struct store *s, void (*fn)(void *arg, const struct change *c), void *arg);

/* The watch window: the newest STORE_WINDOW_MIN changes and all of the last ten minutes, as far as
 * the states that nothing else keeps (the old ones) fit STORE_WINDOW_BYTES. Definitions have half
 * a MiB and are written three times when they come, so no number of changes is a bound. */
#define STORE_WINDOW_MIN   10000
#define STORE_WINDOW_BYTES ((size_t)8 << 20)
#define STORE_WINDOW_NS    (10 * NS_PER_MIN)

/* Forgets the changes so far: what the server wrote at its start is nobody's to watch. */
void store_window_clear(struct store *s);
int64_t store_window_start(const struct store *s); /* every change after this revision is kept */
/* Changes in order; i counts from 0 = oldest kept; NULL past the end. */
const struct change *store_change_at(const struct store *s, size_t i);
/* Index of the first change after rv. */
size_t store_change_after(const struct store *s, int64_t rv);

/* Texts of the canonical form. */
bool text_uid(struct str object, char out[STORE_UID_TEXT]);
struct str text_api_version(struct str object); /* "" if it is none */
/* metadata.labels as it stands there, found without reading the rest; "": there are none. */
struct str text_labels(struct str object);

#endif
