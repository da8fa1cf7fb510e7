/* What git prints of a commit, four parts that "=== \n" parts: .almignore, `ls-tree -r -z -l`,
 * `cat-file --batch`, `log`. "|" stands for NUL in the second and the last. Whatever is taken keeps
 * what files.h promises: paths that lead nowhere else, sizes and numbers within their limits. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/source/git_tree.h"

#define ARENA_MAX ((size_t)512 << 20)
#define MARK      "=== \n"

static struct str next_part(struct str *rest)
{
	for (size_t i = 0; i + sizeof(MARK) - 1 <= rest->len; i++)
		if (!memcmp(rest->ptr + i, MARK, sizeof(MARK) - 1)) {
			struct str part = str_sub(*rest, 0, i);
			*rest = str_skip(*rest, i + sizeof(MARK) - 1);
			return part;
		}
	struct str part = *rest;
	*rest = STR("");
	return part;
}

static struct str with_nul(struct arena *a, struct str s)
{
	char *p = arena_text(a, s.ptr ? s.ptr : "", s.len);
	for (size_t i = 0; i < s.len; i++)
		p[i] = p[i] == '|' ? '\0' : p[i];
	return str_n(p, s.len);
}

static void check_path(const char *path)
{
	struct str rest = str_of(path), part;
	assert(*path && *path != '/');
	while (str_next(&rest, '/', &part))
		assert(part.len && part.ptr[0] != '.'); /* no "..", and no hidden one */
}

static void check_tree(const struct git_tree *t)
{
	assert(t->n <= FILES_MAX && t->bytes <= FILES_BYTES_MAX);
	for (size_t i = 0; i < t->n; i++) {
		check_path(t->blobs[i].path);
		assert(git_is_oid(str_of(t->blobs[i].oid)));
		assert(!i || strcmp(t->blobs[i - 1].path, t->blobs[i].path) < 0);
	}
}

static void read_tree(struct arena *a, struct str rules, struct str listing, struct str batch)
{
	struct error err = ERROR_INIT;
	struct git_tree t = {0};
	struct files f = {.a = a};
	const char *oid = git_tree_ignore(listing, a);
	assert(!oid || git_is_oid(str_of(oid)));
	if (fuzz_noted(git_tree_read(listing, rules, a, &t, &err), &err) < 0) {
		assert(err.code && err.msg[0]);
		return;
	}
	check_tree(&t);
	for (size_t i = 0; i < t.n; i++)
		fuzz_note_text(t.blobs[i].path);
	if (fuzz_noted(git_tree_files(&t, batch, &f, &err), &err) == 0)
		assert(f.n == t.n);
}

static void read_log(struct arena *a, struct str text)
{
	struct error err = ERROR_INIT;
	struct git_commit *list = NULL;
	size_t n = 0;
	if (fuzz_noted(git_log_read(text, a, &list, &n, &err), &err) < 0)
		return;
	assert(n <= GIT_COMMITS_MAX);
	for (size_t i = 0; i < n; i++) {
		fuzz_note_text(list[i].author);
		fuzz_note_text(list[i].subject);
		assert(git_is_oid(str_of(list[i].commit)));
		assert(strlen(list[i].author) <= GIT_TEXT_MAX &&
		       strlen(list[i].subject) <= GIT_TEXT_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct str rest = str_n((const char *)data, size);
	struct str rules = next_part(&rest), listing = with_nul(a, next_part(&rest));
	struct str batch = next_part(&rest);
	read_tree(a, rules, listing, batch);
	read_log(a, with_nul(a, rest));
	return 0;
}
