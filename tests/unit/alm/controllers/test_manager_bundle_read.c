/* Bundles of a whole manager: what may be wrong with the source of one, with what git is asked then, and that all is as
 * declared once it is mended. */
#include "tests/lib/test.h"

#include <string.h>

#include "tests/lib/manager_fixture.h"

#define WEB   FIXTURE_BUNDLES "/web"
#define MAP_A "/api/v1/namespaces/default/configmaps/a"
#define READY "@Ready/message"
#define LATE  (2 * NS_PER_MIN)

#define CM(name, v) \
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: " name "}, data: {v: \"" v "\"}}"
#define GIT_SECRET(type, password)                                                           \
	"{\"metadata\":{\"name\":\"s\"},\"type\":\"" type "\",\"stringData\":{\"username\":" \
	"\"u\",\"password\":\"" password "\",\"origins\":\"https://git.example.com\"}}"
#define CREDENTIALS "app.coreos.com/catalog-credentials"
#define HTTPS       "\"source\":{\"git\":{\"url\":\"https://git.example.com/web\"%s}}"
#define FOLDER      "\"source\":{\"git\":{\"url\":\"file://" FIXTURE_GIT "\"%s}}"

static const char *const first[] = {"a.yaml", CM("a", "1"), NULL};
static const char *const second[] = {"a.yaml", CM("a", "2"), NULL};
static const struct git_table_commit commits[] = {{"first", first}, {"second", second}, {0}};

static void start(struct manager_fixture *f)
{
	manager_fixture_init(f, &(struct manager_fixture_config){.commits = commits});
	f->git.pushed = 1;
}

static void create(struct manager_fixture *f, const char *source, const char *git, const char *spec)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	CLEANUP(strbuf_release) struct strbuf s = STRBUF_INIT(1 << 16);
	const char *at = strstr(source, "%s");
	strbuf_addf(&s, "%.*s%s%s", (int)(at - source), source, git, at + 2);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Bundle\",\"metadata\":"
		    "{\"name\":\"web\"},\"spec\":{%s%s,\"trigger\":{\"interval\":\"5s\"}}}",
		    s.buf, spec);
	manager_fixture_do(f, "POST", FIXTURE_BUNDLES, b.buf, 201);
}

/* --- what may be wrong --- */

#define KEYS_OF(data) "{\"metadata\":{\"name\":\"k\"},\"data\":{" data "}}"
#define SECRET        ",\"secretRef\":{\"name\":\"s\"}"
#define VERIFY        ",\"verify\":{\"keysRef\":{\"name\":\"k\"}}"
#define ROLLOUT       ",\"rolloutRef\":{\"name\":\"r\"}"
#define FROM          ",\"config\":{\"from\":[{\"configMap\":{\"name\":\"c\"}}]}"

struct row {
	const char *source, *git, *spec;
	const char *at, *object; /* is there; NULL: it is not */
	const char *strike;      /* a GET of it is answered so, until it is mended */
	int status;
	const char *says; /* git */
	const char *reason, *message;
	bool asked;        /* git was */
	const char *mend;  /* the object then, in its place; NULL: it stays as it is */
	const char *patch; /* ... of the Bundle */
};

#define IS_NONE  "spec.source.git.secretRef: alm-system/s is no Secret for catalogs"
#define REJECTED "CredentialsRejected: git ls-remote: "
#define NO_KEYS  "SignatureInvalid: spec.source.git.verify.keysRef k: "
#define NO_USER  "could not read Username for 'https://git.example.com': terminal prompts disabled"
#define UNSIGNED "{\"spec\":{\"source\":{\"git\":{\"verify\":null}}}}"

/* clang-format off */
static const struct row rows[] = {
	/* a Secret: none, one of another type, none that may be read */
	{HTTPS, SECRET, "", FIXTURE_SECRETS, NULL, NULL, 0, NULL,
	 "SourceNotAllowed", IS_NONE, false, GIT_SECRET(CREDENTIALS, "pa55word"), NULL},
	{HTTPS, SECRET, "", FIXTURE_SECRETS, GIT_SECRET("Opaque", "pa55word"), NULL, 0, NULL,
	 "CredentialsRejected", "CredentialsRejected: " IS_NONE, false, GIT_SECRET(CREDENTIALS, "pa55word"), NULL},
	{HTTPS, SECRET, "", FIXTURE_SECRETS, GIT_SECRET(CREDENTIALS, "pa55word"), FIXTURE_SECRETS "/s", 403, NULL,
	 "SourceUnreachable", "spec.source.git.secretRef: the server answered 403", false, NULL, NULL},
	{HTTPS, SECRET, "", FIXTURE_SECRETS, GIT_SECRET(CREDENTIALS, "pa55word"), FIXTURE_SECRETS "/s", 500, NULL,
	 "SourceUnreachable", "spec.source.git.secretRef: the server answered 500", false, NULL, NULL},
	/* it is not even asked for where it is of no use */
	{FOLDER, SECRET, "", FIXTURE_SECRETS, NULL, FIXTURE_SECRETS "/s", 500, "repository 'x' not found",
	 "SourceUnreachable", "SourceUnreachable: git ls-remote: repository 'x' not found", true, NULL, NULL},
	/* what git says */
	{HTTPS, SECRET, "", FIXTURE_SECRETS, GIT_SECRET(CREDENTIALS, "pa55word"), NULL, 0,
	 "Authentication failed for 'https://git.example.com/web'",
	 "CredentialsRejected", REJECTED "Authentication failed", true, GIT_SECRET(CREDENTIALS, "pa66word"), NULL},
	{HTTPS, "", "", NULL, NULL, NULL, 0, NO_USER, "CredentialsRejected", REJECTED NO_USER, true, NULL, NULL},
	/* keys: none, no key, none that may be read */
	{FOLDER, VERIFY, "", FIXTURE_MAPS, NULL, NULL, 0, NULL,
	 "SignatureInvalid", NO_KEYS "configmaps \"k\" not found", false, NULL, UNSIGNED},
	{FOLDER, VERIFY, "", FIXTURE_MAPS, KEYS_OF(""), NULL, 0, NULL,
	 "SignatureInvalid", NO_KEYS "there is no key that is valid now", false, NULL, UNSIGNED},
	{FOLDER, VERIFY, "", FIXTURE_MAPS, KEYS_OF("\"a\":\"no key\""), FIXTURE_MAPS "/k", 403, NULL,
	 "SignatureInvalid", NO_KEYS "the server answered 403", false, NULL, UNSIGNED},
	{HTTPS, VERIFY SECRET, "", FIXTURE_MAPS, KEYS_OF("\"a\":\"no key\""), FIXTURE_SECRETS "/s", 500, NULL,
	 "SignatureInvalid", NO_KEYS "data \"a\", line 1: ", false, NULL,
	 "{\"spec\":{\"source\":{\"git\":{\"verify\":null,\"secretRef\":null}}}}"},
	/* what else a spec names */
	{FOLDER, "", ROLLOUT, FIXTURE_ROLLOUTS, NULL, NULL, 0, NULL,
	 "ParseError", "spec.rolloutRef: there is no Rollout r", false, NULL, "{\"spec\":{\"rolloutRef\":null}}"},
	{FOLDER, ",\"path\":\"../x\"", "", NULL, NULL, NULL, 0, NULL,
	 "SpecInvalid", "spec.source.git.path", false, NULL, "{\"spec\":{\"source\":{\"git\":{\"path\":null}}}}"},
	{FOLDER, "", "", NULL, NULL, NULL, 0, "bad object HEAD",
	 "SourceUnreachable", "SourceUnreachable: git ls-remote: bad object HEAD", true, NULL, NULL},
};
/* clang-format on */

static void put(struct manager_fixture *f, const struct row *r)
{
	if (r->mend && r->object)
		manager_fixture_do(f, "DELETE", FIXTURE_SECRETS "/s", NULL, 200);
	if (r->mend)
		manager_fixture_do(f, "POST", r->at, r->mend, 201);
	if (r->patch)
		manager_fixture_do(f, "PATCH", WEB, r->patch, 200);
}

static void assert_told(struct manager_fixture *f, size_t i)
{
	const struct row *r = &rows[i];
	bool of_spec = !strcmp(r->reason, "ParseError") || !strcmp(r->reason, "SpecInvalid");
	const char *reason =
		manager_fixture_str(f, WEB, of_spec ? "@Rendered/reason" : "@SourceReady/reason");
	const char *message =
		manager_fixture_str(f, WEB, of_spec ? "@Rendered/message" : "@SourceReady/message");
	const char *state = manager_fixture_str(f, WEB, "status.state");
	if (strcmp(reason, r->reason) != 0 || !cstr_has_prefix(message, r->message) ||
	    (f->git.asked > 0) != r->asked ||
	    strcmp(state, of_spec ? "Invalid" : "SourceFailed") != 0)
		fail_msg("row %zu: %s, %s: %s, git was asked %zu times", i, state, reason, message,
			 f->git.asked);
}

static void test_manager_bundle_read__what_is_wrong_is_told_until_it_is_mended(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		struct manager_fixture f;
		start(&f);
		f.git.says = r->says;
		if (r->object)
			manager_fixture_do(&f, "POST", r->at, r->object, 201);
		if (r->strike)
			manager_fixture_strike(&f, "GET", r->strike, r->status, FIXTURE_FOREVER);
		create(&f, r->source, r->git, r->spec);
		manager_fixture_run(&f, 40 * NS_PER_S);
		assert_told(&f, i);
		assert_string_equal(manager_fixture_str(&f, MAP_A, "data.v"), "");
		f.git.says = NULL;
		f.n_strikes = 0;
		put(&f, r);
		manager_fixture_await(&f, WEB, "status.state", "Synced", 10 * NS_PER_MIN);
		assert_string_equal(manager_fixture_str(&f, WEB, READY), "c00000000000 Ann: first");
		assert_string_equal(manager_fixture_str(&f, MAP_A, "data.v"), "1");
		manager_fixture_release(&f);
	}
}

/* --- credentials that the server did not take --- */

/* A server locks out who comes with a wrong password too often: 30 s, a minute, two minutes later. Another password, or
 * somebody who asks for it, is no reason to wait. */
static void test_manager_bundle_read__a_wrong_password_is_shown_seldom(void **state)
{
	static const struct {
		const char *git, *secret, *says;
	} ways[] = {{SECRET, GIT_SECRET(CREDENTIALS, "pa55word"), "Authentication failed"},
		    {"", NULL, NO_USER}};
	static const size_t asked[] = {1, 2, 2, 3, 3, 3, 3, 4}; /* after 20 s, 50, 80 ... */
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct manager_fixture f;
		start(&f);
		f.git.says = ways[i].says;
		if (ways[i].secret)
			manager_fixture_do(&f, "POST", FIXTURE_SECRETS, ways[i].secret, 201);
		create(&f, HTTPS, ways[i].git, "");
		manager_fixture_run(&f, 20 * NS_PER_S);
		for (size_t k = 0; k < ARRAY_LEN(asked); k++) {
			if (f.git.asked != asked[k])
				fail_msg("way %zu, after %zu s: asked %zu times, not %zu", i,
					 20 + 30 * k, f.git.asked, asked[k]);
			manager_fixture_run(&f, 30 * NS_PER_S);
		}
		size_t n = f.git.asked;
		manager_fixture_do(
			&f, "PATCH", WEB,
			"{\"metadata\":{\"annotations\":{\"app.coreos.com/retry\":\"1\"}}}", 200);
		manager_fixture_run(&f, 10 * NS_PER_S);
		assert_int_equal(f.git.asked, n + 1);
		manager_fixture_do(&f, "PATCH", WEB, "{\"spec\":{\"paused\":false}}", 200);
		manager_fixture_run(&f, 10 * NS_PER_S);
		assert_int_equal(f.git.asked, n + 2);
		if (ways[i].secret) {
			manager_fixture_do(&f, "PATCH", FIXTURE_SECRETS "/s",
					   "{\"stringData\":{\"password\":\"pa66word\"}}", 200);
			manager_fixture_run(&f, 10 * NS_PER_S);
			assert_int_equal(f.git.asked, n + 3);
		}
		/* taken once: the count begins anew */
		f.git.says = NULL;
		manager_fixture_await(&f, WEB, "status.state", "Synced", 10 * NS_PER_MIN);
		f.git.says = ways[i].says;
		f.git.asked = 0;
		manager_fixture_run(&f, 90 * NS_PER_S);
		assert_int_equal(f.git.asked, 2);
		manager_fixture_release(&f);
	}
}

/* A folder has no credentials: what fails there is asked again at each interval. */
static void test_manager_bundle_read__a_folder_is_asked_each_time(void **state)
{
	(void)state;
	struct manager_fixture f;
	start(&f);
	f.git.says = NO_USER;
	create(&f, FOLDER, "", "");
	manager_fixture_run(&f, 62 * NS_PER_S);
	assert_in_range(f.git.asked, 10, 14);
	manager_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_manager_bundle_read__what_is_wrong_is_told_until_it_is_mended),
		cmocka_unit_test(test_manager_bundle_read__a_wrong_password_is_shown_seldom),
		cmocka_unit_test(test_manager_bundle_read__a_folder_is_asked_each_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
