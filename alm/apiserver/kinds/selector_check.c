/* selector_check: see selector_check.h. */
#include "alm/apiserver/kinds/selector_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"

enum expression {
	OF_LABELS,
	OF_NODE,     /* of a node, whose labels may also be numbers */
	OF_NODE_ANY, /* the same, with any values */
	OF_REVIEW,   /* of a question about rights: its operators may be newer than this server */
};

static void check_expression(struct field_errors *e, const char *path, const struct obj *x,
			     enum expression is)
{
	bool of_node = is == OF_NODE || is == OF_NODE_ANY;
	const char *op = check_text(x, "operator"), *at = check_below(e, path, "values");
	const struct obj *values = obj_get(x, "values");
	bool has = obj_len(values);
	if (strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0) {
		if (!has)
			check_required(e, at,
				       "must be specified when `operator` is 'In' or 'NotIn'");
	} else if (strcmp(op, "Exists") == 0 || strcmp(op, "DoesNotExist") == 0) {
		if (has)
			check_forbidden(e, at,
					"may not be specified when `operator` is 'Exists' or "
					"'DoesNotExist'");
	} else if (of_node && (strcmp(op, "Gt") == 0 || strcmp(op, "Lt") == 0)) {
		if (obj_len(values) != 1)
			check_required(e, at,
				       "must be specified single value when `operator` is 'Lt' or "
				       "'Gt'");
	} else if (is != OF_REVIEW) {
		check_invalid_text(e, check_below(e, path, "operator"), op,
				   "not a valid selector operator");
	}
	check_qualified(e, check_below(e, path, "key"), check_text(x, "key"));
	for (size_t i = 0; is != OF_NODE_ANY && i < obj_len(values) && !field_errors_full(e); i++) {
		const char *v = obj_as_string(obj_at(values, i));
		check_named(e, check_at(e, at, i), NAME_LABEL_VALUE, v ? v : "");
	}
}

void check_label_map(struct field_errors *e, const char *path, const struct obj *labels)
{
	OBJ_EACH (it, labels) {
		const char *v = obj_as_string(it.value);
		check_qualified(e, path, it.key);
		check_named(e, path, NAME_LABEL_VALUE, v ? v : "");
	}
}

void check_label_selector(struct field_errors *e, const char *path, const struct obj *selector)
{
	const char *at = check_below(e, path, "matchExpressions");
	const struct obj *list = obj_get(selector, "matchExpressions");
	check_label_map(e, check_below(e, path, "matchLabels"), obj_get(selector, "matchLabels"));
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_expression(e, check_at(e, at, i), obj_at(list, i), OF_LABELS);
}

void check_asked_requirement(struct field_errors *e, const char *path, const struct obj *x)
{
	check_expression(e, path, x, OF_REVIEW);
}

/* Of a node its name. */
static void check_field(struct field_errors *e, const char *path, const struct obj *x)
{
	const char *op = check_text(x, "operator"), *key = check_text(x, "key");
	const char *at = check_below(e, path, "values");
	const struct obj *values = obj_get(x, "values");
	if (strcmp(op, "In") != 0 && strcmp(op, "NotIn") != 0)
		check_invalid_text(e, check_below(e, path, "operator"), op,
				   "not a valid selector operator");
	else if (obj_len(values) != 1)
		check_required(e, at,
			       "must be only one value when `operator` is 'In' or 'NotIn' for node "
			       "field selector");
	if (strcmp(key, "metadata.name") != 0) {
		check_invalid_text(e, check_below(e, path, "key"), key,
				   "not a valid field selector key");
		return;
	}
	for (size_t i = 0; i < obj_len(values) && !field_errors_full(e); i++) {
		const char *v = obj_as_string(obj_at(values, i));
		check_named(e, check_at(e, at, i), NAME_DNS_SUBDOMAIN, v ? v : "");
	}
}

void check_node_term(struct field_errors *e, const char *path, const struct obj *term, bool any)
{
	const struct obj *list = obj_get(term, "matchExpressions");
	const char *at = check_below(e, path, "matchExpressions");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_expression(e, check_at(e, at, i), obj_at(list, i),
				 any ? OF_NODE_ANY : OF_NODE);
	list = obj_get(term, "matchFields");
	at = check_below(e, path, "matchFields");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_field(e, check_at(e, at, i), obj_at(list, i));
}

void check_node_selector(struct field_errors *e, const char *path, const struct obj *selector)
{
	const struct obj *terms = obj_get(selector, "nodeSelectorTerms");
	const char *at = check_below(e, path, "nodeSelectorTerms");
	if (!obj_len(terms))
		check_required(e, at, "must have at least one node selector term");
	for (size_t i = 0; i < obj_len(terms) && !field_errors_full(e); i++)
		check_node_term(e, check_at(e, at, i), obj_at(terms, i), false);
}

bool check_selector_reads(const struct obj *selector, struct selector **ret)
{
	static const char *const alone[] = {"Exists", "DoesNotExist", NULL};
	const struct obj *list = obj_get(selector, "matchExpressions");
	struct error ignored;
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_in(obj_str(obj_at(list, i), "operator"), alone) &&
		    obj_len(obj_get(obj_at(list, i), "values")))
			return false;
	return selector_from_obj(selector, ret, &ignored) == 0;
}
