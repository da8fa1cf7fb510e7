#include "alm/cli/chart/template_args.h"

#include <stddef.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/nearest.h"

#define AUTHORITY_BYTES_MAX ((size_t)1 << 20)

enum flag_type {
	FLAG_BOOL,
	FLAG_TEXT,
	FLAG_LIST,     /* repeated */
	FLAG_COMMA,    /* repeated, and a comma separates */
	FLAG_IGNORED,  /* has no meaning offline; a bool */
	FLAG_IGNORED1, /* the same with a value */
	FLAG_OPTIONAL, /* the same with a value only after = */
	FLAG_DURATION, /* the same with a time */
	FLAG_TIME,
	FLAG_SECONDS, /* a time, in whole seconds, at least one */
	FLAG_DRY_RUN,
	FLAG_AUTHORITY, /* a file of certificates, which is looked at */
	FLAG_REFUSED,   /* a bool that would change the output: refusals[] */
	FLAG_REFUSED1,  /* the same with a value */
	FLAG_PROFILE,
};

struct flag {
	const char *name;
	char letter;
	enum flag_type type;
	size_t offset;
};

#define AT(member) offsetof(struct template_args, member)
/* clang-format off */
static const struct flag flags[] = {
	{"namespace", 'n', FLAG_TEXT, AT(ns)},
	{"values", 'f', FLAG_COMMA, AT(values)},
	{"set", 0, FLAG_LIST, AT(set)},
	{"set-string", 0, FLAG_LIST, AT(set_string)},
	{"set-json", 0, FLAG_LIST, AT(set_json)},
	{"set-file", 0, FLAG_LIST, AT(set_file)},
	{"set-literal", 0, FLAG_LIST, AT(set_literal)},
	{"api-versions", 'a', FLAG_COMMA, AT(api_versions)},
	{"show-only", 's', FLAG_LIST, AT(show_only)},
	{"kube-version", 0, FLAG_TEXT, AT(kube_version)},
	{"name-template", 0, FLAG_TEXT, AT(name_template)},
	{"output-dir", 0, FLAG_TEXT, AT(output_dir)},
	{"helm-version", 0, FLAG_PROFILE, AT(profile)},
	{"seed", 0, FLAG_TEXT, AT(seed)},
	{"now", 0, FLAG_TIME, AT(now_ns)},
	{"render-cpu", 0, FLAG_SECONDS, AT(render_cpu_s)},
	{"include-crds", 0, FLAG_BOOL, AT(include_crds)},
	{"no-hooks", 0, FLAG_BOOL, AT(no_hooks)},
	{"skip-tests", 0, FLAG_BOOL, AT(skip_tests)},
	{"is-upgrade", 0, FLAG_BOOL, AT(is_upgrade)},
	{"skip-schema-validation", 0, FLAG_BOOL, AT(skip_schema)},
	{"render-subchart-notes", 0, FLAG_BOOL, AT(subchart_notes)},
	{"release-name", 0, FLAG_BOOL, AT(use_release_name)},
	{"strict", 0, FLAG_BOOL, AT(strict)},
	{"debug", 0, FLAG_BOOL, AT(debug)},
	{"generate-name", 'g', FLAG_BOOL, AT(generate_name)},
	{"dry-run", 0, FLAG_DRY_RUN, 0},
	{"post-renderer", 0, FLAG_REFUSED1, 0},
	{"repo", 0, FLAG_REFUSED1, 0},
	{"validate", 0, FLAG_REFUSED, 0},
	{"verify", 0, FLAG_REFUSED, 0},
	{"skip-crds", 0, FLAG_IGNORED, 0},
	{"create-namespace", 0, FLAG_IGNORED, 0},
	{"dependency-update", 0, FLAG_IGNORED, 0},
	{"devel", 0, FLAG_IGNORED, 0},
	{"disable-openapi-validation", 0, FLAG_IGNORED, 0},
	{"enable-dns", 0, FLAG_IGNORED, 0},
	{"wait", 0, FLAG_OPTIONAL, 0},
	{"wait-for-jobs", 0, FLAG_IGNORED, 0},
	{"atomic", 0, FLAG_IGNORED, 0},
	{"rollback-on-failure", 0, FLAG_IGNORED, 0},
	{"force", 0, FLAG_IGNORED, 0},
	{"force-conflicts", 0, FLAG_IGNORED, 0},
	{"force-replace", 0, FLAG_IGNORED, 0},
	{"hide-notes", 0, FLAG_IGNORED, 0},
	{"insecure-skip-tls-verify", 0, FLAG_IGNORED, 0},
	{"kube-insecure-skip-tls-verify", 0, FLAG_IGNORED, 0},
	{"pass-credentials", 0, FLAG_IGNORED, 0},
	{"plain-http", 0, FLAG_IGNORED, 0},
	{"replace", 0, FLAG_IGNORED, 0},
	{"server-side", 0, FLAG_IGNORED, 0},
	{"take-ownership", 0, FLAG_IGNORED, 0},
	{"timeout", 0, FLAG_DURATION, 0},
	{"burst-limit", 0, FLAG_IGNORED1, 0},
	{"ca-file", 0, FLAG_AUTHORITY, 0},
	{"cert-file", 0, FLAG_IGNORED1, 0},
	{"color", 0, FLAG_IGNORED1, 0},
	{"colour", 0, FLAG_IGNORED1, 0},
	{"content-cache", 0, FLAG_IGNORED1, 0},
	{"description", 0, FLAG_IGNORED1, 0},
	{"key-file", 0, FLAG_IGNORED1, 0},
	{"keyring", 0, FLAG_IGNORED1, 0},
	{"kube-apiserver", 0, FLAG_IGNORED1, 0},
	{"kube-as-group", 0, FLAG_IGNORED1, 0},
	{"kube-as-user", 0, FLAG_IGNORED1, 0},
	{"kube-ca-file", 0, FLAG_IGNORED1, 0},
	{"kube-context", 0, FLAG_IGNORED1, 0},
	{"kube-tls-server-name", 0, FLAG_IGNORED1, 0},
	{"kube-token", 0, FLAG_IGNORED1, 0},
	{"kubeconfig", 0, FLAG_IGNORED1, 0},
	{"labels", 'l', FLAG_IGNORED1, 0},
	{"password", 0, FLAG_IGNORED1, 0},
	{"post-renderer-args", 0, FLAG_IGNORED1, 0},
	{"qps", 0, FLAG_IGNORED1, 0},
	{"registry-config", 0, FLAG_IGNORED1, 0},
	{"repository-cache", 0, FLAG_IGNORED1, 0},
	{"repository-config", 0, FLAG_IGNORED1, 0},
	{"username", 0, FLAG_IGNORED1, 0},
	{"version", 0, FLAG_IGNORED1, 0},
};
/* clang-format on */
#define OFFLINE "alm template asks no server"
static const struct {
	const char *name, *remedy;
} refusals[] = {
	{"dry-run=server", OFFLINE ": give its output to kubectl apply --dry-run=server -f -"},
	{"validate", OFFLINE ": give its output to kubectl apply --dry-run=server -f -"},
	{"repo", "alm template opens no network: helm pull --repo URL NAME, then give the .tgz"},
	{"verify", "no keyrings are read: compare the sha256 of the .tgz"},
	{"post-renderer", "no plugins are run: pipe the output into the program"},
};

static const struct {
	const char *text;
	enum tmpl_profile profile;
} profiles[] = {{"3", TMPL_PROFILE_3}, {"4.1", TMPL_PROFILE_4_1}, {"4.2", TMPL_PROFILE_4_2}};

/* Flags that helm has others for. */
static const struct {
	const char *name, *now;
} old_names[] = {{"atomic", "rollback-on-failure"}, {"force", "force-replace"}};

static int usage(struct strbuf *msg, const char *what, const char *arg)
{
	strbuf_addf(msg, "%s%s", what, arg);
	return -E_USAGE;
}

static int push(struct arena *a, struct template_list *l, const char *text, struct strbuf *msg)
{
	if (l->n == TEMPLATE_ARGS_MAX)
		return usage(msg, "too many flags: ", text);
	ARENA_GROW(a, l->items, l->cap, l->n, 4);
	l->items[l->n++] = text;
	return 0;
}

static int push_parts(struct arena *a, struct template_list *l, const char *text,
		      struct strbuf *msg)
{
	struct str rest = str_of(text), part;
	while (str_next(&rest, ',', &part))
		if (push(a, l, arena_text(a, part.ptr, part.len), msg) < 0)
			return -E_USAGE;
	return 0;
}

static int set_profile(enum tmpl_profile *at, const char *text, struct strbuf *msg)
{
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		if (strcmp(text, profiles[i].text) != 0)
			continue;
		*at = profiles[i].profile;
		return 0;
	}
	return usage(msg, "--helm-version is 3, 4.1 or 4.2, not ", text);
}

static int refuse(const char *name, struct strbuf *msg)
{
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		if (!strcmp(name, refusals[i].name))
			strbuf_addf(msg, "--%s is not offered; %s", name, refusals[i].remedy);
	return -E_USAGE;
}

static int push_old(struct arena *a, struct template_list *old, const char *name,
		    struct strbuf *msg)
{
	for (size_t i = 0; i < ARRAY_LEN(old_names); i++)
		if (!strcmp(name, old_names[i].name))
			return push(a, old,
				    arena_fmt(a, "Flag --%s has been deprecated, use --%s instead",
					      name, old_names[i].now),
				    msg);
	return 0;
}

/* As Go's strconv.ParseBool. */
static int set_bool(bool *at, const struct flag *f, const char *value, struct strbuf *msg)
{
	static const char *const words[] = {"0", "f", "F", "false", "FALSE", "False",
					    "1", "t", "T", "true",  "TRUE",  "True"};
	if (!value)
		value = "1";
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(value, words[i]) != 0)
			continue;
		*at = i >= ARRAY_LEN(words) / 2;
		return 0;
	}
	strbuf_addf(msg,
		    "invalid argument \"%s\" for \"--%s\" flag: strconv.ParseBool: parsing "
		    "\"%s\": invalid syntax",
		    value, f->name, value);
	return -E_USAGE;
}

static int check_dry_run(const char *value, struct strbuf *msg)
{
	if (!value || !strcmp(value, "client") || !strcmp(value, "true"))
		return 0;
	if (!strcmp(value, "server"))
		return refuse("dry-run=server", msg);
	strbuf_addf(msg, "invalid dry-run value (\"%s\"). Must be \"server\" or \"client\"", value);
	return -E_USAGE;
}

static int check_duration(const struct flag *f, const char *value, struct strbuf *msg)
{
	int64_t ns;
	struct error ignored;
	if (duration_parse(str_of(value), &ns, &ignored) == 0)
		return 0;
	strbuf_addf(msg, "invalid argument \"%s\" for \"--%s\" flag: time: invalid duration \"%s\"",
		    value, f->name, value);
	return -E_USAGE;
}

/* Nothing is fetched, but a wrong name of a file is told, as helm does. */
static int check_authority(const struct flag *f, const char *value, struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(AUTHORITY_BYTES_MAX);
	struct error err = ERROR_INIT;
	if (!*value)
		return 0;
	if (file_read(value, &b, &err) < 0)
		strbuf_addf(msg, "--%s: %s", f->name, err.msg);
	else if (str_find(strbuf_str(&b), STR("-----BEGIN CERTIFICATE-----")) < 0)
		strbuf_addf(msg, "--%s: %s has no certificate in PEM", f->name, value);
	else
		return 0;
	return -E_INVALID;
}

static int set_seconds(int *ret, const struct flag *f, const char *value, struct strbuf *msg)
{
	int64_t ns = 0;
	if (check_duration(f, value, msg) < 0)
		return -E_USAGE;
	(void)duration_parse(str_of(value), &ns, &(struct error){0});
	*ret = (int)(ns / NS_PER_S);
	if (ns >= NS_PER_S && ns <= NS_PER_HOUR)
		return 0;
	strbuf_addf(msg, "--%s is from 1s to 1h, not %s", f->name, value);
	return -E_USAGE;
}

static int set_flag(struct arena *a, struct template_args *args, const struct flag *f,
		    const char *value, struct strbuf *msg)
{
	void *at = (char *)args + f->offset;
	bool ignored, refused = false;
	switch (f->type) {
	case FLAG_BOOL:
		return set_bool(at, f, value, msg);
	case FLAG_TEXT:
		*(const char **)at = value;
		return 0;
	case FLAG_LIST:
		return push(a, at, value, msg);
	case FLAG_COMMA:
		return push_parts(a, at, value, msg);
	case FLAG_PROFILE:
		return set_profile(at, value, msg);
	case FLAG_TIME:
		if (clock_parse(str_of(value), at))
			return 0;
		return usage(msg, "--now is a time like 2024-05-01T10:00:00Z, not ", value);
	case FLAG_SECONDS:
		return set_seconds(at, f, value, msg);
	case FLAG_DRY_RUN:
		return check_dry_run(value, msg);
	case FLAG_DURATION:
		return check_duration(f, value, msg);
	case FLAG_IGNORED:
		if (set_bool(&ignored, f, value, msg) < 0)
			return -E_USAGE;
		return push_old(a, &args->old, f->name, msg);
	case FLAG_REFUSED:
		if (set_bool(&refused, f, value, msg) < 0)
			return -E_USAGE;
		return refused ? refuse(f->name, msg) : 0;
	case FLAG_REFUSED1:
		return refuse(f->name, msg);
	case FLAG_AUTHORITY:
		return check_authority(f, value, msg);
	case FLAG_IGNORED1:
	case FLAG_OPTIONAL:
		return 0;
	}
	return 0;
}

static const struct flag *find_flag(struct str name, char letter)
{
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (letter ? flags[i].letter == letter : str_is(name, flags[i].name))
			return &flags[i];
	return NULL;
}

static bool takes_value(const struct flag *f)
{
	return f->type != FLAG_BOOL && f->type != FLAG_IGNORED && f->type != FLAG_OPTIONAL &&
	       f->type != FLAG_DRY_RUN && f->type != FLAG_REFUSED;
}

/* -gn NS, -nNS, -n=NS: letters of flags without a value may stand together. */
static int parse_letters(struct arena *a, int argc, char **argv, struct template_args *args,
			 struct strbuf *msg)
{
	for (const char *at = argv[0] + 1; *at; at++) {
		const struct flag *f = find_flag(STR_NONE, *at);
		const char *value = at[1] ? at + 1 + (at[1] == '=') : NULL;
		if (!f) {
			strbuf_addf(msg, "unknown shorthand flag: '%c' in -%s", *at, at);
			return -E_USAGE;
		}
		if (!takes_value(f) && (!value || at[1] != '=')) {
			if (set_flag(a, args, f, NULL, msg) < 0)
				return -E_USAGE;
			continue;
		}
		if (value)
			return set_flag(a, args, f, value, msg) < 0 ? -E_USAGE : 1;
		if (argc < 2) {
			strbuf_addf(msg, "flag needs an argument: '%c' in -%s", *at, at);
			return -E_USAGE;
		}
		return set_flag(a, args, f, argv[1], msg) < 0 ? -E_USAGE : 2;
	}
	return 1;
}

static int unknown_flag(struct arena *a, struct str name, struct strbuf *msg)
{
	CLEANUP(obj_unrefp) struct obj *names = obj_list();
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		obj_append(names, obj_string(flags[i].name));
	const char *word = arena_strndup(a, name.ptr, name.len);
	strbuf_addf(msg, "unknown flag: --%s%s", word, nearest_hint(word, names, "--", a));
	return -E_USAGE;
}

/* One flag, with its value from the same word or the next; returns how many words it took. */
static int parse_flag(struct arena *a, int argc, char **argv, struct template_args *args,
		      struct strbuf *msg)
{
	const char *word = argv[0];
	if (word[1] != '-')
		return parse_letters(a, argc, argv, args, msg);
	struct str name, rest = STR_NONE;
	bool has_value = str_cut(str_of(word + 2), '=', &name, &rest);
	const char *value = has_value ? rest.ptr : NULL;
	const struct flag *f = find_flag(name, 0);
	if (!f)
		return unknown_flag(a, name, msg);
	if (!takes_value(f) || value)
		return set_flag(a, args, f, value, msg) < 0 ? -E_USAGE : 1;
	if (argc < 2)
		return usage(msg, "flag needs an argument: ", word);
	return set_flag(a, args, f, argv[1], msg) < 0 ? -E_USAGE : 2;
}

static int set_positional(struct template_args *args, struct strbuf *msg)
{
	const struct template_list *words = &args->words;
	if (words->n < 1)
		return usage(msg, "\"template\" requires a chart", "");
	if (words->n > 2)
		return usage(msg, "expected at most two arguments, unexpected arguments: ",
			     words->items[2]);
	args->chart = words->items[words->n - 1];
	if (words->n == 2)
		args->name = words->items[0];
	if (args->name && !*args->name) {
		strbuf_adds(msg, "release name check failed: release name \"\": no name provided");
		return -E_INVALID;
	}
	if (args->name && args->generate_name)
		return usage(msg, "cannot set --generate-name and also specify a name", "");
	if (args->name && args->name_template)
		return usage(msg, "cannot set --name-template and also specify a name", "");
	return 0;
}

/* helm fetches what is named by an address. */
static int refuse_addresses(const struct template_args *args, struct strbuf *msg)
{
	if (args->chart && strstr(args->chart, "://")) {
		strbuf_addf(msg,
			    "%s: alm template opens no network: helm pull it, then give the .tgz",
			    args->chart);
		return -E_USAGE;
	}
	for (size_t i = 0; i < args->values.n; i++) {
		const char *path = args->values.items[i];
		if (!strstr(path, "://") || cstr_has_prefix(path, "file://"))
			continue;
		strbuf_addf(msg, "%s: alm template opens no network: fetch it, then give the file",
			    path);
		return -E_USAGE;
	}
	return 0;
}

int template_args_parse_words(struct arena *a, int argc, char **argv, struct template_args *ret,
			      struct strbuf *msg)
{
	bool only_words = false;
	*ret = (struct template_args){.profile = TMPL_PROFILE_4_1};
	for (int i = 0; i < argc;) {
		int took = 1;
		if (!only_words && !strcmp(argv[i], "--"))
			only_words = true;
		else if (!only_words && argv[i][0] == '-' && argv[i][1])
			took = parse_flag(a, argc - i, argv + i, ret, msg);
		else
			took = push(a, &ret->words, argv[i], msg) < 0 ? -E_USAGE : 1;
		if (took < 0)
			return took;
		i += took;
	}
	return 0;
}

int template_args_parse(struct arena *a, int argc, char **argv, struct template_args *ret,
			struct strbuf *msg)
{
	if (template_args_parse_words(a, argc, argv, ret, msg) < 0 || set_positional(ret, msg) < 0)
		return -E_USAGE;
	return refuse_addresses(ret, msg);
}
