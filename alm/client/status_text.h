/*
 * status_text: what a server says of a refusal, as an error. A server may put a whole object before what
 * is wrong with it ("spec.template: Invalid value: {...}: field is immutable"): of what is too long
 * the beginning and the end stay, and room for who says where it was.
 */
#ifndef ALM_CLIENT_STATUS_TEXT_H
#define ALM_CLIENT_STATUS_TEXT_H

#include "alm/base/error.h"

#define STATUS_TEXT_MAX 400 /* bytes */

/* Returns -code. */
int status_text_error(struct error *err, int code, const char *message);

#endif
