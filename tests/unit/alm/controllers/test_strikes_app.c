/* What a whole manager does about each request of an app that fails (tests/lib/strikes.h). */
#include "tests/lib/test.h"

#include "tests/lib/strikes.h"

#define CATALOG    FIXTURE_CATALOGS "/c"
#define WEB        FIXTURE_APPS "/web"
#define STRATEGIES "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
#define MAP        "/api/v1/namespaces/web/configmaps/web"
#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"c\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":\"dir:///"  \
	"catalog\"}}}"
#define APP_BODY                                                                        \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"web\"},\"spec\":{\"type\":\"io.ops\"}}"

static const char template[] = "apiVersion: v1\n"
			       "kind: ConfigMap\n"
			       "metadata: {name: web}\n"
			       "data: {version: {{ .Chart.Version | quote }}}\n";

static void app_phase(struct manager_fixture *f, size_t n)
{
	if (n == 0) {
		manager_fixture_chart(f, "/catalog", "web", "0.1.0", template);
		manager_fixture_do(f, "POST", FIXTURE_CATALOGS, CATALOG_BODY, 201);
		manager_fixture_do(f, "POST", FIXTURE_APPS, APP_BODY, 201);
	} else if (n == 1) {
		manager_fixture_chart(f, "/catalog", "web", "0.2.0", template);
	} else if (*manager_fixture_str(f, MAP, "data.version")) {
		manager_fixture_do(f, "PATCH", MAP, "{\"data\":{\"version\":\"by hand\"}}", 200);
	}
}

static void removal_phase(struct manager_fixture *f, size_t n)
{
	if (n == 0)
		app_phase(f, 0);
	else if (n == 1)
		manager_fixture_do(f, "DELETE", WEB, NULL, 200);
}

static void tell_strategy(struct manager_fixture *f, const char *version, struct strbuf *b)
{
	const char *at = arena_fmt(f->a, STRATEGIES "/install.%s.web.io.ops", version);
	const char *stalled = manager_fixture_str(f, at, "@Stalled/message");
	strbuf_addf(b, "; %s %s", version, manager_fixture_str(f, at, "status.phase"));
	if (*stalled)
		strbuf_addf(b, ", stalled: %s", stalled);
}

static void app_tell(struct manager_fixture *f, struct strbuf *b)
{
	const char *catalog = manager_fixture_str(f, CATALOG, "@Stalled/message");
	const char *app = manager_fixture_str(f, WEB, "@Stalled/message");
	strbuf_addf(b, "catalog %s; app %s %s: %s %s; map %s",
		    manager_fixture_str(f, CATALOG, "@Synced/reason"),
		    manager_fixture_str(f, WEB, "status.installedVersion"),
		    manager_fixture_str(f, WEB, "@Ready/status"),
		    manager_fixture_str(f, WEB, "@Ready/reason"),
		    manager_fixture_str(f, WEB, "@Ready/message"),
		    manager_fixture_str(f, MAP, "data.version"));
	tell_strategy(f, "0.1.0", b);
	tell_strategy(f, "0.2.0", b);
	if (*catalog)
		strbuf_addf(b, "; catalog is stalled: %s", catalog);
	if (*app)
		strbuf_addf(b, "; app is stalled: %s", app);
}

static void test_strikes_app__of_an_app(void **state)
{
	static const struct story s = {.golden = "tests/golden/strikes/app.txt",
				       .phase = app_phase,
				       .n_phases = 3,
				       .phase_ns = 70 * NS_PER_S,
				       .tell = app_tell};
	(void)state;
	strikes_hold(&s);
}

static void test_strikes_app__of_an_app_that_goes(void **state)
{
	static const struct story s = {.golden = "tests/golden/strikes/app_goes.txt",
				       .phase = removal_phase,
				       .n_phases = 4,
				       .struck = 1,
				       .phase_ns = 70 * NS_PER_S,
				       .tell = app_tell};
	(void)state;
	strikes_hold(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strikes_app__of_an_app),
		cmocka_unit_test(test_strikes_app__of_an_app_that_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
