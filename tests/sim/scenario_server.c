/*
 * scenario_server: the server alone. A user's acknowledged writes survive every crash of the server
 * and every power loss, and the log tells each of them once.
 */
#include "tests/sim/scenarios.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define A(name, v)                                                              \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":" \
	"\"" name "\"},\"data\":{\"v\":\"" v "\"}}"
#define V(v) "{\"data\":{\"v\":\"" v "\"}}"
#define MS   NS_PER_MS

static const struct user_action actions[] = {
	{10 * MS, DO_CREATE, MAPS, A("one", "1"), NULL},
	{10 * MS, DO_CREATE, MAPS, A("two", "1"), NULL},
	{10 * MS, DO_PATCH, MAPS "/one", V("2"), NULL},
	{10 * MS, DO_CREATE, MAPS, A("three", "1"), NULL},
	{10 * MS, DO_DELETE, MAPS "/two", NULL, NULL},
	{10 * MS, DO_PATCH, MAPS "/one", V("3"), NULL},
	{10 * MS, DO_PATCH, MAPS "/three", V("2"), NULL},
	{10 * MS, DO_CREATE, MAPS, A("four", "1"), NULL},
	{0},
};

static const struct {
	const char *target, *v; /* NULL: absent */
} wanted[] = {{MAPS "/one", "3"}, {MAPS "/two", NULL}, {MAPS "/three", "2"}, {MAPS "/four", "1"}};

static int converged(struct world *w, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		int status = world_get(w, wanted[i].target, &o, err);
		if (status < 0)
			return status;
		const char *v = status == 200 ? obj_str(o, "data.v") : NULL;
		if (!cstr_eq(v, wanted[i].v))
			return error_set(err, E_INTERNAL, "%s is %s, want %s", wanted[i].target,
					 v ? v : "absent", wanted[i].v ? wanted[i].v : "absent");
	}
	return 0;
}

const struct scenario scenario_server = {
	.name = "server",
	.about = "a user writes to the server alone",
	.actions = actions,
	.converged = converged,
};
