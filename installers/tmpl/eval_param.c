/* eval_param: values and constants as the parameters of functions, whose types are letters (tmpl.h). */
#include <string.h>

#include "installers/tmpl/run.h"

/* ---- types ---- */
const char *eval_param_name(char type)
{
	static const struct {
		char letter;
		const char *name;
	} names[] = {
		{'s', "string"},        {'i', "int"},
		{'l', "int64"},         {'f', "float64"},
		{'b', "bool"},          {'m', "map[string]interface {}"},
		{'S', "[]string"},      {'A', "[]interface {}"},
		{'t', "time.Time"},     {'c', "sprig.certificate"},
		{'d', "time.Duration"}, {'V', "*semver.Version"},
		{'U', "uint32"},        {'w', "io.Writer"},
		{'r', "reflect.Value"},
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].letter == type)
			return names[i].name;
	}
	return "interface {}";
}

bool eval_can_be_nil(char type)
{
	return type && strchr("vrmSAV", type) != NULL;
}

static bool assignable(struct value v, char type)
{
	switch (type) {
	case 's':
		return v.type == VALUE_STRING;
	case 'i':
		return v.type == VALUE_INT;
	case 'l':
		return v.type == VALUE_INT64;
	case 'f':
		return v.type == VALUE_FLOAT;
	case 'b':
		return v.type == VALUE_BOOL;
	case 'm':
		return value_is_anymap(v);
	case 'S':
		return v.type == VALUE_STRINGS || v.type == VALUE_VERSIONS;
	case 'A':
		return v.type == VALUE_LIST;
	case 't':
		return v.type == VALUE_TIME;
	case 'd':
		return v.type == VALUE_DURATION;
	case 'V':
		return v.type == VALUE_SEMVER;
	case 'U':
	case 'w':
		return false; /* no value of a chart is one */
	case 'c':
		return v.type == VALUE_STRUCT && v.st->type == &vstruct_certificate;
	default:
		return true;
	}
}

const char *eval_type_name(const struct state *s, struct value v)
{
	if (v.iface && v.type == VALUE_NIL)
		return "interface {}";
	return value_type_name(v, s->run->set->profile);
}

/* The zero of a type that can be nil. */
struct value eval_zero(char type)
{
	if (type == 'm')
		return value_map(NULL);
	if (type == 'S')
		return (struct value){.type = VALUE_STRINGS};
	if (type == 'A')
		return (struct value){.type = VALUE_LIST};
	return VALUE_NONE;
}

int eval_validate(struct state *s, struct value v, char type, struct value *ret)
{
	if (v.type == VALUE_NIL && !v.iface) {
		if (type && !eval_can_be_nil(type))
			return state_fail(s, "invalid value; expected %s", eval_param_name(type));
		*ret = eval_zero(type);
		return 0;
	}
	if (type && !(v.type == VALUE_NIL && strchr("vr", type)) &&
	    (v.type == VALUE_NIL || !assignable(v, type)))
		return state_fail(s, "wrong type for value; expected %s; got %s",
				  eval_param_name(type), eval_type_name(s, v));
	*ret = v;
	if (type && type != 'r')
		ret->iface = 0;
	return 0;
}

/* ---- constants ---- */
static int ideal_constant(struct state *s, const struct tmpl_node *n, struct value *ret)
{
	const struct number *c = n->number;
	const struct str t = c->text;
	s->node = n;
	bool hex = t.len > 2 && t.ptr[0] == '0' && char_lower(t.ptr[1]) == 'x' &&
		   str_find_char(t, 'p') < 0 && str_find_char(t, 'P') < 0;
	bool point = false;
	for (size_t i = 0; i < t.len; i++)
		point = point || strchr(".eEpP", t.ptr[i]);
	if (c->is_complex) {
		*ret = (struct value){.type = VALUE_COMPLEX, .z = c->z};
	} else if (c->is_float && !hex && t.ptr[0] != '\'' && point) {
		*ret = value_float(c->f);
	} else if (c->is_int) {
		*ret = value_int(c->i);
	} else {
		return state_fail(s, "%.*s overflows int", STR_ARG(t));
	}
	return 0;
}

static int fail_expected(struct state *s, const char *what, const struct tmpl_node *n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	strbuf_addf(&b, "expected %s; found ", what);
	node_print(&b, n);
	return state_fail_str(s, strbuf_str(&b));
}

/* A constant for a parameter of a plain type. */
int eval_typed_constant(struct state *s, char type, const struct tmpl_node *n, struct value *ret)
{
	bool number = n->kind == NODE_NUMBER;
	switch (type) {
	case 'b':
		if (n->kind != NODE_BOOL)
			return fail_expected(s, "bool", n);
		*ret = value_bool(n->boolean);
		return 0;
	case 's':
		if (n->kind != NODE_STRING)
			return fail_expected(s, "string", n);
		*ret = value_str(n->string.text);
		return 0;
	case 'i':
	case 'l':
	case 'd':
		if (!number || !n->number->is_int)
			return fail_expected(s, "integer", n);
		*ret = value_int(n->number->i);
		ret->type = type == 'i' ? VALUE_INT : type == 'l' ? VALUE_INT64 : VALUE_DURATION;
		return 0;
	case 'U':
		if (!number || !n->number->is_uint)
			return fail_expected(s, "unsigned integer", n);
		*ret = (struct value){.type = VALUE_UINT64, .u = n->number->u};
		return 0;
	case 'f':
		if (!number || !n->number->is_float)
			return fail_expected(s, "float", n);
		*ret = value_float(n->number->f);
		return 0;
	default: {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
		strbuf_adds(&b, "can't handle ");
		node_print(&b, n);
		strbuf_addf(&b, " for arg of type %s", eval_param_name(type));
		return state_fail_str(s, strbuf_str(&b));
	}
	}
}

int eval_constant(struct state *s, const struct tmpl_node *n, struct value *ret)
{
	s->node = n;
	if (n->kind == NODE_NUMBER)
		return ideal_constant(s, n, ret);
	*ret = n->kind == NODE_BOOL ? value_bool(n->boolean) : value_str(n->string.text);
	return 0;
}
