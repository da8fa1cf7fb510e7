/* told: what the checks of an object said, all of it as one text. */
#ifndef TESTS_LIB_TOLD_H
#define TESTS_LIB_TOLD_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* Owned; a text that is no JSON fails the test. */
struct obj *told_read(const char *json);
/* As a Status says it; want "": nothing is wrong. */
void assert_told(const struct field_errors *e, const char *want);

#endif
