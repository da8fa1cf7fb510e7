/* A chart is rendered with what the server has, and what it says of it is the outcome. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "tests/lib/work_fixture.h"

struct world {
	struct work_fixture f;
	struct work_host host;
	int fails; /* with this code; 0: it renders */
	size_t n_asked;
	char *archive, *request; /* of the last one */
};

/* The sandbox answers in a later turn; here, at once. */
static void render(void *arg, struct str archive, const struct obj *request,
		   struct render_call *call)
{
	struct world *w = arg;
	struct error err = ERROR_INIT;
	w->n_asked++;
	w->archive = xstrndup(archive.ptr, archive.len);
	w->request = json_text(request);
	if (w->fails) {
		error_set(&err, w->fails, "the password is hunter2hunter2");
		call->done(call->arg, NULL, &err);
		return;
	}
	struct obj *value = obj_map();
	obj_set_str(value, "notes", "n");
	call->done(call->arg, value, NULL);
}

static void begin(struct world *w)
{
	*w = (struct world){.host = {.render = render}};
	w->host.arg = w;
	const struct work_fixture_config c = {.same_process = true, .work_host = &w->host};
	work_fixture_init_with(&w->f, &c);
	work_fixture_discover_these(
		&w->f,
		"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"z.io\"},"
		"\"versions\":[{\"version\":\"v2\",\"resources\":[{\"resource\":\"zs\","
		"\"responseKind\":{\"kind\":\"Z\"},\"scope\":\"Namespaced\",\"verbs\":[\"get\"]},{"
		"\"resource\":\"as\",\"responseKind\":{\"kind\":\"A\"},\"scope\":\"Namespaced\","
		"\"verbs\":[\"get\"]}]}]}]}",
		"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},\"versions\":[{"
		"\"version\":\"v1\",\"resources\":[{\"resource\":\"pods\",\"responseKind\":{"
		"\"kind\":\"Pod\"},\"scope\":\"Namespaced\",\"verbs\":[\"get\"]}]}]}]}");
}

static const struct outcome *run(struct world *w, const char *request, bool fetched)
{
	struct plan p;
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	work_fixture_plan(&p);
	assert_ok(json_parse(str_of(request), &o, &err), &err);
	if (fetched)
		stash_put(w->f.stash, "fetch:0", NULL, str_n(xstrdup("bytes"), 5), NULL,
			  loop_now(w->f.loop));
	struct action *x = plan_work(&p, &render_work, "render:0");
	x->key = "fetch:0";
	x->body = obj_keep(p.a, o);
	work_fixture_run(&w->f, &p);
	assert_int_equal(w->f.n_done, 1);
	return stash_get(w->f.stash, "render:0");
}

static void end(struct world *w)
{
	xfree(w->archive);
	xfree(w->request);
	work_fixture_release(&w->f);
}

#define VERSIONS                                                                           \
	"{\"release\":\"r\",\"apiVersions\":[\"v1\",\"v1/Pod\",\"z.io/v2\",\"z.io/v2/A\"," \
	"\"z.io/v2/Z\"]}"

static void test_work_render__the_chart_is_told_what_is_served(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	const struct outcome *o = run(&w, "{\"release\":\"r\"}", true);
	assert_string_equal(w.archive, "bytes");
	assert_string_equal(w.request, VERSIONS);
	assert_non_null(o);
	assert_int_equal(o->code, 0);
	assert_str(o->text, "{\"notes\":\"n\"}");
	assert_int_equal(w.f.result, RUN_CHANGED);
	end(&w);
}

/* What a stored plan was rendered with gives the same bytes again. */
static void test_work_render__or_what_it_was_told_before(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	(void)run(&w, "{\"apiVersions\":[\"v0\"]}", true);
	assert_string_equal(w.request, "{\"apiVersions\":[\"v0\"]}");
	end(&w);
}

static void test_work_render__a_failure_is_the_outcome_without_secrets(void **state)
{
	static const char *const requests[] = {
		"{\"values\":{\"password\":\"hunter2hunter2\"}}",
		"{\"answers\":[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"value\":{\"kind\":"
		"\"Secret\","
		"\"data\":{\"p\":\"aHVudGVyMmh1bnRlcjI=\"}}}]}",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct world w;
		begin(&w);
		w.fails = E_INVALID;
		const struct outcome *o = run(&w, requests[i], true);
		assert_non_null(o);
		assert_int_equal(o->code, E_INVALID);
		assert_null(strstr(o->msg, "hunter2"));
		assert_int_equal(w.f.code, 0);
		end(&w);
	}
}

/* A full sandbox says nothing of the chart. */
static void test_work_render__one_that_did_not_begin_has_no_outcome(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	w.fails = E_TOOMANY;
	assert_null(run(&w, "{}", true));
	assert_int_equal(w.f.code, E_TOOMANY);
	end(&w);
}

/* The archive was dropped, or its fetch has failed: who planned this looks again. */
static void test_work_render__without_its_archive(void **state)
{
	struct world w;
	struct error err = ERROR_INIT;
	(void)state;
	begin(&w);
	assert_null(run(&w, "{}", false));
	assert_int_equal(w.f.code, 0);
	assert_int_equal(w.f.result, RUN_CHANGED);
	error_set(&err, E_NOTFOUND, "gone");
	stash_put(w.f.stash, "fetch:0", &err, STR_NONE, NULL, loop_now(w.f.loop));
	assert_null(run(&w, "{}", false));
	assert_int_equal(w.f.result, RUN_CHANGED);
	assert_int_equal(w.n_asked, 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_render__the_chart_is_told_what_is_served),
		cmocka_unit_test(test_work_render__or_what_it_was_told_before),
		cmocka_unit_test(test_work_render__a_failure_is_the_outcome_without_secrets),
		cmocka_unit_test(test_work_render__one_that_did_not_begin_has_no_outcome),
		cmocka_unit_test(test_work_render__without_its_archive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
