/* glob: Go's path.Match: * and ? stay inside a component, [a-z], [^a], \x. */
#ifndef INSTALLERS_CHART_GLOB_H
#define INSTALLERS_CHART_GLOB_H

#include <stdbool.h>

#include "alm/base/str.h"

/* 0, or -E_INVALID for a malformed pattern. */
int glob_match(struct str p, struct str s, bool *ret);

#endif
