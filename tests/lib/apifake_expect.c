#include "tests/lib/apifake_expect.h"

#include <string.h>

#include "alm/io/db.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

struct answer apifake_expect(struct apifake *f, const char *method, const char *target,
			     const char *body, int status)
{
	bool is_patch = strcmp(method, "PATCH") == 0;
	const char *type = is_patch ? "application/merge-patch+json" : "application/json";
	struct answer a = apifake_do_type(f, method, target, type, body);
	const char *message = obj_str(a.json, "message");
	if (a.status != status)
		fail_msg("%s %s: %d %s, wanted %d", method, target, a.status,
			 message ? message : "", status);
	return a;
}

void apifake_plant(struct apifake *f, const char *key, const char *value)
{
	struct error err = ERROR_INIT;
	struct stmt *st = NULL;
	assert_int_equal(db_prepare(apifake_db(f),
				    "INSERT INTO objects SELECT coalesce(max(id), 0) + 1, ?1, 1, "
				    "0, coalesce(max(id), 0) + 1, 0, ?2 FROM objects",
				    &st, &err),
			 0);
	stmt_bind_cstr(st, 1, key);
	stmt_bind_blob(st, 2, str_of(value));
	assert_true(stmt_step(st, &err) >= 0);
	stmt_reset(st);
}
