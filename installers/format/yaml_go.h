/*
 * yaml_go: YAML 1.1 and JSON as Helm reads them (sigs.k8s.io/yaml on Go's yaml.v2): every number is
 * a float64, keys are text, the last duplicate wins, only the first document counts. The message is
 * Go's, complete, as "error converting YAML to JSON: yaml: line 2: ...". Values live in the arena.
 */
#ifndef INSTALLERS_FORMAT_YAML_GO_H
#define INSTALLERS_FORMAT_YAML_GO_H

#include "alm/base/strbuf.h"
#include "installers/value/value.h"

#define YAML_GO_BYTES_MAX      ((size_t)16 << 20)
#define YAML_GO_NODE_BYTES_MAX ((size_t)512 << 20) /* 2 million nodes fit */

/* Any value, nil for an empty document. 0, -E_INVALID or -E_LIMIT. */
int yaml_go_parse(struct arena *a, struct str text, struct value *ret, struct strbuf *msg);
/* The same, but integers are VALUE_INT64 or VALUE_UINT64: where a number becomes text, 123456789
 * and 123456789.0 differ. */
int yaml_go_parse_ints(struct arena *a, struct str text, struct value *ret, struct strbuf *msg);
/* The same faults are found, but of a map only apiVersion, kind and metadata (in any case) are
 * there. */
int yaml_go_parse_head(struct arena *a, struct str text, struct value *ret, struct strbuf *msg);
/* A map, empty for an empty document or null; anything else is an error of decoding. */
int yaml_go_parse_map(struct arena *a, struct str text, struct vmap **ret, struct strbuf *msg);
/* A list, empty for an empty document or null. */
int yaml_go_parse_list(struct arena *a, struct str text, struct value *ret, struct strbuf *msg);
/* Go's name for the JSON type of v in decode errors: "array", "number". */
const char *yaml_go_json_type(struct value v);
/* Would the plain scalar be read as a string by YAML 1.1 (null, bools, numbers are not)? */
bool yaml_go_is_string(struct str s);

#endif
