/* cast: what sprig's functions make of values of any type. */
#ifndef INSTALLERS_TMPL_CAST_H
#define INSTALLERS_TMPL_CAST_H

#include "installers/tmpl/tmpl.h"

int64_t cast_int64(struct value v);
double cast_double(struct value v);
bool value_is_empty(struct value v); /* sprig's empty */

/* Base64 to bytes; Go's error otherwise. fn_misc.c */
int misc_b64dec(struct tmpl_run *run, const struct value *text, struct value *ret);

#endif
