#include "alm/source/keymap.h"

#include "alm/obj/decode.h"
#include "alm/obj/regex/regex.h"
#include "alm/source/config.h"
#include "installers/value/regex_expand.h"

struct reader {
	const char *name;
	struct arena *a;
	struct error *err;
};

static int fail(const struct reader *r, const char *field, const char *what)
{
	return error_set(r->err, E_INVALID, "%s: %s: %s", r->name, field, what);
}

static void free_regex(void *p)
{
	regex_free(p);
}

static void free_selector(void *p)
{
	selector_free(p);
}

struct raw_rule {
	const char *action, *regex, *replacement;
};

static int read_rule(const struct reader *r, const struct obj *o, const char *field,
		     struct keymap_rule *ret)
{
	static const struct decode_field fields[] = {
		{"action", DECODE_STR, offsetof(struct raw_rule, action)},
		{"regex", DECODE_STR, offsetof(struct raw_rule, regex)},
		{"replacement", DECODE_STR, offsetof(struct raw_rule, replacement)},
		{0},
	};
	static const char *const actions[] = {
		[KEYMAP_REPLACE] = "replace", [KEYMAP_KEEP] = "keep", [KEYMAP_DROP] = "drop"};
	struct raw_rule raw = {0};
	size_t i = 0;
	if (decode_members(o, field, fields, &raw, r->a, r->err) < 0)
		return error_wrap(r->err, "%s", r->name);
	while (i < ARRAY_LEN(actions) && raw.action && *raw.action &&
	       !cstr_eq(raw.action, actions[i]))
		i++;
	if (i == ARRAY_LEN(actions))
		return fail(r, arena_fmt(r->a, "%s.action", field),
			    arena_fmt(r->a, "%s is none; there are keep, drop and replace",
				      raw.action));
	const char *text = raw.regex && *raw.regex ? raw.regex : "(.*)";
	if (regex_new(str_of(text), &ret->regex, r->err) < 0)
		return error_wrap(r->err, "%s: %s.regex", r->name, field);
	arena_defer(r->a, free_regex, ret->regex);
	ret->action = (enum keymap_action)i;
	ret->replacement = raw.replacement && *raw.replacement ? raw.replacement : "$1";
	return 0;
}

struct raw_resource {
	const char *name, *api_version, *kind, *ns;
	const struct obj *selector, *rules;
};

static int read_rules(const struct reader *r, const struct obj *list, const char *field,
		      struct keymap_resource *ret)
{
	if (obj_len(list) > KEYMAP_RULES_MAX)
		return fail(r, field, arena_fmt(r->a, "more than %d", KEYMAP_RULES_MAX));
	ret->rules = ARENA_ARRAY(r->a, struct keymap_rule, obj_len(list) + 1);
	for (size_t i = 0; i < obj_len(list); i++, ret->n_rules++)
		if (read_rule(r, obj_at(list, i), arena_fmt(r->a, "%s[%zu]", field, i),
			      &ret->rules[i]) < 0)
			return -r->err->code;
	return 0;
}

static int read_resource(const struct reader *r, const struct obj *o, const char *field,
			 struct keymap_resource *ret)
{
	static const struct decode_field fields[] = {
		{"name", DECODE_STR, offsetof(struct raw_resource, name)},
		{"apiVersion", DECODE_STR, offsetof(struct raw_resource, api_version)},
		{"kind", DECODE_STR, offsetof(struct raw_resource, kind)},
		{"namespace", DECODE_STR, offsetof(struct raw_resource, ns)},
		{"selector", DECODE_MAP, offsetof(struct raw_resource, selector)},
		{"keyTransformations", DECODE_LIST, offsetof(struct raw_resource, rules)},
		{0},
	};
	struct raw_resource raw = {0};
	if (decode_members(o, field, fields, &raw, r->a, r->err) < 0)
		return error_wrap(r->err, "%s", r->name);
	if (!raw.name || !*raw.name || !raw.api_version || !raw.kind)
		return fail(r, field, "name, apiVersion and kind are wanted");
	*ret = (struct keymap_resource){.name = raw.name,
					.api_version = raw.api_version,
					.kind = raw.kind,
					.ns = raw.ns && *raw.ns ? raw.ns : NULL};
	if (raw.selector && selector_from_obj(raw.selector, &ret->selector, r->err) < 0)
		return error_wrap(r->err, "%s: %s.selector", r->name, field);
	arena_defer(r->a, free_selector, ret->selector);
	return read_rules(r, raw.rules, arena_fmt(r->a, "%s.keyTransformations", field), ret);
}

static struct keymap_resource *find(const struct keymap *k, const char *name)
{
	for (size_t i = 0; i < k->n; i++)
		if (cstr_eq(k->resources[i].name, name))
			return &k->resources[i];
	return NULL;
}

struct raw_map {
	const char *main;
	const struct obj *resources;
};

static int read_map(const struct reader *r, const struct obj *o, struct keymap *k)
{
	static const struct decode_field fields[] = {
		{"mainResource", DECODE_STR, offsetof(struct raw_map, main)},
		{"resources", DECODE_LIST, offsetof(struct raw_map, resources)},
		{0},
	};
	struct raw_map raw = {0};
	if (decode_members(o, "", fields, &raw, r->a, r->err) < 0)
		return error_wrap(r->err, "%s", r->name);
	if (!obj_len(raw.resources) || obj_len(raw.resources) > KEYMAP_RESOURCES_MAX)
		return fail(r, "resources", arena_fmt(r->a, "1 to %d", KEYMAP_RESOURCES_MAX));
	k->resources = ARENA_ARRAY(r->a, struct keymap_resource, obj_len(raw.resources));
	for (size_t i = 0; i < obj_len(raw.resources); i++) {
		struct keymap_resource *one = &k->resources[i];
		const char *field = arena_fmt(r->a, "resources[%zu]", i);
		if (read_resource(r, obj_at(raw.resources, i), field, one) < 0)
			return -r->err->code;
		if (find(k, one->name))
			return fail(r, field, arena_fmt(r->a, "name %s is there twice", one->name));
		k->n++;
	}
	k->main = raw.main ? find(k, raw.main) : NULL;
	if (!k->main)
		return fail(r, "mainResource",
			    raw.main ? arena_fmt(r->a, "%s is none of resources", raw.main)
				     : "the name of one of resources is wanted");
	return k->main->n_rules ? fail(r, "mainResource",
				       "its keys are its own: keyTransformations are of the others")
				: 0;
}

static int parse(const struct obj *o, const char *name, struct arena *a, struct keymap **ret,
		 struct error *err)
{
	const struct reader r = {name, a, err};
	struct keymap *k = ARENA_NEW(a, struct keymap);
	if (read_map(&r, o, k) < 0)
		return -err->code;
	*ret = k;
	return 0;
}

int keymap_read(struct str text, const char *name, struct arena *a, struct keymap **ret,
		struct error *err)
{
	struct obj *o = NULL;
	if (text.len > KEYMAP_BYTES_MAX)
		return error_set(err, E_LIMIT, "%s is larger than %zu MiB", name,
				 KEYMAP_BYTES_MAX >> 20);
	if (config_parse(text, name, &o, err) < 0)
		return -err->code;
	return parse(obj_keep(a, o), name, a, ret, err);
}

/* 1: goes on with *key; 0: the change concerns nobody. */
static int apply(const struct keymap_rule *rule, struct arena *a, const char **key,
		 struct error *err)
{
	size_t *at = ARENA_ARRAY(a, size_t, 2 * (regex_groups(rule->regex) + 1));
	uint64_t steps = REGEX_STEPS_MAX;
	enum regex_result m = regex_match(rule->regex, str_of(*key), 0, at, &steps);
	if (m == REGEX_LIMIT)
		return error_set(err, E_LIMIT, "a key transformation takes too long for %s", *key);
	if (rule->action == KEYMAP_KEEP)
		return m == REGEX_YES;
	if (rule->action == KEYMAP_DROP)
		return m == REGEX_NO;
	if (m == REGEX_NO)
		return 1;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(KEYMAP_KEY_MAX);
	regex_expand(rule->regex, at, str_of(rule->replacement), str_of(*key), &b);
	if (strbuf_check(&b, "the key that a transformation makes", err) < 0)
		return -err->code;
	*key = arena_strndup(a, b.buf, b.len);
	return b.len > 0;
}

int keymap_key(const struct keymap *k, const struct keymap_resource *r, const char *key,
	       struct arena *a, const char **ret, struct error *err)
{
	int go_on = 1;
	for (size_t i = 0; r != k->main && go_on > 0 && i < r->n_rules; i++)
		go_on = apply(&r->rules[i], a, &key, err);
	if (go_on < 0)
		return go_on;
	*ret = go_on ? key : NULL;
	return 0;
}
