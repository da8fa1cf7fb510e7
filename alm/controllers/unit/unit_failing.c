#include "alm/controllers/unit/unit_failing.h"

#include "alm/base/clock.h"

#define PASSES          3                /* of an error that does not pass, in a row */
#define WHILE_NS        (2 * NS_PER_MIN) /* of one that may */
#define WORKED_IN_A_ROW 3

bool unit_failing_pass(struct unit_failing *f, int64_t mono_ns, bool half, const struct error *err)
{
	if (!err) {
		if (!half || f->code != E_FORBIDDEN || ++f->worked >= WORKED_IN_A_ROW)
			*f = (struct unit_failing){0};
		return false;
	}
	f->worked = 0;
	f->code = err->code;
	if (!f->failures++)
		f->since_ns = mono_ns;
	bool stays = error_retry(err->code) == RETRY_NEVER || err->code == E_FORBIDDEN ||
		     err->code == E_UNAUTHORIZED;
	return (stays && f->failures >= PASSES) || mono_ns - f->since_ns >= WHILE_NS;
}
