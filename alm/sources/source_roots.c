#include "alm/sources/source_roots.h"

#include <string.h>

#include "alm/io/beneath.h"

#define FOLDERS_ABOVE_MAX 64

struct source_roots {
	char *dirs[SOURCE_ROOTS_MAX]; /* absolute, without a slash at the end */
	size_t n;
	struct file_info forbidden[FOLDERS_ABOVE_MAX]; /* the data folder and all above it */
	size_t n_forbidden;
	struct source_files files;
};

static bool is_clean(struct str path)
{
	struct str part;
	if (!str_has_prefix(path, STR("/")))
		return false;
	while (str_next(&path, '/', &part))
		if (str_is(part, ".") || str_is(part, ".."))
			return false;
	return true;
}

/* What follows dir in path: "" or "a/b"; NULL: path is not below it. */
static const char *below(const char *dir, const char *path)
{
	size_t n = strlen(dir);
	if (strncmp(path, dir, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	path += n;
	while (*path == '/')
		path++;
	return path;
}

/* The longest wins; NULL: none. */
static const char *find_root(const struct source_roots *r, const char *path, const char **ret_rest)
{
	const char *best = NULL;
	for (size_t i = 0; i < r->n && is_clean(str_of(path)); i++) {
		const char *rest = below(r->dirs[i], path);
		if (rest && (!best || strlen(r->dirs[i]) > strlen(best))) {
			best = r->dirs[i];
			*ret_rest = rest;
		}
	}
	return best;
}

/* Asked each time: a link may have been put where the root was. */
static int check_root(const struct source_roots *r, const struct file_info *root, const char *dir,
		      struct error *err)
{
	for (size_t i = 0; i < r->n_forbidden; i++)
		if (r->forbidden[i].device == root->device && r->forbidden[i].inode == root->inode)
			return error_set(err, E_NOTALLOWED,
					 "catalog root %s is or holds the data folder of ALM; the "
					 "administrator of ALM names another one with "
					 "--catalog-root",
					 dir);
	return 0;
}

static int open_root(const struct source_roots *r, const char *path, int *ret_fd,
		     const char **ret_rest, struct error *err)
{
	struct file_info info;
	int fd;
	const char *dir = find_root(r, path, ret_rest);
	if (!dir)
		return error_set(err, E_NOTALLOWED,
				 "it lies below none of the folders that may hold catalogs; the "
				 "administrator of ALM names them with --catalog-root");
	if (beneath_open_root(dir, &info, &fd, err) < 0)
		return -err->code;
	if (check_root(r, &info, dir, err) < 0) {
		file_close(&fd);
		return -err->code;
	}
	*ret_fd = fd;
	return 0;
}

static int roots_list(void *arg, const char *dir, char ***ret_names, size_t *ret_n,
		      struct error *err)
{
	CLEANUP(file_close) int root = -1;
	const char *rest;
	if (open_root(arg, dir, &root, &rest, err) < 0)
		return -err->code;
	return beneath_list(root, rest, SOURCE_FILES_MAX, ret_names, ret_n, err);
}

static int roots_info(void *arg, const char *path, struct file_info *ret, struct error *err)
{
	CLEANUP(file_close) int root = -1;
	const char *rest;
	if (open_root(arg, path, &root, &rest, err) < 0)
		return -err->code;
	return beneath_info(root, rest, ret, err);
}

static int roots_read(void *arg, const char *path, struct strbuf *b, struct error *err)
{
	CLEANUP(file_close) int root = -1, fd = -1;
	const char *rest;
	struct file_info info;
	if (open_root(arg, path, &root, &rest, err) < 0 ||
	    beneath_open(root, rest, &info, &fd, err) < 0)
		return -err->code;
	return file_read_fd(fd, rest, b, err);
}

static int roots_open(void *arg, const char *path, int *ret_fd, struct error *err)
{
	CLEANUP(file_close) int root = -1;
	const char *rest;
	struct file_info info;
	if (open_root(arg, path, &root, &rest, err) < 0)
		return -err->code;
	return beneath_open(root, rest, &info, ret_fd, err);
}

/* The data folder and every folder above it: none of them may be a root. path is absolute; what
 * does not exist yet has no number, and is compared by its text. */
static int find_forbidden(struct source_roots *r, const char *data_dir, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&path, data_dir);
	for (size_t i = 0; i < FOLDERS_ABOVE_MAX; i++) {
		bool top = path.len <= 1;
		struct error absent;
		int code = file_info(path.buf, &r->forbidden[r->n_forbidden], &absent);
		if (code < 0 && code != -E_NOTFOUND)
			return error_set(err, absent.code, "%s", absent.msg);
		r->n_forbidden += code == 0;
		if (top)
			return 0;
		while (path.len > 1 && path.buf[path.len - 1] != '/')
			strbuf_truncate(&path, path.len - 1);
		while (path.len > 1 && path.buf[path.len - 1] == '/')
			strbuf_truncate(&path, path.len - 1);
	}
	return error_set(err, E_LIMIT, "%s lies more than %d folders deep", data_dir,
			 FOLDERS_ABOVE_MAX);
}

/* Also of folders that have to be made still. */
static bool is_or_holds(const char *root, const char *data_dir)
{
	struct error ignored;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (file_absolute_new(root, &b, &ignored) < 0)
		return false;
	if (b.len == 1) /* the root of all */
		strbuf_clear(&b);
	return below(b.len ? b.buf : "", data_dir) != NULL;
}

static int add_root(struct source_roots *r, const char *dir, const char *data_dir,
		    struct error *err)
{
	struct str s = str_of(dir);
	while (s.len > 1 && s.ptr[s.len - 1] == '/')
		s.len--;
	if (!is_clean(s))
		return error_set(err, E_USAGE,
				 "--catalog-root %s: want an absolute path without . and ..", dir);
	if (r->n == SOURCE_ROOTS_MAX)
		return error_set(err, E_USAGE, "--catalog-root: more than %d", SOURCE_ROOTS_MAX);
	r->dirs[r->n++] = str_dup(s);
	if (is_or_holds(dir, data_dir))
		return error_set(err, E_USAGE,
				 "--catalog-root %s: is or holds the data folder of ALM, which no "
				 "catalog may read; name a folder beside it or below it",
				 dir);
	return 0;
}

int source_roots_new(const char *const *dirs, size_t n, const char *data_dir,
		     struct source_roots **ret, struct error *err)
{
	static const char *const standard[] = {SOURCE_ROOT_DEFAULT};
	CLEANUP(source_roots_freep) struct source_roots *r = xcalloc(1, sizeof(*r));
	CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT(STRBUF_SMALL);
	r->files = (struct source_files){roots_list, roots_info, roots_read, roots_open, r};
	if (file_absolute_new(data_dir, &data, err) < 0 || find_forbidden(r, data.buf, err) < 0)
		return error_wrap(err, "data folder");
	if (!n) {
		dirs = standard;
		n = ARRAY_LEN(standard);
	}
	for (size_t i = 0; i < n; i++)
		if (add_root(r, dirs[i], data.buf, err) < 0)
			return -err->code;
	*ret = STEAL(r);
	return 0;
}

void source_roots_free(struct source_roots *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		xfree(r->dirs[i]);
	xfree(r);
}

const struct source_files *source_roots_files(const struct source_roots *r)
{
	return &r->files;
}
