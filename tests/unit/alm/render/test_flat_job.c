/* Manifests and Jsonnet out of the real sandbox: what Debian's jsonnet prints is what comes out, and
 * a hostile program ends with one error. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/sanitizer.h"
#include "alm/io/sandbox.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/render/flat_job.h"
#include "alm/render/tree_read.h"
#include "tests/lib/http_client.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define GOLDEN      "tests/golden/jsonnet/"
#define CM          "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'}}"

static const struct sandbox_job jobs[] = {FLAT_JOBS, {0}};

struct fixture {
	struct loop *loop;
	struct sandbox *sandbox;
	struct arena *a;
	char dir[40];
	int n_done;
	struct obj *rendered;
	struct error err;
	struct strbuf msg;
	struct flat flat;
	const struct obj *rollout;
};

static void on_done(void *arg, struct obj *rendered, const struct error *err)
{
	struct fixture *f = arg;
	f->n_done++;
	obj_keep(f->a, rendered);
	f->rendered = rendered;
	f->err = err ? *err : ERROR_INIT;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct error err = ERROR_INIT;
	const struct sandbox_config c = {.jobs = jobs};
	memcpy(f->dir, "/tmp/alm-flat-XXXXXX", sizeof("/tmp/alm-flat-XXXXXX"));
	assert_non_null(mkdtemp(f->dir));
	f->loop = loop_event_new();
	f->a = arena_new(ARENA_BYTES);
	strbuf_init(&f->msg, STRBUF_SMALL);
	assert_ok(sandbox_process_new(f->loop, &c, &f->sandbox, &err), &err);
	*state = f;
	return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): what the tests have made */
static void remove_tree(struct arena *a, const char *dir)
{
	struct dir_entry *e;
	size_t n;
	struct error err;
	if (dir_entries(dir, 10000, &e, &n, &err) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const char *path = arena_fmt(a, "%s/%s", dir, e[i].name);
		if (e[i].kind == DIR_DIR)
			remove_tree(a, path);
		else
			(void)unlink(path);
	}
	dir_entries_free(e, n);
	(void)rmdir(dir);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	remove_tree(f->a, f->dir);
	sandbox_free(f->sandbox);
	loop_free(f->loop);
	strbuf_release(&f->msg);
	arena_free(f->a);
	xfree(f);
	return 0;
}

static const char *put(struct fixture *f, const char *name, struct str text)
{
	struct error err = ERROR_INIT;
	char *path = arena_fmt(f->a, "%s/%s", f->dir, name);
	char *slash = strrchr(path, '/');
	*slash = '\0';
	assert_ok(dir_make(path, 0755, &err), &err);
	*slash = '/';
	assert_ok(file_write_new(path, text, 0644, &err), &err);
	return path;
}

static int read_answer(struct fixture *f)
{
	strbuf_clear(&f->msg);
	flat_init(&f->flat, f->a);
	f->rollout = NULL;
	if (f->err.code)
		return -f->err.code;
	return flat_job_read(f->rendered, "default", &f->flat, &f->rollout, &f->msg, &f->err);
}

/* The limits of a job are of processor time; on a busy machine they take long. */
static bool turn(struct fixture *f, int want)
{
	for (int i = 0; i < 9; i++)
		if (turn_until(f->loop, &f->n_done, want))
			return true;
	return false;
}

/* 0, or the error in f->err. */
static int jsonnet(struct fixture *f, const char *entrypoint, const char *const *jpath, size_t n,
		   struct flat_request rq)
{
	struct files files = {.a = f->a};
	struct tree_program p;
	f->err = ERROR_INIT;
	if (tree_read_program(entrypoint, jpath, n, &files, &p, &f->err) < 0)
		return -f->err.code;
	rq.ns = "default";
	rq.entrypoint = p.entrypoint;
	rq.roots = p.roots;
	struct render_call call = {.done = on_done, .arg = f, .name = p.entrypoint};
	int want = f->n_done + 1;
	flat_job_jsonnet(f->sandbox, &files, &rq, &call);
	assert_true(turn(f, want));
	return read_answer(f);
}

static int script(struct fixture *f, const char *text)
{
	const char *path = arena_fmt(f->a, "%s/main.jsonnet", f->dir);
	(void)unlink(path);
	return jsonnet(f, put(f, "main.jsonnet", str_of(text)), NULL, 0, (struct flat_request){0});
}

static void need_library(void)
{
	struct error err = ERROR_INIT;
	if (jsonnet_lib_load(&err) < 0) {
		print_message("# SKIP %s\n", err.msg);
		skip();
	}
}

/* ---- what Debian's jsonnet prints ---- */

static struct obj *parse_file(struct fixture *f, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (!file_exists(path))
		return NULL;
	assert_ok(file_read(path, &b, &err), &err);
	assert_ok(json_parse(strbuf_str(&b), &o, &err), &err);
	return obj_keep(f->a, o);
}

/* Owned by the arena. */
static size_t lines_of(struct fixture *f, const char *path, const char **ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	struct str rest, line;
	size_t n = 0;
	if (!file_exists(path))
		return 0;
	assert_ok(file_read(path, &b, &err), &err);
	rest = strbuf_str(&b);
	while (n < 8 && str_next_line(&rest, &line))
		ret[n++] = arena_strndup(f->a, line.ptr, line.len);
	return n;
}

static struct obj *ext_of(struct fixture *f, const char *path)
{
	const char *lines[8];
	size_t n = lines_of(f, path, lines);
	struct obj *o = obj_keep(f->a, obj_map());
	for (size_t i = 0; i < n; i++) {
		struct str name, value;
		assert_true(str_cut(str_of(lines[i]), '=', &name, &value));
		obj_set(o, arena_strndup(f->a, name.ptr, name.len), obj_stringn(value));
	}
	return o;
}

static struct obj *objects_of(struct fixture *f)
{
	struct obj *o = obj_keep(f->a, obj_map());
	for (size_t i = 0; i < f->flat.n; i++)
		obj_set(o, f->flat.objects[i].key, obj_ref(f->flat.objects[i].object));
	return o;
}

static void check_case(struct fixture *f, const char *name)
{
	const char *dir = arena_fmt(f->a, GOLDEN "%s", name), *jpath[8];
	size_t n = lines_of(f, arena_fmt(f->a, "%s/jpath", dir), jpath);
	struct obj *config = parse_file(f, arena_fmt(f->a, "%s/config.json", dir));
	struct obj *runtime = obj_keep(f->a, obj_map());
	if (config)
		obj_set(runtime, "config", obj_ref(config));
	const struct flat_request rq = {.ext_str = ext_of(f, arena_fmt(f->a, "%s/ext", dir)),
					.runtime = runtime};
	if (jsonnet(f, arena_fmt(f->a, "%s/main.jsonnet", dir), jpath, n, rq) < 0)
		fail_msg("%s: %s", name, f->msg.len ? f->msg.buf : f->err.msg);
	const struct obj *want = parse_file(f, arena_fmt(f->a, "%s/expected.json", dir));
	const struct obj *objects = obj_has(want, "objects") ? obj_get(want, "objects") : want;
	if (!obj_equal(objects_of(f), objects) ||
	    !obj_equal(f->rollout, objects == want ? NULL : obj_get(want, "rollout"))) {
		CLEANUP(xfreep) char *have = json_text(objects_of(f));
		fail_msg("%s: %s", name, have);
	}
}

static void test_flat_job__jsonnet_gives_what_debians_prints(void **state)
{
	struct fixture *f = *state;
	struct dir_entry *cases;
	size_t n, done = 0;
	need_library();
	assert_ok(dir_entries(GOLDEN, 1000, &cases, &n, &f->err), &f->err);
	for (size_t i = 0; i < n; i++) {
		if (cases[i].kind != DIR_DIR || cstr_eq(cases[i].name, "list"))
			continue;
		check_case(f, cases[i].name);
		done++;
	}
	dir_entries_free(cases, n);
	assert_true(done >= 12);
}

static void test_flat_job__items_of_a_list_have_keys(void **state)
{
	struct fixture *f = *state;
	need_library();
	if (jsonnet(f, GOLDEN "list/main.jsonnet", NULL, 0, (struct flat_request){0}) < 0)
		fail_msg("%s", f->err.msg);
	assert_int_equal(f->flat.n, 4);
	assert_string_equal(f->flat.objects[3].key, "roles!0.3");
	assert_string_equal(obj_str(f->flat.objects[3].object, "kind"), "Role");
	assert_string_equal(obj_str(f->flat.objects[3].object, "metadata.name"), "r2");
}

static void test_flat_job__runtime_imports(void **state)
{
	static const char text[] = "local s = import 'locutus-runtime/secrets/list';\n"
				   "{ok: " CM " + {data: {n: '' + std.length(s.items), c: (import "
				   "'alm-runtime/cluster').name}}}";
	struct fixture *f = *state;
	struct files files = {.a = f->a};
	struct tree_program p;
	struct obj *runtime = NULL;
	need_library();
	assert_ok(
		json_parse(STR("{\"secrets/list\":{\"items\":[1,2]},\"cluster\":{\"name\":\"c\"}}"),
			   &runtime, &f->err),
		&f->err);
	obj_keep(f->a, runtime);
	const char *path = put(f, "run.jsonnet", str_of(text));
	assert_ok(tree_read_program(path, NULL, 0, &files, &p, &f->err), &f->err);
	assert_int_equal(p.n_live, 1);
	assert_string_equal(p.live[0], "secrets/list");
	if (jsonnet(f, path, NULL, 0, (struct flat_request){.runtime = runtime}) < 0)
		fail_msg("%s", f->err.msg);
	assert_string_equal(obj_str(f->flat.objects[0].object, "data.n"), "2");
	assert_string_equal(obj_str(f->flat.objects[0].object, "data.c"), "c");
	/* without it, and where it cannot be read */
	assert_int_equal(jsonnet(f, path, NULL, 0, (struct flat_request){0}), -E_INVALID);
	assert_non_null(
		strstr(f->msg.buf, "alm-runtime has config, cluster, values and PLURAL/list"));
	struct obj *why = obj_keep(f->a, obj_map());
	obj_set_str(why, "secrets/list", "secrets is forbidden");
	obj_del(runtime, "secrets/list");
	assert_int_equal(jsonnet(f, path, NULL, 0,
				 (struct flat_request){.runtime = runtime, .unavailable = why}),
			 -E_INVALID);
	assert_non_null(strstr(f->msg.buf, "secrets is forbidden"));
}

/* ---- what goes wrong ---- */

static void test_flat_job__errors_are_clear(void **state)
{
	static const struct {
		const char *text, *says, *also;
	} cases[] = {
		{"{a: error 'boom'}", "RUNTIME ERROR: boom", "main.jsonnet:1:5-17"},
		{"local f(x) = x.y;\n{a: f({})}", "field does not exist: y", "main.jsonnet:2:5-10"},
		{"{\n  a: 1,\n  b: }", "STATIC ERROR: ", "main.jsonnet:3:6"},
		{"{a: import 'none.libsonnet'}", "couldn't open import \"none.libsonnet\"",
		 "no such file, nor in the library folders (none are given)"},
		{"import 'alm-runtime/config'",
		 "there is no configuration: give --config-file FILE", "main.jsonnet:1:1"},
		{"{a: std.extVar('x')}", "undefined external variable: x", "main.jsonnet:1:5"},
		{"[1, 2]", "main.jsonnet gives array; {NAME: OBJECT, ..} is wanted", ""},
		{"'x'", "main.jsonnet gives string; {NAME: OBJECT, ..} is wanted", ""},
		{"{a: 1}", "a (", "an API object is wanted, not integer"},
		{"{a: null}", "a (", "an API object is wanted, not null"},
		{"{objects: {}, b: " CM "}", "field \"b\" beside objects and rollout", "hide it"},
		{"{objects: []}", "gives objects of another form", ""},
		{"{objects: {}, rollout: 1}", "rollout: an object is wanted, not integer", ""},
		{"{a: " CM ", b: " CM "}", "DuplicateObject: ConfigMap default/a is in a (", "b ("},
		{"{a: " CM " + {metadata: {}}}", "metadata.name is missing", ""},
		{"function(x) x", "RUNTIME ERROR: function parameter x", "Top-level"},
	};
	struct fixture *f = *state;
	need_library();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int r = script(f, cases[i].text);
		const char *msg = f->msg.len ? f->msg.buf : f->err.msg;
		if (r != -E_INVALID || !strstr(msg, cases[i].says) || !strstr(msg, cases[i].also))
			fail_msg("%s: %d %s", cases[i].text, r, msg);
	}
}

static void test_flat_job__hostile_programs_end(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *says;
	} cases[] = {
		{"local f(x) = f(x + 1) tailstrict; f(0)", E_LIMIT, "5 s of processor time"},
		{"{a: std.foldl(function(a, b) a + b, std.range(1, 100000000), 0)}", E_LIMIT, ""},
		{"local f(x) = 1 + f(x); f(1)", E_INVALID, "max stack frames exceeded"},
		{"local a = [a]; a", E_INVALID, "max stack frames exceeded"},
		{"{a: {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'},\n"
		 "data: {x: std.repeat('x', 40 * 1024 * 1024)}}}",
		 E_LIMIT, ""},
	};
	struct fixture *f = *state;
	need_library();
	if (SANITIZER_RUNS) /* no limit of memory holds there */
		skip();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int r = script(f, cases[i].text);
		const char *msg = f->msg.len ? f->msg.buf : f->err.msg;
		if (r != -cases[i].code || !strstr(msg, cases[i].says))
			fail_msg("%s: %d %s", cases[i].text, r, msg);
		if (r == -E_LIMIT)
			assert_non_null(strstr(msg, "RenderLimit: "));
	}
}

/* The parser and the manifester of the library recurse. */
static void test_flat_job__deep_nesting_ends(void **state)
{
	static const char *const opens[] = {"[", "{a:", "!", "local x = ", "std.f("};
	struct fixture *f = *state;
	need_library();
	for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FILE_BYTES_MAX);
		for (size_t k = 0; k < 20000; k++)
			strbuf_adds(&b, opens[i]);
		int r = script(f, b.buf);
		if (r != -E_INTERNAL || !strstr(f->err.msg, "nested too deep"))
			fail_msg("%s: %d %s", opens[i], r, f->err.msg);
	}
}

static void test_flat_job__imports_stay_inside(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *says;
	} cases[] = {
		{"importstr '/etc/passwd'", E_NOTALLOWED, "/etc/passwd leads out"},
		{"importstr '../../etc/passwd'", E_NOTALLOWED, "leads out"},
		{"importstr 'web/../../x'", E_NOTALLOWED, "leads out"},
		{"importstr @'/etc/passwd'", E_NOTALLOWED, "/etc/passwd leads out"},
		{"importstr \"\\u002fetc/passwd\"", E_NOTALLOWED, "/etc/passwd leads out"},
		{"import\n# x\n/* y */ '/etc/passwd'", E_NOTALLOWED,
		 "main.jsonnet:3: import: /etc/passwd leads out"},
		{"importstr 'link'", E_INVALID, "symbolic link"},
		{"importstr 'out/passwd'", E_INVALID, "symbolic link"},
		{"importstr 'web'", E_INVALID, "web is no regular file"},
		{"importstr 'nul'", E_INVALID, "nul has a NUL byte"},
		{"{a: import 'self.libsonnet'}", E_INVALID, "max stack frames exceeded"},
	};
	struct fixture *f = *state;
	need_library();
	put(f, "web/x", STR("x"));
	put(f, "nul", str_n("'a\0b'", 5));
	put(f, "self.libsonnet", STR("{b: (import 'self.libsonnet').b}"));
	assert_int_equal(symlink("/etc/passwd", arena_fmt(f->a, "%s/link", f->dir)), 0);
	assert_int_equal(symlink("/etc", arena_fmt(f->a, "%s/out", f->dir)), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int r = script(f, cases[i].text);
		const char *msg = f->msg.len ? f->msg.buf : f->err.msg;
		if (r != -cases[i].code || !strstr(msg, cases[i].says))
			fail_msg("%s: %d %s", cases[i].text, r, msg);
	}
}

/* What the scanner does not see cannot be read either: the child has no files. */
static void test_flat_job__only_what_was_read_is_there(void **state)
{
	static const char request[] =
		"{\"entrypoint\":\"a\",\"jpath\":[\"/etc\"],\"files\":[[\"a\",23]]}";
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(STRBUF_SMALL),
					      out = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)state;
	need_library();
	strbuf_add(&in, request, sizeof(request));
	strbuf_adds(&in, "importstr '/etc/passwd'");
	assert_ok(jsonnet_job(strbuf_str(&in), &out, &err), &err);
	assert_non_null(strstr(out.buf, "couldn't open import"));
}

static void test_flat_job__imports_have_a_limit(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	need_library();
	strbuf_adds(&b, "local l = [");
	for (int i = 0; i < IMPORTS_MAX; i++) {
		put(f, arena_fmt(f->a, "i%d", i), STR("1"));
		strbuf_addf(&b, "import 'i%d',\n", i);
	}
	strbuf_adds(&b, "]; {ok: " CM " + {data: {n: '' + std.length(l)}}}");
	/* the program is a file as well */
	assert_int_equal(script(f, b.buf), -E_LIMIT);
	assert_non_null(strstr(f->err.msg, "more than 2000 files are imported"));
	strbuf_clear(&b);
	for (int i = 0; i <= IMPORTS_MAX; i++)
		strbuf_adds(&b, "(import 'i1')+");
	strbuf_adds(&b, "0");
	assert_int_equal(script(f, b.buf), -E_LIMIT);
	assert_non_null(strstr(f->err.msg, "more than 2000 imports"));
}

/* ---- files ---- */

/* flaws: NULL, or all that is wrong is put there. */
static int folder_of(struct fixture *f, struct flaws *flaws)
{
	struct files files = {.a = f->a, .flaws = flaws};
	f->err = ERROR_INIT;
	if (tree_read_dir(f->dir, &files, &f->err) < 0)
		return -f->err.code;
	struct render_call call = {.done = on_done, .arg = f};
	int want = f->n_done + 1;
	flat_job_files(f->sandbox, &files, "default", NULL, &call);
	assert_true(turn(f, want));
	flat_init(&f->flat, f->a);
	f->flat.flaws = flaws;
	return f->err.code ? -f->err.code
			   : flat_job_read(f->rendered, "default", &f->flat, &f->rollout, &f->msg,
					   &f->err);
}

static int folder(struct fixture *f)
{
	return folder_of(f, NULL);
}

static void test_flat_job__all_that_is_wrong_with_a_folder(void **state)
{
	static const char cm[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
	struct fixture *f = *state;
	struct flaws flaws = {.a = f->a};
	put(f, "a.yaml", STR(cm));
	put(f, "b.yaml", STR("x: ["));
	put(f, "c.yaml", STR(cm));
	put(f, "sub/.git", STR("gitdir: elsewhere"));
	put(f, "sub/d.yaml", STR("x: ["));
	assert_ok(folder_of(f, &flaws), &f->err);
	assert_int_equal(flaws.n, 3);
	assert_non_null(strstr(flaws.texts[0], "sub is a submodule"));
	assert_non_null(strstr(flaws.texts[1], "b.yaml: yaml: line 1"));
	assert_non_null(strstr(flaws.texts[2], "DuplicateObject: ConfigMap default/a"));
	assert_int_equal(f->flat.n, 1);
	/* what nobody asked for is one error */
	flat_init(&f->flat, f->a);
	assert_int_equal(
		flat_job_read(f->rendered, "default", &f->flat, &f->rollout, &f->msg, &f->err),
		-E_INVALID);
}

static void test_flat_job__a_folder(void **state)
{
	static const char cm[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ";
	struct fixture *f = *state;
	put(f, "b.yaml", str_of(arena_fmt(f->a, "%sb}\n---\n%sc}\n", cm, cm)));
	put(f, "web/a.yml", str_of(arena_fmt(f->a, "%sa}\n", cm)));
	put(f, "web/.hidden.yaml", STR("x: ["));
	put(f, "skip/x.yaml", STR("x: ["));
	put(f, "README.md", STR("x: ["));
	put(f, ".almignore", STR("skip/\nl.yaml\n"));
	assert_int_equal(symlink("/etc/passwd", arena_fmt(f->a, "%s/l.yaml", f->dir)), 0);
	if (folder(f) < 0)
		fail_msg("%s", f->err.msg);
	assert_int_equal(f->flat.n, 3);
	assert_string_equal(f->flat.objects[0].key, "b.yaml!0");
	assert_string_equal(f->flat.objects[2].key, "web/a.yml");
	assert_null(f->rollout);
	/* each of these alone */
	const char *bad = put(f, "bad.yaml", STR("a: b\nc: d: e\n"));
	assert_int_equal(folder(f), -E_BADREQUEST);
	assert_non_null(strstr(f->err.msg, "bad.yaml: yaml: line 2"));
	(void)unlink(bad);
	assert_int_equal(symlink("b.yaml", bad), 0);
	assert_int_equal(folder(f), -E_INVALID);
	assert_non_null(strstr(f->err.msg, "bad.yaml is a symbolic link"));
	(void)unlink(bad);
	assert_int_equal(mkfifo(bad, 0600), 0);
	assert_int_equal(folder(f), -E_INVALID);
	assert_non_null(strstr(f->err.msg, "bad.yaml is neither a file nor a folder"));
}

static int tree_with(struct fixture *f, const char *text, const struct obj *runtime)
{
	static const char *const jpath[] = {"lib", "."};
	const struct flat_request rq = {.ns = "default",
					.entrypoint = "main.jsonnet",
					.roots = {"", jpath, ARRAY_LEN(jpath)},
					.runtime = runtime,
					.asks = runtime};
	struct files files = {.a = f->a, .refused = obj_keep(f->a, obj_map())};
	(void)unlink(arena_fmt(f->a, "%s/main.jsonnet", f->dir));
	put(f, "main.jsonnet", str_of(text));
	f->err = ERROR_INIT;
	assert_ok(tree_read_dir(f->dir, &files, &f->err), &f->err);
	struct render_call call = {.done = on_done, .arg = f};
	int want = f->n_done + 1;
	flat_job_jsonnet(f->sandbox, &files, &rq, &call);
	assert_true(turn(f, want));
	return flat_job_lists(f->rendered) ? 1 : read_answer(f);
}

static int tree(struct fixture *f, const char *text)
{
	return tree_with(f, text, NULL);
}

/* It is not run before it has exactly those that it, or a file of it, imports. */
static void test_flat_job__lists_are_asked_for_first(void **state)
{
	static const struct {
		const char *given, *wanted; /* NULL: it is run */
	} rows[] = {
		{"{}", "{\"a/list\":true,\"secrets/list\":true}"},
		{"{\"config\": {}, \"a/list\": []}", "{\"a/list\":true,\"secrets/list\":true}"},
		{"{\"a/list\": [], \"b/list\": [], \"secrets/list\": []}",
		 "{\"a/list\":true,\"secrets/list\":true}"},
		{"{\"a/list\": [], \"secrets/list\": [{\"metadata\": {\"name\": \"web\"}}]}", NULL},
	};
	static const char text[] =
		"local a = import 'alm-runtime/a/list', text = importstr 'no.libsonnet';\n"
		"{web: {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: import "
		"'web.libsonnet'}}}";
	struct fixture *f = *state;
	need_library();
	put(f, "lib/web.libsonnet",
	    STR("(import 'locutus-runtime/secrets/list')[0].metadata.name"));
	put(f, "no.libsonnet", STR("import 'alm-runtime/no/list'"));
	put(f, "other.jsonnet", STR("import 'alm-runtime/no/list'"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct obj *runtime = NULL;
		assert_ok(json_parse(str_of(rows[i].given), &runtime, &f->err), &f->err);
		int rc = tree_with(f, text, obj_keep(f->a, runtime));
		CLEANUP(xfreep) char *got = json_text(flat_job_lists(f->rendered));
		if (rows[i].wanted) {
			assert_int_equal(rc, 1);
			assert_string_equal(got, rows[i].wanted);
			continue;
		}
		if (rc < 0)
			fail_msg("%s", f->msg.buf);
		assert_string_equal(meta_name(flat_get(&f->flat, "web")->object), "web");
	}
}

/* What a program of a tree may import: its files, and nothing behind them. */
static void test_flat_job__a_program_of_a_tree(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"importstr 'big.bin'", "big.bin is larger than 4 MiB"},
		{"importstr 'pw'", "pw is a symbolic link, and links are not followed"},
		{"import 'out/x'", "out is a symbolic link"},
		{"importstr 'sub/x'", "sub is a submodule, and submodules are not fetched"},
		{"importstr 'lfs'", "lfs is a pointer of Git LFS, and not the file itself"},
		{"importstr '/etc/passwd'", "it leads out of the tree"},
		{"importstr '../../../../etc/passwd'", "it leads out of the tree"},
		{"importstr '.env'", "names that begin with a dot"},
		{"import 'skip.libsonnet'", "the tree has no such file"},
	};
	struct fixture *f = *state;
	need_library();
	CLEANUP(xfreep) char *big = xcalloc(1, FILE_BYTES_MAX + 1);
	put(f, "big.bin", str_n(big, FILE_BYTES_MAX + 1));
	put(f, "lib/web.libsonnet",
	    STR("{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: importstr '../name'}}"));
	put(f, "name", STR("web"));
	put(f, "sub/.git", STR("gitdir: elsewhere"));
	put(f, "sub/x", STR("x"));
	put(f, "lfs", STR("version https://git-lfs.github.com/spec/v1\n"));
	put(f, ".env", STR("x"));
	put(f, "skip.libsonnet", STR("{}"));
	put(f, ".almignore", STR("skip*\n"));
	assert_int_equal(symlink("/etc/passwd", arena_fmt(f->a, "%s/pw", f->dir)), 0);
	assert_int_equal(symlink("/etc", arena_fmt(f->a, "%s/out", f->dir)), 0);
	if (tree(f, "{web: import 'web.libsonnet'}") < 0)
		fail_msg("%s", f->err.msg);
	assert_string_equal(flat_get(&f->flat, "web")->file, "main.jsonnet");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(tree(f, rows[i].text), -E_INVALID);
		if (!strstr(f->msg.buf, rows[i].want))
			fail_msg("%s: got %s", rows[i].text, f->msg.buf);
	}
}

static void test_flat_job__no_such_folder(void **state)
{
	struct fixture *f = *state;
	struct files files = {.a = f->a};
	assert_int_equal(tree_read_dir(arena_fmt(f->a, "%s/none", f->dir), &files, &f->err),
			 -E_NOTFOUND);
	assert_non_null(strstr(f->err.msg, "none: no such file or folder"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_flat_job__##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(jsonnet_gives_what_debians_prints),
		TEST(a_program_of_a_tree),
		TEST(lists_are_asked_for_first),
		TEST(items_of_a_list_have_keys),
		TEST(runtime_imports),
		TEST(errors_are_clear),
		TEST(hostile_programs_end),
		TEST(deep_nesting_ends),
		TEST(imports_stay_inside),
		TEST(only_what_was_read_is_there),
		TEST(imports_have_a_limit),
		TEST(a_folder),
		TEST(all_that_is_wrong_with_a_folder),
		TEST(no_such_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
