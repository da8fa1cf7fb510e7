/* gate_branches.c: allOf, anyOf, oneOf, not as canonical sets; rules; keywords nobody knows. */
#include <string.h>

#include "alm/obj/json.h"
#include "catalog/gate/gate_internal.h"

static const char *const documentation[] = {"description", "title", "example", "externalDocs"};

static bool is_documentation(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(documentation); i++)
		if (strcmp(documentation[i], key) == 0)
			return true;
	return false;
}

/* Of a schema node, not of a map of properties, where a field may be called "title". */
static struct obj *bare_node(const struct obj *o);

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static struct obj *bare_value(const char *key, const struct obj *value)
{
	if (strcmp(key, "properties") == 0 && obj_type(value) == OBJ_MAP) {
		struct obj *out = obj_map();
		OBJ_EACH (it, value)
			obj_set(out, it.key, bare_node(it.value));
		return out;
	}
	if (obj_type(value) == OBJ_LIST &&
	    (strcmp(key, "anyOf") == 0 || strcmp(key, "allOf") == 0 || strcmp(key, "oneOf") == 0)) {
		struct obj *out = obj_list();
		for (size_t i = 0; i < obj_len(value); i++)
			obj_append(out, bare_node(obj_at(value, i)));
		return out;
	}
	if (strcmp(key, "items") == 0 || strcmp(key, "not") == 0 ||
	    strcmp(key, "additionalProperties") == 0)
		return bare_node(value);
	return obj_ref(value);
}

static struct obj *bare_node(const struct obj *o)
{
	if (obj_type(o) != OBJ_MAP)
		return obj_ref(o);
	struct obj *out = obj_map();
	OBJ_EACH (it, o)
		if (!is_documentation(it.key))
			obj_set(out, it.key, bare_value(it.key, it.value));
	return out;
}

static bool same_value(const char *key, const struct obj *x, const struct obj *y)
{
	if (strcmp(key, "properties") == 0 && obj_type(x) == OBJ_MAP && obj_type(y) == OBJ_MAP) {
		OBJ_EACH (it, x)
			if (!gate_same(it.value, obj_get(y, it.key)))
				return false;
		return obj_len(x) == obj_len(y);
	}
	if (strcmp(key, "items") == 0 || strcmp(key, "additionalProperties") == 0)
		return gate_same(x, y);
	return obj_equal(x, y);
}

bool gate_same(const struct obj *x, const struct obj *y)
{
	if (obj_type(x) != OBJ_MAP || obj_type(y) != OBJ_MAP)
		return x && y && obj_equal(x, y);
	OBJ_EACH (it, x) {
		const struct obj *other = obj_get(y, it.key);
		if (!is_documentation(it.key) && (!other || !same_value(it.key, it.value, other)))
			return false;
	}
	OBJ_EACH (it, y)
		if (!is_documentation(it.key) && !obj_has(x, it.key))
			return false;
	return true;
}
/* NOLINTEND(misc-no-recursion) */

const char *gate_canonical(const struct obj *o, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)16 << 20);
	if (!o)
		return "";
	struct obj *bare = bare_node(o);
	json_print_canonical(bare, &b);
	obj_unref(bare);
	return arena_strdup(a, b.buf);
}

static bool has_branch(const struct obj *list, const char *text, struct arena *a)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (strcmp(gate_canonical(obj_at(list, i), a), text) == 0)
			return true;
	return false;
}

/* anyOf: [{type: integer}, {type: string}] beside x-kubernetes-int-or-string says nothing. */
static bool is_int_or_string_idiom(const struct obj *node, const struct obj *any_of)
{
	if (!obj_is_true(obj_get(node, "x-kubernetes-int-or-string")) || obj_len(any_of) != 2)
		return false;
	return cstr_eq(obj_str(obj_at(any_of, 0), "type"), "integer") &&
	       cstr_eq(obj_str(obj_at(any_of, 1), "type"), "string") &&
	       obj_len(obj_at(any_of, 0)) == 1 && obj_len(obj_at(any_of, 1)) == 1;
}

/* An allOf branch may carry the idiom too. */
static bool is_idle_branch(const struct obj *node, const struct obj *branch)
{
	return obj_len(branch) == 1 && is_int_or_string_idiom(node, obj_get(branch, "anyOf"));
}

static const struct obj *branches(const struct obj *node, const char *key)
{
	const struct obj *list = obj_get(node, key);
	if (obj_len(list) == 0 || (strcmp(key, "anyOf") == 0 && is_int_or_string_idiom(node, list)))
		return NULL;
	return list;
}

/* Is every branch of x in y? node is where x stands. */
static bool is_subset(const struct obj *x, const struct obj *y, const struct obj *node,
		      struct arena *a)
{
	for (size_t i = 0; i < obj_len(x); i++)
		if (!is_idle_branch(node, obj_at(x, i)) &&
		    !has_branch(y, gate_canonical(obj_at(x, i), a), a))
			return false;
	return true;
}

static const char *short_text(struct gate_walk *w, const struct obj *o)
{
	const char *text = gate_canonical(o, w->g->arena);
	if (strlen(text) <= 200)
		return text;
	return arena_fmt(w->g->arena, "%.197s...", text);
}

static void compare_list(struct gate_walk *w, const char *key, const struct obj *raw_x,
			 const struct obj *raw_y, struct schema *test)
{
	const struct obj *x = branches(raw_x, key), *y = branches(raw_y, key);
	struct arena *a = w->g->arena;
	bool narrower = false;
	if (!y)
		return;
	if (strcmp(key, "anyOf") == 0)
		narrower = !x || !is_subset(x, y, raw_x, a);
	else if (strcmp(key, "allOf") == 0)
		narrower = !is_subset(y, x, raw_y, a);
	else
		narrower = !x || !is_subset(x, y, raw_x, a) || !is_subset(y, x, raw_y, a);
	if (narrower)
		gate_add_narrow(w, "CompositionNarrowed",
				x ? arena_fmt(a, "%s %s", key, short_text(w, x)) : "",
				arena_fmt(a, "%s %s", key, short_text(w, y)), test);
}

void gate_compare_branches(struct gate_walk *w, const struct schema *y, const struct obj *raw_x,
			   const struct obj *raw_y)
{
	struct schema *all = gate_test(w->g), *any = gate_test(w->g), *one = gate_test(w->g);
	all->all_of = y->all_of;
	any->any_of = y->any_of;
	one->one_of = y->one_of;
	compare_list(w, "allOf", raw_x, raw_y, all);
	compare_list(w, "anyOf", raw_x, raw_y, any);
	compare_list(w, "oneOf", raw_x, raw_y, one);
	const struct obj *not_x = obj_get(raw_x, "not"), *not_y = obj_get(raw_y, "not");
	if (!not_y ||
	    strcmp(gate_canonical(not_x, w->g->arena), gate_canonical(not_y, w->g->arena)) == 0)
		return;
	struct schema *test = gate_test(w->g);
	test->not_schema = y->not_schema;
	gate_add_narrow(w, "CompositionNarrowed", not_x ? short_text(w, not_x) : "",
			arena_fmt(w->g->arena, "not %s", short_text(w, not_y)), test);
}

static bool has_rule(const struct obj *rules, const char *text)
{
	for (size_t i = 0; i < obj_len(rules); i++)
		if (cstr_eq(obj_str(obj_at(rules, i), "rule"), text))
			return true;
	return false;
}

static bool is_name_char(char c)
{
	return char_is_alnum(c) || c == '_';
}

/* Past a quoted text that starts at p; escapes are passed over. */
static const char *skip_quoted(const char *p)
{
	char quote = *p++;
	while (*p && *p != quote)
		p += *p == '\\' && p[1] ? 2 : 1;
	return *p ? p + 1 : p;
}

/* Does the rule read oldSelf? Not as a text or as the name of a field. */
static bool is_transition(const char *rule)
{
	char before = '\0';
	for (const char *p = rule; *p;) {
		if (*p == '"' || *p == '\'') {
			p = skip_quoted(p);
			before = '"';
			continue;
		}
		size_t n = 0;
		while (is_name_char(p[n]))
			n++;
		if (n == strlen("oldSelf") && strncmp(p, "oldSelf", n) == 0 && before != '.')
			return true;
		if (n == 0 && !char_is_space(*p))
			before = *p;
		else if (n > 0)
			before = 'x';
		p += n ? n : 1;
	}
	return false;
}

void gate_compare_rules(struct gate_walk *w, const struct obj *raw_x, const struct obj *raw_y)
{
	const struct obj *x = obj_get(raw_x, "x-kubernetes-validations");
	const struct obj *y = obj_get(raw_y, "x-kubernetes-validations");
	for (size_t i = 0; i < obj_len(y); i++) {
		const char *rule = obj_str(obj_at(y, i), "rule");
		if (!rule || has_rule(x, rule))
			continue;
		bool transition = is_transition(rule);
		struct gate_item *item =
			gate_add(w->g, "CELChanged", w->version, w, FINDING_WARN, "", rule);
		item->needs_shadow = !transition;
		item->escalates = !transition;
		item->f.note = transition ? "judges updates only" : "not evaluated";
	}
}

/* false and null are what an absent keyword means. */
static bool says_nothing(const struct obj *o)
{
	enum obj_type type = obj_type(o);
	return type == OBJ_ABSENT || type == OBJ_NULL || (type == OBJ_BOOL && !obj_is_true(o));
}

void gate_compare_unknown(struct gate_walk *w, const struct obj *raw_x, const struct obj *raw_y)
{
	static const char *const known[] = {
		"type",
		"properties",
		"additionalProperties",
		"items",
		"required",
		"enum",
		"default",
		"minimum",
		"maximum",
		"exclusiveMinimum",
		"exclusiveMaximum",
		"multipleOf",
		"minLength",
		"maxLength",
		"minItems",
		"maxItems",
		"minProperties",
		"maxProperties",
		"pattern",
		"format",
		"nullable",
		"allOf",
		"anyOf",
		"oneOf",
		"not",
		"x-kubernetes-int-or-string",
		"x-kubernetes-preserve-unknown-fields",
		"x-kubernetes-embedded-resource",
		"x-kubernetes-list-type",
		"x-kubernetes-list-map-keys",
		"x-kubernetes-map-type",
		"x-kubernetes-validations",
	};
	const struct obj *sides[] = {raw_x, raw_y};
	for (size_t side = 0; side < ARRAY_LEN(sides); side++) {
		OBJ_EACH (it, sides[side]) {
			bool ok = is_documentation(it.key) || (side == 1 && obj_has(raw_x, it.key));
			for (size_t i = 0; i < ARRAY_LEN(known) && !ok; i++)
				ok = known[i][0] == it.key[0] && strcmp(known[i], it.key) == 0;
			const struct obj *x = obj_get(raw_x, it.key), *y = obj_get(raw_y, it.key);
			if (ok || (x && y && obj_equal(x, y)) ||
			    (says_nothing(x) && says_nothing(y)))
				continue;
			gate_add(w->g, "KeywordUnknown", w->version, w, FINDING_REFUSE,
				 x ? arena_fmt(w->g->arena, "%s %s", it.key, short_text(w, x)) : "",
				 y ? arena_fmt(w->g->arena, "%s %s", it.key, short_text(w, y))
				   : "");
		}
	}
}
