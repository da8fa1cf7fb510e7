#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/cli.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

#define PRINTED_BYTES ((size_t)256 << 20)
#define JSON_INDENT   4

const struct cmd_option cli_global_options[] = {
	{"data-dir", "DIR", "folder of the embedded server (default ~/.alm)", 0},
	{"kubeconfig", "FILE", "kubeconfig of the server to talk to", 0},
	{"context", "NAME", "context of the kubeconfig", 0},
	{"insecure-skip-tls-verify", NULL,
	 "no warning of a kubeconfig that does not verify its server", 0},
	{"allow-exec-plugin", "PATH",
	 "program of the kubeconfig (exec) that may be run for credentials; else asked for", 0},
	{"namespace", "NAME", "namespace of the request", 'n'},
	{"color", "WHEN",
	 "colours and links of tables: auto (on a terminal; NO_COLOR is honoured), always, never",
	 0},
	{"log-level", "LEVEL", "none, error, warn, info, debug or all", 0},
	{"log-format", "FORMAT", "kv or json", 0},
	{0},
};

const char *cli_value(const struct cli *c, const char *name)
{
	for (size_t i = c->n_values; i > 0; i--)
		if (!strcmp(c->values[i - 1].name, name))
			return c->values[i - 1].value;
	return NULL;
}

const char *cli_value_at(const struct cli *c, const char *name, size_t i)
{
	for (size_t k = 0; k < c->n_values; k++)
		if (!strcmp(c->values[k].name, name) && i-- == 0)
			return c->values[k].value;
	return NULL;
}

bool cli_flag(const struct cli *c, const char *name)
{
	const char *v = cli_value(c, name);
	return v && !strcmp(v, "true");
}

int cli_duration(const struct cli *c, const char *name, int64_t fallback, int64_t *ret,
		 struct error *err)
{
	const char *v = cli_value(c, name);
	struct error inner = ERROR_INIT;
	*ret = fallback;
	if (v && duration_parse(str_of(v), ret, &inner) < 0)
		return error_set(err, E_USAGE, "--%s: %s", name, inner.msg);
	return 0;
}

int cli_int(const struct cli *c, const char *name, int64_t fallback, int64_t *ret,
	    struct error *err)
{
	const char *v = cli_value(c, name);
	*ret = fallback;
	if (v && !str_parse_i64(str_of(v), ret))
		return error_set(err, E_USAGE, "--%s: %s is no number", name, v);
	return 0;
}

int cli_output_data(const struct cli *c, bool *ret, struct error *err)
{
	const char *output = cli_value(c, "output");
	if (output && strcmp(output, "json") != 0 && strcmp(output, "yaml") != 0)
		return error_set(err, E_USAGE, "-o %s: want json or yaml", output);
	*ret = output != NULL;
	return 0;
}

int cli_print_data(const struct cli *c, const struct obj *o, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PRINTED_BYTES);
	if (cstr_eq(cli_value(c, "output"), "yaml")) {
		yaml_print(o, &b);
	} else {
		json_print_pretty(o, JSON_INDENT, &b);
		strbuf_addc(&b, '\n');
	}
	term_lines(strbuf_str(&b));
	return strbuf_check(&b, "the answer", err);
}

const char *cli_data_dir(const struct cli *c)
{
	const char *dir = cli_value(c, "data-dir"), *home = getenv("HOME");
	return dir ? dir : arena_fmt(c->arena, "%s/.alm", home ? home : "");
}

const char *cli_heading(const struct cmd_heading *headings, const char *option)
{
	for (; headings && headings->text; headings++)
		if (!strcmp(headings->first, option))
			return headings->text;
	return NULL;
}
