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
	DECODE_LIST, /* const struct obj *: a list */
	DECODE_STRS, /* struct decode_strs: a list of strings */
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

#endif
