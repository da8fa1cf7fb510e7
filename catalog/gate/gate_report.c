/* gate_report.c: see gate_report.h. */
#include "catalog/gate/gate_report.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/visible.h"
#include "alm/obj/meta.h"
#include "catalog/gate/gate_words.h"

#define REPORT_BYTES_MAX ((size_t)64 << 20)
#define CELL_BYTES_MAX   100

struct pair {
	const char *name;
	const struct obj *before, *after;
	struct gate *gate;
	size_t *seen;   /* objects, by the index of the version they were given in */
	size_t n_other; /* of the kind, in a version that is not asked for */
};

struct gate_report {
	struct arena *arena;
	struct pair *pairs;
	size_t n;
	enum finding_outcome outcome;
};

static bool is_crd(const struct obj *o)
{
	return cstr_eq(meta_kind(o), "CustomResourceDefinition") && meta_name(o);
}

static const struct obj *find(const struct obj *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (is_crd(list[i]) && strcmp(meta_name(list[i]), name) == 0)
			return list[i];
	return NULL;
}

/* Served versions of one definition as plural.group/version. */
static size_t managed(const struct obj *crd, struct arena *a, const char ***ret)
{
	const struct obj *versions = obj_path(crd, "spec.versions");
	size_t n = 0;
	*ret = ARENA_ARRAY(a, const char *, obj_len(versions) + 1);
	for (size_t i = 0; i < obj_len(versions); i++) {
		const char *name = obj_str(obj_at(versions, i), "name");
		if (name && obj_flag(obj_at(versions, i), "served", false))
			(*ret)[n++] = arena_fmt(a, "%s/%s", meta_name(crd), name);
	}
	return n;
}

static int begin(const struct gate_report_input *in, struct pair *p, struct arena *a,
		 struct error *err)
{
	const char **old, **new;
	struct gate_input input = {.before = p->before,
				   .after = p->after,
				   .waivers = in->waivers,
				   .n_waivers = in->n_waivers,
				   .now_ns = in->now_ns};
	input.n_managed_before = managed(p->before, a, &old);
	input.n_managed_after = managed(p->after, a, &new);
	input.managed_before = old;
	input.managed_after = new;
	int rc = gate_begin(&input, &p->gate, err);
	if (rc < 0)
		return rc;
	const char *const *through;
	p->seen = ARENA_ARRAY(a, size_t, gate_versions(p->gate, &through) + 1);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

/* Up to one more than there may be. */
static void collect(struct gate_report *r, const struct gate_report_input *in)
{
	r->pairs = ARENA_ARRAY(r->arena, struct pair, in->n_before + in->n_after + 1);
	for (size_t i = 0; i < in->n_before && r->n <= GATE_REPORT_CRDS_MAX; i++)
		if (is_crd(in->before[i]))
			r->pairs[r->n++] = (struct pair){
				.name = meta_name(in->before[i]),
				.before = in->before[i],
				.after = find(in->after, in->n_after, meta_name(in->before[i]))};
	for (size_t i = 0; i < in->n_after && r->n <= GATE_REPORT_CRDS_MAX; i++)
		if (is_crd(in->after[i]) &&
		    !find(in->before, in->n_before, meta_name(in->after[i])))
			r->pairs[r->n++] = (struct pair){.name = meta_name(in->after[i]),
							 .after = in->after[i]};
	qsort(r->pairs, r->n, sizeof(*r->pairs), by_name);
}

int gate_report_new(const struct gate_report_input *input, struct gate_report **ret,
		    struct error *err)
{
	struct arena *a = arena_new(REPORT_BYTES_MAX);
	struct gate_report *r = ARENA_NEW(a, struct gate_report);
	int rc = 0;
	r->arena = a;
	collect(r, input);
	if (r->n > GATE_REPORT_CRDS_MAX)
		rc = error_set(err, E_LIMIT, "more than %d definitions", GATE_REPORT_CRDS_MAX);
	for (size_t i = 0; i < r->n && rc >= 0; i++)
		rc = begin(input, &r->pairs[i], a, err);
	if (rc < 0) {
		gate_report_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void gate_report_free(struct gate_report *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		gate_free(r->pairs[i].gate);
	arena_free(r->arena);
}

size_t gate_report_crds(const struct gate_report *r)
{
	return r->n;
}

const struct obj *gate_report_crd(const struct gate_report *r, size_t i)
{
	return r->pairs[i].before;
}

size_t gate_report_versions(const struct gate_report *r, size_t i, const char *const **ret)
{
	if (!gate_wants_objects(r->pairs[i].gate))
		return 0;
	return gate_versions(r->pairs[i].gate, ret);
}

static bool has_converter(const struct obj *crd)
{
	return cstr_eq(obj_str(crd, "spec.conversion.strategy"), "Webhook");
}

static bool pair_object(struct pair *p, const struct obj *o, struct str version)
{
	const char *const *through;
	size_t k = 0;
	(void)gate_versions(p->gate, &through);
	/* under strategy None every version shows the same values */
	while (has_converter(p->before) && through[k] && !str_is(version, through[k]))
		k++;
	if (!through[k]) {
		p->n_other++;
		return false;
	}
	p->seen[k]++;
	gate_object(p->gate, o, through[k]);
	gate_evaluate(p->gate, o, through[k]);
	return true;
}

bool gate_report_object(struct gate_report *r, const struct obj *o)
{
	const char *kind = meta_kind(o), *api = meta_api_version(o);
	struct str group, version;
	if (!kind || !api || !str_cut(str_of(api), '/', &group, &version))
		return false;
	for (size_t i = 0; i < r->n; i++) {
		const struct obj *crd = r->pairs[i].before;
		if (crd && cstr_eq(obj_str(crd, "spec.names.kind"), kind) &&
		    str_is(group, obj_str(crd, "spec.group")))
			return pair_object(&r->pairs[i], o, version);
	}
	return false;
}

/* Under a converter each version has values of its own: every object is wanted in each. Returns the
 * version that lacks some, or NULL. */
static const char *lacking(const struct pair *p)
{
	const char *const *through;
	size_t n = gate_versions(p->gate, &through);
	const char *lacks = p->n_other > 0 && n > 0 ? through[0] : NULL;
	for (size_t k = 0; k < n; k++)
		for (size_t other = 0; other < n; other++)
			if (p->seen[k] < p->seen[other])
				lacks = through[k];
	return gate_wants_objects(p->gate) ? lacks : NULL;
}

static void finish_pair(struct pair *p, struct arena *a)
{
	const char *version = lacking(p);
	const char *plural = obj_str(p->before, "spec.names.plural");
	if (!version) {
		gate_finish(p->gate);
		return;
	}
	gate_incomplete(p->gate,
			arena_fmt(a,
				  "the objects were not all given as %s, and only the converter "
				  "knows what they are then",
				  version),
			arena_fmt(a, "add what this prints: kubectl get %s.%s.%s -A -o yaml",
				  plural ? plural : "", version, obj_str(p->before, "spec.group")));
}

void gate_report_finish(struct gate_report *r, bool have_objects)
{
	for (size_t i = 0; i < r->n; i++) {
		struct gate *g = r->pairs[i].gate;
		if (have_objects)
			finish_pair(&r->pairs[i], r->arena);
		else
			gate_offline(g);
		if (gate_outcome(g) > r->outcome)
			r->outcome = gate_outcome(g);
	}
}

enum finding_outcome gate_report_outcome(const struct gate_report *r)
{
	return r->outcome;
}

static size_t gate_report_count(const struct gate_report *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		n += gate_count(r->pairs[i].gate);
	return n;
}

enum { COLUMNS = 5 };

static const char *clipped(const char *text, struct arena *a)
{
	if (strlen(text) <= CELL_BYTES_MAX)
		return text;
	return arena_fmt(a, "%.*s...", CELL_BYTES_MAX - 3, text);
}

static void row_of(const struct gate_finding *f, struct arena *a, const char *cells[COLUMNS])
{
	cells[0] = finding_outcome_name(f);
	cells[1] = f->rule;
	cells[2] = f->resource;
	cells[3] = *f->path ? f->path : "-";
	cells[4] = arena_fmt(a, "%s -> %s%s%s%s%s", *f->before ? clipped(f->before, a) : "none",
			     *f->after ? clipped(f->after, a) : "none", *f->note ? " (" : "",
			     f->note, *f->note ? ")" : "",
			     f->n_affected ? arena_fmt(a, ", %zu affected: %s%s", f->n_affected,
						       f->n_listed ? f->objects[0] : "",
						       f->n_affected > 1 ? ", ..." : "")
					   : "");
}

static void add_row(const char *const cells[COLUMNS], const size_t widths[COLUMNS],
		    struct strbuf *b)
{
	for (int c = 0; c < COLUMNS; c++) {
		visible_adds(b, cells[c]);
		if (c + 1 < COLUMNS)
			strbuf_pad(b, ' ', widths[c] + 3 - strlen(cells[c]));
	}
	strbuf_addc(b, '\n');
}

static void add_total(size_t refused, size_t warned, struct strbuf *b)
{
	if (refused + warned == 0)
		visible_addf(b, "nothing refused, no warning\n");
	else
		visible_addf(b, "%zu refused, %zu warning%s\n", refused, warned,
			     warned == 1 ? "" : "s");
}

/* What no waiver lifts needs the step that does. */
static void add_steps(const struct gate_report *r, struct strbuf *b)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < gate_count(r->pairs[i].gate); k++) {
			const struct gate_finding *f = gate_finding(r->pairs[i].gate, k);
			if (f->outcome == FINDING_REFUSE && *f->remedy &&
			    gate_waivable(r->pairs[i].gate, f) == WAIVE_NEVER)
				visible_addf(b, "%s %s: %s\n", f->rule, f->resource, f->remedy);
		}
}

void gate_report_text(const struct gate_report *r, struct strbuf *b)
{
	static const char *const head[COLUMNS] = {"OUTCOME", "RULE", "RESOURCE", "PATH", "CHANGE"};
	CLEANUP(arena_freep) struct arena *a = arena_new(REPORT_BYTES_MAX);
	size_t n = gate_report_count(r), at = 0, totals[3] = {0}, widths[COLUMNS];
	const char *(*rows)[COLUMNS] = arena_calloc(a, n + 1, sizeof(*rows));
	for (int c = 0; c < COLUMNS; c++)
		widths[c] = strlen(head[c]);
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < gate_count(r->pairs[i].gate); k++, at++) {
			const struct gate_finding *f = gate_finding(r->pairs[i].gate, k);
			row_of(f, a, rows[at]);
			totals[f->outcome]++;
			for (int c = 0; c < COLUMNS; c++)
				if (strlen(rows[at][c]) > widths[c])
					widths[c] = strlen(rows[at][c]);
		}
	if (n > 0)
		add_row(head, widths, b);
	for (size_t i = 0; i < n; i++)
		add_row(rows[i], widths, b);
	add_steps(r, b);
	add_total(totals[FINDING_REFUSE], totals[FINDING_WARN], b);
}

struct obj *gate_finding_obj(const struct gate *g, const struct gate_finding *f)
{
	struct obj *o = obj_map(), *objects = obj_map(), *first = obj_list();
	obj_set_str(o, "rule", f->rule);
	obj_set_str(o, "resource", f->resource);
	obj_set_str(o, "path", *f->path ? f->path : NULL);
	obj_set_str(o, "before", *f->before ? f->before : NULL);
	obj_set_str(o, "after", *f->after ? f->after : NULL);
	obj_set_str(o, "outcome", finding_outcome_name(f));
	if (f->narrow)
		obj_set_bool(o, "narrow", true);
	for (size_t i = 0; i < f->n_listed; i++)
		obj_append(first, obj_string(f->objects[i]));
	obj_set_int(objects, "affected", (int64_t)f->n_affected);
	obj_set_int(objects, "seen", (int64_t)gate_objects_seen(g));
	obj_set(objects, "first", first);
	obj_set(o, "objects", objects);
	obj_set_str(o, "note", *f->note ? f->note : NULL);
	obj_set_str(o, "remedy", *f->remedy ? f->remedy : NULL);
	return o;
}

static const char *outcome_word(enum finding_outcome o)
{
	return o == FINDING_REFUSE ? "refuse" : o == FINDING_WARN ? "warn" : "allow";
}

struct obj *gate_report_json(const struct gate_report *r)
{
	struct obj *o = obj_map(), *list = obj_list();
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < gate_count(r->pairs[i].gate); k++)
			obj_append(list, gate_finding_obj(r->pairs[i].gate,
							  gate_finding(r->pairs[i].gate, k)));
	obj_set_str(o, "outcome", outcome_word(r->outcome));
	obj_set(o, "findings", list);
	return o;
}

static struct obj *wrap(const char *key, struct obj *value)
{
	struct obj *o = obj_map();
	obj_set(o, key, value);
	return o;
}

static struct obj *listed(struct obj *value)
{
	struct obj *list = obj_list();
	obj_append(list, value);
	return list;
}

static struct obj *sarif_result(const struct gate *g, const struct gate_finding *f)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	struct obj *o = obj_map();
	gate_finding_text(g, f, &text);
	obj_set_str(o, "ruleId", f->rule);
	obj_set_str(o, "level",
		    f->outcome == FINDING_REFUSE ? "error"
		    : f->outcome == FINDING_WARN ? "warning"
						 : "note");
	obj_set(o, "message", wrap("text", obj_string(text.buf)));
	struct obj *place = obj_map();
	obj_set(place, "fullyQualifiedName",
		obj_stringf("%s%s%s", f->resource, *f->path ? "#" : "", f->path));
	obj_set_str(place, "kind", "resource");
	obj_set(o, "locations", listed(wrap("logicalLocations", listed(place))));
	return o;
}

struct obj *gate_report_sarif(const struct gate_report *r)
{
	struct obj *results = obj_list(), *rules = obj_list(), *seen = obj_map();
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < gate_count(r->pairs[i].gate); k++) {
			const struct gate_finding *f = gate_finding(r->pairs[i].gate, k);
			obj_append(results, sarif_result(r->pairs[i].gate, f));
			if (obj_has(seen, f->rule))
				continue;
			obj_set_bool(seen, f->rule, true);
			struct obj *rule = obj_map();
			obj_set_str(rule, "id", f->rule);
			obj_append(rules, rule);
		}
	obj_unref(seen);
	struct obj *driver = obj_map(), *run = obj_map(), *o = obj_map();
	obj_set_str(driver, "name", "alm crd check");
	obj_set(driver, "rules", rules);
	obj_set(run, "tool", wrap("driver", driver));
	obj_set(run, "results", results);
	obj_set_str(o, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	obj_set_str(o, "version", "2.1.0");
	obj_set(o, "runs", listed(run));
	return o;
}

struct obj *gate_report_changes(const struct gate_report *r)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < r->n; i++)
		gate_words(r->pairs[i].before, r->pairs[i].after, list);
	return wrap("changes", list);
}

void gate_report_diff(const struct gate_report *r, struct strbuf *b)
{
	CLEANUP(obj_unrefp) struct obj *o = gate_report_changes(r);
	const struct obj *list = obj_get(o, "changes");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *path = obj_str(obj_at(list, i), "path");
		visible_addf(b, "%s%s%s: %s\n", obj_str(obj_at(list, i), "resource"),
			     path ? " " : "", path ? path : "", obj_str(obj_at(list, i), "change"));
	}
	if (!obj_len(list))
		visible_addf(b, "no difference\n");
}
