#include "alm/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "alm/cli/term.h"

void progress_start(struct progress *p, size_t n)
{
	*p = (struct progress){.n = n, .on_terminal = isatty(STDERR_FILENO)};
}

void progress_step(struct progress *p, const char *what)
{
	progress_at(p, p->at + 1, what);
}

void progress_at(struct progress *p, size_t at, const char *what)
{
	p->at = at;
	if (p->on_terminal)
		term_error("\r\033[K%zu/%zu %s", p->at, p->n, what);
	(void)fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->on_terminal && p->at)
		term_error("\r\033[K");
}
