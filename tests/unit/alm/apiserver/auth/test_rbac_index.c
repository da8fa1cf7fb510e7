/* What the index finds is what looking at every binding finds, whatever is written in between. */
#include "alm/apiserver/auth/rbac_index.h"

#include <stdio.h>

#include "alm/io/db.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/test.h"

static const char role[] = "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"r\"},\"rules\":[{"
			   "\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}";
static const char *const names[] = {"a", "b", "system:serviceaccount:n1:a", "n1:a", "x/y", "*"};
static const char *const spaces[] = {"", "n1", "n2"};

struct fixture {
	struct loop *loop;
	struct db *db;
	struct store *store;
	struct obj *role;
	uint32_t dice;
};

static uint32_t roll(struct fixture *f, uint32_t n)
{
	f->dice = f->dice * 1664525u + 1013904223u;
	return (f->dice >> 8) % n;
}

static void setup(struct fixture *f)
{
	struct error err = ERROR_INIT;
	f->loop = loop_fake_new(0);
	f->dice = 7;
	const struct db_config c = {.path = ":memory:"};
	assert_ok(db_open(&c, &f->db, &err), &err);
	const struct store_config s = {.db = f->db, .loop = f->loop};
	assert_ok(store_open(&s, &f->store, &err), &err);
	assert_ok(json_parse(str_of(role), &f->role, &err), &err);
}

static void teardown(struct fixture *f)
{
	obj_unref(f->role);
	store_close(f->store);
	db_close(f->db);
	loop_free(f->loop);
}

static struct store_table *bindings(struct fixture *f, const char *ns)
{
	return store_resource(f->store, RBAC_GROUP, ns[0] ? "rolebindings" : "clusterrolebindings");
}

/* As the store had it before there was an index. */
static void scan(void *arg, const char *ns, const struct user_info *u,
		 bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	struct fixture *f = arg;
	const struct store_table *r = bindings(f, ns);
	(void)u;
	for (size_t i = 0; i < r->n_heads; i++)
		if (!strcmp(r->heads[i]->ns, ns) && fn(fn_arg, head_obj_hot(r->heads[i])))
			return;
}

static void by_index(void *arg, const char *ns, const struct user_info *u,
		     bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	struct fixture *f = arg;
	rbac_index_each(f->store, ns, u, fn, fn_arg);
}

static const struct obj *get_role(void *arg, const char *plural, const char *ns, const char *name)
{
	struct fixture *f = arg;
	(void)ns;
	return !strcmp(plural, "clusterroles") && cstr_eq(name, "r") ? f->role : NULL;
}

static void no_roles(void *arg, bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	(void)arg, (void)fn, (void)fn_arg;
}

static void store_it(struct fixture *f, const char *ns, const char *name, struct obj *o)
{
	struct error err = ERROR_INIT;
	struct text *text;
	struct store_table *r = bindings(f, ns);
	struct write w = {.resource = r, .ns = ns, .name = name, .after = o};
	w.head = resource_find(r, ns, name);
	if (w.head && !roll(f, 4))
		w.remove = true;
	assert_ok(store_write(f->store, &w, &text, &err), &err);
	if (!roll(f, 8))
		store_flush(f->store);
}

static void write_one(struct fixture *f)
{
	static const char *const of_kind[] = {"User", "Group", "ServiceAccount", "Other"};
	char name[16];
	const char *ns = spaces[roll(f, ARRAY_LEN(spaces))];
	snprintf(name, sizeof(name), "b%u", roll(f, 12));
	CLEANUP(obj_unrefp) struct obj *o = meta_skeleton(
		"v1", ns[0] ? "RoleBinding" : "ClusterRoleBinding", ns[0] ? ns : NULL, name);
	struct obj *subjects = obj_list(), *ref = obj_map();
	uint32_t n = roll(f, 20) ? roll(f, 4) : RBAC_INDEX_SUBJECTS + roll(f, 2);
	for (uint32_t i = 0; i < n; i++) {
		struct obj *s = obj_map();
		obj_set_str(s, "kind", of_kind[roll(f, ARRAY_LEN(of_kind))]);
		if (roll(f, 9))
			obj_set_str(s, "name", names[roll(f, ARRAY_LEN(names))]);
		if (roll(f, 2))
			obj_set_str(s, "namespace", spaces[roll(f, ARRAY_LEN(spaces))]);
		obj_append(subjects, s);
	}
	if (roll(f, 9))
		obj_set(o, "subjects", subjects);
	else
		obj_unref(subjects);
	obj_set_str(ref, "kind", "ClusterRole");
	obj_set_str(ref, "name", "r");
	obj_set(o, "roleRef", ref);
	store_it(f, ns, name, o);
}

/* How many decisions of all users, in all namespaces, are yes. */
static size_t compare(struct fixture *f)
{
	const struct rbac_source index = {f, no_roles, by_index, get_role};
	const struct rbac_source all = {f, no_roles, scan, get_role};
	const struct rbac_attributes asked = {"get", true, "", "pods", "", "", "", ""};
	static const char *const users[] = {"a",
					    "b",
					    "c",
					    "system:serviceaccount:n1:a",
					    "system:serviceaccount:n2:b",
					    "system:serviceaccount:n1:n1:a",
					    "x/y",
					    "*"};
	static const char *const groups[][2] = {{"a", "b"}, {"x/y", "*"}, {"none", "nobody"}};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(users) * ARRAY_LEN(groups) * ARRAY_LEN(spaces); i++) {
		CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
		struct rbac_attributes a = asked;
		const struct user_info u = {.name = users[i % ARRAY_LEN(users)],
					    .groups = groups[i / ARRAY_LEN(users) % 3],
					    .n_groups = 2};
		a.ns = spaces[i / ARRAY_LEN(users) / ARRAY_LEN(groups)];
		const char *expected = rbac_reason(&all, &u, &a, arena);
		const char *found = rbac_reason(&index, &u, &a, arena);
		if (!cstr_eq(expected, found))
			fail_msg("%s in '%s': %s, not %s", u.name, a.ns, found, expected);
		n += found != NULL;
	}
	return n;
}

static void test_rbac_index__finds_what_a_scan_finds(void **state)
{
	(void)state;
	struct fixture f;
	size_t yes = 0, no = 0;
	setup(&f);
	for (int i = 0; i < 20; i++)
		write_one(&f); /* found when the index is made */
	rbac_index_new(f.store);
	for (int i = 0; i < 1500; i++) {
		size_t n = compare(&f);
		yes += n;
		no += 72 - n;
		write_one(&f);
	}
	assert_true(yes > 10000 && no > 10000);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rbac_index__finds_what_a_scan_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
