#include "installers/format/yaml_tag.h"

#include <string.h>

#include "alm/base/hash.h"
#include "installers/format/yaml_node.h"
#include "installers/format/yaml_plain.h"
#include "installers/value/msg.h"

static const struct {
	const char *name;
	enum yaml_plain_type type;
} tags[] = {{"str", YAML_PLAIN_STR},      {"null", YAML_PLAIN_NULL},
	    {"bool", YAML_PLAIN_BOOL},    {"int", YAML_PLAIN_INT},
	    {"float", YAML_PLAIN_FLOAT},  {"timestamp", YAML_PLAIN_TIME},
	    {"binary", YAML_PLAIN_BINARY}};

static const char *tag_name(enum yaml_plain_type type)
{
	for (size_t i = 0; i < ARRAY_LEN(tags); i++)
		if (tags[i].type == type)
			return tags[i].name;
	return "str";
}

static bool tag_type(const char *tag, enum yaml_plain_type *ret)
{
	if (!cstr_has_prefix(tag, YAML_TAG_PREFIX))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
		if (!strcmp(tag + strlen(YAML_TAG_PREFIX), tags[i].name)) {
			*ret = tags[i].type;
			return true;
		}
	}
	return false;
}

/* On the way through JSON each byte that is no UTF-8 becomes U+FFFD. */
static struct str repaired(struct arena *a, struct str s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(3 * s.len + 1);
	for (size_t i = 0, width; i < s.len; i += width ? width : 1) {
		uint32_t rune;
		width = utf8_decode(str_skip(s, i), &rune);
		strbuf_addrune(&b, width ? rune : 0xfffd);
	}
	return str_n(arena_text(a, b.buf, b.len), b.len);
}

static int decode_binary(struct arena *a, struct yaml_plain *v, struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(v->s.len + 1);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(v->s.len + 4);
	for (size_t i = 0; i < v->s.len; i++)
		if (v->s.ptr[i] != '\n' && v->s.ptr[i] != '\r')
			strbuf_addc(&plain, v->s.ptr[i]);
	if (!base64_decode(strbuf_str(&plain), &b))
		return msg_fail(msg, "!!binary value contains invalid base64 data");
	v->s = repaired(a, strbuf_str(&b));
	return 0;
}

static int resolve_tagged(struct arena *a, const struct yaml_node *n, struct yaml_plain *ret,
			  struct strbuf *msg)
{
	enum yaml_plain_type want;
	if (!tag_type(n->tag, &want) || want == YAML_PLAIN_STR)
		return 0; /* a string */
	if (want == YAML_PLAIN_BINARY)
		return decode_binary(a, ret, msg);
	if (want == YAML_PLAIN_TIME && yaml_plain_is_date(n->text))
		return 0;
	yaml_plain_resolve(n->text, ret);
	if (ret->type == want)
		return 0;
	if (want == YAML_PLAIN_FLOAT && ret->type == YAML_PLAIN_INT && !ret->is_unsigned) {
		ret->type = YAML_PLAIN_FLOAT;
		ret->f = (double)ret->i;
		return 0;
	}
	strbuf_addf(msg, "cannot decode !!%s `%.*s` as a !!%s", tag_name(ret->type),
		    STR_ARG(n->text), tag_name(want));
	return -E_INVALID;
}

int yaml_tag_resolve(struct arena *a, const struct yaml_node *n, struct yaml_plain *ret,
		     struct strbuf *msg)
{
	*ret = (struct yaml_plain){.type = YAML_PLAIN_STR, .s = n->text};
	if (n->tag)
		return resolve_tagged(a, n, ret, msg);
	if (n->implicit)
		yaml_plain_resolve(n->text, ret);
	return 0;
}

double yaml_plain_double(const struct yaml_plain *v)
{
	if (v->type == YAML_PLAIN_FLOAT)
		return v->f;
	return v->is_unsigned ? (double)v->u : (double)v->i;
}
