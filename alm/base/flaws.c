#include "alm/base/flaws.h"

int flaws_add(struct flaws *f, const char *text, struct error *err)
{
	if (f->n == FLAWS_MAX)
		return error_set(err, E_LIMIT, "there are more than %d faults; the next one is: %s",
				 FLAWS_MAX, text);
	ARENA_GROW(f->a, f->texts, f->cap, f->n, 8);
	f->texts[f->n++] = arena_strdup(f->a, text);
	return 0;
}

int flaws_take(struct flaws *f, struct error *err)
{
	const struct error taken = *err;
	if (!f || (taken.code != E_INVALID && taken.code != E_BADREQUEST))
		return -taken.code;
	*err = ERROR_INIT;
	return flaws_add(f, taken.msg, err);
}
