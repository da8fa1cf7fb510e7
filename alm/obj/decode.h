/*
 * decode: field tables -> structs. The error names the path, what was found and what was wanted.
 * Strings are borrowed from the object (keep it as long as the struct).
 */
#ifndef ALM_OBJ_DECODE_H
#define ALM_OBJ_DECODE_H

#include "alm/obj/obj.h"

enum decode_type {
	DECODE_STR,  /* const char * */
	DECODE_TEXT, /* const char *: a string, or a number or bool as written (1, "0.9.6") */
	/* const char *: a version or range, a string or a whole number. A fraction is refused: YAML
	 * reads 1.30 as 1.3. */
	DECODE_VERSION,
	DECODE_LIST, /* const struct obj *: a list */
	DECODE_STRS, /* struct decode_strs: a list of strings */
	DECODE_BOOL, /* bool */
	DECODE_MAP,  /* const struct obj *: a map */
	DECODE_ANY,  /* const struct obj *: any value; null counts as one */
	DECODE_SPAN, /* int64_t nanoseconds: "5m", or a whole number of nanoseconds, as Go writes a
		      * time.Duration; from 1 ms to 7 days */
};

struct decode_strs {
	const char **items; /* arena */
	size_t n;
};

struct decode_field {
	const char *path;
	enum decode_type type;
	size_t offset;
};

/* Fields of the table, ended by a NULL path, into out, whose members keep their value when absent.
 */
int decode_fields(const struct obj *o, const struct decode_field *fields, void *out,
		  struct arena *a, struct error *err);
/* The same of a table whose paths are names, for the map at path ("spec.groups[0]", which begins
 * every message): what is no map, and a member that is not in the table, is an error. */
int decode_members(const struct obj *o, const char *path, const struct decode_field *fields,
		   void *out, struct arena *a, struct error *err);

#endif
