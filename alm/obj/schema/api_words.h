/* api_words: what is said of a value that is not of its field's type, in Go's words. For
 * api_decode.c. Pure. */
#ifndef ALM_OBJ_SCHEMA_API_WORDS_H
#define ALM_OBJ_SCHEMA_API_WORDS_H

#include "alm/base/strbuf.h"
#include "alm/obj/schema/api_decode.h"

#define API_PATH_BYTES_MAX 4096
#define API_ONE_BYTE       8u /* a mark: a number among bytes that are told as a list */

/* Where a value is: a member (key), or an element of a list. Texts are made of it when needed. */
struct api_place {
	const struct api_place *up;
	const char *key; /* NULL: an element */
	size_t index;
	bool is_entry;                 /* of a map: no field of Go */
	const struct api_field *field; /* that holds the value, or the list or map that it is in */
	const struct api_type *holder,
		*outer; /* the struct of the field, and the one embedding it */
};

/* spec.containers[0].ports; entries: with the keys of maps on the way. */
void api_place_path(const struct api_place *p, bool entries, struct strbuf *b);
/* E_BADREQUEST. marks: what of the field's type was wanted here, of API_LIST and API_MAP. */
int api_wrong_type(enum api_dialect dialect, const struct api_place *p, unsigned marks,
		   const struct obj *v, struct error *err);

#endif
