#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "catalog/resolve/resolve_relax.h"

struct world {
	struct catalog_index *index;
	struct resolve_input in;
	struct arena *a;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	w->index = index_new("community", 0);
	w->a = arena_new(1 << 20);
	w->in = (struct resolve_input){.app = "etcd",
				       .self_ref = "etcd.com.tectonic.storage",
				       .kube_version = "v1.33.0+alm1"};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	index_free(w->index);
	arena_free(w->a);
	xfree(w);
	return 0;
}

/* A chart of this version with a CRD that serves the resources declared. */
static void add_package(struct world *w, const char *name, const char *version,
			const char *descriptor)
{
	struct error err;
	char digest[SHA256_HEX];
	char *chart = arena_fmt(w->a, "apiVersion: v2\nname: %s\nversion: %s\n", name, version);
	sha256_hex(str_of(chart), digest);
	struct package_source s = {.chart_yaml = str_of(chart),
				   .descriptor = str_of(descriptor),
				   .digest = digest,
				   .locator = version};
	size_t before = w->index->n;
	index_add(w->index, &s);
	if (w->index->n == before)
		fail_msg("rejected: %s", w->index->rejected[w->index->n_rejected - 1]);
	w->index->versions[before]->own_crds = (const char **)w->index->versions[before]->provides;
	w->index->versions[before]->n_own_crds = w->index->versions[before]->n_provides;
	(void)err;
}

static void add(struct world *w, const char *version, const char *descriptor)
{
	add_package(w, "etcd-operator", version, descriptor);
}

static void run(struct world *w, struct resolution *r)
{
	struct error err;
	static const struct catalog_index *indexes[1];
	assert_ok(index_finish(w->index, STR_NONE, &err), &err);
	indexes[0] = w->index;
	w->in.indexes = indexes;
	w->in.n_indexes = 1;
	resolve_run(&w->in, w->a, r);
}

static const struct candidate *find(const struct resolution *r, const char *version)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->candidates[i].version, version))
			return &r->candidates[i];
	fail_msg("no candidate %s", version);
	return NULL;
}

#define TYPE "appType: etcd.com.tectonic.storage\n"
static const char *const v1_managed[] = {"etcds.etcd.coreos.com/v1", NULL};

static void installed(struct world *w, const char *version)
{
	w->in.installed_version = version;
	w->in.installed_package = "etcd-operator";
	w->in.installed_catalog = "community";
	w->in.installed_managed = v1_managed;
}

static void test_resolve__first_install_takes_the_highest(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "0.9.4", TYPE "provides: [etcds.etcd.coreos.com/v1]\n");
	add(w, "0.9.10", TYPE "provides: [etcds.etcd.coreos.com/v1]\n");
	add(w, "1.0.0-rc.1", TYPE);
	run(w, &r);
	assert_string_equal(r.chosen->version, "0.9.10");
	assert_string_equal(find(&r, "1.0.0-rc.1")->reason, "Prerelease");
	assert_string_equal(r.reason, "Resolved");
}

/* Its strategy was deleted by hand: the spec may not have let it in today, and no newer one comes
 * without what an upgrade waits for (lifecycle.md 8). */
static void test_resolve__what_was_installed_comes_back(void **state)
{
	static const char text[] =
		"0.9.5-rc.1 was installed when its strategy was deleted, and comes "
		"back first";
	struct world *w = *state;
	struct resolution r;
	add(w, "0.9.5-rc.1", TYPE "channels: [beta]\n");
	add(w, "0.9.10", TYPE);
	w->in.restore = "0.9.5-rc.1";
	w->in.range = ">=0.9.6";
	run(w, &r);
	assert_non_null(r.chosen);
	assert_string_equal(r.chosen->version, "0.9.5-rc.1");
	assert_string_equal(find(&r, "0.9.10")->reason, "NotRequested");
	assert_string_equal(find(&r, "0.9.10")->message, text);
	w->in.to = "0.9.10"; /* a person's word goes first */
	run(w, &r);
	assert_string_equal(r.chosen->version, "0.9.10");
	assert_string_equal(find(&r, "0.9.5-rc.1")->reason, "NotRequested");
	w->in.to = NULL;
	w->in.restore = "0.9.3"; /* listed no more: nothing comes in its place by itself */
	run(w, &r);
	assert_null(r.chosen);
	assert_string_equal(find(&r, "0.9.10")->message,
			    "0.9.3 was installed when its strategy was deleted, and is in no "
			    "catalog any more");
	struct relaxation x;
	resolve_relax(&w->in, "0.9.10", w->a, &x);
	assert_int_equal(x.n, 1);
	assert_string_equal(x.changes[0]->command, "alm upgrade etcd --to 0.9.10");
}

/* That version may have been made again since: it is not what was installed. */
static void test_resolve__what_comes_back_is_the_same_archive(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "0.9.5", TYPE);
	add(w, "0.9.10", TYPE);
	w->in.restore = "0.9.5";
	w->in.installed_package = "etcd-operator";
	w->in.installed_catalog = "community";
	w->in.installed_digest = w->index->versions[0]->digest;
	run(w, &r);
	assert_non_null(r.chosen);
	assert_string_equal(r.chosen->version, "0.9.5");
	w->in.installed_digest = "0123456789abcdef";
	run(w, &r);
	assert_null(r.chosen);
	assert_string_equal(find(&r, "0.9.5")->reason, "NotRequested");
	assert_string_equal(find(&r, "0.9.5")->message,
			    "0.9.5 was installed when its strategy was deleted, and is another "
			    "archive in the catalog now");
	w->in.to = "0.9.5"; /* a person takes it */
	run(w, &r);
	assert_string_equal(r.chosen->version, "0.9.5");
}

static void test_resolve__no_app_takes_a_package_that_names_none(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "1.0.0", "");
	run(w, &r);
	assert_null(r.chosen);
	assert_string_equal(r.reason, "NoPackage");
}

/* A Catalog that nobody could read is no reason to make another. */
static void test_resolve__a_catalog_that_was_not_read_is_there(void **state)
{
	struct world *w = *state;
	struct resolution r;
	resolve_run(&w->in, w->a, &r);
	assert_non_null(
		strstr(r.message, "(asked: none); alm catalog add NAME URL makes a catalog"));
	assert_false(r.not_ready);
	w->in.n_unsynced = 1;
	resolve_run(&w->in, w->a, &r);
	assert_string_equal(r.reason, "CatalogNotReady");
	assert_true(r.not_ready);
	assert_non_null(
		strstr(r.message, "; 1 catalog is there and not read so far; alm status says why"));
	/* one that has the package is enough */
	add(w, "0.9.6", TYPE);
	run(w, &r);
	assert_string_equal(r.reason, "Resolved");
	assert_false(r.not_ready);
}

/* Of the catalogs that have the package the one of the highest priority; of two equal ones none,
 * unless a third is above them. Whatever their order, and whatever one without the package has. */
static void test_resolve__the_highest_priority_that_has_the_package(void **state)
{
	static const struct {
		int64_t priority[3];
		bool has[3];
		int chosen; /* -1: ambiguous, -2: nobody has it */
	} rows[] = {
		{{0, 0, 9}, {true, false, false}, 0}, {{9, 0, 0}, {false, true, false}, 1},
		{{1, 2, 3}, {true, true, true}, 2},   {{3, 2, 1}, {true, true, true}, 0},
		{{1, 3, 2}, {true, true, true}, 1},   {{2, 2, 1}, {true, true, true}, -1},
		{{1, 2, 2}, {true, true, true}, -1},  {{2, 2, 3}, {true, true, true}, 2},
		{{3, 2, 2}, {true, true, true}, 0},   {{2, 2, 3}, {true, true, false}, -1},
		{{-1, 0, 0}, {true, false, true}, 2}, {{1, 2, 3}, {false, false, false}, -2},
	};
	static const char *const names[] = {"c0", "c1", "c2"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct catalog_index *x[3];
		const struct catalog_index *indexes[3];
		struct resolution r;
		struct error err = ERROR_INIT;
		for (size_t k = 0; k < 3; k++) {
			struct world w = {.index = index_new(names[k], rows[i].priority[k]),
					  .a = a};
			add_package(&w, rows[i].has[k] ? "etcd-operator" : "other", "1.0.0",
				    rows[i].has[k] ? TYPE : "appType: other.x.io\n");
			assert_ok(index_finish(w.index, STR_NONE, &err), &err);
			indexes[k] = x[k] = w.index;
		}
		struct resolve_input in = {.app = "etcd",
					   .self_ref = "etcd.com.tectonic.storage",
					   .indexes = indexes,
					   .n_indexes = 3};
		resolve_run(&in, a, &r);
		const char *want = rows[i].chosen == -1   ? "AmbiguousSource"
				   : rows[i].chosen == -2 ? "NoPackage"
							  : "Resolved";
		if (strcmp(r.reason, want) != 0)
			fail_msg("row %zu: %s", i, r.reason);
		if (rows[i].chosen >= 0)
			assert_string_equal(r.catalog, names[rows[i].chosen]);
		in.n_unsynced = 1; /* another may have it yet */
		resolve_run(&in, a, &r);
		assert_string_equal(r.reason, rows[i].chosen == -2 ? "CatalogNotReady" : want);
		assert_int_equal(r.not_ready, rows[i].chosen == -2);
		for (size_t k = 0; k < 3; k++)
			index_free(x[k]);
	}
}

/* It may refuse other versions of itself: two of one package are never there at once. */
static void test_resolve__a_package_does_not_exclude_itself(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "0.9.6", TYPE "conflicts: [{package: etcd-operator}]\n");
	run(w, &r);
	assert_non_null(r.chosen);
}

static void test_resolve__a_dropped_resource_blocks_with_its_steps(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "0.9.6", TYPE "provides: [etcds.etcd.coreos.com/v1, etcds.etcd.coreos.com/v2]\n");
	add(w, "1.0.0", TYPE "provides: [etcds.etcd.coreos.com/v2]\n");
	installed(w, "0.9.6");
	run(w, &r);
	assert_null(r.chosen);
	assert_string_equal(r.blocked->version, "1.0.0");
	assert_string_equal(r.blocked->reason, "ResourceDropped");
	assert_string_equal(r.blocked->dropped[0], "etcds.etcd.coreos.com/v1");
	struct relaxation x;
	resolve_relax(&w->in, "1.0.0", w->a, &x);
	assert_int_equal(x.n, 1);
	assert_string_equal(x.changes[0]->command, "alm upgrade etcd --to 1.0.0 --accept-dropped "
						   "etcds.etcd.coreos.com/v1 --reason TEXT");
	assert_string_equal(r.available->version, "1.0.0");
}

/* All waivers are one change of the app, however many; a merge patch keeps those it has. */
static void test_resolve__many_dropped_resources_are_one_step(void **state)
{
	static const char *const managed[] = {"a.c.io/v1", "b.c.io/v1", "c.c.io/v1",
					      "d.c.io/v1", "e.c.io/v1", NULL};
	static const struct resolve_waiver old = {"FieldRemoved", "a.c.io/v1", "spec.x", "it's",
						  INT64_C(4102444800000000000)};
	struct world *w = *state;
	struct resolution r;
	struct relaxation x;
	size_t n;
	add(w, "1.0.0", TYPE "provides: [a.c.io/v1, b.c.io/v1, c.c.io/v1, d.c.io/v1, e.c.io/v1]\n");
	add(w, "2.0.0", TYPE "provides: [e.c.io/v1]\n");
	installed(w, "1.0.0");
	w->in.installed_managed = managed;
	w->in.waivers = &old;
	w->in.n_waivers = 1;
	run(w, &r);
	resolve_relax(&w->in, "2.0.0", w->a, &x);
	assert_null(x.stuck);
	assert_int_equal(x.n, 4);
	const char *const *steps = resolve_steps(&x, w->a, &n);
	assert_int_equal(n, 1);
	assert_string_equal(
		steps[0],
		"alm upgrade etcd --to 2.0.0 --accept-dropped a.c.io/v1 "
		"--accept-dropped b.c.io/v1 --accept-dropped c.c.io/v1 "
		"--accept-dropped d.c.io/v1 --reason TEXT # clients of that version break");
	const char *const *kubectl = resolve_kubectl(&w->in, &x, w->a, &n);
	assert_int_equal(n, 1);
	assert_true(cstr_has_prefix(
		kubectl[0],
		"kubectl patch apptype etcd --type=merge -p '{\"spec\":{\"upgrade\":{\"waivers\":[{"
		"\"rule\":\"FieldRemoved\",\"resource\":\"a.c.io/v1\",\"path\":\"spec.x\","
		"\"reason\":\"it\\u0027s\",\"expires\":\"2100-01-01T00:00:00Z\"},{\"rule\":"
		"\"ResourceDropped\",\"resource\":\"a.c.io/v1\",\"reason\":\"TEXT\"},"));
}

static void test_resolve__a_catalog_without_the_package_says_so(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "1.0.0", TYPE);
	w->in.catalog = "community";
	w->in.package = "etcd";
	run(w, &r);
	assert_string_equal(r.reason, "NoPackage");
	assert_string_equal(r.message, "catalog community has no package etcd; spec.package names "
				       "one of its status.packageNames");
	w->in.package = NULL;
	w->in.catalog = "elsewhere";
	w->in.self_ref = "other.x.io";
	resolve_run(&w->in, w->a, &r);
	assert_string_equal(r.reason, "NoPackage");
	assert_string_equal(r.message, "catalog elsewhere was not read (read: community)");
}

/* Two apps in the way, each of them to go to a version of the same name: two changes. */
static const struct resolve_input *of_another(void *arg, const char *app)
{
	const struct resolve_input *others = arg;
	return &others[!strcmp(app, "log")];
}

static void test_resolve__two_apps_that_are_paused_are_two_changes(void **state)
{
	static const char *const names[] = {"db", "log"};
	struct world *w = *state;
	struct resolve_claim claims[2];
	struct resolve_input others[2];
	struct resolution r;
	struct relaxation x;
	add(w, "1.0.0",
	    TYPE "requires: [{resource: db.x.io/v1, versions: '>=2.0.0'}, "
		 "{resource: log.x.io/v1, versions: '>=2.0.0'}]\n");
	for (size_t i = 0; i < 2; i++) {
		const char *own = arena_fmt(w->a, "appType: %s.x.io\nprovides: [%s.x.io/v1]\n",
					    names[i], names[i]);
		const char **managed = ARENA_ARRAY(w->a, const char *, 2);
		add_package(w, names[i], "1.0.0", own);
		add_package(w, names[i], "2.0.0", own);
		managed[0] = arena_fmt(w->a, "%s.x.io/v1", names[i]);
		claims[i] = (struct resolve_claim){.app = names[i],
						   .self_ref = arena_fmt(w->a, "%s.x.io", names[i]),
						   .installed = true,
						   .version = "1.0.0",
						   .managed = managed};
	}
	run(w, &r);
	for (size_t i = 0; i < 2; i++) {
		claims[i].entry = index_package(w->index, names[i], &(size_t){0})[1];
		others[i] = (struct resolve_input){.app = names[i],
						   .self_ref = claims[i].self_ref,
						   .installed_version = "1.0.0",
						   .installed_package = names[i],
						   .installed_catalog = "community",
						   .installed_managed = claims[i].managed,
						   .kube_version = w->in.kube_version,
						   .indexes = w->in.indexes,
						   .n_indexes = 1,
						   .mode = "Automatic",
						   .paused = true};
	}
	w->in.claims = resolve_claims_of(claims, 2, w->a);
	w->in.other = of_another;
	w->in.arg = others;
	resolve_relax(&w->in, "1.0.0", w->a, &x);
	if (x.stuck || x.n != 2)
		fail_msg("%zu changes: %s", x.n, x.stuck ? x.stuck : "");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(x.changes[i]->type, CHANGE_RESUME);
		assert_string_equal(x.changes[i]->value, "2.0.0");
	}
	assert_string_not_equal(x.changes[0]->app, x.changes[1]->app);
}

/* One app in the way that is paused, and Manual as well: two changes of it, to the same version. */
static void test_resolve__an_app_may_need_two_changes(void **state)
{
	struct world *w = *state;
	static const char *managed[] = {"log.x.io/v1", NULL};
	static const char own[] = "appType: log.x.io\nprovides: [log.x.io/v1]\n";
	struct resolve_claim claim = {.app = "log",
				      .self_ref = "log.x.io",
				      .installed = true,
				      .version = "1.0.0",
				      .managed = managed};
	struct resolve_input others[2] = {{0}};
	struct resolution r;
	struct relaxation x;
	add(w, "1.0.0", TYPE "requires: [{resource: log.x.io/v1, versions: '>=2.0.0'}]\n");
	add_package(w, "log", "1.0.0", own);
	add_package(w, "log", "2.0.0", own);
	run(w, &r);
	claim.entry = index_package(w->index, "log", &(size_t){0})[1];
	others[1] = (struct resolve_input){.app = "log",
					   .self_ref = claim.self_ref,
					   .installed_version = "1.0.0",
					   .installed_package = "log",
					   .installed_catalog = "community",
					   .installed_managed = managed,
					   .kube_version = w->in.kube_version,
					   .indexes = w->in.indexes,
					   .n_indexes = 1,
					   .mode = "Manual",
					   .paused = true};
	w->in.claims = resolve_claims_of(&claim, 1, w->a);
	w->in.other = of_another;
	w->in.arg = others;
	resolve_relax(&w->in, "1.0.0", w->a, &x);
	if (x.stuck || x.n != 2)
		fail_msg("%zu changes: %s", x.n, x.stuck ? x.stuck : "");
	assert_int_equal(x.changes[0]->type, CHANGE_RESUME);
	assert_int_equal(x.changes[1]->type, CHANGE_APPROVE);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(x.changes[i]->app, "log");
		assert_string_equal(x.changes[i]->value, "2.0.0");
	}
}

/* A version that adds a CRD can be left again: its CRD and objects stay as they are. */
static void test_resolve__the_way_back_drops_nothing(void **state)
{
	static const char *const both[] = {"etcds.etcd.coreos.com/v1", "etcds.etcd.coreos.com/v2",
					   NULL};
	struct world *w = *state;
	struct resolution r;
	add(w, "0.9.5", TYPE "provides: [etcds.etcd.coreos.com/v1]\n");
	add(w, "0.9.6", TYPE "provides: [etcds.etcd.coreos.com/v1, etcds.etcd.coreos.com/v2]\n");
	installed(w, "0.9.6");
	w->in.installed_managed = both;
	w->in.to = "0.9.5";
	run(w, &r);
	assert_non_null(r.chosen);
	assert_string_equal(r.chosen->version, "0.9.5");
	assert_int_equal(r.chosen->n_dropped, 1);
}

static void stored_so_far(void *arg, const char *resource, struct resolve_usage *ret)
{
	(void)resource;
	*ret = *(const struct resolve_usage *)arg;
	ret->stored = true;
}

/* storedVersions keeps the only version there ever was for good: it holds nothing up once no object
 * is left. */
static void test_resolve__a_drop_without_objects_can_be_accepted(void **state)
{
	struct world *w = *state;
	struct resolution r;
	struct resolve_usage usage = {.known = true};
	struct relaxation x;
	struct resolve_waiver waiver = {.rule = "ResourceDropped",
					.resource = "etcds.etcd.coreos.com/v1",
					.reason = "none"};
	add(w, "0.9.6", TYPE "provides: [etcds.etcd.coreos.com/v1, others.etcd.coreos.com/v1]\n");
	add(w, "1.0.0", TYPE "provides: [others.etcd.coreos.com/v1]\n");
	installed(w, "0.9.6");
	w->in.usage = stored_so_far;
	w->in.arg = &usage;
	run(w, &r);
	assert_string_equal(r.blocked->reason, "ResourceDropped");
	resolve_relax(&w->in, "1.0.0", w->a, &x);
	assert_int_equal(x.n, 1);
	w->in.waivers = &waiver;
	w->in.n_waivers = 1;
	resolve_run(&w->in, w->a, &r);
	assert_non_null(r.chosen);
	usage.objects = 1;
	resolve_run(&w->in, w->a, &r);
	assert_null(r.chosen);
	usage = (struct resolve_usage){.known = false};
	resolve_run(&w->in, w->a, &r);
	assert_null(r.chosen);
}

static void test_resolve__the_users_wish_never_blocks(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "1.0.0", TYPE "provides: [etcds.etcd.coreos.com/v1]\n");
	add(w, "2.0.0", TYPE "provides: [etcds.etcd.coreos.com/v1]\n");
	installed(w, "1.0.0");
	w->in.range = "<2.0.0";
	run(w, &r);
	assert_null(r.blocked);
	assert_null(r.chosen);
	assert_string_equal(find(&r, "2.0.0")->reason, "OutOfRange");
	assert_string_equal(r.available->version, "1.0.0");
}

static void test_resolve__edges_lead_over_stops(void **state)
{
	struct world *w = *state;
	struct resolution r;
#define PROVIDES TYPE "provides: [etcds.etcd.coreos.com/v1]\n"
	add(w, "1.1.0", PROVIDES "replaces: 1.0.0\n");
	add(w, "1.2.0", PROVIDES "replaces: 1.1.0\n");
	add(w, "1.4.0", PROVIDES "replaces: 1.3.0\n");
	installed(w, "1.0.0");
	run(w, &r);
	assert_string_equal(r.chosen->version, "1.2.0");
	assert_int_equal(r.n_path, 2);
	assert_string_equal(r.path[0], "1.1.0");
	assert_string_equal(find(&r, "1.4.0")->reason, "NoUpgradePath");
}

static void test_resolve__highest_is_not_the_highest_installable(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "1.0.0", PROVIDES);
	add(w, "2.0.0", PROVIDES "minKubeVersion: 1.99.0\n");
	run(w, &r);
	assert_string_equal(r.chosen->version, "1.0.0");
	assert_string_equal(find(&r, "2.0.0")->message,
			    "needs Kubernetes 1.99.0, this is v1.33.0+alm1");
}

static void test_resolve__a_version_with_two_digests_is_ambiguous(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "1.0.0", PROVIDES);
	add(w, "1", PROVIDES);
	add(w, "0.9.0", PROVIDES);
	run(w, &r);
	assert_string_equal(find(&r, "1")->reason, "Ambiguous");
	assert_string_equal(r.chosen->version, "0.9.0");
}

/* Made by hand and Blocked by its own planning: told as it is, and no other version waits for it.
 */
static void test_resolve__one_blocked_by_hand_stops_no_other(void **state)
{
	struct world *w = *state;
	struct resolution r;
	struct resolve_manual hand = {.strategy = "install.7.etcd", .version = "7.0.0"};
	add(w, "1.0.0", "appType: etcd.com.tectonic.storage\n");
	add(w, "1.1.0", "appType: etcd.com.tectonic.storage\n");
	w->in.installed_version = "1.0.0";
	w->in.manual = &hand;
	w->in.n_manual = 1;
	run(w, &r);
	assert_string_equal(r.chosen->version, "7.0.0");
	hand.blocked = "FetchFailed";
	hand.message = "spec.strategy.sha256 is missing";
	resolve_run(&w->in, w->a, &r);
	assert_string_equal(r.chosen->version, "1.1.0");
	assert_null(r.blocked); /* its author is told by the strategy, no alert */
	assert_string_equal(r.candidates[0].reason, "FetchFailed");
	assert_string_equal(r.candidates[0].message, hand.message);
	/* a reason that the resolver has too, without what it would be about: no change lifts it */
	static const char *const reasons[] = {"RequirementUnmet", "ResourceMissing",
					      "ResourceDropped", "NeededByOther"};
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct relaxation x;
		hand.blocked = reasons[i];
		resolve_relax(&w->in, "7.0.0", w->a, &x);
		assert_int_equal(x.n, 0);
	}
	w->in.unsupported = "spec.rolloutRef: remove the field";
	resolve_run(&w->in, w->a, &r);
	assert_null(r.chosen);
	assert_string_equal(r.reason, "Unsupported");
	assert_string_equal(r.message, w->in.unsupported);
}

/* The way back needs no catalog; what a catalog says of the version counts as long as it has it. */
static void test_resolve__a_stored_plan_is_a_way_back(void **state)
{
	struct world *w = *state;
	struct resolution r;
	const char *managed[] = {"etcds.etcd.coreos.com/v1", NULL};
	struct resolve_manual old = {
		.stored = true, .strategy = "install.1.0.0.etcd", .version = "1.0.0"};
	add(w, "1.1.0", "appType: etcd.com.tectonic.storage\n");
	w->in.installed_version = "1.1.0";
	w->in.to = "1.0.0";
	w->in.manual = &old;
	w->in.n_manual = 1;
	run(w, &r);
	assert_string_equal(r.chosen->version, "1.0.0");
	assert_ptr_equal(r.chosen->manual, &old);
	/* once it is installed nothing is refused to it */
	w->in.installed_version = "1.0.0";
	w->in.installed_managed = managed;
	w->in.n_manual = 0;
	resolve_run(&w->in, w->a, &r);
	assert_null(r.chosen);
	assert_null(r.blocked);
}

static void test_resolve__what_a_catalog_has_comes_before_a_stored_plan(void **state)
{
	struct world *w = *state;
	struct resolution r;
	struct resolve_manual old = {
		.stored = true, .strategy = "install.1.0.0.etcd", .version = "1.0.0"};
	add(w, "1.1.0", "appType: etcd.com.tectonic.storage\n");
	add(w, "1.0.0", "appType: etcd.com.tectonic.storage\n");
	w->in.installed_version = "1.1.0";
	w->in.to = "1.0.0";
	w->in.manual = &old;
	w->in.n_manual = 1;
	run(w, &r);
	assert_string_equal(r.chosen->version, "1.0.0");
	assert_null(r.chosen->manual);
}

/* Which of two is meant nobody but a person knows. */
static void test_resolve__two_packages_of_one_app_are_ambiguous(void **state)
{
	struct world *w = *state;
	struct resolution r;
	add(w, "1.0.0", TYPE);
	add_package(w, "other", "1.0.0", TYPE);
	run(w, &r);
	assert_null(r.chosen);
	assert_string_equal(r.reason, "AmbiguousProvider");
	assert_non_null(strstr(r.message, "both install etcd.com.tectonic.storage; "
					  "set spec.package"));
	assert_non_null(strstr(r.message, "etcd-operator"));
	assert_non_null(strstr(r.message, "other"));
	w->in.package = "other";
	run(w, &r);
	assert_string_equal(r.chosen->version, "1.0.0");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_resolve__one_blocked_by_hand_stops_no_other,
						setup, teardown),
		T(test_resolve__a_stored_plan_is_a_way_back),
		T(test_resolve__what_a_catalog_has_comes_before_a_stored_plan),
		T(test_resolve__first_install_takes_the_highest),
		T(test_resolve__what_was_installed_comes_back),
		T(test_resolve__what_comes_back_is_the_same_archive),
		T(test_resolve__no_app_takes_a_package_that_names_none),
		T(test_resolve__a_catalog_that_was_not_read_is_there),
		T(test_resolve__a_package_does_not_exclude_itself),
		cmocka_unit_test(test_resolve__the_highest_priority_that_has_the_package),
		T(test_resolve__a_dropped_resource_blocks_with_its_steps),
		T(test_resolve__many_dropped_resources_are_one_step),
		T(test_resolve__a_catalog_without_the_package_says_so),
		T(test_resolve__two_apps_that_are_paused_are_two_changes),
		T(test_resolve__an_app_may_need_two_changes),
		T(test_resolve__the_way_back_drops_nothing),
		T(test_resolve__a_drop_without_objects_can_be_accepted),
		T(test_resolve__the_users_wish_never_blocks),
		T(test_resolve__edges_lead_over_stops),
		T(test_resolve__highest_is_not_the_highest_installable),
		T(test_resolve__two_packages_of_one_app_are_ambiguous),
		T(test_resolve__a_version_with_two_digests_is_ambiguous),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
