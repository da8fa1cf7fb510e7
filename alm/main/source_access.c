#include "alm/main/source_access.h"

int source_access_open(struct source_access *s, const struct cli *c, const char *data_dir,
		       struct error *err)
{
	const char *dirs[SOURCE_ROOTS_MAX + 1];
	size_t n = 0;
	while (n < ARRAY_LEN(dirs) && (dirs[n] = cli_value_at(c, "catalog-root", n)) != NULL)
		n++;
	return source_roots_new(dirs, n, data_dir, &s->roots, err);
}

void source_access_close(struct source_access *s)
{
	source_roots_free(STEAL(s->roots));
}

void source_access_set(const struct source_access *s, struct manager_config *mc)
{
	mc->files = source_roots_files(s->roots);
}
