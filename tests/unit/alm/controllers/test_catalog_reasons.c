#include "tests/lib/test.h"

#include "alm/controllers/app/controllers.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "tests/lib/view_fake.h"

#define ACCEPTED "91a2"
#define CATALOG                                                                               \
	"{\"apiVersion\": \"app.coreos.com/v1alpha2\", \"kind\": \"Catalog\", \"metadata\": " \
	"{\"name\": \"c\", \"uid\": \"u1\", \"generation\": 1, \"annotations\": "             \
	"{\"app.coreos.com/accept-digest\": \"" ACCEPTED "\"}}, \"spec\": {\"source\": {}}}"

/* The words of a message decide nothing: each row has them all. */
#define WORDS "SignatureInvalid: CatalogStale: SuspiciousShrink: DigestMismatch: %s"

struct row {
	int code;
	enum error_reason reason;
	const char *want;
	bool may_be_accepted; /* its quarantine ends by the annotation: read again at once */
};

static void look(const struct row *row)
{
	struct view_fake f;
	struct error failed = ERROR_INIT, err = ERROR_INIT;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_CATALOG, CATALOG);
	error_set(&failed, row->code, WORDS, "and more");
	failed.reason = row->reason;
	struct obj *value = obj_map();
	obj_set_str(value, "badDigest", ACCEPTED);
	stash_put(f.stash, "sync:u1:1", &failed, STR_NONE, value, f.view.now_ns);
	struct plan *p = view_fake_plan(&f);
	for (const struct step *s = catalog_controller.steps; s->fn; s++)
		assert_ok(s->fn(&f.view, "c", p, &err), &err);
	const struct action *x = view_fake_action(&f, ACT_STATUS, NULL, NULL);
	assert_non_null(x);
	const struct obj *c = condition_find(obj_get(x->body, "conditions"), "Synced");
	assert_string_equal(obj_str(c, "reason"), row->want);
	assert_string_equal(obj_str(x->body, "quarantined.reason"), row->want);
	assert_int_equal(view_fake_works(&f, &sync_work), row->may_be_accepted);
	view_fake_release(&f);
}

static void test_catalog_reasons__by_reason_then_by_code(void **state)
{
	static const struct row rows[] = {
		{E_INVALID, REASON_SIGNATURE_INVALID, "SignatureInvalid", false},
		{E_UNAVAILABLE, REASON_SIGNATURE_INVALID, "SignatureInvalid", false},
		{E_REFUSED, REASON_CATALOG_STALE, "CatalogStale", true},
		{E_REFUSED, REASON_SUSPICIOUS_SHRINK, "SuspiciousShrink", true},
		{E_INVALID, REASON_DIGEST_MISMATCH, "DigestMismatch", false},
		{E_INVALID, REASON_NONE, "ParseError", false},
		{E_LIMIT, REASON_NONE, "LimitExceeded", false},
		{E_REFUSED, REASON_NONE, "RedirectRefused", false},
		{E_NOTALLOWED, REASON_NONE, "SourceNotAllowed", false},
		{E_FORBIDDEN, REASON_NONE, "Unauthorized", false},
		{E_TIMEOUT, REASON_NONE, "SourceUnreachable", false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		look(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalog_reasons__by_reason_then_by_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
