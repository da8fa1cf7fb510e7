#include "alm/cli/complete.h"

#include <string.h>

#include "alm/cli/session.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"

#define APPS     "/apis/app.coreos.com/v1beta1/apps"
#define CATALOGS "/apis/app.coreos.com/v1alpha1/catalogs"

struct line {
	struct cli *c;
	const struct cmd *cmd;
	const char *prefix, *before; /* the word that is typed, and the one before it */
	const char *args[CLI_ARGS_MAX];
	size_t n_args;
	struct obj *list;
};

/* A name that a shell would read otherwise is left out. */
static void add(struct line *x, const char *word)
{
	for (const char *p = word; p && *p; p++)
		if (!char_is_alnum(*p) && !strchr("-_./:@=,+~", *p))
			return;
	if (word && *word && cstr_has_prefix(word, x->prefix))
		obj_append(x->list, obj_string(word));
}

static void add_options(struct line *x, const struct cmd_option *o)
{
	for (; o && o->name; o++)
		add(x, arena_fmt(x->c->arena, "--%s", o->name));
}

static const struct cmd_option *option(const struct cmd_option *o, const char *word)
{
	for (; o && o->name; o++)
		if ((word[1] == '-' && !strcmp(word + 2, o->name)) ||
		    (word[1] == o->letter && word[1] && !word[2]))
			return o;
	return NULL;
}

static bool takes_value(const struct line *x, const char *word)
{
	if (word[0] != '-' || strchr(word, '='))
		return false;
	const struct cmd_option *o = option(x->cmd ? x->cmd->options : NULL, word);
	if (!o)
		o = option(cli_global_options, word);
	return o && o->value;
}

/* --- the server's names --- */

static const struct obj *ask(struct session *s, const char *target)
{
	struct error ignored = ERROR_INIT;
	struct session_request q = {.method = "GET", .target = target, .timeout_ns = COMPLETE_NS};
	struct session_reply reply = {0};
	return session_send(s, &q, &reply, &ignored) < 0 ? NULL : reply.body;
}

static void add_names(struct line *x, struct session *s, const char *target)
{
	const struct obj *items = obj_get(ask(s, target), "items");
	for (size_t i = 0; i < obj_len(items); i++)
		add(x, meta_name(obj_at(items, i)));
}

static void add_versions(struct line *x, struct session *s)
{
	if (!x->n_args)
		return;
	const struct obj *app = ask(
		s, arena_fmt(x->c->arena, APPS "/%s", url_encode(str_of(x->args[0]), x->c->arena)));
	const struct obj *list = obj_path(app, "status.candidates");
	for (size_t i = 0; i < obj_len(list); i++)
		add(x, obj_str(obj_at(list, i), "version"));
}

static void add_types(struct line *x, struct session *s)
{
	size_t n = 0;
	struct error ignored = ERROR_INIT;
	const struct discovery *d = session_discovery(s, &ignored);
	const struct resource *const *all = d ? discovery_all(d, &n) : NULL;
	for (size_t i = 0; i < n; i++)
		add(x, all[i]->plural);
}

static void add_objects(struct line *x, struct session *s)
{
	struct resource r;
	struct error ignored = ERROR_INIT;
	if (x->n_args && session_resource(s, x->args[0], &r, &ignored) >= 0)
		add_names(x, s, session_target(s, &r, session_ns(s, &r, false), NULL, NULL));
}

static void add_placeholder(struct line *x, struct str word)
{
	struct error ignored = ERROR_INIT;
	struct session *s = NULL;
	if (session_open(x->c, &s, &ignored) < 0)
		return;
	if (str_is(word, "APP"))
		add_names(x, s, APPS);
	else if (str_is(word, "VERSION"))
		add_versions(x, s);
	else if (str_is(word, "CATALOG"))
		add_names(x, s, CATALOGS);
	else if (str_is(word, "NAME"))
		add_objects(x, s);
	else if (str_is(word, "TYPE"))
		add_types(x, s);
	session_free(s);
}

/* The i-th argument of a usage: "APP" of "alm approve APP VERSION --reason TEXT". Options stand
 * behind the arguments. */
static struct str placeholder(const struct line *x, size_t i)
{
	struct str rest = str_of(x->cmd->usage), word;
	while (str_next(&rest, ' ', &word)) {
		while (word.len && strchr("[(", word.ptr[0]))
			word = str_skip(word, 1);
		if (!word.len || !char_is_upper(word.ptr[0])) {
			if (word.len && word.ptr[0] == '-')
				break;
			continue;
		}
		size_t n = 0;
		while (n < word.len && char_is_upper(word.ptr[n]))
			n++;
		if (!i--)
			return str_n(word.ptr, n);
	}
	return STR_NONE;
}

/* --- the line --- */

static void read_words(struct line *x, const char *const *words, size_t n)
{
	const struct cmd *const *table = cli_commands();
	for (size_t i = 0; i + 1 < n; i++) {
		const struct cmd *found = NULL;
		if (words[i][0] == '-') {
			i += takes_value(x, words[i]) && i + 2 < n;
			continue;
		}
		for (const struct cmd *const *t = table; t && *t && !found; t++)
			if (!strcmp((*t)->name, words[i]))
				found = *t;
		if (found) {
			x->cmd = found;
			table = found->subs;
		} else if (x->n_args < ARRAY_LEN(x->args)) {
			x->args[x->n_args++] = words[i];
		}
	}
}

static void add_commands(struct line *x, const struct cmd *const *table)
{
	for (; table && *table; table++)
		add(x, (*table)->name);
}

void complete_words(struct cli *c, const char *const *words, size_t n, struct obj *list)
{
	struct line *x = ARENA_NEW(c->arena, struct line);
	*x = (struct line){.c = c, .prefix = n ? words[n - 1] : "", .list = list};
	x->before = n > 1 ? words[n - 2] : "";
	read_words(x, words, n);
	if (takes_value(x, x->before)) {
		const struct cmd_option *o = option(x->cmd ? x->cmd->options : NULL, x->before);
		if (o && !strcmp(o->value, "VERSION"))
			add_placeholder(x, STR("VERSION"));
	} else if (x->prefix[0] == '-') {
		add_options(x, x->cmd ? x->cmd->options : NULL);
		add_options(x, cli_global_options);
		add(x, "--help");
	} else if (!x->cmd || (x->cmd->subs && !x->n_args)) {
		add_commands(x, x->cmd ? x->cmd->subs : cli_commands());
	} else if (placeholder(x, x->n_args).len) {
		add_placeholder(x, placeholder(x, x->n_args));
	}
}
