#include "alm/render/render_host.h"

#include <string.h>

#include "alm/obj/json.h"
#include "installers/format/yaml_go.h"

static const char *const need_keys[] = {"apiVersion", "kind", "namespace", "name", "zone"};

/* Does the answer belong to the need? */
static bool render_need_equal(const struct obj *need, const struct obj *answer)
{
	for (size_t i = 0; i < ARRAY_LEN(need_keys); i++)
		if (!cstr_eq(obj_str(need, need_keys[i]), obj_str(answer, need_keys[i])))
			return false;
	return true;
}

/* The answer, or NULL and the need is noted once. Consumes. */
static const struct obj *answer_to(struct render_host *h, struct obj *need)
{
	const struct obj *lists[] = {h->answers, h->needs};
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (size_t i = 0; i < obj_len(lists[l]); i++)
			if (render_need_equal(need, obj_at(lists[l], i))) {
				obj_unref(need);
				return l ? NULL : obj_at(lists[l], i);
			}
	h->over = h->over || obj_len(h->answers) + obj_len(h->needs) >= RENDER_NEEDS_MAX;
	if (h->over)
		obj_unref(need);
	else
		obj_append(h->needs, need);
	return NULL;
}

static int lookup(void *ctx, struct arena *a, struct str api_version, struct str kind,
		  struct str ns, struct str name, struct value *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(RENDER_ANSWERS_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct obj *need = obj_map();
	obj_set(need, "apiVersion", obj_stringn(api_version));
	obj_set(need, "kind", obj_stringn(kind));
	obj_set(need, "namespace", obj_stringn(ns));
	obj_set(need, "name", obj_stringn(name));
	const struct obj *answer = answer_to(ctx, need);
	const char *bad = obj_str(answer, "error");
	*ret = VALUE_NONE;
	if (bad)
		return error_set(err, E_INVALID, "%s", bad);
	if (obj_type(obj_get(answer, "value")) != OBJ_MAP)
		return 0;
	json_print(obj_get(answer, "value"), &text);
	if (yaml_go_parse_ints(a, strbuf_str(&text), ret, &msg) < 0)
		return error_set(err, E_INVALID, "the answer cannot be read: %s", msg.buf);
	return 0;
}

static int zone_bytes(void *ctx, struct arena *a, struct str name, struct str *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct obj *need = obj_map();
	obj_set(need, "zone", obj_stringn(name));
	const char *text = obj_str(answer_to(ctx, need), "value");
	if (!text || !base64_decode(str_of(text), &b))
		return -E_NOTFOUND;
	*ret = str_n(arena_memdup(a, b.buf, b.len), b.len);
	return 0;
}

static int entropy(void *ctx, void *out, size_t len)
{
	struct render_host *h = ctx;
	hash_stream_read(&h->random, out, len);
	return 0;
}

int render_host_init(struct render_host *h, struct arena *a, const struct obj *request,
		     struct error *err)
{
	const char *zone = obj_str(request, "zone");
	*h = (struct render_host){.answers = obj_get(request, "answers"),
				  .needs = obj_keep(a, obj_list())};
	h->host = (struct tmpl_host){.now_ns = obj_i64(request, "now", 0),
				     .zone = zone ? zone : "UTC",
				     .zone_bytes = zone_bytes,
				     .entropy = entropy,
				     .lookup = lookup,
				     .ctx = h};
	if (!hex_decode(str_of(obj_str(request, "seed")), h->random.seed, sizeof(h->random.seed)))
		return error_set(err, E_INTERNAL, "the request has no seed");
	return 0;
}
