#include "alm/controllers/unit/unit_store.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/unit/plan_cache.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "installers/chart/gzip.h"

#define RATIO_MAX ((size_t)1100) /* more than deflate can reach: the size is the bound */

const char *store_name(const char *prefix, size_t i, struct arena *a)
{
	return arena_fmt(a, "%s.%zu", prefix, i);
}

/* --- there --- */

struct obj *store_split(const struct obj *doc, const char *ns, const char *prefix,
			const char *inputs)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(xfreep) char *text = json_text(doc);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(2 * STORE_DOCUMENT_MAX);
	struct error err;
	char digest[SHA256_HEX];
	struct str rest = str_of(text);
	if (rest.len > STORE_DOCUMENT_MAX || gzip_pack_fast(rest, &packed, &err) < 0)
		return NULL;
	rest = strbuf_str(&packed);
	sha256_hex(rest, digest);
	size_t n = (rest.len + STORE_CHUNK_BYTES - 1) / STORE_CHUNK_BYTES;
	if (n > STORE_CHUNKS_MAX)
		return NULL;
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++, rest = str_skip(rest, STORE_CHUNK_BYTES)) {
		struct str chunk = str_sub(rest, 0, STORE_CHUNK_BYTES);
		CLEANUP(strbuf_release) struct strbuf b64 = STRBUF_INIT(2 * STORE_CHUNK_BYTES);
		base64_encode(chunk, &b64);
		struct obj *o = meta_skeleton("v1", "Secret", ns, store_name(prefix, i, a));
		meta_set_annotation(o, ANNOTATION_INPUTS, inputs);
		meta_set_annotation(o, ANNOTATION_CHUNKS, arena_fmt(a, "%zu", n));
		meta_set_annotation(o, ANNOTATION_DOCUMENT, digest);
		obj_set_str(o, "type", STORE_TYPE);
		obj_set(o, "data", obj_map());
		obj_set_path(o, "data.plan", obj_stringn(strbuf_str(&b64)));
		obj_append(list, o);
	}
	return list;
}

/* --- and back --- */

bool store_is_chunk(const struct obj *o, const char *inputs)
{
	return obj_type(o) == OBJ_MAP && !meta_is_deleting(o) &&
	       (!inputs || cstr_eq(meta_annotation(o, ANNOTATION_INPUTS), inputs));
}

const char *store_missing(const struct store_source *s, const char *prefix, const char *inputs)
{
	uint64_t n = 1;
	for (size_t i = 0; i < n && i < STORE_CHUNKS_MAX; i++) {
		const char *name = store_name(prefix, i, s->a);
		CLEANUP(obj_unrefp) struct obj *o = s->get(s, name);
		if (!store_is_chunk(o, inputs))
			return name;
		(void)str_parse_u64(str_of(meta_annotation(o, ANNOTATION_CHUNKS)), &n);
	}
	return NULL;
}

/* Packed, or plain as earlier versions stored it; owned. */
static struct obj *document_of(struct str stored, size_t *ret_bytes)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STORE_DOCUMENT_MAX);
	struct error err;
	struct obj *doc = NULL;
	if (!str_has_prefix(stored, STR("{"))) {
		if (gzip_unpack(stored, RATIO_MAX, &text, &err) < 0)
			return NULL;
		stored = strbuf_str(&text);
	}
	*ret_bytes = stored.len;
	return json_parse(stored, &doc, &err) < 0 ? NULL : doc;
}

/* All chunks are there, and of one document. */
static bool is_whole(const struct store_source *s, const char *prefix, const char *inputs,
		     uint64_t *ret_n, const char **ret_want)
{
	*ret_n = 1;
	for (size_t i = 0; i < *ret_n && i < STORE_CHUNKS_MAX; i++) {
		CLEANUP(obj_unrefp) struct obj *o = s->get(s, store_name(prefix, i, s->a));
		const char *document = meta_annotation(o, ANNOTATION_DOCUMENT);
		if (!store_is_chunk(o, inputs) ||
		    !str_parse_u64(str_of(meta_annotation(o, ANNOTATION_CHUNKS)), ret_n) ||
		    (i && !cstr_eq(document, *ret_want) && (document || *ret_want)))
			return false; /* chunks of two renders do not mix */
		*ret_want = document ? arena_strdup(s->a, document) : NULL;
	}
	return true;
}

const struct obj *store_join(const struct store_source *s, const char *prefix, const char *inputs)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STORE_DOCUMENT_MAX);
	uint64_t n;
	size_t bytes = 0;
	char digest[SHA256_HEX];
	const char *want = NULL; /* NULL: stored by an earlier version */
	if (!is_whole(s, prefix, inputs, &n, &want))
		return NULL;
	struct obj *doc = s->cache && want ? plan_cache_get(s->cache, want) : NULL;
	if (doc)
		return obj_keep(s->a, doc);
	for (size_t i = 0; i < n && i < STORE_CHUNKS_MAX; i++) {
		CLEANUP(obj_unrefp) struct obj *o = s->get(s, store_name(prefix, i, s->a));
		if (!base64_decode(str_of(obj_str(o, "data.plan")), &text))
			return NULL;
	}
	sha256_hex(strbuf_str(&text), digest);
	if (want && strcmp(want, digest) != 0)
		return NULL;
	doc = document_of(strbuf_str(&text), &bytes);
	if (s->cache && want && doc)
		plan_cache_put(s->cache, want, doc, bytes);
	return obj_keep(s->a, doc);
}
