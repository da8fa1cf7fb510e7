/* recorded: the recorded answers of a real API server (tests/golden/schema/recorded.jsonl), by
 * their number in the recording ("G33"). */
#ifndef TESTS_LIB_RECORDED_H
#define TESTS_LIB_RECORDED_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* {n, name, body, status, warning, resp}; owned. Fails the test if there is none. */
struct obj *recorded(int n);
/* The schema of the only version of the definition that request n created; owned. */
struct obj *recorded_schema(int n);
/* The causes of the recorded Status and the errors found are equal as sets of
 * "reason|field|message". Prints what differs. */
void assert_causes(const struct obj *answer, const struct field_errors *found);

#endif
