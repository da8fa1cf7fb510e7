#include "alm/sources/oci.h"

#include <string.h>
#include <strings.h>

#include "alm/obj/json.h"
#include "catalog/trust/cosign.h"

/* --- references --- */

/* Components of lower-case letters, digits and separators inside. */
static bool is_name(struct str s)
{
	struct str part;
	while (str_next(&s, '/', &part)) {
		for (size_t i = 0; i < part.len; i++)
			if (!char_is_lower(part.ptr[i]) && !char_is_digit(part.ptr[i]) &&
			    !(i && i + 1 < part.len && strchr("._-", part.ptr[i])))
				return false;
		if (!part.len || part.len > 255)
			return false;
	}
	return true;
}

static bool is_tag(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && s.ptr[i] != '_' && !(i && strchr(".-", s.ptr[i])))
			return false;
	return s.len > 0 && s.len <= 128;
}

const char *oci_digest(const char *text, struct arena *a)
{
	unsigned char raw[SHA256_BYTES];
	struct str s = str_of(text);
	if (!str_has_prefix(s, STR("sha256:")) || !hex_decode(str_skip(s, 7), raw, sizeof(raw)))
		return NULL;
	char *out = arena_alloc(a, SHA256_HEX);
	hex_encode(raw, sizeof(raw), out);
	return out;
}

int oci_reference_parse(struct str text, struct arena *a, struct oci_reference *ret,
			struct error *err)
{
	struct oci_reference r = {0};
	struct str name, tag, digest;
	if (weburl_parse(text, "oci", a, &r.registry, err) < 0)
		return -err->code;
	name = str_skip(str_of(r.registry.path), 1);
	if (str_cut(name, '@', &name, &digest)) {
		const char *hex = oci_digest(arena_text(a, digest.ptr, digest.len), a);
		if (!hex)
			return error_set(err, E_INVALID, "\"%.*s\" is no sha256: digest",
					 STR_ARG(str_sub(digest, 0, 100)));
		r.digest = arena_fmt(a, "sha256:%s", hex);
	}
	if (str_cut(name, ':', &name, &tag)) {
		if (!is_tag(tag))
			return error_set(err, E_INVALID, "\"%.*s\" is no tag",
					 STR_ARG(str_sub(tag, 0, 100)));
		r.tag = arena_text(a, tag.ptr, tag.len);
	}
	if (!is_name(name) || r.registry.query)
		return error_set(err, E_INVALID,
				 "\"%.*s\" is no repository of a registry: oci://HOST/NAME[:TAG]",
				 STR_ARG(str_sub(name, 0, 200)));
	r.name = arena_text(a, name.ptr, name.len);
	*ret = r;
	return 0;
}

/* --- manifests --- */

static int read_blob(const struct obj *o, const char *where, struct arena *a, struct oci_blob *ret,
		     struct error *err)
{
	const char *digest = obj_str(o, "digest"), *type = obj_str(o, "mediaType");
	int64_t size = obj_i64(o, "size", -1);
	const struct obj *annotations = obj_get(o, "annotations");
	const char *title = obj_as_string(obj_get(annotations, OCI_TITLE));
	const char *signature = obj_as_string(obj_get(annotations, COSIGN_ANNOTATION));
	ret->digest = digest ? oci_digest(digest, a) : NULL;
	if (!type || !ret->digest || size < 0)
		return error_set(err, E_INVALID, "%s: want mediaType, digest (sha256:...) and size",
				 where);
	ret->media_type = arena_strdup(a, type);
	ret->size = (uint64_t)size;
	ret->title = title ? arena_strdup(a, title) : NULL;
	ret->signature = signature ? arena_strdup(a, signature) : NULL;
	return 0;
}

static int take_manifest(const struct obj *o, struct arena *a, struct oci_manifest *ret,
			 struct error *err)
{
	const char *type = obj_str(o, "mediaType");
	const struct obj *layers = obj_get(o, "layers");
	if (obj_i64(o, "schemaVersion", 0) != 2)
		return error_set(err, E_INVALID, "schemaVersion: only 2 is read");
	if (type && strcmp(type, OCI_MANIFEST) != 0 && strcmp(type, OCI_DOCKER) != 0)
		return error_set(err, E_INVALID, "\"%.100s\" is no manifest of one artifact", type);
	if (obj_has(o, "manifests"))
		return error_set(err, E_INVALID, "an index of images is no chart and no catalog");
	if (obj_len(layers) > OCI_LAYERS_MAX)
		return error_set(err, E_LIMIT, "more than %d layers", OCI_LAYERS_MAX);
	if (read_blob(obj_get(o, "config"), "config", a, &ret->config, err) < 0)
		return -err->code;
	ret->media_type = type ? arena_strdup(a, type) : OCI_MANIFEST;
	ret->layers = ARENA_ARRAY(a, struct oci_blob, obj_len(layers));
	for (size_t i = 0; i < obj_len(layers); i++)
		if (read_blob(obj_at(layers, i), "layers", a, &ret->layers[ret->n_layers++], err) <
		    0)
			return -err->code;
	return 0;
}

static int read_json(struct str text, struct obj **ret, struct error *err)
{
	if (text.len > OCI_MANIFEST_BYTES_MAX)
		return error_set(err, E_LIMIT, "larger than %zu bytes", OCI_MANIFEST_BYTES_MAX);
	return json_parse(text, ret, err);
}

int oci_manifest_parse(struct str text, struct arena *a, struct oci_manifest *ret,
		       struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct oci_manifest m = {0};
	if (read_json(text, &o, err) < 0 || take_manifest(o, a, &m, err) < 0)
		return error_wrap(err, "manifest");
	*ret = m;
	return 0;
}

const struct oci_blob *oci_layer(const struct oci_manifest *m, const char *media_type)
{
	for (size_t i = 0; i < m->n_layers; i++)
		if (!strcmp(m->layers[i].media_type, media_type))
			return &m->layers[i];
	return NULL;
}

/* --- tags --- */

int oci_tags_parse(struct str text, struct arena *a, const char ***tags, size_t *n, size_t *cap,
		   struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (read_json(text, &o, err) < 0)
		return error_wrap(err, "tags");
	const struct obj *list = obj_get(o, "tags");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *tag = obj_as_string(obj_at(list, i));
		if (!tag || !is_tag(str_of(tag)))
			return error_set(err, E_INVALID, "tags[%zu] is no tag", i);
		if (*n >= OCI_TAGS_MAX)
			return error_set(err, E_LIMIT, "more than %d tags", OCI_TAGS_MAX);
		ARRAY_GROW(*tags, *cap, *n + 1);
		(*tags)[(*n)++] = arena_strdup(a, tag);
	}
	return 0;
}

struct str oci_next_page(const char *link)
{
	struct str rest = str_of(link), one, target, params;
	while (str_next(&rest, ',', &one)) {
		one = str_trim(one);
		if (str_has_prefix(one, STR("<")) &&
		    str_cut(str_skip(one, 1), '>', &target, &params) &&
		    (str_contains(params, STR("rel=\"next\"")) ||
		     str_contains(params, STR("rel=next"))))
			return target;
	}
	return STR_NONE;
}

static const char *replaced(const char *s, char from, char to, struct arena *a)
{
	char *out = arena_strdup(a, s);
	for (char *p = out; *p; p++)
		if (*p == from)
			*p = to;
	return out;
}

const char *oci_tag_version(const char *tag, struct arena *a)
{
	return replaced(tag, '_', '+', a);
}

const char *oci_version_tag(const char *version, struct arena *a)
{
	return replaced(version, '+', '_', a);
}

/* --- challenges --- */

/* key="value" or key=value, taken off the front (RFC 9110 11.2; no escapes are in use). */
static bool next_param(struct str *rest, struct str *key, struct str *value)
{
	struct str after;
	*rest = str_trim_left(*rest);
	while (rest->len && rest->ptr[0] == ',')
		*rest = str_trim_left(str_skip(*rest, 1));
	if (!str_cut(*rest, '=', key, &after))
		return false;
	*key = str_trim(*key);
	if (str_has_prefix(after, STR("\"")))
		return str_cut(str_skip(after, 1), '"', value, rest);
	if (!str_cut(after, ',', value, rest))
		*rest = STR("");
	*value = str_trim(*value);
	return true;
}

static bool is_word(struct str s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.ptr, word, s.len);
}

int oci_challenge_parse(const char *header, struct arena *a, struct oci_challenge *ret,
			struct error *err)
{
	struct oci_challenge c = {0};
	struct str scheme, rest, key, value;
	str_cut(str_trim(str_of(header)), ' ', &scheme, &rest);
	c.is_basic = is_word(scheme, "basic");
	if (!c.is_basic && !is_word(scheme, "bearer"))
		return error_set(err, E_UNSUPPORTED,
				 "the registry asks for \"%.*s\"; Basic and "
				 "Bearer are known",
				 STR_ARG(str_sub(scheme, 0, 32)));
	while (!c.is_basic && next_param(&rest, &key, &value)) {
		const char **to = is_word(key, "realm")     ? &c.realm
				  : is_word(key, "service") ? &c.service
				  : is_word(key, "scope")   ? &c.scope
							    : NULL;
		if (to)
			*to = arena_text(a, value.ptr ? value.ptr : "", value.len);
	}
	if (!c.is_basic && !c.realm)
		return error_set(err, E_INVALID, "the registry's challenge has no realm");
	*ret = c;
	return 0;
}
