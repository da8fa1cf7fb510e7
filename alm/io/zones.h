/* zones: time zone files of the system, for the dates of templates (tmpl_host.zone_bytes). */
#ifndef ALM_IO_ZONES_H
#define ALM_IO_ZONES_H

#include "alm/base/arena.h"
#include "alm/base/str.h"

/* The bytes of /usr/share/zoneinfo/NAME; E_NOTFOUND for a name that is none. ctx is not used. */
int zones_read(void *ctx, struct arena *a, struct str name, struct str *ret);

#endif
