/*
 * The mirrors of Bundles on this machine: whose they are, and when they go. Each is a folder that is
 * named by what it is of and by whom it is read. One that no Bundle names is removed when a process
 * begins to read: a url that was changed, or a Bundle that went, while nobody was there to see it.
 */
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/log.h"
#include "alm/client/git_mirror.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/meta.h"

#define DIGEST_CHARS 32
#define FOLDERS_MAX  100000 /* that are looked at */
#define REMOVED_MAX  100    /* at one reading: each is a program that runs */

static const char *folder_of(const struct obj *bundle, const struct bundle_spec *b, struct arena *a)
{
	char hex[SHA256_HEX];
	sha256_hex(str_of(arena_fmt(a, "%s\n%s\n%s\n%s", meta_uid(bundle), b->url, b->branch,
				    b->secret ? b->secret : "")),
		   hex);
	return arena_strndup(a, hex, DIGEST_CHARS);
}

static const char *path_of(const struct bundles *b, const char *folder, struct arena *a)
{
	return arena_fmt(a, "%s/%s", b->m->c.git_dir, folder);
}

const char *bundle_mirror_dir(const struct bundles *b, const struct obj *bundle,
			      const struct bundle_spec *spec, struct arena *a)
{
	return path_of(b, folder_of(bundle, spec, a), a);
}

/* --- the sweep --- */

/* One that is refused is not read: it has none. */
static void add_folder(struct map *used, const struct obj *bundle)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct bundle_spec spec;
	struct error ignored = ERROR_INIT;
	if (bundle_spec_read(bundle, a, &spec, &ignored) == 0)
		map_set(used, folder_of(bundle, &spec, a), NULL);
}

static struct map *used_folders(const struct informer *i)
{
	struct map *used = map_new(NULL);
	const struct informer_object *io = NULL;
	while ((io = informer_next(i, io))) {
		CLEANUP(obj_unrefp) struct obj *bundle = informer_decode(io);
		if (bundle)
			add_folder(used, bundle);
	}
	return used;
}

static bool is_mirror(const struct dir_entry *e)
{
	return e->kind == DIR_DIR && strlen(e->name) == DIGEST_CHARS;
}

static void remove_unused(struct bundles *b, const struct map *used, const struct dir_entry *list,
			  size_t n)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	size_t removed = 0;
	for (size_t i = 0; i < n && removed < REMOVED_MAX; i++) {
		if (!is_mirror(&list[i]) || map_has(used, list[i].name))
			continue;
		git_mirror_remove(b->m->c.programs, path_of(b, list[i].name, a));
		removed++;
	}
	b->swept = removed < REMOVED_MAX;
	if (removed)
		log_info("mirrors that no Bundle reads are removed", "count",
			 arena_fmt(a, "%zu", removed));
}

static void sweep(struct bundles *b)
{
	const struct informer *i = b->m->fixed[WATCH_BUNDLE].informer;
	struct dir_entry *list;
	size_t n;
	struct error ignored = ERROR_INIT;
	if (b->swept || !i || !informer_is_synced(i))
		return;
	if (dir_entries(b->m->c.git_dir, FOLDERS_MAX, &list, &n, &ignored) < 0) {
		b->swept = true; /* there is none yet, or git will say why it cannot be read */
		return;
	}
	struct map *used = used_folders(i);
	remove_unused(b, used, list, n);
	map_free(used);
	dir_entries_free(list, n);
}

/* A process that was killed may have left a key in each; nobody reads one now. */
static void clear_keys(struct bundles *b)
{
	struct error ignored = ERROR_INIT;
	struct dir_entry *list;
	size_t n;
	if (b->cleared)
		return;
	b->cleared = true; /* from now on one may be in use */
	if (dir_entries(b->m->c.git_dir, FOLDERS_MAX, &list, &n, &ignored) < 0)
		return; /* there is none yet */
	for (size_t i = 0; i < n; i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		if (is_mirror(&list[i]))
			git_ssh_clear(path_of(b, list[i].name, a), a);
	}
	dir_entries_free(list, n);
}

/* --- one --- */

/* A repository that is read no more, or as somebody else, does not stay on this machine. */
void bundle_mirror_use(struct bundle_slot *s, const char *dir)
{
	if (s->dir && strcmp(s->dir, dir) != 0)
		git_mirror_remove(s->b->m->c.programs, s->dir);
	xfree(s->dir);
	s->dir = xstrdup(dir);
	clear_keys(s->b);
	sweep(s->b);
}

void bundle_mirror_drop(struct bundle_slot *s, const struct obj *bundle)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct programs *programs = s->b->m->c.programs;
	struct bundle_spec spec;
	struct error err = ERROR_INIT;
	if (bundle && bundle_spec_read(bundle, a, &spec, &err) == 0)
		git_mirror_remove(programs, bundle_mirror_dir(s->b, bundle, &spec, a));
	if (s->dir)
		git_mirror_remove(programs, s->dir);
	xfree(STEAL(s->dir));
}
