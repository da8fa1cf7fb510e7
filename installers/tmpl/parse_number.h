/* parse_number: the constants of templates, each with all types it can take. */
#ifndef INSTALLERS_TMPL_PARSE_NUMBER_H
#define INSTALLERS_TMPL_PARSE_NUMBER_H

#include "installers/tmpl/lex.h"
#include "installers/tmpl/node.h"

/* False: why has the message. */
bool parse_number(struct str text, enum token_type type, struct number *ret, struct strbuf *why);

#endif
