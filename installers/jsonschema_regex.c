/* Patterns of schemas: Go's grammar through regex_syntax, matched by PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "installers/jsonschema_tree.h"
#include "installers/tmpl/regex_syntax.h"

#define MATCH_LIMIT    1000000
#define DEPTH_LIMIT    10000
#define HEAP_LIMIT_KIB 20480
#define OPTIONS        (PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C)

static pcre2_code *compile(struct str s)
{
	int error;
	PCRE2_SIZE at;
	return pcre2_compile((PCRE2_SPTR)s.ptr, s.len, OPTIONS, &error, &at, NULL);
}

static bool has_class(struct str name)
{
	char text[80];
	if (name.len > 64 || !name.len || !char_is_upper(name.ptr[0]))
		return false;
	memcpy(text, "\\p{", 3);
	memcpy(text + 3, name.ptr, name.len);
	text[3 + name.len] = '}';
	pcre2_code *code = compile(str_n(text, name.len + 4));
	pcre2_code_free(code);
	return code != NULL;
}

static int match(const pcre2_code *code, struct str text)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(context, MATCH_LIMIT);
	pcre2_set_depth_limit(context, DEPTH_LIMIT);
	pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
	int rc = pcre2_match(code, (PCRE2_SPTR)(text.ptr ? text.ptr : ""), text.len, 0, 0, data,
			     context);
	pcre2_match_context_free(context);
	pcre2_match_data_free(data);
	return rc;
}

/* 1, 0, or -1 with the reason. Running into a limit counts as no match, so the value is refused. */
int schema_match(struct arena *a, struct str pattern, struct str text, const char **ret_fault)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct regex_names names;
	if (regex_translate(a, pattern, has_class, &out, &names, &msg) < 0) {
		*ret_fault = arena_strdup(a, msg.buf);
		return -1;
	}
	pcre2_code *code = compile(strbuf_str(&out));
	if (!code) {
		*ret_fault = "error parsing regexp: too complex";
		return -1;
	}
	int rc = utf8_valid(text) ? match(code, text) : PCRE2_ERROR_NOMATCH;
	pcre2_code_free(code);
	return rc >= 0;
}
