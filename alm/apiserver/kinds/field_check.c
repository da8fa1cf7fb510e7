/* field_check: see field_check.h. */
#include "alm/apiserver/kinds/field_check.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/quantity.h"
#include "alm/obj/schema/schema_node.h"

#define SHOWN_MAX ((size_t)64 << 10)

bool check_is_empty(const struct obj *o, const char *field)
{
	const char *text = obj_str(o, field);
	return !text || !*text;
}

bool check_again(struct map *seen, const char *name)
{
	if (map_has(seen, name))
		return true;
	(void)map_set(seen, name, NULL);
	return false;
}

const char *check_text(const struct obj *o, const char *path)
{
	const char *s = obj_str(o, path);
	return s ? s : "";
}

const char *check_below(struct field_errors *e, const char *path, const char *field)
{
	return arena_fmt(e->arena, "%s.%s", path, field);
}

const char *check_at(struct field_errors *e, const char *path, size_t i)
{
	return arena_fmt(e->arena, "%s[%zu]", path, i);
}

const char *check_quoted(struct field_errors *e, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	go_quote(str_of(text), &b);
	return arena_strdup(e->arena, b.buf);
}

void check_required(struct field_errors *e, const char *path, const char *why)
{
	field_errors_add(e, FIELD_REQUIRED, path, "Required value%s%s", why ? ": " : "",
			 why ? why : "");
}

void check_invalid(struct field_errors *e, const char *path, const struct obj *v, const char *why)
{
	if (field_errors_full(e)) {
		e->omitted++;
		return;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	if (v)
		json_print_canonical(v, &b);
	if (why)
		field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s",
				 v ? b.buf : "null", why);
	else
		field_errors_add(e, FIELD_DUPLICATE, path, "Duplicate value: %s", b.buf);
}

void check_invalid_text(struct field_errors *e, const char *path, const char *text, const char *why)
{
	if (field_errors_full(e)) {
		e->omitted++;
		return;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	go_quote(str_of(text), &b);
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s", b.buf, why);
	e->items[e->n - 1].is_of_text = text && *text && !b.over;
}

void check_invalid_struct(struct field_errors *e, const char *path, const struct obj *v,
			  const char *const *fields, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	strbuf_addc(&b, '{');
	for (size_t i = 0; fields[i]; i++) {
		const char *name = fields[i] + strspn(fields[i], "*?"), *colon = strchr(name, ':');
		const struct obj *member = obj_get(v, colon + 1);
		strbuf_addf(&b, "%s\"%.*s\":", i ? "," : "", (int)(colon - name), name);
		if (member)
			json_print(member, &b);
		else
			strbuf_adds(&b, *fields[i] == '*'   ? "null"
					: *fields[i] == '?' ? "false"
							    : "\"\"");
	}
	strbuf_addc(&b, '}');
	if (why)
		field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s",
				 v ? b.buf : "null", why);
	else
		field_errors_add(e, FIELD_DUPLICATE, path, "Duplicate value: %s", b.buf);
}

void check_one_of_or_empty(struct field_errors *e, const char *path, const char *is,
			   const char *const *all)
{
	if (*is)
		field_errors_one_of(e, path, is, all);
	else
		check_required(e, path, NULL);
}

void check_too_long(struct field_errors *e, const char *path, size_t most)
{
	field_errors_add(e, FIELD_TOO_LONG, path, "Too long: may not be more than %zu bytes", most);
}

void check_forbidden(struct field_errors *e, const char *path, const char *why)
{
	field_errors_add(e, FIELD_FORBIDDEN, path, "Forbidden: %s", why);
}

void check_named(struct field_errors *e, const char *path, enum name_rule rule, const char *text)
{
	const char *all[NAME_FAULTS_MAX];
	size_t n = name_faults(rule, str_of(text), all);
	for (size_t i = 0; i < n; i++)
		check_invalid_text(e, path, text, all[i]);
}

struct str check_prefix(struct field_errors *e, const char *name)
{
	size_t n = strlen(name);
	if (n < 2 || name[n - 1] != '-')
		return str_of(name);
	return str_of(arena_fmt(e->arena, "%.*sa", (int)(n - 2), name));
}

void check_name_rule(struct field_errors *e, const char *path, enum name_rule rule,
		     const char *text)
{
	if (*text)
		check_named(e, path, rule, text);
}

void check_segment(struct field_errors *e, const char *path, const char *text)
{
	check_named(e, path, NAME_PATH_SEGMENT, text);
}

void check_at_least(struct field_errors *e, const char *path, const struct obj *v, int64_t least)
{
	int64_t n;
	if (obj_type(v) == OBJ_INT && obj_as_i64(v, &n) && n < least)
		field_errors_add(e, FIELD_INVALID, path,
				 "Invalid value: %lld: must be greater than or equal to %lld",
				 (long long)n, (long long)least);
}

void check_qualified(struct field_errors *e, const char *path, const char *name)
{
	check_named(e, path, NAME_QUALIFIED, name);
}

static const char *key_fault(const char *key)
{
	static const char letters[] =
		"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
		"'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
		"'[-._a-zA-Z0-9]+')";
	bool good = *key;
	for (const char *p = key; *p; p++)
		good &= char_is_alnum(*p) || strchr("-._", *p);
	if (strlen(key) > GVK_NAME_MAX)
		return "must be no more than 253 characters";
	if (!good)
		return letters;
	if (strcmp(key, ".") == 0 || strcmp(key, "..") == 0)
		return key[1] ? "must not be '..'" : "must not be '.'";
	return cstr_has_prefix(key, "..") ? "must not start with '..'" : NULL;
}

void check_config_key(struct field_errors *e, const char *path, const char *key)
{
	const char *fault = key_fault(key);
	if (fault)
		check_invalid_text(e, path, key, fault);
}

bool check_is_standard(const char *name)
{
	static const char *const standard[] = {"cpu",
					       "memory",
					       "ephemeral-storage",
					       "requests.cpu",
					       "requests.memory",
					       "requests.ephemeral-storage",
					       "limits.cpu",
					       "limits.memory",
					       "limits.ephemeral-storage",
					       "pods",
					       "resourcequotas",
					       "services",
					       "replicationcontrollers",
					       "secrets",
					       "configmaps",
					       "persistentvolumeclaims",
					       "storage",
					       "requests.storage",
					       "services.nodeports",
					       "services.loadbalancers",
					       NULL};
	return cstr_in(name, standard) || cstr_has_prefix(name, "hugepages-") ||
	       cstr_has_prefix(name, "requests.hugepages-");
}

void check_resource_name(struct field_errors *e, const char *path, const char *name)
{
	if (name_fault(NAME_QUALIFIED, str_of(name)))
		check_qualified(e, path, name);
	else if (!strchr(name, '/') && !check_is_standard(name))
		check_invalid_text(e, path, name,
				   "must be a standard resource type or fully qualified");
}

void check_container_resource(struct field_errors *e, const char *path, const char *name)
{
	static const char *const known[] = {"cpu", "memory", "ephemeral-storage", NULL};
	bool is_huge = cstr_has_prefix(name, "hugepages-");
	check_resource_name(e, path, name);
	if (!strchr(name, '/')) {
		if (!is_huge && !cstr_in(name, known))
			check_invalid_text(e, path, name,
					   "must be a standard resource for containers");
	} else if (!cstr_has_prefix(name, "kubernetes.io/") && !strstr(name, ".kubernetes.io/") &&
		   (cstr_has_prefix(name, "requests.") ||
		    name_fault(NAME_QUALIFIED, str_of(name)))) {
		check_invalid_text(e, path, name, "doesn't follow extended resource name standard");
	}
}

bool check_is_negative(const struct obj *quantity, bool strict)
{
	struct quantity q;
	const char *text = obj_as_string(quantity);
	return text && quantity_read(str_of(text), &q) && (q.nanos < 0 || (strict && !q.nanos));
}

/* The name of the field, without its place in a list. */
static struct str field_of(const char *path)
{
	const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
	return str_n(name, strcspn(name, "["));
}

static bool is_among(const struct field_error *x, const struct field_errors *was)
{
	for (size_t i = 0; i < was->n; i++) {
		const struct field_error *y = &was->items[i];
		bool is_same = !x->of || (y->of && obj_equal(y->of, x->of));
		if (is_same && y->type == x->type && cstr_eq(y->message, x->message) &&
		    str_eq(field_of(y->path), field_of(x->path)))
			return true;
	}
	return false;
}

void check_said_of(struct field_errors *e, const struct obj *v)
{
	if (!e->omitted)
		e->items[e->n - 1].of = v;
}

void check_said_since(struct field_errors *e, size_t from, const struct obj *v)
{
	for (size_t i = from; v && i < e->n; i++)
		e->items[i].of = v;
}

void check_domain_path(struct field_errors *e, const char *path, const char *text)
{
	const char *slash = strchr(text, '/');
	if (!*text) {
		check_required(e, path, NULL);
		return;
	}
	if (!slash || slash == text || !slash[1]) {
		check_invalid_text(e, path, text,
				   "must be a domain-prefixed path (such as \"acme.io/foo\")");
		return;
	}
	const char *host = arena_strndup(e->arena, text, (size_t)(slash - text));
	check_named(e, path, NAME_DNS_SUBDOMAIN, host);
}

void check_forgive(struct field_errors *e, size_t from, const struct field_errors *was)
{
	size_t n = from;
	if (e->omitted)
		return;
	for (size_t i = from; i < e->n; i++) {
		const struct field_error *x = &e->items[i];
		if ((x->is_of_text || x->of) && is_among(x, was))
			e->bytes -= strlen(x->path) + strlen(x->message);
		else
			e->items[n++] = *x;
	}
	e->n = n;
}

void check_kept(struct field_errors *e, const char *path, const struct obj *o,
		const struct obj *before)
{
	const struct obj *is = obj_path(o, path), *was = obj_path(before, path);
	if (!is != !was || (is && !obj_equal(is, was)))
		check_invalid(e, path, is, "field is immutable");
}

void check_text_kept(struct field_errors *e, const char *path, const struct obj *o,
		     const struct obj *before)
{
	const char *is = check_text(o, path), *was = check_text(before, path);
	if (*was && strcmp(is, was) != 0)
		check_invalid_text(e, path, is, "field is immutable");
}

static const char *lowered(struct field_errors *e, const char *text)
{
	char *lower = arena_strdup(e->arena, text);
	for (char *p = lower; *p; p++)
		*p = char_lower(*p);
	return lower;
}

void check_by_lower(struct field_errors *e, const char *path, enum name_rule rule, const char *name)
{
	const char *all[NAME_FAULTS_MAX], *lower = lowered(e, name);
	size_t n = *name ? name_faults(rule, str_of(lower), all) : 0;
	for (size_t i = 0; i < n; i++)
		check_invalid_text(e, path, rule == NAME_QUALIFIED ? lower : name, all[i]);
}

void check_wanted_name(struct field_errors *e, const struct obj *o, bool segment, const char *want,
		       const char *why)
{
	static const char *const fields[] = {"metadata.generateName", "metadata.name"};
	size_t at = e->whole;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *name = check_text(o, fields[i]);
		size_t from = e->n;
		while (at < from && strcmp(e->items[at].path, fields[i]) == 0)
			at++;
		if (!*name || strcmp(name, want) == 0 ||
		    (segment && name_fault(NAME_PATH_SEGMENT, str_of(name))))
			continue;
		check_invalid_text(e, fields[i], name, why);
		if (e->n > from)
			field_errors_swap(e, at++, from, e->n);
	}
}

#define DRIVER_NAME_MAX 63

void check_driver_name(struct field_errors *e, const char *path, const char *name)
{
	if (!*name)
		check_required(e, path, NULL);
	if (strlen(name) > DRIVER_NAME_MAX)
		check_too_long(e, path, DRIVER_NAME_MAX);
	check_by_lower(e, path, NAME_DNS_SUBDOMAIN, name);
}

size_t check_length(struct field_errors *e, const char *path, const struct obj *list, size_t most)
{
	size_t n = obj_len(list);
	if (n <= most)
		return n;
	field_errors_add(e, FIELD_TOO_MANY, path, "Too many: %zu: must have at most %zu items", n,
			 most);
	return 0;
}
