/*
 * redact: secret values of an object become HMACs before anything is digested or stored
 * (audit.md 8). Same place and value, same HMAC: changes show, values do not.
 */
#include "alm/audit/redact.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

/* A map key, or the name of an env entry, that holds one of these (case and '-' '_' aside). */
static const char *const words[] = {"password", "passwd",     "token",     "secret",
				    "apikey",   "privatekey", "credential"};

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

struct redactor {
	const unsigned char *key;
	const struct obj *o;
	struct strbuf pointer; /* RFC 6901, of the value at hand */
	bool is_schema;        /* a CRD: its keys name fields, its strings are types */
};

bool audit_is_secret_name(const char *name)
{
	char flat[128];
	size_t n = 0;
	for (const char *p = name; *p && n + 1 < sizeof(flat); p++)
		if (char_is_alnum(*p))
			flat[n++] = char_lower(*p);
	flat[n] = '\0';
	for (const char *p = flat; *p; p++)
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (*p == *words[i] && cstr_has_prefix(p, words[i]))
				return true;
	return false;
}

static void group_kind(const struct obj *o, struct strbuf *b)
{
	struct str version = str_of(meta_api_version(o)), group, rest;
	if (!str_cut(version, '/', &group, &rest))
		group = STR("");
	const char *kind = meta_kind(o), *ns = meta_namespace(o), *name = meta_name(o);
	strbuf_addf(b, "%.*s/%s", STR_ARG(group), kind ? kind : "");
	strbuf_addc(b, 0);
	strbuf_adds(b, ns ? ns : "");
	strbuf_addc(b, 0);
	strbuf_adds(b, name ? name : "");
}

static struct obj *mac(const struct redactor *r, struct str value)
{
	unsigned char out[SHA256_BYTES];
	char hex[SHA256_HEX];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)64 << 20);
	group_kind(r->o, &b);
	strbuf_addc(&b, 0);
	strbuf_addstr(&b, strbuf_str(&r->pointer));
	strbuf_addc(&b, 0);
	strbuf_addstr(&b, value);
	hmac_sha256(str_n((const char *)r->key, REDACT_KEY_BYTES), strbuf_str(&b), out);
	hex_encode(out, sizeof(out), hex);
	return obj_stringf("hmac:%s", hex);
}

static void push(struct redactor *r, const char *token)
{
	strbuf_addc(&r->pointer, '/');
	if (!strpbrk(token, "~/")) {
		strbuf_adds(&r->pointer, token);
		return;
	}
	for (; *token; token++) {
		if (*token == '~')
			strbuf_adds(&r->pointer, "~0");
		else if (*token == '/')
			strbuf_adds(&r->pointer, "~1");
		else
			strbuf_addc(&r->pointer, *token);
	}
}

/* scheme://user:password@host: the user info is removed. */
static struct obj *redact_url(struct redactor *r, struct str s)
{
	ptrdiff_t at = str_find(s, STR("://"));
	if (at <= 0 || s.len > 4096)
		return NULL;
	struct str rest = str_skip(s, (size_t)at + 3);
	size_t end = 0;
	while (end < rest.len && !strchr("/?# \t\n\"'", rest.ptr[end]))
		end++;
	ptrdiff_t user = str_rfind_char(str_sub(rest, 0, end), '@');
	if (user < 0)
		return NULL;
	CLEANUP(obj_unrefp) struct obj *digest = mac(r, str_sub(rest, 0, (size_t)user));
	return obj_stringf("%.*s://%s%.*s", (int)at, s.ptr, obj_as_string(digest),
			   STR_ARG(str_skip(rest, (size_t)user)));
}

static struct obj *same_items(const struct obj *list)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(list); i++)
		obj_append(out, obj_ref(obj_at(list, i)));
	return out;
}

/* Owned; O itself if nothing of it is hidden, as of most objects. */
static struct obj *redact(struct redactor *r, const struct obj *o, bool secret, unsigned depth);

/* NOLINTBEGIN(misc-no-recursion): at most OBJ_DEPTH_MAX deep */
static struct obj *redact_list(struct redactor *r, const struct obj *list, bool secret,
			       unsigned depth)
{
	struct obj *out = NULL;
	size_t len = r->pointer.len;
	for (size_t i = 0; i < obj_len(list); i++) {
		strbuf_addf(&r->pointer, "/%zu", i);
		struct obj *shown = redact(r, obj_at(list, i), secret, depth);
		strbuf_truncate(&r->pointer, len);
		if (shown != obj_at(list, i)) {
			if (!out)
				out = same_items(list);
			obj_set_at(out, i, obj_ref(shown));
		}
		obj_unref(shown);
	}
	return out ? out : obj_ref(list);
}

static struct obj *redact_map(struct redactor *r, const struct obj *map, bool secret,
			      unsigned depth)
{
	struct obj *out = NULL;
	size_t len = r->pointer.len;
	const char *name = obj_as_string(obj_get(map, "name"));
	OBJ_EACH (it, map) {
		bool hide = secret;
		if (!r->is_schema)
			hide = hide || audit_is_secret_name(it.key) ||
			       !strcmp(it.key, LAST_APPLIED) || !strcmp(it.key, "Authorization") ||
			       (name && !strcmp(it.key, "value") && audit_is_secret_name(name));
		push(r, it.key);
		struct obj *shown = redact(r, it.value, hide, depth);
		strbuf_truncate(&r->pointer, len);
		if (shown != it.value) {
			if (!out)
				out = obj_copy_shallow(map);
			obj_set(out, it.key, obj_ref(shown));
		}
		obj_unref(shown);
	}
	return out ? out : obj_ref(map);
}

static struct obj *redact(struct redactor *r, const struct obj *o, bool secret, unsigned depth)
{
	enum obj_type type = obj_type(o);
	if (depth > OBJ_DEPTH_MAX)
		return obj_string("too deep");
	if (type == OBJ_MAP)
		return redact_map(r, o, secret, depth + 1);
	if (type == OBJ_LIST)
		return redact_list(r, o, secret, depth + 1);
	if (type == OBJ_STRING) {
		struct obj *url = secret ? mac(r, obj_as_str(o)) : redact_url(r, obj_as_str(o));
		if (url)
			return url;
	}
	if (secret && (type == OBJ_INT || type == OBJ_DOUBLE))
		return mac(r, obj_number_text(o));
	return obj_ref(o);
}
/* NOLINTEND(misc-no-recursion) */

/* data is decoded first; stringData counts as data, so both spellings give the same HMAC. */
static void redact_secret(struct redactor *r, const struct obj *o, struct obj *out)
{
	static const char *const fields[] = {"data", "stringData"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *values = obj_get(o, fields[i]);
		if (obj_type(values) != OBJ_MAP)
			continue;
		struct obj *hidden = obj_map();
		OBJ_EACH (it, values) {
			CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT((size_t)8 << 20);
			struct str value = obj_as_str(it.value);
			if (i == 0 && base64_decode(value, &plain))
				value = strbuf_str(&plain);
			strbuf_clear(&r->pointer);
			push(r, "data");
			push(r, it.key);
			obj_set(hidden, it.key, mac(r, value));
		}
		obj_set(out, fields[i], hidden);
	}
}

/* Changes with every write and says nothing of it; managedFields is often most of an object. */
static bool is_bookkeeping(const char *key)
{
	return !strcmp(key, "managedFields") || !strcmp(key, "resourceVersion") ||
	       !strcmp(key, "generation");
}

/* A shallow copy, owned. */
static struct obj *without_bookkeeping(const struct obj *o)
{
	const struct obj *meta = obj_get(o, "metadata");
	if (obj_type(meta) != OBJ_MAP)
		return obj_ref(o);
	struct obj *out = obj_map(), *kept = obj_map();
	OBJ_EACH (it, meta)
		if (!is_bookkeeping(it.key))
			obj_set(kept, it.key, obj_ref(it.value));
	OBJ_EACH (it, o)
		obj_set(out, it.key, obj_ref(it.value));
	obj_set(out, "metadata", kept); /* keeps its place */
	return out;
}

struct obj *redact_object(const unsigned char key[REDACT_KEY_BYTES], const struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *bare = without_bookkeeping(o);
	struct redactor r = {.key = key, .o = o};
	const char *kind = meta_kind(o);
	strbuf_init(&r.pointer, STRBUF_SMALL);
	r.is_schema = kind && !strcmp(kind, "CustomResourceDefinition");
	struct obj *out = redact(&r, bare, false, 0);
	if (kind && !strcmp(kind, "Secret")) {
		struct obj *whole = STEAL(out);
		out = obj_copy_shallow(whole);
		obj_unref(whole);
		redact_secret(&r, o, out);
	}
	strbuf_release(&r.pointer);
	return out;
}

void redact_id(const unsigned char key[REDACT_KEY_BYTES], char out[REDACT_ID_MAX])
{
	unsigned char mac_bytes[SHA256_BYTES];
	char hex[9];
	hmac_sha256(str_n((const char *)key, REDACT_KEY_BYTES), STR("alm redact key"), mac_bytes);
	hex_encode(mac_bytes, 4, hex);
	(void)snprintf(out, REDACT_ID_MAX, "%d-%s", REDACT_VERSION, hex);
}

void redact_main_digest(const struct obj *redacted, char out[SHA256_HEX])
{
	CLEANUP(obj_unrefp) struct obj *main = obj_map();
	OBJ_EACH (it, redacted)
		if (strcmp(it.key, "status") != 0)
			obj_set_new(main, it.key, obj_ref(it.value));
	json_digest(main, out);
}

struct obj *audit_redact(struct audit *a, const struct obj *o)
{
	return redact_object(a->redact_key, o);
}

void audit_object_digest(struct audit *a, const struct obj *o, char out[SHA256_HEX])
{
	CLEANUP(obj_unrefp) struct obj *plain = audit_redact(a, o);
	json_digest(plain, out);
}

const unsigned char *audit_redact_key(const struct audit *a)
{
	return a->redact_key;
}
