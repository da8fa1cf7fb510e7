/*
 * yaml_emit: template values to YAML, byte for byte as Helm writes it (charts.md 8).
 *
 * YAML_EMIT_HELM is toYaml: JSON read back as YAML, lists not indented, lines broken after 80
 * columns (the writer of Go's yaml.v2). YAML_EMIT_PRETTY is toYamlPretty (yaml.v3): the Go value
 * itself, lists indented, no line breaking. Both end with a newline.
 */
#ifndef INSTALLERS_FORMAT_YAML_EMIT_H
#define INSTALLERS_FORMAT_YAML_EMIT_H

#include "alm/base/strbuf.h"
#include "installers/value/value.h"

enum yaml_emit_style { YAML_EMIT_HELM, YAML_EMIT_PRETTY };

/* a holds passing text. -E_INVALID if the value cannot be written (infinity, control characters);
 * b is then of no use. */
int yaml_emit(struct arena *a, struct value v, enum yaml_emit_style style, struct strbuf *b,
	      struct strbuf *msg);

#endif
