/*
 * quota: what one user, and all users together, may hold of a server at a time. Pure accounting.
 *
 * The table below has every limit. Ordinary users share the second column; what the third has is
 * for administrators alone (group system:masters), who share both and have no limit each: whatever
 * the others do, an administrator gets in. The limits are far above what kubectl and controllers
 * with hundreds of informers need; who meets one is answered 429 with Retry-After, or, with
 * QUEUE_BYTES, loses the connection that has most waiting. When all users together are at a limit,
 * whoever would hold less than half of the largest share gets in: of that a connection goes that
 * waits for its client (server_pool.c).
 *
 *	CONNECTIONS   of clients that have authenticated; those that have not: server.h
 *	REQUESTS      from the head to the last byte of the answer, without watches
 *	WATCHES       streams that stay open
 *	BODY_BYTES    bodies of requests that are read or served
 *	ANSWER_BYTES  texts of objects that answers under way still refer to; the first answer of a
 *	              user is let through whatever its size
 *	QUEUE_BYTES   produced for clients that have not taken it yet
 */
#ifndef ALM_IO_QUOTA_H
#define ALM_IO_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/mem.h"

#define QUOTA_MIB ((size_t)1 << 20)

/*  what               a user           all users        more for administrators */
/* clang-format off */
#define QUOTAS(X)                                                                     \
	X(CONNECTIONS,     1024,            2048,            256)                     \
	X(REQUESTS,        200,             800,             200)                     \
	X(WATCHES,         1000,            2000,            256)                     \
	X(BODY_BYTES,      32 * QUOTA_MIB,  128 * QUOTA_MIB, 32 * QUOTA_MIB)          \
	X(ANSWER_BYTES,    256 * QUOTA_MIB, 512 * QUOTA_MIB, 256 * QUOTA_MIB)         \
	X(QUEUE_BYTES,     64 * QUOTA_MIB,  128 * QUOTA_MIB, 64 * QUOTA_MIB)
/* clang-format on */

enum quota_what {
#define X(what, user, all, admins) QUOTA_##what,
	QUOTAS(X)
#undef X
		N_QUOTAS
};

struct quota_limit {
	size_t user, all, admins;
};

extern const struct quota_limit quota_limits[N_QUOTAS];

/* Who is charged. Lives as long as somebody has a reference. */
struct quota_user {
	char *key;
	bool is_admin;
	unsigned refs;
	size_t held[N_QUOTAS];
};

struct quota;

enum quota_verdict {
	QUOTA_OK,
	QUOTA_USER_FULL, /* what the user gives back makes room */
	QUOTA_ALL_FULL,  /* what anybody of his kind gives back makes room */
};

/* limits: borrowed, N_QUOTAS of them; NULL: the table. */
struct quota *quota_new(const struct quota_limit *limits);
void quota_free(struct quota *q); /* no user is left */
DEFINE_FREEP(quota)

/* An administrator and an ordinary user of one name are two. */
struct quota_user *quota_user_ref(struct quota *q, const char *name, bool is_admin);
void quota_user_unref(struct quota *q, struct quota_user *u);
bool quota_user_is(const struct quota_user *u, const char *name, bool is_admin);

/* Takes n more if there is room. */
enum quota_verdict quota_take(struct quota *q, struct quota_user *u, enum quota_what what,
			      size_t n);
/* Takes n more whether there is room or not; quota_check() tells. */
void quota_add(struct quota *q, struct quota_user *u, enum quota_what what, size_t n);
void quota_give(struct quota *q, struct quota_user *u, enum quota_what what, size_t n);
/* Is more held than the limits say? */
enum quota_verdict quota_check(const struct quota *q, const struct quota_user *u,
			       enum quota_what what);
const char *quota_name(enum quota_what what); /* "connections" */

#endif
