#include "installers/tmpl/fn/semver.h"

#include <string.h>

static struct value make(struct arena *a, struct version v)
{
	struct semver_value *s = ARENA_NEW(a, struct semver_value);
	s->v = v;
	return (struct value){.type = VALUE_SEMVER, .ver = s};
}

int semver_fn_semver(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct version v;
	struct error err = ERROR_INIT;
	if (version_parse(value_text(args[0]), VERSION_LOOSE, &v, &err) < 0)
		return tmpl_fail(run, "%s", err.msg);
	*ret = make(tmpl_arena(run), v);
	return 0;
}

int semver_fn_compare(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct version v;
	struct error err = ERROR_INIT;
	struct range *range = ARENA_NEW(tmpl_arena(run), struct range);
	if (range_parse(value_text(args[0]), tmpl_arena(run), range, &err) < 0 ||
	    version_parse(value_text(args[1]), VERSION_LOOSE, &v, &err) < 0)
		return tmpl_fail(run, "%s", err.msg);
	*ret = value_bool(range_matches(range, &v));
	return 0;
}

#define NUMBER_FIELD(fn, member)                                                                   \
	static int fn(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret) \
	{                                                                                          \
		(void)run;                                                                         \
		(void)n;                                                                           \
		*ret = (struct value){.type = VALUE_UINT64, .u = args[0].ver->v.member};           \
		return 0;                                                                          \
	}
#define TEXT_FIELD(fn, member)                                                                     \
	static int fn(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret) \
	{                                                                                          \
		(void)run;                                                                         \
		(void)n;                                                                           \
		*ret = value_str(args[0].ver->v.member);                                           \
		return 0;                                                                          \
	}
NUMBER_FIELD(get_major, major)
NUMBER_FIELD(get_minor, minor)
NUMBER_FIELD(get_patch, patch)
TEXT_FIELD(get_prerelease, pre)
TEXT_FIELD(get_metadata, build)
TEXT_FIELD(get_original, text)

static int get_string(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	version_print(&args[0].ver->v, &b);
	return tmpl_return(run, &b, ret);
}

/* A nil version is Go's nil pointer dereference. */
static int precedence(struct tmpl_run *run, const struct value *args, int *ret)
{
	if (args[1].type != VALUE_SEMVER)
		return tmpl_fail(run, "runtime error: invalid memory address or nil pointer "
				      "dereference");
	*ret = version_precedence(&args[0].ver->v, &args[1].ver->v);
	return 0;
}

static int compare(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int c = 0;
	int r = precedence(run, args, &c);
	*ret = value_int((c > 0) - (c < 0));
	return r;
}

static int less_than(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int c = 0;
	int r = precedence(run, args, &c);
	*ret = value_bool(c < 0);
	return r;
}

static int greater_than(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int c = 0;
	int r = precedence(run, args, &c);
	*ret = value_bool(c > 0);
	return r;
}

static int less_than_equal(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)n;
	int c = 0;
	int r = precedence(run, args, &c);
	*ret = value_bool(c <= 0);
	return r;
}

static int greater_than_equal(struct tmpl_run *run, const struct value *args, size_t n,
			      struct value *ret)
{
	(void)n;
	int c = 0;
	int r = precedence(run, args, &c);
	*ret = value_bool(c >= 0);
	return r;
}

static int equal(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int c = 0;
	int r = precedence(run, args, &c);
	*ret = value_bool(c == 0);
	return r;
}

/* A version whose original text is the normalised one, with the v of before. */
static int increased(struct tmpl_run *run, const struct version *old, struct version v,
		     struct value *ret)
{
	v.pre = v.build = STR("");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (str_has_prefix(old->text, STR("v")))
		strbuf_addc(&b, 'v');
	version_print(&v, &b);
	v.text = value_text(value_take(tmpl_arena(run), &b));
	*ret = make(tmpl_arena(run), v);
	ret->type = VALUE_SEMVER;
	return 0;
}

static int inc_major(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct version v = {.major = args[0].ver->v.major + 1};
	return increased(run, &args[0].ver->v, v, ret);
}

static int inc_minor(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct version v = args[0].ver->v;
	v.minor++;
	v.patch = 0;
	return increased(run, &args[0].ver->v, v, ret);
}

static int inc_patch(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct version v = args[0].ver->v;
	if (v.pre.len == 0) /* of a pre-release the release itself is next */
		v.patch++;
	return increased(run, &args[0].ver->v, v, ret);
}

/* clang-format off */
const struct tmpl_func semver_methods[] = {
	{"Major", ":u", get_major, 0},
	{"Minor", ":u", get_minor, 0},
	{"Patch", ":u", get_patch, 0},
	{"Prerelease", ":s", get_prerelease, 0},
	{"Metadata", ":s", get_metadata, 0},
	{"Original", ":s", get_original, 0},
	{"String", ":s", get_string, 0},
	{"Compare", "V:i", compare, 0},
	{"LessThan", "V:b", less_than, 0},
	{"LessThanEqual", "V:b", less_than_equal, 0},
	{"GreaterThan", "V:b", greater_than, 0},
	{"GreaterThanEqual", "V:b", greater_than_equal, 0},
	{"Equal", "V:b", equal, 0},
	{"IncMajor", ":V", inc_major, 0},
	{"IncMinor", ":V", inc_minor, 0},
	{"IncPatch", ":V", inc_patch, 0},
	{0},
};
/* clang-format on */
