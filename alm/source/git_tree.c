#include "alm/source/git_tree.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"

#define SHA1_HEX 40

bool git_is_oid(struct str s)
{
	if (s.len != SHA1_HEX && s.len != SHA256_HEX - 1)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!(s.ptr[i] >= '0' && s.ptr[i] <= '9') && !(s.ptr[i] >= 'a' && s.ptr[i] <= 'f'))
			return false;
	return true;
}

/* --- ls-tree --- */

struct entry {
	struct str mode, oid, size, path;
};

static int corrupt(const char *what, struct error *err)
{
	return error_set(err, E_CORRUPT, "%s of git is cut, or of another form", what);
}

/* "100644 blob OID    SIZE\tPATH"; SIZE is "-" of what is no blob. */
static bool read_entry(struct str line, struct entry *ret)
{
	struct str head, type, rest;
	return str_cut(line, '\t', &head, &ret->path) && str_cut(head, ' ', &ret->mode, &rest) &&
	       str_cut(rest, ' ', &type, &rest) && str_cut(rest, ' ', &ret->oid, &ret->size) &&
	       git_is_oid(ret->oid) && ret->path.len && (ret->size = str_trim(ret->size)).len;
}

static enum files_kind kind_of(const struct entry *e)
{
	if (str_has_prefix(e->mode, STR("100")))
		return FILES_FILE;
	if (str_is(e->mode, "120000"))
		return FILES_LINK;
	return str_is(e->mode, "160000") ? FILES_SUBMODULE : FILES_OTHER;
}

/* The folders above it, then itself: as who walks a tree asks. */
static int take(struct str rules, const char *path, enum files_kind kind, struct arena *a,
		struct error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *folder = arena_strndup(a, path, (size_t)(slash - path));
		int r = files_take(rules, folder, FILES_DIR, err);
		if (r <= 0)
			return r;
	}
	return files_take(rules, path, kind, err);
}

static int add_blob(struct git_tree *t, const struct entry *e, const char *path, struct arena *a,
		    struct error *err)
{
	uint64_t size;
	if (!str_parse_u64(e->size, &size))
		return corrupt("the listing", err);
	if (files_check_size(path, size, err) < 0)
		return t->refused ? files_refuse(t->refused, NULL, path, err) : -err->code;
	if (t->n == FILES_MAX)
		return error_set(err, E_LIMIT, "%s: there are more than %d files", path, FILES_MAX);
	if (size > FILES_BYTES_MAX - t->bytes)
		return error_set(err, E_LIMIT, "%s: the files are larger than %zu MiB together",
				 path, FILES_BYTES_MAX >> 20);
	ARENA_GROW(a, t->blobs, t->cap, t->n, 16);
	t->blobs[t->n++] = (struct git_blob){
		.path = path, .oid = arena_strndup(a, e->oid.ptr, e->oid.len), .size = size};
	t->bytes += size;
	return 0;
}

static int cmp_blobs(const void *a, const void *b)
{
	const struct git_blob *x = a, *y = b;
	return str_cmp(str_of(x->path), str_of(y->path));
}

const char *git_tree_ignore(struct str listing, struct arena *a)
{
	struct str line;
	struct entry e;
	while (listing.len && str_next(&listing, '\0', &line))
		if (read_entry(line, &e) && str_is(e.path, FILES_IGNORE) &&
		    kind_of(&e) == FILES_FILE)
			return arena_strndup(a, e.oid.ptr, e.oid.len);
	return NULL;
}

/* Tools of git make none, but a tree may have a name with a slash in it, and fsck only warns of it:
 * "/x.yaml", "a//x.yaml", or "a/x.yaml" beside the folder a. */
static int check_name(struct str path, struct error *err)
{
	struct str rest = path, part;
	while (str_next(&rest, '/', &part))
		if (!part.len)
			return error_set(err, E_INVALID,
					 "%.*s: the name is no path; make the tree with git",
					 STR_ARG(path));
	return 0;
}

static int check_twice(struct git_tree *t, struct error *err)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		if (!n || strcmp(t->blobs[n - 1].path, t->blobs[i].path) != 0) {
			t->blobs[n++] = t->blobs[i];
			continue;
		}
		error_set(err, E_INVALID, "%s is there twice", t->blobs[i].path);
		if (flaws_take(t->flaws, err) < 0)
			return -err->code;
	}
	t->n = n;
	return 0;
}

static int read_line(struct git_tree *t, const struct entry *e, struct str rules, struct arena *a,
		     struct error *err)
{
	const char *path = arena_strndup(a, e->path.ptr, e->path.len);
	int r = check_name(e->path, err);
	r = r < 0 ? r : take(rules, path, kind_of(e), a, err);
	if (r < 0)
		return files_refuse(t->refused, t->flaws, path, err);
	return r && (t->refused || files_is_manifest(path)) ? add_blob(t, e, path, a, err) : 0;
}

int git_tree_read(struct str listing, struct str rules, struct arena *a, struct git_tree *ret,
		  struct error *err)
{
	struct str line;
	struct entry e;
	if (listing.len && listing.ptr[listing.len - 1] != '\0')
		return corrupt("the listing", err);
	while (listing.len && str_next(&listing, '\0', &line)) {
		if (!read_entry(line, &e))
			return corrupt("the listing", err);
		if (read_line(ret, &e, rules, a, err) < 0)
			return -err->code;
	}
	if (ret->n)
		qsort(ret->blobs, ret->n, sizeof(*ret->blobs), cmp_blobs);
	return check_twice(ret, err);
}

/* --- cat-file --batch --- */

/* "OID blob SIZE\n", the bytes, "\n". */
static int git_blob_read(struct str *batch, const char *oid, struct str *ret, struct error *err)
{
	struct str line, id, type, size;
	uint64_t n;
	if (!str_cut(*batch, '\n', &line, batch) || !str_cut(line, ' ', &id, &type) ||
	    !str_is(id, oid) || !str_cut(type, ' ', &type, &size) || !str_is(type, "blob") ||
	    !str_parse_u64(size, &n) || n >= batch->len || batch->ptr[n] != '\n')
		return corrupt("the content", err);
	*ret = str_sub(*batch, 0, n);
	*batch = str_skip(*batch, n + 1);
	return 0;
}

int git_tree_files(const struct git_tree *t, struct str batch, struct files *ret, struct error *err)
{
	struct str text;
	for (size_t i = 0; i < t->n; i++)
		if (git_blob_read(&batch, t->blobs[i].oid, &text, err) < 0 ||
		    files_add(ret, t->blobs[i].path, text, err) < 0)
			return -err->code;
	files_sort(ret);
	return 0;
}

/* --- log --- */

/* For people: one line, UTF-8, of a bounded length. */
static const char *text_of(struct str s, struct arena *a)
{
	if (!utf8_valid(s))
		return "(not UTF-8)";
	s = str_clip(s, GIT_TEXT_MAX);
	char *text = arena_strndup(a, s.ptr ? s.ptr : "", s.len);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	return text;
}

int git_log_read(struct str text, struct arena *a, struct git_commit **ret, size_t *ret_n,
		 struct error *err)
{
	struct git_commit *list = NULL;
	size_t n = 0, cap = 0;
	struct str id, author, committer, subject;
	while (text.len) {
		if (n == GIT_COMMITS_MAX)
			break;
		if (!str_cut(text, '\0', &id, &text) || !git_is_oid(id) ||
		    !str_cut(text, '\0', &author, &text) ||
		    !str_cut(text, '\0', &committer, &text) ||
		    !str_cut(text, '\0', &subject, &text) || !text.len || *text.ptr != '\n')
			return corrupt("the history", err);
		text = str_skip(text, 1);
		ARENA_GROW(a, list, cap, n, 16);
		list[n++] = (struct git_commit){.commit = arena_strndup(a, id.ptr, id.len),
						.author = text_of(author, a),
						.committer = text_of(committer, a),
						.subject = text_of(subject, a)};
	}
	*ret = list;
	*ret_n = n;
	return 0;
}
