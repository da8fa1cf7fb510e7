/* disk_watch: see disk_watch.h. */
#include "alm/audit/disk_watch.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"

#define LOOK_NS        (5 * NS_PER_S)
#define LOOK_CLOSER_NS NS_PER_S
#define TEXT_BYTES     256
#define MIB(bytes)     ((long long)((bytes) >> 20))

struct disk_watch {
	struct disk_watch_config c;
	struct timer timer;
	struct task tell; /* outside of the request or commit that noticed */
	/* Changes between room and none, and how many of them have their entry. */
	unsigned n_changes, n_told;
	int64_t wal_bytes;
	bool wal_is_long;
	struct metric *free_bytes, *full, *wal;
	char refusal[TEXT_BYTES], wal_text[TEXT_BYTES];
};

bool disk_watch_is_full(const struct disk_watch *w)
{
	return w && w->n_changes % 2;
}

/* Row and message: how much is free. */
static void describe(const struct disk_watch *w, char text[TEXT_BYTES])
{
	(void)snprintf(text, TEXT_BYTES, "%lld MiB are free on the disk of the data folder",
		       MIB(db_free_bytes(w->c.db)));
}

static int append_entry(struct disk_watch *w, const char *reason)
{
	struct error ignored = ERROR_INIT;
	int64_t seq;
	char details[TEXT_BYTES];
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	describe(w, details);
	obj_set_str(body, "what", "disk");
	obj_set_str(body, "details", details);
	struct audit_row row = {.type = "System",
				.reason = reason,
				.subject = {.kind = "Log", .name = audit_origin(w->c.audit)},
				.body = body};
	return audit_append_now(w->c.audit, &row, &seq, &ignored);
}

/* One that cannot be written, as the disk was filled up at once, is written when it can. */
static void tell(void *arg)
{
	struct disk_watch *w = arg;
	if (!w->c.audit || audit_read_only(w->c.audit))
		w->n_told = w->n_changes;
	if (db_in_transaction(w->c.db))
		return; /* the next look posts it again */
	while (w->n_told < w->n_changes &&
	       append_entry(w, w->n_told % 2 ? "DiskFullEnded" : "DiskFull") == 0)
		w->n_told++;
}

static void changed(struct disk_watch *w)
{
	char text[TEXT_BYTES];
	w->n_changes++;
	describe(w, text);
	if (disk_watch_is_full(w))
		log_error("the disk is full: writes are refused until there is room", "disk", text);
	else
		log_info("the disk has room again: writing goes on", "disk", text);
	loop_arm(w->c.loop, &w->timer, LOOK_CLOSER_NS);
}

static enum db_room look(struct disk_watch *w)
{
	enum db_room room = db_room(w->c.db);
	if ((room != DB_ROOM_FREE) != disk_watch_is_full(w))
		changed(w);
	if (w->n_told < w->n_changes)
		loop_post(w->c.loop, &w->tell);
	if (w->full) {
		metric_set(w->full, disk_watch_is_full(w));
		metric_set(w->free_bytes, db_free_bytes(w->c.db));
	}
	return room;
}

static bool has_room_for(struct disk_watch *w, enum disk_use use)
{
	enum db_room room = look(w);
	if (use == DISK_WRITE || room != DB_ROOM_SHORT)
		return room < DB_ROOM_SHORT;
	return use == DISK_REPAIR || db_free_bytes(w->c.db) >= DISK_WATCH_DELETE_BYTES;
}

const char *disk_watch_refuses(struct disk_watch *w, enum disk_use use)
{
	if (!w || has_room_for(w, use))
		return NULL;
	(void)snprintf(w->refusal, sizeof(w->refusal),
		       "the disk of the data folder is full: %lld MiB are free, and the last %lld "
		       "are kept for deletes and the audit log; make room on that file system, "
		       "and writing goes on by itself",
		       MIB(db_free_bytes(w->c.db)), MIB(DB_RESERVE_BYTES));
	return w->refusal;
}

/* A WAL that has grown and that no checkpoint could cut down. */
static void look_at_wal(struct disk_watch *w)
{
	struct error err = ERROR_INIT;
	if (!db_in_transaction(w->c.db) && db_checkpoint(w->c.db, true, &err) < 0 &&
	    !disk_watch_is_full(w))
		log_warn("the WAL could not be checkpointed", "error", err.msg);
	w->wal_bytes = db_wal_bytes(w->c.db);
	if (w->wal)
		metric_set(w->wal, w->wal_bytes);
	bool was = w->wal_is_long;
	w->wal_is_long = w->wal_bytes > DISK_WATCH_WAL_BYTES;
	if (w->wal_is_long && !was)
		log_warn("the database cannot be checkpointed", "why", disk_watch_wal(w));
	else if (was && !w->wal_is_long)
		log_info("the database is checkpointed again");
}

const char *disk_watch_wal(struct disk_watch *w)
{
	if (!w || !w->wal_is_long)
		return NULL;
	(void)snprintf(w->wal_text, sizeof(w->wal_text),
		       "%lld MiB in alm.db-wal: a program keeps the database open for reading, and "
		       "what is written takes room until it ends (fuser alm.db tells which)",
		       MIB(w->wal_bytes));
	return w->wal_text;
}

static void due(void *arg)
{
	struct disk_watch *w = arg;
	(void)look(w);
	if (!db_is_broken(w->c.db))
		look_at_wal(w);
	loop_arm(w->c.loop, &w->timer,
		 disk_watch_is_full(w) || w->wal_is_long ? LOOK_CLOSER_NS : LOOK_NS);
}

struct disk_watch *disk_watch_new(const struct disk_watch_config *c)
{
	struct disk_watch *w = xcalloc(1, sizeof(*w));
	w->c = *c;
	w->timer = (struct timer){.fn = due, .arg = w};
	w->tell = (struct task){.fn = tell, .arg = w};
	if (c->metrics) {
		w->full = metrics_gauge(c->metrics, "alm_disk_full",
					"1: writes are refused until there is room.", NULL);
		w->free_bytes = metrics_gauge(c->metrics, "alm_disk_free_bytes",
					      "Free on the disk of the database.", NULL);
		w->wal = metrics_gauge(c->metrics, "alm_db_wal_bytes",
				       "Size of the write-ahead log of the database.", NULL);
	}
	due(w);
	return w;
}

void disk_watch_free(struct disk_watch *w)
{
	if (!w)
		return;
	loop_disarm(w->c.loop, &w->timer);
	loop_unpost(w->c.loop, &w->tell);
	xfree(w);
}
