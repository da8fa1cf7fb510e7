/* text_case: title, snakecase and the like. */
#ifndef INSTALLERS_TMPL_FN_TEXT_CASE_H
#define INSTALLERS_TMPL_FN_TEXT_CASE_H

#include "alm/base/strbuf.h"

void text_title(struct strbuf *b, struct str s);
void text_untitle(struct strbuf *b, struct str s);
void text_swapcase(struct strbuf *b, struct str s);
/* Words in small letters with connector between: HTTPServer -> http_server. */
void text_snakecase(struct strbuf *b, struct str s, char connector);
void text_camelcase(struct strbuf *b, struct str s); /* HttpServer */

#endif
