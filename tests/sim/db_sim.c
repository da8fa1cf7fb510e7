#include "tests/sim/db_sim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "alm/base/mem.h"
#include "alm/base/str.h"

#define FILES_MAX    16
#define NAME_MAX_LEN 64
#define SECTOR       512
#define SHM_REGIONS  64
#define FILE_MAX     ((size_t)256 << 20)

struct image {
	char *bytes;
	size_t size, cap;
};

struct file {
	char name[NAME_MAX_LEN];
	bool used, exists, is_wal;
	enum drive drive;
	struct image now, durable;
	unsigned char *dirty; /* one a sector of now */
	size_t n_dirty;       /* capacity of dirty */
	void *shm[SHM_REGIONS];
};

struct disk {
	sqlite3_vfs vfs;
	struct prng prng;
	struct file files[FILES_MAX];
	bool off[DRIVES];
	uint64_t n_ops, n_commits;
	uint64_t off_at_op, off_at_commit, fail_at_op;
	bool off_after;
	enum disk_keep keep;
	enum disk_fault fault;
};

struct handle {
	sqlite3_file base;
	struct disk *disk;
	struct file *file;
	bool delete_on_close;
};

static struct disk *the_disk;

/* Images */

static void image_resize(struct image *i, size_t size)
{
	assert(size <= FILE_MAX);
	if (size > i->cap) {
		i->cap = mem_grown(i->cap, size);
		i->bytes = xreallocarray(i->bytes, i->cap, 1);
	}
	if (size > i->size)
		memset(i->bytes + i->size, 0, size - i->size);
	i->size = size;
}

static void mark_dirty(struct file *f, size_t from, size_t to)
{
	size_t last = (to + SECTOR - 1) / SECTOR;
	if (last > f->n_dirty) {
		size_t n = mem_grown(f->n_dirty, last);
		f->dirty = xreallocarray(f->dirty, n, 1);
		memset(f->dirty + f->n_dirty, 0, n - f->n_dirty);
		f->n_dirty = n;
	}
	for (size_t s = from / SECTOR; s < last; s++)
		f->dirty[s] = 1;
}

static void copy_sector(struct file *f, size_t sector)
{
	size_t from = sector * SECTOR, to = from + SECTOR;
	if (to > f->now.size)
		to = f->now.size;
	if (from >= to)
		return;
	if (to > f->durable.size)
		image_resize(&f->durable, to);
	memcpy(f->durable.bytes + from, f->now.bytes + from, to - from);
}

static void sync_file(struct file *f)
{
	for (size_t s = 0; s < f->n_dirty; s++)
		if (f->dirty[s])
			copy_sector(f, s);
	image_resize(&f->durable, f->now.size);
	if (f->n_dirty)
		memset(f->dirty, 0, f->n_dirty);
}

static void lose_power(struct disk *d, struct file *f, enum disk_keep keep)
{
	for (size_t s = 0; s < f->n_dirty && keep != KEEP_NONE; s++)
		if (f->dirty[s] && (keep == KEEP_ALL || prng_chance(&d->prng, 500)))
			copy_sector(f, s);
	/* A truncate is metadata of its own: it may have reached the disk or not. */
	if (f->now.size < f->durable.size &&
	    (keep == KEEP_ALL || (keep == KEEP_RANDOM && prng_chance(&d->prng, 500))))
		image_resize(&f->durable, f->now.size);
	image_resize(&f->now, 0);
	image_resize(&f->now, f->durable.size);
	if (f->durable.size)
		memcpy(f->now.bytes, f->durable.bytes, f->durable.size);
	if (f->n_dirty)
		memset(f->dirty, 0, f->n_dirty);
}

static void shm_release(struct file *f)
{
	for (size_t i = 0; i < SHM_REGIONS; i++) {
		xfree(f->shm[i]);
		f->shm[i] = NULL;
	}
}

void disk_power_off(struct disk *d, enum drive drive, enum disk_keep keep)
{
	if (d->off[drive])
		return;
	d->off[drive] = true;
	for (size_t i = 0; i < FILES_MAX; i++)
		if (d->files[i].used && d->files[i].drive == drive)
			lose_power(d, &d->files[i], keep);
}

void disk_power_on(struct disk *d, enum drive drive)
{
	d->off[drive] = false;
	for (size_t i = 0; i < FILES_MAX; i++)
		if (d->files[i].drive == drive)
			shm_release(&d->files[i]);
}

bool disk_is_off(const struct disk *d, enum drive drive)
{
	return d->off[drive];
}

/* Counts an operation; 0, or the error it meets. */
static int operate(struct disk *d, enum drive drive, int generic)
{
	if (d->off[drive])
		return generic;
	d->n_ops++;
	if (d->n_ops == d->off_at_op)
		disk_power_off(d, drive, d->keep);
	if (d->off[drive])
		return generic;
	if (d->n_ops != d->fail_at_op)
		return 0;
	return d->fault == DISK_ENOSPC ? SQLITE_FULL : generic;
}

/* The VFS */

static struct handle *handle_of(sqlite3_file *f)
{
	return (struct handle *)(void *)f;
}

static int sim_close(sqlite3_file *sf)
{
	struct handle *h = handle_of(sf);
	if (h->delete_on_close)
		h->file->used = h->file->exists = false;
	return SQLITE_OK;
}

static int sim_read(sqlite3_file *sf, void *buf, int n, sqlite3_int64 at)
{
	struct handle *h = handle_of(sf);
	struct image *i = &h->file->now;
	size_t from = (size_t)at, len = (size_t)n;
	if (h->disk->off[h->file->drive])
		return SQLITE_IOERR_READ;
	size_t have = from < i->size ? i->size - from : 0;
	if (have > len)
		have = len;
	if (have)
		memcpy(buf, i->bytes + from, have);
	memset((char *)buf + have, 0, len - have);
	return have == len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int sim_write(sqlite3_file *sf, const void *buf, int n, sqlite3_int64 at)
{
	struct handle *h = handle_of(sf);
	struct file *f = h->file;
	size_t from = (size_t)at, len = (size_t)n;
	int rc = operate(h->disk, f->drive, SQLITE_IOERR_WRITE);
	if (rc && !(h->disk->fault == DISK_SHORT_WRITE && !h->disk->off[f->drive]))
		return rc;
	if (rc)
		len /= 2;
	if (from + len > f->now.size)
		image_resize(&f->now, from + len);
	memcpy(f->now.bytes + from, buf, len);
	mark_dirty(f, from, from + len);
	return rc;
}

static int sim_truncate(sqlite3_file *sf, sqlite3_int64 size)
{
	struct handle *h = handle_of(sf);
	int rc = operate(h->disk, h->file->drive, SQLITE_IOERR_TRUNCATE);
	if (rc == 0)
		image_resize(&h->file->now, (size_t)size);
	return rc;
}

static int sim_sync(sqlite3_file *sf, int flags UNUSED)
{
	struct handle *h = handle_of(sf);
	struct disk *d = h->disk;
	int rc = operate(d, h->file->drive, SQLITE_IOERR_FSYNC);
	if (rc)
		return rc;
	bool ours = h->file->is_wal && ++d->n_commits == d->off_at_commit;
	if (ours && !d->off_after) {
		disk_power_off(d, h->file->drive, d->keep);
		return SQLITE_IOERR_FSYNC;
	}
	sync_file(h->file);
	if (ours)
		disk_power_off(d, h->file->drive, d->keep);
	return SQLITE_OK;
}

static int sim_size(sqlite3_file *sf, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)handle_of(sf)->file->now.size;
	return SQLITE_OK;
}

static int sim_lock(sqlite3_file *sf UNUSED, int level UNUSED)
{
	return SQLITE_OK;
}

static int sim_check_lock(sqlite3_file *sf UNUSED, int *ret)
{
	*ret = 0;
	return SQLITE_OK;
}

static int sim_control(sqlite3_file *sf UNUSED, int op UNUSED, void *arg UNUSED)
{
	return SQLITE_NOTFOUND;
}

static int sim_sector_size(sqlite3_file *sf UNUSED)
{
	return SECTOR;
}

static int sim_characteristics(sqlite3_file *sf UNUSED)
{
	return 0;
}

static int sim_shm_map(sqlite3_file *sf, int region, int size, int extend, void volatile **ret)
{
	struct file *f = handle_of(sf)->file;
	*ret = NULL;
	if (region >= SHM_REGIONS)
		return SQLITE_IOERR_SHMMAP;
	if (!f->shm[region] && extend)
		f->shm[region] = xcalloc(1, (size_t)size);
	*ret = f->shm[region];
	return SQLITE_OK;
}

static int sim_shm_lock(sqlite3_file *sf UNUSED, int at UNUSED, int n UNUSED, int flags UNUSED)
{
	return SQLITE_OK;
}

static void sim_shm_barrier(sqlite3_file *sf UNUSED)
{
}

static int sim_shm_unmap(sqlite3_file *sf, int drop)
{
	if (drop)
		shm_release(handle_of(sf)->file);
	return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = sim_close,
	.xRead = sim_read,
	.xWrite = sim_write,
	.xTruncate = sim_truncate,
	.xSync = sim_sync,
	.xFileSize = sim_size,
	.xLock = sim_lock,
	.xUnlock = sim_lock,
	.xCheckReservedLock = sim_check_lock,
	.xFileControl = sim_control,
	.xSectorSize = sim_sector_size,
	.xDeviceCharacteristics = sim_characteristics,
	.xShmMap = sim_shm_map,
	.xShmLock = sim_shm_lock,
	.xShmBarrier = sim_shm_barrier,
	.xShmUnmap = sim_shm_unmap,
};

static enum drive drive_of(const char *name)
{
	return cstr_has_prefix(name, DISK_CONTROLLER) ? DRIVE_CONTROLLER : DRIVE_SERVER;
}

static struct file *find(struct disk *d, const char *name)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		if (d->files[i].used && strcmp(d->files[i].name, name) == 0)
			return &d->files[i];
	return NULL;
}

static struct file *make(struct disk *d, const char *name)
{
	for (size_t i = 0; i < FILES_MAX; i++) {
		struct file *f = &d->files[i];
		if (f->used)
			continue;
		image_resize(&f->now, 0);
		image_resize(&f->durable, 0);
		if (f->n_dirty)
			memset(f->dirty, 0, f->n_dirty);
		snprintf(f->name, sizeof(f->name), "%s", name);
		f->used = f->exists = true;
		f->drive = drive_of(name);
		f->is_wal = cstr_has_suffix(name, "-wal");
		return f;
	}
	return NULL;
}

static int sim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *sf, int flags, int *ret_flags)
{
	struct disk *d = vfs->pAppData;
	struct handle *h = handle_of(sf);
	sf->pMethods = NULL;
	if (d->off[name ? drive_of(name) : DRIVE_SERVER])
		return SQLITE_CANTOPEN;
	const char *known = name ? name : "temporary";
	struct file *f = name ? find(d, known) : NULL;
	if (!f && (flags & SQLITE_OPEN_CREATE))
		f = make(d, known);
	if (!f)
		return SQLITE_CANTOPEN;
	h->disk = d;
	h->file = f;
	h->delete_on_close = !name || (flags & SQLITE_OPEN_DELETEONCLOSE);
	sf->pMethods = &methods;
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int sim_delete(sqlite3_vfs *vfs, const char *name, int sync_dir UNUSED)
{
	struct disk *d = vfs->pAppData;
	struct file *f = find(d, name);
	int rc = operate(d, drive_of(name), SQLITE_IOERR_DELETE);
	if (rc)
		return rc;
	if (!f)
		return SQLITE_IOERR_DELETE_NOENT;
	f->used = f->exists = false;
	shm_release(f);
	return SQLITE_OK;
}

static int sim_access(sqlite3_vfs *vfs, const char *name, int flags UNUSED, int *ret)
{
	*ret = find(vfs->pAppData, name) != NULL;
	return SQLITE_OK;
}

static int sim_full_name(sqlite3_vfs *vfs UNUSED, const char *name, int size, char *out)
{
	snprintf(out, (size_t)size, "%s", name);
	return SQLITE_OK;
}

static int sim_randomness(sqlite3_vfs *vfs, int n, char *out)
{
	prng_fill(&((struct disk *)vfs->pAppData)->prng, out, (size_t)n);
	return n;
}

static int sim_sleep(sqlite3_vfs *vfs UNUSED, int us)
{
	return us;
}

static int sim_time(sqlite3_vfs *vfs UNUSED, sqlite3_int64 *ret)
{
	*ret = INT64_C(212639817600000); /* one instant: nothing may depend on SQLite's clock */
	return SQLITE_OK;
}

struct disk *disk_new(uint64_t seed)
{
	struct disk *d = xcalloc(1, sizeof(*d));
	assert(!the_disk);
	the_disk = d;
	prng_init(&d->prng, seed, "disk");
	d->vfs = (sqlite3_vfs){
		.iVersion = 2,
		.szOsFile = sizeof(struct handle),
		.mxPathname = NAME_MAX_LEN - 1,
		.zName = "sim",
		.pAppData = d,
		.xOpen = sim_open,
		.xDelete = sim_delete,
		.xAccess = sim_access,
		.xFullPathname = sim_full_name,
		.xRandomness = sim_randomness,
		.xSleep = sim_sleep,
		.xCurrentTimeInt64 = sim_time,
	};
	int rc = sqlite3_vfs_register(&d->vfs, 0);
	assert(rc == SQLITE_OK);
	return d;
}

void disk_free(struct disk *d)
{
	if (!d)
		return;
	sqlite3_vfs_unregister(&d->vfs);
	for (size_t i = 0; i < FILES_MAX; i++) {
		struct file *f = &d->files[i];
		shm_release(f);
		xfree(f->now.bytes);
		xfree(f->durable.bytes);
		xfree(f->dirty);
	}
	the_disk = NULL;
	xfree(d);
}

uint64_t disk_ops(const struct disk *d)
{
	return d->n_ops;
}

uint64_t disk_commits(const struct disk *d)
{
	return d->n_commits;
}

void disk_off_at_op(struct disk *d, uint64_t n, enum disk_keep keep)
{
	d->off_at_op = n;
	d->keep = keep;
}

void disk_off_at_commit(struct disk *d, uint64_t n, bool after, enum disk_keep keep)
{
	d->off_at_commit = n;
	d->off_after = after;
	d->keep = keep;
}

void disk_fail_at_op(struct disk *d, uint64_t n, enum disk_fault fault)
{
	d->fail_at_op = n;
	d->fault = fault;
}
