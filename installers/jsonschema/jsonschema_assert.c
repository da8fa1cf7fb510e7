/* jsonschema_assert: keywords that look at one value and at no other schema. */
#include "installers/jsonschema/jsonschema_assert.h"

#include <math.h>

#include "installers/jsonschema/jsonschema_tree.h"

const struct value *schema_keyword(struct value schema, const char *name)
{
	return schema.type == VALUE_MAP ? vmap_getc(schema.map, name) : NULL;
}

bool schema_number_keyword(struct value schema, const char *name, double *ret)
{
	const struct value *v = schema_keyword(schema, name);
	if (!v || !jsonschema_is_number(*v))
		return false;
	*ret = jsonschema_number(*v);
	return true;
}

bool schema_check_type(struct schema_check *c, struct value want)
{
	static const char *const order[] = {"null",   "boolean", "number", "integer",
					    "string", "array",   "object"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct value one = want;
	size_t n = want.type == VALUE_LIST ? want.len : 1;
	const struct value *items = want.type == VALUE_LIST ? want.items : &one;
	for (size_t i = 0; i < n; i++)
		if (items[i].type != VALUE_STRING ||
		    jsonschema_has_type(c->v, value_text(items[i])))
			return true;
	for (size_t k = 0; k < ARRAY_LEN(order); k++)
		for (size_t i = 0; i < n; i++)
			if (value_is_string(items[i], order[k]))
				strbuf_addf(&b, "%s%s", b.len ? " or " : "", order[k]);
	SCHEMA_FAULT(c, "got %s, want %s", jsonschema_type(c->v), b.buf);
	return false;
}

static bool is_scalar(struct value v)
{
	return !value_is_map(v) && !value_is_list(v);
}

static void print_scalar(struct schema_check *c, struct value v, struct strbuf *b)
{
	if (v.type == VALUE_STRING)
		strbuf_addstr(b, schema_quote(c->r->a, value_text(v)));
	else if (v.type == VALUE_NIL)
		strbuf_adds(b, "<nil>");
	else if (jsonschema_is_number(v))
		value_float_json(b, jsonschema_number(v));
	else
		value_print(b, v);
}

bool schema_check_const(struct schema_check *c, struct value want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (jsonschema_equal(c->v, want))
		return true;
	if (is_scalar(want)) {
		print_scalar(c, want, &b);
		SCHEMA_FAULT(c, "value must be %s", b.buf);
	} else {
		SCHEMA_FAULT(c, "'const' failed");
	}
	return false;
}

bool schema_check_enum(struct schema_check *c, struct value want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	bool scalars = true;
	for (size_t i = 0; i < want.len; i++) {
		if (jsonschema_equal(c->v, want.items[i]))
			return true;
		scalars = scalars && is_scalar(want.items[i]);
		if (i)
			strbuf_adds(&b, ", ");
		if (scalars)
			print_scalar(c, want.items[i], &b);
	}
	if (!scalars)
		SCHEMA_FAULT(c, "'enum' failed");
	else if (want.len == 1)
		SCHEMA_FAULT(c, "value must be %s", b.buf);
	else
		SCHEMA_FAULT(c, "value must be one of %s", b.buf);
	return false;
}

/* got: its limits are compared as they are, not as doubles: 2^64 is above 2^64 - 1. */
void schema_check_limit(struct schema_check *c, struct value schema, const char *name,
			struct value got, bool minimum, bool exclusive)
{
	const struct value *limit = schema_keyword(schema, name);
	if (!limit || !jsonschema_is_number(*limit))
		return;
	int order = jsonschema_compare(got, *limit);
	if ((minimum ? order < 0 : order > 0) || (exclusive && order == 0))
		SCHEMA_FAULT(c, "%s: got %s, want %s", name,
			     jsonschema_number_text(c->r->a, jsonschema_number(got)),
			     jsonschema_number_text(c->r->a, jsonschema_number(*limit)));
}

/* Draft 4: exclusiveMinimum is a flag of minimum. */
static void check_bound(struct schema_check *c, struct value schema, const char *name,
			const char *exclusive_name, bool minimum)
{
	double want;
	const struct value *flag = schema_keyword(schema, exclusive_name);
	if (!flag || flag->type != VALUE_BOOL || !flag->b) {
		schema_check_limit(c, schema, name, c->v, minimum, false);
		schema_check_limit(c, schema, exclusive_name, c->v, minimum, true);
	} else if (schema_number_keyword(schema, name, &want)) {
		int order = jsonschema_compare(c->v, *schema_keyword(schema, name));
		if (minimum ? order <= 0 : order >= 0)
			SCHEMA_FAULT(c, "%s: got %s, want %s", exclusive_name,
				     jsonschema_number_text(c->r->a, jsonschema_number(c->v)),
				     jsonschema_number_text(c->r->a, want));
	}
}

void schema_check_number(struct schema_check *c, struct value schema)
{
	double want, got = jsonschema_number(c->v);
	check_bound(c, schema, "minimum", "exclusiveMinimum", true);
	check_bound(c, schema, "maximum", "exclusiveMaximum", false);
	if (!schema_number_keyword(schema, "multipleOf", &want) || want <= 0)
		return;
	double q = got / want;
	if (fabs(q - nearbyint(q)) > 1e-9 * fmax(1, fabs(q)))
		SCHEMA_FAULT(c, "multipleOf: got %s, want %s", jsonschema_number_text(c->r->a, got),
			     jsonschema_number_text(c->r->a, want));
}

void schema_check_string(struct schema_check *c, struct value schema)
{
	struct str s = value_text(c->v);
	const struct value *pattern = schema_keyword(schema, "pattern");
	const char *fault;
	double n = (double)utf8_count(s);
	schema_check_limit(c, schema, "minLength", value_int64((int64_t)n), true, false);
	schema_check_limit(c, schema, "maxLength", value_int64((int64_t)n), false, false);
	if (!pattern || pattern->type != VALUE_STRING)
		return;
	int hit = schema_match(c->r->a, value_text(*pattern), s, &fault);
	if (hit == 0) {
		struct str q = schema_quote(c->r->a, s);
		struct str p = schema_quote(c->r->a, value_text(*pattern));
		SCHEMA_FAULT(c, "%.*s does not match pattern %.*s", STR_ARG(q), STR_ARG(p));
	}
}

bool schema_check_format(struct schema_check *c, struct value format)
{
	if (c->r->draft >= DRAFT_2019 || format.type != VALUE_STRING || c->v.type != VALUE_STRING)
		return true;
	const char *fault = schema_format_fault(c->r->a, value_text(format), value_text(c->v));
	if (!fault)
		return true;
	struct str q = schema_quote(c->r->a, value_text(c->v)), f = value_text(format);
	SCHEMA_FAULT(c, "%.*s is not valid %.*s: %s", STR_ARG(q), STR_ARG(f), fault);
	return false;
}
