/* toYaml and kin: the functions over yaml_go, yaml_emit, json_go and toml_go. */
#include "installers/format/json_go.h"
#include "installers/format/yaml_emit.h"
#include "installers/format/yaml_go.h"
#include "installers/tmpl/fn/toml_go.h"
#include "installers/tmpl/tmpl.h"

static size_t limit_of(struct tmpl_run *run)
{
	return tmpl_run_limits(run)->string_bytes;
}

/* A failed writer gives "" (toYaml) or its error (mustToYaml). */
static int give(struct tmpl_run *run, int rc, const struct strbuf *b, const struct strbuf *msg,
		bool must, struct value *ret)
{
	if (rc == 0)
		return tmpl_return(run, b, ret);
	if (must)
		return tmpl_fail_str(run, strbuf_str(msg));
	*ret = value_str(STR(""));
	return 0;
}

static int to_yaml(struct tmpl_run *run, struct value v, enum yaml_emit_style style, bool must,
		   struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit_of(run));
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	int rc = yaml_emit(tmpl_arena(run), v, style, &b, &msg);
	if (b.len)
		strbuf_truncate(&b, b.len - 1); /* one newline is removed */
	return give(run, rc, &b, &msg, must, ret);
}

static int fn_to_yaml(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	return to_yaml(run, args[0], YAML_EMIT_HELM, false, ret);
}

static int fn_must_to_yaml(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)n;
	return to_yaml(run, args[0], YAML_EMIT_HELM, true, ret);
}

static int fn_to_yaml_pretty(struct tmpl_run *run, const struct value *args, size_t n,
			     struct value *ret)
{
	(void)n;
	return to_yaml(run, args[0], YAML_EMIT_PRETTY, false, ret);
}

static int to_json(struct tmpl_run *run, struct value v, unsigned flags, bool must,
		   struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit_of(run));
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	int rc = json_go_encode(v, flags, &b, &msg);
	return give(run, rc, &b, &msg, must, ret);
}

#define JSON_FN(name, flags, must)                                                \
	static int name(struct tmpl_run *run, const struct value *args, size_t n, \
			struct value *ret)                                        \
	{                                                                         \
		(void)n;                                                          \
		return to_json(run, args[0], flags, must, ret);                   \
	}
JSON_FN(fn_to_json, JSON_GO_COMPACT, false)
JSON_FN(fn_must_to_json, JSON_GO_COMPACT, true)
JSON_FN(fn_to_pretty_json, JSON_GO_PRETTY, false)
JSON_FN(fn_must_to_pretty_json, JSON_GO_PRETTY, true)
JSON_FN(fn_to_raw_json, JSON_GO_RAW, false)
JSON_FN(fn_must_to_raw_json, JSON_GO_RAW, true)

static int to_toml(struct tmpl_run *run, struct value v, bool must, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit_of(run));
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	if (v.type == VALUE_NIL)
		return tmpl_fail(run, "reflect: call of reflect.Value.Type on zero Value");
	int rc = toml_go_encode(tmpl_arena(run), v, &b, &msg);
	if (rc < 0 && must)
		return tmpl_fail_str(run, strbuf_str(&msg));
	return tmpl_return(run, rc < 0 ? &msg : &b, ret);
}

static int fn_to_toml(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	return to_toml(run, args[0], false, ret);
}

static int fn_must_to_toml(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)n;
	return to_toml(run, args[0], true, ret);
}

/* {"Error": MSG}, beside what was decoded before. */
static struct value error_map(struct tmpl_run *run, struct vmap *m, const struct strbuf *msg)
{
	if (!m)
		m = vmap_new(tmpl_arena(run));
	vmap_setc(m, "Error", value_take(tmpl_arena(run), msg));
	return value_map(m);
}

static struct value error_list(struct tmpl_run *run, const struct strbuf *msg)
{
	struct value v = value_list(tmpl_arena(run), VALUE_LIST, 1);
	v.items[0] = value_take(tmpl_arena(run), msg);
	return v;
}

static int fn_from_yaml(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct vmap *m = NULL;
	(void)n;
	if (yaml_go_parse_map(tmpl_arena(run), value_text(args[0]), &m, &msg) < 0)
		*ret = error_map(run, NULL, &msg);
	else
		*ret = value_map(m);
	return 0;
}

static int fn_from_yaml_array(struct tmpl_run *run, const struct value *args, size_t n,
			      struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	(void)n;
	if (yaml_go_parse_list(tmpl_arena(run), value_text(args[0]), ret, &msg) < 0)
		*ret = error_list(run, &msg);
	return 0;
}

/* Instead of what msg says: Go does not look into a value of another type than it wants. */
static void wrong_type(struct strbuf *msg, struct value v, const char *want)
{
	strbuf_clear(msg);
	strbuf_addf(msg, "json: cannot unmarshal %s into Go value of type %s", yaml_go_json_type(v),
		    want);
}

static int fn_from_json(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct value v;
	(void)n;
	int rc = json_go_decode(tmpl_arena(run), value_text(args[0]), &v, &msg);
	if (v.type != VALUE_NIL && v.type != VALUE_MAP) {
		wrong_type(&msg, v, "map[string]interface {}");
		rc = -E_INVALID;
	}
	if (rc < 0)
		*ret = error_map(run, v.type == VALUE_MAP ? v.map : NULL, &msg);
	else
		*ret = value_map(v.type == VALUE_MAP ? v.map : NULL);
	return 0;
}

static int fn_from_json_array(struct tmpl_run *run, const struct value *args, size_t n,
			      struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct value v;
	(void)n;
	int rc = json_go_decode(tmpl_arena(run), value_text(args[0]), &v, &msg);
	if (v.type != VALUE_NIL && v.type != VALUE_LIST) {
		wrong_type(&msg, v, "[]interface {}");
		rc = -E_INVALID;
	}
	*ret = v;
	if (rc < 0)
		*ret = error_list(run, &msg);
	else if (v.type == VALUE_NIL)
		*ret = (struct value){.type = VALUE_LIST};
	return 0;
}

static int fn_must_from_json(struct tmpl_run *run, const struct value *args, size_t n,
			     struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	(void)n;
	if (json_go_decode(tmpl_arena(run), value_text(args[0]), ret, &msg) < 0)
		return tmpl_fail_str(run, strbuf_str(&msg));
	return 0;
}

static int fn_from_toml(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct vmap *m = NULL;
	(void)n;
	if (toml_go_decode(tmpl_arena(run), value_text(args[0]), &m, &msg) < 0)
		*ret = error_map(run, NULL, &msg);
	else
		*ret = value_map(m);
	return 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_encode[] = {
	{"toYaml",           "v:s", fn_to_yaml,             0},
	{"mustToYaml",       "v:s", fn_must_to_yaml,        TMPL_FN_FROM_41},
	{"toYamlPretty",     "v:s", fn_to_yaml_pretty,      0},
	{"toJson",           "v:s", fn_to_json,             0},
	{"mustToJson",       "v:s", fn_must_to_json,        0},
	{"toPrettyJson",     "v:s", fn_to_pretty_json,      0},
	{"mustToPrettyJson", "v:s", fn_must_to_pretty_json, 0},
	{"toRawJson",        "v:s", fn_to_raw_json,         0},
	{"mustToRawJson",    "v:s", fn_must_to_raw_json,    0},
	{"toToml",           "v:s", fn_to_toml,             0},
	{"mustToToml",       "v:s", fn_must_to_toml,        TMPL_FN_FROM_42},
	{"fromYaml",         "s:m", fn_from_yaml,           0},
	{"fromYamlArray",    "s:A", fn_from_yaml_array,     0},
	{"fromJson",         "s:m", fn_from_json,           0},
	{"fromJsonArray",    "s:A", fn_from_json_array,     0},
	{"mustFromJson",     "s:v", fn_must_from_json,      0},
	{"fromToml",         "s:m", fn_from_toml,           0},
	{0},
};
/* clang-format on */
