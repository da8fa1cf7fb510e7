/* negotiate: which form a client may have and which form it sent. Pure. */
#include "alm/apiserver/wire/negotiate.h"

#include <string.h>

#include "alm/apiserver/store/store.h"
#include "alm/apiserver/wire/json_fault.h"
#include "alm/apiserver/wire/protobuf.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

#define ALTERNATIVES_MAX 32
#define SHOWN_BYTES_MAX  30

struct media {
	struct str type;
	struct str as, group, version;
};

static bool str_ieq(struct str s, const char *lower)
{
	if (s.len != strlen(lower))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (char_lower(s.ptr[i]) != lower[i])
			return false;
	return true;
}

static struct media media_parse(struct str text)
{
	struct media m = {0};
	struct str part, name, value;
	if (str_next(&text, ';', &part)) /* an absent header has no fields */
		m.type = str_trim(part);
	while (str_next(&text, ';', &part)) {
		if (!str_cut(part, '=', &name, &value))
			continue;
		name = str_trim(name);
		value = str_trim(value);
		if (str_is(name, "as"))
			m.as = value;
		else if (str_is(name, "g"))
			m.group = value;
		else if (str_is(name, "v"))
			m.version = value;
	}
	return m;
}

static bool served(const struct media *m, bool is_watch, struct accept *ret)
{
	struct accept a = {.as = AS_OBJECT, .include = ret->include};
	if (str_ieq(m->type, "application/yaml"))
		a.form = FORM_YAML;
	else if (!str_ieq(m->type, "application/json") && !str_is(m->type, "*/*") &&
		 !str_ieq(m->type, "application/*"))
		return false;
	if (a.form == FORM_YAML && is_watch)
		return false;
	if (m->as.len) {
		if (!str_is(m->group, "meta.k8s.io"))
			return false;
		if (str_is(m->as, "Table"))
			a.as = AS_TABLE;
		else if (str_is(m->as, "PartialObjectMetadata") ||
			 str_is(m->as, "PartialObjectMetadataList"))
			a.as = AS_METADATA;
		else
			return false;
		if (str_is(m->version, "v1"))
			a.as_version = "v1";
		else if (str_is(m->version, "v1beta1"))
			a.as_version = "v1beta1";
		else
			return false;
	}
	*ret = a;
	return true;
}

int negotiate_accept(const char *header, bool is_watch, bool has_type, struct accept *ret,
		     struct error *err)
{
	struct str rest = str_trim(str_of(header)), part;
	bool binary = false;
	if (!rest.len)
		rest = STR("*/*");
	for (int i = 0; i < ALTERNATIVES_MAX && str_next(&rest, ',', &part); i++) {
		struct media m = media_parse(part);
		if (served(&m, is_watch, ret))
			return 0;
		binary |= str_ieq(m.type, NEGOTIATE_PROTOBUF) && !m.as.len;
	}
	if (binary && has_type) {
		*ret = (struct accept){.form = FORM_PROTOBUF, .include = ret->include};
		return 0;
	}
	return error_set(err, E_NOTACCEPTABLE, "%s", NEGOTIATE_TYPES_ONLY);
}

static void add_duplicate(struct body *b, const char *text)
{
	if (b->n_duplicates < ARRAY_LEN(b->duplicates))
		b->duplicates[b->n_duplicates++] = text;
}

/* What apimachinery shows of a body that it cannot read. */
static const char *shown(struct str bytes, struct arena *a)
{
	struct str head = str_sub(bytes, 0, SHOWN_BYTES_MAX);
	const char *more = bytes.len > SHOWN_BYTES_MAX ? " ..." : "";
	if (bytes.ptr[0] == '{' && utf8_valid(head) && !memchr(head.ptr, 0, head.len))
		return arena_fmt(a, "%.*s%s", STR_ARG(head), more);
	char hex[2 * SHOWN_BYTES_MAX + 1];
	hex_encode(head.ptr, head.len, hex);
	return arena_fmt(a, "%s%s", hex, more);
}

static int unrecognized(const struct kind *kind, struct str bytes, const char *what,
			struct arena *a, struct error *err)
{
	if (!kind)
		return error_set(err, E_BADREQUEST, "%s", what);
	return error_set(err, E_BADREQUEST,
			 "the object provided is unrecognized (must be of type %s): %s (%s)",
			 kind->kind, what, shown(bytes, a));
}

int negotiate_size(struct str bytes, struct error *err)
{
	size_t n = bytes.len;
	for (size_t i = 0; i < bytes.len && bytes.len > STORE_VALUE_BYTES_MAX; i++)
		n -= memchr(" \t\r\n", bytes.ptr[i], 4) != NULL;
	if (n > STORE_VALUE_BYTES_MAX)
		return error_set(err, E_TOOLARGE, "Request entity too large: limit is %zu",
				 STORE_VALUE_BYTES_MAX);
	return 0;
}

/* A reader's limit in the same words. */
static int too_many(struct error *err)
{
	return error_set(err, E_TOOLARGE, "Request entity too large: limit is %zu values",
			 OBJ_BODY_NODES_MAX);
}

static int decode_json(const struct kind *kind, struct str bytes, struct arena *a, struct body *ret,
		       struct error *err)
{
	struct json_duplicates dup = {0};
	struct error inner = ERROR_INIT;
	struct obj *o;
	if (json_parse_dup(bytes, OBJ_BODY_NODES_MAX, &dup, &o, &inner) < 0) {
		if (inner.code == E_TOOLARGE)
			return too_many(err);
		const char *fault = json_fault(bytes, a);
		return unrecognized(kind, bytes,
				    arena_fmt(a, "couldn't get version/kind; json parse error: %s",
					      fault ? fault : inner.msg),
				    a, err);
	}
	for (size_t i = 0; i < dup.n; i++)
		add_duplicate(ret, arena_fmt(a, "duplicate field \"%s\"", dup.paths[i]));
	json_duplicates_release(&dup);
	ret->value = obj_keep(a, o);
	return 0;
}

const char *negotiate_twice(const struct yaml_document *d, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	if (!d->n_duplicates)
		return NULL;
	strbuf_adds(&b, "yaml: unmarshal errors:");
	for (size_t i = 0; i < d->n_duplicates; i++)
		strbuf_addf(&b, "\n  %s", d->duplicates[i]);
	return arena_strdup(a, b.buf);
}

static int decode_yaml(const struct kind *kind, struct str bytes, struct arena *a, struct body *ret,
		       struct error *err)
{
	struct yaml_documents docs = {0};
	struct error inner = ERROR_INIT;
	if (yaml_parse_max(bytes, OBJ_BODY_NODES_MAX, &docs, &inner) < 0)
		return inner.code == E_TOOLARGE ? too_many(err)
						: unrecognized(kind, bytes, inner.msg, a, err);
	if (docs.n == 0) {
		yaml_documents_release(&docs);
		return unrecognized(kind, bytes, "the body is empty", a, err);
	}
	ret->twice = negotiate_twice(&docs.items[0], a);
	ret->value = obj_keep(a, obj_ref(docs.items[0].value));
	yaml_documents_release(&docs);
	return 0;
}

int negotiate_body(const struct kind *kind, const char *content_type, struct str bytes,
		   struct arena *a, struct body *ret, struct error *err)
{
	struct media m = media_parse(str_of(content_type));
	*ret = (struct body){0};
	if (!bytes.len)
		return 0;
	if (negotiate_size(bytes, err) < 0)
		return -err->code;
	if (!m.type.len || str_ieq(m.type, "application/json"))
		return decode_json(kind, bytes, a, ret, err);
	if (str_ieq(m.type, "application/yaml"))
		return decode_yaml(kind, bytes, a, ret, err);
	if (str_ieq(m.type, NEGOTIATE_PROTOBUF) && !(kind && kind->flags & KIND_CUSTOM)) {
		struct obj *o;
		int r = protobuf_decode(bytes, &o, err);
		if (r == 0)
			ret->value = obj_keep(a, o);
		return r;
	}
	return error_set(err, E_MEDIATYPE,
			 "the body of the request was in an unknown format - accepted media types "
			 "include: " NEGOTIATE_TYPES);
}
