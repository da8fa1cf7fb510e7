/*
 * error: how a failure is reported.
 *
 * A function that can fail returns 0 (or a useful positive value), or the negative code that
 * error_set() returns. The struct is owned by the caller, is the last parameter, is never NULL and
 * stays untouched on success. Messages are lower case, without a full stop, and name what was found
 * and what was wanted; on the way up error_wrap() puts the outer context in front.
 *
 * The table below is the only place that maps a code to the HTTP status and reason of a Kubernetes
 * Status (API conventions, "Response Status Kind"), to the retry policy of a queue and to the exit
 * code of the program. Where somebody has to decide by more than the code, there is a reason: nobody
 * matches on text (tests/lint/messages.py). To add a code or a reason: one row.
 */
#ifndef ALM_BASE_ERROR_H
#define ALM_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "alm/base/mem.h"

#define ERROR_MSG_MAX 512

enum error_retry {
	RETRY_NEVER,   /* the input must change first */
	RETRY_BACKOFF, /* again after a growing pause */
	RETRY_NOW,     /* read again, compute again, at once */
};

/*  code, HTTP status, Kubernetes reason, retry, exit code of the program */
/* clang-format off */
#define ERROR_CODES(X)                                                                              \
	X(E_INTERNAL,      500, "InternalError",         RETRY_BACKOFF, 1)                          \
	X(E_BADREQUEST,    400, "BadRequest",            RETRY_NEVER,   1)                          \
	X(E_UNAUTHORIZED,  401, "Unauthorized",          RETRY_BACKOFF, 1)                          \
	X(E_FORBIDDEN,     403, "Forbidden",             RETRY_BACKOFF, 1)                          \
	X(E_NOTFOUND,      404, "NotFound",              RETRY_NEVER,   1)                          \
	X(E_METHOD,        405, "MethodNotAllowed",      RETRY_NEVER,   1)                          \
	X(E_NOTACCEPTABLE, 406, "NotAcceptable",         RETRY_NEVER,   1)                          \
	X(E_EXISTS,        409, "AlreadyExists",         RETRY_NOW,     1)                          \
	X(E_CONFLICT,      409, "Conflict",              RETRY_NOW,     1)                          \
	X(E_EXPIRED,       410, "Expired",               RETRY_NOW,     1)                          \
	X(E_TOOLARGE,      413, "RequestEntityTooLarge", RETRY_NEVER,   1)                          \
	X(E_MEDIATYPE,     415, "UnsupportedMediaType",  RETRY_NEVER,   1)                          \
	X(E_INVALID,       422, "Invalid",               RETRY_NEVER,   1)                          \
	X(E_TOOMANY,       429, "TooManyRequests",       RETRY_BACKOFF, 1)                          \
	X(E_UNAVAILABLE,   503, "ServiceUnavailable",    RETRY_BACKOFF, 1)                          \
	X(E_TIMEOUT,       504, "Timeout",               RETRY_BACKOFF, 124)                        \
	X(E_IO,            500, "InternalError",         RETRY_BACKOFF, 1) /* disk or network */    \
	X(E_CORRUPT,       500, "InternalError",         RETRY_NEVER,   1) /* stored bytes wrong */ \
	X(E_LIMIT,         413, "RequestEntityTooLarge", RETRY_NEVER,   1) /* a written limit */    \
	X(E_CANCELLED,     503, "ServiceUnavailable",    RETRY_BACKOFF, 1) /* caller gave up */     \
	X(E_UNSUPPORTED,   501, "NotImplemented",        RETRY_NEVER,   1)                          \
	X(E_USAGE,         400, "BadRequest",            RETRY_NEVER,   2) /* command line */       \
	X(E_REFUSED,       403, "Forbidden",             RETRY_NEVER,   3) /* by a gate */          \
	X(E_NOTALLOWED,    403, "Forbidden",             RETRY_NEVER,   3) /* by configuration */   \
	X(E_ALTERED,       500, "InternalError",         RETRY_NEVER,   4) /* audit log */
/* clang-format on */

enum error_code {
	E_OK = 0,
#define X(code, http, reason, retry, exit) code,
	ERROR_CODES(X)
#undef X
};

/* Finer than the code, and stable: what is said of it in conditions. */
/* clang-format off */
#define ERROR_REASONS(X)                                                                            \
	X(REASON_SIGNATURE_INVALID,   "SignatureInvalid")   /* spec.verify is not satisfied */      \
	X(REASON_CATALOG_STALE,       "CatalogStale")       /* an index goes back, or is too old */ \
	X(REASON_SUSPICIOUS_SHRINK,   "SuspiciousShrink")   /* most versions are gone */            \
	X(REASON_DIGEST_MISMATCH,     "DigestMismatch")     /* other bytes than were wanted */      \
	X(REASON_MISSING_DIGEST,      "MissingDigest")      /* nothing says what an entry is */    \
	X(REASON_DESCRIPTOR_MISMATCH, "DescriptorMismatch") /* two descriptors that differ */       \
	X(REASON_VERSION_NO_FORM,     "NotAVersion")        /* the text is no version at all */     \
	X(REASON_GIT_MISSING,         "GitMissing")         /* no program git, or not for us */     \
	X(REASON_SOURCE_UNREACHABLE,  "SourceUnreachable")  /* a repository does not answer */      \
	X(REASON_CREDENTIALS_REJECTED, "CredentialsRejected") /* ... or not with these */           \
	X(REASON_HOST_KEY_UNKNOWN,    "HostKeyUnknown")     /* known_hosts has none of the host */  \
	X(REASON_HOST_KEY_CHANGED,    "HostKeyChanged")     /* ... or another, or a revoked one */  \
	X(REASON_LIMIT_EXCEEDED,      "LimitExceeded")      /* a repository is too large */         \
	X(REASON_BRANCH_NOT_FOUND,    "BranchNotFound")                                             \
	X(REASON_SOURCE_EMPTY,        "SourceEmpty")        /* no folder, or nothing in it */       \
	X(REASON_HISTORY_REWRITTEN,   "HistoryRewritten")   /* and that is refused */               \
	X(REASON_NAMESPACE_NOT_ALLOWED, "NamespaceNotAllowed") /* not of spec.prune.namespaces */   \
	X(REASON_RENDER_FAILED,       "RenderFailed")       /* a program says no */                 \
	X(REASON_RENDER_LIMIT,        "RenderLimit")        /* ... or does not end, or is large */  \
	X(REASON_VALUE_MISSING,       "ValueMissing")       /* of its configuration */              \
	X(REASON_RENDERER_MISSING,    "RendererMissing")    /* no libjsonnet on this machine */     \
	X(REASON_TEST_FAILED,         "TestFailed")         /* the test of a JSON Patch */
/* clang-format on */

enum error_reason {
	REASON_NONE = 0,
#define X(reason, text) reason,
	ERROR_REASONS(X)
#undef X
};

struct error {
	int code;                 /* an enum error_code, positive */
	enum error_reason reason; /* REASON_NONE: the code says it all */
	char msg[ERROR_MSG_MAX];
};

#define ERROR_INIT ((struct error){.code = 0})

/* Sets code and message (cut at ERROR_MSG_MAX, at a UTF-8 border) and returns -code. */
int error_set(struct error *err, int code, const char *fmt, ...) PRINTF(3, 4);
int error_vset(struct error *err, int code, const char *fmt, va_list args) PRINTF(3, 0);
/* The same with a reason, which the message begins with: "DigestMismatch: ...". */
int error_because(struct error *err, int code, enum error_reason reason, const char *fmt, ...)
	PRINTF(4, 5);
/* Gives err another reason, in front of its message, and returns its code negative. */
int error_set_reason(struct error *err, enum error_reason reason);
/* "outer: inner"; keeps code and reason, and returns the code negative. */
int error_wrap(struct error *err, const char *fmt, ...) PRINTF(2, 3);
/* Copies from into err and returns the negative code. */
int error_copy(struct error *err, const struct error *from);

#ifdef __clang_analyzer__
/* What the analyser cannot see from outside: the code is positive, the result negative. */
#define error_set(err, ...)        ((void)error_set(err, __VA_ARGS__), (err)->code = 1, -1)
#define error_vset(err, ...)       ((void)error_vset(err, __VA_ARGS__), (err)->code = 1, -1)
#define error_because(err, ...)    ((void)error_because(err, __VA_ARGS__), (err)->code = 1, -1)
#define error_set_reason(err, ...) ((void)error_set_reason(err, __VA_ARGS__), (err)->code = 1, -1)
#define error_wrap(err, ...)       ((void)error_wrap(err, __VA_ARGS__), (err)->code = 1, -1)
#define error_copy(err, ...)       ((void)error_copy(err, __VA_ARGS__), (err)->code = 1, -1)
#endif

int error_http(int code);                                /* 500 for an unknown code */
const char *error_reason(int code);                      /* "Conflict" */
const char *error_reason_text(enum error_reason reason); /* "DigestMismatch"; "" for REASON_NONE */
/* Those that came over a wire. */
bool error_is_reason(int64_t reason);
enum error_reason error_reason_find(const char *text); /* REASON_NONE: there is none, or NULL */
enum error_retry error_retry(int code);
int error_exit(int code); /* exit code of the program, 0 for E_OK */
/* The code for an HTTP status and the reason of a Status ("" if there was none). */
int error_from_http(int status, const char *reason);

#endif
