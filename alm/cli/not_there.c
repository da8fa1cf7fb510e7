#include "alm/cli/not_there.h"

#include "alm/base/str.h"

static const char *const groups[] = {"app.coreos.com", "opinstaller.coreos.com", NULL};

static const char hint[] = "; the controller of ALM brings its kinds: `alm install --to-cluster "
			   "--wait` installs it, `kubectl -n alm-system get pods` shows whether it "
			   "runs";

const char *not_there_path(const char *path)
{
	static const char apis[] = "/apis/";
	struct str group, rest;
	if (!cstr_has_prefix(path, apis) ||
	    !str_cut(str_of(path + strlen(apis)), '/', &group, &rest))
		return "";
	for (size_t i = 0; groups[i]; i++)
		if (str_is(group, groups[i]))
			return hint;
	return "";
}

const char *not_there_kind(const struct discovery *d, const char *group)
{
	size_t n;
	const struct resource *const *all = discovery_all(d, &n);
	if (!cstr_in(group, groups))
		return "";
	for (size_t i = 0; i < n; i++)
		if (cstr_eq(all[i]->group, group))
			return "";
	return hint;
}
