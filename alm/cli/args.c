#include "alm/cli/args.h"

#include <string.h>

#include "alm/base/str.h"
#include "alm/cli/nearest.h"

static const struct cmd_option help = {"help", NULL, "prints this", 'h'};

static const struct cmd_option *in_table(const struct cmd_option *table, struct str name,
					 char letter)
{
	for (const struct cmd_option *o = table; o && o->name; o++)
		if (letter ? o->letter == letter : str_is(name, o->name))
			return o;
	return NULL;
}

static const struct cmd_option *find(const struct cli *c, struct str name, char letter)
{
	const struct cmd_option *o = in_table(c->cmd->options, name, letter);
	if (!o)
		o = in_table(cli_global_options, name, letter);
	if (!o && (letter ? letter == 'h' : str_is(name, "help")))
		o = &help;
	return o;
}

static void add_value(struct cli *c, const char *name, const char *value)
{
	c->values[c->n_values++] = (struct cli_value){name, value};
}

static void add_names(struct obj *names, const struct cmd_option *table)
{
	for (const struct cmd_option *o = table; o && o->name; o++)
		obj_append(names, obj_string(o->name));
}

static int unknown_flag(const struct cli *c, struct str name, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *names = obj_list();
	add_names(names, c->cmd->options);
	add_names(names, cli_global_options);
	const char *word = arena_strndup(c->arena, name.ptr, name.len);
	return error_set(err, E_USAGE, "unknown flag: --%s%s", word,
			 nearest_hint(word, names, "--", c->arena));
}

/* --name, --name=value, --name value. */
static int long_option(struct cli *c, int argc, char **argv, int *i, struct error *err)
{
	struct str name, value;
	bool has_value = str_cut(str_of(argv[*i] + 2), '=', &name, &value);
	const struct cmd_option *o = find(c, name, 0);
	if (!o)
		return unknown_flag(c, name, err);
	if (!o->value) {
		if (has_value && !str_is(value, "true") && !str_is(value, "false"))
			return error_set(err, E_USAGE, "--%s is true or false, not %.*s", o->name,
					 STR_ARG(value));
		add_value(c, o->name, has_value && str_is(value, "false") ? "false" : "true");
		return 0;
	}
	if (!has_value && *i + 1 >= argc)
		return error_set(err, E_USAGE, "flag needs an argument: --%s", o->name);
	add_value(c, o->name, has_value ? value.ptr : argv[++*i]);
	return 0;
}

/* -x, -xy of flags, -o json, -ojson, -o=json. */
static int short_options(struct cli *c, int argc, char **argv, int *i, struct error *err)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct cmd_option *o = find(c, STR_NONE, *p);
		if (!o)
			return error_set(err, E_USAGE, "unknown shorthand flag: '%c' in %s", *p,
					 argv[*i]);
		if (!o->value) {
			add_value(c, o->name, "true");
			continue;
		}
		if (p[1])
			add_value(c, o->name, p[1] == '=' ? p + 2 : p + 1);
		else if (*i + 1 < argc)
			add_value(c, o->name, argv[++*i]);
		else
			return error_set(err, E_USAGE, "flag needs an argument: -%c", *p);
		return 0;
	}
	return 0;
}

int args_parse(struct cli *c, int argc, char **argv, struct error *err)
{
	bool options = true;
	if (argc > CLI_ARGS_MAX)
		return error_set(err, E_USAGE, "more than %d arguments", CLI_ARGS_MAX);
	size_t letters = 1;
	for (int i = 0; i < argc; i++)
		letters += strlen(argv[i]);
	c->args = ARENA_ARRAY(c->arena, const char *, (size_t)argc + 1);
	/* "-abc" is three options */
	size_t cap = letters < CLI_ARGS_MAX ? letters : CLI_ARGS_MAX;
	c->values = ARENA_ARRAY(c->arena, struct cli_value, cap + (size_t)argc);
	for (int i = 0; i < argc; i++) {
		int r = 0;
		if (c->n_values >= cap)
			return error_set(err, E_USAGE, "more than %d options", CLI_ARGS_MAX);
		if (!options || argv[i][0] != '-' || !argv[i][1])
			c->args[c->n_args++] = argv[i];
		else if (!strcmp(argv[i], "--"))
			options = false;
		else if (argv[i][1] == '-')
			r = long_option(c, argc, argv, &i, err);
		else if (strlen(argv[i]) > CLI_ARGS_MAX && !find(c, STR_NONE, argv[i][1]))
			r = error_set(err, E_USAGE, "unknown shorthand flag: '%c'", argv[i][1]);
		else
			r = short_options(c, argc, argv, &i, err);
		if (r < 0)
			return r;
	}
	return 0;
}
