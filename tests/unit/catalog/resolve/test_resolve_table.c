/* A table: one cause for each predicate of lifecycle.md 2.2, alone and every two of them together.
 * The texts for people are in tests/golden/resolve/predicates.txt. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "catalog/resolve/resolve_doc.h"
#include "catalog/resolve/resolve_relax.h"

#define GOLDEN "tests/golden/resolve/predicates.txt"

struct world {
	struct arena *a;
	struct catalog_index *index;
	const struct catalog_index *indexes[1];
	struct resolve_input in;
	const char *version, *channels, *edges, *kube, *provides, *needs, *checks, *catalog_yaml;
	const char *asked; /* version: of which the reason is told */
	const char *foreign_owner;
	bool failed, refused_by_gate, twice;
	struct resolve_claim claims[2];
	size_t n_claims;
};

/* A catalog leaves such an entry out; a strategy made by hand shows it. */
static void misspell(struct world *w)
{
	static const struct resolve_manual manual = {.strategy = "by-hand", .version = "newest"};
	w->in.manual = &manual;
	w->in.n_manual = 1;
	w->asked = manual.version;
}

static void publish_twice(struct world *w)
{
	w->twice = true;
}

static void withdraw(struct world *w)
{
	w->catalog_yaml = "withdrawn: [{package: etcd-operator, versions: '>=2.0.0-0', message: "
			  "loses data}]";
}

static void ask_for_another(struct world *w)
{
	w->in.to = "1.5.0";
}

static void install_newer(struct world *w)
{
	w->in.installed_version = "3.0.0";
}

static void narrow_range(struct world *w)
{
	w->in.range = "<2";
}

static void make_prerelease(struct world *w)
{
	w->version = "2.0.0-rc.1";
}

static void move_channel(struct world *w)
{
	w->channels = "channels: [beta]\n";
}

static void fail_before(struct world *w)
{
	w->failed = true;
}

static void want_newer_kube(struct world *w)
{
	w->kube = "minKubeVersion: 9.0.0\n";
}

static void cut_edges(struct world *w)
{
	w->edges = "replaces: 1.5.0\n";
}

static void drop_resource(struct world *w)
{
	static const char *const more[] = {"etcds.etcd.coreos.com/v1", "etcds.etcd.coreos.com/v0",
					   NULL};
	w->in.installed_managed = more;
}

static void give_away_crd(struct world *w)
{
	w->foreign_owner = "meta.helm.sh/release-name etcd in default";
}

static void require_by_other(struct world *w)
{
	static struct package_requirement needs[] = {
		{.resource = "etcds.etcd.coreos.com/v1", .versions = "<2.0.0-0"}};
	static struct package_version entry = {
		.package = "web", .digest = "d", .requires = needs, .n_requires = 1};
	w->claims[w->n_claims++] = (struct resolve_claim){.app = "web",
							  .self_ref = "web.x.io",
							  .installed = true,
							  .version = "1.0.0",
							  .entry = &entry};
}

static void provide_nothing(struct world *w)
{
	w->provides = "provides: [etcds.etcd.coreos.com/v1, backups.etcd.coreos.com/v1]\n";
}

static void check_unmet(struct world *w)
{
	w->checks = "requirements: [{kind: Object, ref: StorageClass//fast}]\n";
}

static void require_nobody(struct world *w)
{
	w->needs = "requires: [{resource: certificates.cert-manager.io/v1, versions: '>=1.14'}]\n";
}

static void refuse_by_gate(struct world *w)
{
	w->refused_by_gate = true;
}

/* clang-format off */
static const struct cause { const char *reason; void (*make)(struct world *w); } causes[] = {
	{"Malformed",            misspell},
	{"Ambiguous",            publish_twice},
	{"Withdrawn",            withdraw},
	{"NotRequested",         ask_for_another},
	{"NotNewer",             install_newer},
	{"OutOfRange",           narrow_range},
	{"Prerelease",           make_prerelease},
	{"NotInChannel",         move_channel},
	{"PreviouslyFailed",     fail_before},
	{"KubeVersion",          want_newer_kube},
	{"NoUpgradePath",        cut_edges},
	{"ResourceDropped",      drop_resource},
	{"ResourceConflict",     give_away_crd},
	{"NeededByOther",        require_by_other},
	{"RequirementUnmet",     check_unmet},
	{"ResourceMissing",      provide_nothing},
	{"DependencyUnresolved", require_nobody},
	{"CRDIncompatible",      refuse_by_gate},
};
/* clang-format on */

/* --- the cluster --- */

static const struct resolve_crd *find_crd(void *arg, const char *name)
{
	const struct world *w = arg;
	static const char *const v1[] = {"v1", NULL};
	static struct resolve_crd crd;
	if (strcmp(name, "etcds.etcd.coreos.com") != 0)
		return NULL;
	crd = (struct resolve_crd){
		.name = name, .foreign_owner = w->foreign_owner, .served = v1, .stored = v1};
	return &crd;
}

static void find_usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	(void)arg;
	(void)resource;
	*ret = (struct resolve_usage){.known = true,
				      .objects = 2,
				      .stored = true,
				      .writer = "kubectl",
				      .first_object = "default/a",
				      .next_version = "v1"};
}

static const char *find_unmet(void *arg, const struct obj *requirement, struct arena *a)
{
	(void)arg;
	return arena_fmt(a, "%s is not there", obj_str(requirement, "ref"));
}

static enum resolve_gate ask_gate(void *arg, const char *digest, const char **ret_message,
				  const char *const **ret_steps)
{
	const struct world *w = arg;
	(void)digest;
	(void)ret_steps;
	*ret_message = "FieldRemoved etcds.etcd.coreos.com/v1 spec.size";
	return w->refused_by_gate ? GATE_REFUSE : GATE_ALLOW;
}

static void add_version(struct world *w, const char *version, const char *descriptor)
{
	char digest[SHA256_HEX];
	char *chart =
		arena_fmt(w->a, "apiVersion: v2\nname: etcd-operator\nversion: %s\n", version);
	sha256_hex(str_of(arena_fmt(w->a, "%s%s", chart, descriptor)), digest);
	struct package_source s = {.chart_yaml = str_of(chart),
				   .descriptor = str_of(descriptor),
				   .digest = digest,
				   .locator = version};
	index_add(w->index, &s);
	assert_int_equal(w->index->n_rejected, 0);
	static const char *own[] = {"etcds.etcd.coreos.com/v1"};
	struct package_version *p = w->index->versions[w->index->n - 1];
	p->own_crds = own;
	p->n_own_crds = 1;
	if (w->failed) {
		const char **failed = ARENA_ARRAY(w->a, const char *, 2);
		failed[0] = arena_fmt(w->a, "%s@%.12s+v", version, digest);
		w->in.failed = failed;
	}
}

static struct world *world_new(void)
{
	static const char *const managed[] = {"etcds.etcd.coreos.com/v1", NULL};
	struct world *w = xcalloc(1, sizeof(*w));
	w->a = arena_new(8 << 20);
	w->version = "2.0.0";
	w->provides = "provides: [etcds.etcd.coreos.com/v1]\n";
	w->channels = w->edges = w->kube = w->needs = w->checks = w->catalog_yaml = "";
	w->in = (struct resolve_input){.app = "etcd",
				       .self_ref = "etcd.com.tectonic.storage",
				       .installed_version = "1.0.0",
				       .installed_managed = managed,
				       .values_digest = "v",
				       .kube_version = "v1.33.0+alm1",
				       .mode = "Automatic",
				       .crd = find_crd,
				       .usage = find_usage,
				       .gate = ask_gate,
				       .unmet = find_unmet};
	return w;
}

static void world_free(struct world *w)
{
	index_free(w->index);
	arena_free(w->a);
	xfree(w);
}

static const struct candidate *judge(struct world *w, struct resolution *r)
{
	struct error err;
	const char *rest = arena_fmt(w->a, "%s%s%s%s%s%s", w->provides, w->channels, w->edges,
				     w->kube, w->needs, w->checks);
	w->index = index_new("community", 0);
	add_version(w, w->version, arena_fmt(w->a, "appType: etcd.com.tectonic.storage\n%s", rest));
	if (w->twice)
		add_version(w, w->version,
			    arena_fmt(w->a,
				      "appType: etcd.com.tectonic.storage\n%s"
				      "images: [quay.io/x@sha256:0]\n",
				      rest));
	w->asked = w->asked ? w->asked : w->version;
	assert_ok(index_finish(w->index, str_of(w->catalog_yaml), &err), &err);
	w->indexes[0] = w->index;
	w->in.indexes = w->indexes;
	w->in.n_indexes = 1;
	w->in.arg = w;
	w->in.claims = resolve_claims_of(w->claims, w->n_claims, w->a);
	resolve_run(&w->in, w->a, r);
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->candidates[i].version, w->asked))
			return &r->candidates[i];
	fail_msg("no candidate");
	return NULL;
}

static void test_resolve_table__nothing_in_the_way(void **state)
{
	(void)state;
	struct resolution r;
	struct world *w = world_new();
	assert_true(judge(w, &r)->chosen);
	world_free(w);
}

static void test_resolve_table__of_two_the_earlier_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		for (size_t k = i; k < ARRAY_LEN(causes); k++) {
			struct resolution r;
			struct world *w = world_new();
			causes[i].make(w);
			if (k != i)
				causes[k].make(w);
			const struct candidate *c = judge(w, &r);
			if (!c->reason || strcmp(c->reason, causes[i].reason) != 0)
				fail_msg("%s and %s: %s", causes[i].reason, causes[k].reason,
					 c->reason ? c->reason : "installable");
			world_free(w);
		}
}

/* What people read: `alm why` and `alm why-not` of each cause. */
static void test_resolve_table__texts(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT((size_t)1 << 20);
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT((size_t)1 << 20);
	struct error err;
	for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
		struct resolution r;
		struct world *w = world_new();
		causes[i].make(w);
		judge(w, &r);
		struct obj *doc = obj_keep(w->a, resolve_doc(&w->in, &r, w->asked, w->a));
		strbuf_addf(&got, "== %s\n", causes[i].reason);
		resolve_print(doc, NULL, NULL, true, &got);
		resolve_print_refusal(doc, resolve_doc_candidate(doc, w->asked), false, &got);
		world_free(w);
	}
	if (getenv("UPDATE")) /* a person reads the difference */
		assert_ok(file_write_atomic(GOLDEN, strbuf_str(&got), 0644, &err), &err);
	assert_ok(file_read(GOLDEN, &want, &err), &err);
	if (strcmp(got.buf, want.buf) != 0) {
		fputs(got.buf, stderr);
		fail_msg("the texts differ from " GOLDEN);
	}
}

/* What a publisher wrote is copied to a shell with the command: it stays in its word. */
static void test_resolve_table__a_channel_ends_no_word(void **state)
{
	(void)state;
	struct resolution r;
	struct world *w = world_new();
	w->channels = "channels: ['x\"}}''; id #']\n";
	judge(w, &r);
	struct obj *doc = obj_keep(w->a, resolve_doc(&w->in, &r, w->asked, w->a));
	const struct obj *steps = obj_get(resolve_doc_candidate(doc, w->asked), "steps");
	assert_string_equal(obj_as_string(obj_at(steps, 0)),
			    "kubectl patch apptype etcd --type=merge -p "
			    "'{\"spec\":{\"channel\":\"x\\\"}}\\u0027; id \\u0023\"}}'");
	world_free(w);
}

/* What does it, and what does the same without alm, if anything does. alm approve takes no approval without a reason. */
static void test_resolve_table__commands(void **state)
{
	static const char to[] = "kubectl patch apptype etcd --type=merge -p '{\"spec\":"
				 "{\"upgrade\":{\"to\":\"2.0.0\"}}}'";
	static const struct {
		enum resolve_change_type type;
		const char *command, *kubectl;
	} rows[] = {
		{CHANGE_TO, "alm upgrade etcd --to 2.0.0", to},
		{CHANGE_UPGRADE, "alm upgrade etcd --to 2.0.0", to},
		{CHANGE_BACK, "alm rollback etcd --to 2.0.0 --reason TEXT", to},
		{CHANGE_RANGE,
		 "kubectl patch apptype etcd --type=merge -p '{\"spec\":{\"version\":\"2.0.0\"}}'",
		 NULL},
		{CHANGE_CHANNEL,
		 "kubectl patch apptype etcd --type=merge -p '{\"spec\":{\"channel\":\"2.0.0\"}}'",
		 NULL},
		{CHANGE_RETRY, "alm retry etcd 2.0.0",
		 "kubectl annotate apptype etcd app.coreos.com/retry=2.0.0 --overwrite"},
		{CHANGE_APPROVE, "alm approve etcd 2.0.0 --reason TEXT", NULL},
		{CHANGE_RESUME,
		 "kubectl patch apptype etcd --type=merge -p '{\"spec\":{\"paused\":false}}'",
		 NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const struct resolve_change *c =
			resolve_change_new(rows[i].type, "etcd", "2.0.0", a);
		assert_string_equal(c->command, rows[i].command);
		if (!cstr_eq(c->kubectl, rows[i].kubectl))
			fail_msg("row %zu: %s", i, c->kubectl ? c->kubectl : "(none)");
	}
}

/* Both ways to say which Kubernetes it wants: the descriptor's and the chart's; a vendor's suffix is no
 * pre-release. */
static void test_resolve_table__which_kubernetes_it_wants(void **state)
{
	static const struct {
		const char *kube, *min, *range;
		bool fits;
	} rows[] = {
		{"v1.33.0+alm1", NULL, ">=1.33.0", true}, {"v1.33.0-gke.1", NULL, ">=1.33.0", true},
		{"v1.33.0", NULL, ">=1.33.1", false},     {"v1.33.0", NULL, "<1.33.0", false},
		{"v1.33.0", NULL, "<1.33.1", true},       {"v1.33.0", "1.33.0", NULL, true},
		{"v1.33.0", "1.33.1", NULL, false},       {"v1.33.0", "1.20", "<1.33", false},
		{"v1.33.0", "1.34", ">=1.20", false},     {NULL, "1.34", "<1.0", true},
		{"strange", "1.34", "<1.0", true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct resolution r;
		struct world *w = world_new();
		judge(w, &r);
		struct package_version *p = w->index->versions[0];
		w->in.kube_version = rows[i].kube;
		p->min_kube_version = rows[i].min;
		p->kube_version = rows[i].range;
		resolve_run(&w->in, w->a, &r);
		const struct candidate *c = &r.candidates[0];
		if (c->installable != rows[i].fits)
			fail_msg("row %zu: %s", i, c->reason ? c->reason : "installable");
		if (!rows[i].fits) {
			const char *want = i == 6 || i == 8 ? rows[i].min : rows[i].range;
			assert_string_equal(c->reason, "KubeVersion");
			assert_string_equal(c->message,
					    arena_fmt(w->a, "needs Kubernetes %s, this is %s", want,
						      rows[i].kube));
		}
		world_free(w);
	}
}

/* --- when --- */

static int64_t at(const char *text)
{
	int64_t ns = 0;
	assert_true(clock_parse(str_of(text), &ns));
	return ns;
}

static int64_t seen_at(void *arg, const char *version)
{
	(void)arg;
	(void)version;
	return at("2026-11-20T12:00:00Z");
}

static void expect_gate(const char *now, const char *want)
{
	struct resolution r;
	struct world *w = world_new();
	static const char *const days[] = {"Fri", "saturday", NULL};
	struct resolve_window windows[1];
	assert_true(resolve_window_parse(days, "22:00", "04:00", &windows[0]));
	w->in.windows = windows;
	w->in.n_windows = 1;
	w->in.soak_ns = 6 * NS_PER_HOUR;
	w->in.first_seen = seen_at;
	w->in.now_ns = at(now);
	assert_true(judge(w, &r)->chosen);
	const char *got = resolve_gate_text(&r, w->in.now_ns, w->a);
	if (strcmp(got ? got : "now", want) != 0)
		fail_msg("%s: %s, want %s", now, got ? got : "now", want);
	world_free(w);
}

/* 2026-11-20 is a Friday. */
static void test_resolve_table__windows_and_soak(void **state)
{
	(void)state;
	struct resolve_window w;
	static const char *const bad[] = {"Frei", NULL};
	static const char *const none[] = {"Fru", "Fxi",    "Xri", "Fr", "Frid",
					   "",    "xxxday", "Sxt", NULL};
	static const char *const some[] = {"sun", "Mon", "tuesday", "Wednesday", "thu", NULL};
	for (size_t n = 0; none[n]; n++)
		assert_false(resolve_window_parse((const char *[]){none[n], NULL}, "22:00", "04:00",
						  &w));
	for (size_t n = 0; some[n]; n++)
		assert_true(resolve_window_parse((const char *[]){some[n], NULL}, "22:00", "04:00",
						 &w));
	expect_gate("2026-11-20T13:00:00Z", "Soaking until Fri 18:00Z");
	expect_gate("2026-11-20T18:00:00Z", "OutsideWindow until Fri 22:00Z");
	expect_gate("2026-11-20T21:59:59Z", "OutsideWindow until Fri 22:00Z");
	expect_gate("2026-11-20T22:00:00Z", "now");
	expect_gate("2026-11-21T03:59:59Z", "now");
	expect_gate("2026-11-21T04:00:00Z", "OutsideWindow until Sat 22:00Z");
	expect_gate("2026-11-22T03:59:59Z", "now"); /* Saturday's, over midnight */
	expect_gate("2026-11-22T04:00:00Z", "OutsideWindow until Fri 22:00Z");
	/* what cannot be read closes, and says why */
	struct world *x = world_new();
	struct resolution r;
	x->in.unreadable = "spec.upgrade.soak: \"two days\" is no duration";
	assert_true(judge(x, &r)->chosen);
	assert_string_equal(r.gate, "Unreadable");
	assert_string_equal(resolve_gate_text(&r, x->in.now_ns, x->a),
			    "Unreadable: spec.upgrade.soak: \"two days\" is no duration");
	world_free(x);
	assert_false(resolve_window_parse(bad, "22:00", "04:00", &w));
	assert_false(resolve_window_parse(NULL, "25:00", "04:00", &w));
	assert_false(resolve_window_parse(NULL, "22", "04:00", &w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_table__nothing_in_the_way),
		cmocka_unit_test(test_resolve_table__of_two_the_earlier_is_told),
		cmocka_unit_test(test_resolve_table__texts),
		cmocka_unit_test(test_resolve_table__a_channel_ends_no_word),
		cmocka_unit_test(test_resolve_table__commands),
		cmocka_unit_test(test_resolve_table__windows_and_soak),
		cmocka_unit_test(test_resolve_table__which_kubernetes_it_wants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
