/* test_our_crds.c: ALM's own definitions, judged and put back. The server of this program, in process, on virtual time. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/main/our_crds.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"

#define APPS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/apps.app.coreos.com"

struct fixture {
	struct apifake *server;
	struct transport *transport;
	struct client *client;
	struct our_crds *crds;
	int n_kept; /* Events that say so, asked for */
	int n_done;
	int code; /* of the last time */
};

static void handle(void *arg, struct exchange *x)
{
	struct fixture *f = arg;
	struct obj *body = NULL;
	struct error err = ERROR_INIT;
	if (strstr(x->request->path, "/events") && json_parse(x->request->body, &body, &err) >= 0)
		f->n_kept += cstr_eq(obj_str(body, "reason"), "DefinitionKept");
	obj_unref(body);
	apiserver_handle(apifake_server(f->server), x);
}

static void on_done(void *arg, const struct error *err)
{
	struct fixture *f = arg;
	f->n_done++;
	f->code = err ? err->code : 0;
}

/* Until they are applied, or refused, once more. */
static void await_done(struct fixture *f)
{
	int before = f->n_done;
	for (int i = 0; i < 300 && f->n_done == before; i++)
		apifake_advance(f->server, NS_PER_S);
	assert_int_equal(f->n_done, before + 1);
	apifake_run(f->server);
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){.server = apifake_new(NULL)};
	struct loop *loop = apifake_loop(f->server);
	f->transport = transport_local_new(loop, handle, f, "secret");
	f->client = client_new(loop, f->transport);
	f->crds = our_crds_new(f->client, loop, on_done, f);
	our_crds_apply(f->crds);
	await_done(f);
	assert_int_equal(f->code, 0);
}

static void end(struct fixture *f)
{
	our_crds_free(f->crds);
	client_free(f->client);
	transport_free(f->transport);
	apifake_free(f->server);
}

/* Somebody has one more version served, of which objects may be, and a watch shows it. */
static void add_version(struct fixture *f, const char *name)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(apifake_do(f->server, "GET", APPS, NULL).json);
	CLEANUP(obj_unrefp) struct obj *versions = obj_copy(obj_path(o, "spec.versions"));
	struct obj *one = obj_copy(obj_at(versions, 0));
	obj_set_str(one, "name", name);
	obj_set_bool(one, "storage", false);
	obj_append(versions, one);
	obj_set_path(o, "spec.versions", obj_ref(versions));
	CLEANUP(xfreep) char *text = json_text(o);
	struct answer a = apifake_do(f->server, "PUT", APPS, text);
	assert_int_equal(a.status, 200);
	our_crds_seen(f->crds, a.json, false);
}

static void test_our_crds__what_is_kept_is_told_once(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f);
	assert_int_equal(
		apifake_do(f.server, "POST", "/apis/app.coreos.com/v1beta1/apps",
			   "{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\","
			   "\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"io.ops\"}}")
			.status,
		201);
	add_version(&f, "v9");
	await_done(&f);
	assert_int_equal(f.code, E_REFUSED);
	assert_int_equal(f.n_kept, 1);
	our_crds_apply(f.crds); /* as each minute while one is refused */
	await_done(&f);
	assert_int_equal(f.code, E_REFUSED);
	assert_int_equal(f.n_kept, 1);
	add_version(&f, "v10");
	await_done(&f);
	assert_int_equal(f.n_kept, 2);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_our_crds__what_is_kept_is_told_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
