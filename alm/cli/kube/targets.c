#include "alm/cli/kube/targets.h"

#include "alm/io/http.h"

static int add(struct session *s, struct targets *t, const char *type, const char *name, bool all,
	       struct error *err)
{
	if (t->n == ARRAY_LEN(t->items))
		return error_set(err, E_USAGE, "more than %zu objects", t->n);
	struct target *x = &t->items[t->n];
	int r = session_resource(s, type, &x->resource, err);
	if (r < 0)
		return r;
	x->ns = session_ns(s, &x->resource, all && !name);
	x->name = name;
	t->n++;
	return 0;
}

static int slashed(struct session *s, const struct cli *c, struct targets *ret, struct error *err)
{
	for (size_t i = 0; i < c->n_args; i++) {
		struct str type, name;
		if (!str_cut(str_of(c->args[i]), '/', &type, &name) || !name.len)
			return error_set(err, E_USAGE,
					 "%s: all arguments are TYPE/NAME, or none is", c->args[i]);
		int r = add(s, ret, arena_strndup(c->arena, type.ptr, type.len), name.ptr, false,
			    err);
		if (r < 0)
			return r;
	}
	return 0;
}

int targets_of_args(struct session *s, const struct cli *c, bool all_namespaces,
		    struct targets *ret, struct error *err)
{
	struct str types = str_of(c->n_args ? c->args[0] : ""), type;
	ret->n = 0;
	if (str_find_char(types, '/') >= 0)
		return slashed(s, c, ret, err);
	while (str_next(&types, ',', &type)) {
		const char *t = arena_strndup(c->arena, type.ptr, type.len);
		int r = 0;
		for (size_t i = 1; i < c->n_args && r >= 0; i++)
			r = add(s, ret, t, c->args[i], false, err);
		if (c->n_args <= 1)
			r = add(s, ret, t, NULL, all_namespaces, err);
		if (r < 0)
			return r;
	}
	return 0;
}

const char *targets_query(const struct cli *c)
{
	const char *l = cli_value(c, "selector"), *f = cli_value(c, "field-selector");
	const char *out = "";
	if (l)
		out = arena_fmt(c->arena, "labelSelector=%s", url_encode(str_of(l), c->arena));
	if (f)
		out = arena_fmt(c->arena, "%s%sfieldSelector=%s", out, l ? "&" : "",
				url_encode(str_of(f), c->arena));
	return out;
}
