/* alm package build DIR [--version V] -o OUTDIR. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "alm/cli/chart/cmd_charts.h"
#include "alm/cli/chart/package_build.h"
#include "alm/cli/term.h"

#define PACKAGE_ARENA_MAX ((size_t)512 << 20)

static const char usage[] =
	"usage: alm package build DIR [--version V] [-o OUTDIR]\n"
	"Packs a chart folder as OUTDIR/NAME-VERSION.tgz: the same input gives the same bytes.\n"
	"Prints the path, sha256:DIGEST and, with alm.yaml, its appType and provides.\n";

static int refuse(void)
{
	term_error_lines(str_of(usage));
	return error_exit(E_USAGE);
}

/* The value of --name, from this word or the next; NULL if the word is another. */
static const char *option(char **argv, int argc, int *i, const char *name, const char *letter)
{
	size_t n = strlen(name);
	const char *word = argv[*i];
	assert(word);
	if (!strncmp(word, name, n) && word[n] == '=')
		return word + n + 1;
	if ((strcmp(word, name) != 0 && (!letter || strcmp(word, letter) != 0)) || *i + 1 >= argc)
		return NULL;
	return argv[++*i];
}

int cmd_package_main(int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(PACKAGE_ARENA_MAX);
	const char *dir = NULL, *version = NULL, *out = ".", *value;
	struct package_built built;
	struct error err = ERROR_INIT;
	if (argc >= 1 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
		term_lines(str_of(usage));
		return 0;
	}
	if (argc < 2 || strcmp(argv[0], "build") != 0)
		return refuse();
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		assert(word);
		value = option(argv, argc, &i, "--version", NULL);
		if (value) {
			version = value;
			continue;
		}
		value = option(argv, argc, &i, "--output", "-o");
		if (value)
			out = value;
		else if (word[0] != '-' && !dir)
			dir = word;
		else
			return refuse();
	}
	if (!dir)
		return refuse();
	if (package_build(a, dir, version, out, &built, &err) < 0) {
		term_error("alm: %s\n", err.msg);
		return error_exit(err.code);
	}
	term_print("%s  sha256:%s", built.path, built.sha256);
	if (built.app_type)
		term_print("  %s", built.app_type);
	if (built.provides)
		term_print("  %s", built.provides);
	term_print("\n");
	return 0;
}
