#include "tests/lib/apifake_expect.h"

#include <string.h>

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
