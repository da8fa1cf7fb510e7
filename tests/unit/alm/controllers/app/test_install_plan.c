#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/controllers/unit/unit_store.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

/* {"release":"..."} of exactly that many bytes. */
static struct obj *doc_of(size_t bytes)
{
	size_t n = bytes - strlen("{\"release\":\"\"}");
	char *text = xmalloc(n);
	uint64_t x = 1; /* letters at random: packed they still take two thirds */
	for (size_t i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		text[i] = (char)('A' + (x >> 33) % 26);
	}
	struct obj *o = obj_map();
	obj_set(o, "release", obj_stringn(str_n(text, n)));
	xfree(text);
	return o;
}

/* A plan that could not be read back would be rendered, and stored, again and again. */
static void test_install_plan__one_byte_over_the_bound_is_refused(void **state)
{
	(void)state;
	for (size_t over = 0; over < 2; over++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *doc = doc_of(STORE_DOCUMENT_MAX + over);
		const struct strategy_ref s = {
			.o = view_fake_obj(&f,
					   "{\"apiVersion\":\"g/v1\",\"kind\":\"InstallStrategy\","
					   "\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
			.name = "s"};
		struct plan *p = view_fake_plan(&f);
		assert_int_equal(install_plan_store(p, &s, 1, "inputs", doc), over ? ENDED : DONE);
		assert_true(over ? p->n == 0
				 : p->n > STORE_CHUNKS_MAX / 3 && p->n < STORE_CHUNKS_MAX);
		struct obj *items = obj_keep(f.a, obj_list());
		for (const struct action *x = p->head; x; x = x->next)
			obj_append(items, obj_ref(x->body));
		const struct obj *back = install_plan_of_secrets(items, "s", 1, f.a);
		assert_int_equal(back != NULL, !over);
		if (back)
			assert_true(obj_equal(back, doc));
		view_fake_release(&f);
	}
}

static const struct obj *read_back(struct view_fake *f, const struct obj *secret)
{
	struct obj *items = obj_keep(f->a, obj_list());
	obj_append(items, obj_ref(secret));
	return install_plan_of_secrets(items, "s", 1, f->a);
}

/* The manifest of a chart is repetitive; as it stands it took most of what the server keeps. What
 * an earlier version stored is plain. */
static void test_install_plan__plain_ones_are_read(void **state)
{
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	CLEANUP(obj_unrefp) struct obj *doc = obj_map();
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)1 << 20);
	CLEANUP(strbuf_release) struct strbuf b64 = STRBUF_INIT((size_t)2 << 20);
	for (size_t i = 0; i < 10000; i++)
		strbuf_addf(&text, "line %zu of a manifest\n", i);
	obj_set_str(doc, "manifest", text.buf);
	const struct strategy_ref s = {
		.o = view_fake_obj(&f, "{\"apiVersion\":\"g/v1\",\"kind\":\"InstallStrategy\","
				       "\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
		.name = "s"};
	struct plan *p = view_fake_plan(&f);
	assert_int_equal(install_plan_store(p, &s, 1, "inputs", doc), DONE);
	assert_int_equal(p->n, 1);
	struct obj *secret = obj_keep(f.a, obj_copy(p->head->body));
	assert_true(strlen(obj_str(secret, "data.plan")) < text.len / 4);
	assert_true(obj_equal(read_back(&f, secret), doc));

	CLEANUP(xfreep) char *plain = json_text(doc);
	char digest[SHA256_HEX];
	sha256_hex(str_of(plain), digest);
	base64_encode(str_of(plain), &b64);
	obj_set_path(secret, "data.plan", obj_stringn(strbuf_str(&b64)));
	assert_null(read_back(&f, secret));
	meta_set_annotation(secret, ANNOTATION_DOCUMENT, digest);
	assert_true(obj_equal(read_back(&f, secret), doc));
	view_fake_release(&f);
}

/* Wherever the name of a strategy is cut: at a dot or dash no name may go on as it stands. */
static void test_install_plan__names_are_names(void **state)
{
	(void)state;
	for (int n = 1; n < 60; n++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *doc = obj_map();
		const char *name =
			arena_fmt(f.a, "install.1.0.0.%.*s-x.io.ops", n,
				  "prometheusoperatorcrdsofachartwithalongandstilllongername00");
		const struct strategy_ref s = {
			.o = view_fake_obj(&f,
					   "{\"apiVersion\":\"g/v1\",\"kind\":\"InstallStrategy\","
					   "\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
			.name = name};
		struct plan *p = view_fake_plan(&f);
		assert_int_equal(install_plan_store(p, &s, 1, "inputs", doc), DONE);
		assert_true(name_is_dns_subdomain(str_of(meta_name(p->head->body))));
		view_fake_release(&f);
	}
}

static int64_t wanted_replicas(const char *manager, const char *subresource)
{
	struct view_fake f;
	view_fake_init(&f);
	CLEANUP(obj_unrefp) struct obj *live = obj_stringf(
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"o\","
		"\"namespace\":\"n\",\"managedFields\":[{\"manager\":\"%s\",\"subresource\":\"%s\","
		"\"fieldsV1\":{\"f:spec\":{\"f:replicas\":{}}}}]},\"spec\":{\"replicas\":3}}",
		manager, subresource);
	view_fake_live(&f, obj_as_string(live));
	const struct obj *doc = view_fake_obj(
		&f, "{\"namespace\":\"n\",\"objects\":[{\"stage\":2,\"digest\":\"d\",\"object\":{"
		    "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":"
		    "\"o\",\"namespace\":\"n\"},\"spec\":{\"replicas\":1,\"paused\":false}}}]}");
	const struct install_plan *p = install_plan_load(&f.view, doc, NULL);
	assert_non_null(p->entries[0].live);
	assert_true(obj_has(obj_get(p->entries[0].object, "spec"), "paused"));
	int64_t n = obj_i64(p->entries[0].object, "spec.replicas", -1);
	view_fake_release(&f);
	return n;
}

/* An autoscaler writes through the subresource; people do it by kubectl, which is drift. */
static void test_install_plan__an_autoscaler_keeps_its_replicas(void **state)
{
	(void)state;
	assert_int_equal(wanted_replicas("kube-controller-manager", "scale"), -1);
	assert_int_equal(wanted_replicas("keda", "scale"), -1);
	assert_int_equal(wanted_replicas("kubectl", "scale"), 1);
	assert_int_equal(wanted_replicas("kubectl-edit", ""), 1);
	assert_int_equal(wanted_replicas("argocd", ""), 1);
}

/* A CRD that was left behind keeps the label of the app that left it until ours is applied. */
static void test_install_plan__whose_a_definition_is(void **state)
{
	(void)state;
	static const struct {
		const char *marks, *who;
	} rows[] = {
		{"\"labels\":{\"app.coreos.com/app\":\"shop\"}", "app shop"},
		{"\"labels\":{\"app.coreos.com/app\":\"etcd\"}", NULL},
		{"\"labels\":{\"app.coreos.com/"
		 "app\":\"shop\"},\"annotations\":{\"" ANNOTATION_RELEASED "\":\"shop.io\"}",
		 NULL},
		{"\"labels\":{\"app.coreos.com/app\":\"shop\"},\"annotations\":{\"" ANNOTATION_OWNER
		 "\":\"etcd.io\"}",
		 NULL},
		{"\"labels\":{\"app.coreos.com/app\":\"shop\"},\"annotations\":{\"" ANNOTATION_OWNER
		 "\":\"shop.io\"}",
		 "app shop"},
	};
	const struct app app = {.name = "etcd", .self_ref = "etcd.io"};
	const struct install_plan p = {.release = "etcd", .ns = "etcd"};
	const struct unit_entry crd = {.is_crd = true, .kind = "CustomResourceDefinition"};
	const struct unit_entry other = {.kind = "ConfigMap"};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		const struct obj *live =
			view_fake_obj(&f, arena_fmt(f.a, "{\"metadata\":{%s}}", rows[i].marks));
		const char *who = install_plan_foreign(&app, &p, &crd, live, f.a);
		assert_true(cstr_eq(who, rows[i].who));
		if (i != 1) /* the annotations say nothing of another kind */
			assert_string_equal(install_plan_foreign(&app, &p, &other, live, f.a),
					    "app shop");
		view_fake_release(&f);
	}
}

#define HELM(name, ns)                                                                        \
	"\"annotations\":{\"meta.helm.sh/release-name\":\"" name "\",\"meta.helm.sh/release-" \
	"namespace\":\"" ns "\"}"
#define BY(who) ",\"labels\":{\"app.kubernetes.io/managed-by\":\"" who "\"}"

/* What no app has: definitions and namespaces are shared, of the rest a release of helm is taken over alone that is this
 * one. */
static void test_install_plan__who_has_what_no_app_has(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *marks, *who;
	} rows[] = {
		{"ConfigMap", "", "nobody ALM knows"},
		{"Namespace", "", NULL},
		{"CustomResourceDefinition", "", NULL},
		{"Namespace", HELM("other", "etcd") BY("Helm"), NULL},
		{"ConfigMap", HELM("etcd", "ns") BY("Helm"), NULL},
		{"ConfigMap", HELM("etcd", "ns"), "nobody ALM knows"},
		{"ConfigMap", HELM("etcd", "ns") BY("kustomize"), "kustomize"},
		{"ConfigMap", HELM("other", "ns") BY("Helm"), "release other in ns"},
		{"ConfigMap", HELM("etcd", "else") BY("Helm"), "release etcd in else"},
		{"ConfigMap", "\"annotations\":{\"meta.helm.sh/release-name\":\"etcd\"}" BY("Helm"),
		 "release etcd in "},
		{"ConfigMap", "\"annotations\":{}" BY("Helm"), "Helm"},
	};
	const struct app app = {.name = "etcd", .self_ref = "etcd.io"};
	const struct install_plan p = {.release = "etcd", .ns = "ns"};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		const struct unit_entry e = {.kind = rows[i].kind,
					     .is_crd = !strncmp(rows[i].kind, "Custom", 6)};
		const struct obj *live =
			view_fake_obj(&f, arena_fmt(f.a, "{\"metadata\":{%s}}", rows[i].marks));
		const char *who = install_plan_foreign(&app, &p, &e, live, f.a);
		if (!cstr_eq(who, rows[i].who))
			fail_msg("row %zu: %s", i, who ? who : "free");
		view_fake_release(&f);
	}
}

#define FORMER(kind, ns, name) \
	"{\"kind\":\"" kind "\",\"namespace\":\"" ns "\",\"name\":\"" name "\"}"

enum { WAYS = 29 };

/* The usual one but for one of the ways. */
static const char *in_way(int i, int way, const char *other, const char *usual)
{
	return i == way ? other : usual;
}

static const char *digest_of_way(struct view_fake *f, int i, const char *text)
{
	static const char usual[] = "{\"hooks\":[{\"object\":{\"a\":1}}]}";
	const struct obj *list = view_fake_obj(f, "[\"x\"]");
	const struct strategy_ref installed = {.version = in_way(i, 1, "0.9.1", "0.9.0")};
	const struct app app = {
		.o = view_fake_obj(f, in_way(i, 2, "{\"metadata\":{\"uid\":\"v\"}}",
					     "{\"metadata\":{\"uid\":\"u\"}}")),
		.installed = i == 3 ? NULL : &installed,
		.account = {.user = in_way(i, 4, "bob", "app"), .is_default = i == 5}};
	struct unit_entry e = {.kind = in_way(i, 6, "Secret", "ConfigMap"),
			       .ns = in_way(i, 7, NULL, "n"),
			       .name = in_way(i, 8, "d", "c"),
			       .digest = in_way(i, 9, "2", "1")};
	const struct install_plan p = {.doc = view_fake_obj(f, text ? text : usual),
				       .ns = in_way(i, 14, "m", "n"),
				       .version = in_way(i, 15, "1.0.1", "1.0.0"),
				       .archive = in_way(i, 16, "b", "a"),
				       .values = in_way(i, 17, "y", "x"),
				       .entries = &e,
				       .n = 1};
	return install_plan_digest(&f->view, &p, &app, i == 18 ? list : NULL,
				   i == 19 ? list : NULL);
}

/* What a person approves: with whatever changes of it the digest is another one. */
static void test_install_plan__its_digest_is_of_all_that_is_approved(void **state)
{
	(void)state;
	struct view_fake f;
	const char *seen[WAYS];
	static const char *const docs[WAYS] = {
		[10] = "{\"hooks\":[]}",
		[11] = "{\"hooks\":[{\"object\":{\"a\":2}}]}",
		[12] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER("K", "n",
										 "o") "]}",
		[13] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"rollout\":{\"r\":1}}",
		[20] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER("L", "n",
										 "o") "]}",
		[21] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER("K", "m",
										 "o") "]}",
		[22] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER("K", "n",
										 "p") "]}",
		[23] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER(
			"K", "n", "o") "," FORMER("L", "m", "p") "]}",
		[25] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER(
			"K", "n", "o") "," FORMER("K", "m", "p") "]}",
		[26] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER(
			"K", "n", "o") "," FORMER("L", "n", "p") "]}",
		[27] = "{\"hooks\":[{\"object\":{\"a\":1}}],\"former\":[" FORMER(
			"K", "n", "o") "," FORMER("L", "m", "o") "]}",
		[28] = "{\"hooks\":[{\"object\":{\"a\":1}},{\"object\":{\"a\":1}}]}",
		[24] = "{\"hooks\":[{\"object\":{\"a\":1}},{\"object\":{\"a\":2}}]}",
	};
	view_fake_init(&f);
	for (int i = 0; i < WAYS; i++) {
		seen[i] = digest_of_way(&f, i, docs[i]);
		assert_string_equal(digest_of_way(&f, i, docs[i]), seen[i]);
		for (int k = 0; k < i; k++)
			if (!strcmp(seen[k], seen[i]))
				fail_msg("way %d is as way %d", i, k);
	}
	view_fake_release(&f);
}

#define REFS(kind) "[{\"apiVersion\":\"g/v1\",\"kind\":\"" kind "\",\"name\":\"n\",\"uid\":\"u1\"}]"

/* An object stays its strategy's until it is handed over; what is no reference says nothing. */
static void test_install_plan__whose_an_object_stays(void **state)
{
	(void)state;
	static const struct {
		const char *refs;
		bool handoff;
		const char *owner;
	} rows[] = {
		{"[]", false, "u2"},
		{REFS("InstallStrategy"), false, "u1"},
		{REFS("InstallStrategy"), true, "u2"},
		{REFS("Job"), false, "u2"},
		{"[7]", false, "u2"},
	};
	const struct app app = {.name = "etcd", .self_ref = "etcd.io"};
	const struct install_plan p = {.release = "etcd", .ns = "etcd"};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		const struct strategy_ref s = {
			.o = view_fake_obj(&f,
					   "{\"apiVersion\":\"g/v1\",\"kind\":\"InstallStrategy\","
					   "\"metadata\":{\"name\":\"s\",\"uid\":\"u2\"}}"),
			.name = "s",
			.version = "2.0.0"};
		const struct unit_entry e = {
			.kind = "ConfigMap",
			.digest = "d",
			.object = view_fake_obj(&f, "{\"kind\":\"ConfigMap\",\"metadata\":{}}"),
			.live = view_fake_obj(
				&f, arena_fmt(f.a, "{\"metadata\":{\"ownerReferences\":%s}}",
					      rows[i].refs))};
		struct obj *o = obj_keep(
			f.a, install_plan_decorate(&f.view, &app, &s, &p, &e, rows[i].handoff));
		struct owner_ref owner;
		assert_int_equal(meta_owner_count(o), 1);
		assert_true(meta_owner(o, 0, &owner));
		assert_string_equal(owner.uid, rows[i].owner);
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_install_plan__who_has_what_no_app_has),
		cmocka_unit_test(test_install_plan__its_digest_is_of_all_that_is_approved),
		cmocka_unit_test(test_install_plan__whose_an_object_stays),
		cmocka_unit_test(test_install_plan__an_autoscaler_keeps_its_replicas),
		cmocka_unit_test(test_install_plan__one_byte_over_the_bound_is_refused),
		cmocka_unit_test(test_install_plan__plain_ones_are_read),
		cmocka_unit_test(test_install_plan__names_are_names),
		cmocka_unit_test(test_install_plan__whose_a_definition_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
