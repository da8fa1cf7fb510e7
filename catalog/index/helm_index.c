#include "catalog/index/helm_index.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/obj/yaml.h"
#include "catalog/index/entry.h"

struct reading {
	const struct weburl *base;
	unsigned flags;
	struct strbuf *lines;
	struct arena *a; /* of one entry */
	size_t n;
};

static bool is_digest(struct str s)
{
	unsigned char raw[SHA256_BYTES];
	return hex_decode(s, raw, sizeof(raw));
}

/* The digest's 64 lower-case digits; "" for none where that is allowed; NULL: err says why not. */
static const char *digest_of(const struct reading *r, const struct obj *o, struct error *err)
{
	struct str s = str_of(obj_str(o, "digest"));
	if (str_has_prefix(s, STR("sha256:")))
		s = str_skip(s, 7);
	if (!s.len && (r->flags & HELM_INDEX_UNPINNED))
		return "";
	if (!s.len) {
		error_because(err, E_INVALID, REASON_MISSING_DIGEST,
			      "the index has no digest for it; have the index made anew, "
			      "or set spec.source.allowUnpinned");
		return NULL;
	}
	if (!is_digest(s)) {
		error_set(err, E_INVALID, "digest: \"%.*s\" is no SHA-256 of 64 hex digits",
			  STR_ARG(str_sub(s, 0, 100)));
		return NULL;
	}
	char *out = arena_text(r->a, s.ptr, s.len);
	for (size_t i = 0; i < s.len; i++)
		out[i] = char_lower(out[i]);
	return out;
}

static const char *locator_of(const struct reading *r, const struct obj *o, const char *digest,
			      struct error *err)
{
	const char *url = obj_as_string(obj_at(obj_get(o, "urls"), 0));
	struct weburl u;
	if (r->flags & HELM_INDEX_BLOBS)
		return arena_fmt(r->a, "%ssha256:%s", weburl_text(r->base, r->a), digest);
	if (!url || !*url) {
		error_set(err, E_INVALID, "urls: the entry says nowhere to fetch it from");
		return NULL;
	}
	if (weburl_resolve(r->base, str_of(url), r->a, &u, err) < 0) {
		error_wrap(err, "urls: %.200s", url);
		return NULL;
	}
	return weburl_text(&u, r->a);
}

static int check_entry(const char *name, const struct obj *o, struct error *err)
{
	const char *own = obj_str(o, "name");
	if (obj_type(o) != OBJ_MAP)
		return error_set(err, E_INVALID, "the entry is no map");
	if (!own || strcmp(own, name) != 0)
		return error_set(err, E_INVALID, "name: \"%.100s\" stands below %.100s",
				 own ? own : "", name);
	return 0;
}

static struct obj *line_of(const struct reading *r, const char *name, const char *where,
			   const struct obj *o)
{
	struct error err = ERROR_INIT;
	const char *digest = NULL, *locator = NULL;
	if (check_entry(name, o, &err) == 0)
		digest = digest_of(r, o, &err);
	if (digest)
		locator = locator_of(r, o, digest, &err);
	if (!locator)
		return entry_error(where, err.msg, err.reason);
	struct obj *line = obj_map();
	obj_set_str(line, "where", where);
	obj_set(line, "chart", entry_chart(o));
	obj_set_bool(line, "unread", true);
	obj_set_str(line, "digest", digest);
	obj_set_str(line, "locator", locator);
	entry_seal(line);
	return line;
}

static int on_entry(void *arg, const char *name, struct obj *value, int line, struct error *err)
{
	struct reading *r = arg;
	CLEANUP(obj_unrefp) struct obj *o = value;
	if (obj_flag(o, "removed", false))
		return 0;
	if (++r->n > INDEX_VERSIONS_MAX)
		return error_set(err, E_LIMIT, "line %d: more than %d versions", line,
				 INDEX_VERSIONS_MAX);
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	r->a = a;
	const char *version = obj_str(o, "version");
	const char *where = arena_fmt(a, "line %d: %.100s %.128s", line, name,
				      version ? version : "(no version)");
	CLEANUP(obj_unrefp) struct obj *entry = line_of(r, name, where, o);
	entry_print(entry, r->lines);
	return strbuf_check(r->lines, "index.yaml", err);
}

static void add_generated(const struct obj *index, struct strbuf *lines)
{
	int64_t ns;
	struct str text = obj_as_str(obj_get(index, "generated"));
	if (!text.len || !clock_parse(text, &ns))
		return;
	CLEANUP(obj_unrefp) struct obj *line = obj_map();
	obj_set(line, "generated", obj_stringn(text));
	entry_print(line, lines);
}

int helm_index_read(struct str text, const struct weburl *base, unsigned flags,
		    struct strbuf *lines, struct error *err)
{
	struct reading r = {.base = base, .flags = flags, .lines = lines};
	struct yaml_items items = {
		.top = "entries", .bytes_max = HELM_INDEX_BYTES_MAX, .item = on_entry, .arg = &r};
	CLEANUP(obj_unrefp) struct obj *rest = NULL;
	if (yaml_each(text, &items, &rest, err) < 0)
		return error_wrap(err, "index.yaml");
	enum obj_type entries = obj_type(obj_get(rest, "entries"));
	if (!obj_str(rest, "apiVersion") || (entries != OBJ_MAP && entries != OBJ_NULL))
		return error_set(err, E_INVALID,
				 "index.yaml: it has no apiVersion and entries; is this the index "
				 "of a Helm repository?");
	OBJ_EACH (it, obj_get(rest, "entries"))
		if (obj_type(it.value) != OBJ_LIST)
			return error_set(err, E_INVALID, "index.yaml: entries.%.100s is no list",
					 it.key);
	add_generated(rest, lines);
	return 0;
}

int helm_index_job(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct str url, flag;
	struct weburl base;
	str_next_line(&input, &url);
	str_next_line(&input, &flag);
	if (weburl_parse(url, "https", a, &base, err) < 0)
		return -err->code;
	unsigned flags = str_is(flag, "unpinned") ? HELM_INDEX_UNPINNED
			 : str_is(flag, "blobs")  ? HELM_INDEX_BLOBS
						  : 0;
	return helm_index_read(input, &base, flags, output, err);
}
