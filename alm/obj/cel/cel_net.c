/* cel_net: ip() and cidr() and what they are asked for, as k8s.io/apiserver/pkg/cel/library (ip.go,
 * cidr.go): no zones, no IPv4 in IPv6. */
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/cel/cel_table.h"
#include "alm/obj/schema/schema.h"
#include "alm/obj/schema/schema_node.h"

static bool is_mapped(const struct cel_ip *ip)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	return ip->n == 16 && memcmp(ip->bytes, mapped, sizeof(mapped)) == 0;
}

/* Of a text that is one. */
static void read_v4(struct str s, unsigned char out[4])
{
	struct str part;
	int64_t n = 0;
	for (size_t i = 0; i < 4 && str_next(&s, '.', &part); i++)
		if (str_parse_i64(part, &n))
			out[i] = (unsigned char)n;
}

/* The bytes of "2001:db8:1.2.3.4", which has no "::". */
static size_t read_groups(struct str s, unsigned char out[16])
{
	struct str part;
	size_t n = 0;
	while (s.len && n <= 14 && str_next(&s, ':', &part)) {
		unsigned char group[2] = {0};
		char padded[5] = "0000";
		if (str_find_char(part, '.') >= 0) {
			read_v4(part, out + n);
			n += n <= 12 ? 4 : 0;
			continue;
		}
		if (part.len && part.len <= 4)
			memcpy(padded + 4 - part.len, part.ptr, part.len);
		(void)hex_decode(str_n(padded, 4), group, 2);
		out[n++] = group[0];
		out[n++] = group[1];
	}
	return n;
}

static void read_v6(struct str s, unsigned char out[16])
{
	unsigned char tail[16 + 4] = {0}, head[16 + 4] = {0};
	ptrdiff_t gap = str_find(s, STR("::"));
	size_t n = read_groups(gap < 0 ? s : str_sub(s, 0, (size_t)gap), head);
	size_t m = gap < 0 ? 0 : read_groups(str_skip(s, (size_t)gap + 2), tail);
	memcpy(out, head, n < 16 ? n : 16);
	if (m <= 16 - (n < 16 ? n : 16))
		memcpy(out + 16 - m, tail, m);
}

static bool read_ip(struct str s, struct cel_ip *ret)
{
	*ret = (struct cel_ip){.prefix = -1, .n = str_find_char(s, ':') >= 0 ? 16 : 4};
	if (!schema_format_valid(ret->n == 4 ? "ipv4" : "ipv6", s))
		return false;
	if (ret->n == 4)
		read_v4(s, ret->bytes);
	else
		read_v6(s, ret->bytes);
	return !is_mapped(ret);
}

static bool read_cidr(struct str s, struct cel_ip *ret)
{
	struct str ip, prefix;
	int64_t n;
	if (!str_cut(s, '/', &ip, &prefix) || !read_ip(ip, ret) || prefix.len == 0 ||
	    prefix.len > 3 || !str_parse_i64(prefix, &n) || n < 0 || n > (int64_t)ret->n * 8 ||
	    prefix.ptr[0] == '+' || (prefix.len > 1 && prefix.ptr[0] == '0'))
		return false;
	ret->prefix = (int)n;
	return true;
}

static struct cel_value of_ip(const struct cel_ip *ip, enum cel_kind kind, struct cel_call *c)
{
	return (struct cel_value){.kind = kind, .ip = arena_memdup(c->a, ip, sizeof(*ip))};
}

/* The longest run of groups that are 0, of two at least; from the first of alike ones (RFC 5952). */
static size_t longest_gap(const struct cel_ip *ip, size_t *ret_n)
{
	size_t at = 8, best = 1;
	for (size_t i = 0; i < 8; i++) {
		size_t n = 0;
		while (i + n < 8 && !ip->bytes[2 * (i + n)] && !ip->bytes[2 * (i + n) + 1])
			n++;
		if (n > best) {
			best = n;
			at = i;
		}
	}
	*ret_n = best;
	return at;
}

static void add_v6(const struct cel_ip *ip, struct strbuf *b)
{
	size_t n, gap = longest_gap(ip, &n);
	for (size_t i = 0; i < 8; i++) {
		if (i == gap) {
			strbuf_adds(b, "::");
			i += n - 1;
			continue;
		}
		strbuf_addf(b, "%s%x", i && i != gap + n ? ":" : "",
			    (unsigned)ip->bytes[2 * i] << 8 | ip->bytes[2 * i + 1]);
	}
}

static const char *text_of(const struct cel_ip *ip, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const unsigned char *x = ip->bytes;
	if (ip->n == 4)
		strbuf_addf(&b, "%d.%d.%d.%d", x[0], x[1], x[2], x[3]);
	else
		add_v6(ip, &b);
	if (ip->prefix >= 0)
		strbuf_addf(&b, "/%d", ip->prefix);
	return arena_strdup(a, b.buf);
}

/* Do the first bits of both agree? */
static bool agrees(const struct cel_ip *net, const struct cel_ip *ip)
{
	size_t whole = (size_t)net->prefix / 8, rest = (size_t)net->prefix % 8;
	if (net->n != ip->n || memcmp(net->bytes, ip->bytes, whole) != 0)
		return false;
	unsigned mask = rest ? 0xff00U >> rest & 0xffU : 0;
	return !rest || ((net->bytes[whole] ^ ip->bytes[whole]) & mask) == 0;
}

/* --- ip --- */

CEL_FN(is_ip)
{
	struct cel_ip ip;
	return cel_bool(read_ip(v[0].str, &ip));
}

/* Go's words for what netip.ParseAddr() does not read; ret_at: from where it shows the text. */
static const char *v4_fault(struct str s, struct str *ret_at)
{
	unsigned value = 0, digits = 0, dots = 0;
	*ret_at = STR_NONE;
	for (size_t i = 0; i < s.len; i++) {
		char ch = s.ptr[i];
		*ret_at = str_skip(s, i);
		if (ch != '.' && !char_is_digit(ch))
			return "unexpected character";
		if (ch == '.' && (digits == 0 || i + 1 == s.len))
			return "IPv4 field must have at least one digit";
		*ret_at = STR_NONE;
		if (ch == '.' && dots++ == 3)
			return "IPv4 address too long";
		if (ch != '.' && digits == 1 && value == 0)
			return "IPv4 field has octet with leading zero";
		value = ch == '.' ? 0 : value * 10 + (unsigned)(ch - '0');
		digits = ch == '.' ? 0 : digits + 1;
		if (value > 255)
			return "IPv4 field has value >255";
	}
	return "IPv4 address too short";
}

static struct cel_value no_ip(struct str text, struct cel_call *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf behind = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	ptrdiff_t dot = str_find_char(text, '.'), colon = str_find_char(text, ':');
	struct str at = STR_NONE;
	const char *fault =
		dot >= 0 && (colon < 0 || dot < colon) ? v4_fault(text, &at) : "unable to parse IP";
	go_quote(text, &b);
	if (at.len > 0) {
		strbuf_adds(&behind, " (at ");
		go_quote(at, &behind);
		strbuf_addc(&behind, ')');
	}
	return cel_error(c->a,
			 "IP Address %s parse error during conversion from string: ParseAddr(%s): "
			 "%s%s",
			 b.buf, b.buf, fault, behind.buf);
}

CEL_FN(ip_of)
{
	struct cel_ip ip;
	if (!read_ip(v[0].str, &ip))
		return no_ip(v[0].str, c);
	return of_ip(&ip, CEL_IP, c);
}

CEL_FN(is_canonical)
{
	struct cel_ip ip;
	if (!read_ip(v[0].str, &ip))
		return no_ip(v[0].str, c);
	return cel_bool(str_is(v[0].str, text_of(&ip, c->a)));
}

static bool is_all(const struct cel_ip *ip, unsigned char byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ip->bytes[i] != byte)
			return false;
	return true;
}

static bool is_loopback(const struct cel_ip *ip)
{
	return ip->n == 4 ? ip->bytes[0] == 127 : is_all(ip, 0, 15) && ip->bytes[15] == 1;
}

static bool is_multicast(const struct cel_ip *ip)
{
	return ip->n == 4 ? (ip->bytes[0] & 0xf0) == 0xe0 : ip->bytes[0] == 0xff;
}

static bool is_local_unicast(const struct cel_ip *ip)
{
	return ip->n == 4 ? ip->bytes[0] == 169 && ip->bytes[1] == 254
			  : ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

static bool is_local_multicast(const struct cel_ip *ip)
{
	return ip->n == 4 ? ip->bytes[0] == 224 && ip->bytes[1] == 0 && ip->bytes[2] == 0
			  : ip->bytes[0] == 0xff && (ip->bytes[1] & 0x0f) == 0x02;
}

static bool is_global(const struct cel_ip *ip)
{
	bool broadcast = ip->n == 4 && is_all(ip, 0xff, 4);
	return !broadcast && !is_all(ip, 0, ip->n) && !is_loopback(ip) && !is_multicast(ip) &&
	       !is_local_unicast(ip);
}

/* clang-format off */
CEL_FN(family) { return cel_int(v[0].ip->n == 4 ? 4 : 6); }
CEL_FN(unspecified) { return cel_bool(is_all(v[0].ip, 0, v[0].ip->n)); }
CEL_FN(loopback) { return cel_bool(is_loopback(v[0].ip)); }
CEL_FN(local_multicast) { return cel_bool(is_local_multicast(v[0].ip)); }
CEL_FN(local_unicast) { return cel_bool(is_local_unicast(v[0].ip)); }
CEL_FN(global) { return cel_bool(is_global(v[0].ip)); }
CEL_FN(text) { return cel_string(str_of(text_of(v[0].ip, c->a))); }
/* clang-format on */

/* --- cidr --- */

CEL_FN(is_cidr)
{
	struct cel_ip ip;
	return cel_bool(read_cidr(v[0].str, &ip));
}

static struct cel_value no_cidr(struct str text, struct cel_call *c)
{
	static const char said[] = "network address parse error during conversion from string";
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	go_quote(text, &b);
	return cel_error(c->a, "%s: %s: netip.ParsePrefix(%s): %s", said, said, b.buf,
			 str_find_char(text, '/') < 0 ? "no '/'" : "unable to parse IP");
}

CEL_FN(cidr_of)
{
	struct cel_ip ip;
	if (!read_cidr(v[0].str, &ip))
		return no_cidr(v[0].str, c);
	return of_ip(&ip, CEL_CIDR, c);
}

CEL_FN(contains_ip)
{
	return cel_bool(agrees(v[0].ip, v[1].ip));
}

CEL_FN(contains_text)
{
	struct cel_ip ip;
	if (!read_ip(v[1].str, &ip))
		return cel_error(c->a, "no such overload"); /* as upstream */
	return cel_bool(agrees(v[0].ip, &ip));
}

static struct cel_value holds(const struct cel_ip *net, const struct cel_ip *other)
{
	return cel_bool(net->prefix <= other->prefix && agrees(net, other));
}

CEL_FN(contains_cidr)
{
	return holds(v[0].ip, v[1].ip);
}

CEL_FN(contains_cidr_text)
{
	struct cel_value other = cidr_of(&v[1], c);
	return other.kind == CEL_ERROR ? other : holds(v[0].ip, other.ip);
}

CEL_FN(ip_part)
{
	struct cel_ip ip = *v[0].ip;
	ip.prefix = -1;
	return of_ip(&ip, CEL_IP, c);
}

CEL_FN(masked)
{
	struct cel_ip ip = *v[0].ip;
	for (size_t i = 0; i < ip.n * 8; i++)
		if ((int)i >= ip.prefix)
			ip.bytes[i / 8] &= (unsigned char)~(0x80U >> i % 8);
	return of_ip(&ip, CEL_CIDR, c);
}

CEL_FN(prefix_length)
{
	return cel_int(v[0].ip->prefix);
}

/* clang-format off */
const struct cel_overload cel_net_fns[] = {
	{"isIP", "s", 'b', 'g', is_ip}, {"ip", "s", 'I', 'g', ip_of}, {"ip.isCanonical", "s", 'b', 'g', is_canonical},
	{"family", "I", 'i', 'm', family}, {"isUnspecified", "I", 'b', 'm', unspecified},
	{"isLoopback", "I", 'b', 'm', loopback}, {"isLinkLocalMulticast", "I", 'b', 'm', local_multicast},
	{"isLinkLocalUnicast", "I", 'b', 'm', local_unicast}, {"isGlobalUnicast", "I", 'b', 'm', global},
	{"string", "I", 's', 'g', text}, {"string", "C", 's', 'g', text},
	{"isCIDR", "s", 'b', 'g', is_cidr}, {"cidr", "s", 'C', 'g', cidr_of},
	{"containsIP", "CI", 'b', 'm', contains_ip}, {"containsIP", "Cs", 'b', 'm', contains_text},
	{"containsCIDR", "CC", 'b', 'm', contains_cidr}, {"containsCIDR", "Cs", 'b', 'm', contains_cidr_text},
	{"ip", "C", 'I', 'm', ip_part}, {"masked", "C", 'C', 'm', masked}, {"prefixLength", "C", 'i', 'm', prefix_length},
	{0},
};
/* clang-format on */
