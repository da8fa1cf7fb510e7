/* program_outcome: what a report of a run comes to, each in its own words. */
#include "alm/io/program_outcome.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static void test_program_outcome__each_end_has_its_words(void **state)
{
	static const struct {
		struct program_report report;
		int want;
		const char *why;
	} rows[] = {
		{{.status = 0}, 0, ""},
		{{.status = 7 << 8}, 0, ""},
		{{.status = 0, .end = PROGRAM_STOPPED}, 0, ""},
		{{.failed = ENOENT}, E_NOTFOUND, "no such program"},
		{{.failed = EACCES}, E_NOTALLOWED, "not executable, or not for this user"},
		{{.failed = EPERM}, E_NOTALLOWED, "may not run programs any more"},
		{{.failed = ENOEXEC}, E_NOTALLOWED, "no program for this machine"},
		{{.failed = PROGRAM_NOT_OFFLINE}, E_UNSUPPORTED, "cannot close the network"},
		{{.failed = EMFILE}, E_IO, "cannot be started: Too many open files"},
		{{.failed = EACCES, .end = PROGRAM_DEADLINE}, E_NOTALLOWED, "not executable"},
		{{.status = SIGTERM, .end = PROGRAM_DEADLINE},
		 E_LIMIT,
		 "has not ended within 1500 ms"},
		{{.status = SIGXCPU}, E_LIMIT, "used more than 3 s of processor time"},
		{{.status = SIGKILL},
		 E_LIMIT,
		 "used more than 3 s of processor time, or was killed"},
		{{.status = SIGXFSZ}, E_LIMIT, "wrote a file of more than 99 bytes"},
		{{.status = SIGSEGV}, E_INTERNAL, "ended by signal 11 (Segmentation fault)"},
	};
	const struct program_limits l = {.cpu_s = 3, .file_bytes = 99, .wall_ns = 1500 * NS_PER_MS};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		int r = program_outcome("/bin/x", &l, &rows[i].report, &err);
		if (r != -rows[i].want || err.code != rows[i].want ||
		    !strstr(err.msg, rows[i].why) || (r && !cstr_has_prefix(err.msg, "/bin/x: ")))
			fail_msg("row %zu: %d %s", i, r, err.msg);
		if (rows[i].report.status == SIGXCPU)
			assert_null(strstr(err.msg, "killed"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_outcome__each_end_has_its_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
