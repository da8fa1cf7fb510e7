/* version: what a VALUE_SEMVER points at. */
#ifndef INSTALLERS_VALUE_VERSION_H
#define INSTALLERS_VALUE_VERSION_H

#include "catalog/semver.h"

struct semver_value {
	struct version v;
};

#endif
