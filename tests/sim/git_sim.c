#include "tests/sim/git_sim.h"

#include "alm/base/map.h"
#include "tests/sim/world.h"

size_t git_sim_pushed(const struct world *w)
{
	const struct world_file *f = map_get(w->files, GIT_SIM_HEAD);
	int64_t n = 0;
	return f && str_parse_i64(str_n(f->bytes, f->n), &n) ? (size_t)n : 0;
}

static struct git_table table_of(const struct world *w)
{
	return (struct git_table){.commits = w->scenario->commits, .pushed = git_sim_pushed(w)};
}

size_t git_sim_find(const struct world *w, const char *oid)
{
	const struct git_table t = table_of(w);
	return git_table_find(&t, oid);
}

int git_sim(void *arg, const struct program_call *call, struct strbuf *output,
	    struct strbuf *errors)
{
	struct git_table t = table_of(arg);
	return git_table(&t, call, output, errors);
}
