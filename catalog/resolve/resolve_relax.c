#include "catalog/resolve/resolve_relax.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/nextstep.h"
#include "catalog/gate/waivers.h"
#include "catalog/resolve/resolve_internal.h"

struct attempt {
	const struct resolve_input *in;
	const char *version;
	struct arena *a;
	const struct resolve_change *changes[RELAX_TRIED_MAX];
	size_t n;
};

/* The version alone, with these changes; NULL: there is no such candidate. */
static struct candidate *judge(const struct attempt *t, struct resolver *r,
			       const struct resolve_change *const *changes, size_t n)
{
	struct resolution ignored;
	const struct resolve_change **copy = ARENA_ARRAY(t->a, const struct resolve_change *, n);
	for (size_t i = 0; i < n; i++)
		copy[i] = changes[i];
	const struct resolve_input *in = n ? resolve_changed(t->in, copy, n, t->a) : t->in;
	if (!resolver_setup(r, in, t->a, &ignored))
		return NULL;
	struct candidate *c = resolver_find(r, t->version);
	if (c && resolver_judge_index(r, c))
		resolver_judge_rest(r, c);
	return c;
}

static bool is_known(const struct attempt *t, const struct resolve_change *c)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->changes[i]->type == c->type && !strcmp(t->changes[i]->app, c->app) &&
		    !strcmp(t->changes[i]->value, c->value))
			return true;
	return false;
}

static bool add(struct attempt *t, const struct resolve_change *c)
{
	if (!c || t->n >= RELAX_TRIED_MAX || is_known(t, c))
		return false;
	t->changes[t->n++] = c;
	return true;
}

/* Whose cause it is, when nothing here can lift it. */
static const char *stuck_text(const struct candidate *c, const struct candidate *first,
			      struct arena *a)
{
	static const struct {
		const char *reason, *text;
	} causes[] = {
		{"Ambiguous", "the publisher must keep one archive of this version"},
		{"Malformed", "the publisher must repair the entry"},
		{"Withdrawn", "the publisher withdrew it"},
		{"KubeVersion", "the cluster must be upgraded"},
		{"NoUpgradePath", "the publisher must offer an upgrade edge, or a version between"},
		{"ResourceDropped", "objects are stored in the version that goes, and there is no "
				    "version to rewrite them in; they stay as they are, and "
				    "once they are deleted the drop can be accepted"},
		{"ResourceConflict", "the other app must be removed"},
		{"NeededByOther", "no version of that app does without it"},
		{"DependencyUnresolved", "a catalog must offer what is missing"},
		{"CRDIncompatible", "the publisher must keep the CRD compatible"},
	};
	const char *why = NULL;
	if (c->manual && cstr_eq(c->manual->blocked, c->reason))
		why = arena_fmt(a,
				"strategy %s is tried again when that changes; kubectl delete "
				"installstrategy takes it back",
				c->manual->strategy);
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (!strcmp(c->reason, causes[i].reason))
			why = causes[i].text;
	if (!strcmp(c->reason, first->reason) && why)
		return why; /* the rest was said */
	return arena_fmt(a, "then still %s: %s%s%s", c->reason, c->message, why ? "; " : "",
			 why ? why : "");
}

/* All that could lift what refuses it; false: nothing new can. */
static bool collect(struct attempt *t, const struct resolver *r, const struct candidate *c)
{
	bool any = add(t, resolve_change_for(r, c, t->in->app, t->a));
	for (size_t i = 0; i < c->n_ways; i++)
		any = add(t, c->ways[i]) || any;
	return any;
}

static bool is_there(const struct candidate *c)
{
	return c && (c->installable || c->installed);
}

/* Each is left out while the version stays installable, the last one first: ways stand in order of
 * preference. */
static void reduce(struct attempt *t)
{
	for (size_t i = t->n; i-- > 0;) {
		const struct resolve_change *rest[RELAX_TRIED_MAX];
		struct resolver r;
		size_t n = 0;
		for (size_t k = 0; k < t->n; k++)
			if (k != i)
				rest[n++] = t->changes[k];
		if (!is_there(judge(t, &r, rest, n)))
			continue;
		memcpy(t->changes, rest, n * sizeof(*rest));
		t->n = n;
	}
}

/* All waivers are one change of the app. */
static size_t n_told(const struct attempt *t)
{
	size_t n = 0, n_waivers = 0;
	for (size_t i = 0; i < t->n; i++) {
		bool waiver = t->changes[i]->type == CHANGE_WAIVE;
		n += !waiver || !n_waivers;
		n_waivers += waiver;
	}
	return n;
}

void resolve_relax(const struct resolve_input *in, const char *version, struct arena *a,
		   struct relaxation *ret)
{
	struct attempt t = {.in = in, .version = version, .a = a};
	struct resolver r;
	*ret = (struct relaxation){0};
	struct candidate *c = judge(&t, &r, NULL, 0);
	if (!c)
		return;
	ret->known = true;
	ret->candidate = *c;
	ret->installable = is_there(c);
	while (!is_there(c)) {
		if (!collect(&t, &r, c)) {
			ret->stuck = stuck_text(c, &ret->candidate, a);
			return;
		}
		c = judge(&t, &r, t.changes, t.n);
	}
	reduce(&t);
	size_t n = n_told(&t);
	if (n > RELAX_CHANGES_MAX) {
		ret->stuck = arena_fmt(a, "it would take %zu changes", n);
		return;
	}
	ret->n = t.n;
	ret->changes = arena_memdup(a, t.changes, t.n * sizeof(*t.changes));
}

/* --- words --- */

static const char *waive_step(const struct relaxation *x, const char *app, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "alm upgrade %s --to %s", app, x->candidate.version);
	for (size_t i = 0; i < x->n; i++)
		if (x->changes[i]->type == CHANGE_WAIVE)
			strbuf_addf(&b, " --accept-dropped %s", x->changes[i]->value);
	return nextstep_new(a, RELAX_WAIVE_NOTE, "%s --reason TEXT", b.buf);
}

const char *const *resolve_steps(const struct relaxation *x, struct arena *a, size_t *ret_n)
{
	size_t max = x->n, n = 0;
	bool waived = false;
	for (size_t i = 0; i < x->n; i++)
		for (const char *const *s = x->changes[i]->steps; s && *s; s++)
			max++;
	const char **steps = ARENA_ARRAY(a, const char *, max + 1);
	for (size_t i = 0; i < x->n; i++) {
		const struct resolve_change *c = x->changes[i];
		for (const char *const *s = c->steps; s && *s; s++)
			steps[n++] = *s;
		if (c->steps || (c->type == CHANGE_WAIVE && waived))
			continue;
		if (c->type == CHANGE_WAIVE)
			steps[n++] = waive_step(x, c->app, a);
		else
			steps[n++] = nextstep_new(a, c->note, "%s", c->command);
		waived |= c->type == CHANGE_WAIVE;
	}
	*ret_n = n;
	return steps;
}

/* A merge patch replaces the list: those that are there stay. */
static struct obj *old_waivers(const struct resolve_input *in)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < in->n_waivers; i++) {
		const struct resolve_waiver *w = &in->waivers[i];
		char expires[CLOCK_TEXT_MAX];
		struct obj *o = obj_map();
		obj_set_str(o, "rule", w->rule);
		obj_set_str(o, "resource", w->resource);
		obj_set_str(o, "path", w->path);
		obj_set_str(o, "reason", w->reason);
		clock_format(w->expires_ns, CLOCK_SECONDS, expires);
		if (w->expires_ns)
			obj_set_str(o, "expires", expires);
		obj_append(list, o);
	}
	return list;
}

static const char *waive_kubectl(const struct resolve_input *in, const struct relaxation *x,
				 const char *app, struct arena *a)
{
	CLEANUP(obj_unrefp) struct obj *old = old_waivers(in), *added = obj_list();
	for (size_t i = 0; i < x->n; i++) {
		if (x->changes[i]->type != CHANGE_WAIVE)
			continue;
		struct obj *w = obj_map();
		obj_set_str(w, "rule", "ResourceDropped");
		obj_set_str(w, "resource", x->changes[i]->value);
		obj_set_str(w, "reason", "TEXT");
		obj_append(added, w);
	}
	CLEANUP(obj_unrefp) struct obj *all = waivers_join(old, added);
	return waivers_command(app, all, a);
}

const char *const *resolve_kubectl(const struct resolve_input *in, const struct relaxation *x,
				   struct arena *a, size_t *ret_n)
{
	const char **lines = ARENA_ARRAY(a, const char *, x->n + 1);
	bool waived = false;
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct resolve_change *c = x->changes[i];
		if (c->type == CHANGE_WAIVE && !waived)
			lines[n++] = waive_kubectl(in, x, c->app, a);
		else if (c->type != CHANGE_WAIVE && c->kubectl)
			lines[n++] = c->kubectl;
		waived |= c->type == CHANGE_WAIVE;
	}
	*ret_n = n;
	return lines;
}
