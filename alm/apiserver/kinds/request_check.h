/* request_check: CertificateSigningRequests (builtin_check.h): what is asked and of whom; a signature is not looked at. Pure. */
#ifndef ALM_APISERVER_KINDS_REQUEST_CHECK_H
#define ALM_APISERVER_KINDS_REQUEST_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_certificate_request(struct field_errors *e, const struct obj *o);
/* Who approved or denied is never taken back, and is said through approval alone: decides. */
void check_decision(struct field_errors *e, const struct obj *o, const struct obj *before,
		    bool decides);

#endif
