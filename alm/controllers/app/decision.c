#include "alm/controllers/app/decision.h"

struct obj *decision_body(const char *rule, const char *verdict, const char *detail)
{
	struct obj *body = obj_map(), *found = obj_map(), *rules = obj_list();
	obj_set_str(found, "id", rule);
	obj_set_str(found, "verdict", verdict);
	obj_set_str(found, "detail", detail);
	obj_append(rules, found);
	obj_set_str(body, "verdict", verdict);
	obj_set_str(body, "message", detail);
	obj_set(body, "rules", rules);
	return body;
}
