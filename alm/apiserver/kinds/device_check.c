/* device_check: see device_check.h. */
#include "alm/apiserver/kinds/device_check.h"

#include <string.h>

#include "alm/apiserver/kinds/claim_check.h"
#include "alm/apiserver/kinds/device_amount_check.h"
#include "alm/apiserver/kinds/device_bindings_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/kinds/slice_check.h"
#include "alm/apiserver/kinds/status_check.h"
#include "alm/apiserver/kinds/storage_check.h"
#include "alm/apiserver/object_meta.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"

#define REQUESTS_MAX 32
#define FIRST_MAX    8

/* --- devices --- */

static void check_tolerations(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char *const effects[] = {"NoExecute", "NoSchedule", "None", NULL};
	static const char *const operators[] = {"Equal", "Exists", NULL};
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *t = obj_at(list, i);
		const char *at = check_at(e, path, i), *operator= check_text(t, "operator");
		const char *value = check_text(t, "value"), *is = check_below(e, at, "value");
		if (!check_is_empty(t, "key"))
			check_qualified(e, check_below(e, at, "key"), check_text(t, "key"));
		if (strcmp(operator, "Exists") == 0 && *value)
			check_invalid_text(e, is, value, "must be empty for operator `Exists`");
		else if (strcmp(operator, "Equal") == 0)
			check_named(e, is, NAME_LABEL_VALUE, value);
		else if (*operator)
			field_errors_one_of(e, check_below(e, at, "operator"), operator, operators);
		if (!check_is_empty(t, "effect"))
			field_errors_one_of(e, check_below(e, at, "effect"),
					    check_text(t, "effect"), effects);
	}
	check_said_since(e, from, list);
}

/* An empty mode is the default one, and no count is one of it: neither is refused. */
static void check_exactly(struct field_errors *e, const char *path, const struct obj *r)
{
	static const char *const modes[] = {"All", "ExactCount", NULL};
	const char *class = check_text(r, "deviceClassName"),
		   *mode = check_text(r, "allocationMode");
	const char *at = check_below(e, path, "count");
	const struct obj *count = obj_get(r, "count");
	int64_t n = obj_i64(r, "count", 0);
	if (!*class)
		check_required(e, check_below(e, path, "deviceClassName"), NULL);
	check_name_rule(e, check_below(e, path, "deviceClassName"), NAME_DNS_SUBDOMAIN, class);
	check_device_selectors(e, check_below(e, path, "selectors"), obj_get(r, "selectors"));
	if (strcmp(mode, "All") == 0 && n != 0)
		check_invalid(e, at, count, "must not be specified when allocationMode is 'All'");
	else if (strcmp(mode, "ExactCount") == 0 && n < 0)
		check_invalid(e, at, count, "must be greater than zero");
	else if (*mode)
		field_errors_one_of(e, check_below(e, path, "allocationMode"), mode, modes);
	check_tolerations(e, check_below(e, path, "tolerations"), obj_get(r, "tolerations"));
}

/* The first of them that a node has is taken. */
static void check_first(struct field_errors *e, const char *path, const struct obj *list)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	size_t n = check_length(e, path, list, FIRST_MAX), from = e->n;
	for (size_t i = 0; i < n; i++) {
		const char *at = check_at(e, path, i);
		check_named(e, check_below(e, at, "name"), NAME_DNS_LABEL,
			    check_text(obj_at(list, i), "name"));
		check_exactly(e, at, obj_at(list, i));
	}
	for (size_t i = 0; i < n; i++)
		if (check_again(seen, check_text(obj_at(list, i), "name")))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i),
					      check_text(obj_at(list, i), "name"));
	check_said_since(e, from, list);
}

static void check_requests(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char one[] = "exactly one of `exactly` or `firstAvailable` is required";
	size_t n = check_length(e, path, list, REQUESTS_MAX);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < n; i++) {
		const struct obj *r = obj_at(list, i);
		const char *at = check_at(e, path, i), *name = check_text(r, "name");
		bool exactly = obj_has(r, "exactly"), first = obj_len(obj_get(r, "firstAvailable"));
		check_named(e, check_below(e, at, "name"), NAME_DNS_LABEL, name);
		if (!exactly && !first)
			check_required(e, at, one);
		else if (exactly && first)
			check_invalid(e, at, NULL,
				      arena_fmt(e->arena, "%s, but multiple fields are set", one));
		if (exactly && !first)
			check_exactly(e, check_below(e, at, "exactly"), obj_get(r, "exactly"));
		if (first && !exactly)
			check_first(e, check_below(e, at, "firstAvailable"),
				    obj_get(r, "firstAvailable"));
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = check_text(obj_at(list, i), "name");
		if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i), name);
	}
}

/* Of an attribute that devices have alike or not: its domain and its name. */
static void check_alike(struct field_errors *e, const char *path, const struct obj *c)
{
	static const char *const fields[] = {"matchAttribute", "distinctAttribute"};
	size_t i = !obj_has(c, fields[0]);
	const struct obj *v = obj_get(c, fields[i]);
	const char *at = check_below(e, path, fields[i]), *name = check_text(c, fields[i]);
	size_t from = e->n;
	if (!v) {
		check_required(e, path,
			       "exactly one of \"matchAttribute\" or \"distinctAttribute\" is "
			       "required, but multiple fields are set"); /* sic */
		return;
	}
	check_entry_name(e, at, name);
	if (!strchr(name, '/'))
		check_invalid_text(e, at, name,
				   "a fully qualified name must be a domain and a name separated "
				   "by a slash");
	check_said_since(e, from, v);
}

static struct map *names_of(struct field_errors *e, const struct obj *list)
{
	struct map *m = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && i < REQUESTS_MAX; i++) {
		const char *name = check_text(obj_at(list, i), "name");
		const struct obj *first = obj_get(obj_at(list, i), "firstAvailable");
		(void)map_set(m, name, NULL);
		for (size_t k = 0; k < obj_len(first) && k < FIRST_MAX; k++)
			(void)map_set(m,
				      arena_fmt(e->arena, "%s/%s", name,
						check_text(obj_at(first, k), "name")),
				      NULL);
	}
	return m;
}

static void check_claimed(struct field_errors *e, const char *path, const struct obj *devices)
{
	const struct obj *list = obj_get(devices, "constraints");
	const char *at = check_below(e, path, "constraints");
	CLEANUP(map_freep) struct map *names = names_of(e, obj_get(devices, "requests"));
	check_requests(e, check_below(e, path, "requests"), obj_get(devices, "requests"));
	for (size_t i = 0, n = check_length(e, at, list, REQUESTS_MAX); i < n; i++) {
		check_request_refs(e, check_below(e, check_at(e, at, i), "requests"),
				   obj_get(obj_at(list, i), "requests"), names);
		check_alike(e, check_at(e, at, i), obj_at(list, i));
	}
	check_device_configs(e, check_below(e, path, "config"), obj_get(devices, "config"), names,
			     NULL);
}

void check_device_claim(struct field_errors *e, const struct obj *o)
{
	check_claimed(e, "spec.devices", obj_path(o, "spec.devices"));
}

/* --- their status --- */

static const char *device_key(struct field_errors *e, const struct obj *d)
{
	return arena_fmt(e->arena, "%s/%s/%s", check_text(d, "driver"), check_text(d, "pool"),
			 check_text(d, "device"));
}

static void check_device_name(struct field_errors *e, const char *path, const struct obj *d)
{
	check_driver_name(e, check_below(e, path, "driver"), check_text(d, "driver"));
	check_pool_name(e, check_below(e, path, "pool"), check_text(d, "pool"));
	check_named(e, check_below(e, path, "device"), NAME_DNS_LABEL, check_text(d, "device"));
}

static void check_reserved(struct field_errors *e, const struct obj *list)
{
	static const char path[] = "status.reservedFor";
	static const char *const fields[] = {"resource", "name", "uid"};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		for (size_t k = 0; k < ARRAY_LEN(fields); k++)
			if (check_is_empty(obj_at(list, i), fields[k]))
				check_required(e, check_below(e, check_at(e, path, i), fields[k]),
					       NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *uid = check_text(obj_at(list, i), "uid");
		if (check_again(seen, uid))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i), uid);
	}
	check_said_since(e, from, list);
}

/* As google/uuid reads it, but for its other forms: with braces, as a URN, without hyphens. */
static void check_share(struct field_errors *e, const char *path, const char *uid)
{
	size_t n = uid ? strlen(uid) : 0;
	bool good = n == 36, is_lower = true;
	for (size_t i = 0; i < n; i++) {
		bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
		good &= hyphen ? uid[i] == '-' : char_is_hex(uid[i]);
		is_lower &= uid[i] == char_lower(uid[i]);
	}
	if (uid && !good)
		check_invalid_text(e, path, uid,
				   n == 36 ? "error validating uid: invalid UUID format"
					   : arena_fmt(e->arena,
						       "error validating uid: invalid UUID length: "
						       "%zu",
						       n));
	else if (uid && !is_lower)
		check_invalid_text(e, path, uid,
				   "uid must be in RFC 4122 normalized form, "
				   "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase "
				   "hexadecimal characters");
}

/* given: those that the claim has. */
static void check_used(struct field_errors *e, const char *path, const struct obj *d,
		       const struct map *given)
{
	static const char *const shown[] = {"Driver:driver", "Pool:pool", "Device:device",
					    "ShareID:shareID", NULL};
	const struct obj *data = obj_get(d, "data");
	size_t from = e->n;
	check_device_name(e, path, d);
	check_share(e, check_below(e, path, "shareID"), obj_str(d, "shareID"));
	if (!map_has(given, device_key(e, d)))
		check_invalid_struct(e, path, d, shown, "must be an allocated device in the claim");
	check_conditions(e, check_below(e, path, "conditions"), obj_get(d, "conditions"));
	if (obj_type(data) > OBJ_NULL && obj_type(data) != OBJ_MAP)
		check_invalid_text(e, check_below(e, path, "data"), "<value omitted>",
				   "must be a valid JSON object");
	check_device_network(e, check_below(e, path, "networkData"), obj_get(d, "networkData"));
	check_said_since(e, from, d);
}

static void check_allocation(struct field_errors *e, const struct obj *a, const struct map *names)
{
	static const char *const sources[] = {"FromClaim", "FromClass", NULL};
	static const char results[] = "status.allocation.devices.results";
	static const char configs[] = "status.allocation.devices.config";
	const struct obj *list = obj_path(a, "devices.results"),
			 *nodes = obj_get(a, "nodeSelector");
	const struct obj *config = obj_path(a, "devices.config");
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, results, i);
		check_request_ref(e, check_below(e, at, "request"),
				  check_text(obj_at(list, i), "request"), names);
		check_device_name(e, at, obj_at(list, i));
		check_device_bindings(e, at, obj_at(list, i));
		check_share(e, check_below(e, at, "shareID"), obj_str(obj_at(list, i), "shareID"));
	}
	check_device_configs(e, configs, config, names, sources);
	if (nodes)
		check_node_selector(e, "status.allocation.nodeSelector", nodes);
	check_said_since(e, from, a);
}

void check_device_claim_status(struct field_errors *e, const struct obj *o)
{
	const struct obj *status = obj_get(o, "status"), *a = obj_get(status, "allocation");
	const struct obj *list = obj_path(a, "devices.results"), *used = obj_get(status, "devices"),
			 *reserved = obj_get(status, "reservedFor");
	CLEANUP(map_freep) struct map *names = names_of(e, obj_path(o, "spec.devices.requests"));
	CLEANUP(map_freep) struct map *given = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++)
		(void)check_again(given, device_key(e, obj_at(list, i)));
	check_reserved(e, reserved);
	for (size_t i = 0; i < obj_len(used) && !field_errors_full(e); i++)
		check_used(e, check_at(e, "status.devices", i), obj_at(used, i), given);
	size_t from = e->n;
	if (obj_len(reserved) && !a)
		check_forbidden(e, "status.reservedFor",
				"may not be specified when `allocated` is not set");
	check_said_since(e, from, reserved);
	if (a)
		check_allocation(e, a, names);
}

void check_device_template(struct field_errors *e, const struct obj *o)
{
	check_inner_meta(e, "spec.metadata", obj_path(o, "spec.metadata"));
	check_claimed(e, "spec.spec.devices", obj_path(o, "spec.spec.devices"));
}

/* Without metadata that say nothing, which a template may have or not. */
static struct obj *told_spec(const struct obj *o)
{
	const struct obj *spec = obj_get(o, "spec");
	struct obj *copy = spec ? obj_copy_shallow(spec) : NULL;
	if (copy && !obj_len(obj_get(copy, "metadata")))
		obj_del(copy, "metadata");
	return copy;
}

void device_claim_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	CLEANUP(obj_unrefp) struct obj *is = told_spec(o), *was = told_spec(before);
	if (!is != !was || (is && !obj_equal(is, was)))
		check_invalid(e, "spec", obj_get(o, "spec"), "field is immutable");
}

/* --- APIServices --- */

static void check_priority(struct field_errors *e, const struct obj *o, const char *path,
			   int64_t most)
{
	int64_t n = obj_i64(obj_get(o, "spec"), path + strlen("spec."), 0);
	CLEANUP(obj_unrefp) struct obj *v = obj_int(n);
	if (n <= 0 || n > most)
		check_invalid(e, path, v,
			      arena_fmt(e->arena, "must be positive and less than %lld",
					(long long)most));
}

/* Of a text in base64. */
static size_t bytes_of(struct str s)
{
	size_t n = s.len / 4 * 3;
	for (size_t i = 1; i <= 2 && i <= s.len; i++)
		n -= s.ptr[s.len - i] == '=';
	return n;
}

void check_api_service(struct field_errors *e, const struct obj *o)
{
	const char *group = check_text(o, "spec.group"), *version = check_text(o, "spec.version");
	const char *name = arena_fmt(e->arena, "%s.%s", version, group);
	const struct obj *service = obj_path(o, "spec.service"), *port = obj_get(service, "port");
	const struct obj *bundle = obj_path(o, "spec.caBundle");
	bool insecure = obj_flag(o, "spec.insecureSkipTLSVerify", false);
	bool has_bundle = obj_as_str(bundle).len;
	int64_t n = 443;
	check_wanted_name(e, o, true, name,
			  arena_fmt(e->arena, "must be `spec.version+\".\"+spec.group`: %s",
				    check_quoted(e, name)));
	if (!*group && strcmp(version, "v1") != 0)
		check_required(e, "spec.group",
			       "only v1 may have an empty group and it better be legacy kube");
	check_name_rule(e, "spec.group", NAME_DNS_SUBDOMAIN, group);
	check_named(e, "spec.version", NAME_DNS1035_LABEL, version);
	check_priority(e, o, "spec.groupPriorityMinimum", 20000);
	check_priority(e, o, "spec.versionPriority", 1000);
	if (!service) {
		if (has_bundle)
			check_invalid_text(
				e, "spec.caBundle",
				arena_fmt(e->arena, "%zu bytes", bytes_of(obj_as_str(bundle))),
				"local APIServices may not have a caBundle");
		if (insecure)
			check_invalid(e, "spec.insecureSkipTLSVerify",
				      obj_path(o, "spec.insecureSkipTLSVerify"),
				      "local APIServices may not have insecureSkipTLSVerify");
		return;
	}
	if (check_is_empty(service, "namespace"))
		check_required(e, "spec.service.namespace", NULL);
	if (check_is_empty(service, "name"))
		check_required(e, "spec.service.name", NULL);
	obj_as_i64(port, &n);
	if (n < 1 || n > 65535)
		check_invalid(e, "spec.service.port", port,
			      "port is not valid: must be between 1 and 65535, inclusive");
	if (insecure && has_bundle) {
		check_invalid(e, "spec.insecureSkipTLSVerify",
			      obj_path(o, "spec.insecureSkipTLSVerify"),
			      "may not be true if caBundle is present");
		check_said_of(e, bundle);
	}
}
