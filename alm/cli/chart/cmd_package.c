/* alm package build DIR [--version V] -o OUTDIR. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "alm/cli/chart/package_build.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"

#define PACKAGE_ARENA_MAX ((size_t)512 << 20)

static const struct cmd cmd_package_build;

static int refuse(void)
{
	term_error("usage: %s; see alm package build --help\n", cmd_package_build.usage);
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

static int build_main(int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(PACKAGE_ARENA_MAX);
	const char *dir = NULL, *version = NULL, *out = ".", *value;
	struct package_built built;
	struct error err = ERROR_INIT;
	for (int i = 0; i < argc; i++) {
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

static const struct cmd_option options[] = {
	{"version", "V", "the version, instead of the one in Chart.yaml", 0},
	{"output", "DIR", "where to (.)", 'o'},
	{0},
};

static const struct cmd cmd_package_build = {
	.name = "build",
	.usage = "alm package build DIR [--version V] [-o OUTDIR]",
	.examples = "alm package build ./etcd-operator -o /var/lib/alm/catalog",
	.summary = "pack a chart folder",
	.description =
		"Packs a chart folder as OUTDIR/NAME-VERSION.tgz: the same input gives the same\n"
		"bytes. Prints the path, sha256:DIGEST and, with alm.yaml, its appType and "
		"provides.",
	.options = options,
	.main = build_main,
};

static const struct cmd *const subs[] = {&cmd_package_build, NULL};

const struct cmd cmd_package = {
	.name = "package",
	.usage = "alm package COMMAND",
	.summary = "make a package for a catalog",
	.subs = subs,
};
