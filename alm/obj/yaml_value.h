/*
 * yaml_value: what a scalar of a document is as a value and as a key, by its tag, its style and its
 * text. Private to yaml*.c; knows nothing of libyaml.
 */
#ifndef ALM_OBJ_YAML_VALUE_H
#define ALM_OBJ_YAML_VALUE_H

#include "alm/base/error.h"
#include "alm/obj/obj.h"

struct yaml_written {
	const char *tag; /* NULL: none */
	struct str text; /* with a NUL behind it */
	bool is_plain;   /* no quotes, no block */
	size_t line;     /* from 1 */
};

/* Is it one of YAML's own, "int" or "merge"? */
bool yaml_tag_is(const char *tag, const char *name);
/* A string unless it is plain or tagged otherwise. NULL: E_BADREQUEST, with the texts of Go's library. */
struct obj *yaml_value(const struct yaml_written *w, struct error *err);
/* A key as text: n is "false", 0x10 is "16". Owned. NULL: E_BADREQUEST. */
char *yaml_key_text(const struct yaml_written *w, struct error *err);

#endif
