/* url: URLs as Go's net/url takes them apart and puts them together. */
#ifndef INSTALLERS_TMPL_FN_URL_H
#define INSTALLERS_TMPL_FN_URL_H

#include "alm/base/arena.h"
#include "alm/base/strbuf.h"

struct url {
	struct str scheme, opaque, user, password, host, path, raw_path, query, fragment;
	bool has_user, has_password, force_query;
};

/* False: msg has Go's message. Parts point into text or the arena. */
bool url_parse(struct arena *a, struct str text, struct url *ret, struct strbuf *msg);
void url_print(const struct url *u, struct strbuf *b);
void url_print_user(const struct url *u, struct strbuf *b); /* user:password, escaped */
struct str url_hostname(const struct url *u);

#endif
