#include "alm/io/address.h"

#include <arpa/inet.h>
#include <string.h>

struct range {
	struct address net;
	unsigned bits;
};

/* Special purpose (RFC 6890 and its registries); documentation and benchmarks belong to nobody. */
/* clang-format off */
static const struct range not_public[] = {
	{{false, {0}}, 8},                    /* this network */
	{{false, {10}}, 8},                   /* private */
	{{false, {100, 64}}, 10},             /* shared, carrier-grade NAT */
	{{false, {127}}, 8},                  /* loopback */
	{{false, {169, 254}}, 16},            /* link-local, metadata of clouds */
	{{false, {172, 16}}, 12},             /* private */
	{{false, {192, 0, 0}}, 24},           /* protocol assignments */
	{{false, {192, 0, 2}}, 24},           /* documentation */
	{{false, {192, 88, 99}}, 24},         /* 6to4 relays, gone */
	{{false, {192, 168}}, 16},            /* private */
	{{false, {198, 18}}, 15},             /* benchmarks */
	{{false, {198, 51, 100}}, 24},        /* documentation */
	{{false, {203, 0, 113}}, 24},         /* documentation */
	{{false, {224}}, 3},                  /* multicast, reserved, broadcast */
	{{true, {0x20, 0x01, 0x00}}, 23},     /* protocol assignments, Teredo */
	{{true, {0x20, 0x01, 0x0d, 0xb8}}, 32}, /* documentation */
	{{true, {0x3f, 0xff}}, 20},           /* documentation */
};
static const struct range global_unicast = {{true, {0x20}}, 3}; /* all there is of IPv6 */
static const struct range mapped = {{true, {[10] = 0xff, [11] = 0xff}}, 96};
static const struct range nat64 = {{true, {0x00, 0x64, 0xff, 0x9b}}, 96};
static const struct range six_to_four = {{true, {0x20, 0x02}}, 16};
/* clang-format on */

static bool is_in(const struct range *r, const struct address *a)
{
	size_t whole = r->bits / 8;
	unsigned rest = r->bits % 8, mask = rest ? 0xffU << (8 - rest) & 0xffU : 0;
	if (r->net.v6 != a->v6 || memcmp(r->net.bytes, a->bytes, whole) != 0)
		return false;
	return !rest || ((r->net.bytes[whole] ^ a->bytes[whole]) & mask) == 0;
}

static struct address v4_at(const struct address *a, size_t at)
{
	struct address v4 = {0};
	memcpy(v4.bytes, a->bytes + at, 4);
	return v4;
}

/* The IPv4 address that it stands for; else itself. */
static struct address plain(const struct address *a)
{
	if (is_in(&mapped, a) || is_in(&nat64, a))
		return v4_at(a, 12);
	return is_in(&six_to_four, a) ? v4_at(a, 2) : *a;
}

bool address_is_public(const struct address *a)
{
	struct address p = plain(a);
	if (p.v6 && !is_in(&global_unicast, &p))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(not_public); i++)
		if (is_in(&not_public[i], &p))
			return false;
	return true;
}

bool address_parse(struct str text, struct address *ret)
{
	char buf[INET6_ADDRSTRLEN];
	struct address a = {0};
	if (!text.len || text.len >= sizeof(buf))
		return false;
	memcpy(buf, text.ptr, text.len);
	buf[text.len] = 0;
	a.v6 = strchr(buf, ':') != NULL;
	if (inet_pton(a.v6 ? AF_INET6 : AF_INET, buf, a.bytes) != 1)
		return false;
	*ret = a;
	return true;
}

void address_print(const struct address *a, char out[ADDRESS_TEXT_MAX])
{
	if (!inet_ntop(a->v6 ? AF_INET6 : AF_INET, a->bytes, out, ADDRESS_TEXT_MAX))
		*out = 0;
}

/* --- the policy --- */

struct rule {
	char *host;         /* NULL: a range */
	struct range range; /* plain() */
	unsigned port;      /* 0: any */
};

struct address_policy {
	struct rule rules[ADDRESS_RULES_MAX];
	size_t n;
};

static bool is_host(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && !(i && (s.ptr[i] == '-' || s.ptr[i] == '.')) &&
		    s.ptr[i] != '_')
			return false;
	return s.len > 0 && s.len <= 253;
}

static bool read_port(struct str s, unsigned *ret)
{
	uint64_t n;
	if (!str_parse_u64(s, &n) || n == 0 || n > 65535)
		return false;
	*ret = (unsigned)n;
	return true;
}

static bool read_cidr(struct str text, struct rule *ret)
{
	struct str net, bits;
	uint64_t n;
	if (!str_cut(text, '/', &net, &bits) || !address_parse(net, &ret->range.net) ||
	    !str_parse_u64(bits, &n) || n > (ret->range.net.v6 ? 128 : 32))
		return false;
	ret->range.bits = (unsigned)n;
	return true;
}

/* "[fd00::1]:443", "10.0.0.1:443", "host:443", or any of them without the port. */
static bool read_endpoint(struct str s, struct rule *ret)
{
	struct str port = STR_NONE, inside;
	if (str_has_prefix(s, STR("["))) {
		if (!str_cut(str_skip(s, 1), ']', &inside, &port) ||
		    (port.len && port.ptr[0] != ':'))
			return false;
		s = inside;
		port = port.len ? str_skip(port, 1) : STR_NONE;
	} else if (str_find_char(s, ':') == str_rfind_char(s, ':')) {
		if (!str_cut(s, ':', &s, &port))
			port = STR_NONE;
	} /* else IPv6 without brackets has no port */
	if (port.ptr && !read_port(port, &ret->port))
		return false;
	if (address_parse(s, &ret->range.net)) {
		ret->range.net = plain(&ret->range.net);
		ret->range.bits = ret->range.net.v6 ? 128 : 32;
		return true;
	}
	if (!is_host(s))
		return false;
	ret->host = str_dup(s);
	for (char *p = ret->host; *p; p++)
		*p = char_lower(*p);
	return true;
}

int address_policy_new(const char *const *rules, size_t n, struct address_policy **ret,
		       struct error *err)
{
	CLEANUP(address_policy_freep) struct address_policy *p = xcalloc(1, sizeof(*p));
	for (size_t i = 0; i < n; i++) {
		struct str s = str_of(rules[i]);
		struct rule r = {0};
		if (p->n == ADDRESS_RULES_MAX)
			return error_set(err, E_USAGE, "more than %d addresses", ADDRESS_RULES_MAX);
		if (str_find_char(s, '/') >= 0 ? !read_cidr(s, &r) : !read_endpoint(s, &r))
			return error_set(err, E_USAGE,
					 "%.200s: want HOST[:PORT], ADDRESS[:PORT] or CIDR",
					 rules[i]);
		p->rules[p->n++] = r;
	}
	*ret = STEAL(p);
	return 0;
}

void address_policy_free(struct address_policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		xfree(p->rules[i].host);
	xfree(p);
}

bool address_policy_allows(const struct address_policy *p, const char *host, unsigned port,
			   const struct address *a)
{
	struct address judged = plain(a);
	if (address_is_public(&judged))
		return true;
	for (size_t i = 0; i < p->n; i++) {
		const struct rule *r = &p->rules[i];
		if (r->port && r->port != port)
			continue;
		if (r->host ? !strcmp(r->host, host) : is_in(&r->range, &judged))
			return true;
	}
	return false;
}
