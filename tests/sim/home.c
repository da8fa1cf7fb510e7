#include "tests/sim/home.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/base/mem.h"
#include "alm/base/strbuf.h"

static const char *const key_dirs[] = {HOME_SERVER, HOME_PROGRAM};

/* In memory where there is such a file system: what is flushed there costs nothing. */
char *home_make(struct error *err)
{
	static const char *const places[] = {"/dev/shm", "/tmp"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char dir[64], path[96];
		(void)snprintf(dir, sizeof(dir), "%s/alm-sim-XXXXXX", places[i]);
		if (!mkdtemp(dir))
			continue;
		for (size_t n = 0; n < ARRAY_LEN(key_dirs); n++) {
			(void)snprintf(path, sizeof(path), "%s/%s", dir, key_dirs[n]);
			if (dir_make(path, 0700, err) < 0)
				return NULL;
		}
		return xstrdup(dir);
	}
	error_set(err, E_IO, "no folder for keys can be made");
	return NULL;
}

static int copy_file(const char *from, const char *to, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT((size_t)1 << 20);
	return file_read(from, &bytes, err) < 0 ? -err->code
						: file_write_new(to, strbuf_str(&bytes), 0600, err);
}

static int each_key_file(const char *home, int (*fn)(const char *path, const char *name, void *arg),
			 void *arg)
{
	int r = 0;
	for (size_t n = 0; n < ARRAY_LEN(key_dirs); n++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(4096);
		struct error err = ERROR_INIT;
		char **names = NULL;
		size_t n_names = 0;
		strbuf_addf(&path, "%s/%s", home, key_dirs[n]);
		if (dir_list(path.buf, 100, &names, &n_names, &err) < 0)
			return -err.code;
		for (size_t i = 0; i < n_names; i++) {
			CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(4096);
			strbuf_addf(&name, "%s/%s", key_dirs[n], names[i]);
			strbuf_clear(&path);
			strbuf_addf(&path, "%s/%s", home, name.buf);
			r = fn(path.buf, name.buf, arg) < 0 ? -1 : r;
		}
		dir_list_free(names, n_names);
	}
	return r;
}

struct copy {
	const char *to;
	struct error *err;
};

static int copy_there(const char *path, const char *name, void *arg)
{
	struct copy *c = arg;
	CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(4096);
	strbuf_addf(&to, "%s/%s", c->to, name);
	return copy_file(path, to.buf, c->err);
}

int home_copy(const char *home, char **ret, struct error *err)
{
	CLEANUP(xfreep) char *copy = home_make(err);
	if (!copy)
		return -err->code;
	struct copy c = {copy, err};
	if (each_key_file(home, copy_there, &c) < 0)
		return -err->code;
	*ret = STEAL(copy);
	return 0;
}

int home_enter(const char *home, struct error *err)
{
	return chdir(home) < 0 ? error_set(err, E_IO, "%s: it cannot be entered", home) : 0;
}

static int remove_file(const char *path, const char *name, void *arg)
{
	(void)name;
	return file_remove(path, arg);
}

void home_remove(char *home)
{
	struct error err = ERROR_INIT;
	if (!home)
		return;
	(void)each_key_file(home, remove_file, &err);
	for (size_t n = 0; n < ARRAY_LEN(key_dirs); n++)
		rmdir(key_dirs[n]);
	if (chdir("/") == 0)
		rmdir(home);
	xfree(home);
}
