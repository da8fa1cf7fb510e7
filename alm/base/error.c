#include "alm/base/error.h"

#include <stdio.h>
#include <string.h>

#undef error_set
#undef error_vset
#undef error_wrap
#undef error_copy

static const struct {
	int http;
	const char *reason;
	enum error_retry retry;
	int exit;
} codes[] = {[E_OK] = {200, "", RETRY_NEVER, 0},
#define X(code, http, reason, retry, exit) [code] = {http, reason, retry, exit},
	     ERROR_CODES(X)
#undef X
};

/* Drops a UTF-8 sequence that the end of the buffer has cut. */
static void trim_partial(char *s)
{
	size_t len = strlen(s);
	if (len + 1 < ERROR_MSG_MAX)
		return;
	while (len > 0 && ((unsigned char)s[len - 1] & 0xC0) == 0x80)
		len--;
	if (len > 0 && (unsigned char)s[len - 1] >= 0xC0)
		len--;
	s[len] = '\0';
}

int error_vset(struct error *err, int code, const char *fmt, va_list args)
{
	char msg[ERROR_MSG_MAX]; /* the arguments may point into err */
	int n = vsnprintf(msg, sizeof(msg), fmt, args);
	if (n < 0)
		msg[0] = '\0';
	trim_partial(msg);
	memcpy(err->msg, msg, sizeof(msg));
	err->code = code;
	return -code;
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int r = error_vset(err, code, fmt, args);
	va_end(args);
	return r;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	char outer[ERROR_MSG_MAX];
	va_list args;
	va_start(args, fmt);
	int n = vsnprintf(outer, sizeof(outer), fmt, args);
	va_end(args);
	if (n < 0)
		outer[0] = '\0';
	return error_set(err, err->code, "%s: %s", outer, err->msg);
}

int error_copy(struct error *err, const struct error *from)
{
	if (err != from)
		*err = *from;
	return -from->code;
}

static bool known(int code)
{
	return code >= 0 && (size_t)code < ARRAY_LEN(codes);
}

int error_http(int code)
{
	return known(code) ? codes[code].http : 500;
}

const char *error_reason(int code)
{
	return known(code) ? codes[code].reason : "InternalError";
}

enum error_retry error_retry(int code)
{
	return known(code) ? codes[code].retry : RETRY_BACKOFF;
}

int error_exit(int code)
{
	return known(code) ? codes[code].exit : 1;
}

int error_from_http(int status, const char *reason)
{
	for (size_t i = 1; i < ARRAY_LEN(codes); i++)
		if (codes[i].http == status && !strcmp(codes[i].reason, reason))
			return (int)i;
	for (size_t i = 1; i < ARRAY_LEN(codes); i++)
		if (codes[i].http == status)
			return (int)i;
	return status >= 400 && status < 500 ? E_BADREQUEST : E_UNAVAILABLE;
}
