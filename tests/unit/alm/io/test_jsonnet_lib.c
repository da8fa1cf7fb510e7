/* jsonnet_lib: a machine without the library, and what a program comes to where there is one. */
#include "alm/io/jsonnet_lib.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/test.h"

/* As on a machine without it: no file can be opened. 0 if that is told, each time. */
static int without(void)
{
	struct rlimit files;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(STRBUF_SMALL);
	const struct jsonnet_program p = {.file = "a.jsonnet", .text = STR("1")};
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return 1;
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = files.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &none) < 0)
		return 2;
	jsonnet_lib_prepare();
	if (jsonnet_lib_run(&p, &out, &err) != -E_UNSUPPORTED || out.len)
		return 3;
	if (err.reason != REASON_RENDERER_MISSING || !strstr(err.msg, "install Debian's package"))
		return 4;
	err = ERROR_INIT;
	if (jsonnet_lib_load(&err) != -E_UNSUPPORTED || err.reason != REASON_RENDERER_MISSING)
		return 5;
	return 0;
}

static void test_jsonnet_lib__a_machine_without_it_is_told(void **state)
{
	(void)state;
	int status = -1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(without());
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

/* "b" is a file, "nul" has one; nothing else is there. */
static int import(void *arg, const char *base, const char *name, const char **ret_file,
		  struct str *ret_text, struct error *err)
{
	int *n = arg;
	++*n;
	assert_string_equal(base, "dir/");
	if (strcmp(name, "b") != 0 && strcmp(name, "nul") != 0)
		return error_set(err, E_NOTFOUND, "no %s here", name);
	*ret_file = name;
	*ret_text = *name == 'b' ? STR("{c: 3}") : str_n("1\0", 2);
	return 0;
}

static void test_jsonnet_lib__what_a_program_comes_to(void **state)
{
	static const struct {
		struct str text;
		int want; /* 1, 0 or a negative code */
		const char *out;
		int imports;
	} rows[] = {
		{{"{a: std.extVar('x')}", 20}, 1, "\"a\": \"text\"", 0},
		{{"import 'b'", 10}, 1, "\"c\": 3", 1},
		{{"importstr 'b'", 13}, 1, "{c: 3}", 1},
		{{"import 'none'", 13}, 0, "no none here", 1},
		{{"import 'nul'", 12}, 0, "", 1},
		{{"error 'mine'", 12}, 0, "mine", 0},
		{{"{", 1}, 0, "dir/a.jsonnet:1", 0},
		{{"1\0", 2}, -E_INVALID, "", 0},
		{{"std.repeat('x', 5000)", 21}, -E_LIMIT, "", 0},
	};
	CLEANUP(obj_unrefp) struct obj *ext = obj_map();
	struct error err = ERROR_INIT;
	(void)state;
	if (jsonnet_lib_load(&err) < 0)
		skip(); /* a machine without the library */
	obj_set_str(ext, "x", "text");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(4096);
		int imports = 0;
		const struct jsonnet_program p = {.file = "dir/a.jsonnet",
						  .text = rows[i].text,
						  .ext_str = ext,
						  .import = import,
						  .arg = &imports};
		int r = jsonnet_lib_run(&p, &out, &err);
		if (r != rows[i].want || (r >= 0 && !strstr(out.buf, rows[i].out)))
			fail_msg("row %zu: %d %s %s", i, r, out.buf, err.msg);
		assert_int_equal(imports, rows[i].imports);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jsonnet_lib__a_machine_without_it_is_told),
		cmocka_unit_test(test_jsonnet_lib__what_a_program_comes_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
