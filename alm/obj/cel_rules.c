/* cel_rules.c: until the evaluator lands, an object under rules is refused, never passed. */
#include "alm/obj/cel_rules.h"

#include "alm/obj/schema_node.h"

struct cel_rules *cel_rules_compile(const struct schema *s, struct arena *a)
{
	(void)s;
	(void)a;
	return NULL;
}

void schema_validate_rules(const struct schema *s, const struct obj *o, const struct obj *old,
			   struct field_errors *ret)
{
	(void)o;
	(void)old;
	if (s && s->has_rules_below)
		field_errors_add(ret, FIELD_INTERNAL, "<nil>",
				 "Internal error: x-kubernetes-validations are not supported yet");
}

void schema_check_rules(const struct obj *openapi, const char *path, struct field_errors *ret)
{
	struct schema *s = NULL;
	struct error err = ERROR_INIT;
	if (schema_compile(openapi, &s, &err) >= 0)
		schema_validate_rules(s, NULL, NULL, ret);
	(void)path;
	schema_free(s);
}
