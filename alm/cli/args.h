/* args: argv -> options and arguments of one command. "--flag value", "--flag=value", "-o json",
 * "-ojson", "-Aw" for flags, "--" ends options. */
#ifndef ALM_CLI_ARGS_H
#define ALM_CLI_ARGS_H

#include "alm/cli/cli.h"

/* Fills c->args and c->values; strings are borrowed from argv. E_USAGE "unknown flag: --x", with
 * the flag that is like it, "flag needs an argument: --x", "unknown shorthand flag: 'x' in -x".
 * --help is the value "help".
 */
int args_parse(struct cli *c, int argc, char **argv, struct error *err);

#endif
