/* Pushes that a server of git tells: which Bundles are read at once, and what is said of the others. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/controllers/manager_hooks.h"
#include "tests/lib/manager_fixture.h"

#define PASSWORD "0123456789abcdef"
#define URL      "https://git.example.com/web"
#define BODY     "{\"ref\":\"refs/heads/main\",\"repository\":{\"clone_url\":\"" URL "\"}}"
#define HOOK     "{\"metadata\":{\"name\":\"%s\"},\"type\":\"%s\",\"stringData\":{\"secret\":\"%s\"}}"
#define HOOK_REF ",\"hookSecretRef\":{\"name\":\"%s\"}"

static const char *const tree[] = {
	"a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: \"1\"}}", NULL};
static const struct git_table_commit commits[] = {{"first", tree}, {0}};

struct fixture {
	struct manager_fixture m;
	struct git_hook h;
	size_t n_done, n_taken;
	bool failed;
};

static void start(struct fixture *f)
{
	*f = (struct fixture){.n_done = 0};
	manager_fixture_init(&f->m, &(struct manager_fixture_config){.commits = commits});
	f->m.git.pushed = 1;
}

/* secret NULL: it names none. */
static void add_bundle(struct fixture *f, const char *name, const char *url, const char *branch,
		       const char *secret)
{
	struct arena *a = f->m.a;
	const char *hook = secret ? arena_fmt(a, HOOK_REF, secret) : "";
	manager_fixture_do(
		&f->m, "POST", FIXTURE_BUNDLES,
		arena_fmt(
			a,
			"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":"
			"\"Bundle\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
			"\"namespace\":\"default\",\"adopt\":\"Any\",\"source\":{\"git\":{\"url\":"
			"\"%s\",\"branch\":\"%s\"%s}},\"trigger\":{\"interval\":\"1h\"}}}",
			name, url, branch, hook),
		201);
}

static void add_secret(struct fixture *f, const char *name, const char *type, const char *text)
{
	manager_fixture_do(&f->m, "POST", FIXTURE_SECRETS,
			   arena_fmt(f->m.a, HOOK, name, type, text), 201);
}

static void told(void *arg, size_t n_taken, bool failed)
{
	struct fixture *f = arg;
	f->n_done++;
	f->n_taken = n_taken;
	f->failed = failed;
}

static void tell(struct fixture *f, const char *body, const char *password)
{
	struct error err = ERROR_INIT;
	f->h = (struct git_hook){.body = str_of(body), .token = password};
	assert_ok(git_hook_read(&f->h, f->m.a, &err), &err);
	f->n_done = 0;
	(void)manager_hook_start(f->m.manager, &f->h, told, f);
	assert_int_equal(f->n_done, 0);             /* in a later turn */
	for (int i = 0; i < 120 && !f->n_done; i++) /* what fails is asked again, a few times */
		manager_fixture_run(&f->m, NS_PER_S);
	manager_fixture_run(&f->m, NS_PER_S);
	assert_int_equal(f->n_done, 1);
}

/* One Bundle of a repository, with what a hook and its Secret may be. */
static void test_manager_hooks__who_knows_the_secret(void **state)
{
	/* clang-format off */
	static const struct {
		const char *url, *branch, *named, *type, *text, *password, *body;
		int status; /* of the Secret; 0: as the server answers */
		size_t n_taken;
		bool failed, read;
	} rows[] = {
		{URL, "main", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 0, 1, false, true},
		/* in another writing */
		{URL ".git", "main", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 0, 1, false, true},
		/* another branch: it is known, and there is nothing to read */
		{URL, "other", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 0, 1, false, false},
		/* of no branch: all read it */
		{URL, "other", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD,
		 "{\"repository\":{\"clone_url\":\"" URL "\"}}", 0, 1, false, true},
		/* another repository; no Secret named, or not there; another type; another password */
		{URL "2", "main", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 0, 0, false, false},
		{URL, "main", NULL, GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 0, 0, false, false},
		{URL, "main", "none", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 0, 0, false, false},
		{URL, "main", "h", "Opaque", PASSWORD, PASSWORD, BODY, 0, 0, false, false},
		{URL, "main", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD "2", BODY, 0, 0, false, false},
		{URL, "main", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, NULL, BODY, 0, 0, false, false},
		/* it cannot be asked for: who has sent it may send it again */
		{URL, "main", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 500, 0, true, false},
		{URL, "main", "h", GIT_HOOK_SECRET_TYPE, PASSWORD, PASSWORD, BODY, 403, 0, true, false},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		start(&f);
		add_bundle(&f, "web", rows[i].url, rows[i].branch, rows[i].named);
		add_secret(&f, "h", rows[i].type, rows[i].text);
		manager_fixture_run(&f.m, 20 * NS_PER_S);
		if (rows[i].status)
			manager_fixture_strike(&f.m, "GET", FIXTURE_SECRETS "/h", rows[i].status,
					       FIXTURE_FOREVER);
		size_t asked = f.m.git.asked;
		tell(&f, rows[i].body, rows[i].password);
		bool read = f.m.git.asked > asked;
		if (f.n_taken != rows[i].n_taken || f.failed != rows[i].failed ||
		    read != rows[i].read)
			fail_msg("row %zu: %zu taken, %d failed, %d read", i, f.n_taken, f.failed,
				 read);
		manager_fixture_release(&f.m);
	}
}

/* Of many each is asked with its own Secret, a bound of them. */
static void test_manager_hooks__of_many_bundles(void **state)
{
	(void)state;
	struct fixture f;
	start(&f);
	struct arena *a = f.m.a;
	for (size_t i = 0; i < HOOK_BUNDLES_MAX + 3; i++)
		add_bundle(&f, arena_fmt(a, "b%03zu", i), i == 1 ? URL "2" : URL, "main",
			   i % 2 ? "odd" : "even");
	add_secret(&f, "even", GIT_HOOK_SECRET_TYPE, PASSWORD);
	add_secret(&f, "odd", GIT_HOOK_SECRET_TYPE, "another password");
	manager_fixture_run(&f.m, 2 * NS_PER_S);
	manager_fixture_forget(&f.m);
	tell(&f, BODY, PASSWORD);
	assert_false(f.failed);
	/* 0 to 100 without 1: those of 51 even numbers */
	assert_int_equal(f.n_taken, HOOK_BUNDLES_MAX / 2 + 1);
	assert_int_equal(manager_fixture_sent(&f.m, "GET", FIXTURE_SECRETS "/even"),
			 HOOK_BUNDLES_MAX / 2 + 1);
	assert_int_equal(manager_fixture_sent(&f.m, "GET", FIXTURE_SECRETS "/odd"),
			 HOOK_BUNDLES_MAX / 2 - 1);
	manager_fixture_release(&f.m);
}

/* One that cannot be asked for keeps the others from nothing; who hangs up is told nothing. */
static void test_manager_hooks__what_fails_and_what_ends(void **state)
{
	(void)state;
	struct fixture f;
	start(&f);
	add_bundle(&f, "a", URL, "main", "x");
	add_bundle(&f, "b", URL, "main", "y");
	add_secret(&f, "x", GIT_HOOK_SECRET_TYPE, PASSWORD);
	add_secret(&f, "y", GIT_HOOK_SECRET_TYPE, PASSWORD);
	manager_fixture_run(&f.m, NS_PER_S);
	manager_fixture_strike(&f.m, "GET", FIXTURE_SECRETS "/x", 500, FIXTURE_FOREVER);
	tell(&f, BODY, PASSWORD);
	assert_int_equal(f.n_taken, 1);
	assert_true(f.failed);
	f.n_done = 0;
	f.m.n_strikes = 0;
	struct manager_hook *k = manager_hook_start(f.m.manager, &f.h, told, &f);
	manager_hook_cancel(k);
	k = manager_hook_start(f.m.manager, &f.h, told, &f);
	manager_fixture_strike(&f.m, "GET", FIXTURE_SECRETS "/x", 0, 1);
	apifake_run(f.m.server);
	manager_hook_cancel(k);
	manager_hook_cancel(NULL);
	manager_fixture_run(&f.m, NS_PER_S);
	assert_int_equal(f.n_done, 0);
	manager_fixture_release(&f.m);
}

/* A process that serves no Bundles, or knows no Secrets yet. */
static void test_manager_hooks__before_anything_is_known(void **state)
{
	(void)state;
	struct fixture f;
	start(&f);
	add_bundle(&f, "a", URL, "main", "x");
	add_secret(&f, "x", GIT_HOOK_SECRET_TYPE, PASSWORD);
	manager_fixture_restart(&f.m);
	tell(&f, BODY, PASSWORD);
	assert_int_equal(f.n_taken, 0); /* no Bundle is known */
	manager_fixture_run(&f.m, NS_PER_S);
	tell(&f, BODY, PASSWORD);
	assert_int_equal(f.n_taken, 1);
	discovery_free(f.m.manager->discovery);
	f.m.manager->discovery = discovery_new(f.m.client);
	tell(&f, BODY, PASSWORD);
	assert_int_equal(f.n_taken, 0);
	assert_true(f.failed);
	manager_fixture_release(&f.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager_hooks__who_knows_the_secret),
		cmocka_unit_test(test_manager_hooks__of_many_bundles),
		cmocka_unit_test(test_manager_hooks__what_fails_and_what_ends),
		cmocka_unit_test(test_manager_hooks__before_anything_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
