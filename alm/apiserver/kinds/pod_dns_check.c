/* pod_dns_check: how a Pod finds addresses, as core/validation of Kubernetes 1.36 has it; see pod_parts.h. */
#include "alm/apiserver/kinds/pod_parts.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/rule_check.h"
#include "alm/obj/gvk.h"

#define SERVERS_MAX        3
#define SEARCHES_MAX       32
#define SEARCHES_BYTES_MAX 2048

/* Without that of the cluster it needs one of its own. false: it has none, and nothing more is told of it. */
static bool check_resolver(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *policy = obj_get(spec, "dnsPolicy"), *config = obj_get(spec, "dnsConfig");
	if (strcmp(check_text(spec, "dnsPolicy"), "None") != 0)
		return true;
	if (!config) {
		check_required(e, path, "must provide `dnsConfig` when `dnsPolicy` is None");
		check_said_of(e, policy);
	} else if (!obj_len(obj_get(config, "nameservers"))) {
		check_required(e, check_below(e, path, "nameservers"),
			       "must provide at least one DNS nameserver when `dnsPolicy` is None");
		check_said_of(e, config);
		return false;
	}
	return true;
}

/* Names in lower case that may have an underscore in front of each part, and in it. */
static bool is_search(struct str s)
{
	struct str part;
	bool good = s.len > 0 && s.ptr[s.len - 1] != '.';
	while (good && str_next(&s, '.', &part)) {
		part = str_skip(part, part.len && part.ptr[0] == '_');
		good = part.len && part.ptr[0] != '-' && part.ptr[0] != '_' &&
		       part.ptr[part.len - 1] != '-' && part.ptr[part.len - 1] != '_';
		for (size_t i = 0; i < part.len; i++)
			good = good && (char_is_alnum(part.ptr[i]) || strchr("-_", part.ptr[i])) &&
			       !(part.ptr[i] >= 'A' && part.ptr[i] <= 'Z');
	}
	return good;
}

static void check_searches(struct field_errors *e, const char *path, const struct obj *list)
{
	size_t bytes = 0, from = e->n;
	for (size_t i = 0; i < obj_len(list); i++)
		bytes += (i > 0) + obj_as_str(obj_at(list, i)).len;
	if (obj_len(list) > SEARCHES_MAX)
		check_invalid(e, path, list, "must not have more than 32 search paths");
	if (bytes > SEARCHES_BYTES_MAX)
		check_invalid(e, path, list,
			      "must not have more than 2048 characters (including spaces) in the "
			      "search list");
	check_said_since(e, from, list);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *is = obj_as_string(obj_at(list, i));
		size_t n = is ? strlen(is) : 0;
		char *bare = arena_strndup(e->arena, is ? is : "", n - (n && is[n - 1] == '.'));
		if (is && strcmp(is, ".") == 0)
			continue;
		if (strlen(bare) > GVK_NAME_MAX)
			check_invalid_text(e, check_at(e, path, i), bare,
					   "must be no more than 253 characters");
		if (!is_search(str_of(bare)))
			check_invalid_text(
				e, check_at(e, path, i), bare,
				"a lowercase RFC 1123 subdomain must consist of lower case "
				"alphanumeric characters, '_', '-' or '.', and must start "
				"and end with an alphanumeric character (e.g. "
				"'example.com', regex used for validation is "
				"'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*"
				"[a-z0-9])?)*')");
	}
}

void pod_check_dns(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *config = obj_get(spec, "dnsConfig"),
			 *options = obj_get(config, "options");
	const struct obj *servers = obj_get(config, "nameservers");
	const char *in = check_below(e, path, "dnsConfig");
	if (!check_resolver(e, in, spec))
		return;
	if (obj_len(servers) > SERVERS_MAX) {
		check_invalid(e, check_below(e, in, "nameservers"), servers,
			      "must not have more than 3 nameservers");
		check_said_of(e, servers);
	}
	rule_check_part(e, "dns", path, spec);
	check_searches(e, check_below(e, in, "searches"), obj_get(config, "searches"));
	for (size_t i = 0; i < obj_len(options); i++)
		if (check_is_empty(obj_at(options, i), "name"))
			check_required(e, check_at(e, check_below(e, in, "options"), i),
				       "must not be empty");
}
