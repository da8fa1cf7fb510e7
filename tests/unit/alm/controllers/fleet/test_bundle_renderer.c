/* What spec.renderer and spec.config may say, and what a rollout that a tree brings may. */
#include "tests/lib/test.h"

#include "alm/controllers/fleet/bundle_make.h"
#include "alm/controllers/fleet/bundle_render.h"
#include "alm/controllers/fleet/bundle_source.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

#define JSONNET(rest) "{renderer: {type: jsonnet" rest "}}"
#define PLACE         ": a path from spec.source.git.path on is wanted, as lib/web"
#define LEFT_OUT \
	": \"..\" is not followed, and names that begin with a dot are left out of the tree"
#define UNBUILT                                                                                 \
	": this is not built yet: nothing is applied while it is there; remove it, and do not " \
	"count on it"

static const struct {
	const char *spec, *want; /* "": it is taken */
} rows[] = {
	{"{}", ""},
	{"{renderer: {}}", ""},
	{"{renderer: {type: file}}", ""},
	{"{renderer: {type: helm}}", "spec.renderer.type: want file or jsonnet; programs "
				     "renderer-NAME are run by alm run alone"},
	{"{renderer: {type: 1}}", "spec.renderer.type: want file or jsonnet; programs "
				  "renderer-NAME are run by alm run alone"},
	{"{renderer: {decrypt: sops}}", "spec.renderer.decrypt" UNBUILT},
	{"{renderer: {type: file, jpath: [a]}}", "spec.renderer.jpath: manifests take none; remove "
						 "it, or set spec.renderer.type: jsonnet"},
	{"{config: {values: {a: 1}}}", "spec.config: manifests take none; remove it, or set "
				       "spec.renderer.type: jsonnet"},
	{JSONNET(""), "spec.renderer.entrypoint: it is missing: the file to evaluate"},
	{JSONNET(", entrypoint: a.jsonnet"), ""},
	{JSONNET(", entrypoint: web/./a.jsonnet, jpath: [lib, .], extStr: {a: ''}"), ""},
	{JSONNET(", entrypoint: 7"), "spec.renderer.entrypoint" PLACE},
	{JSONNET(", entrypoint: /etc/passwd"), "spec.renderer.entrypoint" PLACE},
	{JSONNET(", entrypoint: web/../../a"), "spec.renderer.entrypoint: web/../../a" LEFT_OUT},
	{JSONNET(", entrypoint: .git/config"), "spec.renderer.entrypoint: .git/config" LEFT_OUT},
	{JSONNET(", entrypoint: a, jpath: lib"),
	 "spec.renderer.jpath: a list of at most 32 folders is wanted"},
	{JSONNET(", entrypoint: a, jpath: [lib, ..]"), "spec.renderer.jpath[1]: .." LEFT_OUT},
	{JSONNET(", entrypoint: a, jpath: ['']"), "spec.renderer.jpath[0]" PLACE},
	{JSONNET(", entrypoint: a, extStr: [a]"), "spec.renderer.extStr: {NAME: TEXT} is wanted"},
	{JSONNET(", entrypoint: a, extStr: {x: 1}"), "spec.renderer.extStr.x: a text is wanted"},
	{"{renderer: {type: jsonnet, entrypoint: a}, config: {values: [a]}}",
	 "spec.config.values: a map is wanted"},
	{"{renderer: {type: jsonnet, entrypoint: a}, config: {from: [{secret: {name: s}}]}}", ""},
	{"{renderer: {type: jsonnet, entrypoint: a}, config: {from: []}}",
	 "spec.config.from: is missing: a list of sources"},
	{"{renderer: {type: jsonnet, entrypoint: a}, config: {from: [{secret: {}}]}}",
	 "spec.config.from[0].secret.name: is missing"},
	/* of the machine that the controller is on */
	{"{renderer: {type: jsonnet, entrypoint: a}, config: {from: [{configMap: {name: c}}, "
	 "{file: {path: /etc/shadow}}]}}",
	 "spec.config.from[1]: want configMap, secret or resource; a file is imported out of the "
	 "tree, and databases are read by alm run alone"},
	{"{renderer: {type: jsonnet, entrypoint: a}, config: {from: [{sql: {path: a.db, query: "
	 "x}}]}}",
	 "spec.config.from[0]: want configMap, secret or resource; a file is imported out of the "
	 "tree, and databases are read by alm run alone"},
	{"{renderer: {type: jsonnet, entrypoint: a}, instances: [{name: a, package: 'file://a'}]}",
	 "spec.instances: they are folders of manifests, and renderer jsonnet reads none; remove "
	 "them, or make one Bundle of each"},
};

static struct obj *bundle(struct arena *a, const char *spec)
{
	struct error err = ERROR_INIT;
	struct obj *o = obj_keep(a, obj_map()), *s;
	assert_ok(yaml_parse_one(str_of(spec), &s, &err), &err);
	obj_set(o, "spec", s);
	return o;
}

static void test_bundle_renderer__what_may_be_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct bundle_renderer r;
		int rc = bundle_renderer_read(bundle(a, rows[i].spec), a, &r, &err);
		assert_string_equal(rc < 0 ? err.msg : "", rows[i].want);
	}
}

static void test_bundle_renderer__paths_are_normal(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct bundle_renderer r;
	assert_ok(bundle_renderer_read(
			  bundle(a, JSONNET(", entrypoint: ./web//a.jsonnet, jpath: [lib/, .]")), a,
			  &r, &err),
		  &err);
	assert_string_equal(r.entrypoint, "web/a.jsonnet");
	assert_string_equal(r.jpath[0], "lib");
	assert_string_equal(r.jpath[1],
			    "."); /* and not "": that would be the root of the machine */
}

/* --- a rollout of the tree --- */

#define PROMETHEUS(address) \
	"success: [{prometheus: {query: up, successCondition: 'result > 0', " address "}}]"

static const struct {
	const char *ref, *check, *want;
} rollouts[] = {
	{NULL, PROMETHEUS("address: 'service://m/p:9090'"), ""},
	{"careful", "timeout: 1m",
	 "spec.rolloutRef: main.jsonnet gives a rollout, too; remove one"},
	{NULL, PROMETHEUS("address: 'https://m.example.com'"),
	 "the rollout of main.jsonnet: spec.groups[0].steps[0].success[0].prometheus.address: a "
	 "rollout in the tree asks service://NAMESPACE/NAME:PORT alone"},
	{NULL, "action: Foo", "the rollout of main.jsonnet: spec.groups[0].steps[0].action: "},
	{"manifests", "timeout: 1m", "manifests gave a rollout"},
};

static int scope(void *arg, const struct obj *o)
{
	(void)arg;
	(void)o;
	return 1;
}

static void digest(void *arg, const struct obj *o, char out[SHA256_HEX])
{
	(void)arg;
	json_digest(o, out);
}

static struct obj *rendered(struct arena *a, const char *check)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	const char *action = cstr_has_prefix(check, "action") ? "" : "action: CreateOrUpdate, ";
	const char *text = arena_fmt(
		a,
		"{objects: [{key: web, file: main.jsonnet, doc: 0, line: 0, object: {apiVersion: "
		"v1, kind: "
		"ConfigMap, metadata: {name: web}}}], rollout: {apiVersion: "
		"app.coreos.com/v1alpha1, kind: Rollout, metadata: {name: r}, spec: {groups: "
		"[{name: g, steps: [{object: web, %s%s}]}]}}}",
		action, check);
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_bundle_renderer__a_rollout_of_the_tree(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rollouts); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		bool manifests = cstr_eq(rollouts[i].ref, "manifests"); /* files have none */
		const struct bundle_spec spec = {
			.ns = "default",
			.rollout = manifests ? NULL : rollouts[i].ref,
			.renderer = {.entrypoint = manifests ? NULL : "main.jsonnet"}};
		const struct bundle_scopes scopes = {.fn = scope};
		const struct unit_options o = {
			.hub = "h", .bundle = "b", .instance = "files", .digest = {digest, NULL}};
		struct bundle_made made;
		int rc = bundle_make(&spec, rendered(a, rollouts[i].check), &scopes, &o, a, NULL,
				     &made, &err);
		if (!*rollouts[i].want) {
			assert_ok(rc, &err);
			assert_int_equal(made.unit->parts[UNIT_ROLLOUT].n, 1);
		} else if (rc >= 0 || !cstr_has_prefix(err.msg, rollouts[i].want)) {
			fail_msg("%s: got %s", rollouts[i].check, err.msg);
		}
	}
}

/* Whoever may push writes where the Bundle says, and nowhere else: that no unit comes of it is no matter of its flaws. */
static void test_bundle_renderer__what_is_made_lies_where_it_may(void **state)
{
	(void)state;
	for (int lies = 0; lies < 2; lies++)
		for (int listed = 0; listed < 2; listed++) {
			CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
			struct error err = ERROR_INIT;
			struct obj *list = obj_keep(a, obj_list());
			obj_append(list, obj_string(lies ? "default" : "other"));
			const struct bundle_spec spec = {
				.ns = "default",
				.namespaces = list,
				.renderer = {.entrypoint = "main.jsonnet"}};
			const struct bundle_scopes scopes = {.fn = scope};
			const struct unit_options o = {.hub = "h",
						       .bundle = "b",
						       .instance = "files",
						       .digest = {digest, NULL}};
			struct bundle_made made;
			struct flaws flaws = {.a = a};
			int rc = bundle_make(&spec, rendered(a, "timeout: 1m"), &scopes, &o, a,
					     listed ? &flaws : NULL, &made, &err);
			assert_int_equal(flaws.n, !lies && listed);
			if (lies || listed) {
				assert_ok(rc, &err);
				assert_non_null(made.unit);
			} else {
				assert_int_equal(rc, -E_INVALID);
				assert_int_equal(err.reason, REASON_NAMESPACE_NOT_ALLOWED);
				assert_null(made.unit);
			}
		}
}

/* One line of a condition, and its word. */
static void test_bundle_renderer__what_failed_is_told_in_a_line(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct obj *o = obj_keep(a, obj_map());
	const struct bundle_spec spec = {.ns = "default",
					 .renderer = {.entrypoint = "main.jsonnet"}};
	const struct bundle_scopes scopes = {.fn = scope};
	const struct unit_options options = {.hub = "h", .digest = {digest, NULL}};
	struct bundle_made made;
	obj_set_str(o, "error",
		    "RUNTIME ERROR: boom\n\tmain.jsonnet:1:1-5\t\n\tlib.jsonnet:2:3-4\tx");
	assert_int_equal(bundle_make(&spec, o, &scopes, &options, a, NULL, &made, &err),
			 -E_INVALID);
	assert_string_equal(err.msg, "RenderFailed: RUNTIME ERROR: boom; main.jsonnet:1:1-5; "
				     "lib.jsonnet:2:3-4 x");
	assert_int_equal(err.reason, REASON_RENDER_FAILED);
	error_set(&err, E_LIMIT, "used more than 5 s of processor time");
	bundle_render_blame(&spec, &err);
	assert_string_equal(err.msg,
			    "RenderLimit: main.jsonnet: used more than 5 s of processor time");
	error_set(&err, E_INTERNAL, "it crashed"); /* it is not run again at once */
	bundle_render_blame(&spec, &err);
	assert_string_equal(err.msg, "RenderLimit: main.jsonnet: it crashed");
	assert_int_equal(err.code, E_LIMIT);
	error_set(&err, E_IO, "sandbox pipe"); /* that may pass */
	bundle_render_blame(&spec, &err);
	assert_string_equal(err.msg, "sandbox pipe");
}

/* Manifests may be too much for the sandbox, too: that is no matter of the repository's server. */
static void test_bundle_renderer__manifests_meet_limits(void **state)
{
	(void)state;
	static const struct bundle_spec spec = {.ns = "default"};
	static const struct {
		int code;
		const char *msg, *want;
		enum bundle_source source;
		const char *word;
	} cases[] = {
		{E_LIMIT, "used more than 5 s of processor time",
		 "RenderLimit: the manifests: used more than 5 s of processor time", SOURCE_INVALID,
		 "RenderLimit"},
		{E_TIMEOUT, "took longer than 30 s",
		 "RenderLimit: the manifests: took longer than 30 s", SOURCE_INVALID,
		 "RenderLimit"},
		{E_INTERNAL, "was killed", "RenderLimit: the manifests: was killed", SOURCE_INVALID,
		 "RenderLimit"},
		{E_INVALID, "a.yaml: line 1", "a.yaml: line 1", SOURCE_INVALID, "ParseError"},
		{E_IO, "sandbox pipe", "sandbox pipe", SOURCE_FAILED, "SourceUnreachable"},
	};
	CLEANUP(obj_unrefp) struct obj *read = obj_map();
	const struct bundle_now now = {.read = read};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		error_set(&err, cases[i].code, "%s", cases[i].msg);
		bundle_render_blame(&spec, &err);
		assert_string_equal(err.msg, cases[i].want);
		const struct outcome r = {
			.code = err.code, .reason = err.reason, .failures = BUNDLE_POLLS_MAX};
		enum bundle_source source = bundle_source_of(&now, &r, false, false);
		assert_int_equal(source, cases[i].source);
		assert_string_equal(bundle_source_reason(&r, source), cases[i].word);
	}
}

/* --- what a program is given --- */

static struct bundle_input input_of(struct arena *a, const char *spec, const char *layer)
{
	struct error err = ERROR_INIT;
	struct bundle_spec b = {.ns = "default"};
	struct bundle_input in;
	struct obj *o = NULL;
	assert_ok(bundle_renderer_read(bundle(a, spec), a, &b.renderer, &err), &err);
	assert_ok(yaml_parse_one(str_of(layer), &o, &err), &err);
	const struct config_layer l = {"Secret default/s", obj_keep(a, o)};
	assert_ok(bundle_input_make(&b, &l, 1, a, &in, &err), &err);
	return in;
}

#define FROM(source)                                                                            \
	"{renderer: {type: jsonnet, entrypoint: a}, config: {values: {a: 1, m: {x: 1}}, from: " \
	"[" source "]}}"

static void test_bundle_renderer__later_layers_win(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const struct bundle_input in =
		input_of(a, FROM("{configMap: {name: c}}"), "{m: {z: 2}, a: null}");
	const struct bundle_input other =
		input_of(a, FROM("{configMap: {name: c}}"), "{m: {z: 3}, a: null}");
	CLEANUP(xfreep) char *text = json_text(in.config);
	assert_string_equal(text, "{\"m\":{\"x\":1,\"z\":2}}");
	assert_string_not_equal(in.digest, other.digest);
	assert_false(in.is_secret);
	struct bundle_spec b = {.ns = "default"};
	struct bundle_input bad;
	struct error err = ERROR_INIT;
	const struct config_layer list = {"ConfigMap x/y", obj_keep(a, obj_list())};
	assert_int_equal(bundle_input_make(&b, &list, 1, a, &bad, &err), -E_INVALID);
	assert_string_equal(err.msg, "ValueMissing: ConfigMap x/y: a configuration is an object, "
				     "not array");
}

/* What Jsonnet says of an error is what the program made of its values. */
static void test_bundle_renderer__no_value_of_a_secret_is_told(void **state)
{
	(void)state;
	static const char failed[] =
		"RUNTIME ERROR: no hunter2\n\tx hunter2:1\n\thunter2:1\n\ta/b.jsonnet:1:1-5\t"
		"\n\tb:1hunter2\n\tb:(1:2)-(3:4)\tfunction <f>\n\tstd:9:1-2\thunter2\nhunter2";
	static const struct {
		const char *source;
		bool hides;
	} sources[] = {
		{"{secret: {name: s}}", true},
		{"{resource: {apiVersion: v1, kind: Secret, name: s}}", true},
		{"{configMap: {name: s}}", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct bundle_input in =
			input_of(a, arena_fmt(a, FROM("%s"), sources[i].source), "{p: hunter2}");
		struct files_entry items[] = {{.path = "a/b.jsonnet"}, {.path = "b"}};
		bundle_input_files(&in, &(struct files){.items = items, .n = 2}, a);
		struct obj *o = obj_keep(a, obj_map());
		obj_set_str(o, "error", failed);
		bundle_render_hide(&in, o);
		assert_string_equal(
			obj_str(o, "error"),
			sources[i].hides ? "the words of its error are not shown, as they may have "
					   "values of the Secrets and lists that it is given"
					   "\n\ta/b.jsonnet:1:1-5\n\tb:(1:2)-(3:4)\n\tstd:9:1-2"
					 : failed);
		/* a key of an object, an action of a rollout */
		const struct bundle_spec spec = {.renderer = {.entrypoint = "b"}};
		struct error err = ERROR_INIT;
		error_because(&err, E_INVALID, REASON_SOURCE_EMPTY, "hunter2: no such action");
		assert_int_equal(bundle_render_mute(&spec, &in, &err), -E_INVALID);
		assert_int_equal(err.reason, REASON_SOURCE_EMPTY);
		assert_string_equal(
			err.msg,
			sources[i].hides
				? "SourceEmpty: b: Invalid: the words of its error are not shown, "
				  "as they may have values of the Secrets and lists that it is "
				  "given"
				: "SourceEmpty: hunter2: no such action");
	}
}

/* A change of one is another input; which are Secrets they say themselves. */
static void test_bundle_renderer__lists_are_given_too(void **state)
{
	(void)state;
	static const struct {
		const char *lists;
		bool is_secret;
		const char *hidden;
	} cases[] = {
		{"{secrets/list: []}", false, NULL},
		{"{maps/list: [{kind: ConfigMap, data: {a: hunter2-map}}]}", true, NULL},
		{"{maps/list: [{kind: ConfigMap}, {kind: ConfigMap}]}", true, NULL},
		{"{maps/list: [], secrets/list: [{kind: Secret, data: {a: eA==}}, {kind: Secret, "
		 "data: {a: "
		 "aHVudGVyMg==, b: bm8tb25lcw==}}]}",
		 true, "hunter2"},
	};
	CLEANUP(obj_unrefp) struct obj *rendered = obj_string("a hunter2-map");
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const char *digest = "";
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bundle_input in = input_of(a, FROM("{configMap: {name: s}}"), "{p: 1}");
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		assert_ok(yaml_parse_one(str_of(cases[i].lists), &o, &err), &err);
		bundle_input_lists(&in, obj_keep(a, o), a);
		const struct obj *hidden = bundle_input_hidden(&in, rendered, a);
		assert_int_equal(obj_len(hidden), cases[i].hidden ? 1 : 0);
		if (cases[i].hidden)
			assert_string_equal(obj_as_string(obj_at(hidden, 0)), cases[i].hidden);
		assert_string_not_equal(in.digest, digest);
		assert_int_equal(in.is_secret, cases[i].is_secret);
		digest = arena_strdup(a, in.digest);
	}
}

/* The names come out of the sandbox. */
static void test_bundle_renderer__names_of_lists(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum error_reason reason;
	} cases[] = {
		{"pods/list", REASON_NONE},      {"deployments.apps/list", REASON_NONE},
		{"/list", REASON_RENDER_FAILED}, {"x", REASON_RENDER_FAILED},
		{"", REASON_RENDER_FAILED},      {"list/pods", REASON_RENDER_FAILED},
	};
	const struct bundle_spec b = {.renderer.entrypoint = "a.jsonnet"};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	CLEANUP(obj_unrefp) struct obj *many = obj_map();
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(obj_unrefp) struct obj *lists = obj_map();
		err = ERROR_INIT;
		obj_set_bool(lists, cases[i].name, true);
		assert_int_equal(bundle_lists_check(&b, lists, &err) < 0, cases[i].reason != 0);
		assert_int_equal(err.reason, cases[i].reason);
	}
	for (int i = 0; i < 33; i++) {
		assert_true(bundle_lists_check(&b, many, &err) == 0);
		obj_set_bool(many, arena_fmt(a, "l%d/list", i), true);
	}
	assert_true(bundle_lists_check(&b, many, &err) < 0);
	assert_string_equal(
		err.msg, "RenderLimit: a.jsonnet: it imports 33 live lists; at most 32 are read");
}

static void test_bundle_renderer__what_cannot_be_read(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	error_set(&err, E_NOTFOUND, "Secret a/b: not found");
	bundle_input_blame(BUNDLE_CONFIG_FROM, &err);
	assert_string_equal(err.msg, "ValueMissing: spec.config.from: Secret a/b: not found");
	err = ERROR_INIT;
	error_set(&err, E_FORBIDDEN, "no");
	bundle_input_blame(BUNDLE_CONFIG_FROM, &err);
	assert_int_equal(err.reason, REASON_VALUE_MISSING);
	err = ERROR_INIT;
	error_set(&err, E_UNAVAILABLE, "no");
	bundle_input_blame(BUNDLE_CONFIG_FROM, &err); /* a poll or two may fail */
	assert_int_equal(err.reason, REASON_NONE);
	err = ERROR_INIT;
	error_set(&err, E_FORBIDDEN, "import alm-runtime/secrets/list: no");
	bundle_input_blame(NULL, &err);
	assert_string_equal(err.msg, "ValueMissing: import alm-runtime/secrets/list: no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_renderer__what_may_be_said),
		cmocka_unit_test(test_bundle_renderer__paths_are_normal),
		cmocka_unit_test(test_bundle_renderer__a_rollout_of_the_tree),
		cmocka_unit_test(test_bundle_renderer__what_is_made_lies_where_it_may),
		cmocka_unit_test(test_bundle_renderer__what_failed_is_told_in_a_line),
		cmocka_unit_test(test_bundle_renderer__manifests_meet_limits),
		cmocka_unit_test(test_bundle_renderer__later_layers_win),
		cmocka_unit_test(test_bundle_renderer__no_value_of_a_secret_is_told),
		cmocka_unit_test(test_bundle_renderer__lists_are_given_too),
		cmocka_unit_test(test_bundle_renderer__names_of_lists),
		cmocka_unit_test(test_bundle_renderer__what_cannot_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
