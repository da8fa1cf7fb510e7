/* zone_name: time zones as a template names them. */
#ifndef INSTALLERS_TMPL_FN_ZONE_NAME_H
#define INSTALLERS_TMPL_FN_ZONE_NAME_H

#include "installers/tmpl/tmpl.h"
#include "installers/value/date.h"

/* NULL: no such zone, or the host gives none. UTC gives date_utc. */
const struct vzone *zone_named(struct tmpl_run *run, struct str name);
const struct vzone *zone_local(struct tmpl_run *run);

#endif
