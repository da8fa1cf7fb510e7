/* msg: how what reads charts and values fails: the text is added to a message, the code returned. */
#ifndef INSTALLERS_VALUE_MSG_H
#define INSTALLERS_VALUE_MSG_H

#include "alm/base/error.h"
#include "alm/base/strbuf.h"

static inline int msg_fail(struct strbuf *msg, const char *text)
{
	strbuf_adds(msg, text);
	return -E_INVALID;
}

#endif
