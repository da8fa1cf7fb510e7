/* address_check: see address_check.h. */
#include "alm/apiserver/kinds/address_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/io/address.h"

#define SLICE_ENDPOINTS_MAX 1000
#define SLICE_ADDRESSES_MAX 100
#define SLICE_PORTS_MAX     20000
#define SLICE_HINTS_MAX     8

/* --- addresses --- */

/* As Go read them once: numbers of IPv4 may begin with 0. ret_zero: one does. */
static bool read_ip(struct str s, struct address *ret, bool *ret_zero)
{
	char plain[64] = {0};
	size_t n = 0;
	*ret_zero = false;
	if (!s.len || s.len >= sizeof(plain) || memchr(s.ptr, 0, s.len))
		return false;
	bool v6 = str_find_char(s, ':') >= 0;
	for (size_t i = 0; i < s.len; i++) {
		bool first = n == 0 || plain[n - 1] == '.';
		bool more = i + 1 < s.len && char_is_digit(s.ptr[i + 1]);
		if (!v6 && s.ptr[i] == '0' && first && more)
			*ret_zero = true;
		else
			plain[n++] = s.ptr[i];
	}
	return n && address_parse(str_n(plain, n), ret);
}

bool address_is_ip(const char *text)
{
	struct address a;
	bool zero;
	return read_ip(str_of(text), &a, &zero);
}

static bool is_mapped(const struct address *a)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	return a->v6 && memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

void check_ip(struct field_errors *e, const char *path, const char *text, bool canonical)
{
	struct address a;
	bool zero;
	char form[ADDRESS_TEXT_MAX];
	if (!read_ip(str_of(text), &a, &zero)) {
		check_invalid_text(e, path, text,
				   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
		return;
	}
	address_print(&a, form);
	if (zero)
		check_invalid_text(e, path, text, "must not have leading 0s");
	if (is_mapped(&a))
		check_invalid_text(e, path, text, "must not be an IPv4-mapped IPv6 address");
	if (canonical && !zero && !is_mapped(&a) && strcmp(form, text) != 0)
		check_invalid_text(e, path, text,
				   arena_fmt(e->arena, "must be in canonical form (\"%s\")", form));
}

static bool has_bits_beyond(const struct address *a, int64_t prefix)
{
	for (size_t i = 0; i < (a->v6 ? 16 : 4); i++) {
		int64_t left = prefix - (int64_t)i * 8;
		unsigned beyond = left >= 8 ? 0 : left <= 0 ? 0xffU : 0xffU >> left;
		if (a->bytes[i] & beyond)
			return true;
	}
	return false;
}

static bool read_cidr(struct str s, struct address *ret, int64_t *ret_prefix, bool *ret_zero)
{
	struct str ip, prefix;
	int64_t n = 0;
	if (!str_cut(s, '/', &ip, &prefix) || !prefix.len || prefix.len > 9 ||
	    !read_ip(ip, ret, ret_zero))
		return false;
	for (size_t i = 0; i < prefix.len; i++) {
		if (!char_is_digit(prefix.ptr[i]))
			return false;
		n = n * 10 + (prefix.ptr[i] - '0');
	}
	*ret_zero |= prefix.len > 1 && prefix.ptr[0] == '0';
	*ret_prefix = n;
	return n <= (ret->v6 ? 128 : 32);
}

void check_cidr(struct field_errors *e, const char *path, const char *text, bool canonical)
{
	struct address a;
	int64_t prefix;
	bool zero;
	char form[ADDRESS_TEXT_MAX];
	const char *why = NULL;
	if (!read_cidr(str_of(text), &a, &prefix, &zero)) {
		check_invalid_text(
			e, path, text,
			"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
		return;
	}
	address_print(&a, form);
	const char *whole = arena_fmt(e->arena, "%s/%lld", form, (long long)prefix);
	if (zero)
		why = "must not have leading 0s in IP or prefix length";
	else if (is_mapped(&a))
		why = "must not have an IPv4-mapped IPv6 address";
	else if (has_bits_beyond(&a, prefix))
		why = "must not have bits set beyond the prefix length";
	else if (canonical && strcmp(whole, text) != 0)
		why = arena_fmt(e->arena, "must be in canonical form (\"%s\")", whole);
	if (why)
		check_invalid_text(e, path, text, why);
}

/* Is y's address in the range of x? */
void check_interface_address(struct field_errors *e, const char *path, const char *text)
{
	struct address a;
	int64_t prefix;
	bool zero;
	char form[ADDRESS_TEXT_MAX];
	if (!read_cidr(str_of(text), &a, &prefix, &zero)) {
		check_invalid_text(e, path, text,
				   "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or "
				   "2001:db8::1/64)");
		return;
	}
	if (is_mapped(&a)) { /* shown as the address of IPv4 that it is */
		a = (struct address){.bytes = {a.bytes[12], a.bytes[13], a.bytes[14], a.bytes[15]}};
		prefix -= prefix > 32 ? 96 : 0;
	}
	address_print(&a, form);
	const char *whole = arena_fmt(e->arena, "%s/%lld", form, (long long)prefix);
	if (strcmp(whole, text) != 0)
		check_invalid_text(
			e, path, text,
			arena_fmt(e->arena, "must be in canonical form (\"%s\")", whole));
}

static bool has_address(const struct address *x, int64_t prefix, const struct address *y)
{
	struct address differs = *x;
	for (size_t i = 0; i < sizeof(differs.bytes); i++)
		differs.bytes[i] ^= y->bytes[i];
	for (int64_t bit = 0; bit < prefix; bit++)
		if (differs.bytes[bit / 8] & (0x80U >> (bit % 8)))
			return false;
	return x->v6 == y->v6;
}

void check_ip_block(struct field_errors *e, const char *path, const struct obj *block)
{
	const char *cidr = check_text(block, "cidr"), *at = check_below(e, path, "cidr");
	const struct obj *except = obj_get(block, "except");
	struct address all, part;
	int64_t prefix, longer;
	bool zero;
	if (!*cidr) {
		check_required(e, at, NULL);
		return;
	}
	check_cidr(e, at, cidr, false);
	if (!read_cidr(str_of(cidr), &all, &prefix, &zero))
		return;
	for (size_t i = 0; i < obj_len(except); i++) {
		const char *text = obj_as_string(obj_at(except, i));
		at = check_at(e, check_below(e, path, "except"), i);
		check_cidr(e, at, text ? text : "", false);
		if (text && read_cidr(str_of(text), &part, &longer, &zero) &&
		    (!has_address(&all, prefix, &part) || longer <= prefix))
			check_invalid_text(e, at, text, "must be a strict subset of `cidr`");
	}
}

/* --- ranges and addresses of Services --- */

#define CIDRS "spec.cidrs"

void check_service_cidr(struct field_errors *e, const struct obj *o)
{
	const struct obj *list = obj_path(o, CIDRS);
	struct address a[2] = {0};
	bool zero;
	int64_t prefix;
	if (!obj_len(list)) {
		check_required(e, CIDRS, "at least one CIDR required");
		return;
	}
	if (obj_len(list) > 2) {
		check_invalid(e, CIDRS, obj_get(o, "spec"), "may only hold up to 2 values");
		return;
	}
	bool both = obj_len(list) == 2;
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *text = obj_as_string(obj_at(list, i));
		check_cidr(e, check_at(e, CIDRS, i), text, true);
		both = both && read_cidr(str_of(text), &a[i], &prefix, &zero);
	}
	if (both && a[0].v6 == a[1].v6)
		check_invalid(e, CIDRS, list,
			      "may specify no more than one IP for each IP family, i.e "
			      "192.168.0.0/24 and 2001:db8::/64");
}

static void cidr_kept(struct field_errors *e, const struct obj *is, const struct obj *was, size_t i)
{
	if (!obj_equal(obj_at(is, i), obj_at(was, i)))
		check_invalid(e, check_at(e, CIDRS, i), obj_at(is, i), "field is immutable");
}

/* One of the other family may come, and is all that is judged of an update. */
void service_cidr_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_path(o, CIDRS), *was = obj_path(before, CIDRS);
	if (obj_len(is) == obj_len(was)) {
		for (size_t i = 0; i < obj_len(is); i++)
			cidr_kept(e, is, was, i);
	} else if (obj_len(was) == 1 && obj_len(is) == 2) {
		cidr_kept(e, is, was, 0);
		check_service_cidr(e, o);
	} else {
		CLEANUP(obj_unrefp) struct obj *shown = obj_copy_list(is);
		check_invalid(e, CIDRS, shown, "field is immutable");
	}
}

static void check_parent(struct field_errors *e, const struct obj *p, const char *field,
			 bool required)
{
	const char *path = arena_fmt(e->arena, "spec.parentRef.%s", field);
	if (required && check_is_empty(p, field))
		check_required(e, path, NULL);
	check_segment(e, path, check_text(p, field));
}

void check_ip_address(struct field_errors *e, const struct obj *o)
{
	const struct obj *parent = obj_path(o, "spec.parentRef");
	if (!parent) {
		check_required(e, "spec.parentRef", NULL);
		return;
	}
	check_name_rule(e, "spec.parentRef.group", NAME_DNS_SUBDOMAIN, check_text(parent, "group"));
	check_parent(e, parent, "resource", true);
	check_parent(e, parent, "name", true);
	check_parent(e, parent, "namespace", false);
}

void ip_address_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	static const char *const fields[] = {"Group:group", "Resource:resource",
					     "Namespace:namespace", "Name:name", NULL};
	const struct obj *is = obj_path(o, "spec.parentRef");
	if (!obj_equal(is, obj_path(before, "spec.parentRef")))
		check_invalid_struct(e, "spec.parentRef", is, fields, "field is immutable");
}

/* --- endpoints --- */

static bool is_in(const struct address *a, bool v6, unsigned char first, unsigned char second,
		  unsigned char mask)
{
	return a->v6 == v6 && a->bytes[0] == first && (a->bytes[1] & mask) == second;
}

static bool is_all_zero(const struct address *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a->bytes[i])
			return false;
	return true;
}

void check_reachable(struct field_errors *e, const char *path, const char *text)
{
	struct address a;
	bool zero;
	if (!read_ip(str_of(text), &a, &zero)) {
		check_invalid_text(e, path, text, "must be a valid IP address");
		return;
	}
	size_t n = a.v6 ? 16 : 4;
	bool loop = a.v6 ? is_all_zero(&a, 15) && a.bytes[15] == 1 : a.bytes[0] == 127;
	if (is_all_zero(&a, n))
		check_invalid_text(e, path, text,
				   arena_fmt(e->arena, "may not be unspecified (%s)", text));
	if (loop)
		check_invalid_text(e, path, text,
				   "may not be in the loopback range (127.0.0.0/8, ::1/128)");
	if (is_in(&a, false, 169, 254, 0xff) || is_in(&a, true, 0xfe, 0x80, 0xc0))
		check_invalid_text(e, path, text,
				   "may not be in the link-local range (169.254.0.0/16, "
				   "fe80::/10)");
	if ((is_in(&a, false, 224, 0, 0xff) && a.bytes[2] == 0) || is_in(&a, true, 0xff, 2, 0x0f))
		check_invalid_text(e, path, text,
				   "may not be in the link-local multicast range (224.0.0.0/24, "
				   "ff02::/10)");
}

static void check_node_name(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *name = obj_str(o, "nodeName");
	if (name)
		check_named(e, check_below(e, path, "nodeName"), NAME_DNS_SUBDOMAIN, name);
}

static void check_addresses(struct field_errors *e, const char *path, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *at = check_at(e, path, i), *ip = check_text(o, "ip");
		check_ip(e, check_below(e, at, "ip"), ip, false);
		check_name_rule(e, check_below(e, at, "hostname"), NAME_DNS_LABEL,
				check_text(o, "hostname"));
		check_node_name(e, at, o);
		check_reachable(e, check_below(e, at, "ip"), ip);
	}
}

static void check_protocol(struct field_errors *e, const char *path, const struct obj *p)
{
	static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
	const char *name = obj_str(p, "appProtocol");
	field_errors_one_of(e, check_below(e, path, "protocol"), check_text(p, "protocol"),
			    protocols);
	if (name)
		check_qualified(e, check_below(e, path, "appProtocol"), name);
}

static void check_subset(struct field_errors *e, const char *path, const struct obj *s)
{
	const struct obj *ready = obj_get(s, "addresses"),
			 *not_ready = obj_get(s, "notReadyAddresses");
	const struct obj *ports = obj_get(s, "ports");
	if (!obj_len(ready) && !obj_len(not_ready))
		check_required(e, path, "must specify `addresses` or `notReadyAddresses`");
	check_addresses(e, check_below(e, path, "addresses"), ready);
	check_addresses(e, check_below(e, path, "notReadyAddresses"), not_ready);
	for (size_t i = 0; i < obj_len(ports); i++) {
		const struct obj *p = obj_at(ports, i);
		const char *at = check_at(e, check_below(e, path, "ports"), i);
		int64_t port = obj_i64(p, "port", 0);
		if (obj_len(ports) > 1 && check_is_empty(p, "name"))
			check_required(e, check_below(e, at, "name"), NULL);
		check_name_rule(e, check_below(e, at, "name"), NAME_DNS_LABEL,
				check_text(p, "name"));
		if (port < 1 || port > 65535)
			field_errors_add(e, FIELD_INVALID, check_below(e, at, "port"),
					 "Invalid value: %lld: must be between 1 and 65535, "
					 "inclusive",
					 (long long)port);
		check_protocol(e, at, p);
	}
}

void check_endpoints(struct field_errors *e, const struct obj *o)
{
	const struct obj *list = obj_get(o, "subsets");
	for (size_t i = 0; i < obj_len(list); i++)
		check_subset(e, check_at(e, "subsets", i), obj_at(list, i));
}

/* --- slices --- */

static void check_slice_ports(struct field_errors *e, const struct obj *ports)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	(void)check_length(e, "ports", ports, SLICE_PORTS_MAX);
	for (size_t i = 0; i < obj_len(ports) && obj_len(ports) <= SLICE_PORTS_MAX; i++) {
		const char *name = check_text(obj_at(ports, i), "name"),
			   *at = check_at(e, "ports", i);
		check_name_rule(e, check_below(e, at, "name"), NAME_DNS_LABEL, name);
		if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "name"), name);
		check_protocol(e, at, obj_at(ports, i));
	}
}

/* A name of a host that has a domain; one at its end may be empty. */
static void check_full_domain(struct field_errors *e, const char *path, const char *text)
{
	size_t n = strlen(text), before = e->n;
	if (n == 0) {
		check_required(e, path, NULL);
		return;
	}
	const char *name = arena_strndup(e->arena, text, n - (text[n - 1] == '.'));
	check_named(e, path, NAME_DNS_SUBDOMAIN, name);
	if (e->n == before && !strchr(name, '.'))
		check_invalid_text(e, path, name,
				   "should be a domain with at least two segments separated by "
				   "dots");
	for (const char *label = name; e->n == before && label; label = strchr(label, '.')) {
		label += *label == '.';
		check_named(e, path, NAME_DNS_LABEL,
			    arena_strndup(e->arena, label, strcspn(label, ".")));
	}
}

static void check_slice_address(struct field_errors *e, const char *list, size_t i,
				const char *text, const char *type)
{
	size_t before = e->n;
	const char *path = check_at(e, list, i);
	bool v6 = strcmp(type, "IPv6") == 0;
	if (strcmp(type, "FQDN") == 0)
		check_full_domain(e, path, text);
	if (!v6 && strcmp(type, "IPv4") != 0)
		return;
	check_ip(e, path, text, v6);
	if (e->n > before)
		return;
	if ((strchr(text, ':') != NULL) != v6)
		check_invalid_text(e, list, text,
				   v6 ? "must be an IPv6 address" : "must be an IPv4 address");
	check_reachable(e, path, text);
}

/* What is near the endpoint. */
static void check_hints(struct field_errors *e, const char *path, const struct obj *hints)
{
	static const char *const lists[] = {"forZones", "forNodes"};
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_get(hints, lists[k]);
		const char *at = check_below(e, path, lists[k]);
		CLEANUP(map_freep) struct map *seen = map_new(NULL);
		(void)check_length(e, at, list, SLICE_HINTS_MAX);
		if (obj_len(list) > SLICE_HINTS_MAX)
			return;
		for (size_t i = 0; i < obj_len(list); i++) {
			const char *name = check_text(obj_at(list, i), "name");
			const char *here = check_below(e, check_at(e, at, i), "name");
			if (check_again(seen, name))
				field_errors_add_text(e, FIELD_DUPLICATE, here, name);
			check_named(e, here, k ? NAME_DNS_SUBDOMAIN : NAME_LABEL_VALUE, name);
		}
	}
}

static void check_endpoint(struct field_errors *e, const char *path, const struct obj *o,
			   const char *type)
{
	const struct obj *list = obj_get(o, "addresses");
	const char *at = check_below(e, path, "addresses"), *host = obj_str(o, "hostname");
	if (!obj_len(list))
		check_required(e, at, "must contain at least 1 address");
	(void)check_length(e, at, list, SLICE_ADDRESSES_MAX);
	for (size_t i = 0; i < obj_len(list); i++)
		check_slice_address(e, at, i, obj_as_string(obj_at(list, i)), type);
	check_node_name(e, path, o);
	if (host)
		check_named(e, check_below(e, path, "hostname"), NAME_DNS_LABEL, host);
	check_hints(e, check_below(e, path, "hints"), obj_get(o, "hints"));
}

void check_endpoint_slice(struct field_errors *e, const struct obj *o)
{
	static const char *const types[] = {"FQDN", "IPv4", "IPv6", NULL};
	const char *type = check_text(o, "addressType");
	const struct obj *list = obj_get(o, "endpoints");
	if (!*type)
		check_required(e, "addressType", NULL);
	else
		field_errors_one_of(e, "addressType", type, types);
	check_slice_ports(e, obj_get(o, "ports"));
	(void)check_length(e, "endpoints", list, SLICE_ENDPOINTS_MAX);
	for (size_t i = 0; i < obj_len(list) && obj_len(list) <= SLICE_ENDPOINTS_MAX; i++)
		check_endpoint(e, check_at(e, "endpoints", i), obj_at(list, i), type);
}

void endpoint_slice_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_get(o, "endpoints"), *was = obj_get(before, "endpoints");
	size_t n = 0;
	for (size_t i = 0; i < e->n; i++) /* those that are as they were are forgiven */
		if (!is || !was || !obj_equal(is, was) ||
		    !cstr_has_prefix(e->items[i].path, "endpoints"))
			e->items[n++] = e->items[i];
	e->n = n;
	if (strcmp(check_text(o, "addressType"), check_text(before, "addressType")) != 0)
		check_invalid_text(e, "addressType", check_text(o, "addressType"),
				   "field is immutable");
}
