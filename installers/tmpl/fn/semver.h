/* semver: the versions of templates, on catalog/semver.h. */
#ifndef INSTALLERS_TMPL_FN_SEMVER_H
#define INSTALLERS_TMPL_FN_SEMVER_H

#include "installers/tmpl/tmpl.h"
#include "installers/value/version.h"

extern const struct tmpl_func semver_methods[];
int semver_fn_semver(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret);
int semver_fn_compare(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret);

#endif
