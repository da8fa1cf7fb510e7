#include "alm/cli/run/run_name.h"

#include <string.h>

static bool is_name(const char *s)
{
	size_t n = strlen(s);
	for (size_t i = 0; i < n; i++)
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= '0' && s[i] <= '9') && s[i] != '-')
			return false;
	return n && n <= RUN_NAME_MAX && s[0] != '-' && s[n - 1] != '-';
}

int run_name_check(const char *name, const char *from, struct error *err)
{
	return is_name(name) ? 0
			     : error_set(err, E_INVALID,
					 "%s %.80s: at most %d of a-z, 0-9 and -; --name gives "
					 "another",
					 from, name, RUN_NAME_MAX);
}
