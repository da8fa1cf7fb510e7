/*
 * yaml_style: what the text of a scalar allows and how it is written (yaml_emitter_analyze_scalar()
 * and its callers in the Go ports of libyaml), and the order of keys. Pure.
 */
#ifndef INSTALLERS_FORMAT_YAML_STYLE_H
#define INSTALLERS_FORMAT_YAML_STYLE_H

#include "installers/value/value.h"

enum yaml_style { YAML_STYLE_PLAIN, YAML_STYLE_SINGLE, YAML_STYLE_DOUBLE, YAML_STYLE_LITERAL };

/* Pretty is yaml.v3, else yaml.v2. The text is valid UTF-8. */
bool yaml_is_multiline(struct str s);
/* Not is_text: a number or a word that stands for itself. */
enum yaml_style yaml_style(struct str s, bool is_text, bool is_key, bool pretty);
/* The keys of a map in the order in which they are written. */
void yaml_sort_keys(const struct vmap_entry **keys, size_t n, bool pretty);

bool yaml_rune_is_break(uint32_t r);
bool yaml_rune_is_printable(uint32_t r);
/* The character at i; returns its bytes. */
size_t yaml_rune_at(struct str s, size_t i, uint32_t *ret);

#endif
