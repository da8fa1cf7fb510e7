/* slice_check: see slice_check.h. */
#include "alm/apiserver/kinds/slice_check.h"

#include <string.h>

#include "alm/apiserver/kinds/device_amount_check.h"
#include "alm/apiserver/kinds/device_bindings_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/kinds/storage_check.h"
#include "alm/obj/cel/cel.h"
#include "alm/obj/json.h"
#include "catalog/semver.h"

#define LIST_MAX             32
#define EXPRESSION_MAX       ((size_t)10 << 10)
#define EXPRESSION_BYTES_MAX ((size_t)32 << 20) /* its tree, and what is found out of it */
#define SHOWN_MAX            ((size_t)1 << 10)  /* of an expression that is told, and of why */
#define PARAMETERS_MAX       ((size_t)10 << 10)
#define DEVICES_MAX          128
#define DEVICES_MAX_OF       64 /* of which some have taints or take of counters */
#define TAINTS_MAX           16
#define COUNTERS_MAX         8
#define CONSUMED_MAX         2  /* sets that one device takes of */
#define ENTRIES_MAX          32 /* attributes and capacities of one device */
#define ENTRY_SHOWN_MAX      96 /* of the name of one in a path */
#define ID_MAX               32
#define VALUE_MAX            64

static const char one_node[] = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
			       "`perDeviceNodeSelection` is required";
static const char one_device[] =
	"exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
	"`perDeviceNodeSelection` is set to true in the ResourceSlice spec";

static void too_long(struct field_errors *e, const char *path, const char *text, size_t most)
{
	if (strlen(text) > most)
		check_too_long(e, path, most);
}

/* --- what classes and claims have alike --- */

/* The name of what upstream can do and alm/obj/cel cannot is no fault of the expression: told are a text that is none,
 * and a value that is known to be no bool. */
/* Is a name wrong that stands for nothing? Functions and members of devices are not all known here. */
static bool is_unknown_name(const char *text, struct str errors)
{
	return !strchr(text, '(') && str_find(errors, STR("undeclared reference to '")) >= 0;
}

static void check_expression(struct field_errors *e, const char *path, const struct obj *v)
{
	const struct cel_var device = {.name = "device", .type = {.kind = CEL_DYN}};
	const struct cel_vars vars = {.items = &device, .n = 1};
	const char *text = obj_as_string(v) ? obj_as_string(v) : "", *why = NULL;
	if (field_errors_full(e)) {
		e->omitted++; /* it was not judged */
		return;
	}
	if (strlen(text) > EXPRESSION_MAX) {
		too_long(e, path, text, EXPRESSION_MAX);
		return;
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(EXPRESSION_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_MAX);
	struct cel_type is = {.kind = CEL_DYN};
	struct cel_program *p = cel_parse(text, a, &b);
	if (p)
		cel_check_with(p, &vars, a, &b, &is);
	if (is.inner && is.inner->kind == CEL_ERROR)
		is.inner = NULL; /* of anything */
	if (p && is.kind != CEL_BOOL && is.kind != CEL_DYN && is.kind != CEL_ERROR)
		why = arena_fmt(a, "must evaluate to bool or the unknown type, not %s",
				cel_type_text(&is, a));
	else if (!p || is_unknown_name(text, strbuf_str(&b)))
		why = arena_fmt(a, "compilation failed: %.*s",
				STR_ARG(str_clip(strbuf_str(&b), SHOWN_MAX)));
	if (!why)
		return;
	struct str shown = str_clip(str_of(text), SHOWN_MAX);
	check_invalid_text(e, path, arena_text(a, shown.ptr, shown.len), why);
	check_said_of(e, v);
}

void check_device_selectors(struct field_errors *e, const char *path, const struct obj *list)
{
	for (size_t i = 0, n = check_length(e, path, list, LIST_MAX); i < n; i++) {
		const char *at = check_below(e, check_at(e, path, i), "cel");
		const struct obj *cel = obj_get(obj_at(list, i), "cel");
		if (!cel)
			check_required(e, at, NULL);
		else
			check_expression(e, check_below(e, at, "expression"),
					 obj_get(cel, "expression"));
	}
}

void check_request_ref(struct field_errors *e, const char *path, const char *name,
		       const struct map *requests)
{
	static const char none[] = "must be the name of a request in the claim or the name of a "
				   "request and a subrequest separated by '/'";
	const char *slash = strchr(name, '/');
	bool deep = slash && strchr(slash + 1, '/');
	size_t n_first = slash ? (size_t)(slash - name) : strlen(name);
	if (!deep)
		check_named(e, path, NAME_DNS_LABEL, arena_strndup(e->arena, name, n_first));
	if (!deep && slash)
		check_named(e, path, NAME_DNS_LABEL, slash + 1);
	if (deep || !map_has(requests, name))
		check_invalid_text(e, path, name, none);
}

void check_request_refs(struct field_errors *e, const char *path, const struct obj *list,
			const struct map *requests)
{
	size_t from = e->n, n = check_length(e, path, list, LIST_MAX);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < n; i++)
		if (obj_as_string(obj_at(list, i)))
			check_request_ref(e, check_at(e, path, i), obj_as_string(obj_at(list, i)),
					  requests);
	for (size_t i = 0; i < n; i++) {
		const char *name = obj_as_string(obj_at(list, i));
		if (name && check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i), name);
	}
	check_said_since(e, from, list);
}

void check_device_configs(struct field_errors *e, const char *path, const struct obj *list,
			  const struct map *requests, const char *const *sources)
{
	for (size_t i = 0, n = check_length(e, path, list, LIST_MAX); i < n; i++) {
		const char *source = check_text(obj_at(list, i), "source");
		if (sources && *source)
			field_errors_one_of(e, check_below(e, check_at(e, path, i), "source"),
					    source, sources);
		else if (sources)
			check_required(e, check_below(e, check_at(e, path, i), "source"), NULL);
		if (requests)
			check_request_refs(e, check_below(e, check_at(e, path, i), "requests"),
					   obj_get(obj_at(list, i), "requests"), requests);
		const char *at = check_below(e, check_at(e, path, i), "opaque");
		const struct obj *opaque = obj_get(obj_at(list, i), "opaque");
		const struct obj *with = obj_get(opaque, "parameters");
		if (!opaque) {
			check_required(e, at, NULL);
			continue;
		}
		check_driver_name(e, check_below(e, at, "driver"), check_text(opaque, "driver"));
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PARAMETERS_MAX);
		if (with)
			json_print_canonical(with, &b);
		if (b.over) {
			field_errors_add(e, FIELD_TOO_LONG, check_below(e, at, "parameters"),
					 "Too long: may not be more than %zu bytes",
					 PARAMETERS_MAX);
			check_said_of(e, with);
			continue;
		}
		if (obj_type(with) <= OBJ_NULL)
			check_required(e, check_below(e, at, "parameters"), NULL);
		else if (obj_type(with) != OBJ_MAP)
			field_errors_add(e, FIELD_INVALID, check_below(e, at, "parameters"),
					 "Invalid value: \"<value omitted>\": must be a valid JSON "
					 "object");
	}
}

/* --- classes --- */

void check_device_class(struct field_errors *e, const struct obj *o)
{
	const char *name = obj_str(o, "spec.extendedResourceName"), *slash;
	check_device_selectors(e, "spec.selectors", obj_path(o, "spec.selectors"));
	check_device_configs(e, "spec.config", obj_path(o, "spec.config"), NULL, NULL);
	if (!name)
		return;
	slash = strchr(name, '/');
	const char *quota = arena_fmt(e->arena, "requests.%s", name);
	if (!slash || strstr(name, "kubernetes.io/") || cstr_has_prefix(name, "requests.") ||
	    name_fault(NAME_QUALIFIED, str_of(quota)))
		check_invalid_text(e, "spec.extendedResourceName", name,
				   "must be a valid extended resource name");
}

/* --- slices --- */

void check_pool_name(struct field_errors *e, const char *path, const char *name)
{
	if (!*name)
		check_required(e, path, NULL);
	too_long(e, path, name, GVK_NAME_MAX);
	for (const char *part = *name ? name : NULL, *slash; part; part = slash) {
		size_t n = strcspn(part, "/");
		check_named(e, path, NAME_DNS_SUBDOMAIN, arena_strndup(e->arena, part, n));
		slash = part[n] ? part + n + 1 : NULL;
	}
}

static void check_pool(struct field_errors *e, const struct obj *pool)
{
	int64_t n = 0;
	check_pool_name(e, "spec.pool.name", check_text(pool, "name"));
	obj_as_i64(obj_get(pool, "resourceSliceCount"), &n);
	CLEANUP(obj_unrefp) struct obj *count = obj_int(n);
	if (n <= 0)
		check_invalid(e, "spec.pool.resourceSliceCount", count,
			      "must be greater than zero");
	if (obj_as_i64(obj_get(pool, "generation"), &n) && n < 0)
		check_invalid(e, "spec.pool.generation", obj_get(pool, "generation"),
			      "must be greater than or equal to zero");
}

/* Which nodes are meant is said in one way: what is said, for the message. */
static size_t check_nodes(struct field_errors *e, const char *path, const struct obj *o,
			  bool of_device, const char **ret_said)
{
	static const char *const flags[] = {"allNodes", "perDeviceNodeSelection"};
	const char *node = obj_str(o, "nodeName"), *at = check_below(e, path, "nodeName");
	const char *said = "";
	size_t n = 0;
	if (node && *node) {
		check_named(e, at, NAME_DNS_SUBDOMAIN, node);
		said = "`nodeName`";
		n++;
	} else if (node) {
		check_invalid_text(e, at, "",
				   of_device ? "must not be empty"
					     : "must be either unset or set to a non-empty string");
	}
	const struct obj *selector = obj_get(o, "nodeSelector");
	if (selector) {
		const struct obj *terms = obj_get(selector, "nodeSelectorTerms");
		at = check_below(e, path, "nodeSelector.nodeSelectorTerms");
		size_t from = e->n;
		check_node_selector(e, check_below(e, path, "nodeSelector"), selector);
		check_said_since(e, from, selector);
		if (!of_device && obj_len(terms) != 1)
			check_invalid(e, at, terms, "must have exactly one node selector term");
		said = arena_fmt(e->arena, "%s%s`nodeSelector`", said, n++ ? ", " : "");
	}
	for (size_t i = 0; i < (of_device ? 1 : 2); i++) {
		const struct obj *v = obj_get(o, flags[i]);
		if (v && !obj_is_true(v))
			check_invalid(e, check_below(e, path, flags[i]), v,
				      "must be either unset or set to true");
		else if (v)
			said = arena_fmt(e->arena, "%s%s`%s`", said, n++ ? ", " : "", flags[i]);
	}
	*ret_said = arena_fmt(e->arena, "{%s}", said);
	return n;
}

/* "name" or "domain/name". */
void check_entry_name(struct field_errors *e, const char *path, const char *name)
{
	static const char identifier[] =
		"a valid C identifier must start with alphabetic character or '_', followed by a "
		"string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
		"'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";
	const char *slash = strchr(name, '/'), *id = slash ? slash + 1 : name;
	if (strchr(id, '/'))
		return; /* of more parts nothing is said there */
	if (slash && slash == name)
		check_invalid_text(e, path, "", "the domain must not be empty");
	else if (slash)
		check_driver_name(e, path, arena_strndup(e->arena, name, (size_t)(slash - name)));
	if (slash && !*id) {
		check_invalid_text(e, path, "", "the name must not be empty");
		return;
	}
	too_long(e, path, id, ID_MAX);
	bool good = *id && !char_is_digit(*id);
	for (const char *p = id; *p; p++)
		good = good && (char_is_alnum(*p) || *p == '_');
	if (!good)
		check_invalid_text(e, path, id, identifier);
}

/* Of semver.org, and nothing around it. */
static bool is_version(const char *text)
{
	struct version v;
	struct error ignored = ERROR_INIT;
	struct str rest = str_of(text), part;
	size_t dots = 0;
	rest.len = strcspn(text, "-+");
	while (str_next(&rest, '.', &part))
		dots++;
	return dots == 3 && char_is_digit(*text) && strlen(text) <= VERSION_BYTES_MAX &&
	       version_parse(str_of(text), VERSION_STRICT, &v, &ignored) == 0;
}

static void check_version(struct field_errors *e, const char *path, const char *text)
{
	if (!is_version(text))
		check_invalid_text(e, path, text,
				   "must be a string compatible with semver.org spec 2.0.0");
	too_long(e, path, text, VALUE_MAX);
}

/* A long name is told by its ends. */
static const char *at_entry(struct field_errors *e, const char *path, const char *name)
{
	size_t n = strlen(name);
	if (n <= ENTRY_SHOWN_MAX)
		return arena_fmt(e->arena, "%s[%s]", path, name);
	size_t shown = ENTRY_SHOWN_MAX - strlen("...");
	return arena_fmt(e->arena, "%s[%.*s...%s]", path, (int)((shown + 1) / 2), name,
			 name + n - shown / 2);
}

static void check_attributes(struct field_errors *e, const char *path, const struct obj *map)
{
	OBJ_EACH (it, map) {
		const char *at = at_entry(e, path, it.key);
		const char *text = obj_str(it.value, "string");
		check_entry_name(e, path, it.key);
		if (text)
			too_long(e, check_below(e, at, "string"), text, VALUE_MAX);
		if (obj_str(it.value, "version"))
			check_version(e, check_below(e, at, "version"),
				      obj_str(it.value, "version"));
		if (obj_len(it.value) == 0)
			check_invalid_text(e, at, "", "exactly one value must be specified");
		else if (obj_len(it.value) > 1)
			check_invalid(e, at, it.value, "exactly one value must be specified");
	}
}

static void check_capacities(struct field_errors *e, const char *path, const struct obj *map,
			     bool is_shared)
{
	OBJ_EACH (it, map) {
		const char *at = check_below(e, at_entry(e, path, it.key), "requestPolicy");
		check_entry_name(e, path, it.key);
		if (obj_has(it.value, "requestPolicy") && !is_shared)
			check_forbidden(e, at, "allowMultipleAllocations must be true");
		else
			check_request_policy(e, at, it.value);
	}
}

static void check_taints(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char *const effects[] = {"NoExecute", "NoSchedule", "None", NULL};
	for (size_t i = 0, n = check_length(e, path, list, TAINTS_MAX); i < n; i++) {
		const struct obj *t = obj_at(list, i);
		const char *at = check_at(e, path, i), *value = check_text(t, "value");
		check_qualified(e, check_below(e, at, "key"), check_text(t, "key"));
		check_named(e, check_below(e, at, "value"), NAME_LABEL_VALUE, value);
		if (check_is_empty(t, "effect"))
			check_required(e, check_below(e, at, "effect"), NULL);
		else
			field_errors_one_of(e, check_below(e, at, "effect"),
					    check_text(t, "effect"), effects);
	}
}

static void check_label(struct field_errors *e, const char *path, const char *name)
{
	check_named(e, path, NAME_DNS_LABEL, name);
}

/* Both what is shared and what a device takes of it. */
static void check_counters(struct field_errors *e, const char *path, const struct obj *list,
			   const char *key, size_t most)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0, n = check_length(e, path, list, most); i < n; i++) {
		const struct obj *set = obj_at(list, i), *all = obj_get(set, "counters");
		const char *at = check_at(e, path, i), *name = check_text(set, key);
		if (*name)
			check_label(e, check_below(e, at, key), name);
		else
			check_required(e, check_below(e, at, key), NULL);
		if (obj_len(all) == 0)
			check_required(e, check_below(e, at, "counters"), NULL);
		OBJ_EACH (it, all)
			check_label(e, check_below(e, at, "counters"), it.key);
		if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, at, name);
	}
}

static void check_device(struct field_errors *e, const char *path, const struct obj *d,
			 bool has_nodes)
{
	const char *said;
	const struct obj *capacity = obj_get(d, "capacity");
	size_t n = obj_len(obj_get(d, "attributes")) + obj_len(capacity);
	CLEANUP(obj_unrefp) struct obj *count = obj_int((int64_t)n);
	check_label(e, check_below(e, path, "name"), check_text(d, "name"));
	if (n > ENTRIES_MAX)
		check_invalid(e, path, count,
			      "the total number of attributes and capacities must not exceed 32");
	check_attributes(e, check_below(e, path, "attributes"), obj_get(d, "attributes"));
	check_capacities(e, check_below(e, path, "capacity"), capacity,
			 obj_flag(d, "allowMultipleAllocations", false));
	check_taints(e, check_below(e, path, "taints"), obj_get(d, "taints"));
	check_counters(e, check_below(e, path, "consumesCounters"), obj_get(d, "consumesCounters"),
		       "counterSet", CONSUMED_MAX);
	if (has_nodes) {
		n = check_nodes(e, path, d, true, &said);
		if (n == 0)
			check_required(e, path, one_device);
		else if (n > 1)
			check_invalid_text(e, path, said, one_device);
	} else if (obj_has(d, "nodeName") || obj_has(d, "nodeSelector") || obj_has(d, "allNodes")) {
		check_invalid(e, path, NULL,
			      "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
			      "`perDeviceNodeSelection` is set to true in the ResourceSlice spec");
	}
	check_device_bindings(e, path, d);
}

static size_t devices_max(const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_len(obj_get(obj_at(list, i), "taints")) ||
		    obj_len(obj_get(obj_at(list, i), "consumesCounters")))
			return DEVICES_MAX_OF;
	return DEVICES_MAX;
}

static void check_devices(struct field_errors *e, const struct obj *list, bool has_nodes)
{
	static const char path[] = "spec.devices";
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0, n = check_length(e, path, list, devices_max(list)); i < n; i++)
		check_device(e, check_at(e, path, i), obj_at(list, i), has_nodes);
	for (size_t i = 0; i < obj_len(list) && obj_len(list) <= DEVICES_MAX; i++)
		if (check_again(seen, check_text(obj_at(list, i), "name")))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i),
					      check_text(obj_at(list, i), "name"));
}

void check_resource_slice(struct field_errors *e, const struct obj *o)
{
	const struct obj *spec = obj_get(o, "spec"), *shared = obj_get(spec, "sharedCounters");
	const char *said;
	check_driver_name(e, "spec.driver", check_text(spec, "driver"));
	check_pool(e, obj_get(spec, "pool"));
	size_t n = check_nodes(e, "spec", spec, false, &said);
	if (n == 0)
		check_required(e, "spec", one_node);
	else if (n > 1)
		check_invalid_text(
			e, "spec", said,
			arena_fmt(e->arena, "%s, but multiple fields are set", one_node));
	if (shared && obj_has(spec, "devices"))
		check_invalid_text(e, "spec", "",
				   "only one of `sharedCounters` or `devices` is allowed");
	check_devices(e, obj_get(spec, "devices"), obj_flag(spec, "perDeviceNodeSelection", false));
	check_counters(e, "spec.sharedCounters", shared, "name", COUNTERS_MAX);
}

void resource_slice_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	/* told behind what is wrong with both names */
	const size_t from = e->n;
	size_t at = from;
	while (at > 0 && cstr_has_prefix(e->items[at - 1].path, "spec") &&
	       !cstr_has_prefix(e->items[at - 1].path, "spec.driver") &&
	       !cstr_has_prefix(e->items[at - 1].path, "spec.pool"))
		at--;
	check_text_kept(e, "spec.pool.name", o, before);
	check_text_kept(e, "spec.driver", o, before);
	check_kept(e, "spec.nodeName", o, before);
	field_errors_swap(e, at, from, e->n);
}
