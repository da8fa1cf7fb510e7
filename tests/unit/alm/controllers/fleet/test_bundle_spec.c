/* What a Bundle may say, and where its objects may be. */
#include "tests/lib/test.h"

#include <limits.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/obj/yaml.h"

#define UNBUILT                                                                               \
	"this is not built yet: nothing is applied while it is there; remove it, and do not " \
	"count on it"

#define SWEEP(rest) "{source: {git: {url: 'file:///srv/x'}}, prune: {mode: Namespace, " rest "}}"
#define WHOLE       "want the whole name, as git rev-parse HEAD prints it"

#define OID        "0123456789abcdef0123456789abcdef01234567"
#define PINS(list) "{source: {git: {url: 'file:///srv/x'}}, pins: [" list "]}"
#define PIN                                                                           \
	"{cluster or group, commit} is wanted, the commit by its whole name, as git " \
	"rev-parse HEAD prints it"

static const struct {
	const char *spec, *want; /* NULL: it is taken */
} rows[] = {
	{"source: {git: {url: 'https://git.example.com/ssot.git'}}", NULL},
	{"source: {git: {url: 'file:///srv/ssot.git', path: apps/web/}}", NULL},
	{"source: {git: {}}", "spec.source.git.url: it is missing"},
	{"source: {git: {url: 'https://user:pw@git.example.com/x'}}",
	 "spec.source.git.url: it has a user or a password; put them into a Secret and name that "
	 "in "
	 "spec.source.git.secretRef"},
	{"source: {git: {url: 'https://git.example.com'}}",
	 "spec.source.git.url: https://HOST/PATH is wanted"},
	{"source: {git: {url: 'http://git.example.com/x'}}",
	 "spec.source.git.url: https://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH is "
	 "wanted, or file:///PATH below a --catalog-root; http:// would show the password to "
	 "anybody"},
	{"source: {git: {url: 'ssh://git@example.com/x', secretRef: {name: s}}}", NULL},
	{"source: {git: {url: 'git@example.com:x', secretRef: {name: s}}}", NULL},
	{"source: {git: {url: 'git@example.com:x'}}",
	 "spec.source.git.secretRef: ssh takes a Secret with a private key and known_hosts"},
	{"source: {git: {url: 'ssh://example.com/x', secretRef: {name: s}}}",
	 "spec.source.git.url: it names no user, as git@ in git@HOST:PATH"},
	{"source: {git: {url: 'git@example.com:x', secretRef: {name: s}, branch: '-x'}}",
	 "spec.source.git.branch: this is no name of a branch"},
	{"source: {git: {url: 'ext::sh -c id'}}",
	 "spec.source.git.url: it is too long, or has blanks"},
	{"source: {git: {url: 'file:///srv/../etc'}}",
	 "spec.source.git.url: \"..\" is not followed"},
	{"source: {git: {url: 'file:///srv/x', branch: '--upload-pack=id'}}",
	 "spec.source.git.branch: this is no name of a branch"},
	{"source: {git: {url: 'file:///srv/x', branch: 'a:refs/heads/b'}}",
	 "spec.source.git.branch: this is no name of a branch"},
	{"source: {git: {url: 'file:///srv/x', path: ../x}}",
	 "spec.source.git.path: a folder in the repository is wanted, as apps/web"},
	{"{source: {git: {url: 'file:///srv/x'}}, trigger: {interval: 1ms}}",
	 "spec.trigger.interval: at least 1s"},
	{"{source: {git: {url: 'file:///srv/x'}}, serviceAccountName: admin}",
	 "spec.serviceAccountName: NAMESPACE/NAME is wanted"},
	{"{source: {git: {url: 'file:///srv/x'}}, serviceAccountName: 'a//b'}",
	 "spec.serviceAccountName: NAMESPACE/NAME is wanted"},
	{"{source: {git: {url: 'file:///srv/x'}}, serviceAccountName: 'a/b/'}",
	 "spec.serviceAccountName: NAMESPACE/NAME is wanted"},
	{"{source: {git: {url: 'file:///srv/x'}}, serviceAccountName: '/b'}",
	 "spec.serviceAccountName: NAMESPACE/NAME is wanted"},
	{"{source: {git: {url: 'file:///srv/x'}}, serviceAccountName: 'a/'}",
	 "spec.serviceAccountName: NAMESPACE/NAME is wanted"},
	{"{source: {git: {url: 'file:///srv/x'}}, serviceAccountName: ':/b'}",
	 "spec.serviceAccountName: NAMESPACE/NAME is wanted"},
	{"{source: {git: {url: 'file:///srv/x'}}, serviceAccountName: 'a/b:c'}",
	 "spec.serviceAccountName: NAMESPACE/NAME is wanted"},
	/* who asks for signatures and names no keys would get none */
	{"{source: {git: {url: 'file:///srv/x', verify: {}}}}",
	 "spec.source.git.verify.keysRef.name: want a ConfigMap"},
	{"{source: {git: {url: 'file:///srv/x', verify: {keysRef: {name: ''}}}}}",
	 "spec.source.git.verify.keysRef.name: want a ConfigMap"},
	{"{source: {git: {url: 'file:///srv/x', commit: "
	 "0123456789abcdef0123456789abcdef01234567}}}",
	 NULL},
	{"{source: {git: {url: 'file:///srv/x', commit: ''}}}", "spec.source.git.commit: " WHOLE},
	{"{source: {git: {url: 'file:///srv/x', commit: 1234}}}", "spec.source.git.commit: " WHOLE},
	{"{source: {git: {url: 'file:///srv/x', commit: '0123456'}}}",
	 "spec.source.git.commit: " WHOLE},
	{"{source: {git: {url: 'file:///srv/x', commit: '"
	 "--upload-pack=id-----------------------'}}}",
	 "spec.source.git.commit: " WHOLE},
	{PINS("{cluster: default, commit: " OID "}, {group: default, commit: " OID "}"), NULL},
	{PINS("{cluster: default, commit: 1234567}"), "spec.pins[0]: " PIN},
	{PINS("{commit: " OID "}"), "spec.pins[0]: " PIN},
	{PINS("{cluster: default, group: default, commit: " OID "}"), "spec.pins[0]: " PIN},
	{PINS("{cluster: default, commit: " OID "}, {cluster: default, commit: " OID "}"),
	 "spec.pins[1]: it is pinned twice"},
	{PINS("{group: prod, commit: " OID "}"),
	 "spec.pins[0].group: \"prod\": there is no cluster but this one, which is \"default\" in "
	 "a group of that name; others are not built yet"},
	{"{source: {git: {url: 'file:///srv/x'}}, pins: {}}",
	 "spec.pins: a list of {cluster or group, commit} is wanted"},
	{"{source: {git: {url: 'file:///srv/x'}}, rolloutRef: {name: careful}}", NULL},
	{"{source: {git: {url: 'file:///srv/x'}}, rolloutRef: {}}",
	 "spec.rolloutRef.name: want a Rollout"},
	{"{source: {git: {url: 'file:///srv/x'}}, ignore: [{kind: A, paths: [spec.a]}]}", NULL},
	{"{source: {git: {url: 'file:///srv/x'}}, ignore: [{kind: A, paths: [spec.a]}, {}]}",
	 "spec.ignore[1].kind: it is missing"},
	/* what would be believed in if it were dropped in silence */
	{"{source: {git: {url: 'file:///srv/x'}}, stages: []}", "spec.stages: " UNBUILT},
	/* what deletes what somebody else made says where, and where not */
	{SWEEP("namespaces: [team]"), NULL},
	{SWEEP("namespaces: [team], grace: 0s"), NULL},
	{SWEEP("grace: 1h"),
	 "spec.prune.namespaces: mode Namespace deletes what is in them and not declared: name at "
	 "least one, or set spec.prune.mode: Owned"},
	{SWEEP("namespaces: []"),
	 "spec.prune.namespaces: mode Namespace deletes what is in them and not declared: name at "
	 "least one, or set spec.prune.mode: Owned"},
	{SWEEP("namespaces: [team, kube-system]"),
	 "spec.prune.namespaces: mode Namespace deletes what is not declared, and kube-system is "
	 "of "
	 "the cluster or of ALM itself; remove it, or set spec.prune.mode: Owned"},
	{SWEEP("namespaces: ['']"),
	 "spec.prune.namespaces: mode Namespace deletes what is not declared, and \"\" is of the "
	 "cluster or of ALM itself; remove it, or set spec.prune.mode: Owned"},
	{SWEEP("namespaces: [team], grace: soon"),
	 "spec.prune.grace: \"soon\" is no duration, want one like 30s, 5m or 1h30m"},
	{SWEEP("namespaces: [team], grace: 60"), "spec.prune.grace: a duration is wanted, as 60s"},
	{SWEEP("namespaces: [team], grace: -1s"), "spec.prune.grace: 0s to 720h"},
	{SWEEP("namespaces: [team], grace: 721h"), "spec.prune.grace: 0s to 720h"},
	{"{source: {git: {url: 'file:///srv/x'}}, prune: {grace: 0s}}",
	 "spec.prune.grace: only mode Namespace waits before it deletes; remove it, or set "
	 "spec.prune.mode: Namespace"},
	{"{source: {git: {url: 'file:///srv/x'}}, prune: {namespaces: [kube-system]}}", NULL},
};

static struct obj *bundle(struct arena *a, const char *spec)
{
	struct error err = ERROR_INIT;
	struct obj *o = obj_map(), *s;
	assert_ok(yaml_parse_one(str_of(spec), &s, &err), &err);
	obj_set_path(o, "metadata.name", obj_string("web"));
	obj_set(o, "spec", s);
	return obj_keep(a, o);
}

static void test_bundle_spec__what_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct bundle_spec b;
		int r = bundle_spec_read(bundle(a, rows[i].spec), a, &b, &err);
		assert_string_equal(r < 0 ? err.msg : "", rows[i].want ? rows[i].want : "");
	}
}

/* That of the cluster, wherever it stands, then that of its group, then that of the source. */
static void test_bundle_spec__which_pin_counts(void **state)
{
	(void)state;
	static const char other[] = "ffffffffffffffffffffffffffffffffffffffff";
	static const struct {
		const char *list, *commit, *held_by;
	} cases[] = {
		{"[]", OID, "spec.source.git.commit"},
		{"[{group: default, commit: ffffffffffffffffffffffffffffffffffffffff}]", other,
		 "spec.pins[0].commit"},
		{"[{cluster: default, commit: ffffffffffffffffffffffffffffffffffffffff}, {group: "
		 "default, commit: " OID "}]",
		 other, "spec.pins[0].commit"},
		{"[{group: default, commit: " OID "}, {cluster: default, commit: "
		 "ffffffffffffffffffffffffffffffffffffffff}]",
		 other, "spec.pins[1].commit"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct bundle_spec b;
		struct obj *o =
			bundle(a, arena_fmt(a,
					    "{source: {git: {url: 'file:///srv/x', commit: " OID
					    "}}, pins: %s}",
					    cases[i].list));
		assert_ok(bundle_spec_read(o, a, &b, &err), &err);
		assert_string_equal(b.commit, cases[i].commit);
		assert_string_equal(b.held_by, cases[i].held_by);
	}
}

/* What it made goes with the rights that it was made with. */
static void test_bundle_spec__the_account_is_read_whatever_else_is_wrong(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct bundle_spec b;
	struct obj *o = bundle(a, "{source: {git: {}}, serviceAccountName: apps/deployer}");
	assert_int_equal(bundle_spec_read(o, a, &b, &err), -E_INVALID);
	assert_string_equal(b.account, "system:serviceaccount:apps:deployer");
}

static void test_bundle_spec__a_long_name_is_no_label(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct bundle_spec b;
	struct obj *o = bundle(a, rows[0].spec);
	obj_set_path(o, "metadata.name", obj_string("a.b"));
	assert_int_equal(bundle_spec_read(o, a, &b, &err), -E_INVALID);
}

/* Namespaced, cluster-scoped, and one that nobody knows. */
static int scope(void *arg, const struct obj *o)
{
	(void)arg;
	const char *kind = obj_str(o, "kind");
	if (cstr_eq(kind, "Thing"))
		return -1;
	return cstr_eq(kind, "ConfigMap");
}

static const struct bundle_scopes scopes = {.fn = scope};

static const struct {
	const char *object, *want;
} objects[] = {
	{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: apps}}", ""},
	{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: kube-system}}",
	 "NamespaceNotAllowed: x.yaml: ConfigMap a is outside of spec.prune; what it has no entry "
	 "for: "
	 "namespaces [kube-system]"},
	{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
	 "NamespaceNotAllowed: x.yaml: ConfigMap a is outside of spec.prune; what it has no entry "
	 "for: "
	 "namespaces [default]"},
	{"{apiVersion: v1, kind: Namespace, metadata: {name: apps}}", ""},
	{"{apiVersion: v1, kind: Namespace, metadata: {name: other}}",
	 "NamespaceNotAllowed: x.yaml: Namespace other is outside of spec.prune; what it has no "
	 "entry for: "
	 "namespaces [other]"},
	{"{apiVersion: v1, kind: ClusterRole, metadata: {name: a}}",
	 "NamespaceNotAllowed: x.yaml: ClusterRole a is outside of spec.prune; what it has no "
	 "entry for: "
	 "clusterKinds [ClusterRole]"},
	{"{apiVersion: v1, kind: PriorityClass, metadata: {name: a}}", ""},
	{"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: apps}}", ""},
	{"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: other}}",
	 "NamespaceNotAllowed: x.yaml: Thing a is outside of spec.prune; what it has no entry for: "
	 "namespaces [other]"},
	{"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}",
	 "NamespaceNotAllowed: x.yaml: Thing a is outside of spec.prune; what it has no entry for: "
	 "clusterKinds [Thing]"},
};

static void test_bundle_spec__objects_elsewhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct bundle_spec b;
		struct flat f;
		struct obj *o;
		const struct flat_place p = {.name = "x.yaml", .file = "x.yaml", .alone = true};
		flat_init(&f, a);
		assert_ok(yaml_parse_one(str_of(objects[i].object), &o, &err), &err);
		assert_ok(flat_add(&f, &p, o, &err), &err);
		assert_ok(bundle_spec_read(
				  bundle(a, "{source: {git: {url: 'file:///srv/x'}}, prune: "
					    "{namespaces: [apps], clusterKinds: [PriorityClass]}}"),
				  a, &b, &err),
			  &err);
		(void)bundle_check_namespaces(&b, &f, &scopes, &err);
		assert_string_equal(err.code ? err.msg : "", objects[i].want);
	}
}

/* A kind that only a cluster knows, of an object without a namespace: {spec.prune, what is unsure,
 * what is refused}. */
static void test_bundle_spec__what_only_a_cluster_knows_is_told_as_such(void **state)
{
	static const struct {
		const char *prune, *unsure, *says;
	} cases[] = {
		{"{namespaces: [default]}",
		 "x.yaml: Thing a names no namespace, and only a cluster knows whether Thing has "
		 "one: it is taken if the kind is namespaced, and refused otherwise unless "
		 "spec.prune.clusterKinds has Thing",
		 ""},
		{"{namespaces: [apps], clusterKinds: [Thing]}",
		 "x.yaml: Thing a names no namespace, and only a cluster knows whether Thing has "
		 "one: it is taken if the kind is cluster-scoped, and refused otherwise unless "
		 "spec.prune.namespaces has default",
		 ""},
		{"{namespaces: [default], clusterKinds: [Thing]}", "", ""},
		{"{namespaces: [apps]}", "",
		 "NamespaceNotAllowed: x.yaml: Thing a is outside of spec.prune; what it has no "
		 "entry for: clusterKinds [Thing]"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct bundle_spec b;
		struct flat f;
		struct obj *o;
		struct flaws unsure = {.a = a};
		const struct bundle_scopes asks = {.fn = scope, .unsure = &unsure};
		const struct flat_place p = {.name = "x.yaml", .file = "x.yaml", .alone = true};
		flat_init(&f, a);
		assert_ok(yaml_parse_one(
				  STR("{apiVersion: x.y/v1, kind: Thing, metadata: {name: a}}"), &o,
				  &err),
			  &err);
		assert_ok(flat_add(&f, &p, o, &err), &err);
		assert_ok(bundle_spec_read(bundle(a, arena_fmt(a,
							       "{source: {git: {url: "
							       "'file:///srv/x'}}, prune: %s}",
							       cases[i].prune)),
					   a, &b, &err),
			  &err);
		(void)bundle_check_namespaces(&b, &f, &asks, &err);
		assert_string_equal(err.code ? err.msg : "", cases[i].says);
		assert_string_equal(unsure.n ? unsure.texts[0] : "", cases[i].unsure);
	}
}

static void test_bundle_spec__all_that_prune_lacks_is_named_once(void **state)
{
	(void)state;
	static const char *const docs[] = {
		"{kind: ConfigMap, apiVersion: v1, metadata: {name: a, namespace: site}}",
		"{kind: ConfigMap, apiVersion: v1, metadata: {name: b, namespace: site}}",
		"{kind: ConfigMap, apiVersion: v1, metadata: {name: b, namespace: apps}}",
		"{kind: Namespace, apiVersion: v1, metadata: {name: site}}",
		"{kind: ClusterRole, apiVersion: v1, metadata: {name: r}}",
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct bundle_spec b;
	struct flat f;
	flat_init(&f, a);
	for (size_t i = 0; i < ARRAY_LEN(docs); i++) {
		struct obj *o;
		const char *file = arena_fmt(a, "%zu.yaml", i);
		const struct flat_place p = {.name = file, .file = file, .alone = true};
		assert_ok(yaml_parse_one(str_of(docs[i]), &o, &err), &err);
		assert_ok(flat_add(&f, &p, o, &err), &err);
	}
	assert_ok(bundle_spec_read(bundle(a, "{source: {git: {url: 'file:///srv/x'}}, prune: "
					     "{namespaces: [apps]}}"),
				   a, &b, &err),
		  &err);
	assert_int_equal(bundle_check_namespaces(&b, &f, &scopes, &err), -E_INVALID);
	assert_string_equal(
		err.msg, "NamespaceNotAllowed: 0.yaml: ConfigMap a is outside of spec.prune, and "
			 "so are 3 more; what it has no entry for: namespaces [site] and "
			 "clusterKinds [ClusterRole]");
}

static void test_bundle_spec__rejected_credentials_are_shown_more_seldom(void **state)
{
	(void)state;
	static const int want_s[] = {30, 60, 120, 240, 480, 600, 600};
	for (unsigned i = 0; i < ARRAY_LEN(want_s); i++)
		assert_int_equal(bundle_rejected_pause(i + 1), want_s[i] * NS_PER_S);
	assert_int_equal(bundle_rejected_pause(UINT_MAX), 600 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_spec__what_is_refused),
		cmocka_unit_test(test_bundle_spec__which_pin_counts),
		cmocka_unit_test(test_bundle_spec__the_account_is_read_whatever_else_is_wrong),
		cmocka_unit_test(test_bundle_spec__a_long_name_is_no_label),
		cmocka_unit_test(test_bundle_spec__objects_elsewhere),
		cmocka_unit_test(test_bundle_spec__what_only_a_cluster_knows_is_told_as_such),
		cmocka_unit_test(test_bundle_spec__all_that_prune_lacks_is_named_once),
		cmocka_unit_test(test_bundle_spec__rejected_credentials_are_shown_more_seldom),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
