/*
 * bench_resolve: 10,000 packages of 20 versions; every app resolved, with what `alm why` says of
 * it; one app alone; the same at three sizes; and instances made to be hard. Exits 1 when a bound
 * of lifecycle.md 2.6 is broken.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "alm/base/hash.h"
#include "alm/base/mem.h"
#include "catalog/resolve/resolve_doc.h"

#define VERSIONS 20
#define APPS     10000
#define ROUNDS   5

static int failures;

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void bound(const char *name, double got, double most, const char *unit)
{
	bool over = got > most;
	printf("%-34s %9.3f %s, at most %g%s\n", name, got, unit, most, over ? "  OVER" : "");
	failures += over;
}

/* --- a catalog --- */

static void add(struct catalog_index *x, const char *package, size_t version,
		const char *descriptor)
{
	CLEANUP(strbuf_release) struct strbuf chart = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	char digest[SHA256_HEX];
	strbuf_addf(&chart, "apiVersion: v2\nname: %s\nversion: %zu.%zu.0\n", package, version / 10,
		    version % 10);
	strbuf_addf(&text, "%s%s", chart.buf, descriptor);
	sha256_hex(strbuf_str(&text), digest);
	struct package_source s = {.chart_yaml = strbuf_str(&chart),
				   .descriptor = str_of(descriptor),
				   .digest = digest,
				   .locator = "x"};
	size_t before = x->n;
	index_add(x, &s);
	if (x->n == before) {
		fprintf(stderr, "%s\n", x->rejected[0]);
		failures++;
		return;
	}
	x->versions[before]->own_crds = x->versions[before]->provides;
	x->versions[before]->n_own_crds = x->versions[before]->n_provides;
}

static void finish(struct catalog_index *x)
{
	struct error err = ERROR_INIT;
	if (index_finish(x, STR_NONE, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		failures++;
	}
}

/* The newest drops a resource, the next is of another channel; every fourth requires a neighbour.
 */
static struct catalog_index *plain_catalog(size_t n_packages)
{
	struct catalog_index *x = index_new("community", 0);
	for (size_t p = 0; p < n_packages; p++)
		for (size_t v = 1; v <= VERSIONS; v++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			char name[32];
			snprintf(name, sizeof(name), "p%zu", p);
			strbuf_addf(&b, "appType: p%zu.x.io\nprovides: [r%zu.x.io/v%d]\n", p, p,
				    v == VERSIONS ? 2 : 1);
			if (v == VERSIONS - 1)
				strbuf_adds(&b, "channels: [beta]\n");
			if (p % 4 == 0)
				strbuf_addf(&b, "requires: [{resource: r%zu.x.io/v1}]\n", p + 1);
			add(x, name, v, b.buf);
		}
	finish(x);
	return x;
}

/* --- apps of it --- */

struct apps {
	struct arena *a;
	const struct catalog_index *indexes[1];
	struct resolve_claim *claims;
	struct resolve_input *in;
	const struct resolve_claims *shared;
	size_t n;
};

static const struct resolve_input *other(void *arg, const char *app)
{
	const struct apps *x = arg;
	uint64_t p;
	if (!str_parse_u64(str_of(app + 1), &p) || p >= x->n)
		return NULL;
	return &x->in[p];
}

static void usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	(void)arg;
	(void)resource;
	*ret = (struct resolve_usage){.known = true, .objects = 3, .stored = true};
}

static void install_all(struct apps *x, const struct catalog_index *index, size_t n)
{
	*x = (struct apps){.a = arena_new((size_t)512 << 20), .indexes = {index}, .n = n};
	x->claims = ARENA_ARRAY(x->a, struct resolve_claim, n);
	x->in = ARENA_ARRAY(x->a, struct resolve_input, n);
	for (size_t p = 0; p < n; p++) {
		size_t n_versions;
		char *name = arena_fmt(x->a, "p%zu", p);
		struct package_version *const *all = index_package(index, name, &n_versions);
		const struct package_version *e = all[n_versions / 2];
		const char **managed = ARENA_ARRAY(x->a, const char *, 2);
		managed[0] = e->provides[0];
		x->in[p] = (struct resolve_input){
			.app = name,
			.self_ref = arena_fmt(x->a, "p%zu.x.io", p),
			.installed_version = arena_fmt(x->a, "%.*s", STR_ARG(e->version.text)),
			.installed_managed = (const char *const *)managed,
			.kube_version = "v1.33.0",
			.indexes = x->indexes,
			.n_indexes = 1,
			.mode = "Automatic",
			.usage = usage,
			.other = other,
			.arg = x};
		x->claims[p] = (struct resolve_claim){.app = x->in[p].app,
						      .self_ref = x->in[p].self_ref,
						      .installed = true,
						      .version = x->in[p].installed_version,
						      .managed = x->in[p].installed_managed,
						      .entry = e};
	}
}

static void share_claims(struct apps *x, struct arena *a)
{
	x->shared = resolve_claims_of(x->claims, x->n, a);
	for (size_t p = 0; p < x->n; p++)
		x->in[p].claims = x->shared;
}

/* What one pass does; true: it decided as it must. */
static bool explain(const struct resolve_input *in, struct arena *a, size_t *ret_bytes)
{
	struct resolution r;
	resolve_run(in, a, &r);
	struct obj *status = obj_map();
	resolve_set_status(in, &r, NULL, a, status);
	bool ok = r.chosen && r.chosen->parsed.major == 1 && r.chosen->parsed.minor == 8 &&
		  r.blocked && obj_len(obj_get(status, "candidates")) == VERSIONS;
	obj_unref(status);
	*ret_bytes = arena_bytes(a);
	return ok;
}

/* Every app once, with the reason and the words of each candidate. */
static double resolve_round(struct apps *x, size_t *ret_bytes)
{
	struct arena *shared = arena_new((size_t)64 << 20);
	size_t bytes = 0;
	double t0 = now_ms();
	share_claims(x, shared);
	for (size_t p = 0; p < x->n; p++) {
		struct resolution r;
		struct arena *a = arena_new((size_t)16 << 20);
		resolve_run(&x->in[p], a, &r);
		failures += !r.chosen || !r.blocked || !r.blocked->message;
		bytes = arena_bytes(a) > bytes ? arena_bytes(a) : bytes;
		arena_free(a);
	}
	double ms = now_ms() - t0;
	*ret_bytes = bytes + arena_bytes(shared);
	arena_free(shared);
	return ms;
}

/* The best of some rounds: other programs run too. */
static double resolve_all(struct apps *x)
{
	size_t bytes = 0;
	double best = resolve_round(x, &bytes);
	for (int i = 1; i < ROUNDS; i++) {
		double ms = resolve_round(x, &bytes);
		best = ms < best ? ms : best;
	}
	if (x->n == APPS) {
		bound("10,000 x 20, every app explained", best, 100, "ms");
		bound("its working memory", (double)bytes / (1 << 20), 64, "MiB");
	}
	return best;
}

static void resolve_one(struct apps *x)
{
	size_t bytes = 0;
	double worst = 0, sum = 0;
	struct arena *shared = arena_new((size_t)64 << 20);
	share_claims(x, shared);
	for (size_t p = 0; p < 1000; p++) {
		struct arena *a = arena_new((size_t)16 << 20);
		double t0 = now_ms();
		failures += !explain(&x->in[p * 7 % x->n], a, &bytes);
		double ms = now_ms() - t0;
		worst = ms > worst ? ms : worst;
		sum += ms;
		arena_free(a);
	}
	arena_free(shared);
	bound("one app of 20 versions, its status", sum / 1000, 1, "ms");
	printf("%-34s %9.3f ms, %zu KiB\n", "the slowest of 1,000", worst, bytes >> 10);
}

/* One package of n versions: time for each candidate that is looked at. edges: each version is
 * reached from the one before it alone. */
static double per_candidate(size_t n, bool edges)
{
	struct catalog_index *x = index_new("community", 0);
	for (size_t v = 0; v < n; v++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_adds(&b, "appType: p0.x.io\nprovides: [r0.x.io/v1]\n");
		if (edges && v)
			strbuf_addf(&b, "replaces: %zu.%zu.0\n", (v - 1) / 10, (v - 1) % 10);
		add(x, "p0", v, b.buf);
	}
	finish(x);
	struct apps apps;
	install_all(&apps, x, 1);
	share_claims(&apps, apps.a);
	double best = 1e9;
	for (int i = 0; i < 5; i++) {
		struct resolution r;
		struct arena *a = arena_new((size_t)256 << 20);
		double t0 = now_ms();
		resolve_run(&apps.in[0], a, &r);
		double ms = now_ms() - t0;
		best = ms < best ? ms : best;
		failures += r.n != n;
		arena_free(a);
	}
	arena_free(apps.a);
	index_free(x);
	return best * 1e3 / (double)n;
}

static void grow(const char *name, bool edges, double most)
{
	double us[3];
	for (size_t i = 0; i < 3; i++)
		us[i] = per_candidate((size_t)100 << (2 * i), edges);
	printf("%-34s %9.3f, %.3f, %.3f us\n", name, us[0], us[1], us[2]);
	bound("1,600 against 100, a candidate", us[2] / us[0], most, "times");
}

/* --- hard ones --- */

static struct resolve_input hard_input(const struct catalog_index *const *indexes)
{
	return (struct resolve_input){.app = "p0",
				      .self_ref = "p0.x.io",
				      .kube_version = "v1.33.0",
				      .indexes = indexes,
				      .n_indexes = 1,
				      .mode = "Automatic"};
}

static void hard(const char *name, struct catalog_index *x, bool want)
{
	const struct catalog_index *indexes[] = {x};
	struct resolve_input in = hard_input(indexes);
	struct resolution r;
	struct arena *a = arena_new((size_t)512 << 20);
	finish(x);
	in.evaluate = "*";
	double t0 = now_ms();
	resolve_run(&in, a, &r);
	double ms = now_ms() - t0;
	const char *reason = r.chosen ? r.chosen->version : r.message;
	printf("%-34s %9.3f ms, %lld decisions, %zu MiB: %s\n", name, ms, (long long)r.decisions,
	       arena_bytes(a) >> 20, reason ? reason : "");
	failures += (r.chosen != NULL) != want;
	bound("  within", ms, 10000, "ms");
	arena_free(a);
	index_free(x);
}

/* p0 needs p1 needs p2 ...; each version only its own of the next; the last has but the oldest. */
static void deep_chain(size_t depth, size_t versions)
{
	struct catalog_index *x = index_new("community", 0);
	for (size_t p = 0; p < depth; p++)
		for (size_t v = 1; v <= (p + 1 == depth ? 1 : versions); v++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			char name[32];
			snprintf(name, sizeof(name), "p%zu", p);
			strbuf_addf(&b, "appType: p%zu.x.io\nprovides: [r%zu.x.io/v1]\n", p, p);
			if (p + 1 < depth)
				strbuf_addf(&b,
					    "requires: [{resource: r%zu.x.io/v1, versions: "
					    "\"=%zu.%zu.0\"}]\n",
					    p + 1, v / 10, v % 10);
			add(x, name, v, b.buf);
		}
	hard("a chain of 200, one way through", x, true);
}

/* Pigeons: n apps, each of n-1 versions that provide hole v; a hole belongs to one. Never solvable.
 */
static void pigeons(size_t n)
{
	struct catalog_index *x = index_new("community", 0);
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(1 << 16);
	strbuf_adds(&all, "appType: p0.x.io\nprovides: [r0.x.io/v1]\nrequires:\n");
	for (size_t p = 1; p <= n; p++)
		strbuf_addf(&all, "- {resource: r%zu.x.io/v1}\n", p);
	add(x, "p0", 1, all.buf);
	for (size_t p = 1; p <= n; p++)
		for (size_t v = 1; v < n; v++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			char name[32];
			snprintf(name, sizeof(name), "p%zu", p);
			strbuf_addf(&b,
				    "appType: p%zu.x.io\nprovides: [r%zu.x.io/v1, "
				    "hole%zu.x.io/v1]\n",
				    p, p, v);
			add(x, name, v, b.buf);
		}
	char name[64];
	snprintf(name, sizeof(name), "%zu pigeons, %zu holes", n, n - 1);
	hard(name, x, false);
}

/* Many packages that refuse each other, one version of each that does not. */
static void conflicts(size_t n)
{
	struct catalog_index *x = index_new("community", 0);
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(1 << 16);
	strbuf_adds(&all, "appType: p0.x.io\nprovides: [r0.x.io/v1]\nrequires:\n");
	for (size_t p = 1; p <= n; p++)
		strbuf_addf(&all, "- {resource: r%zu.x.io/v1}\n", p);
	add(x, "p0", 1, all.buf);
	for (size_t p = 1; p <= n; p++)
		for (size_t v = 1; v <= VERSIONS; v++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
			char name[32];
			snprintf(name, sizeof(name), "p%zu", p);
			strbuf_addf(&b, "appType: p%zu.x.io\nprovides: [r%zu.x.io/v1]\n", p, p);
			if (v > 1)
				strbuf_addf(&b,
					    "conflicts: [{package: p%zu, versions: \">0.1.0\"}]\n",
					    p % n + 1);
			add(x, name, v, b.buf);
		}
	hard("60 packages in a ring of conflicts", x, true);
}

int main(void)
{
	static const size_t sizes[] = {2500, 5000, APPS};
	double ms[3];
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct apps apps;
		struct catalog_index *x = plain_catalog(sizes[i] + 1);
		install_all(&apps, x, sizes[i]);
		ms[i] = resolve_all(&apps);
		printf("%-34s %9.3f ms\n", i ? "the same at twice the size" : "2,500 x 20", ms[i]);
		if (sizes[i] == APPS)
			resolve_one(&apps);
		arena_free(apps.a);
		index_free(x);
	}
	bound("10,000 apps against 2,500", ms[2] / ms[0], 4 * 1.6, "times");
	grow("a candidate of 100, 400, 1,600", false, 2);
	grow("the same in one chain of edges", true, 16); /* every pair is looked at */
	deep_chain(200, 9);
	conflicts(60);
	pigeons(6);
	pigeons(9);
	pigeons(12);
	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
	printf("%-34s %9ld MiB\n", "the whole program at its largest", use.ru_maxrss >> 10);
	return failures != 0;
}
