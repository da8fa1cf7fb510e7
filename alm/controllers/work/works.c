#include "alm/controllers/work/works.h"

struct action *plan_lookup(struct plan *p, const char *id, const struct obj *needs)
{
	struct action *x = plan_app_work(p, &ask_work, id);
	x->body = needs;
	return x;
}

static struct action *plan_body(struct plan *p, const struct work_kind *kind, const char *id,
				struct obj *body)
{
	struct action *x = plan_app_work(p, kind, id);
	x->body = obj_keep(p->a, body);
	return x;
}

struct action *plan_log(struct plan *p, const char *id, const char *ns, const char *selector,
			bool well)
{
	struct obj *body = obj_map();
	obj_set_str(body, "namespace", ns);
	obj_set_str(body, "selector", selector);
	obj_set_bool(body, "well", well);
	return plan_body(p, &log_work, id, body);
}

struct action *plan_review(struct plan *p, const char *id, struct obj *questions)
{
	return plan_body(p, &review_work, id, questions);
}

struct action *plan_try(struct plan *p, const char *id, struct obj *objects)
{
	return plan_body(p, &try_work, id, objects);
}

struct action *plan_gate(struct plan *p, const char *id, struct obj *request)
{
	return plan_body(p, &gate_work, id, request);
}
