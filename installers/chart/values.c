#include "installers/chart/values.h"

#include <string.h>

#include "installers/chart/chart.h"
#include "installers/format/json_go.h"
#include "installers/format/yaml_go.h"

static int wrap(struct strbuf *msg, size_t mark, const char *text, int rc)
{
	strbuf_insert(msg, mark, str_of(text));
	return rc;
}

/* ---- files ---- */

/* The next document: up to a line that starts with "---" (k8s.io/apimachinery's YAMLReader); *rest is none behind
 * the last one, which may be empty. */
static int next_document(struct str *rest, struct str *ret, struct strbuf *msg)
{
	struct str text = *rest;
	size_t at = 0;
	while (at < text.len) {
		struct str line = str_skip(text, at);
		ptrdiff_t lf = str_find_char(line, '\n');
		size_t n = lf < 0 ? line.len : (size_t)lf + 1;
		line = str_sub(line, 0, n);
		if (str_has_prefix(line, STR("---"))) {
			struct str after = str_trim(str_skip(line, 3));
			if (after.len && after.ptr[0] != '#') {
				strbuf_addf(msg,
					    "error reading yaml document: invalid Yaml document "
					    "separator: %.*s",
					    STR_ARG(after));
				return -E_INVALID;
			}
			if (at) {
				*ret = str_sub(text, 0, at);
				*rest = str_skip(text, at + n);
				return 0;
			}
		}
		at += n;
	}
	*ret = text;
	*rest = STR_NONE;
	return 0;
}

/* In UTF-16 half of the characters are NUL. */
static struct str with_newline(struct arena *a, struct str text)
{
	char *longer = arena_alloc(a, text.len + 1);
	memcpy(longer, text.ptr, text.len);
	longer[text.len] = '\n';
	return str_n(longer, text.len + 1);
}

/* Maps merge, everything else is replaced, nulls stay (-f after -f). dst is changed. */
/* NOLINTNEXTLINE(misc-no-recursion): at most VALUES_DEPTH_MAX deep */
static void merge(struct vmap *dst, const struct vmap *src, int depth)
{
	for (size_t i = 0; src && i < src->n; i++) {
		struct str key = src->entries[i].key;
		struct value v = src->entries[i].value, *old = vmap_get(dst, key);
		if (old && old->type == VALUE_MAP && v.type == VALUE_MAP &&
		    depth < VALUES_DEPTH_MAX)
			merge(old->map, v.map, depth + 1);
		else
			vmap_set(dst, key, v);
	}
}

int values_read(struct arena *a, struct str text, enum tmpl_profile profile, struct vmap **ret,
		struct strbuf *msg)
{
	struct vmap *all = vmap_new(a);
	size_t mark = msg->len;
	bool only_first = profile == TMPL_PROFILE_3;
	*ret = all;
	/* The reader of documents ends every line. */
	if (!only_first && text.len && text.ptr[text.len - 1] != '\n')
		text = with_newline(a, text);
	while (text.ptr) {
		struct str doc = text;
		struct vmap *m;
		if (only_first)
			text = STR_NONE;
		else if (next_document(&text, &doc, msg) < 0)
			return -E_INVALID;
		int rc = yaml_go_parse_map(a, doc, &m, msg);
		if (rc < 0)
			return wrap(msg, mark, "cannot unmarshal yaml document: ", rc);
		merge(all, m, 0);
	}
	return 0;
}

/* ---- sources ---- */

static int add_files(struct arena *a, const struct values_sources *s, enum tmpl_profile profile,
		     struct vmap *all, struct strbuf *msg)
{
	for (size_t i = 0; i < s->n_files; i++) {
		struct vmap *m;
		size_t mark = msg->len;
		int rc = values_read(a, s->files[i].text, profile, &m, msg);
		if (rc < 0)
			return wrap(msg, mark,
				    arena_fmt(a, "failed to parse %s: ", s->files[i].name), rc);
		merge(all, m, 0);
	}
	return 0;
}

static int add_json(struct arena *a, const char *text, enum tmpl_profile profile, struct vmap *all,
		    struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(STRBUF_SMALL);
	struct str s = str_trim(str_of(text));
	struct value v;
	if (str_has_prefix(s, STR("{")) && profile != TMPL_PROFILE_3) {
		if (json_go_decode(a, s, &v, &ignored) < 0 || v.type != VALUE_MAP) {
			strbuf_addf(msg, "failed parsing --set-json data JSON: %s", text);
			return -E_INVALID;
		}
		merge(all, v.map, 0);
		return 0;
	}
	if (setpath_apply(a, SETPATH_JSON, str_of(text), all, NULL, &ignored) < 0) {
		strbuf_addf(msg, "failed parsing --set-json data %s", text);
		return -E_INVALID;
	}
	return 0;
}

static int add_sets(struct arena *a, const struct values_sources *s, enum setpath_mode mode,
		    const char *flag, const char *const *texts, size_t n, struct vmap *all,
		    struct strbuf *msg)
{
	for (size_t i = 0; i < n; i++) {
		size_t mark = msg->len;
		int rc = setpath_apply(a, mode, str_of(texts[i]), all, s->reader, msg);
		if (rc < 0)
			return wrap(msg, mark, arena_fmt(a, "failed parsing %s data: ", flag), rc);
	}
	return 0;
}

int values_combine(struct arena *a, const struct values_sources *s, enum tmpl_profile profile,
		   struct vmap **ret, struct strbuf *msg)
{
	struct vmap *all = vmap_new(a);
	*ret = all;
	int rc = add_files(a, s, profile, all, msg);
	for (size_t i = 0; rc == 0 && i < s->n_json; i++)
		rc = add_json(a, s->json[i], profile, all, msg);
	if (rc == 0)
		rc = add_sets(a, s, SETPATH_TYPED, "--set", s->typed, s->n_typed, all, msg);
	if (rc == 0)
		rc = add_sets(a, s, SETPATH_STRING, "--set-string", s->string, s->n_string, all,
			      msg);
	if (rc == 0)
		rc = add_sets(a, s, SETPATH_FILE, "--set-file", s->file, s->n_file, all, msg);
	if (rc == 0)
		rc = add_sets(a, s, SETPATH_LITERAL, "--set-literal", s->literal, s->n_literal, all,
			      msg);
	return rc;
}

struct vmap *values_table(struct vmap *m, struct str path)
{
	struct str part;
	while (m && str_next(&path, '.', &part)) {
		const struct value *v = vmap_get(m, part);
		m = v && value_is_anymap(*v) ? v->map : NULL;
	}
	return m;
}
