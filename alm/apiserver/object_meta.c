/* object_meta: see object_meta.h. */
#include "alm/apiserver/object_meta.h"

#include <string.h>

#include "alm/apiserver/wire/json_fault.h"
#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_decode.h"
#include "alm/obj/schema/schema_node.h"

static bool is_empty(const struct obj *v)
{
	struct str s = obj_as_str(v);
	int64_t n = 1;
	return obj_type(v) == OBJ_NULL || (obj_type(v) == OBJ_STRING && s.len == 0) ||
	       (obj_type(v) == OBJ_INT && obj_as_i64(v, &n) && n == 0);
}

void object_meta_tidy(struct obj *o)
{
	struct obj *meta = obj_get_mut(o, "metadata");
	static const char *const whole[] = {"annotations", "finalizers", "labels", NULL};
	OBJ_EACH (it, meta)
		if (is_empty(it.value) &&
		    (obj_type(it.value) != OBJ_NULL || !cstr_in(it.key, whole)) &&
		    (obj_type(it.value) != OBJ_INT ||
		     !cstr_eq(it.key, "deletionGracePeriodSeconds")))
			obj_del(meta, it.key);
}

struct decode {
	void (*unknown)(void *arg, const char *path);
	void *arg;
};

static void unknown_in_meta(void *arg, const char *path)
{
	const struct decode *d = arg;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "metadata.%s", path);
	if (d->unknown)
		d->unknown(d->arg, b.buf);
}

/* What a field alone is not read with goes. */
static void drop_malformed(const struct api_type *t, struct obj *meta)
{
	OBJ_EACH (it, meta) {
		struct error ignored = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *one = obj_map();
		obj_set(one, it.key, obj_copy(it.value));
		if (api_decode(t, API_JSON_SORTED, one, NULL, NULL, &ignored) < 0)
			obj_del(meta, it.key);
	}
}

int object_meta_coerce(struct obj *o, bool drop, void (*unknown)(void *arg, const char *path),
		       void *arg, struct error *err)
{
	const struct api_type *t = api_type_named("apis.meta.v1.ObjectMeta");
	struct obj *meta = obj_get_mut(o, "metadata");
	struct decode d = {unknown, arg};
	if (meta && obj_type(meta) != OBJ_MAP && obj_type(meta) != OBJ_NULL)
		return error_set(err, E_BADREQUEST,
				 "json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
				 json_fault_type(meta));
	if (obj_type(meta) != OBJ_MAP) {
		obj_set(o, "metadata", obj_map());
		return 0;
	}
	if (drop)
		drop_malformed(t, meta);
	return api_decode(t, API_JSON_SORTED, meta, unknown_in_meta, &d, err);
}

void object_meta_create(const struct kind *k, struct obj *o, const char *uid, int64_t now_ns)
{
	char now[CLOCK_TEXT_MAX];
	struct obj *meta = obj_get_mut(o, "metadata");
	clock_format(now_ns, CLOCK_SECONDS, now);
	obj_del(meta, "selfLink");
	obj_del(meta, "deletionTimestamp");
	obj_del(meta, "deletionGracePeriodSeconds");
	if ((k->flags & (KIND_GENERATION | KIND_CUSTOM)) || meta_generation(o) >= 0)
		obj_del(meta, "generation"); /* one below zero is told */
	obj_set_str(meta, "uid", uid);
	obj_set_str(meta, "creationTimestamp", now);
	if (k->flags & KIND_GENERATION || k->flags & KIND_CUSTOM)
		obj_set_int(meta, "generation", 1);
}

void object_meta_update(struct obj *o, const struct obj *before)
{
	static const char *const kept[] = {"name", "namespace", "uid", "generation",
					   "creationTimestamp"};
	static const char *const unless_stated[] = {"deletionTimestamp",
						    "deletionGracePeriodSeconds"};
	struct obj *meta = obj_get_mut(o, "metadata");
	const struct obj *old = obj_get(before, "metadata");
	obj_del(meta, "selfLink");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const struct obj *v = obj_get(old, kept[i]);
		if (v)
			obj_set(meta, kept[i], obj_ref(v));
		else
			obj_del(meta, kept[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(unless_stated); i++) {
		const struct obj *v = obj_get(old, unless_stated[i]);
		if (v && !obj_has(meta, unless_stated[i]))
			obj_set(meta, unless_stated[i], obj_ref(v));
	}
}

bool object_meta_spec_changed(const struct kind *k, const struct obj *before, const struct obj *o)
{
	size_t n_before = 0, n_after = 0;
	if (!(k->flags & (KIND_GENERATION | KIND_CUSTOM)))
		return false;
	OBJ_EACH (it, before) {
		if (cstr_eq(it.key, "metadata") || cstr_eq(it.key, "apiVersion") ||
		    (cstr_eq(it.key, "status") && (k->flags & KIND_STATUS)))
			continue;
		n_before++;
		if (!obj_has(o, it.key) || !obj_equal(it.value, obj_get(o, it.key)))
			return true;
	}
	OBJ_EACH (it, o)
		n_after += !(cstr_eq(it.key, "metadata") || cstr_eq(it.key, "apiVersion") ||
			     (cstr_eq(it.key, "status") && (k->flags & KIND_STATUS)));
	return n_before != n_after;
}

void object_meta_uid(struct loop *l, char out[STORE_UID_TEXT])
{
	unsigned char b[16];
	char hex[33];
	loop_random(l, b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 9562: version 4 */
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	hex_encode(b, sizeof(b), hex);
	size_t n = 0;
	for (size_t i = 0; i < 32; i++) {
		if (i == 8 || i == 12 || i == 16 || i == 20)
			out[n++] = '-';
		out[n++] = hex[i];
	}
	out[n] = '\0';
}

int object_meta_read_generation(const struct obj *o, struct error *err)
{
	const char *text = meta_annotation(o, "deprecated.daemonset.template.generation");
	if (!text)
		return 0;
	int64_t n;
	struct str digits = str_of(text);
	bool is_signed = digits.len && memchr("+-", *digits.ptr, 2);
	digits = str_skip(digits, is_signed ? 1 : 0);
	bool is_number = digits.len > 0;
	for (size_t i = 0; i < digits.len; i++)
		is_number = is_number && char_is_digit(digits.ptr[i]);
	if (is_number && str_parse_i64(*text == '+' ? digits : str_of(text), &n))
		return 0;
	CLEANUP(strbuf_release) struct strbuf quoted = STRBUF_INIT(STRBUF_SMALL);
	go_quote(str_of(text), &quoted);
	return error_set(err, E_BADREQUEST, "strconv.ParseInt: parsing %s: %s", quoted.buf,
			 is_number ? "value out of range" : "invalid syntax");
}
