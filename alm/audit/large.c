#include "alm/audit/large.h"

#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/log.h"
#include "alm/audit/record.h"

#define MEMBER_BYTES_MAX ((size_t)64 << 20)
#define MEMBER_WORTH     128  /* a reference is not shorter */
#define SLACK_BYTES      4096 /* for references, "moved", "clock" and "blobs" */
#define MOVED_MAX        16

/* --- texts --- */

static int put_part(struct audit *a, struct str part, struct obj *parts, struct error *err)
{
	char digest[SHA256_HEX];
	int r = audit_blob_put(a, part, digest, err);
	if (r == 0)
		obj_append(parts, obj_stringf("sha256:%s", digest));
	return r;
}

int audit_text_put(struct audit *a, struct str text, struct obj **ret_ref, struct error *err)
{
	char digest[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *parts = obj_list();
	size_t room = AUDIT_BLOBS_PER_ROW_MAX - a->n_blobs;
	size_t wanted = (text.len + AUDIT_BLOB_BYTES_MAX - 1) / AUDIT_BLOB_BYTES_MAX;
	size_t n = wanted < AUDIT_TEXT_PARTS_MAX ? wanted : AUDIT_TEXT_PARTS_MAX;
	n = n < room ? n : room;
	for (size_t i = 0; i < n; i++) {
		struct str part =
			str_sub(str_skip(text, i * AUDIT_BLOB_BYTES_MAX), 0, AUDIT_BLOB_BYTES_MAX);
		if (put_part(a, part, parts, err) < 0)
			return -err->code;
	}
	if (wanted == 1 && n == 1) {
		*ret_ref = obj_ref(obj_at(parts, 0));
		return 0;
	}
	struct obj *o = obj_map();
	sha256_hex(text, digest);
	obj_set_int(o, "bytes", (int64_t)text.len);
	obj_set(o, "digest", obj_stringf("sha256:%s", digest));
	obj_set(o, "parts", STEAL(parts));
	if (n < wanted)
		obj_set_bool(o, "cut", true);
	*ret_ref = o;
	return 0;
}

static int add_blob(struct db *d, const struct obj *ref, struct strbuf *ret, struct error *err)
{
	const char *text = obj_as_string(ref);
	if (!text || !cstr_has_prefix(text, "sha256:"))
		return error_set(err, E_CORRUPT, "an entry names a blob without its digest");
	return log_blob(d, text + strlen("sha256:"), ret, err);
}

int large_text(struct db *d, const struct obj *ref, struct strbuf *ret, struct error *err)
{
	const struct obj *parts = obj_get(ref, "parts");
	if (obj_type(ref) != OBJ_MAP)
		return add_blob(d, ref, ret, err);
	if (obj_flag(ref, "cut", false))
		return error_set(err, E_NOTFOUND, "only the first %zu MiB of %lld bytes were kept",
				 obj_len(parts), (long long)obj_i64(ref, "bytes", 0));
	for (size_t i = 0; i < obj_len(parts); i++)
		if (add_blob(d, obj_at(parts, i), ret, err) < 0)
			return -err->code;
	return strbuf_check(ret, "a text of the log", err);
}

/* --- bodies --- */

static void member_text(const struct obj *value, struct strbuf *b)
{
	strbuf_clear(b);
	if (obj_type(value) == OBJ_STRING)
		record_clean(obj_as_str(value), b);
	else
		record_value(value, b);
}

/* The member that takes most room of those that are left; NULL: none is worth it. */
static const char *largest(const struct obj *body, const struct obj *moved, size_t *ret_bytes,
			   size_t *ret_total)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(MEMBER_BYTES_MAX);
	const char *key = NULL;
	*ret_total = *ret_bytes = 0;
	OBJ_EACH (it, body) {
		strbuf_clear(&b);
		record_value(it.value, &b);
		size_t n = b.over ? MEMBER_BYTES_MAX : b.len;
		*ret_total += n + strlen(it.key) + 4;
		if (n <= MEMBER_WORTH || n <= *ret_bytes || obj_has(moved, it.key))
			continue;
		*ret_bytes = n;
		key = it.key;
	}
	return key;
}

static int move(struct audit *a, struct obj *body, const char *key, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(MEMBER_BYTES_MAX);
	struct obj *ref = NULL;
	member_text(obj_get(body, key), &b);
	if (audit_text_put(a, strbuf_str(&b), &ref, err) < 0)
		return -err->code;
	if (b.over && obj_type(ref) == OBJ_MAP)
		obj_set_bool(ref, "cut", true);
	obj_set(body, key, ref);
	return 0;
}

int large_body(struct audit *a, const struct obj *body, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *small = obj_map();
	CLEANUP(obj_unrefp) struct obj *moved = obj_map();
	struct obj *names = obj_list();
	size_t bytes, total;
	OBJ_EACH (it, body)
		obj_set(small, it.key, obj_ref(it.value));
	for (;;) {
		const char *found = largest(small, moved, &bytes, &total);
		if (total + SLACK_BYTES <= AUDIT_BODY_BYTES_MAX)
			break;
		if (!found || obj_len(names) == MOVED_MAX) { /* many small ones: all in one */
			struct obj *all = obj_map();
			obj_set(all, "body", STEAL(small));
			small = all;
			obj_unref(names);
			names = obj_list();
			found = "body";
		}
		CLEANUP(xfreep) char *key = xstrdup(found);
		if (move(a, small, key, err) < 0) {
			obj_unref(names);
			return -err->code;
		}
		obj_set_bool(moved, key, true);
		obj_append(names, obj_string(key));
	}
	obj_set(small, "moved", names);
	*ret = STEAL(small);
	return 0;
}
