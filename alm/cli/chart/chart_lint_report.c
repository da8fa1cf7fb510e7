/* The findings of a lint. */
#include <string.h>

#include "alm/cli/chart/chart_lint_rules.h"

#define FINDINGS_MAX 10000

static void add(struct lint_report *r, struct chart_finding f)
{
	if (r->n == FINDINGS_MAX)
		return;
	ARENA_GROW(r->a, r->items, r->cap, r->n, 16);
	r->items[r->n++] = f;
}

void chart_lint_add(struct lint_report *r, enum chart_level level, const char *file,
		    const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	add(r, (struct chart_finding){level, file, arena_vfmt(r->a, fmt, args), false});
	va_end(args);
}

/* A warning of ours. */
void chart_lint_add_own(struct lint_report *r, const char *file, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	add(r, (struct chart_finding){LINT_WARNING, file, arena_vfmt(r->a, fmt, args), true});
	va_end(args);
}
