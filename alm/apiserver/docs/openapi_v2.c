/* openapi_v2: the constant protobuf document (gnostic's OpenAPIv2.proto; numbers in kube-api.md
 * 4.2). Messages are written inside out, so each length is known. */
#include "alm/apiserver/docs/openapi.h"

static void add_varint(struct strbuf *b, size_t v)
{
	while (v >= 0x80) {
		strbuf_addc(b, (char)(v | 0x80));
		v >>= 7;
	}
	strbuf_addc(b, (char)v);
}

static void add_bytes(struct strbuf *b, unsigned number, struct str s)
{
	add_varint(b, (size_t)number << 3 | 2);
	add_varint(b, s.len);
	strbuf_addstr(b, s);
}

/* Wraps what stands in b from start on into a message field. */
static void wrap(struct strbuf *b, size_t start, unsigned number)
{
	struct strbuf head = STRBUF_INIT(64);
	add_varint(&head, (size_t)number << 3 | 2);
	add_varint(&head, b->len - start);
	strbuf_insert(b, start, strbuf_str(&head));
	strbuf_release(&head);
}

/* Operation {parameters=8 {parameter=1 {nonBody=2 {query=3 {in=2, name=4}}}}, extensions=13
 * {name=1, value=2 {yaml=2}}} */
static void add_operation(struct strbuf *b, const struct kind *k)
{
	size_t start = b->len;
	add_bytes(b, 2, STR("query"));
	add_bytes(b, 4, STR("dryRun"));
	wrap(b, start, 3);
	wrap(b, start, 2);
	wrap(b, start, 1);
	wrap(b, start, 8);
	start = b->len;
	CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&yaml, "{group: \"%s\", version: %s, kind: %s}", k->group, k->version, k->kind);
	add_bytes(b, 2, strbuf_str(&yaml));
	wrap(b, start, 2);
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(64);
	add_bytes(&name, 1, STR("x-kubernetes-group-version-kind"));
	strbuf_insert(b, start, strbuf_str(&name));
	wrap(b, start, 13);
}

static void add_path(struct strbuf *b, const struct kind *k)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	size_t start = b->len;
	add_operation(b, k);
	wrap(b, start, 8); /* PathItem.patch */
	wrap(b, start, 2); /* NamedPathItem.value */
	strbuf_addf(&name, "/%s%s/%s/%s/{name}", k->group[0] ? "apis/" : "api", k->group,
		    k->version, k->plural);
	add_bytes(&path, 1, strbuf_str(&name));
	strbuf_insert(b, start, strbuf_str(&path));
	wrap(b, start, 2); /* Paths.path */
}

void openapi_v2_protobuf(struct kinds *k, struct strbuf *b)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	add_bytes(b, 1, STR("2.0"));
	size_t start = b->len;
	add_bytes(b, 1, STR("ALM"));
	add_bytes(b, 2, STR("v0.1.0"));
	wrap(b, start, 2);
	start = b->len;
	for (size_t i = 0; i < n; i++)
		if (!(all[i]->flags & KIND_CUSTOM) && all[i]->verbs & VERB_PATCH)
			add_path(b, all[i]);
	wrap(b, start, 8);
}
