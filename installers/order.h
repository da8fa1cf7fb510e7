/* order: in which order kinds are installed and uninstalled (charts.md 9). */
#ifndef INSTALLERS_ORDER_H
#define INSTALLERS_ORDER_H

#include "alm/base/str.h"
#include "installers/value/value.h"

/* Total over texts: known kinds by rank, unknown ones after them by name; equal only for equal
 * kinds. Profile 3 does not know the two webhook configurations. */
int order_install_cmp(struct str a, struct str b, enum tmpl_profile profile);
int order_uninstall_cmp(struct str a, struct str b);

#endif
