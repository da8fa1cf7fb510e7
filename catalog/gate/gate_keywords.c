/* gate_keywords.c: the keywords of one node, old against new. Each knows which direction widens. */
#include <string.h>

#include "alm/obj/json.h"
#include "catalog/gate/gate_internal.h"

struct schema *gate_test(struct gate *g)
{
	struct schema *s = ARENA_NEW(g->arena, struct schema);
	s->min_length = s->max_length = s->min_items = s->max_items = SCHEMA_UNSET;
	s->min_properties = s->max_properties = SCHEMA_UNSET;
	s->preserve = true;
	return s;
}

#define NO_LIMITS                                                                          \
	.min_length = SCHEMA_UNSET, .max_length = SCHEMA_UNSET, .min_items = SCHEMA_UNSET, \
	.max_items = SCHEMA_UNSET, .min_properties = SCHEMA_UNSET, .max_properties = SCHEMA_UNSET

const struct schema *gate_anything(void)
{
	static const struct schema anything = {NO_LIMITS, .preserve = true, .nullable = true};
	return &anything;
}

const struct schema *gate_string(void)
{
	static const struct schema string = {NO_LIMITS, .type = SCHEMA_STRING};
	return &string;
}

const struct schema *gate_undeclared(void)
{
	static const struct schema undeclared = {NO_LIMITS, .nullable = true};
	return &undeclared;
}

const char *gate_type_text(const struct schema *s)
{
	if (s->int_or_string)
		return "int-or-string";
	switch (s->type) {
	case SCHEMA_OBJECT:
		return "object";
	case SCHEMA_ARRAY:
		return "array";
	case SCHEMA_STRING:
		return "string";
	case SCHEMA_INTEGER:
		return "integer";
	case SCHEMA_NUMBER:
		return "number";
	case SCHEMA_BOOLEAN:
		return "boolean";
	default:
		return "any";
	}
}

static struct schema *type_test(struct gate *g, const struct schema *y, bool nullable)
{
	struct schema *test = gate_test(g);
	test->type = y->type;
	test->int_or_string = y->int_or_string;
	test->nullable = nullable;
	return test;
}

/* Numbers that can only be integers. */
static bool is_whole(const struct schema *x)
{
	int64_t i;
	bool whole = x->enum_values != NULL;
	for (size_t k = 0; k < obj_len(x->enum_values); k++)
		whole &= obj_as_i64(obj_at(x->enum_values, k), &i);
	return whole || (x->multiple_of && obj_as_i64(x->multiple_of, &i));
}

bool gate_compare_type(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	unsigned wide = y->type | (y->type & SCHEMA_NUMBER ? SCHEMA_INTEGER : 0);
	unsigned all = x->type ? x->type : ~0U;
	if ((x->type & SCHEMA_NUMBER) && is_whole(x))
		all = (all & ~(unsigned)SCHEMA_NUMBER) | SCHEMA_INTEGER;
	if (y->type == 0 || (all & ~wide) == 0)
		return true; /* the same, or widened */
	bool overlap = (all & wide) || ((x->type & SCHEMA_NUMBER) && (wide & SCHEMA_INTEGER));
	if (!overlap) {
		struct gate_item *item =
			gate_add(w->g, "TypeChanged", w->version, w, FINDING_REFUSE,
				 gate_type_text(x), gate_type_text(y));
		item->check = CHECK_REFUSED;
		item->test = type_test(w->g, y, y->nullable);
		return false;
	}
	/* untyped: null is one value of any; else it is NullableRemoved's */
	gate_add_narrow(w, "TypeChanged", gate_type_text(x), gate_type_text(y),
			type_test(w->g, y, x->type != 0 || y->nullable));
	return true;
}

static const char *number_text(struct gate_walk *w, const char *key, const struct obj *o,
			       bool exclusive)
{
	if (!o)
		return "";
	return arena_fmt(w->g->arena, "%s %.*s%s", key, STR_ARG(obj_number_text(o)),
			 exclusive ? " (exclusive)" : "");
}

/* Does a keyword about these types say anything about a value that both take? */
static bool applies(const struct schema *x, const struct schema *y, unsigned types)
{
	return (!x->type || (x->type & types)) && (!y->type || (y->type & types));
}

#define NUMBERS (SCHEMA_INTEGER | SCHEMA_NUMBER)

static bool same_number(const struct obj *a, const struct obj *b)
{
	double x = 0, y = 0;
	return obj_as_double(a, &x) && obj_as_double(b, &y) && x == y;
}

/* Does the test take all that x takes, as far as x's bound tells? The bound itself if x takes it,
 * else the next integer; between numbers there is no next. */
static bool bound_passes(const struct schema *x, const struct obj *bound, bool exclusive, int step,
			 const struct schema *test)
{
	int64_t i;
	if (!bound)
		return false;
	if (!exclusive || schema_accepts(test, bound) || (x->type & SCHEMA_NUMBER) ||
	    !obj_as_i64(bound, &i) || i == INT64_MAX || i == INT64_MIN)
		return schema_accepts(test, bound);
	CLEANUP(obj_unrefp) struct obj *next = obj_int(i + step);
	return schema_accepts(test, next);
}

static void compare_minimum(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	if (!y->minimum || !applies(x, y, NUMBERS))
		return;
	struct schema *test = gate_test(w->g);
	test->minimum = y->minimum;
	test->exclusive_minimum = y->exclusive_minimum && !(x->exclusive_minimum && x->minimum &&
							    same_number(x->minimum, y->minimum));
	if (bound_passes(x, x->minimum, x->exclusive_minimum, 1, test))
		return;
	test->exclusive_minimum = y->exclusive_minimum;
	gate_add_narrow(w, "BoundTightened",
			number_text(w, "minimum", x->minimum, x->exclusive_minimum),
			number_text(w, "minimum", y->minimum, y->exclusive_minimum), test);
}

static void compare_maximum(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	if (!y->maximum || !applies(x, y, NUMBERS))
		return;
	struct schema *test = gate_test(w->g);
	test->maximum = y->maximum;
	test->exclusive_maximum = y->exclusive_maximum && !(x->exclusive_maximum && x->maximum &&
							    same_number(x->maximum, y->maximum));
	if (bound_passes(x, x->maximum, x->exclusive_maximum, -1, test))
		return;
	test->exclusive_maximum = y->exclusive_maximum;
	gate_add_narrow(w, "BoundTightened",
			number_text(w, "maximum", x->maximum, x->exclusive_maximum),
			number_text(w, "maximum", y->maximum, y->exclusive_maximum), test);
}

/* Every multiple of x is one of y if x itself is. */
static void compare_multiple(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	if (!y->multiple_of || !applies(x, y, NUMBERS))
		return;
	struct schema *test = gate_test(w->g);
	CLEANUP(obj_unrefp) struct obj *one = obj_int(1);
	test->multiple_of = y->multiple_of;
	bool whole = x->type && !(x->type & SCHEMA_NUMBER);
	if ((x->multiple_of && schema_accepts(test, x->multiple_of)) ||
	    (whole && schema_accepts(test, one)))
		return;
	gate_add_narrow(w, "BoundTightened", number_text(w, "multipleOf", x->multiple_of, false),
			number_text(w, "multipleOf", y->multiple_of, false), test);
}

/* A map that has no more fields declared than that never holds more. */
static bool fits(const struct schema *y, int64_t max)
{
	bool closed = !y->preserve && !y->additional && !y->additional_any && !y->embedded;
	return closed && y->properties && (int64_t)y->n_properties <= max;
}

static void compare_sizes(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	static const struct {
		const char *name;
		size_t offset;
		bool is_minimum;
		unsigned types;
	} rows[] = {
		{"minLength", offsetof(struct schema, min_length), true, SCHEMA_STRING},
		{"maxLength", offsetof(struct schema, max_length), false, SCHEMA_STRING},
		{"minItems", offsetof(struct schema, min_items), true, SCHEMA_ARRAY},
		{"maxItems", offsetof(struct schema, max_items), false, SCHEMA_ARRAY},
		{"minProperties", offsetof(struct schema, min_properties), true, SCHEMA_OBJECT},
		{"maxProperties", offsetof(struct schema, max_properties), false, SCHEMA_OBJECT},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t old = *(const int64_t *)((const void *)((const char *)x + rows[i].offset));
		int64_t new = *(const int64_t *)((const void *)((const char *)y + rows[i].offset));
		bool tighter = rows[i].is_minimum ? new > 0 && new > old
						  : new >= 0 && (old < 0 || new < old);
		if (!tighter || !applies(x, y, rows[i].types) ||
		    (rows[i].types == SCHEMA_OBJECT && !rows[i].is_minimum && fits(y, new)))
			continue;
		struct schema *test = gate_test(w->g);
		*(int64_t *)((void *)((char *)test + rows[i].offset)) = new;
		const char *before =
			arena_fmt(w->g->arena, "%s %lld", rows[i].name, (long long)old);
		gate_add_narrow(w, "BoundTightened", old < 0 ? "" : before,
				arena_fmt(w->g->arena, "%s %lld", rows[i].name, (long long)new),
				test);
	}
}

const char *gate_value_text(struct gate_walk *w, const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!o)
		return "";
	json_print_canonical(o, &b);
	if (b.len > 200) {
		strbuf_truncate(&b, 197);
		strbuf_adds(&b, "...");
	}
	return arena_strdup(w->g->arena, b.buf);
}

static bool holds(const struct obj *list, const struct obj *value)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_equal(obj_at(list, i), value))
			return true;
	return false;
}

static void compare_enum(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	bool narrower = y->enum_values && !x->enum_values;
	for (size_t i = 0; y->enum_values && i < obj_len(x->enum_values); i++)
		narrower |= !holds(y->enum_values, obj_at(x->enum_values, i));
	if (!narrower)
		return;
	struct schema *test = gate_test(w->g);
	test->enum_values = y->enum_values;
	gate_add_narrow(w, "EnumNarrowed", gate_value_text(w, x->enum_values),
			gate_value_text(w, y->enum_values), test);
}

static void compare_pattern(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	if (!y->pattern_text || cstr_eq(x->pattern_text, y->pattern_text) ||
	    !applies(x, y, SCHEMA_STRING))
		return;
	struct schema *test = gate_test(w->g);
	test->pattern = y->pattern;
	test->pattern_text = y->pattern_text;
	gate_add_narrow(w, "PatternChanged", x->pattern_text ? x->pattern_text : "",
			y->pattern_text, test);
}

static void compare_format(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	/* a password is any string; int64 is what an integer is anyway */
	bool any = cstr_eq(y->format, "password") || cstr_eq(y->format, "int64");
	bool about_numbers = cstr_eq(y->format, "int32");
	if (!y->format || !schema_format_known(y->format) || cstr_eq(x->format, y->format) || any ||
	    !applies(x, y, about_numbers ? SCHEMA_INTEGER : SCHEMA_STRING))
		return;
	struct schema *test = gate_test(w->g);
	test->format = y->format;
	test->nullable = true;
	if (about_numbers)
		test->type = y->type;
	gate_add_narrow(w, "FormatChanged", x->format ? x->format : "", y->format, test);
}

/* An enum takes null only if it lists it. */
static bool takes_null(const struct schema *s)
{
	for (size_t i = 0; i < obj_len(s->enum_values); i++)
		if (obj_type(obj_at(s->enum_values, i)) == OBJ_NULL)
			return true;
	return !s->enum_values;
}

static void compare_nullable(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	/* untyped, null is one value of any: TypeChanged; and lists keep it where maps drop it */
	bool in_list = w->n > 0 && w->steps[w->n - 1].kind == '[';
	if (!x->nullable || y->nullable || !takes_null(x) || (y->type ? x->type == 0 : in_list))
		return;
	struct schema *test = gate_test(w->g);
	test->type = ~0U;
	gate_add_narrow(w, "NullableRemoved", "true", "false", test);
}

static bool is_required(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->n_required; i++)
		if (strcmp(s->required[i], name) == 0)
			return true;
	return false;
}

static void compare_required(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	for (size_t i = 0; i < y->n_required; i++) {
		const char *name = y->required[i];
		if (is_required(x, name) || (w->n == 0 && gate_is_meta(name)) ||
		    schema_default_of(schema_property(y, name)))
			continue;
		struct schema *test = gate_test(w->g);
		test->required = &y->required[i];
		test->n_required = 1;
		struct gate_item *item = gate_add_narrow(w, "RequiredAdded", "", name, test);
		if (item)
			item->on_new = true;
	}
}

static const char *list_text(struct gate_walk *w, const struct schema *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (s->list_type == LIST_SET)
		return "set";
	if (s->list_type != LIST_MAP)
		return "atomic";
	strbuf_adds(&b, "map");
	for (size_t i = 0; i < s->n_list_keys; i++)
		strbuf_addf(&b, "%s%s", i ? "," : " by ", s->list_keys[i]);
	return arena_strdup(w->g->arena, b.buf);
}

/* The items with nothing but the defaults of the keys. */
static struct schema *key_defaults(struct gate *g, const struct schema *y)
{
	struct schema *items = gate_test(g);
	for (size_t i = 0; i < y->n_list_keys; i++) {
		struct schema *key = gate_test(g);
		const struct schema *property = schema_property(y->items, y->list_keys[i]);
		key->default_value = schema_default_of(property);
		schema_set_property(g->arena, items, y->list_keys[i], key);
	}
	return items;
}

static void compare_list_type(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	const char *before = list_text(w, x), *after = list_text(w, y);
	if (x->map_atomic != y->map_atomic)
		gate_add(w->g, "ListTypeChanged", w->version, w, FINDING_WARN,
			 x->map_atomic ? "atomic map" : "granular map",
			 y->map_atomic ? "atomic map" : "granular map");
	if (strcmp(before, after) == 0)
		return;
	if (y->list_type == LIST_ATOMIC) {
		gate_add(w->g, "ListTypeChanged", w->version, w, FINDING_WARN, before, after);
		return;
	}
	struct schema *test = gate_test(w->g);
	test->list_type = y->list_type;
	test->list_keys = y->list_keys;
	test->n_list_keys = y->n_list_keys;
	if (y->list_type == LIST_MAP)
		test->items = key_defaults(w->g, y);
	gate_add_narrow(w, "ListTypeChanged", before, after, test);
}

static void compare_flags(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	if (x->embedded != y->embedded)
		gate_add(w->g, "KeywordUnknown", w->version, w, FINDING_REFUSE,
			 x->embedded ? "x-kubernetes-embedded-resource" : "",
			 y->embedded ? "x-kubernetes-embedded-resource" : "");
}

void gate_compare_keywords(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	compare_minimum(w, x, y);
	compare_maximum(w, x, y);
	compare_multiple(w, x, y);
	compare_sizes(w, x, y);
	compare_enum(w, x, y);
	compare_pattern(w, x, y);
	compare_format(w, x, y);
	compare_nullable(w, x, y);
	compare_required(w, x, y);
	compare_list_type(w, x, y);
	compare_flags(w, x, y);
}
