/* warn_parts: see warn_parts.h. */
#include "alm/apiserver/kinds/warn_parts.h"

#include "alm/apiserver/kinds/field_check.h"
#include "alm/obj/gvk.h"
#include "alm/obj/quantity.h"

#define NANOS 1000000000

void warn_add(struct field_errors *w, const char *path, const char *why)
{
	field_errors_add(w, FIELD_INVALID, path, "%s", why);
}

void warn_of_fraction(struct field_errors *w, const char *path, const struct obj *amounts,
		      const char *name)
{
	struct quantity q;
	const struct obj *v = obj_get(amounts, name);
	if (quantity_read(obj_as_str(v), &q) && q.nanos % NANOS != 0)
		field_errors_add(w, FIELD_INVALID, arena_fmt(w->arena, "%s[%s]", path, name),
				 "fractional byte value \"%s\" is invalid, must be an integer",
				 obj_as_string(v));
}

const char *warn_of_label(const char *key)
{
	static const char *const known[][2] = {
		{"beta.kubernetes.io/arch",
		 "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
		{"beta.kubernetes.io/os",
		 "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
		{"failure-domain.beta.kubernetes.io/region",
		 "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
		{"failure-domain.beta.kubernetes.io/zone",
		 "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
		{"beta.kubernetes.io/instance-type",
		 "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
		{"app.kubernetes.io/created-by", "deprecated since v1.9"},
		{"scheduler.alpha.kubernetes.io/preferAvoidPods",
		 "deprecated since v1.22; use Taints and Tolerations instead"},
		{"node-role.kubernetes.io/master",
		 "use \"node-role.kubernetes.io/control-plane\" instead"},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (cstr_eq(key, known[i][0]))
			return known[i][1];
	return NULL;
}

void warn_of_term(struct field_errors *w, const char *path, const struct obj *term, bool values)
{
	const struct obj *list = obj_get(term, "matchExpressions");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *one = obj_at(list, i), *of = obj_get(one, "values");
		const char *key = check_text(one, "key"), *why = warn_of_label(key);
		const char *at = check_at(w, check_below(w, path, "matchExpressions"), i);
		if (why)
			field_errors_add(w, FIELD_INVALID, check_below(w, at, "key"), "%s is %s",
					 key, why);
		for (size_t k = 0; values && k < obj_len(of); k++) {
			const char *v = obj_as_string(obj_at(of, k));
			const char *fault = v ? name_fault(NAME_LABEL_VALUE, str_of(v)) : NULL;
			if (fault)
				field_errors_add(w, FIELD_INVALID,
						 check_at(w, check_below(w, at, "values"), k),
						 "%s is invalid, %s", v, fault);
		}
	}
}
