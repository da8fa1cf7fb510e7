/* What is left in a mirror of calls that did not end well: each try leaves a pack of up to the limit of
 * a file, and git itself looks for that only when it has much else to do. */
#include <string.h>

#include "alm/base/file.h"
#include "alm/client/git_mirror_internal.h"

#define ENTRIES_MAX 10000

/* Names that git gives to what is not complete yet. */
static bool is_begun(const struct dir_entry *e)
{
	return e->kind != DIR_DIR &&
	       (cstr_has_prefix(e->name, "tmp_") || cstr_has_prefix(e->name, ".tmp-"));
}

static void tidy(const char *folder, struct arena *a)
{
	struct error ignored = ERROR_INIT;
	struct dir_entry *list;
	size_t n;
	if (dir_entries(folder, ENTRIES_MAX, &list, &n, &ignored) < 0)
		return; /* there is none */
	for (size_t i = 0; i < n; i++)
		if (is_begun(&list[i]))
			(void)file_remove(arena_fmt(a, "%s/%s", folder, list[i].name), &ignored);
	dir_entries_free(list, n);
}

/* "objects", and below it "pack" and the folders of loose objects. */
void git_mirror_tidy(const struct git_read *g)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	const char *objects = arena_fmt(a, "%s/objects", g->repo);
	struct error ignored = ERROR_INIT;
	struct dir_entry *list;
	size_t n;
	tidy(objects, a);
	if (dir_entries(objects, ENTRIES_MAX, &list, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].kind == DIR_DIR)
			tidy(arena_fmt(a, "%s/%s", objects, list[i].name), a);
	dir_entries_free(list, n);
}
