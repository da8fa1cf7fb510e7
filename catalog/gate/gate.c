/* gate.c: the life of a check, its items, and what the waivers and objects make of them. */
#include "catalog/gate/gate.h"
#include "alm/obj/nextstep.h"

#include <string.h>

#include "catalog/gate/gate_internal.h"

#define GATE_BYTES_MAX ((size_t)256 << 20)

static const char *path_text(struct gate *g, const struct gate_step *steps, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < n; i++) {
		if (steps[i].kind == '.')
			strbuf_addf(&b, "%s%s", b.len ? "." : "", steps[i].name);
		else
			strbuf_adds(&b, steps[i].kind == '[' ? "[*]" : "{*}");
	}
	return arena_strdup(g->arena, b.buf);
}

static struct gate_item *push(struct gate *g)
{
	ARENA_GROW(g->arena, g->items, g->cap, g->n, 8);
	g->items[g->n] = (struct gate_item){0};
	return &g->items[g->n++];
}

/* A finding beyond the limit is not kept; that there was one refuses. */
static struct gate_item *spill(struct gate *g)
{
	struct gate_item *last = &g->items[GATE_FINDINGS_MAX - 1];
	if (g->omitted++ == 0) {
		*last = (struct gate_item){.rule = gate_rule("KeywordUnknown")};
		last->f = (struct gate_finding){.rule = last->rule->name,
						.resource = g->crd,
						.path = "",
						.before = "",
						.after = "more findings than are looked at",
						.note = "",
						.remedy = last->rule->remedy,
						.outcome = FINDING_REFUSE};
	}
	return ARENA_NEW(g->arena, struct gate_item);
}

struct gate_item *gate_add(struct gate *g, const char *rule, const char *version,
			   const struct gate_walk *w, enum finding_outcome outcome,
			   const char *before, const char *after)
{
	struct gate_item *item = g->n < GATE_FINDINGS_MAX ? push(g) : spill(g);
	*item = (struct gate_item){.rule = gate_rule(rule), .version = version};
	item->f = (struct gate_finding){.rule = rule,
					.path = "",
					.before = arena_strdup(g->arena, before),
					.after = arena_strdup(g->arena, after),
					.note = "",
					.outcome = outcome};
	item->f.remedy = item->rule->remedy;
	item->f.resource = version ? arena_fmt(g->arena, "%s/%s", g->crd, version) : g->crd;
	if (w) {
		item->steps = arena_memdup(g->arena, w->steps, w->n * sizeof(*w->steps));
		item->n_steps = w->n;
		item->f.path = path_text(g, w->steps, w->n);
	}
	return item;
}

struct gate_item *gate_add_narrow(struct gate_walk *w, const char *rule, const char *before,
				  const char *after, const struct schema *test)
{
	if (w->covered)
		return NULL;
	struct gate_item *item = gate_add(w->g, rule, w->version, w, FINDING_WARN, before, after);
	item->check = CHECK_REFUSED;
	item->escalates = true;
	item->test = test;
	return item;
}

int gate_begin(const struct gate_input *input, struct gate **ret, struct error *err)
{
	struct arena *a = arena_new(GATE_BYTES_MAX);
	struct gate *g = ARENA_NEW(a, struct gate);
	const char *name = obj_str(input->before ? input->before : input->after, "metadata.name");
	g->arena = a;
	g->input = *input;
	g->in = &g->input;
	g->crd = arena_strdup(a, name ? name : "");
	g->waiver_used = ARENA_ARRAY(a, bool, input->n_waivers + 1);
	int rc = gate_compare_crd(g, err);
	if (rc < 0) {
		gate_free(g);
		return rc;
	}
	*ret = g;
	return 0;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_versions; i++) {
		schema_free(g->versions[i].old_schema);
		schema_free(g->versions[i].new_schema);
	}
	arena_free(g->arena);
}

size_t gate_versions(const struct gate *g, const char *const **ret)
{
	*ret = g->through;
	return g->n_through;
}

bool gate_wants_objects(const struct gate *g)
{
	bool wanted = false;
	for (size_t i = 0; i < g->n_versions; i++)
		wanted |= g->versions[i].changed || g->versions[i].use_counts;
	for (size_t i = 0; i < g->n; i++)
		wanted |= g->items[i].on_stored; /* no version changed, but its objects move */
	return wanted;
}

static bool waives(const struct gate *g, const struct gate_waiver *w, const struct gate_item *item)
{
	if (item->rule->waivable == WAIVE_NEVER || !w->rule || !w->resource || !w->reason ||
	    !*w->reason || (w->expires_ns && w->expires_ns <= g->in->now_ns))
		return false;
	if (strcmp(w->rule, item->f.rule) != 0 || strcmp(w->resource, item->f.resource) != 0)
		return false;
	if (item->rule->waivable == WAIVE_PATH)
		return cstr_eq(w->path ? w->path : "", item->f.path);
	return !w->path || !*w->path || strcmp(w->path, item->f.path) == 0;
}

static void apply_waivers(struct gate *g)
{
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->in->n_waivers; k++) {
			struct gate_finding *f = &g->items[i].f;
			/* a stored version is never waived away: its objects would be lost */
			if (f->outcome == FINDING_ALLOW || g->omitted > 0 ||
			    !waives(g, &g->in->waivers[k], &g->items[i]))
				continue;
			f->outcome = FINDING_ALLOW;
			f->waived = true;
			g->waiver_used[k] = true;
		}
	g->unused = ARENA_ARRAY(g->arena, size_t, g->in->n_waivers + 1);
	for (size_t k = 0; k < g->in->n_waivers; k++)
		if (!g->waiver_used[k])
			g->unused[g->n_unused++] = k;
}

/* Of all that the version's going refuses; written through still, it needs the writers changed,
 * too. */
static void set_migration(struct gate *g, const struct gate_version *v)
{
	for (size_t i = 0; i < g->n; i++) {
		struct gate_item *item = &g->items[i];
		bool goes =
			i == v->use_item || (cstr_eq(item->version, v->name) &&
					     strcmp(item->rule->name, "StoredVersionRemoved") == 0);
		if (goes)
			item->f.remedy = item->f.command =
				nextstep_new(g->arena, NULL, "alm crd migrate %s --to %s", g->crd,
					     v->usage.next_version);
	}
}

static void decide_usage(struct gate *g)
{
	for (size_t i = 0; i < g->n_versions; i++) {
		struct gate_version *v = &g->versions[i];
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		if (!v->use_counts)
			continue;
		usage_end(&v->usage);
		struct gate_finding *f = &g->items[v->use_item].f;
		usage_text(&v->usage, &b);
		f->n_affected = v->usage.n_objects;
		f->note = g->offline ? "objects and writers are not known"
				     : arena_strdup(g->arena, b.buf);
		if (!g->offline && usage_is_migrated(&v->usage))
			f->outcome = FINDING_WARN;
		if (v->usage.next_version)
			set_migration(g, v);
	}
}

static const char *evaluated_text(const struct gate *g, const char *version)
{
	static const char *const texts[] = {[EVALUATED_BY_NOBODY] = "not evaluated",
					    [EVALUATED_BY_SERVER] = "evaluated by the server",
					    [EVALUATED_HERE] = "evaluated by alm"};
	enum gate_evaluator by = EVALUATED_BY_NOBODY;
	for (size_t i = 0; i < g->n_versions; i++)
		if (cstr_eq(g->versions[i].name, version))
			by = g->versions[i].evaluated;
	return texts[by];
}

static void decide_items(struct gate *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct gate_item *item = &g->items[i];
		if (!item->escalates)
			continue;
		item->f.narrow = true;
		if (item->needs_shadow)
			item->f.note = evaluated_text(g, item->version);
		if (item->f.n_affected > 0)
			item->f.outcome = FINDING_REFUSE;
	}
}

void gate_finish(struct gate *g)
{
	decide_usage(g);
	decide_items(g);
	apply_waivers(g);
	g->outcome = FINDING_ALLOW;
	for (size_t i = 0; i < g->n; i++)
		if (g->items[i].f.outcome > g->outcome)
			g->outcome = g->items[i].f.outcome;
}

void gate_incomplete(struct gate *g, const char *progress, const char *remedy)
{
	struct gate_item *item =
		gate_add(g, "LiveCheckIncomplete", NULL, NULL, FINDING_REFUSE, "", progress);
	if (remedy)
		item->f.remedy = arena_strdup(g->arena, remedy);
	gate_finish(g);
}

void gate_offline(struct gate *g)
{
	g->offline = true;
	gate_finish(g);
}

size_t gate_count(const struct gate *g)
{
	return g->n;
}

const struct gate_finding *gate_finding(const struct gate *g, size_t i)
{
	return i < g->n ? &g->items[i].f : NULL;
}

enum finding_outcome gate_outcome(const struct gate *g)
{
	return g->outcome;
}

enum gate_waivable gate_waivable(const struct gate *g, const struct gate_finding *f)
{
	return g->omitted ? WAIVE_NEVER : gate_rule(f->rule)->waivable;
}

size_t gate_objects_seen(const struct gate *g)
{
	return g->seen;
}

size_t gate_unused_waivers(const struct gate *g, const size_t **ret)
{
	*ret = g->unused;
	return g->n_unused;
}

const char *finding_outcome_name(const struct gate_finding *f)
{
	if (f->waived)
		return "waived";
	return f->outcome == FINDING_REFUSE ? "refuse"
	       : f->outcome == FINDING_WARN ? "warn"
					    : "allow";
}

static void add_objects(const struct gate *g, const struct gate_finding *f, struct strbuf *b)
{
	strbuf_addf(b, "; %zu of %zu objects affected", f->n_affected, g->seen);
	for (size_t i = 0; i < f->n_listed; i++)
		strbuf_addf(b, "%s%s", i ? ", " : " (", f->objects[i]);
	if (f->n_listed > 0)
		strbuf_adds(b, f->n_affected > f->n_listed ? ", ...)" : ")");
}

void gate_finding_text(const struct gate *g, const struct gate_finding *f, struct strbuf *b)
{
	strbuf_addf(b, "%s %s", f->rule, f->resource);
	if (*f->path)
		strbuf_addf(b, " %s", f->path);
	strbuf_addf(b, ": %s -> %s", *f->before ? f->before : "none",
		    *f->after ? f->after : "none");
	if (*f->note)
		strbuf_addf(b, " (%s)", f->note);
	if (!g->offline)
		add_objects(g, f, b);
	if (*f->remedy)
		strbuf_addf(b, "; %s", f->remedy);
}
