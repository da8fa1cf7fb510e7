/* Random catalogs of packages that require, refuse and share; installed apps among them. The
 * resolver against trying everything; what it says against the catalog; a record against a replay.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "catalog/resolve/resolve_doc.h"
#include "catalog/resolve/resolve_record.h"
#include "catalog/resolve/resolve_relax.h"

#define PACKAGES 8
#define VERSIONS 6
#define SEEDS    3000

struct world {
	struct arena *a;
	uint64_t state;
	size_t n_packages, n_versions[PACKAGES];
	size_t installed[PACKAGES]; /* version number; 0: not */
	bool manual[PACKAGES];
	struct entry {
		size_t package, version; /* version 1..n */
		char *chart, *descriptor, digest[SHA256_HEX];
		size_t n_needs, needs[4], least[4];
		size_t n_conflicts, conflicts[2];
		bool shares, too_new; /* provides shared.x.io; wants another Kubernetes */
	} entries[PACKAGES * VERSIONS];
	size_t n;
	struct catalog_index *index;
	const struct catalog_index *indexes[1];
	struct resolve_input in, others[PACKAGES];
	struct resolve_claim claims[PACKAGES];
};

static uint64_t draw(struct world *w, uint64_t n)
{
	w->state ^= w->state << 13;
	w->state ^= w->state >> 7;
	w->state ^= w->state << 17;
	return w->state % n;
}

static const struct entry *entry_of(const struct world *w, size_t p, size_t v)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->entries[i].package == p && w->entries[i].version == v)
			return &w->entries[i];
	fail_msg("no p%zu %zu", p, v);
	return &w->entries[0];
}

static void describe(struct world *w, struct entry *e)
{
	size_t p = e->package;
	char *d = arena_fmt(w->a, "appType: p%zu.x.io\nprovides: [r%zu.x.io/v1%s]\n", p, p,
			    e->shares ? ", shared.x.io/v1" : "");
	if (e->too_new)
		d = arena_fmt(w->a, "%sminKubeVersion: 9.0.0\n", d);
	if (e->n_needs)
		d = arena_fmt(w->a, "%srequires:\n", d);
	for (size_t i = 0; i < e->n_needs; i++)
		d = arena_fmt(w->a, "%s- {resource: r%zu.x.io/v1, versions: \">=%zu\"}\n", d,
			      e->needs[i], e->least[i]);
	if (e->n_conflicts)
		d = arena_fmt(w->a, "%sconflicts:\n", d);
	for (size_t i = 0; i < e->n_conflicts; i++)
		d = arena_fmt(w->a, "%s- {package: p%zu, versions: \"*\"}\n", d, e->conflicts[i]);
	e->descriptor = d;
	e->chart = arena_fmt(w->a, "apiVersion: v2\nname: p%zu\nversion: %zu.0.0\n", p, e->version);
	sha256_hex(str_of(arena_fmt(w->a, "%s%s", e->chart, d)), e->digest);
}

static void random_entry(struct world *w, size_t p, size_t v)
{
	struct entry *e = &w->entries[w->n++];
	*e = (struct entry){.package = p, .version = v};
	for (size_t q = 1; q < w->n_packages && e->n_needs < 4; q++) {
		if (q == p || draw(w, 100) >= 25)
			continue;
		e->needs[e->n_needs] = q;
		e->least[e->n_needs++] = 1 + draw(w, w->n_versions[q]);
	}
	size_t q = draw(w, w->n_packages);
	if (q && q != p && draw(w, 100) < 15)
		e->conflicts[e->n_conflicts++] = q;
	e->shares = draw(w, 100) < 10;
	e->too_new = p && draw(w, 100) < 15;
	describe(w, e);
}

static void build_index(struct world *w)
{
	struct error err;
	index_free(w->index);
	w->index = index_new("community", 0);
	for (size_t i = 0; i < w->n; i++) {
		const struct entry *e = &w->entries[i];
		struct package_source s = {.chart_yaml = str_of(e->chart),
					   .descriptor = str_of(e->descriptor),
					   .digest = e->digest,
					   .locator = "x"};
		size_t before = w->index->n;
		index_add(w->index, &s);
		if (w->index->n == before)
			fail_msg("%s", w->index->rejected[0]);
		struct package_version *p = w->index->versions[before];
		p->own_crds = p->provides;
		p->n_own_crds = p->n_provides;
	}
	assert_ok(index_finish(w->index, STR_NONE, &err), &err);
	w->indexes[0] = w->index;
}

static const struct package_version *package_of(const struct world *w, size_t p, size_t v)
{
	size_t n;
	struct package_version *const *all =
		index_package(w->index, arena_fmt(w->a, "p%zu", p), &n);
	for (size_t i = 0; i < n; i++)
		if (all[i]->version.major == v)
			return all[i];
	fail_msg("no p%zu %zu", p, v);
	return all[0];
}

static const struct resolve_input *other(void *arg, const char *app)
{
	struct world *w = arg;
	for (size_t p = 1; p < w->n_packages; p++)
		if (w->installed[p] && !strcmp(app, w->others[p].app))
			return &w->others[p];
	return NULL;
}

static void fill_inputs(struct world *w)
{
	size_t n = 0;
	w->in = (struct resolve_input){.app = "p0",
				       .self_ref = "p0.x.io",
				       .kube_version = "v1.33.0",
				       .indexes = w->indexes,
				       .n_indexes = 1,
				       .mode = "Automatic",
				       .other = other,
				       .arg = w};
	for (size_t p = 1; p < w->n_packages; p++) {
		if (!w->installed[p])
			continue;
		const struct package_version *e = package_of(w, p, w->installed[p]);
		const char **managed = ARENA_ARRAY(w->a, const char *, e->n_provides + 1);
		memcpy(managed, e->provides, e->n_provides * sizeof(*managed));
		char *version = arena_fmt(w->a, "%zu.0.0", w->installed[p]);
		struct resolve_input *in = &w->others[p];
		*in = w->in;
		in->app = arena_fmt(w->a, "p%zu", p);
		in->self_ref = arena_fmt(w->a, "p%zu.x.io", p);
		in->mode = w->manual[p] ? "Manual" : "Automatic";
		in->installed_version = version;
		in->installed_managed = (const char *const *)managed;
		w->claims[n++] = (struct resolve_claim){.app = in->app,
							.self_ref = in->self_ref,
							.installed = true,
							.version = version,
							.managed = in->installed_managed,
							.entry = e};
	}
	w->in.claims = resolve_claims_of(w->claims, n, w->a);
	for (size_t p = 1; p < w->n_packages; p++)
		w->others[p].claims = w->in.claims;
}

/* Installed apps fit each other, or the world would be broken before it begins. */
static bool fits(const struct entry *x, const struct entry *y)
{
	for (size_t i = 0; i < x->n_conflicts; i++)
		if (x->conflicts[i] == y->package)
			return false;
	return !(x->shares && y->shares);
}

static void install_some(struct world *w)
{
	for (size_t p = 1; p < w->n_packages; p++) {
		if (draw(w, 3))
			continue;
		size_t v = 1 + draw(w, w->n_versions[p]);
		const struct entry *e = entry_of(w, p, v);
		bool ok = !e->n_needs;
		for (size_t q = 1; q < p; q++)
			if (w->installed[q])
				ok = ok && fits(e, entry_of(w, q, w->installed[q])) &&
				     fits(entry_of(w, q, w->installed[q]), e);
		w->installed[p] = ok ? v : 0;
		w->manual[p] = draw(w, 2);
	}
}

static void make_world(struct world *w, uint64_t seed)
{
	*w = (struct world){.a = arena_new(256 << 20), .state = seed * 0x9E3779B97F4A7C15u + 7};
	w->n_packages = 2 + draw(w, PACKAGES - 1);
	for (size_t p = 0; p < w->n_packages; p++)
		w->n_versions[p] = 1 + draw(w, VERSIONS);
	for (size_t p = 0; p < w->n_packages; p++)
		for (size_t v = 1; v <= w->n_versions[p]; v++)
			random_entry(w, p, v);
	install_some(w);
	build_index(w);
	fill_inputs(w);
}

static void free_world(struct world *w)
{
	index_free(w->index);
	arena_free(w->a);
}

/* --- by trying everything: which versions of p0 can be had at all? --- */

struct choice {
	size_t v[PACKAGES]; /* 0: not there */
};

/* What may stand there at all. */
static bool may_be(const struct world *w, size_t p, size_t v)
{
	const struct entry *e = entry_of(w, p, v);
	size_t now = w->installed[p];
	if (p && now)
		return v == now || (v > now && !w->manual[p] && !e->too_new);
	return !e->too_new;
}

/* A CRD that an installed app has, brought by a package that is new or now begins to. */
static bool steals(const struct world *w, size_t p, size_t v)
{
	for (size_t q = 1; q < w->n_packages; q++)
		if (q != p && w->installed[q] && entry_of(w, q, w->installed[q])->shares &&
		    entry_of(w, p, v)->shares)
			return true;
	return false;
}

static bool drops_shared(const struct world *w, size_t p, size_t v)
{
	return w->installed[p] && p && v != w->installed[p] &&
	       entry_of(w, p, w->installed[p])->shares && !entry_of(w, p, v)->shares;
}

/* Anything that an installed app requires of this one, and the new version would no longer be. */
static bool breaks_another(const struct world *w, size_t p, size_t v)
{
	for (size_t q = 1; q < w->n_packages; q++) {
		if (!w->installed[q] || q == p || v == w->installed[p])
			continue;
		const struct entry *e = entry_of(w, q, w->installed[q]);
		for (size_t i = 0; i < e->n_needs; i++)
			if (e->needs[i] == p && w->installed[p] >= e->least[i] && v < e->least[i])
				return true;
	}
	return false;
}

static bool is_valid(const struct world *w, const struct choice *c)
{
	for (size_t p = 0; p < w->n_packages; p++) {
		if (!c->v[p])
			continue;
		const struct entry *e = entry_of(w, p, c->v[p]);
		for (size_t i = 0; i < e->n_needs; i++)
			if (c->v[e->needs[i]] < e->least[i])
				return false;
		for (size_t q = 0; q < w->n_packages; q++)
			if (q != p && c->v[q] && !fits(e, entry_of(w, q, c->v[q])))
				return false;
	}
	return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): a package a level, of PACKAGES */
static bool try_package(const struct world *w, struct choice *c, size_t p)
{
	if (p == w->n_packages)
		return is_valid(w, c);
	size_t least = w->installed[p] ? 1 : 0;
	for (size_t v = least; v <= w->n_versions[p]; v++) {
		if (v && (!may_be(w, p, v) || (v != w->installed[p] && steals(w, p, v)) ||
			  drops_shared(w, p, v) || breaks_another(w, p, v)))
			continue;
		c->v[p] = v;
		if (try_package(w, c, p + 1))
			return true;
	}
	c->v[p] = 0;
	return false;
}

static bool possible(const struct world *w, size_t v)
{
	struct choice c = {.v = {v}};
	return !steals(w, 0, v) && try_package(w, &c, 1);
}

static bool is_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

/* --- tests --- */

static void test_resolve_random__agrees_with_trying_everything(void **state)
{
	(void)state;
	size_t n_yes = 0, n_no = 0;
	static struct world w;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct resolution r;
		make_world(&w, seed);
		w.in.evaluate = "*";
		resolve_run(&w.in, w.a, &r);
		const struct candidate *best = NULL;
		for (size_t i = 0; i < r.n; i++) {
			const struct candidate *c = &r.candidates[i];
			bool want = possible(&w, c->parsed.major);
			static const char *const reasons[] = {"DependencyUnresolved",
							      "ResourceConflict", NULL};
			if (c->installable != want)
				fail_msg("seed %llu: p0 %s: %s, want %d", (unsigned long long)seed,
					 c->version, c->reason ? c->reason : "installable", want);
			if (!want && !is_one_of(c->reason, reasons))
				fail_msg("seed %llu: %s", (unsigned long long)seed, c->reason);
			best = want && !best ? c : best;
			n_yes += want;
			n_no += !want;
		}
		assert_ptr_equal(r.chosen, best); /* the highest that can be had */
		free_world(&w);
	}
	assert_true(n_yes > SEEDS / 4 && n_no > SEEDS / 4);
}

/* The answer's dependencies together are a valid world. */
static void test_resolve_random__dependencies_go_together(void **state)
{
	(void)state;
	static struct world w;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct resolution r;
		make_world(&w, seed);
		resolve_run(&w.in, w.a, &r);
		struct choice c = {0};
		for (size_t p = 1; p < w.n_packages; p++)
			c.v[p] = w.installed[p];
		if (r.chosen)
			c.v[0] = (size_t)r.chosen->parsed.major;
		for (size_t i = 0; r.chosen && i < r.chosen->n_dependencies; i++) {
			const struct dependency *d = &r.chosen->dependencies[i];
			size_t p = (size_t)(d->package[1] - '0');
			assert_int_equal(d->add, !w.installed[p]);
			c.v[p] = (size_t)(d->version[0] - '0');
			assert_int_equal(d->upgrade, w.installed[p] && c.v[p] != w.installed[p]);
		}
		if (r.chosen && !is_valid(&w, &c))
			fail_msg("seed %llu", (unsigned long long)seed);
		free_world(&w);
	}
}

/* --- is what an explanation says of the catalog true? --- */

/* "p3 2.0.0, 3.0.0 and 4.0.0", "every version of p3" */
struct said {
	size_t package, n, versions[VERSIONS];
};

static bool eat(const char **s, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(*s, word, n) != 0)
		return false;
	*s += n;
	return true;
}

static size_t eat_digit(const char **s)
{
	assert_true(**s >= '0' && **s <= '9');
	return (size_t)(*(*s)++ - '0');
}

static bool eat_separator(const char **s)
{
	static const char *const all[] = {", ", " and ", " or "};
	const char *before = *s;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (eat(s, all[i])) {
			if (**s >= '0' && **s <= '9')
				return true;
			*s = before;
		}
	return false;
}

static void eat_said(const struct world *w, const char **s, struct said *ret)
{
	*ret = (struct said){0};
	bool every = eat(s, "every version of ");
	assert_true(eat(s, "p"));
	ret->package = eat_digit(s);
	for (size_t v = 1; every && v <= w->n_versions[ret->package]; v++)
		ret->versions[ret->n++] = v;
	if (every || !eat(s, " "))
		return;
	do {
		size_t v = eat_digit(s);
		if (eat(s, " others"))
			return;
		assert_true(eat(s, ".0.0"));
		ret->versions[ret->n++] = v;
	} while (eat_separator(s));
}

static bool entry_requires(const struct entry *e, size_t package, size_t least)
{
	for (size_t i = 0; i < e->n_needs; i++)
		if (e->needs[i] == package && e->least[i] == least)
			return true;
	return false;
}

static bool entry_refuses(const struct entry *e, size_t package)
{
	for (size_t i = 0; i < e->n_conflicts; i++)
		if (e->conflicts[i] == package)
			return true;
	return false;
}

static bool requires_so(const struct world *w, const struct said *x, const char *rest)
{
	assert_true(eat(&rest, "r"));
	size_t package = eat_digit(&rest);
	assert_true(eat(&rest, ".x.io/v1 from p"));
	assert_int_equal(eat_digit(&rest), package);
	assert_true(eat(&rest, " >="));
	size_t least = eat_digit(&rest);
	bool ok = x->n > 0;
	for (size_t i = 0; i < x->n; i++)
		ok = ok && entry_requires(entry_of(w, x->package, x->versions[i]), package, least);
	return ok;
}

static bool refused_so(const struct world *w, const struct said *x, const char *rest)
{
	const struct entry *e = entry_of(w, x->package, x->versions[0]);
	if (eat(&rest, "KubeVersion"))
		return e->too_new;
	if (eat(&rest, "ResourceDropped, shared.x.io"))
		return drops_shared(w, x->package, x->versions[0]);
	if (eat(&rest, "ResourceConflict, shared.x.io"))
		return steals(w, x->package, x->versions[0]);
	if (eat(&rest, "NeededByOther"))
		return breaks_another(w, x->package, x->versions[0]);
	return false;
}

static bool bring_so(const struct world *w, const struct said *x, const char *rest)
{
	struct said y;
	eat_said(w, &rest, &y);
	bool ok = x->n && y.n && !strcmp(rest, " both bring shared.x.io");
	for (size_t i = 0; i < x->n; i++)
		ok = ok && entry_of(w, x->package, x->versions[i])->shares;
	for (size_t i = 0; i < y.n; i++)
		ok = ok && entry_of(w, y.package, y.versions[i])->shares;
	return ok;
}

/* A fact; what follows from facts is checked in test_solve.c. */
static bool is_true(const struct world *w, const char *s)
{
	struct said x;
	eat_said(w, &s, &x);
	if (eat(&s, " requires ") || eat(&s, " require "))
		return requires_so(w, &x, s);
	if (eat(&s, " is not installable: "))
		return refused_so(w, &x, s);
	if (eat(&s, " and ") || eat(&s, " or "))
		return bring_so(w, &x, s);
	if (eat(&s, " conflicts with p"))
		return entry_refuses(entry_of(w, x.package, x.versions[0]), eat_digit(&s));
	if (eat(&s, " is installed, is Manual, and "))
		return w->manual[x.package] && w->installed[x.package] == x.versions[0] &&
		       eat_digit(&s) <= w->n_versions[x.package];
	return false;
}

static void test_resolve_random__every_fact_of_an_explanation_is_true(void **state)
{
	(void)state;
	size_t n_facts = 0;
	static struct world w;
	for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
		struct resolution r;
		make_world(&w, seed);
		w.in.evaluate = "*";
		resolve_run(&w.in, w.a, &r);
		for (size_t i = 0; i < r.n; i++)
			for (size_t k = 0; k < r.candidates[i].n_explanation; k++) {
				const char *line = r.candidates[i].explanation[k];
				const char *text = strstr(line, ". ");
				if (strstr(line, "so (") || !text)
					continue;
				if (!is_true(&w, text + 2))
					fail_msg("seed %llu: %s", (unsigned long long)seed, line);
				n_facts++;
			}
		free_world(&w);
	}
	assert_true(n_facts > SEEDS / 4);
}

/* A18: where nothing else is in the way, a version can be had if what it manages is a superset. */
static void test_resolve_random__a_superset_can_be_installed(void **state)
{
	(void)state;
	static struct world w;
	w = (struct world){.state = 11};
	size_t n_yes = 0;
	for (int round = 0; round < 400; round++) {
		struct resolution r;
		w.a = arena_new((size_t)8 << 20);
		uint64_t old = draw(&w, 64), new = draw(&w, 2) ? draw(&w, 64) : old | draw(&w, 64);
		const char *managed[7] = {NULL}, *provides = "";
		size_t n = 0;
		for (size_t bit = 0; bit < 6; bit++) {
			char *resource = arena_fmt(w.a, "r%zu.x.io/v%zu", bit / 2, bit % 2 + 1);
			if (old >> bit & 1)
				managed[n++] = resource;
			if (new >> bit & 1)
				provides = arena_fmt(w.a, "%s%s%s", provides, *provides ? ", " : "",
						     resource);
		}
		w.n = 1;
		w.entries[0] = (struct entry){
			.chart = arena_strdup(w.a, "apiVersion: v2\nname: p0\nversion: 2.0.0\n"),
			.descriptor =
				arena_fmt(w.a, "appType: p0.x.io\nprovides: [%s]\n", provides)};
		sha256_hex(str_of(w.entries[0].chart), w.entries[0].digest);
		build_index(&w);
		w.in = (struct resolve_input){.app = "p0",
					      .self_ref = "p0.x.io",
					      .indexes = w.indexes,
					      .n_indexes = 1,
					      .mode = "Automatic",
					      .installed_version = "1.0.0",
					      .installed_managed = managed};
		resolve_run(&w.in, w.a, &r);
		assert_string_equal(r.candidates[0].version, "2.0.0");
		assert_int_equal(r.candidates[0].installable, (old & ~new) == 0);
		n_yes += r.candidates[0].installable;
		arena_free(w.a);
	}
	index_free(w.index);
	w.index = NULL;
	assert_true(n_yes > 100 && n_yes < 300);
}

static void judge_with(const struct world *w, const char *version,
		       const struct resolve_change *const *changes, size_t n, bool *ret)
{
	struct resolution r;
	const struct resolve_input *changed = resolve_changed(&w->in, changes, n, w->a);
	struct resolve_input in = *changed;
	in.evaluate = version;
	resolve_run(&in, w->a, &r);
	*ret = false;
	for (size_t i = 0; i < r.n; i++)
		if (!strcmp(r.candidates[i].version, version))
			*ret = r.candidates[i].installable;
}

static void test_resolve_random__relaxations_are_irreducible(void **state)
{
	(void)state;
	static struct world w;
	size_t n_found = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		make_world(&w, seed);
		for (size_t v = 1; v <= w.n_versions[0]; v++) {
			struct relaxation x;
			bool works;
			char *version = arena_fmt(w.a, "%zu.0.0", v);
			resolve_relax(&w.in, version, w.a, &x);
			assert_true(x.known);
			assert_true(x.installable || x.n || x.stuck);
			if (x.installable || !x.n)
				continue;
			judge_with(&w, version, x.changes, x.n, &works);
			assert_true(works);
			for (size_t skip = 0; skip < x.n; skip++) {
				const struct resolve_change *rest[RELAX_TRIED_MAX] = {NULL};
				size_t n = 0;
				for (size_t i = 0; i < x.n; i++)
					if (i != skip)
						rest[n++] = x.changes[i];
				judge_with(&w, version, rest, n, &works);
				if (works)
					fail_msg("seed %llu: %s without %s",
						 (unsigned long long)seed, version,
						 x.changes[skip]->command);
			}
			n_found++;
		}
		free_world(&w);
	}
	assert_true(n_found > SEEDS / 40);
}

static char *doc_text(const struct resolve_input *in, struct arena *a)
{
	struct resolution r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	resolve_run(in, a, &r);
	struct obj *doc = obj_keep(a, resolve_doc(in, &r, NULL, a));
	CLEANUP(xfreep) char *json = json_text(doc);
	resolve_print(doc, NULL, NULL, true, &b);
	return arena_fmt(a, "%s\n%s", json, b.buf);
}

static void test_resolve_random__shuffled_catalogs_give_the_same_bytes(void **state)
{
	(void)state;
	static struct world w;
	for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
		make_world(&w, seed);
		char *first = doc_text(&w.in, w.a);
		for (size_t i = w.n; i > 1; i--) {
			size_t k = draw(&w, i);
			struct entry tmp = w.entries[i - 1];
			w.entries[i - 1] = w.entries[k];
			w.entries[k] = tmp;
		}
		build_index(&w);
		fill_inputs(&w);
		assert_string_equal(doc_text(&w.in, w.a), first);
		free_world(&w);
	}
}

/* Then the message names what the catalogs have. */
static void ask_for_nobody(struct resolve_input *in)
{
	in->app = in->self_ref = "nobody.example";
	in->package = in->installed_package = in->installed_version = NULL;
}

static void test_resolve_random__a_record_replays_to_the_same_bytes(void **state)
{
	(void)state;
	static struct world w;
	for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
		struct error err;
		struct resolve_input again;
		struct obj *read = NULL;
		make_world(&w, seed);
		if (seed % 4 == 0)
			ask_for_nobody(&w.in);
		char *first = doc_text(&w.in, w.a);
		struct obj *record = resolve_record(&w.in, w.a);
		CLEANUP(xfreep) char *text = json_text(record);
		obj_unref(record);
		index_free(w.index); /* the catalog is gone */
		w.index = NULL;
		assert_ok(json_parse(str_of(text), &read, &err), &err);
		assert_ok(resolve_replay(obj_keep(w.a, read), w.a, &again, &err), &err);
		assert_string_equal(doc_text(&again, w.a), first);
		free_world(&w);
	}
}

/* The random worlds set few of them, and a text that is lost seldom changes a decision. */
static void test_resolve_random__a_record_has_every_text(void **state)
{
	(void)state;
	static struct world w;
	struct error err;
	struct resolve_input again = {0};
	make_world(&w, 1);
	struct resolve_input in = w.in;
	const char **set[] = {&in.channel,           &in.to,
			      &in.installed_version, &in.installed_package,
			      &in.installed_catalog, &in.installed_digest,
			      &in.values_digest,     &in.kube_version,
			      &in.evaluate};
	const char *const *got[] = {&again.channel,           &again.to,
				    &again.installed_version, &again.installed_package,
				    &again.installed_catalog, &again.installed_digest,
				    &again.values_digest,     &again.kube_version,
				    &again.evaluate};
	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		*set[i] = arena_fmt(w.a, "1.0.%zu", i);
	in.range = "<9.0.0";
	in.mode = "Manual";
	in.package = "p0";
	in.catalog = "community";
	struct obj *record = obj_keep(w.a, resolve_record(&in, w.a));
	assert_ok(resolve_replay(record, w.a, &again, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		assert_string_equal(*got[i], *set[i]);
	assert_string_equal(again.app, in.app);
	assert_string_equal(again.self_ref, in.self_ref);
	assert_string_equal(again.range, in.range);
	assert_string_equal(again.mode, in.mode);
	assert_string_equal(again.package, in.package);
	assert_string_equal(again.catalog, in.catalog);
	free_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_random__agrees_with_trying_everything),
		cmocka_unit_test(test_resolve_random__dependencies_go_together),
		cmocka_unit_test(test_resolve_random__every_fact_of_an_explanation_is_true),
		cmocka_unit_test(test_resolve_random__a_superset_can_be_installed),
		cmocka_unit_test(test_resolve_random__relaxations_are_irreducible),
		cmocka_unit_test(test_resolve_random__shuffled_catalogs_give_the_same_bytes),
		cmocka_unit_test(test_resolve_random__a_record_replays_to_the_same_bytes),
		cmocka_unit_test(test_resolve_random__a_record_has_every_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
