/*
 * scenario_toy: ConfigMaps come, change and go while the toy controller follows; one name is taken
 * by somebody else after the controller has let it go.
 */
#include <string.h>

#include "tests/sim/scenarios.h"
#include "tests/sim/toy.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define A(name, v)                                                              \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":" \
	"\"" name "\"},\"data\":{\"v\":\"" v "\"}}"
#define V(v) "{\"data\":{\"v\":\"" v "\"}}"
#define MS   NS_PER_MS
#define SEC  NS_PER_S

static const struct user_action actions[] = {
	{SEC, DO_CREATE, MAPS, A("a-one", "1"), NULL},
	{10 * MS, DO_CREATE, MAPS, A("a-two", "1"), NULL},
	{10 * MS, DO_CREATE, MAPS, A("a-three", "1"), NULL},
	{0, DO_PATCH, MAPS "/a-one", V("2"), NULL},
	{2 * MS, DO_PATCH, MAPS "/a-one", V("3"), NULL},
	{2 * MS, DO_PATCH, MAPS "/a-three", V("3"), NULL},
	{20 * SEC, DO_APPEAR, MAPS "/b-two", NULL, NULL},
	{SEC, DO_DELETE, MAPS "/a-two", NULL, NULL},
	{0, DO_PATCH, MAPS "/a-one", V("4"), NULL},
	{0, DO_GONE, MAPS "/b-two", NULL, NULL},
	{0, DO_CREATE, MAPS, A("b-two", "foreign"), NULL},
	{5 * MS, DO_DELETE, MAPS "/a-three", NULL, NULL},
	{5 * MS, DO_CREATE, MAPS, A("a-three", "again"), NULL},
	{5 * MS, DO_PATCH, MAPS "/a-three", V("last"), NULL},
	{SEC, DO_CREATE, MAPS, A("a-four", "1"), NULL},
	{5 * MS, DO_PATCH, MAPS "/a-four", V("2"), NULL},
	{5 * MS, DO_PATCH, MAPS "/a-four", V("3"), NULL},
	{SEC, DO_PATCH, MAPS "/a-one", V("5"), NULL},
	{50 * SEC, DO_PATCH, MAPS "/a-one", V("6"), NULL},
	{0},
};

static const struct {
	const char *name, *v;
	bool owned;
} wanted[] = {
	{"a-one", "6", false},      {"b-one", "6", true},      {"b-two", "foreign", false},
	{"a-three", "last", false}, {"b-three", "last", true}, {"a-four", "3", false},
	{"b-four", "3", true},
};

static const struct obj *find(const struct obj *list, const char *name)
{
	const struct obj *items = obj_get(list, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		if (cstr_eq(obj_str(obj_at(items, i), "metadata.name"), name))
			return obj_at(items, i);
	return NULL;
}

static int converged(struct world *w, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *list = NULL;
	int status = world_get(w, MAPS, &list, err);
	if (status != 200)
		return status < 0 ? status : error_set(err, E_INTERNAL, "list: %d", status);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		const struct obj *o = find(list, wanted[i].name);
		const char *v = o ? obj_str(o, "data.v") : "(absent)";
		if (!cstr_eq(v, wanted[i].v))
			return error_set(err, E_INTERNAL, "%s is %s, want %s", wanted[i].name, v,
					 wanted[i].v);
		const char *owner = obj_str(o, "metadata.annotations.toy-owner");
		if ((owner != NULL) != wanted[i].owned)
			return error_set(err, E_INTERNAL, "%s has owner %s", wanted[i].name, owner);
	}
	size_t n = ARRAY_LEN(wanted) + (find(list, "kube-root-ca.crt") != NULL);
	if (obj_len(obj_get(list, "items")) != n)
		return error_set(err, E_INTERNAL, "%zu config maps, want %zu",
				 obj_len(obj_get(list, "items")), n);
	return 0;
}

const struct scenario scenario_toy = {
	.name = "toy",
	.about = "a toy controller copies ConfigMaps",
	.actions = actions,
	.program = &toy_program,
	.writes = 20,
	.converged = converged,
};
