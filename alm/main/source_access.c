#include "alm/main/source_access.h"

#include "alm/base/file.h"

#define PATH_BYTES_MAX 4096

static size_t values(const struct cli *c, const char *option, const char **ret, size_t max)
{
	size_t n = 0;
	while (n < max && (ret[n] = cli_value_at(c, option, n)) != NULL)
		n++;
	return n;
}

static int name_mirrors(struct source_access *s, const char *data_dir, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PATH_BYTES_MAX);
	if (file_absolute(data_dir, &b, err) < 0)
		return -err->code;
	strbuf_adds(&b, "/git");
	if (strbuf_check(&b, "--data-dir", err) < 0)
		return -err->code;
	s->git_dir = strbuf_detach(&b);
	return 0;
}

static int read_flags(struct source_access *s, const struct cli *c, const char *data_dir,
		      struct error *err)
{
	const char *dirs[SOURCE_ROOTS_MAX + 1], *rules[ADDRESS_RULES_MAX + 1];
	size_t n_dirs = values(c, "catalog-root", dirs, ARRAY_LEN(dirs));
	size_t n_rules = values(c, "allow-source", rules, ARRAY_LEN(rules));
	if (address_policy_new(rules, n_rules, &s->addresses, err) < 0)
		return error_wrap(err, "--allow-source");
	return source_roots_new(dirs, n_dirs, data_dir, &s->roots, err);
}

int source_access_check(const struct cli *c, const char *data_dir, struct error *err)
{
	struct source_access s = {0};
	int r = read_flags(&s, c, data_dir, err);
	source_access_close(&s);
	return r;
}

int source_access_open(struct source_access *s, const struct cli *c, const char *data_dir,
		       struct error *err)
{
	return name_mirrors(s, data_dir, err) < 0 ? -err->code : read_flags(s, c, data_dir, err);
}

void source_access_close(struct source_access *s)
{
	source_roots_free(STEAL(s->roots));
	address_policy_free(STEAL(s->addresses));
	xfree(STEAL(s->git_dir));
}

void source_access_set(const struct source_access *s, struct manager_config *mc)
{
	mc->files = source_roots_files(s->roots);
	mc->addresses = s->addresses;
	mc->git_dir = s->git_dir;
}
