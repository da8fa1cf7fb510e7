/*
 * jsonschema_assert: one schema at one value, and the keywords that need no other schema: type, const,
 * enum, format, those of numbers and of strings. Private to jsonschema*.c; what leads on to other
 * schemas is jsonschema_apply.c's.
 */
#ifndef INSTALLERS_JSONSCHEMA_JSONSCHEMA_ASSERT_H
#define INSTALLERS_JSONSCHEMA_JSONSCHEMA_ASSERT_H

#include "installers/jsonschema/jsonschema_tree.h"

struct schema_seen;

struct schema_check {
	struct schema_run *r;
	struct value v;
	const struct place *at;
	struct violation *out;    /* what was found */
	struct schema_seen *seen; /* of jsonschema_apply.c; NULL: nobody asks */
};

#define SCHEMA_FAULT(c, ...) \
	violation_add((c)->r, (c)->out, violation_new((c)->r, (c)->at, __VA_ARGS__))

/* Borrowed of the schema; NULL if it has none of the name, as true and false have. */
const struct value *schema_keyword(struct value schema, const char *name);
/* False if it is not there, or no number. */
bool schema_number_keyword(struct value schema, const char *name, double *ret);

/* These end the check of a value: false after a fault, which is in out. want: the keyword's value. */
bool schema_check_type(struct schema_check *c, struct value want);
bool schema_check_const(struct schema_check *c, struct value want);
bool schema_check_enum(struct schema_check *c, struct value want);
bool schema_check_format(struct schema_check *c, struct value format);

/* These go on. got: its limits are compared as they are, not as doubles: 2^64 is above 2^64 - 1. */
void schema_check_limit(struct schema_check *c, struct value schema, const char *name,
			struct value got, bool minimum, bool exclusive);
void schema_check_number(struct schema_check *c, struct value schema);
void schema_check_string(struct schema_check *c, struct value schema);

#endif
