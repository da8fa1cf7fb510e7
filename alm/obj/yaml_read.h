/* yaml_read: the documents of a text, from libyaml's events, within the limits of yaml.h. Private to yaml*.c. */
#ifndef ALM_OBJ_YAML_READ_H
#define ALM_OBJ_YAML_READ_H

#include "alm/obj/yaml.h"

/* items: NULL, or what takes the values of one place, which are in no document then. text has no byte
 * order mark. *ret is owned, and untouched on failure. */
int yaml_read(struct str text, const struct yaml_items *items, size_t nodes_max,
	      struct yaml_documents *ret, struct error *err);

#endif
