/*
 * cel_named: named formats and semantic versions, as k8s.io/apiserver/pkg/cel/library has them:
 * format.dns1123Label().validate(name), semver("1.2.3").isLessThan(semver("2.0.0")).
 */
#include <string.h>

#include "alm/base/version.h"
#include "alm/obj/cel/cel_table.h"
#include "alm/obj/gvk.h"
#include "alm/obj/schema/schema_node.h"

/* A name has a rule; another is a format of schemas. */
struct cel_format {
	const char *name;
	bool is_name, is_prefix; /* more follows a prefix, so that it may end with a dash */
	enum name_rule rule;
	const char *format, *fault; /* fault: NULL: it names the text */
};

enum {
	DNS1123_LABEL,
	DNS1123_SUBDOMAIN,
	DNS1035_LABEL,
	QUALIFIED_NAME,
	DNS1123_LABEL_PREFIX,
	DNS1123_SUBDOMAIN_PREFIX,
	DNS1035_LABEL_PREFIX,
	LABEL_VALUE,
	URI,
	UUID,
	BYTE,
	DATE,
	DATETIME,
};

/* clang-format off */
static const struct cel_format formats[] = {
	[DNS1123_LABEL] = {"dns1123Label", true, false, NAME_DNS_LABEL, NULL, NULL},
	[DNS1123_SUBDOMAIN] = {"dns1123Subdomain", true, false, NAME_DNS_SUBDOMAIN, NULL, NULL},
	[DNS1035_LABEL] = {"dns1035Label", true, false, NAME_DNS1035_LABEL, NULL, NULL},
	[QUALIFIED_NAME] = {"qualifiedName", true, false, NAME_QUALIFIED, NULL, NULL},
	[DNS1123_LABEL_PREFIX] = {"dns1123LabelPrefix", true, true, NAME_DNS_LABEL, NULL, NULL},
	[DNS1123_SUBDOMAIN_PREFIX] = {"dns1123SubdomainPrefix", true, true, NAME_DNS_SUBDOMAIN, NULL, NULL},
	[DNS1035_LABEL_PREFIX] = {"dns1035LabelPrefix", true, true, NAME_DNS1035_LABEL, NULL, NULL},
	[LABEL_VALUE] = {"labelValue", true, false, NAME_LABEL_VALUE, NULL, NULL},
	[URI] = {"uri", .format = "uri"},
	[UUID] = {"uuid", .format = "uuid", .fault = "does not match the UUID format"},
	[BYTE] = {"byte", .format = "byte", .fault = "invalid base64"},
	[DATE] = {"date", .format = "date", .fault = "invalid date"},
	[DATETIME] = {"datetime", .format = "date-time", .fault = "invalid datetime"},
};
/* clang-format on */

static struct cel_value of_format(const struct cel_format *f)
{
	return (struct cel_value){.kind = CEL_FORMAT, .format = f};
}

/* clang-format off */
CEL_FN(dns1123_label) { return of_format(&formats[DNS1123_LABEL]); }
CEL_FN(dns1123_subdomain) { return of_format(&formats[DNS1123_SUBDOMAIN]); }
CEL_FN(dns1035_label) { return of_format(&formats[DNS1035_LABEL]); }
CEL_FN(qualified_name) { return of_format(&formats[QUALIFIED_NAME]); }
CEL_FN(dns1123_label_prefix) { return of_format(&formats[DNS1123_LABEL_PREFIX]); }
CEL_FN(dns1123_subdomain_prefix) { return of_format(&formats[DNS1123_SUBDOMAIN_PREFIX]); }
CEL_FN(dns1035_label_prefix) { return of_format(&formats[DNS1035_LABEL_PREFIX]); }
CEL_FN(label_value) { return of_format(&formats[LABEL_VALUE]); }
CEL_FN(uri) { return of_format(&formats[URI]); }
CEL_FN(uuid) { return of_format(&formats[UUID]); }
CEL_FN(byte) { return of_format(&formats[BYTE]); }
CEL_FN(date) { return of_format(&formats[DATE]); }
CEL_FN(datetime) { return of_format(&formats[DATETIME]); }
/* clang-format on */

CEL_FN(named)
{
	struct cel_value none = {.kind = CEL_OPTIONAL};
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (!str_is(v[0].str, formats[i].name))
			continue;
		struct cel_value found = of_format(&formats[i]);
		none.inner = arena_memdup(c->a, &found, sizeof(found));
	}
	return none;
}

static size_t faults_of(const struct cel_format *f, struct str s, struct arena *a,
			const char *ret[NAME_FAULTS_MAX])
{
	if (f->is_name && f->is_prefix && s.len > 1 && s.ptr[s.len - 1] == '-') {
		char *text = arena_strndup(a, s.ptr, s.len);
		text[s.len - 1] = 'a';
		s = str_n(text, s.len);
	}
	if (f->is_name)
		return name_faults(f->rule, s, ret);
	if (s.len && schema_format_valid(f->format, s))
		return 0;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	strbuf_adds(&b, "parse ");
	go_quote(s, &b);
	strbuf_adds(&b, s.len ? ": invalid URI for request" : ": empty url");
	ret[0] = f->fault ? f->fault : arena_strdup(a, b.buf);
	return 1;
}

/* What is wrong, one text each; no value: nothing is. */
CEL_FN(validate)
{
	const char *faults[NAME_FAULTS_MAX];
	struct cel_value optional = {.kind = CEL_OPTIONAL};
	if (!cel_spend(c, v[1].str.len / 10))
		return cel_over_budget(c);
	size_t n = faults_of(v[0].format, v[1].str, c->a, faults);
	struct cel_value *items = ARENA_ARRAY(c->a, struct cel_value, n + 1);
	for (size_t i = 0; i < n; i++)
		items[i] = cel_string(str_of(faults[i]));
	struct cel_value list = cel_list(items, n);
	if (n > 0)
		optional.inner = arena_memdup(c->a, &list, sizeof(list));
	return optional;
}

/* Semantic versions (semver.org 2.0, as github.com/blang/semver reads them) */

/* "v01.2" as "1.2.0". false: a short one has a pre-release or build. */
static bool normalized(struct str s, struct strbuf *b)
{
	struct str part = s, rest = str_has_prefix(s, STR("v")) ? str_skip(s, 1) : s;
	size_t n = 0;
	for (bool more = true; more && n < 3; n++) {
		struct str whole = rest;
		more = n < 2 && str_cut(whole, '.', &part, &rest);
		if (!more)
			part = whole;
		bool is_long = part.len > 1;
		while (is_long && part.len && part.ptr[0] == '0')
			part = str_skip(part, 1);
		bool no_digit = is_long && !(part.len && char_is_digit(part.ptr[0]));
		strbuf_addf(b, "%s%s%.*s", n ? "." : "", no_digit ? "0" : "", STR_ARG(part));
	}
	bool is_short = n < 3;
	for (; n < 3; n++)
		strbuf_adds(b, ".0");
	return !is_short || (str_find_char(part, '+') < 0 && str_find_char(part, '-') < 0);
}

/* NULL for a number as it is to be; what is wrong with it. */
static const char *number_fault(const char *name, struct str s, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	size_t digits = 0;
	while (digits < s.len && char_is_digit(s.ptr[digits]))
		digits++;
	if (!s.len)
		return "strconv.ParseUint: parsing \"\": invalid syntax";
	if (digits < s.len)
		strbuf_addf(&b, "Invalid character(s) found in %s number ", name);
	else if (s.len > 1 && s.ptr[0] == '0')
		strbuf_addf(&b, "%c%s number must not contain leading zeroes ", char_upper(name[0]),
			    name + 1);
	else
		return NULL;
	go_quote(s, &b);
	return arena_strdup(a, b.buf);
}

/* What is before the pre-release and the build. */
static struct str patch_of(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '-' || s.ptr[i] == '+')
			return str_sub(s, 0, i);
	return s;
}

/* NULL: all three numbers are there and well formed. */
static const char *numbers_fault(struct str s, struct arena *a)
{
	struct str major, minor, rest;
	const char *fault;
	if (!s.len)
		return "Version string empty";
	if (!str_cut(s, '.', &major, &rest) || !str_cut(rest, '.', &minor, &rest))
		return "No Major.Minor.Patch elements found";
	fault = number_fault("major", major, a);
	if (!fault)
		fault = number_fault("minor", minor, a);
	return fault ? fault : number_fault("patch", patch_of(rest), a);
}

/* Of a pre-release, or of a build, which comes behind it. */
static const char *identifiers_fault(struct str s, bool build, struct arena *a)
{
	struct str part, rest = s;
	while (str_next(&rest, '.', &part)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
		size_t digits = 0, n = 0;
		for (; n < part.len && (char_is_alnum(part.ptr[n]) || part.ptr[n] == '-'); n++)
			digits += char_is_digit(part.ptr[n]);
		if (n < part.len)
			strbuf_addf(&b, "Invalid character(s) found in %s ",
				    build ? "build meta data" : "prerelease");
		else if (!build && n > 1 && digits == n && part.ptr[0] == '0')
			strbuf_adds(&b, "Numeric PreRelease version must not contain leading "
					"zeroes ");
		if (!part.len)
			return build ? "Build meta data is empty" : "Prerelease is empty";
		if (b.len == 0)
			continue;
		go_quote(part, &b);
		return arena_strdup(a, b.buf);
	}
	return NULL;
}

static const char *rest_fault(struct str s, struct arena *a)
{
	struct str build, pre;
	bool has_build = str_cut(s, '+', &s, &build), has_pre = str_cut(s, '-', &s, &pre);
	const char *fault = NULL;
	if (has_pre)
		fault = pre.len ? identifiers_fault(pre, false, a) : "Prerelease is empty";
	if (!fault && has_build)
		fault = build.len ? identifiers_fault(build, true, a) : "Build meta data is empty";
	return fault;
}

/* NULL, or what is wrong with it. */
static const char *parse_semver(struct str s, bool normalize, struct arena *a, struct version *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	struct error err = ERROR_INIT;
	if (normalize && !normalized(s, &b))
		return "short version cannot contain PreRelease/Build meta data";
	if (normalize)
		s = str_of(arena_strdup(a, b.buf));
	const char *fault = numbers_fault(s, a);
	if (!fault)
		fault = rest_fault(s, a);
	if (!fault && version_parse(s, VERSION_STRICT, ret, &err) < 0)
		return "invalid semantic version";
	return fault;
}

static struct cel_value of_text(const struct cel_value *v, bool normalize, struct cel_call *c)
{
	struct version parsed;
	if (!cel_spend(c, v->str.len / 10))
		return cel_over_budget(c);
	const char *fault = parse_semver(v->str, normalize, c->a, &parsed);
	if (fault)
		return cel_error(c->a, "%s", fault);
	return (struct cel_value){.kind = CEL_SEMVER,
				  .version = arena_memdup(c->a, &parsed, sizeof(parsed))};
}

static struct cel_value is_version(const struct cel_value *v, bool normalize, struct cel_call *c)
{
	struct cel_value made = of_text(v, normalize, c);
	return c->budget->over ? made : cel_bool(made.kind == CEL_SEMVER);
}

/* clang-format off */
CEL_FN(semver) { return of_text(&v[0], false, c); }
CEL_FN(semver_normalized) { return of_text(&v[0], v[1].b, c); }
CEL_FN(is_semver) { return is_version(&v[0], false, c); }
CEL_FN(is_semver_normalized) { return is_version(&v[0], v[1].b, c); }
CEL_FN(major) { return cel_int((int64_t)v[0].version->major); }
CEL_FN(minor) { return cel_int((int64_t)v[0].version->minor); }
CEL_FN(patch) { return cel_int((int64_t)v[0].version->patch); }
CEL_FN(is_less) { return cel_bool(version_precedence(v[0].version, v[1].version) < 0); }
CEL_FN(is_greater) { return cel_bool(version_precedence(v[0].version, v[1].version) > 0); }
/* clang-format on */

CEL_FN(compare)
{
	int r = version_precedence(v[0].version, v[1].version);
	return cel_int((r > 0) - (r < 0));
}

/* clang-format off */
const struct cel_overload cel_named_fns[] = {
	{"format.dns1123Label", "", 'F', 'g', dns1123_label}, {"format.dns1123Subdomain", "", 'F', 'g', dns1123_subdomain},
	{"format.dns1035Label", "", 'F', 'g', dns1035_label}, {"format.qualifiedName", "", 'F', 'g', qualified_name},
	{"format.dns1123LabelPrefix", "", 'F', 'g', dns1123_label_prefix},
	{"format.dns1123SubdomainPrefix", "", 'F', 'g', dns1123_subdomain_prefix},
	{"format.dns1035LabelPrefix", "", 'F', 'g', dns1035_label_prefix}, {"format.labelValue", "", 'F', 'g', label_value},
	{"format.uri", "", 'F', 'g', uri}, {"format.uuid", "", 'F', 'g', uuid}, {"format.byte", "", 'F', 'g', byte},
	{"format.date", "", 'F', 'g', date}, {"format.datetime", "", 'F', 'g', datetime},
	{"format.named", "s", 'O', 'g', named}, {"validate", "Fs", 'O', 'm', validate},
	{"semver", "s", 'V', 'g', semver}, {"semver", "sb", 'V', 'g', semver_normalized},
	{"isSemver", "s", 'b', 'g', is_semver}, {"isSemver", "sb", 'b', 'g', is_semver_normalized},
	{"major", "V", 'i', 'm', major}, {"minor", "V", 'i', 'm', minor}, {"patch", "V", 'i', 'm', patch},
	{"isLessThan", "VV", 'b', 'm', is_less}, {"isGreaterThan", "VV", 'b', 'm', is_greater},
	{"compareTo", "VV", 'i', 'm', compare},
	{0},
};
/* clang-format on */
