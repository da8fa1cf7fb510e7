#include "alm/io/jsonnet_lib.h"

#include <dlfcn.h>
#include <string.h>

#include "alm/base/mem.h"

#define LIBRARY "libjsonnet.so.0"
#define PACKAGE "libjsonnet0" /* of Debian */

struct JsonnetVm;

/* Until 0.18: the text, or that of an error, with a NUL at its end. */
typedef char *(*import_fn)(void *ctx, const char *base, const char *rel, char **found_here,
			   int *success);
/* From 0.19 on: bytes; 0 is success. */
typedef int (*import_bytes_fn)(void *ctx, const char *base, const char *rel, char **found_here,
			       char **buf, size_t *buflen);

/* clang-format off */
#define JSONNET_FUNCTIONS(X)                                                                       \
	X(version,          const char *, (void))                                                  \
	X(make,             struct JsonnetVm *, (void))                                            \
	X(destroy,          void, (struct JsonnetVm *))                                            \
	X(max_stack,        void, (struct JsonnetVm *, unsigned))                                  \
	X(max_trace,        void, (struct JsonnetVm *, unsigned))                                  \
	X(ext_var,          void, (struct JsonnetVm *, const char *key, const char *value))        \
	X(realloc,          char *, (struct JsonnetVm *, char *, size_t))                          \
	X(import_callback,  void, (struct JsonnetVm *, void *fn, void *ctx))                       \
	X(evaluate_snippet, char *, (struct JsonnetVm *, const char *file, const char *text,       \
				     int *error))
/* clang-format on */

struct jsonnet_lib {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): types */
#define X(name, type, args) type(*name) args;
	JSONNET_FUNCTIONS(X)
#undef X
};

static struct jsonnet_lib lib;
static bool loaded;
static struct error missing;

/* ISO C has no cast between pointers to objects and to functions. */
static bool find(void *library, const char *name, void *ret_function)
{
	void *symbol = dlsym(library, name);
	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static int load(struct error *err)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return error_because(err, E_UNSUPPORTED, REASON_RENDERER_MISSING,
				     "Jsonnet needs " LIBRARY ": install Debian's package " PACKAGE
				     " (%s)",
				     dlerror());
#define X(name, type, args)                                                       \
	if (!find(library, "jsonnet_" #name, &lib.name))                          \
		return error_because(err, E_UNSUPPORTED, REASON_RENDERER_MISSING, \
				     LIBRARY " has no jsonnet_" #name);
	JSONNET_FUNCTIONS(X)
#undef X
	loaded = true;
	return 0;
}

/* What failed before the sandbox was closed says more than what fails in it. */
int jsonnet_lib_load(struct error *err)
{
	if (loaded)
		return 0;
	return missing.code ? error_copy(err, &missing) : load(err);
}

void jsonnet_lib_prepare(void)
{
	(void)jsonnet_lib_load(&missing);
}

/* 0.18 and before: "v0.18.0". */
static bool takes_text(void)
{
	int64_t major, minor;
	struct str rest = str_of(lib.version()), field;
	if (str_has_prefix(rest, STR("v")))
		rest = str_skip(rest, 1);
	return str_next(&rest, '.', &field) && str_parse_i64(field, &major) && major == 0 &&
	       str_next(&rest, '.', &field) && str_parse_i64(field, &minor) && minor < 19;
}

struct run {
	const struct jsonnet_program *program;
	struct JsonnetVm *vm;
};

static char *copy(const struct run *r, struct str s)
{
	char *p = lib.realloc(r->vm, NULL, s.len + 1);
	if (s.len)
		memcpy(p, s.ptr, s.len);
	p[s.len] = '\0';
	return p;
}

/* In C strings a NUL would cut the text, and something else would be evaluated. */
static int import(const struct run *r, const char *base, const char *rel, bool as_text,
		  const char **ret_file, struct str *ret_text, struct error *err)
{
	const struct jsonnet_program *p = r->program;
	if (p->import(p->arg, base, rel, ret_file, ret_text, err) < 0)
		return -err->code;
	if (as_text && str_find_char(*ret_text, '\0') >= 0)
		return error_set(err, E_INVALID, "%s has a NUL byte", *ret_file);
	return 0;
}

static char *import_text(void *ctx, const char *base, const char *rel, char **found_here,
			 int *success)
{
	const struct run *r = ctx;
	const char *file = "";
	struct str text = STR_NONE;
	struct error err = ERROR_INIT;
	*success = import(r, base, rel, true, &file, &text, &err) >= 0;
	if (*success)
		*found_here = copy(r, str_of(file));
	return copy(r, *success ? text : str_of(err.msg));
}

static int import_bytes(void *ctx, const char *base, const char *rel, char **found_here, char **buf,
			size_t *buflen)
{
	const struct run *r = ctx;
	const char *file = "";
	struct str text = STR_NONE;
	struct error err = ERROR_INIT;
	bool failed = import(r, base, rel, false, &file, &text, &err) < 0;
	if (failed)
		text = str_of(err.msg);
	else
		*found_here = copy(r, str_of(file));
	*buf = copy(r, text);
	*buflen = text.len;
	return failed;
}

static void set_import(struct run *r)
{
	import_fn text = import_text;
	import_bytes_fn bytes = import_bytes;
	void *fn;
	if (takes_text())
		memcpy(&fn, &text, sizeof(fn));
	else
		memcpy(&fn, &bytes, sizeof(fn));
	lib.import_callback(r->vm, fn, r);
}

int jsonnet_lib_run(const struct jsonnet_program *p, struct strbuf *out, struct error *err)
{
	int failed = 0;
	struct run r = {.program = p};
	if (jsonnet_lib_load(err) < 0)
		return -err->code;
	if (str_find_char(p->text, '\0') >= 0)
		return error_set(err, E_INVALID, "%s has a NUL byte", p->file);
	CLEANUP(xfreep) char *text = str_dup(p->text);
	r.vm = lib.make();
	lib.max_stack(r.vm, JSONNET_STACK_MAX);
	lib.max_trace(r.vm, JSONNET_TRACE_MAX);
	set_import(&r);
	OBJ_EACH (it, p->ext_str)
		if (obj_as_string(it.value))
			lib.ext_var(r.vm, it.key, obj_as_string(it.value));
	char *result = lib.evaluate_snippet(r.vm, p->file, text, &failed);
	strbuf_adds(out, result);
	lib.realloc(r.vm, result, 0);
	lib.destroy(r.vm);
	if (strbuf_check(out, "what Jsonnet made", err) < 0)
		return -err->code;
	return !failed;
}
