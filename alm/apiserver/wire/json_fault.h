/* json_fault: what Go's encoding/json says about a text that is not JSON. Clients and people know
 * these texts (golden G45, G72), so ours are the same. Pure. */
#ifndef ALM_APISERVER_WIRE_JSON_FAULT_H
#define ALM_APISERVER_WIRE_JSON_FAULT_H

#include "alm/base/arena.h"
#include "alm/base/str.h"
#include "alm/obj/obj.h"

/* "invalid character 'b' looking for beginning of value", "unexpected end of JSON input"; NULL if
 * the text is JSON as far as Go is concerned. From a. */
const char *json_fault(struct str text, struct arena *a);

/* How it names what stands where a struct or a list should; NULL for null and objects. */
const char *json_fault_type(const struct obj *v);

#endif
