/* What templates render to, and the files in crds/, by the rules of helm lint. */
#include <string.h>

#include "alm/cli/chart/chart_lint_rules.h"
#include "alm/cli/chart/template_run.h"
#include "installers/format/yaml_go.h"
#include "installers/manifest.h"

/* ---- names ---- */

#define LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"

enum name_rule { NAME_SUBDOMAIN, NAME_LABEL, NAME_LABEL_1035, NAME_PATH, NAME_ANY };

static const struct {
	size_t max;
	const char *text;
} name_rules[] = {
	[NAME_SUBDOMAIN] = {253,
			    "a lowercase RFC 1123 subdomain must consist of lower case "
			    "alphanumeric characters, '-' or '.', and must start and end with an "
			    "alphanumeric character (e.g. 'example.com', regex used for validation "
			    "is '" LABEL "(\\." LABEL ")*')"},
	[NAME_LABEL] = {63, "a lowercase RFC 1123 label must consist of lower case alphanumeric "
			    "characters or '-', and must start and end with an alphanumeric "
			    "character (e.g. 'my-name',  or '123-abc', regex used for validation "
			    "is '" LABEL "')"},
	[NAME_LABEL_1035] = {63, "a DNS-1035 label must consist of lower case alphanumeric "
				 "characters or '-', start with an alphabetic character, and end "
				 "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
				 "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"},
};

/* word is in lower case. */
static bool is_word(struct str s, const char *word)
{
	if (s.len != strlen(word))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (char_lower(s.ptr[i]) != word[i])
			return false;
	return true;
}

static enum name_rule name_rule(struct str kind)
{
	static const struct {
		const char *kind;
		enum name_rule rule;
	} rows[] = {
		{"service", NAME_LABEL_1035},
		{"namespace", NAME_LABEL},
		{"certificatesigningrequest", NAME_ANY},
		{"role", NAME_PATH},
		{"clusterrole", NAME_PATH},
		{"rolebinding", NAME_PATH},
		{"clusterrolebinding", NAME_PATH},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (is_word(kind, rows[i].kind))
			return rows[i].rule;
	return NAME_SUBDOMAIN;
}

static bool is_label(struct str s, bool letter_first)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		bool edge = i == 0 || i + 1 == s.len;
		if (!char_is_lower(c) && !char_is_digit(c) && (edge || c != '-'))
			return false;
	}
	return s.len && !(letter_first && char_is_digit(s.ptr[0]));
}

static bool is_subdomain(struct str s)
{
	struct str label;
	if (!s.len || s.ptr[s.len - 1] == '.')
		return false;
	while (s.len && str_next(&s, '.', &label))
		if (!is_label(label, false))
			return false;
	return true;
}

static void add_problem(struct strbuf *b, struct str name, const char *text)
{
	strbuf_adds(b,
		    b->len ? ", metadata.name: Invalid value: " : "metadata.name: Invalid value: ");
	value_quote(b, name);
	strbuf_addf(b, ": %s", text);
}

static size_t path_problems(struct str name, struct strbuf *b)
{
	static const struct {
		const char *part, *problem;
		bool whole;
	} rows[] = {{".", "may not be '.'", true},
		    {"..", "may not be '..'", true},
		    {"/", "may not contain '/'", false},
		    {"%", "may not contain '%'", false}};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].whole ? !str_is(name, rows[i].part)
				  : !str_contains(name, str_of(rows[i].part)))
			continue;
		add_problem(b, name, rows[i].problem);
		n++;
	}
	return n;
}

static size_t name_problems(struct str name, enum name_rule rule, struct strbuf *b)
{
	size_t n = 0;
	if (rule == NAME_ANY)
		return 0;
	if (rule == NAME_PATH)
		return path_problems(name, b);
	if (name.len > name_rules[rule].max) {
		add_problem(b, name,
			    rule == NAME_SUBDOMAIN ? "must be no more than 253 characters"
						   : "must be no more than 63 characters");
		n++;
	}
	if (rule == NAME_LABEL && str_find_char(name, '.') >= 0) {
		add_problem(b, name, "must not contain dots");
		return n + 1;
	}
	if (rule == NAME_SUBDOMAIN ? !is_subdomain(name)
				   : !is_label(name, rule == NAME_LABEL_1035)) {
		add_problem(b, name, name_rules[rule].text);
		n++;
	}
	return n;
}

static void check_name(struct lint_report *r, const char *file, const struct manifest_head *h)
{
	CLEANUP(strbuf_release) struct strbuf problems = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	size_t n = name_problems(h->name, name_rule(h->kind), &problems);
	value_quote(&name, h->name);
	if (n)
		chart_lint_add(
			r, LINT_WARNING, file,
			"object name does not conform to Kubernetes naming requirements: %s: "
			"%s%s%s",
			name.buf, n > 1 ? "[" : "", problems.buf, n > 1 ? "]" : "");
}

/* ---- one document ---- */

static void check_selector(struct lint_report *r, const char *file, const struct manifest_head *h,
			   struct str all)
{
	static const char *const kinds[] = {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"};
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	if (str_contains(all, STR("matchLabels")) || str_contains(all, STR("matchExpressions")))
		return;
	value_quote(&name, h->name);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_is(h->kind, kinds[i]))
			chart_lint_add(
				r, LINT_ERROR, file,
				"a %s must contain matchLabels or matchExpressions, and %s does "
				"not",
				kinds[i], name.buf);
}

static void check_list(struct lint_report *r, const char *file, struct value v)
{
	const struct value *items = vmap_getc(v.map, "items");
	for (size_t i = 0; items && items->type == VALUE_LIST && i < items->len; i++) {
		if (items->items[i].type != VALUE_MAP)
			continue;
		const struct value *meta = vmap_getc(items->items[i].map, "metadata");
		const struct value *notes = meta && meta->type == VALUE_MAP
						    ? vmap_getc(meta->map, "annotations")
						    : NULL;
		if (!notes || notes->type != VALUE_MAP ||
		    !vmap_getc(notes->map, "helm.sh/resource-policy"))
			continue;
		chart_lint_add(
			r, LINT_ERROR, file,
			"annotation 'helm.sh/resource-policy' within List objects are ignored");
		return;
	}
}

/* 1: an object, 0: nothing there, negative: no YAML, which is reported. */
static int read_piece(struct lint_report *r, const char *file, struct str piece,
		      struct manifest_head *ret, struct value *ret_value)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	int rc = yaml_go_parse(r->a, piece, ret_value, &msg);
	if (rc >= 0 && ret_value->type == VALUE_NIL)
		return 0;
	if (rc >= 0)
		rc = manifest_head(r->a, piece, ret, &msg);
	if (rc < 0)
		chart_lint_add(r, LINT_ERROR, file, "unable to parse YAML: %s", msg.buf);
	return rc < 0 ? rc : 1;
}

static bool lint_text(struct lint_report *r, const char *file, struct str text, int minor)
{
	struct manifest_split s = manifest_split(text, TMPL_PROFILE_4_1);
	struct manifest_head h;
	struct value v;
	struct str piece;
	while (manifest_next(&s, &piece)) {
		int rc = read_piece(r, file, piece, &h, &v);
		if (rc < 0)
			return false;
		if (!rc)
			continue;
		check_name(r, file, &h);
		const char *deprecated = chart_lint_deprecated(r->a, h.api_version, h.kind, minor);
		if (deprecated)
			chart_lint_add(r, LINT_WARNING, file, "%s", deprecated);
		check_selector(r, file, &h, text);
		if (str_is(h.kind, "List") && v.type == VALUE_MAP)
			check_list(r, file, v);
	}
	return true;
}

/* ---- files ---- */

static struct str extension(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	return dot ? str_of(dot) : STR("");
}

static bool is_yaml(struct str ext)
{
	return is_word(ext, ".yaml") || is_word(ext, ".yml");
}

static void check_extension(struct lint_report *r, const char *file, struct str ext)
{
	static const char *const good[] = {".yaml", ".yml", ".tpl", ".txt"};
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (str_is(ext, good[i]))
			return;
	chart_lint_add(
		r, LINT_ERROR, file,
		"file extension '%.*s' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt",
		STR_ARG(ext));
}

static void check_indent(struct lint_report *r, const char *file, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	struct str line;
	while (text.len && str_next_line(&text, &line)) {
		if (!text_trim(line).len)
			continue;
		if (line.ptr[0] != ' ' && line.ptr[0] != '\t')
			return;
		value_quote(&b, line);
		chart_lint_add(
			r, LINT_WARNING, file,
			"document starts with an illegal indent: %s, which may cause parsing "
			"problems",
			b.buf);
		return;
	}
}

static struct str rendered(const struct render_result *result, const char *name)
{
	for (size_t i = 0; i < result->n_files; i++)
		if (str_is(result->files[i].path, name))
			return result->files[i].text;
	return STR("");
}

bool chart_lint_files(struct lint_report *r, const struct chart *c,
		      const struct render_result *result, int minor)
{
	for (size_t i = 0; i < c->templates.n; i++) {
		const char *file = c->templates.items[i].path;
		struct str ext = extension(file);
		check_extension(r, file, ext);
		if (!is_yaml(ext))
			continue;
		struct str text =
			rendered(result, arena_fmt(r->a, "%.*s/%s", STR_ARG(c->meta.name), file));
		if (!text_trim(text).len)
			continue;
		check_indent(r, file, text);
		if (!lint_text(r, file, text, minor))
			return false;
	}
	return true;
}

static void lint_crd(struct lint_report *r, const char *file, struct str text)
{
	struct manifest_split s = manifest_split(text, TMPL_PROFILE_4_1);
	struct manifest_head h;
	struct value v;
	struct str piece;
	while (manifest_next(&s, &piece)) {
		int rc = read_piece(r, file, piece, &h, &v);
		if (rc < 0)
			return;
		if (!rc)
			continue;
		if (!str_has_prefix(h.api_version, STR("apiextensions.k8s.io")))
			chart_lint_add(r, LINT_ERROR, file,
				       "apiVersion is not in 'apiextensions.k8s.io'");
		if (!str_is(h.kind, "CustomResourceDefinition"))
			chart_lint_add(r, LINT_ERROR, file,
				       "object kind is not 'CustomResourceDefinition'");
	}
}

void chart_lint_crds(struct lint_report *r, const struct chart *c)
{
	for (size_t i = 0; i < c->files.n; i++) {
		const char *path = c->files.items[i].path;
		if (chart_is_crd(path))
			lint_crd(r, path, c->files.items[i].data);
	}
}
