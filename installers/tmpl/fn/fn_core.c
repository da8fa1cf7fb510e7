/*
 * fn_core: the functions of the language itself but for comparisons, and those of Helm that run templates: include,
 * tpl, required, fail, lookup.
 */
#include <string.h>

#include "installers/tmpl/run.h"
#include "installers/value/print.h"
#include "installers/value/unicode.h"

/* ---- index, len, not, call ---- */
static int index_number(struct tmpl_run *run, struct value index, size_t len, size_t *ret)
{
	if (index.type == VALUE_NIL)
		return tmpl_fail(run, "cannot index slice/array with nil");
	if (!value_is_int(index))
		return tmpl_fail(run, "cannot index slice/array with type %s",
				 value_type_name(index, run->set->profile));
	if (index.i < 0 || index.u > len)
		return tmpl_fail(run, "index out of range: %lld", (long long)index.i);
	*ret = (size_t)index.u;
	return 0;
}

static int index_list(struct tmpl_run *run, struct value item, struct value index,
		      struct value *ret)
{
	size_t i = 0;
	int r = index_number(run, index, item.len, &i);
	if (r < 0)
		return r;
	if (i >= item.len)
		return tmpl_fail(run, "reflect: %s index out of range",
				 item.type == VALUE_STRING ? "string" : "slice");
	if (item.type == VALUE_STRING || item.type == VALUE_BYTES) {
		*ret = (struct value){.type = VALUE_UINT8, .u = (unsigned char)item.s[i]};
		return 0;
	}
	*ret = item.items[i];
	ret->iface = item.type == VALUE_LIST;
	return 0;
}

static int index_map(struct tmpl_run *run, struct value item, struct value index, struct value *ret)
{
	if (index.type == VALUE_NIL)
		return tmpl_fail(run, "value is nil; should be of type string");
	if (index.type != VALUE_STRING)
		return tmpl_fail(run, "value has type %s; should be string",
				 value_type_name(index, run->set->profile));
	const struct value *v = vmap_get(item.map, value_text(index));
	if (v)
		*ret = *v;
	else if (item.type == VALUE_STRMAP)
		*ret = value_str(STR(""));
	else if (item.type == VALUE_FILES)
		*ret = value_bytes(STR_NONE);
	else
		*ret = VALUE_NONE;
	ret->iface = value_is_anymap(item);
	return 0;
}

static int fn_index(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	struct value item = args[0];
	if (item.type == VALUE_NIL)
		return tmpl_fail(run, "index of untyped nil");
	for (size_t i = 1; i < n; i++) {
		int r;
		if (item.type == VALUE_NIL)
			return tmpl_fail(run, "index of nil pointer");
		if (item.type == VALUE_STRING || item.type == VALUE_BYTES || value_is_list(item))
			r = index_list(run, item, args[i], &item);
		else if (value_is_map(item))
			r = index_map(run, item, args[i], &item);
		else
			r = tmpl_fail(run, "can't index item of type %s",
				      value_type_name(item, run->set->profile));
		if (r < 0)
			return r;
	}
	*ret = item;
	return 0;
}

static int fn_len(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct value v = args[0];
	if (v.type == VALUE_NIL && v.iface)
		return tmpl_fail(run, "len of nil pointer");
	if (v.type == VALUE_NIL)
		return tmpl_fail(run, "reflect: call of reflect.Value.Type on zero Value");
	if (value_is_map(v))
		*ret = value_int((int64_t)vmap_count(v.map));
	else if (value_is_list(v) || v.type == VALUE_STRING || v.type == VALUE_BYTES)
		*ret = value_int(v.len);
	else
		return tmpl_fail(run, "len of type %s", value_type_name(v, run->set->profile));
	return 0;
}

static int fn_not(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_bool(!value_truth(args[0]));
	return 0;
}

/* No value of a chart is a function, so this always fails. */
static int fn_call(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	(void)ret;
	if (args[0].type == VALUE_NIL)
		return tmpl_fail(run, "call of nil");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	strbuf_adds(&b, "non-function ");
	const char *type = value_type_name(args[0], run->set->profile);
	if (run->call_node)
		node_print(&b, run->call_node);
	else if (args[0].type == VALUE_STRING)
		strbuf_addstr(&b, value_text(args[0]));
	else
		strbuf_addf(&b, "<%s Value>", type);
	strbuf_addf(&b, " of type %s", type);
	return tmpl_fail_str(run, strbuf_str(&b));
}

/* ---- printing ---- */
static int fn_print(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	print_sprint(&b, args, n, run->set->profile);
	return tmpl_return(run, &b, ret);
}

static int fn_println(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	print_sprintln(&b, args, n, run->set->profile);
	return tmpl_return(run, &b, ret);
}

static int fn_printf(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	print_sprintf(&b, value_text(args[0]), args + 1, n - 1, run->set->profile);
	return tmpl_return(run, &b, ret);
}

/* ---- escaping ---- */
/* The text of the operands as html, js and urlquery see it: nil is <no value>. */
static void escaper_text(struct tmpl_run *run, const struct value *args, size_t n, struct strbuf *b)
{
	struct value *list = ARENA_ARRAY(run->arena, struct value, n + 1);
	for (size_t i = 0; i < n; i++) {
		list[i] = args[i].type == VALUE_NIL ? value_cstr("<no value>") : args[i];
		if (list[i].type == VALUE_PTR && list[i].st)
			list[i].type = VALUE_STRUCT;
	}
	print_sprint(b, list, n, run->set->profile);
}

static int fn_html(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(run->limits->string_bytes);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	escaper_text(run, args, n, &in);
	for (size_t i = 0; i < in.len; i++) {
		char c = in.buf[i];
		if (c == '\0')
			strbuf_adds(&b, "\xef\xbf\xbd");
		else if (c == '"')
			strbuf_adds(&b, "&#34;");
		else if (c == '\'')
			strbuf_adds(&b, "&#39;");
		else if (c == '&')
			strbuf_adds(&b, "&amp;");
		else if (c == '<')
			strbuf_adds(&b, "&lt;");
		else if (c == '>')
			strbuf_adds(&b, "&gt;");
		else
			strbuf_addc(&b, c);
	}
	b.over = b.over || in.over;
	return tmpl_return(run, &b, ret);
}

static void add_js(struct strbuf *b, struct str s, uint32_t r, size_t width)
{
	if (r == '\\' || r == '\'' || r == '"') {
		strbuf_addc(b, '\\');
		strbuf_addc(b, (char)r);
	} else if (r >= 0x80 ? rune_is_print(r) : r >= ' ' && !strchr("<>&=", (int)r)) {
		strbuf_add(b, s.ptr, width);
	} else {
		strbuf_addf(b, "\\u%04X", r);
	}
}

static int fn_js(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(run->limits->string_bytes);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	escaper_text(run, args, n, &in);
	struct str s = strbuf_str(&in);
	uint32_t r;
	for (size_t w; (w = rune_next(s, &r)) > 0; s = str_skip(s, w))
		add_js(&b, s, r, w);
	b.over = b.over || in.over;
	return tmpl_return(run, &b, ret);
}

static int fn_urlquery(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(run->limits->string_bytes);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	escaper_text(run, args, n, &in);
	for (size_t i = 0; i < in.len; i++) {
		char c = in.buf[i];
		if (char_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
			strbuf_addc(&b, c);
		else if (c == ' ')
			strbuf_addc(&b, '+');
		else
			strbuf_addf(&b, "%%%02X", (unsigned char)c);
	}
	b.over = b.over || in.over;
	return tmpl_return(run, &b, ret);
}

/* ---- Helm: include, tpl ---- */
static int fail_name(struct tmpl_run *run, const char *before, struct str name, const char *after)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	strbuf_adds(&b, before);
	strbuf_addstr(&b, name);
	strbuf_adds(&b, after);
	return tmpl_fail_str(run, strbuf_str(&b));
}

static int fn_include(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct str name = value_text(args[0]);
	size_t *count = table_get(&run->includes, name);
	if (!count) {
		count = ARENA_NEW(run->arena, size_t);
		table_set(&run->includes, name, count);
	}
	if (*count > run->limits->nested_name)
		return fail_name(run, "rendering template has a nested reference name: ", name,
				 ": unable to execute template");
	const struct tmpl_tree *tree = run_lookup(run, name);
	if (!tree) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
		strbuf_adds(&b, "template: no template ");
		value_quote(&b, name);
		strbuf_adds(&b, " associated with template \"gotpl\"");
		return tmpl_fail_str(run, strbuf_str(&b));
	}
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(run->limits->file_bytes);
	++*count;
	int r = run_execute(run, tree, args[1], &out);
	--*count;
	return r < 0 ? r : tmpl_return(run, &out, ret);
}

static struct str quoted_prefix(struct tmpl_run *run, const char *before, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	strbuf_adds(&b, before);
	value_quote(&b, text);
	strbuf_adds(&b, ": ");
	return value_text(value_take(run->arena, &b));
}

/* The trees of a text; parsed once a render. */
static int tpl_parse(struct tmpl_run *run, struct str text, struct parsed **ret)
{
	struct parsed *known = table_get(&run->tpl_texts, text);
	if (known) {
		*ret = known;
		return 0;
	}
	run->tpl_bytes += text.len;
	if (run->tpl_bytes > run->limits->tpl_bytes)
		return tmpl_over(run, "bytes of text given to tpl", run->limits->tpl_bytes);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	const struct parse_input in = {.name = STR("gotpl"),
				       .text = text,
				       .arena = run->arena,
				       .texts = run->arena,
				       .lookup = set_function,
				       .ctx = run->set};
	int r = parse_template(&in, ret, &msg);
	if (r == -E_LIMIT)
		return tmpl_fail_code(run, E_LIMIT, "%s", msg.buf);
	if (r < 0) {
		tmpl_fail_str(run, strbuf_str(&msg));
		return run_wrap(run, quoted_prefix(run, "cannot parse template ", text));
	}
	table_set(&run->tpl_texts, text, *ret);
	return 0;
}

static int fn_tpl(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct str text = value_text(args[0]);
	if (++run->tpl_calls > run->limits->tpl_calls)
		return tmpl_over(run, "calls of tpl", run->limits->tpl_calls);
	struct parsed *parsed;
	int r = tpl_parse(run, text, &parsed);
	if (r < 0)
		return r;
	struct scope scope = {.parent = run->scope};
	table_init(&scope.trees, run->arena);
	for (size_t i = 0; i < parsed->n; i++) {
		struct tmpl_tree *t = parsed->trees[i];
		if (!node_is_empty(t->root) || !run_lookup(run, t->name))
			table_set(&scope.trees, t->name, t);
	}
	/* cppcheck-suppress autoVariables; scope is left before it ends */
	run->scope = &scope;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(run->limits->file_bytes);
	r = run_execute(run, parsed->main, args[1], &out);
	run->scope = scope.parent;
	if (r < 0)
		return run_wrap(
			run, quoted_prefix(run, "error during tpl function execution for ", text));
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT(run->limits->file_bytes);
	tmpl_add_cleaned(&clean, strbuf_str(&out));
	return tmpl_return(run, &clean, ret);
}

/* ---- Helm: fail, required, lookup ---- */
static int fn_fail(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	*ret = value_cstr("");
	if (run->set->lenient)
		return 0;
	return fail_name(run, "HELM_ERR_START", value_text(args[0]), "HELM_ERR_END");
}

static int fn_required(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	if (args[1].type == VALUE_NIL || value_is_string(args[1], ""))
		return fn_fail(run, args, n, ret);
	*ret = args[1];
	return 0;
}

static int fn_lookup(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	*ret = value_map(vmap_new(run->arena));
	if (!run->host->lookup)
		return 0;
	struct error err = ERROR_INIT;
	struct value found = VALUE_NONE;
	int r = run->host->lookup(run->host->ctx, run->arena, value_text(args[0]),
				  value_text(args[1]), value_text(args[2]), value_text(args[3]),
				  &found, &err);
	if (r < 0)
		return tmpl_fail_code(run, -r, "lookup: %s", err.msg);
	run->random = true;
	if (found.type == VALUE_MAP)
		*ret = found;
	return 0;
}

static int fn_get_host_by_name(struct tmpl_run *run, const struct value *args, size_t n,
			       struct value *ret)
{
	(void)run;
	(void)args;
	(void)n;
	*ret = value_str(STR(""));
	return 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_core[] = {
	{"and", "rr*:r", NULL, TMPL_FN_AND},
	{"or", "rr*:r", NULL, TMPL_FN_OR},
	{"not", "r:b", fn_not, 0},
	{"len", "r:i", fn_len, 0},
	{"index", "rr*:r", fn_index, 0},
	{"call", "rr*:r", fn_call, 0},
	{"print", "v*:s", fn_print, 0},
	{"printf", "sv*:s", fn_printf, 0},
	{"println", "v*:s", fn_println, 0},
	{"html", "v*:s", fn_html, 0},
	{"js", "v*:s", fn_js, 0},
	{"urlquery", "v*:s", fn_urlquery, 0},
	{"include", "sv:s", fn_include, 0},
	{"tpl", "sv:s", fn_tpl, 0},
	{"required", "sv:v", fn_required, 0},
	{"fail", "s:s", fn_fail, 0},
	{"lookup", "ssss:m", fn_lookup, 0},
	{"getHostByName", "s:s", fn_get_host_by_name, 0},
	{0},
};
/* clang-format on */
