/* Formats that drafts 4 to 7 assert, with the reasons of the library Helm uses; others only
 * annotate. */

#include <string.h>

#include "installers/jsonschema/jsonschema_tree.h"
#include "installers/tmpl/fn/url.h"
#include "installers/value/print.h"
#include "installers/value/unicode.h"

/* NULL: every rune of it is a letter of ASCII, a digit or one of also. */
static const char *rune_fault(struct arena *a, struct str s, const char *also)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	uint32_t rune = 'a';
	for (size_t n; s.len; s = str_skip(s, n)) {
		n = rune_next(s, &rune);
		bool may = s.ptr[0] && (char_is_alnum(s.ptr[0]) || strchr(also, s.ptr[0]));
		if (!may) {
			quote_rune(&b, rune, false);
			return arena_fmt(a, "invalid character %s", b.buf);
		}
	}
	return NULL;
}

static const char *label_fault(struct arena *a, struct str s)
{
	if (!s.len || s.len > 63)
		return "label must be 1 to 63 characters long";
	if (s.ptr[0] == '-')
		return "label starts with hyphen";
	if (s.ptr[s.len - 1] == '-')
		return "label ends with hyphen";
	return rune_fault(a, s, "-");
}

static const char *hostname_fault(struct arena *a, struct str s)
{
	const char *fault = NULL;
	struct str label;
	if (s.len && s.ptr[s.len - 1] == '.')
		s.len--;
	if (s.len > 253)
		return "more than 253 characters long";
	if (!s.len)
		return label_fault(a, s);
	while (!fault && str_next(&s, '.', &label))
		fault = label_fault(a, label);
	return fault;
}

static const char *ipv4_fault(struct arena *a, struct str s)
{
	struct str part;
	int64_t v;
	size_t n = 1;
	for (size_t i = 0; i < s.len; i++)
		n += s.ptr[i] == '.';
	if (n != 4)
		return "expected four decimals";
	while (str_next(&s, '.', &part)) {
		if (part.len > 1 && part.ptr[0] == '0')
			return "leading zeros";
		if (!str_parse_i64(part, &v))
			return arena_fmt(a, "strconv.Atoi: parsing \"%.*s\": invalid syntax",
					 STR_ARG(part));
		if (v < 0 || v > 255)
			return "decimal must be between 0 and 255";
	}
	return NULL;
}

/* "::" again, or a colon that nothing stands beside. */
static bool is_shortened_twice(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i + 1 < s.len; i++)
		n += s.ptr[i] == ':' && s.ptr[i + 1] == ':';
	bool starts = s.len > 1 && s.ptr[0] == ':' && s.ptr[1] != ':';
	bool ends = s.len > 1 && s.ptr[s.len - 1] == ':' && s.ptr[s.len - 2] != ':';
	return n > 1 || starts || ends;
}

/* NOLINTNEXTLINE(misc-no-recursion): once, for what stands before a zone */
static const char *ipv6_fault(struct arena *a, struct str s)
{
	struct str part, head, tail;
	size_t groups = 0;
	struct str zone = s;
	bool short_form = str_contains(s, STR("::"));
	if (str_find_char(s, ':') < 0)
		return "missing colon";
	if (str_find_char(s, '%') >= 0)
		return str_cut(s, '%', &s, &zone) && zone.len && !ipv6_fault(a, s)
			       ? "zone id is not a part of ipv6 address"
			       : "not an ip address";
	if (is_shortened_twice(s))
		return "not an ip address";
	if (str_rcut(s, ':', &head, &tail) && str_find_char(tail, '.') >= 0) {
		if (ipv4_fault(a, tail))
			return "not an ip address";
		groups = 2;
		s = str_sub(s, 0, s.len - tail.len);
	}
	while (str_next(&s, ':', &part)) {
		groups += part.len > 0;
		for (size_t i = 0; i < part.len; i++)
			if (!char_is_hex(part.ptr[i]) || part.len > 4)
				return "not an ip address";
	}
	return groups == 8 || (short_form && groups < 8) ? NULL : "not an ip address";
}

static const char *local_fault(struct arena *a, struct str s)
{
	if (s.len > 64)
		return "local part more than 64 characters long";
	if (s.len > 1 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"') {
		s = str_sub(s, 1, s.len - 2);
		return str_find_char(s, '\\') >= 0 || str_find_char(s, '"') >= 0
			       ? "backslash and quote are not allowed within quoted local part"
			       : NULL;
	}
	if (str_has_prefix(s, STR(".")))
		return "starts with dot";
	if (str_has_suffix(s, STR(".")))
		return "ends with dot";
	if (str_contains(s, STR("..")))
		return "consecutive dots";
	return rune_fault(a, s, ".!#$%&'*+-/=?^_`{|}~");
}

static const char *email_fault(struct arena *a, struct str s)
{
	struct str local, domain;
	if (s.len > 254)
		return "more than 255 characters long";
	if (!str_rcut(s, '@', &local, &domain))
		return "missing @";
	const char *fault = local_fault(a, local);
	if (fault)
		return fault;
	if (!str_has_prefix(domain, STR("[")) || !str_has_suffix(domain, STR("]"))) {
		fault = hostname_fault(a, domain);
		return fault ? arena_fmt(a, "invalid domain: %s", fault) : NULL;
	}
	domain = str_sub(domain, 1, domain.len - 2);
	bool six = str_has_prefix(domain, STR("IPv6:"));
	fault = six ? ipv6_fault(a, str_skip(domain, 5)) : ipv4_fault(a, domain);
	return fault ? arena_fmt(a, "invalid ipv%c address: %s", six ? '6' : '4', fault) : NULL;
}

static const char *uuid_fault(struct arena *a, struct str s)
{
	static const size_t want[] = {8, 4, 4, 4, 12};
	struct str part, rest = s;
	size_t n = 0;
	while (str_next(&rest, '-', &part))
		n++;
	if (n != 5)
		return "must have 5 elements";
	for (n = 0; str_next(&s, '-', &part); n++) {
		for (size_t i = 0; i < part.len; i++)
			if (!char_is_hex(part.ptr[i]))
				return arena_fmt(a, "non-hex character in element %zu", n + 1);
		if (part.len != want[n])
			return arena_fmt(a, "element %zu must be %zu characters long", n + 1,
					 want[n]);
	}
	return NULL;
}

static bool number_in(struct str s, size_t from, int64_t high)
{
	int64_t v;
	struct str d = str_sub(s, from, 2);
	return d.len == 2 && char_is_digit(d.ptr[0]) && str_parse_i64(d, &v) && v >= 0 && v <= high;
}

/* Go's reader of times names what it could not read, and as what. */
static const char *not_read(struct arena *a, struct str s, size_t at, const char *as)
{
	return arena_fmt(a,
			 "parsing time \"%.*s\" as \"2006-01-02\": cannot parse \"%.*s\" as \"%s\"",
			 STR_ARG(s), STR_ARG(str_skip(s, at)), as);
}

static const char *date_fault(struct arena *a, struct str s)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t y, m, d;
	if (s.len < 4 || !number_in(s, 0, 99) || !number_in(s, 2, 99))
		return not_read(a, s, 0, "2006");
	str_parse_i64(str_sub(s, 0, 4), &y);
	for (size_t at = 4; at < 10; at += 3) {
		if (at >= s.len || s.ptr[at] != '-')
			return not_read(a, s, at, "-");
		if (!number_in(s, at + 1, 99))
			return not_read(a, s, at + 1, at == 4 ? "01" : "02");
		if (at == 4 && !(str_parse_i64(str_sub(s, 5, 2), &m) && m >= 1 && m <= 12))
			return arena_fmt(a, "parsing time \"%.*s\": month out of range",
					 STR_ARG(s));
	}
	if (s.len > 10)
		return arena_fmt(a, "parsing time \"%.*s\": extra text: \"%.*s\"", STR_ARG(s),
				 STR_ARG(str_skip(s, 10)));
	str_parse_i64(str_sub(s, 8, 2), &d);
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	if (d < 1 || d > days[m - 1] + (m == 2 && leap))
		return arena_fmt(a, "parsing time \"%.*s\": day out of range", STR_ARG(s));
	return NULL;
}

static const char *time_fault(struct arena *a, struct str s)
{
	(void)a;
	if (s.len < 9)
		return "less than 9 characters long";
	if (s.ptr[2] != ':' || s.ptr[5] != ':')
		return "missing colon in correct place";
	if (!number_in(s, 0, 99) || !number_in(s, 3, 99) || !number_in(s, 6, 99))
		return "invalid hour/min/sec";
	if (!number_in(s, 0, 23) || !number_in(s, 3, 59) || !number_in(s, 6, 60))
		return "hour/min/sec out of range";
	s = str_skip(s, 8);
	if (s.ptr[0] == '.') {
		size_t n = 1;
		while (n < s.len && char_is_digit(s.ptr[n]))
			n++;
		if (n == 1)
			return "no digits in second fraction";
		s = str_skip(s, n);
	}
	if (str_is(s, "z") || str_is(s, "Z"))
		return NULL;
	if (s.len != 6)
		return "offset must be 6 characters long";
	if (s.ptr[0] != '+' && s.ptr[0] != '-')
		return "offset must begin with plus/minus";
	if (s.ptr[3] != ':')
		return "missing colon in offset in correct place";
	if (!number_in(s, 1, 99) || !number_in(s, 4, 99))
		return "invalid hour/min in offset";
	return number_in(s, 1, 23) && number_in(s, 4, 59) ? NULL
							  : "hour/min in offset out of range";
}

static const char *date_time_fault(struct arena *a, struct str s)
{
	if (s.len < 20)
		return "less than 20 characters long";
	if (s.ptr[10] != 't' && s.ptr[10] != 'T')
		return "11th character must be t or T";
	const char *fault = date_fault(a, str_sub(s, 0, 10));
	if (fault)
		return arena_fmt(a, "invalid date element: %s", fault);
	fault = time_fault(a, str_skip(s, 11));
	return fault ? arena_fmt(a, "invalid time element: %s", fault) : NULL;
}

static const char *url_fault(struct arena *a, struct str s, struct url *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	if (!url_parse(a, s, ret, &msg))
		return arena_strdup(a, msg.buf);
	struct str host = url_hostname(ret);
	if (str_find_char(host, ':') < 0)
		return NULL;
	if (str_find_char(ret->host, '[') < 0)
		return "ipv6 address not enclosed in brackets";
	const char *fault = ipv6_fault(a, host);
	return fault ? arena_fmt(a, "invalid ipv6 address: %s", fault) : NULL;
}

static const char *uri_fault(struct arena *a, struct str s)
{
	struct url u;
	const char *fault = url_fault(a, s, &u);
	return fault ? fault : u.scheme.len ? NULL : "relative url";
}

static const char *uri_reference_fault(struct arena *a, struct str s)
{
	struct url u;
	return str_find_char(s, '\\') >= 0 ? "contains \\" : url_fault(a, s, &u);
}

/* Braces in a path of which something is escaped come in pairs, and none in another. */
static const char *uri_template_fault(struct arena *a, struct str s)
{
	struct url u;
	struct str part;
	const char *fault = url_fault(a, s, &u);
	while (!fault && str_next(&u.raw_path, '/', &part)) {
		bool open = false;
		for (size_t i = 0; i < part.len && !fault; i++) {
			bool brace = part.ptr[i] == '{' || part.ptr[i] == '}';
			if (brace && open == (part.ptr[i] == '{'))
				fault = "nested curly braces";
			open ^= brace;
		}
		if (open && !fault)
			fault = "no matching closing brace";
	}
	return fault;
}

static const char *json_pointer_fault(struct arena *a, struct str s)
{
	(void)a;
	if (s.len && s.ptr[0] != '/')
		return "not starting with /";
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '~' &&
		    (i + 1 == s.len || (s.ptr[i + 1] != '0' && s.ptr[i + 1] != '1')))
			return "~ must be followed by 0 or 1";
	return NULL;
}

static const char *regex_fault(struct arena *a, struct str s)
{
	const char *fault = NULL;
	return schema_match(a, s, STR(""), &fault) < 0 ? fault : NULL;
}

static const struct {
	const char *name;
	const char *(*fault)(struct arena *a, struct str s);
} formats[] = {
	{"date", date_fault},
	{"date-time", date_time_fault},
	{"time", time_fault},
	{"email", email_fault},
	{"hostname", hostname_fault},
	{"ipv4", ipv4_fault},
	{"ipv6", ipv6_fault},
	{"uuid", uuid_fault},
	{"uri", uri_fault},
	{"iri", uri_fault},
	{"uri-reference", uri_reference_fault},
	{"iri-reference", uri_reference_fault},
	{"uri-template", uri_template_fault},
	{"regex", regex_fault},
	{"json-pointer", json_pointer_fault},
};

const char *schema_format_fault(struct arena *a, struct str format, struct str text)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (str_is(format, formats[i].name))
			return formats[i].fault(a, text);
	return NULL;
}
