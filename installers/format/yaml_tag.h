/* yaml_tag: what a scalar of a document is, by its tag, its style and its text, as Go's yaml.v2 resolves
 * it. */
#ifndef INSTALLERS_FORMAT_YAML_TAG_H
#define INSTALLERS_FORMAT_YAML_TAG_H

#include "installers/format/yaml_node.h"
#include "installers/format/yaml_plain.h"

#define YAML_TAG_PREFIX "tag:yaml.org,2002:"

/* -E_INVALID with Go's words in msg: the text does not have the type of its tag. */
int yaml_tag_resolve(struct arena *a, const struct yaml_node *n, struct yaml_plain *ret,
		     struct strbuf *msg);
/* Of a number. */
double yaml_plain_double(const struct yaml_plain *v);

#endif
