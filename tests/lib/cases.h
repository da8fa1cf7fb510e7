/*
 * cases: the recorded cases of tests/golden/charts/x.cases. A case is a run of lines up to an empty
 * line, each a letter, a blank and text; its README has the letters.
 */
#ifndef TESTS_LIB_CASES_H
#define TESTS_LIB_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/arena.h"
#include "alm/base/str.h"

#define CASE_FILES_MAX 32
#define CASE_ARGS_MAX  32

struct golden_file {
	struct str path, text;
};

struct golden_case {
	struct str id, mode, name; /* mode render, out or notes; name of the release */
	struct str args[CASE_ARGS_MAX];
	size_t n_args;
	struct golden_file files[CASE_FILES_MAX]; /* values.yaml and templates/t.yaml among them */
	size_t n_files;
	struct str expected; /* r, o or e, joined by LF */
	bool is_error;       /* expected is the text on standard error */
	struct str warnings; /* of mode out: the lines of its log, sorted, joined by LF */
};

/* The file at path, cut into cases; everything lives in the arena. Fails the test on errors. */
struct golden_case *golden_read(struct arena *a, const char *path, size_t *ret_n);
/* NULL if the case has no such file. */
const struct golden_file *golden_file(const struct golden_case *c, const char *path);

#endif
