/* schema_format.c: the string formats that the API server checks (go-openapi strfmt). */
#include <string.h>

#include "alm/obj/gvk.h"
#include "alm/obj/schema/schema_node.h"

static bool all_of_class(struct str s, bool (*is)(char c))
{
	for (size_t i = 0; i < s.len; i++)
		if (!is(s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool digits_at(struct str s, size_t from, size_t n)
{
	return from + n <= s.len && all_of_class(str_sub(s, from, n), char_is_digit);
}

static int64_t number_at(struct str s, size_t from, size_t n)
{
	int64_t v = 0;
	return str_parse_i64(str_sub(s, from, n), &v) ? v : -1;
}

static bool is_date(struct str s)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	if (s.len != 10 || s.ptr[4] != '-' || s.ptr[7] != '-' || !digits_at(s, 0, 4) ||
	    !digits_at(s, 5, 2) || !digits_at(s, 8, 2))
		return false;
	int64_t y = number_at(s, 0, 4), m = number_at(s, 5, 2), d = number_at(s, 8, 2);
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	if (m < 1 || m > 12 || d < 1)
		return false;
	return d <= days[m - 1] + (leap && m == 2 ? 1 : 0);
}

/* strfmt.IsDateTime: date, T, time with an optional fraction, Z or an offset. */
static bool is_date_time(struct str s)
{
	if (s.len < 20 || !is_date(str_sub(s, 0, 10)) || char_lower(s.ptr[10]) != 't')
		return false;
	struct str t = str_skip(s, 11);
	if (!digits_at(t, 0, 2) || t.ptr[2] != ':' || !digits_at(t, 3, 2) || t.ptr[5] != ':' ||
	    !digits_at(t, 6, 2) || number_at(t, 0, 2) > 23 || number_at(t, 3, 2) > 59 ||
	    number_at(t, 6, 2) > 59)
		return false;
	t = str_skip(t, 8);
	if (t.len > 0 && t.ptr[0] == '.') {
		size_t n = 1;
		while (n < t.len && char_is_digit(t.ptr[n]))
			n++;
		if (n == 1)
			return false;
		t = str_skip(t, n);
	}
	if (t.len == 1 && char_lower(t.ptr[0]) == 'z')
		return true;
	return t.len == 6 && (t.ptr[0] == '+' || t.ptr[0] == '-') && digits_at(t, 1, 2) &&
	       t.ptr[3] == ':' && digits_at(t, 4, 2);
}

static bool is_uuid_of(struct str s, char version)
{
	static const size_t groups[] = {8, 4, 4, 4, 12};
	char compact[33];
	size_t n = 0, at = 0;
	for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
		if (at < s.len && g > 0 && s.ptr[at] == '-')
			at++;
		for (size_t i = 0; i < groups[g]; i++, at++) {
			if (at >= s.len || !char_is_hex(s.ptr[at]))
				return false;
			compact[n++] = char_lower(s.ptr[at]);
		}
	}
	if (at != s.len)
		return false;
	if (version == '3')
		return compact[12] == '3';
	return !version || (compact[12] == version && strchr("89ab", compact[16]));
}

static bool is_uuid(struct str s)
{
	return is_uuid_of(s, '\0');
}

static bool is_uuid3(struct str s)
{
	return is_uuid_of(s, '3');
}

static bool is_uuid4(struct str s)
{
	return is_uuid_of(s, '4');
}

static bool is_uuid5(struct str s)
{
	return is_uuid_of(s, '5');
}

static bool is_ipv4(struct str s)
{
	struct str part;
	int n = 0;
	while (str_next(&s, '.', &part)) {
		uint64_t v;
		if (++n > 4 || part.len > 3 || (part.len > 1 && part.ptr[0] == '0') ||
		    !all_of_class(part, char_is_digit) || !str_parse_u64(part, &v) || v > 255)
			return false;
	}
	return n == 4;
}

static bool is_ipv6(struct str s)
{
	int groups = 0;
	ptrdiff_t gap = str_find(s, STR("::"));
	if (gap >= 0 && str_find(str_skip(s, (size_t)gap + 1), STR("::")) >= 0)
		return false;
	if (s.len < 2 || str_find_char(s, ':') < 0)
		return false;
	struct str halves[2] = {s, STR_NONE};
	if (gap >= 0) {
		halves[0] = str_sub(s, 0, (size_t)gap);
		halves[1] = str_skip(s, (size_t)gap + 2);
	}
	for (int h = 0; h < 2; h++) {
		struct str rest = halves[h], part;
		while (rest.len > 0 && str_next(&rest, ':', &part)) {
			bool last = !rest.ptr && (h == 1 || gap < 0);
			if (last && str_find_char(part, '.') >= 0) {
				if (!is_ipv4(part))
					return false;
				groups += 2;
				continue;
			}
			if (part.len == 0 || part.len > 4 || !all_of_class(part, char_is_hex))
				return false;
			groups++;
		}
	}
	return gap >= 0 ? groups <= 7 : groups == 8;
}

static bool is_cidr(struct str s)
{
	struct str ip, bits;
	uint64_t n;
	if (!str_cut(s, '/', &ip, &bits) || bits.len > 3 || !all_of_class(bits, char_is_digit) ||
	    (bits.len > 1 && bits.ptr[0] == '0') || !str_parse_u64(bits, &n))
		return false;
	return (is_ipv4(ip) && n <= 32) || (is_ipv6(ip) && n <= 128);
}

/* net.ParseMAC: 6, 8 or 20 bytes as xx:xx, xx-xx or xxxx.xxxx */
static bool is_mac(struct str s)
{
	if (s.len < 14)
		return false;
	char sep = s.ptr[2] == ':' || s.ptr[2] == '-' ? s.ptr[2] : '.';
	size_t width = sep == '.' ? 4 : 2, bytes = 0;
	struct str part;
	while (str_next(&s, sep, &part)) {
		if (part.len != width || !all_of_class(part, char_is_hex))
			return false;
		bytes += width / 2;
	}
	return bytes == 6 || bytes == 8 || bytes == 20;
}

static bool is_hostname(struct str s)
{
	struct str label;
	if (s.len == 0 || s.len > 255)
		return false;
	if (s.ptr[s.len - 1] == '.')
		s.len--;
	while (str_next(&s, '.', &label)) {
		if (label.len == 0 || label.len > 63)
			return false;
		for (size_t i = 0; i < label.len; i++) {
			char c = label.ptr[i];
			bool inner = i > 0 && i + 1 < label.len;
			if (!char_is_alnum(c) && (unsigned char)c < 0x80 &&
			    !((c == '-' || c == '_') && inner))
				return false;
		}
	}
	return true;
}

/* An address as net/mail reads it, without the display name forms but <a@b>. */
static bool is_email(struct str s)
{
	struct str local, domain, atom;
	if (!str_rcut(s, '@', &local, &domain) || local.len == 0 || domain.len == 0)
		return false;
	while (str_next(&local, '.', &atom))
		for (size_t i = 0; i <= atom.len; i++) {
			if (atom.len == 0)
				return false;
			if (i < atom.len && !char_is_alnum(atom.ptr[i]) &&
			    (unsigned char)atom.ptr[i] < 0x80 &&
			    !strchr("!#$%&'*+-/=?^_`{|}~", atom.ptr[i]))
				return false;
		}
	return is_hostname(domain) || (domain.ptr[0] == '[' && domain.ptr[domain.len - 1] == ']');
}

/* govalidator.IsRequestURI: an absolute URL or an absolute path, without control characters; escapes of a query are nobody's matter
 * here. */
static bool is_uri(struct str s)
{
	struct str scheme, rest;
	ptrdiff_t query = str_find_char(s, '?');
	size_t escaped = query < 0 ? s.len : (size_t)query;
	for (size_t i = 0; i < s.len; i++) {
		if ((unsigned char)s.ptr[i] <= 0x20 || s.ptr[i] == 0x7f)
			return false;
		if (i < escaped && s.ptr[i] == '%' &&
		    (i + 2 >= escaped || !char_is_hex(s.ptr[i + 1]) || !char_is_hex(s.ptr[i + 2])))
			return false;
	}
	if (s.len > 0 && s.ptr[0] == '/')
		return true;
	if (!str_cut(s, ':', &scheme, &rest) || scheme.len == 0 || !char_is_alpha(scheme.ptr[0]))
		return false;
	for (size_t i = 0; i < scheme.len; i++)
		if (!char_is_alnum(scheme.ptr[i]) && !strchr("+-.", scheme.ptr[i]))
			return false;
	return true;
}

static bool is_byte(struct str s)
{
	size_t pad = 0;
	if (s.len % 4 != 0)
		return false;
	while (pad < 2 && s.len > 0 && s.ptr[s.len - 1] == '=') {
		s.len--;
		pad++;
	}
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && s.ptr[i] != '+' && s.ptr[i] != '/')
			return false;
	return true;
}

static bool is_unit(struct str unit)
{
	static const char *const units[] = {
		"ns",
		"us",
		"\xc2\xb5s",
		"\xce\xbcs",
		"ms",
		"s",
		"m",
		"h",
		"d",
		"w",
		"nano",
		"micro",
		"milli",
		"hour",
		"hours",
		"hr",
		"min",
		"mins",
		"minute",
		"minutes",
		"sec",
		"secs",
		"second",
		"seconds",
		"day",
		"days",
		"week",
		"weeks",
		"nanos",
		"micros",
		"millis",
		"nanosecond",
		"nanoseconds",
		"microsecond",
		"microseconds",
		"millisecond",
		"milliseconds",
	};
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (str_is(unit, units[i]))
			return true;
	return false;
}

/* Go durations (1h30m, -1.5s) and strfmt's "3 days". */
static bool is_duration(struct str s)
{
	if (s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = str_skip(s, 1);
	if (str_is(s, "0"))
		return true;
	if (s.len == 0)
		return false;
	while (s.len > 0) {
		size_t n = 0, digits = 0, unit = 0;
		bool point = false;
		for (; n < s.len && (char_is_digit(s.ptr[n]) || (s.ptr[n] == '.' && !point)); n++) {
			point |= s.ptr[n] == '.';
			digits += s.ptr[n] != '.';
		}
		if (digits == 0)
			return false;
		s = str_trim_left(str_skip(s, n));
		while (unit < s.len && !char_is_digit(s.ptr[unit]) && s.ptr[unit] != '.' &&
		       s.ptr[unit] != ' ')
			unit++;
		if (!is_unit(str_sub(s, 0, unit)))
			return false;
		s = str_trim_left(str_skip(s, unit));
	}
	return true;
}

static bool is_bson_object_id(struct str s)
{
	return s.len == 24 && all_of_class(s, char_is_hex);
}

static bool is_hex_color(struct str s)
{
	if (s.len > 0 && s.ptr[0] == '#')
		s = str_skip(s, 1);
	return (s.len == 3 || s.len == 6) && all_of_class(s, char_is_hex);
}

static bool is_rgb_color(struct str s)
{
	struct str part;
	int n = 0;
	if (!str_has_prefix(s, STR("rgb(")) || !str_has_suffix(s, STR(")")))
		return false;
	s = str_sub(s, 4, s.len - 5);
	while (str_next(&s, ',', &part)) {
		uint64_t v;
		part = str_trim(part);
		if (++n > 3 || !str_parse_u64(part, &v) || v > 255)
			return false;
	}
	return n == 3;
}

/* The check digit of ISBN-10 and -13, of credit cards (Luhn); blanks and dashes do not count. */
static size_t plain_digits(struct str s, char out[20])
{
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '-' || s.ptr[i] == ' ')
			continue;
		if (n == 19 || !(char_is_digit(s.ptr[i]) || (s.ptr[i] == 'X' && i + 1 == s.len)))
			return 0;
		out[n++] = s.ptr[i];
	}
	return n;
}

static bool is_isbn10(struct str s)
{
	char d[20];
	int sum = 0;
	if (plain_digits(s, d) != 10)
		return false;
	for (int i = 0; i < 10; i++)
		sum += (i + 1) * (d[i] == 'X' ? 10 : d[i] - '0');
	return sum % 11 == 0;
}

static bool is_isbn13(struct str s)
{
	char d[20];
	int sum = 0;
	if (plain_digits(s, d) != 13 || d[12] == 'X')
		return false;
	for (int i = 0; i < 13; i++)
		sum += (i % 2 ? 3 : 1) * (d[i] - '0');
	return sum % 10 == 0;
}

static bool is_isbn(struct str s)
{
	return is_isbn10(s) || is_isbn13(s);
}

static bool is_credit_card(struct str s)
{
	char d[20];
	int sum = 0;
	size_t n = plain_digits(s, d);
	if (n < 13 || n > 19 || d[n - 1] == 'X')
		return false;
	for (size_t i = 0; i < n; i++) {
		int v = d[n - 1 - i] - '0';
		v = i % 2 ? 2 * v : v;
		sum += v > 9 ? v - 9 : v;
	}
	return sum % 10 == 0;
}

static bool is_ssn(struct str s)
{
	if (s.len != 11 || !digits_at(s, 0, 3) || !digits_at(s, 4, 2) || !digits_at(s, 7, 4))
		return false;
	return (s.ptr[3] == '-' || s.ptr[3] == ' ') && s.ptr[6] == s.ptr[3];
}

static bool is_anything(struct str s)
{
	(void)s;
	return true;
}

/* To add a format: one row. */
static const struct {
	const char *name;
	bool (*is_valid)(struct str s);
} formats[] = {
	{"date-time", is_date_time},
	{"datetime", is_date_time},
	{"date", is_date},
	{"uuid", is_uuid},
	{"uuid3", is_uuid3},
	{"uuid4", is_uuid4},
	{"uuid5", is_uuid5},
	{"ipv4", is_ipv4},
	{"ipv6", is_ipv6},
	{"cidr", is_cidr},
	{"mac", is_mac},
	{"hostname", is_hostname},
	{"email", is_email},
	{"uri", is_uri},
	{"byte", is_byte},
	{"duration", is_duration},
	{"password", is_anything},
	{"bsonobjectid", is_bson_object_id},
	{"hexcolor", is_hex_color},
	{"rgbcolor", is_rgb_color},
	{"isbn", is_isbn},
	{"isbn10", is_isbn10},
	{"isbn13", is_isbn13},
	{"creditcard", is_credit_card},
	{"ssn", is_ssn},
	{"k8s-short-name", name_is_dns_label},
	{"k8s-long-name", name_is_dns_subdomain},
};

bool schema_format_known(const char *format)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].name, format) == 0)
			return true;
	return strcmp(format, "int32") == 0 || strcmp(format, "int64") == 0;
}

bool schema_format_valid(const char *format, struct str s)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].name, format) == 0)
			return formats[i].is_valid(s);
	return true;
}
