/*
 * yaml_put: the characters of a document in block style: indents, indicators, and scalars in their
 * style, as the Go ports of libyaml's emitter write them. "whitespace", "indention" and column have
 * the meaning they have there; the order of their changes decides about line breaks.
 */
#ifndef INSTALLERS_FORMAT_YAML_PUT_H
#define INSTALLERS_FORMAT_YAML_PUT_H

#include "alm/base/strbuf.h"

#define YAML_INDENT 2

struct emitter {
	struct arena *a;
	struct strbuf *b, *msg;
	bool pretty;
	bool whitespace, indention;
	int column, depth;
};

void yaml_put_indent(struct emitter *e, int indent);
void yaml_put_indicator(struct emitter *e, const char *text, bool need_space, bool is_indention);
/* Text in the style that it needs. indent is that of the map or list around it. */
void yaml_put_scalar(struct emitter *e, struct str s, bool is_text, bool is_key, int indent);

#endif
