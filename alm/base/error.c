#include "alm/base/error.h"

#include <stdio.h>
#include <string.h>

#undef error_set
#undef error_vset
#undef error_because
#undef error_set_reason
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

static const char *const reasons[] = {[REASON_NONE] = "",
#define X(reason, text) [reason] = (text),
				      ERROR_REASONS(X)
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
	err->reason = REASON_NONE;
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

int error_because(struct error *err, int code, enum error_reason reason, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	(void)error_vset(err, code, fmt, args);
	va_end(args);
	return error_set_reason(err, reason);
}

int error_set_reason(struct error *err, enum error_reason reason)
{
	err->reason = reason;
	return error_wrap(err, "%s", error_reason_text(reason));
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
	enum error_reason reason = err->reason;
	int r = error_set(err, err->code, "%s: %s", outer, err->msg);
	err->reason = reason;
	return r;
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

const char *error_reason_text(enum error_reason reason)
{
	return reasons[reason];
}

enum error_reason error_reason_find(const char *text)
{
	for (size_t i = 1; text && i < ARRAY_LEN(reasons); i++)
		if (!strcmp(reasons[i], text))
			return (enum error_reason)i;
	return REASON_NONE;
}

bool error_is_reason(int64_t reason)
{
	return reason >= REASON_NONE && (uint64_t)reason < ARRAY_LEN(reasons);
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
