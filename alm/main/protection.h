/* protection: the line that tells what a service has given up, and what its sandbox lacks. */
#ifndef ALM_MAIN_PROTECTION_H
#define ALM_MAIN_PROTECTION_H

#include "alm/io/sandbox.h"

/* s: NULL for a service without a sandbox. */
void print_protection(const char *who, struct sandbox *s);

#endif
